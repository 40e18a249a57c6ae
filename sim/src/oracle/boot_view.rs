//! What a check may look at behind one start of one partition.

use recovery_core::decide::Verdict;
use recovery_core::format::FileName;
use recovery_core::observe::{Expectation, PartitionFacts, SegmentFacts, Stop};
use recovery_core::plan::Plan;
use recovery_core::storage::Name;
use recovery_core::units::SegmentStart;

use super::invariants::Cursor;
use super::reference::Heard;
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
    /// What lay there when the core looked for the last time: the facts and the verdict are about that.
    pub judged: Option<&'a PartitionImage>,
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
    /// Calls that change names, lengths or contents, made before the core looked.
    pub settling_changes: u64,
    /// Steps that recovery took.
    pub steps: u64,
    /// Bytes that its storage calls read.
    pub bytes_read: u64,
    /// The limit of a step of it, and the core's window, in bytes.
    pub limits: (u64, u64),
    /// What is true.
    pub truth: &'a Truth,
}

impl BootView<'_> {
    /// What the ledger said when the core looked, by the reference's reading; `None` if nothing was seen then,
    /// or it could not be read.
    pub fn heard(&self) -> Option<Heard> {
        Heard::of(&self.before?.directory, &self.expectation)
    }

    /// Whether a mark covers this place. Where the ledger was not heard there is only the core to say so.
    pub fn is_marked(&self, segment: SegmentStart, position: u64) -> bool {
        let mark = match self.heard() {
            Some(heard) => heard.mark(segment),
            None => self.facts_of(segment).and_then(|facts| facts.mark).map(|mark| mark.position),
        };
        mark.is_some_and(|mark| position < mark.get())
    }

    /// Whether a read that returned what does not lie there may have hidden what does: it showed just what a
    /// mark promised, or a log that is whole to its end. What looks damaged is read twice, what verifies is
    /// not.
    pub fn may_be_hidden(&self, segment: SegmentStart, position: u64) -> bool {
        !self.sees_truth && (self.is_marked(segment, position) || self.is_shown_whole(segment))
    }

    /// Whether the core was shown a log that verifies to the end of what lies there.
    pub fn is_shown_whole(&self, segment: SegmentStart) -> bool {
        let length = self
            .before
            .and_then(|before| bytes_of(&before.directory, &FileName::log(segment)))
            .map(|bytes| bytes.len() as u64);
        self.facts_of(segment).is_some_and(|facts| {
            let end = facts.proven.end.get();
            facts.stop.stop() == Stop::End && length.is_none_or(|length| length == end)
        })
    }

    fn facts_of(&self, segment: SegmentStart) -> Option<&SegmentFacts> {
        self.facts.segments.iter().find(|facts| facts.start == segment)
    }
}

/// The bytes of a file of an image.
pub fn bytes_of<'a>(image: &'a Image, name: &Name) -> Option<&'a [u8]> {
    match image.find(name.as_bytes())? {
        Content::File(file) => Some(&file.bytes),
        Content::Unopenable | Content::Directory | Content::Other => None,
    }
}
