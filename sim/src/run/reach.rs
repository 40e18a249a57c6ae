//! What a run must have reached to be worth something: goals, and how far it came (CONTRACTS 10).
//!
//! Promises: every word of every vocabulary that a world can reach has exactly one line in `reach.kdl`, with
//! a budget of worlds or a reason why it is never reached. Leaves out: counting ([`super::tally`]).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use kdl::{KdlDocument, KdlNode, KdlValue};
use recovery_core::decide::{ReasonCode, Row};
use recovery_core::observe::{Residue, Stop};
use recovery_core::storage::Call;

use super::tally::{Reached, Tally};
use crate::disk::Cause;
use crate::schedule::word::words;
use crate::schedule::{Filesystem, Restart};

/// The goals, as they stand beside this file.
const PAGE: &str = include_str!("reach.kdl");

words! {
    /// What can be reached.
    ReachKind, "something that can be reached" {
        /// A fault kind: injected, read, decisive.
        Fault = "fault",
        /// A row of a decision table.
        Row = "row",
        /// A reason to refuse.
        Reason = "reason",
        /// Why a walk ended.
        Stop = "stop",
        /// What lay behind a stop.
        Residue = "residue",
        /// A kind of crash.
        Restart = "restart",
        /// A filesystem.
        Filesystem = "filesystem",
        /// A storage call that failed.
        CallError = "call-error",
    }
}

/// What is wanted of one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Reached, by a fault decisively, in every run of at least so many worlds.
    Within(u64),
    /// A fault that a correct core lets change nothing: met by it in every run of at least so many worlds.
    ReadWithin(u64),
    /// Never, and why.
    Never(String),
}

/// How far a run came with one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub kind: ReachKind,
    /// Its permanent word.
    pub id: &'static str,
    /// A fault's three numbers.
    pub fault: Option<Reached>,
    /// How often anything else was reached.
    pub hits: Option<u64>,
    /// What is wanted.
    pub goal: Goal,
}

impl Line {
    /// Whether the goal is due after so many worlds, and missed; or something is reached that never may be.
    pub fn is_missed(&self, worlds: u64) -> bool {
        match self.goal {
            Goal::Within(_) | Goal::ReadWithin(_) => self.is_due(worlds) && self.reached() == 0,
            Goal::Never(_) => self.reached() > 0,
        }
    }

    /// How often the goal was reached.
    pub fn reached(&self) -> u64 {
        match (&self.fault, &self.goal) {
            // What never happens is not even injected; what should happen should also matter.
            (Some(fault), Goal::Never(_)) => fault.injected,
            (Some(fault), Goal::Within(_)) => fault.decisive,
            (Some(fault), Goal::ReadWithin(_)) => fault.read,
            (None, _) => self.hits.unwrap_or_default(),
        }
    }

    /// The worlds within which it is to be reached; `None`: never.
    pub const fn budget(&self) -> Option<u64> {
        match self.goal {
            Goal::Within(worlds) | Goal::ReadWithin(worlds) => Some(worlds),
            Goal::Never(_) => None,
        }
    }

    /// Whether the goal must be reached by so many worlds.
    pub fn is_due(&self, worlds: u64) -> bool {
        self.budget().is_some_and(|budget| worlds >= budget)
    }

    /// How `reach_missed` and planted bugs name it.
    pub fn name(&self) -> String {
        format!("{}:{}", self.kind.code(), self.id)
    }
}

/// Every word that can be reached, in the order people are shown them.
pub fn words_of(kind: ReachKind) -> Vec<&'static str> {
    match kind {
        ReachKind::Fault => Cause::all().map(Cause::code).collect(),
        ReachKind::Row => Row::ALL.iter().map(|row| row.code()).collect(),
        ReachKind::Reason => ReasonCode::ALL.iter().map(|reason| reason.code()).collect(),
        ReachKind::Stop => Stop::ALL.iter().map(|stop| stop.code()).collect(),
        ReachKind::Residue => Residue::ALL.iter().map(|residue| residue.code()).collect(),
        ReachKind::Restart => Restart::ALL.iter().map(|restart| restart.code()).collect(),
        ReachKind::Filesystem => Filesystem::ALL.iter().map(|filesystem| filesystem.code()).collect(),
        ReachKind::CallError => Call::ALL.iter().map(|call| call.code()).collect(),
    }
}

/// How far a run came, word by word.
pub fn lines(tally: &Tally) -> Vec<Line> {
    let mut lines = Vec::new();
    for kind in ReachKind::ALL {
        for id in words_of(kind) {
            let goal = GOALS.get(&(kind, id.to_owned())).expect("every word has a goal").clone();
            let (fault, hits) = match kind {
                ReachKind::Fault => (Some(tally.faults.get(id).copied().unwrap_or_default()), None),
                ReachKind::Row
                | ReachKind::Reason
                | ReachKind::Stop
                | ReachKind::Residue
                | ReachKind::Restart
                | ReachKind::Filesystem
                | ReachKind::CallError => (None, Some(hits(tally, kind, id))),
            };
            lines.push(Line { kind, id, fault, hits, goal });
        }
    }
    lines
}

