//! One image of a partition before any recovery has seen it, and what is owed: the case that any recovery
//! program can be tried on.
//!
//! Promises: what is demanded follows from what was written and promised there and from what went wrong
//! since; the reference says only what nobody could tell apart, and how far offsets may be skipped. Leaves
//! out: what one program does with the image ([`crate::subject`]), and policy: a program may refuse more, or
//! cut less, than this project's own, as long as it is true.

use std::ops::Range;

use recovery_core::format::FileName;
use recovery_core::observe::Expectation;
use recovery_core::storage::Name;
use recovery_core::units::{Offset, SegmentStart};

use super::boot_view::bytes_of;
use super::obligation::Obligation;
use super::reference::{Disposition, Reference, recover};
use super::truth::{Life, Truth, Write};
use super::{Content, PartitionImage};

/// Bytes of the smallest message in a log.
const MESSAGE_BYTES_MIN: u64 = 48;

/// A batch of a log: where it lies, or lay, and its offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Its log.
    pub file: Name,
    /// Position of its header there.
    pub position: u64,
    /// Its bytes.
    pub length: u64,
    /// Its first offset.
    pub first: Offset,
    /// One behind its last; the same for a batch without messages.
    pub next: Offset,
}

/// What may be concluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// `serve`, `serve-from` or `refuse`.
    pub disposition: &'static str,
    /// The offsets, first and last, that the next message may get, if it is served.
    pub next_offset: Option<(Offset, Offset)>,
}

/// What is owed the batches of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// Promised, and whole: served, or untouched in a partition that is refused.
    pub must_keep: Vec<Extent>,
    /// Whole, and not promised, or not to be told from a batch that was written there.
    pub may_lose: Vec<Extent>,
    /// Damaged, or given up by an earlier recovery: never served.
    pub must_not_serve: Vec<Extent>,
    /// Damaged below a mark of the ledger: the partition is refused.
    pub must_refuse: Vec<Extent>,
}

/// One partition, to be recovered.
#[derive(Clone, Debug)]
pub struct Case {
    /// What lies there.
    pub before: PartitionImage,
    /// What is true of it.
    pub truth: Truth,
    /// What a program is told of it.
    pub expectation: Expectation,
    /// Whether it was written with a ledger.
    pub has_ledger: bool,
    reference: Reference,
}

impl Case {
    /// The case of an image, of which `truth` is true.
    pub fn new(before: PartitionImage, mut truth: Truth, expectation: Expectation, has_ledger: bool) -> Self {
        let reference = recover(&before.directory, &expectation);
        if let Some(first) = reference.segments.first() {
            truth.learn_floor(first.start.offset());
        }
        Self { before, truth, expectation, has_ledger, reference }
    }

    /// Ranges of its files that no read returns, by file: no real directory can be made to hold them.
    pub fn unreadable(&self) -> Vec<(Name, Range<u64>)> {
        let directories = std::iter::once(&self.before.directory)
            .chain(self.before.fences.iter().map(|fence| &fence.image));
        let mut found = Vec::new();
        for entry in directories.flat_map(|image| &image.entries) {
            match &entry.content {
                Content::File(file) => {
                    found.extend(file.unreadable.iter().map(|range| (entry.name, range.clone())));
                }
                Content::Unopenable => found.push((entry.name, 0..u64::MAX)),
                Content::Directory | Content::Other => {}
            }
        }
        found
    }

    /// What is owed its batches.
    pub fn demands(&self) -> Demands {
        let mut demands = Demands::default();
        for write in self.truth.writes() {
            let is_intact = self.truth.lies_in(&self.before.directory, write);
            let list = match (write.life, self.truth.owed(write, is_intact)) {
                (Life::Planted, _) | (_, None) if !is_intact => continue,
                (Life::Planted, _) | (_, None) if self.may_be_served(write) => &mut demands.may_lose,
                (Life::Planted, _) | (_, None) => &mut demands.must_not_serve,
                (_, Some(Obligation::MustKeep)) => &mut demands.must_keep,
                (_, Some(Obligation::MayLose)) if is_intact => &mut demands.may_lose,
                (_, Some(Obligation::MayLose)) => continue,
                // Of what never came to lie there nothing can be served.
                (_, Some(Obligation::MustNotServe)) if !self.reaches(write) => continue,
                (_, Some(Obligation::MustNotServe)) => &mut demands.must_not_serve,
                (_, Some(Obligation::MustRefuse)) => &mut demands.must_refuse,
            };
            list.push(extent(write));
        }
        demands
    }

