//! What a sweep came to, and each piece of it.
//!
//! Promises: pieces are added in the order of the work, so a summary does not depend on threads. Leaves out:
//! how it is shown.

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh3::xxh3_64;

use crate::oracle::Check;
use crate::run::ending::FailureClass;
use crate::run::group::group_id;
use crate::schedule::Schedule;

/// Failures of one cause.
#[derive(Clone, Debug)]
pub struct SweptGroup {
    /// Its id.
    pub id: String,
    /// How many variants fail so.
    pub count: u64,
    /// The check, and where it broke.
    pub class: FailureClass,
    /// The fault kinds that the first of them needs.
    pub faults: Vec<&'static str>,
    /// Index of the subject of the first of them.
    pub subject: usize,
    /// The first of them.
    pub schedule: Schedule,
    /// What the check says of it.
    pub sentence: String,
}

/// What a sweep came to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Storage calls of the subjects.
    pub calls: u64,
    /// Different states behind a crash.
    pub states: u64,
    /// Variants that a state met before stands for.
    pub deduplicated: u64,
    /// Worlds run.
    pub runs: u64,
    /// Indexes of the subjects of which some variant was neither run nor stood for.
    pub incomplete: BTreeSet<usize>,
    /// Variants that fail.
    pub failures: u64,
    /// By cause, in order of first appearance.
    pub groups: Vec<SweptGroup>,
    /// Variants that violated each check.
    pub violations: BTreeMap<Check, u64>,
    /// Digest over all worlds, in order.
    pub digest: u64,
    /// Whether a panic of the harness ended a world.
    pub is_harness_bug: bool,
    /// Calls, states and failures of each subject.
    pub subjects: Vec<(u64, u64, u64)>,
}

/// A variant that fails.
pub(super) struct Failed {
    pub(super) class: FailureClass,
    pub(super) faults: Vec<&'static str>,
    pub(super) schedule: Schedule,
    pub(super) sentence: String,
}

/// What a piece came to.
#[derive(Default)]
pub(super) struct Done {
    pub(super) states: u64,
    pub(super) deduplicated: u64,
    pub(super) runs: u64,
    pub(super) was_cut_short: bool,
    pub(super) failed: Vec<Failed>,
    pub(super) violations: BTreeMap<Check, u64>,
    pub(super) digest: u64,
    pub(super) is_harness_bug: bool,
}

impl Summary {
    /// Whether every variant was run or stood for.
    pub fn is_complete(&self) -> bool {
        self.incomplete.is_empty()
    }

    pub(super) fn add(&mut self, subject: usize, done: Done) {
        self.states += done.states;
        self.deduplicated += done.deduplicated;
        self.runs += done.runs;
        if done.was_cut_short {
            self.incomplete.insert(subject);
        }
        self.failures += done.failed.len() as u64;
        self.is_harness_bug |= done.is_harness_bug;
        self.subjects[subject].1 += done.states;
        self.subjects[subject].2 += done.failed.len() as u64;
        for (check, count) in done.violations {
            *self.violations.entry(check).or_default() += count;
        }
        let both = [self.digest.to_le_bytes(), done.digest.to_le_bytes()].concat();
        self.digest = xxh3_64(&both);
        for failed in done.failed {
            let id = group_id(failed.class, &failed.faults);
            match self.groups.iter_mut().find(|group| group.id == id) {
                Some(group) => group.count += 1,
                None => self.groups.push(SweptGroup {
                    id,
                    count: 1,
                    class: failed.class,
                    faults: failed.faults,
                    subject,
                    schedule: failed.schedule,
                    sentence: failed.sentence,
                }),
            }
        }
    }
}
