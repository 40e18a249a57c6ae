//! The logs of a scenario as strips, around each crash, each fault and each start.
//!
//! Promises: a log keeps its scale from the first strip to the last, and is drawn again only when it has
//! changed. Leaves out: indexes, ledgers and superblocks; what a start says of them stands beside.

use std::collections::BTreeMap;

use super::line;
use crate::report::explain::{LEGEND, Strip, most, strip};
use crate::run::explain::{Around, LogKey, Moment};
use crate::schedule::{Action, Step};

/// What was drawn so far.
pub(super) struct Strips {
    has_many_partitions: bool,
    scales: BTreeMap<LogKey, u64>,
    shown: BTreeMap<LogKey, Strip>,
}

impl Strips {
    /// Nothing drawn of a scenario yet.
    pub(super) fn new(course: &[Option<Around>], partitions: usize) -> Self {
        let mut scales: BTreeMap<LogKey, u64> = BTreeMap::new();
        let around = course.iter().flatten();
        let logs = around.flat_map(|around| around.before_crash.iter().flatten().chain(&around.after));
        for (key, moment) in logs {
            let scale = scales.entry(*key).or_default();
            *scale = most(std::slice::from_ref(moment)).max(*scale);
        }
        Self { has_many_partitions: partitions > 1, scales, shown: BTreeMap::new() }
    }

    /// What lay there before a step's crash and behind the step.
    pub(super) fn add(&mut self, text: &mut String, step: &Step, around: &Around) {
        let node = step.node.0;
        let Around { before_crash, after } = around;
        let begin = text.len();
        match before_crash {
            Some(before) if before == after => {
                self.draw(text, node, "before and after the crash", after);
            }
            Some(before) => {
                self.draw(text, node, "before the crash", before);
                self.draw(text, node, "after the crash", after);
            }
            None => self.draw(text, node, word(&step.action), after),
        }
        let must_speak = before_crash.is_some() || matches!(step.action, Action::Start);
        if must_speak && text.len() == begin {
            line(text, 1, if after.is_empty() { "there is no log" } else { "every log stays as it was" });
        }
    }

    /// What the letters say, if there were any.
    pub(super) fn legend(&self, text: &mut String) {
        if !self.shown.is_empty() {
            text.push('\n');
            line(text, 0, LEGEND);
        }
    }

    /// Draws the logs of a node that are not as they were when they were drawn last.
    fn draw(&mut self, text: &mut String, node: u8, when: &str, logs: &[(LogKey, Moment)]) {
        let is_gone = |key: &LogKey| key.node == node && !logs.iter().any(|(other, _)| other == key);
        let gone: Vec<LogKey> = self.shown.keys().filter(|key| is_gone(key)).copied().collect();
        let nothing = Moment { when: String::new(), log: None, batches: Vec::new(), fenced: Vec::new() };
        let gone = gone.iter().map(|key| (key, &nothing));
        let mut has_head = false;
        for (key, moment) in logs.iter().map(|(key, moment)| (key, moment)).chain(gone) {
            let strip = strip(moment, self.scales.get(key).copied().unwrap_or_default());
            if self.shown.get(key) == Some(&strip) {
                continue;
            }
            if !has_head {
                line(text, 1, when);
                has_head = true;
            }
            let bytes = strip.log_bytes.map_or("no file".to_owned(), |bytes| bytes.to_string());
            line(text, 2, &format!("{} [{}] {bytes}", self.name(*key), strip.letters()));
            self.shown.insert(*key, strip);
        }
    }

    fn name(&self, key: LogKey) -> String {
        if self.has_many_partitions {
            format!("{} log {}", key.namespace, key.segment)
        } else {
            format!("log {}", key.segment)
        }
    }
}

/// Behind what a log is drawn that no crash went before.
const fn word(action: &Action) -> &'static str {
    match action {
        Action::Fault { .. } | Action::Plant(_) => "after the damage",
        Action::Start => "after recovery",
        Action::Crash(_)
        | Action::Append(_)
        | Action::Flush(_)
        | Action::Roll(_)
        | Action::Checkpoint(_)
        | Action::Retain(_)
        | Action::Stop
        | Action::Poll(_)
        | Action::Evict(_)
        | Action::Create(_)
        | Action::Delete(_)
        | Action::Confirm(_)
        | Action::Reconcile
        | Action::QueueInsert(_)
        | Action::ApplyInserts
        | Action::AcceptLoss(_)
        | Action::Link(_)
        | Action::Transfer { .. }
        | Action::Expect(_)
        | Action::Either(_) => "after it",
    }
}
