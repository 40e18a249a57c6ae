//! The digest of what a reviewer cares about: verdicts, answers, final bytes (CONTRACTS 7).
//!
//! Promises: a changed read pattern changes no outcome.

use recovery_core::decide::{Action, Disposition, Verdict};
use recovery_core::units::{Namespace, Offset};
use xxhash_rust::xxh3::Xxh3Default;

use super::poll::Reply;
use crate::disk::{Node, SimDisk, View};

/// The outcome so far.
pub(super) struct Outcome(Xxh3Default);

impl Outcome {
    pub(super) fn new() -> Self {
        Self(Xxh3Default::new())
    }

    /// Adds a verdict on a partition.
    pub(super) fn verdict(&mut self, namespace: Namespace, verdict: &Verdict) {
        self.number(namespace.packed());
        self.word(verdict.disposition.code());
        match &verdict.disposition {
            Disposition::Refuse(reason) => self.word(reason.code()),
            Disposition::Serve | Disposition::ServeFrom { .. } | Disposition::Unavailable(_) => {}
        }
        self.number(verdict.next_offset.map_or(u64::MAX, Offset::get));
        for segment in &verdict.segments {
            self.number(segment.start.get());
            self.word(segment.action.code());
            match segment.action {
                Action::Cut { at, .. } => self.number(at.get()),
                Action::Keep | Action::RebuildIndex => {}
            }
        }
    }

    /// Adds an answer to a client.
    pub(super) fn answer(&mut self, namespace: Namespace, reply: &Reply) {
        self.number(namespace.packed());
        match reply {
            Reply::Messages { count, first, next, .. } => {
                self.word("messages");
                self.number(*count);
                self.number(first.map_or(u64::MAX, Offset::get));
                self.number(next.get());
            }
            Reply::Error { class, code } => {
                self.word(class.code());
                self.word(code);
            }
        }
    }

    /// Adds names, lengths and bytes of what is visible in the end.
    pub(super) fn disk(&mut self, disk: &SimDisk) {
        disk.walk(View::Visible, &mut |path, node| {
            if let Node::File(file) = node {
                self.word(path);
                self.number(disk.length_of(file, View::Visible));
                disk.for_each_page(file, View::Visible, &mut |bytes| self.0.update(bytes));
            }
        });
    }

    pub(super) fn finish(&self) -> u64 {
        self.0.digest()
    }

    fn word(&mut self, word: &str) {
        self.0.update(word.as_bytes());
        self.0.update(&[0]);
    }

    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }
}
