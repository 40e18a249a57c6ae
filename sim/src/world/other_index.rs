//! A start once more, in which one read of an index shows another one, with an entry behind the end of the log.
//!
//! Promises: asked where an index is what tells what was durable, of a log that ends in something else: there such an entry
//! refuses (DESIGN section 4), and one read is no evidence (N13). Leaves out: entries that lie there, which faults lay.

use recovery_core::format::{FileName, INDEX_ENTRY_BYTES, IndexEntry};
use recovery_core::observe::{SegmentFacts, Stop};
use recovery_core::storage::{Call, Name};
use recovery_core::units::{Durability, Position};

use super::again::{Again, Found};
use super::look;
use super::misread::reads;
use super::varied::{Change, Misread};
use crate::disk::{Cause, Disturbance, Event, FileId, Injection, Node, Stray, View};
use crate::oracle::invariants::{Expected, check_misread};
use crate::schedule::{CallPoint, FaultKind, Times};

/// What lies there for as long as that one read needs it, far from every partition.
const SHOWN: &[u8] = b"shown";

impl Again<'_> {
    /// I18: one read of an index shows another one.
    pub(super) fn other_index(&mut self) -> Vec<Found> {
        let header = &self.slot().header;
        let index_speaks =
            self.boot.facts.ledger.known().is_none() && header.durability != Durability::Buffered;
        if !index_speaks || !self.circumstances.sees_truth || !self.boot.verdict.is_served() {
            return Vec::new();
        }
        let stopped = |segment: &&SegmentFacts| segment.stop.stop() != Stop::End && segment.index.entries > 1;
        let Some(segment) = self.boot.facts.segments.iter().rev().find(stopped) else { return Vec::new() };
        self.node.disk.restore(&self.moments.before);
        let name = FileName::index(segment.start);
        let Some(index) = look::file(&self.node.disk, &self.slot().components, &name) else {
            return Vec::new();
        };
        let is_of_it = |(_, read): &(u32, Event)| read.object == index.number() && read.position == 0;
        let Some((call, read)) = reads(self.calls, &self.boot.looked).find(is_of_it) else {
            return Vec::new();
        };
        let Some(shown) = self.show_other(index, segment) else { return Vec::new() };
        let injection = Injection {
            at: CallPoint { on: Some(Call::Read), call: self.nth_read(call) },
            times: Times::Count(1),
            cause: Some(Cause::Fault(FaultKind::MisdirectedRead)),
            disturbance: Disturbance::MisdirectRead { file: shown, position: 0 },
        };
        let again = self.start_through_injection(injection);
        let expected = Expected {
            may_be_unavailable: true,
            but_for_indexes: true,
            ..Expected::the_same("the verdict behind a read that showed another index")
        };
        let (first, second) = ((&self.boot.verdict, &self.boot.plan), (&again.verdict, &again.plan));
        let violation = check_misread(&expected, first, second);
        let about = violation.is_some().then(|| self.told(&read, &[&self.moments.before]));
        let change = Change::Misread { misread: Misread::Elsewhere, call, about };
        self.found(&change, &again, violation.into_iter().collect())
    }

    /// Which of the reads of the start a call is, counted from 1.
    fn nth_read(&self, call: u32) -> u32 {
        let reads = self.calls.iter().take(call as usize).filter(|call| call.call == Call::Read);
        u32::try_from(reads.count()).expect("a start makes few reads")
    }

    /// A file with the same entries, but for the last: that names a place behind the end of the log.
    fn show_other(&self, index: FileId, segment: &SegmentFacts) -> Option<FileId> {
        let disk = &self.node.disk;
        let mut bytes = disk.contents_of(index, View::Visible);
        let last = bytes.chunks_exact_mut(INDEX_ENTRY_BYTES).next_back()?;
        let entry = IndexEntry {
            offset: segment.proven.next_offset.checked_add(1)?,
            timestamp: IndexEntry::decode(last.first_chunk()?).timestamp,
            position: Position::new(segment.log_length.get() + 1),
        };
        last.copy_from_slice(&entry.encode());
        let (first, _) = self.slot().components.split_first()?;
        let directory = look::directory(disk, std::slice::from_ref(first))?;
        let name = Name::new(SHOWN)?;
        disk.put_stray(directory, &name, Stray::File(&bytes), Cause::Fault(FaultKind::MisdirectedRead))?;
        match disk.entry(directory, &name, View::Visible) {
            Some(Node::File(file)) => Some(file),
            Some(Node::Directory(_) | Node::Link | Node::Special) | None => None,
        }
    }
}
