//! Classes of outcome, and the smallest seed of a run that came to each: how long a run still saw something new.
//!
//! Promises: the order in which worlds end changes nothing, and shards joined say what the whole run would. Leaves out:
//! how often each was seen ([`super::tally`]).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use super::reach::{ReachKind, words_of};
use super::tally::Tally;
use crate::schedule::word::Word;

/// Something that a world came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A word of a vocabulary; of a fault kind: the world without it ended differently.
    Word(ReachKind, &'static str),
    /// A fault kind was met, and a start came to a disposition, or a reason where it was refused.
    Pair(&'static str, &'static str),
}

/// What stands in front of a fault kind and a verdict, where a word has its kind.
const PAIR: &str = "fault-verdict";

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(kind, word) => write!(f, "{}:{word}", kind.code()),
            Self::Pair(fault, verdict) => write!(f, "{PAIR}:{fault}+{verdict}"),
        }
    }
}

impl Class {
    /// The class of this name, where `verdict` knows the words of verdicts; `None` if there is none in this build.
    pub fn from_name(name: &str, verdict: impl Fn(&str) -> Option<&'static str>) -> Option<Self> {
        let known = |kind, word: &str| words_of(kind).into_iter().find(|known| *known == word);
        let (kind, word) = name.split_once(':')?;
        if kind == PAIR {
            let (fault, reached) = word.split_once('+')?;
            return Some(Self::Pair(known(ReachKind::Fault, fault)?, verdict(reached)?));
        }
        let kind = ReachKind::from_word(kind)?;
        Some(Self::Word(kind, known(kind, word)?))
    }
}

/// The smallest seed of each class that was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstSeen {
    seeds: BTreeMap<Class, u64>,
}

impl FirstSeen {
    /// Notes that the world of a seed came to a class.
    pub fn note(&mut self, class: Class, seed: u64) {
        match self.seeds.entry(class) {
            Entry::Vacant(entry) => drop(entry.insert(seed)),
            Entry::Occupied(mut entry) => *entry.get_mut() = seed.min(*entry.get()),
        }
    }

    /// Notes all that the world of a seed came to.
    pub fn note_world(&mut self, seed: u64, world: &Tally) {
        let mut came_to = |kind, code| self.note(Class::Word(kind, code), seed);
        world.rows.keys().for_each(|row| came_to(ReachKind::Row, row.code()));
        world.reasons.keys().for_each(|reason| came_to(ReachKind::Reason, reason.code()));
        world.stops.keys().for_each(|stop| came_to(ReachKind::Stop, stop.code()));
        world.residues.keys().for_each(|residue| came_to(ReachKind::Residue, residue.code()));
        world.restarts.keys().for_each(|restart| came_to(ReachKind::Restart, restart.code()));
        world.filesystems.keys().for_each(|filesystem| came_to(ReachKind::Filesystem, filesystem.code()));
        let failed = world.call_errors.iter().filter(|(_, count)| **count > 0);
        failed.for_each(|(call, _)| came_to(ReachKind::CallError, call.code()));
        let decisive = world.faults.iter().filter(|(_, reached)| reached.decisive > 0);
        decisive.for_each(|(fault, _)| came_to(ReachKind::Fault, fault));
        for (fault, verdict) in world.fault_verdicts.keys() {
            self.note(Class::Pair(fault, verdict), seed);
        }
    }

    /// Takes what another part of the run saw.
    pub fn add(&mut self, other: &Self) {
        for (class, seed) in other.iter() {
            self.note(class, seed);
        }
    }

    /// Each class with its seed.
    pub fn iter(&self) -> impl Iterator<Item = (Class, u64)> {
        self.seeds.iter().map(|(class, seed)| (*class, *seed))
    }

    /// How many classes were seen.
    pub fn count(&self) -> u64 {
        self.seeds.len() as u64
    }

    /// The class that a run from seed `from` on was the last to see, and its seed; one of them, if it saw several at once.
    pub fn newest(&self, from: u64) -> Option<(Class, u64)> {
        self.iter().max_by_key(|(_, seed)| seed.wrapping_sub(from))
    }
}

#[cfg(test)]
mod tests {
    use recovery_core::observe::Stop;

    use super::*;
    use crate::run::tally::Reached;

    const VERDICTS: [&str; 2] = ["serve", "lost-durable"];

    fn named(name: &str) -> Option<Class> {
        Class::from_name(name, |word| VERDICTS.into_iter().find(|known| *known == word))
    }

    #[test]
    fn a_class_is_read_by_the_name_that_it_has() {
        for name in ["stop:end", "fault:bit-flip", "call-error:rename", "fault-verdict:bit-flip+lost-durable"]
        {
            assert_eq!(named(name).map(|class| class.to_string()).as_deref(), Some(name));
        }
        for name in ["stop", "stop:never", "rest:end", "fault-verdict:bit-flip", "fault-verdict:end+serve"] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    #[test]
    fn a_world_counts_for_what_it_came_to_and_for_nothing_else() {
        let mut world = Tally::default();
        world.stops.insert(Stop::End, 3);
        world.call_errors.insert(recovery_core::storage::Call::Read, 0);
        world.faults.insert("bit-flip", Reached { injected: 1, read: 1, decisive: 1 });
        world.faults.insert("noise", Reached { injected: 1, read: 1, decisive: 0 });
        world.fault_verdicts.insert(("noise", "serve"), 1);
        let mut seen = FirstSeen::default();
        seen.note_world(7, &world);
        let names: Vec<String> = seen.iter().map(|(class, seed)| format!("{class} {seed}")).collect();
        assert_eq!(names, ["fault:bit-flip 7", "stop:end 7", "fault-verdict:noise+serve 7"]);
    }

    #[test]
    fn the_smallest_seed_stays_whatever_the_order_and_the_newest_is_the_furthest_from_the_first() {
        let [end, zeros] = ["stop:end", "residue:zeros"].map(|name| named(name).expect("a class"));
        let (mut first, mut second) = (FirstSeen::default(), FirstSeen::default());
        for (class, seed) in [(end, 9), (zeros, 5), (end, 3)] {
            first.note(class, seed);
        }
        second.note(zeros, 4);
        let (mut one, mut other) = (first.clone(), second.clone());
        one.add(&second);
        other.add(&first);
        assert_eq!(one, other);
        assert_eq!((one.count(), one.newest(0)), (2, Some((zeros, 4))));
        // A run goes on past the largest seed with the smallest.
        assert_eq!(one.newest(4), Some((end, 3)));
        assert_eq!(FirstSeen::default().newest(0), None);
    }
}
