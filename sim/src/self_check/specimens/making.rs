//! What the histories are put together from: batches, partitions, verdicts, facts and the truth, by hand.
//!
//! Leaves out: what is wrong with a history, which each part says of its own.

use recovery_core::decide::{Action, Disposition, Reason, SegmentVerdict, Verdict};
use recovery_core::format::{BatchBuilder, FileName, IndexEntry, Message, stamp};
use recovery_core::observe::{
    Evidence, Expectation, IndexFacts, IndexState, PartitionFacts, Proven, Residue, ResidueFacts,
    SegmentFacts, StopDetail,
};
use recovery_core::plan::Plan;
use recovery_core::storage::Name;
use recovery_core::units::{Length, Namespace, Offset, PartitionId, Position, SegmentStart};
use xxhash_rust::xxh3::xxh3_64;

use crate::oracle::boot_view::BootView;
use crate::oracle::served_log::Lying;
use crate::oracle::truth::{Life, Truth};
use crate::oracle::{Content, Fence, FileImage, Image, ImageEntry, PartitionImage};

pub(super) const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
pub(super) const SEGMENT: SegmentStart = SegmentStart::new(0);
pub(super) const LOG: &str = "00000000000000000000.log";
const INDEX: &str = "00000000000000000000.index";
/// Bytes of a batch of one message.
pub(super) const ONE: usize = 356;

pub(super) fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).expect("a short word is a name")
}

pub(super) fn file(text: &str, bytes: &[u8]) -> ImageEntry {
    ImageEntry { name: name(text), content: Content::File(FileImage::readable(bytes.to_vec())) }
}

/// A batch of one message of 52 bytes.
pub(super) fn batch(offset: u64) -> Vec<u8> {
    batch_at(offset, 1_000)
}

/// The same, stamped at another time.
pub(super) fn batch_at(offset: u64, time: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut builder = BatchBuilder::begin(&mut bytes, 900);
    let message = Message { id: 1, timestamp_delta: 0, payload: &[b'x'; 52], user_headers: &[] };
    builder.push(&message).expect("one message fits");
    builder.finish();
    stamp(&mut bytes, PartitionId::new(3), Offset::new(offset), time).expect("it is whole");
    assert_eq!(bytes.len(), ONE, "a batch of one message has a fixed length");
    bytes
}

/// `count` batches from offset 0 on.
pub(super) fn batches(count: u64) -> Vec<u8> {
    (0..count).flat_map(batch).collect()
}

/// An index entry for each of them.
pub(super) fn entries(count: u64) -> Vec<u8> {
    let entry = |offset| IndexEntry {
        offset: Offset::new(offset),
        timestamp: 1_000,
        position: Position::new(offset * ONE as u64),
    };
    (0..count).flat_map(|offset| entry(offset).encode()).collect()
}

/// The batches of [`batches`], as they lie one behind the other.
pub(super) fn lying(log: &[u8]) -> Vec<Lying<'_>> {
    let chunks = log.chunks(ONE).zip(0..);
    let read = |(bytes, at)| Lying {
        segment: SEGMENT,
        position: at * ONE as u64,
        base: Offset::new(at),
        next: Offset::new(at + 1),
        bytes,
    };
    chunks.map(read).collect()
}

/// Two whole batches, 40 bytes of noise, and the batch that would follow.
pub(super) fn damaged_log() -> Vec<u8> {
    [&batches(2)[..], &[7; 40], &batch(2)].concat()
}

/// Where the damage begins.
pub(super) const PROVEN: usize = 2 * ONE;

/// A partition with one log, and an index of its first two batches.
pub(super) fn partition(log: &[u8]) -> PartitionImage {
    with_index(log, &entries(2))
}

pub(super) fn with_index(log: &[u8], index: &[u8]) -> PartitionImage {
    let entries = vec![file(LOG, log), file(INDEX, index)];
    PartitionImage { directory: Image { entries, is_listable: true }, fences: Vec::new() }
}

pub(super) fn damaged() -> PartitionImage {
    partition(&damaged_log())
}

/// Cut behind two batches, with `kept` in a fence as it lay there.
pub(super) fn cut(kept: &[u8]) -> PartitionImage {
    let copy = format!("{LOG}.{PROVEN}-{}.{:016x}", kept.len(), xxh3_64(kept));
    let image = Image { entries: vec![file(&copy, kept)], is_listable: true };
    PartitionImage { fences: vec![Fence { name: name("3.fenced.0"), image }], ..partition(&batches(2)) }
}