    /// Whether its log goes on at the place of a batch.
    fn reaches(&self, write: &Write) -> bool {
        let log = bytes_of(&self.before.directory, &FileName::log(write.segment));
        log.is_some_and(|log| log.len() as u64 > write.position)
    }

    /// What may be concluded, served first.
    pub fn accepted(&self) -> Vec<Accepted> {
        let demands = self.demands();
        let mut accepted = Vec::new();
        if demands.must_refuse.is_empty() {
            let next_offset = Some(self.next_offsets(&demands));
            accepted.push(Accepted { disposition: "serve", next_offset });
            accepted.push(Accepted { disposition: "serve-from", next_offset });
        }
        if self.may_be_refused() {
            accepted.push(Accepted { disposition: "refuse", next_offset: None });
        }
        accepted
    }

    /// Whether a refusal is explained: by damage, or by the lack of a ledger, without which much looks like
    /// damage (I13).
    pub fn may_be_refused(&self) -> bool {
        !self.has_ledger || self.truth.damages.explains_refusal()
    }

    /// The least and the largest offset that the next message may get.
    fn next_offsets(&self, demands: &Demands) -> (Offset, Offset) {
        let kept = demands.must_keep.iter().map(|extent| extent.next);
        let is_remembered = self.has_ledger && !self.truth.damages.explains_forgotten_offsets();
        let retained = self
            .truth
            .writes()
            .iter()
            .filter(|write| is_remembered && write.life == Life::Retained && write.is_promised);
        let least = kept.chain(retained.map(|write| write.next)).max().unwrap_or(Offset::ZERO);
        let written = self.truth.writes().iter().map(|write| write.next.get());
        // What lies behind the proven bytes may hold a message in every 48 of them.
        let could_hold = self.reference.segments.iter().map(|segment| {
            let rest = segment.log_bytes.get().saturating_sub(segment.proven_bytes.get());
            segment.next_offset.get().saturating_add(rest / MESSAGE_BYTES_MIN)
        });
        let named = self.reference.next_offset.map(Offset::get);
        let largest = written.chain(could_hold).chain(named).max().unwrap_or_default();
        (least, Offset::new(largest.max(least.get())))
    }

    /// Whether the offsets between two segments are known to be nobody's: the reference serves this chain, and
    /// the one before the gap is whole up to where it proved it.
    pub fn explains_gap(&self, before: Option<SegmentStart>, expected: Offset) -> bool {
        let is_served =
            matches!(self.reference.disposition, Disposition::Serve | Disposition::ServeFrom { .. });
        let proven = before.and_then(|before| self.proven(before));
        is_served && proven.is_none_or(|(_, next)| expected >= next)
    }

    /// Whether a batch that nobody wrote there, or that was given up there, may be served all the same: by all
    /// that lies on the disk it is one like the others, or the record that gave it up is lost.
    pub fn may_be_served(&self, write: &Write) -> bool {
        let end = write.position + u64::from(write.length);
        let may_be_back = write.life == Life::Retained
            && (self.truth.is_floor_doubtful || self.truth.damages.explains_forgotten_offsets());
        may_be_back || self.is_proven(write.segment, end)
    }

    /// Whether the bytes of a segment up to `end` are what the reference takes for proven.
    pub fn is_proven(&self, segment: SegmentStart, end: u64) -> bool {
        self.proven(segment).is_some_and(|(proven, _)| end <= proven)
    }

    fn proven(&self, start: SegmentStart) -> Option<(u64, Offset)> {
        let segment = self.reference.segments.iter().find(|segment| segment.start == start)?;
        Some((segment.proven_bytes.get(), segment.next_offset))
    }
}

