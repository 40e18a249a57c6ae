//! Files made to be expensive: whatever they say, work and memory stay within bounds, for windows of any size.

use recovery_core::decide::{Disposition, Verdict};
use recovery_core::format::{
    BATCH_BYTES_MAX, BATCH_HEADER_BYTES, BatchHeader, Checksum, FRAME_HASHED_FROM, FRAME_HEADER_BYTES,
    FileName, FrameHeader, LedgerKind, Mark, partition_components, stamp,
};
use recovery_core::observe::{
    Expectation, LOSSES_MAX, PartitionFacts, Progress, Residue, Stop, WINDOW_BYTES_MAX, Work, Workspace,
};
use recovery_core::plan::PlanOptions;
use recovery_core::recovery::{Mode, Recovery};
use recovery_core::storage::PartitionDirectory;
use recovery_core::units::{Length, Offset, Position, SegmentStart};

use crate::image::check::measured;
use crate::image::log::stepping_stone;
use crate::memory_storage::MemoryStorage;
use crate::observe_world::{NAMESPACE, first_mark, record, storage_of};

fn storage(files: &[(String, Vec<u8>)]) -> MemoryStorage {
    let storage = storage_of(files);
    storage.stop_listing();
    storage
}

/// Looks at what lies there; says how much memory that took at most, windows included.
fn look(storage: &MemoryStorage, window: usize) -> (PartitionFacts, Verdict, u64) {
    storage.start(None);
    let partition = PartitionDirectory::open(storage, &partition_components(NAMESPACE)).unwrap();
    let (recovered, memory) = measured(|| {
        let mut workspace = Workspace::new(window);
        let expectation = Expectation::of(NAMESPACE);
        let mut recovery = Recovery::new(expectation, Mode::Look, PlanOptions::default(), &mut workspace);
        while recovery.step(storage, &partition, &mut workspace, 1 << 20) == Progress::More {}
        recovery.finish()
    });
    partition.close(storage);
    (recovered.facts, recovered.verdict, memory)
}

/// F48: a skeleton whose frames lie far apart is walked within the budget.
#[test]
fn bait_whose_frames_lie_far_apart_costs_little_and_is_judged_alike_through_any_window() {
    for (reach, frames) in [(17, 2), (17, 9), (2, 2), (1, 40), (40, 3)] {
        let stone = stepping_stone(NAMESPACE.partition_id(), Offset::ZERO, reach, frames);
        let log = stone.repeat(600);
        let length = log.len() as u64;
        let storage = storage(&[(FileName::log(SegmentStart::ZERO).to_string(), log)]);
        let mut first = None;
        for window in [512, 1024, 4096, 16 * 1024, 64 * 1024, 256 * 1024, WINDOW_BYTES_MAX] {
            let (mut facts, verdict, _) = look(&storage, window);
            let Work { bytes_read, bytes_hashed, bytes_walked, .. } = facts.work;
            assert!(bytes_read <= 18 * length, "{bytes_read} of {length} by {window}");
            assert!(bytes_hashed + bytes_walked <= 8 * length, "{bytes_hashed} + {bytes_walked} of {length}");
            facts.work = Work::default();
            match &first {
                None => first = Some((facts, verdict)),
                Some(first) => assert_eq!((facts, verdict), *first, "{reach} {frames} through {window}"),
            }
        }
        let (facts, _) = first.unwrap();
        let kind = facts.segments[0].residue.kind;
        assert!(matches!(kind, Residue::Noise | Residue::Unproven), "{kind:?}");
    }
}

/// A ledger in which each record says something about a segment of its own.
fn ledger(records: u64, kind: impl Fn(Mark) -> LedgerKind) -> Vec<u8> {
    let record = |slot| record(slot, kind(first_mark(SegmentStart::new(slot)))).encode();
    (0..records).flat_map(record).collect()
}

