//! The failure that is planted in every run: an alarm that never rings is no alarm.
//!
//! One small world runs beside the seeds, and right before its start the oracle is told of a promise that
//! nobody made. The start cannot keep it, so the check for promises must fire, and what it says goes the way
//! of every failure: a group, a saved schedule, a line. Promises: the same world runs without the false
//! promise too, so that a core which breaks it is told from a harness which is blind. Leaves out: seeds,
//! among which it is never counted.

use super::ending::FailureClass;
use super::group::group_id;
use super::one::{Outcome, run_watched};
use crate::oracle::Check;
use crate::oracle::sample::Sample;
use crate::schedule::word::words;
use crate::schedule::{Schedule, parse};
use crate::world::{Arena, Watch};

/// The check that must find it.
pub const CHECK: Check = Check::I05;

/// The world it is planted in.
const WORLD: &str = include_str!("planted.kdl");

words! {
    /// What became of the planted failure.
    PlantedFate, "a fate of the planted failure" {
        /// Nobody has looked yet.
        NotRun = "not-run",
        /// Its check fired, and the outputs have it.
        Found = "found",
        /// Its check said nothing, or an output lost it: the harness is blind.
        Silent = "silent",
        /// The world fails without it, so nothing can be said.
        Masked = "masked",
    }
}

/// The planted failure of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    /// What became of it.
    pub fate: PlantedFate,
    /// The group it was put into.
    pub group: Option<String>,
}

impl Default for Planted {
    fn default() -> Self {
        Self { fate: PlantedFate::NotRun, group: None }
    }
}

/// The world with the false promise, as it came out.
#[derive(Debug)]
pub struct PlantedWorld {
    /// Its schedule.
    pub schedule: Schedule,
    /// What it came to.
    pub outcome: Outcome,
    /// Whether the same world held without the false promise.
    pub is_clean: bool,
}

impl PlantedWorld {
    /// Runs the world without the false promise and with it.
    pub fn run() -> Self {
        let schedule = parse("planted.kdl", WORLD).expect("the embedded world reads").schedule;
        let mut arena = Arena::new();
        let mut watched = |plants_promise| {
            let watch = Watch { plants_promise, ..Watch::of(Sample::EVERYTHING) };
            run_watched(&mut arena, &schedule, watch)
        };
        let (clean, outcome) = (watched(false), watched(true));
        Self { schedule, outcome, is_clean: clean.failures.is_empty() }
    }

    /// The group of what was found, if it is what was planted.
    pub fn group(&self) -> Option<String> {
        let class = FailureClass::first(&self.outcome)?;
        (class.check == CHECK).then(|| group_id(class, &self.outcome.culprits))
    }

    /// What became of it, if `is_reported` says whether every output has it.
    pub fn fate(&self, is_reported: bool) -> Planted {
        let group = self.group();
        let fate = match (self.is_clean, &group) {
            (false, _) => PlantedFate::Masked,
            (true, Some(_)) if is_reported => PlantedFate::Found,
            (true, _) => PlantedFate::Silent,
        };
        Planted { fate, group }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_that_nobody_made_is_found_and_nothing_else_is() {
        let world = PlantedWorld::run();
        assert!(world.is_clean);
        // Every way in which the same start is looked at again hears of it too.
        let mut checks = world.outcome.failures.iter().map(|failure| failure.violation.check);
        assert!(checks.len() > 0 && checks.all(|check| check == CHECK));
        assert_eq!(world.group().as_deref(), Some("I05.decide.none"));
        assert_eq!(world.fate(true).fate, PlantedFate::Found);
        assert_eq!(world.fate(false).fate, PlantedFate::Silent);
    }

    #[test]
    fn a_blind_check_is_told_from_a_broken_core() {
        let mut world = PlantedWorld::run();
        world.outcome.failures.clear();
        assert_eq!(world.fate(true).fate, PlantedFate::Silent);
        world.is_clean = false;
        assert_eq!(world.fate(true).fate, PlantedFate::Masked);
    }
}