fn hits(tally: &Tally, kind: ReachKind, id: &str) -> u64 {
    fn of<K: Copy>(counts: &BTreeMap<K, u64>, code: fn(K) -> &'static str, id: &str) -> u64 {
        counts.iter().filter(|(key, _)| code(**key) == id).map(|(_, count)| count).sum()
    }
    match kind {
        ReachKind::Fault => tally.faults.get(id).map_or(0, |reached| reached.decisive),
        ReachKind::Row => of(&tally.rows, Row::code, id),
        ReachKind::Reason => of(&tally.reasons, ReasonCode::code, id),
        ReachKind::Stop => of(&tally.stops, Stop::code, id),
        ReachKind::Residue => of(&tally.residues, Residue::code, id),
        ReachKind::Restart => of(&tally.restarts, Restart::code, id),
        ReachKind::Filesystem => of(&tally.filesystems, Filesystem::code, id),
        ReachKind::CallError => of(&tally.call_errors, Call::code, id),
    }
}

/// The goals, read once.
static GOALS: LazyLock<BTreeMap<(ReachKind, String), Goal>> = LazyLock::new(|| {
    let document: KdlDocument = PAGE.parse().expect("the embedded goals are KDL");
    document.nodes().iter().map(entry).collect()
});

fn entry(node: &KdlNode) -> ((ReachKind, String), Goal) {
    let kind = node.name().value();
    let kind = ReachKind::ALL.into_iter().find(|known| known.code() == kind).expect("a kind of reach");
    let id = node.get(0).and_then(KdlValue::as_string).expect("a goal names a word").to_owned();
    let budget = node.get("worlds").and_then(KdlValue::as_integer);
    let never = node.children().and_then(|children| children.get_arg("never"));
    let by = node.get("by").and_then(KdlValue::as_string);
    let worlds = budget.map(|worlds| u64::try_from(worlds).expect("a budget is a number of worlds"));
    let goal = match (worlds, by, never.and_then(KdlValue::as_string)) {
        (Some(worlds), None, None) => Goal::Within(worlds),
        (Some(worlds), Some("read"), None) if kind == ReachKind::Fault => Goal::ReadWithin(worlds),
        (None, None, Some(why)) => Goal::Never(why.to_owned()),
        _ => panic!("{kind:?} {id} has a budget or a reason, and nothing else"),
    };
    ((kind, id), goal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_exactly_one_goal() {
        let document: KdlDocument = PAGE.parse().expect("KDL");
        let named: Vec<(ReachKind, String)> = document.nodes().iter().map(|node| entry(node).0).collect();
        let words = ReachKind::ALL
            .into_iter()
            .flat_map(|kind| words_of(kind).into_iter().map(move |id| (kind, id.to_owned())));
        assert_eq!(named, words.collect::<Vec<_>>(), "reach.kdl lists the words in their own order");
    }

    fn line(fault: Option<Reached>, hits: Option<u64>, goal: Goal) -> Line {
        let kind = if fault.is_some() { ReachKind::Fault } else { ReachKind::Row };
        Line { kind, id: "word", fault, hits, goal }
    }

    #[test]
    fn a_goal_is_missed_only_once_it_is_due() {
        let never_hit = line(None, Some(0), Goal::Within(100));
        assert!(!never_hit.is_missed(99));
        assert!(never_hit.is_missed(100));
        assert!(!line(None, Some(1), Goal::Within(100)).is_missed(100));
    }

    #[test]
    fn a_fault_that_changes_nothing_is_not_reached() {
        let read = Reached { injected: 9, read: 9, decisive: 0 };
        assert!(line(Some(read), None, Goal::Within(1)).is_missed(1));
        let decisive = Reached { decisive: 1, ..read };
        assert!(!line(Some(decisive), None, Goal::Within(1)).is_missed(1));
    }

    #[test]
    fn a_fault_that_should_change_nothing_is_reached_once_it_is_read() {
        let injected = Reached { injected: 9, read: 0, decisive: 0 };
        assert!(line(Some(injected), None, Goal::ReadWithin(1)).is_missed(1));
        let read = Reached { read: 1, ..injected };
        assert!(!line(Some(read), None, Goal::ReadWithin(1)).is_missed(1));
    }

    #[test]
    fn what_never_happens_may_not_happen_once() {
        let never = || Goal::Never("why".to_owned());
        assert!(!line(None, Some(0), never()).is_missed(u64::MAX));
        assert!(line(None, Some(1), never()).is_missed(1));
        let injected = Reached { injected: 1, read: 0, decisive: 0 };
        assert!(line(Some(injected), None, never()).is_missed(1));
    }
}