#[test]
fn a_large_ledger_takes_no_memory_of_its_size() {
    let frontiers = ledger(40_000, |mark| LedgerKind::Frontier { mark });
    let seals = ledger(40_000, |mark| LedgerKind::Sealed { mark, next_start: mark.segment });
    let losses = ledger(5_000, |mark| LedgerKind::AcceptedLoss {
        mark,
        first: mark.next_offset,
        next: mark.next_offset.checked_add(1).unwrap(),
    });
    for ledger in [frontiers, seals, losses] {
        let records = ledger.len() as u64 / 128;
        let files =
            [("ledger".to_owned(), ledger), (FileName::log(SegmentStart::ZERO).to_string(), Vec::new())];
        let storage = storage(&files);
        let (facts, verdict, memory) = look(&storage, 4096);
        assert!(memory < 3 << 20, "{memory} bytes of memory");
        let known = facts.ledger.known().unwrap();
        assert_eq!(known.valid, records);
        // What is kept is enough to tell that segments are missing, and that this one is not.
        assert_eq!(known.segments.first().unwrap().segment, SegmentStart::ZERO);
        assert_eq!(known.segments.last().unwrap().segment, SegmentStart::new(records - 1));
        assert!(known.gaps.len() <= LOSSES_MAX, "{} gaps", known.gaps.len());
        assert!(!verdict.is_served(), "{verdict:?}");
    }
}

/// A whole batch of one message that takes just `length` bytes, larger than any builder makes.
pub(crate) fn batch_of(length: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(length).unwrap()];
    let body = bytes.len() - BATCH_HEADER_BYTES - FRAME_HEADER_BYTES;
    let mut frame = FrameHeader {
        checksum: Checksum::default(),
        id: 1,
        offset_delta: 0,
        timestamp_delta: 0,
        user_headers_length: 0,
        payload_length: u32::try_from(body).unwrap(),
    };
    let frame_at = BATCH_HEADER_BYTES..BATCH_HEADER_BYTES + FRAME_HEADER_BYTES;
    bytes[frame_at.clone()].copy_from_slice(&frame.encode());
    frame.checksum = Checksum::of(&bytes[frame_at.start + FRAME_HASHED_FROM..]);
    bytes[frame_at].copy_from_slice(&frame.encode());
    let header = BatchHeader {
        partition_id: NAMESPACE.partition_id(),
        base_offset: Offset::ZERO,
        base_timestamp: 0,
        origin_timestamp: 0,
        batch_length: Length::new(length),
        batch_checksum: Checksum::default(),
        message_count: 1,
    };
    bytes[..BATCH_HEADER_BYTES].copy_from_slice(&header.encode());
    stamp(&mut bytes, NAMESPACE.partition_id(), Offset::ZERO, 1).unwrap();
    bytes
}

/// F55, F74.
/// The ceiling binds what is let in, and a server that allowed more has left whole batches: refused, not cut.
#[test]
fn a_batch_at_the_ceiling_is_proven_in_little_memory_and_one_above_it_is_refused() {
    let log = FileName::log(SegmentStart::ZERO).to_string();
    // A mark at the start of the log: the batch lies where nothing was promised.
    let promised_nothing = ledger(1, |mark| LedgerKind::Frontier { mark });
    let marked = (FileName::ledger().to_string(), promised_nothing);
    for (above, others) in [(0, vec![]), (1, vec![]), (1, vec![marked])] {
        let length = BATCH_BYTES_MAX.get() + above;
        let files = [vec![(log.clone(), batch_of(length))], others].concat();
        let storage = storage(&files);
        let (facts, verdict, memory) = look(&storage, WINDOW_BYTES_MAX);
        let windows = 2 * WINDOW_BYTES_MAX as u64;
        assert!(memory <= windows + 64 * 1024, "{memory} bytes for a batch of {length}");
        assert!(facts.work.longest_step_bytes <= 1 << 20, "{:?}", facts.work);
        let segment = &facts.segments[0];
        if above == 0 {
            assert_eq!((segment.stop.stop(), segment.proven.end), (Stop::End, Position::new(length)));
            assert_eq!(verdict.next_offset, Some(Offset::new(1)));
        } else {
            assert_eq!((segment.stop.stop(), segment.proven.end), (Stop::Oversize, Position::ZERO));
            let Disposition::Refuse(reason) = &verdict.disposition else { panic!("{verdict:?}") };
            assert_eq!(reason.code(), "record-ceiling");
        }
    }
}