fn extent(write: &Write) -> Extent {
    Extent {
        file: FileName::log(write.segment),
        position: write.position,
        length: u64::from(write.length),
        first: write.base,
        next: write.next,
    }
}

#[cfg(test)]
mod tests {
    use recovery_core::units::Namespace;

    use super::*;
    use crate::oracle::damage::Place;
    use crate::oracle::{FileImage, Image, ImageEntry};

    const START: SegmentStart = SegmentStart::new(0);

    /// Three batches of 300 bytes that verify nowhere: promised, acknowledged, and given up.
    fn case(is_marked: bool, damage: Option<Range<u64>>) -> Case {
        let mut truth = Truth::default();
        truth.reset(Offset::ZERO);
        for at in 0..3 {
            let offsets = (Offset::new(at), Offset::new(at + 1));
            let byte = u8::try_from(at + 1).expect("a small number");
            truth.append(None, offsets, (START, at * 300), &[byte; 300], Life::Buffered);
        }
        truth.acknowledge(Offset::new(2));
        truth.promise(Offset::new(1));
        if is_marked {
            truth.mark(Offset::new(1));
        }
        let mut bytes = [[1_u8; 300], [2; 300], [3; 300]].concat();
        let file = FileName::log(START);
        if let Some(range) = damage {
            bytes[usize::try_from(range.start).expect("a small number")] ^= 1;
            truth.damages.add(Place::Bytes { file, range });
        }
        let entry = ImageEntry { name: file, content: Content::File(FileImage::readable(bytes)) };
        let directory = Image { entries: vec![entry], is_listable: true };
        let before = PartitionImage { directory, fences: Vec::new() };
        let expectation = Expectation::of(Namespace { stream: 1, topic: 1, partition: 0 });
        Case::new(before, truth, expectation, true)
    }

    fn positions(extents: &[Extent]) -> Vec<u64> {
        extents.iter().map(|extent| extent.position).collect()
    }

    fn words(case: &Case) -> Vec<&'static str> {
        case.accepted().iter().map(|accepted| accepted.disposition).collect()
    }

    #[test]
    fn a_clean_crash_keeps_what_was_promised_and_is_served() {
        let case = case(true, None);
        let demands = case.demands();
        assert_eq!((positions(&demands.must_keep), positions(&demands.may_lose)), (vec![0], vec![300, 600]));
        assert_eq!((demands.must_not_serve, demands.must_refuse), (Vec::new(), Vec::new()));
        assert_eq!(words(&case), ["serve", "serve-from"]);
        // Nothing of the log verifies, so that its 900 bytes may hold 18 messages.
        assert_eq!(case.accepted()[0].next_offset, Some((Offset::new(1), Offset::new(18))));
    }

    #[test]
    fn damage_below_a_mark_is_refused_and_above_it_may_be() {
        let case_below = case(true, Some(7..8));
        assert_eq!(positions(&case_below.demands().must_refuse), [0]);
        assert_eq!(words(&case_below), ["refuse"]);
        let case_above = case(false, Some(7..8));
        assert_eq!(positions(&case_above.demands().must_not_serve), [0]);
        assert_eq!(words(&case_above), ["serve", "serve-from", "refuse"]);
    }

    #[test]
    fn what_was_given_up_and_still_lies_there_is_not_served() {
        let mut case = case(false, None);
        case.truth.reconcile(&[], None, true);
        let demands = case.demands();
        assert_eq!((demands.must_keep, demands.may_lose), (Vec::new(), Vec::new()));
        assert_eq!(positions(&demands.must_not_serve), [0, 300, 600]);
    }

    #[test]
    fn a_sector_that_cannot_be_read_is_named() {
        let mut case = case(false, None);
        assert_eq!(case.unreadable(), []);
        let Content::File(file) = &mut case.before.directory.entries[0].content else { panic!("a file") };
        file.unreadable.push(0..512);
        assert_eq!(case.unreadable(), [(FileName::log(START), 0..512)]);
    }
}