pub(super) fn verdict(disposition: Disposition, next: Option<u64>, action: Action) -> Verdict {
    let segments = vec![SegmentVerdict { start: SEGMENT, action }];
    Verdict { disposition, next_offset: next.map(Offset::new), reserve: None, segments }
}

pub(super) fn served(next: u64) -> Verdict {
    verdict(Disposition::Serve, Some(next), Action::Keep)
}

/// Served up to where the damage begins, and `save` bytes behind it cut.
pub(super) fn cutting(save: u64) -> Verdict {
    let at = Position::new(PROVEN as u64);
    verdict(Disposition::Serve, Some(2), Action::Cut { at, save: Length::new(save) })
}

pub(super) fn refused() -> Verdict {
    let overlap =
        Reason::Overlap { segment: SEGMENT, last_offset: Offset::new(2), next_segment: SegmentStart::new(1) };
    verdict(Disposition::Refuse(overlap), None, Action::Keep)
}

/// What the core says of a log of which `proven` batches are proven, and nothing follows them.
pub(super) fn facts(log: &[u8], proven: u64) -> PartitionFacts {
    let end = Position::new(proven * ONE as u64);
    let segment = SegmentFacts {
        start: SEGMENT,
        log_length: Length::new(log.len() as u64),
        proven: Proven {
            end,
            next_offset: Offset::new(proven),
            batches: proven,
            messages: proven,
            delta_mismatches: 0,
            chain_hash: None,
        },
        stop: StopDetail::End,
        residue: ResidueFacts {
            kind: Residue::None,
            length: Length::new(0),
            checksum: None,
            survivor_count: 0,
            survivors: Vec::new(),
            survivors_next_offset: None,
            runs: Vec::new(),
            stray_count: 0,
            strays: Vec::new(),
            candidates: 0,
        },
        evidence: Evidence::Unknown,
        mark: None,
        seal: None,
        accepts_loss: false,
        index: IndexFacts {
            state: IndexState::Good,
            length: None,
            checksum: None,
            entries: proven,
            beyond: None,
            rebuilt: Vec::new(),
            is_prefix_of_rebuilt: true,
        },
    };
    PartitionFacts { segments: vec![segment], ..PartitionFacts::of_nothing(Expectation::of(NAMESPACE)) }
}

/// Three batches, the first two acknowledged and promised.
pub(super) fn truth() -> Truth {
    let mut truth = Truth::default();
    truth.reset(Offset::ZERO);
    for at in 0..3 {
        let offsets = (Offset::new(at), Offset::new(at + 1));
        truth.append(None, offsets, (SEGMENT, at * ONE as u64), &batch(at), Life::Buffered);
    }
    truth.acknowledge(Offset::new(2));
    truth.promise(Offset::new(2));
    truth
}

/// The log of the histories.
pub(super) fn log() -> Name {
    FileName::log(SEGMENT)
}

/// One start, with its truth: calm, undisturbed, over a ledger, unless a part says otherwise.
pub(super) struct Start {
    pub(super) before: PartitionImage,
    pub(super) after: PartitionImage,
    pub(super) facts: PartitionFacts,
    pub(super) verdict: Verdict,
    pub(super) truth: Truth,
    pub(super) sees_truth: bool,
}

impl Start {
    /// One that finds these logs before and behind it, and serves `count` batches.
    pub(super) fn of(before: &[u8], after: &[u8], count: u64) -> Self {
        Self {
            before: partition(before),
            after: partition(after),
            facts: facts(after, count),
            verdict: served(count),
            truth: truth(),
            sees_truth: true,
        }
    }

    /// What a check looks at.
    pub(super) fn look<T>(&self, check: impl FnOnce(&BootView<'_>) -> T) -> T {
        check(&BootView {
            has_ledger: true,
            is_calm: true,
            is_disturbed: false,
            writes_land: true,
            lies_at_most_once: true,
            failed_to_act: false,
            sees_truth: self.sees_truth,
            expectation: Expectation::of(NAMESPACE),
            before: Some(&self.before),
            judged: Some(&self.before),
            after: &self.after,
            forgotten: &[],
            facts: &self.facts,
            verdict: &self.verdict,
            plan: &Plan::default(),
            is_open: true,
            cursor: None,
            settling_changes: 0,
            steps: 0,
            bytes_read: 0,
            limits: (1 << 16, 1 << 12),
            truth: &self.truth,
        })
    }
}
