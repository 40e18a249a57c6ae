//! What a check may look at behind one start of one partition.

use recovery_core::decide::Verdict;
use recovery_core::observe::{Expectation, PartitionFacts, Stop};
use recovery_core::plan::Plan;
use recovery_core::storage::Name;
use recovery_core::units::SegmentStart;

use super::invariants::Cursor;
use super::truth::Truth;
use super::{Content, Forgotten, Image, PartitionImage};

/// One start of one partition: what lay there, what was said, what lies there now, and the truth.
#[expect(clippy::struct_excessive_bools, reason = "eight plain facts about a start, each with its own name")]
pub struct BootView<'a> {
    /// Whether it is written with a ledger.
    pub has_ledger: bool,
    /// Whether no storage call of this start failed, but for definite answers about names, and none said
    /// that it had succeeded when it had not.
    pub is_calm: bool,
    /// Whether anything was to go wrong inside the step of this start.
    pub is_disturbed: bool,
    /// Whether every write of this start went where it was meant to.
    pub writes_land: bool,
    /// Whether at most one read of this start returned what does not lie there: bytes that are shown twice in
    /// the same wrong way cannot be told from the truth.
    pub lies_at_most_once: bool,
    /// Whether recovery failed at something other than looking: in settling, or in carrying out its plan.
    pub failed_to_act: bool,
    /// Whether no read of this start was made to return what does not lie there.
    pub sees_truth: bool,
    /// What the caller knew of the partition.
    pub expectation: Expectation,
    /// What lay on the medium when the core looked; `None` if it never came so far.
    pub before: Option<&'a PartitionImage>,
    /// What lies there now.
    pub after: &'a PartitionImage,
    /// Files of which a sync failed in it.
    pub forgotten: &'a [Forgotten],
    /// The core's facts.
    pub facts: &'a PartitionFacts,
    /// The core's verdict.
    pub verdict: &'a Verdict,
    /// The core's plan.
    pub plan: &'a Plan,
    /// Whether a writer opened on what recovery left.
    pub is_open: bool,
    /// Where that writer appends next, unless the chain is empty.
    pub cursor: Option<Cursor>,
    /// Bytes that its storage calls read.
    pub bytes_read: u64,
    /// The limit of a step of it, and the core's window, in bytes.
    pub limits: (u64, u64),
    /// What is true.
    pub truth: &'a Truth,
}

impl BootView<'_> {
    /// Whether a read that returned what does not lie there may have hidden what does: it showed just what a
    /// mark promised, or a log that is whole to its end. What looks damaged is read twice, what verifies is
    /// not.
    pub fn may_be_hidden(&self, segment: SegmentStart, position: u64) -> bool {
        let facts = self.facts.segments.iter().find(|facts| facts.start == segment);
        !self.sees_truth
            && facts.is_some_and(|facts| {
                let is_marked = facts.mark.is_some_and(|mark| position < mark.position.get());
                is_marked || facts.stop.stop() == Stop::End
            })
    }
}

/// The bytes of a file of an image.
pub fn bytes_of<'a>(image: &'a Image, name: &Name) -> Option<&'a [u8]> {
    match image.find(name.as_bytes())? {
        Content::File(file) => Some(&file.bytes),
        Content::Unopenable | Content::Directory | Content::Other => None,
    }
}
