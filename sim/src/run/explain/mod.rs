//! Why a replayed world failed, as data: where, what lay there when, what recovery saw of it and what is true,
//! and which of its faults and crashes it takes.
//!
//! Promises: everything shown is taken from worlds that were run, and the world that is explained is run
//! again for each moment, never stopped and asked. Leaves out: words, which [`crate::report`] has.

mod counterfactual;
mod course;
mod facts;
mod index;
mod moments;
mod place;
mod window;

pub use counterfactual::CrashCounterfactual;
pub use course::{Around, LogKey, course};
pub use facts::{FactRow, first_difference};
pub use index::{EntryTold, IndexTold};
pub use moments::{Batch, Moment, logs, partitions_behind};
pub use place::Place;
pub use window::{FieldRow, Window};

use crate::oracle::sample::Sample;
use crate::run::replay::{Expected, Replayed};
use crate::world::{Arena, BootTold, Failure, Report};

/// Why a world failed.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The failure that is explained: the one that was recorded, or the first.
    pub failure: Failure,
    /// Whether its world has several nodes.
    pub has_nodes: bool,
    /// How many others there are.
    pub others: usize,
    /// What it is about.
    pub place: Option<Place>,
    /// The log that it is about, at the moments that matter, in order.
    pub moments: Vec<Moment>,
    /// The start that broke, or the last one before what broke.
    pub boot: Option<BootTold>,
    /// What recovery saw in that start, beside what is true.
    pub facts: Vec<FactRow>,
    /// The header of the batch where it broke, but where the check names an index.
    pub window: Option<Window>,
    /// The index that the check names.
    pub index: Option<IndexTold>,
    /// The world with everything surviving a crash.
    pub crashes: Vec<CrashCounterfactual>,
}

/// Explains a replay; `None` where nothing failed.
pub fn explain(
    arena: &mut Arena,
    replayed: &Replayed,
    sample: Sample,
    expected: &Expected,
) -> Option<Explanation> {
    let report = &replayed.report;
    let failure = expected.failure_in(&report.failures)?.clone();
    let boot = report.told.as_ref().and_then(|told| {
        let mut before = told.boots.iter().rev().filter(|boot| boot.step <= failure.step);
        before.find(|boot| boot.node == failure.node && Some(boot.namespace) == failure.partition).cloned()
    });
    let began = boot.as_ref().filter(|boot| is_only_start(report, boot)).map(|boot| boot.step);
    let around = moments::around(arena, replayed, &failure, began);
    let place = place::place(&failure, boot.as_ref(), &around);
    let facts = boot.as_ref().map_or_else(Vec::new, |boot| facts::rows(boot, around.before_start()));
    let index = place.as_ref().and_then(|place| index::index(place, &around));
    let shown = place.as_ref().filter(|_| index.is_none());
    let window = shown.and_then(|place| window::window(place, boot.as_ref(), &around));
    Some(Explanation {
        has_nodes: replayed.schedule.world.nodes > 1,
        others: report.failures.len() - 1,
        moments: place.as_ref().map_or_else(Vec::new, |place| around.of(place)),
        crashes: counterfactual::crashes(arena, replayed, sample, &failure),
        failure,
        place,
        boot,
        facts,
        window,
        index,
    })
}

/// Whether no other start of its partition came in the same step: only then is what lay there before the step what it saw.
fn is_only_start(report: &Report, boot: &BootTold) -> bool {
    let is_same = |other: &&BootTold| {
        (other.node, other.step, other.namespace) == (boot.node, boot.step, boot.namespace)
    };
    report.told.iter().flat_map(|told| &told.boots).filter(is_same).count() == 1
}
