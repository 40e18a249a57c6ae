//! Arbitrary facts of the kind that observation promises: any cell of the segment table, any chain, any
//! evidence, with numbers up to the largest.

use proptest::prelude::*;

use super::builder::{BATCH, Partition, Segment, find, mark, partition, segment, with_ledger};
use crate::format::SuperblockSlot;
use crate::observe::{
    BadChecksum, Evidence, IndexState, OtherEntry, PartitionFacts, RecordedGap, Residue, Seal, Stop,
    StopDetail, SuperblockState, Undecodable,
};
use crate::storage::{EntryKind, Errno, Name};
use crate::units::{Incarnation, Length, Offset, PartitionId, Position, SegmentStart};

/// What one segment is made from. Everything is relative, so that any seeds make a chain.
#[derive(Clone, Debug)]
struct SegmentSeed {
    /// Where it starts, behind the end of the one before it: mostly 0, that is, adjacent.
    step: i64,
    messages: u64,
    cell: (Stop, Evidence, Residue),
    residue_bytes: u64,
    /// How far a survivor's offset lies above the next one.
    survivor_step: u64,
    /// How far the mark lies from the end, in messages; `None` for no mark where none is needed.
    mark_step: Option<u64>,
    /// How far above its end a sealed segment says that the next one starts.
    seal_step: Option<u64>,
    is_gap_recorded: bool,
    index: IndexState,
}

/// What a partition is made from, beside its segments.
#[derive(Clone, Debug)]
struct PartitionSeed {
    base: u64,
    has_ledger: bool,
    floor_step: u64,
    reserved_step: i64,
    frontier_step: Option<i64>,
    /// Rare faults: which of them is planted, if any.
    fault: u8,
}

pub(super) fn any_facts() -> impl Strategy<Value = PartitionFacts> {
    (any_partition_seed(), prop::collection::vec(any_segment_seed(), 0..5))
        .prop_map(|(seed, segments)| build(&seed, &segments))
}

fn any_partition_seed() -> impl Strategy<Value = PartitionSeed> {
    let base = prop_oneof![4 => Just(0), 2 => 1_u64..1000, 1 => u64::MAX - 30..=u64::MAX];
    let floor_step = prop_oneof![9 => Just(0), 1 => 1_u64..5];
    let frontier = prop::option::of(-5_i64..20);
    (base, any::<bool>(), floor_step, -5_i64..20, frontier, any::<u8>()).prop_map(
        |(base, has_ledger, floor_step, reserved_step, frontier_step, fault)| PartitionSeed {
            base,
            has_ledger,
            floor_step,
            reserved_step,
            frontier_step,
            fault,
        },
    )
}

fn any_segment_seed() -> impl Strategy<Value = SegmentSeed> {
    let step = prop_oneof![8 => Just(0), 1 => 1_i64..9, 1 => -3_i64..0];
    let whole = (Just(Stop::End), prop::sample::select(&Evidence::ALL[..]), Just(Residue::None));
    let any_cell = (
        prop::sample::select(&Stop::ALL[..]),
        prop::sample::select(&Evidence::ALL[..]),
        prop::sample::select(&Residue::ALL[..]),
    );
    let torn = (
        prop::sample::select(&[Stop::Short, Stop::Undecodable, Stop::Overrun][..]),
        Just(Evidence::AtOrAbove),
        prop::sample::select(&Residue::ALL[1..]),
    );
    let cell = prop_oneof![4 => whole, 4 => torn, 2 => any_cell];
    (
        (step, 0_u64..4, cell, 1_u64..2000, 0_u64..6),
        (
            prop::option::of(0_u64..3),
            prop::option::of(0_u64..4),
            any::<bool>(),
            prop::sample::select(&IndexState::ALL[..]),
        ),
    )
        .prop_map(
            |(
                (step, messages, cell, residue_bytes, survivor_step),
                (mark_step, seal_step, is_gap_recorded, index),
            )| {
                SegmentSeed {
                    step,
                    messages,
                    cell,
                    residue_bytes,
                    survivor_step,
                    mark_step,
                    seal_step,
                    is_gap_recorded,
                    index,
                }
            },
        )
}

fn build(seed: &PartitionSeed, seeds: &[SegmentSeed]) -> PartitionFacts {
    let mut segments: Vec<Segment> = Vec::new();
    let mut gaps = Vec::new();
    let mut end = seed.base;
    for segment_seed in seeds {
        // The first segment starts at the base; the others where their step leads, if that is a place for them.
        let start = if segments.is_empty() { Some(end) } else { end.checked_add_signed(segment_seed.step) };
        let previous = segments.last().map(|segment| segment.0.start.get());
        let Some(start) = start.filter(|start| previous.is_none_or(|previous| *start > previous)) else {
            continue;
        };
        if start.checked_add(segment_seed.messages).is_none() {
            break;
        }
        if start > end && segment_seed.is_gap_recorded {
            gaps.push(RecordedGap { first: Offset::new(end), next: Offset::new(start) });
        }
        segments.push(build_segment(start, segment_seed, seed.has_ledger));
        end = start + segment_seed.messages;
    }
    let mut made = if seed.has_ledger { with_ledger(segments) } else { partition(segments) };
    if seed.has_ledger {
        let ledger = made.ledger();
        ledger.gaps.extend(gaps);
        ledger.gaps.sort_by_key(|gap| (gap.first, gap.next));
        ledger.newest.floor = SegmentStart::new(seed.base.checked_sub(seed.floor_step).unwrap_or(seed.base));
        ledger.newest.reserved_offset = near(end, seed.reserved_step);
    }
    if let Some(step) = seed.frontier_step {
        made = made.frontier(near(end, step).get());
    }
    plant_fault(made, seed.fault).0
}

fn near(offset: u64, step: i64) -> Offset {
    Offset::new(offset.checked_add_signed(step).unwrap_or(offset))
}

fn build_segment(start: u64, seed: &SegmentSeed, has_ledger: bool) -> Segment {
    let (mut stop, mut evidence, kind) = seed.cell;
    if !has_ledger {
        // Without a ledger nothing is sealed, nothing conflicts, and nothing is known not to be durable.
        stop = if matches!(stop, Stop::Overrun | Stop::Conflict) { Stop::Undecodable } else { stop };
        evidence = if evidence == Evidence::AtOrAbove { Evidence::Unknown } else { evidence };
    }
    let mut made = segment(start, seed.messages).index(seed.index).evidence(evidence);
    let end = made.0.proven.end.get();
    let next = made.0.proven.next_offset.get();
    made = made.stopped(
        detail(stop, end, next),
        kind,
        if kind == Residue::None { 0 } else { seed.residue_bytes },
    );
    let survivor = next.checked_add(seed.survivor_step).filter(|offset| *offset < u64::MAX);
    if kind == Residue::Survivor {
        let offset = survivor.unwrap_or(next);
        made.0.residue.survivors = vec![find(end, offset)];
        made.0.residue.survivor_count = 1;
        made.0.residue.survivors_next_offset = Offset::new(offset).checked_add(1);
    }
    if evidence == Evidence::Below && !has_ledger {
        return made.promised_by_index(end + BATCH, next);
    }
    if has_ledger { testified(made, seed) } else { made }
}

/// Adds what a ledger says: a mark that gives the relation, and a seal where the log ends at one.
fn testified(mut made: Segment, seed: &SegmentSeed) -> Segment {
    let (start, end) = (made.0.start.get(), made.0.proven.end.get());
    let next = made.0.proven.next_offset.get();
    made.0.mark = match made.0.evidence {
        Evidence::Below => Some(mark(start, end + 1 + seed.mark_step.unwrap_or(0) * BATCH, next)),
        Evidence::Unknown | Evidence::AtOrAbove => {
            let messages = seed.mark_step.and_then(|back| seed.messages.checked_sub(back));
            messages.map(|messages| mark(start, messages * BATCH, start + messages))
        }
    };
    let is_at_a_seal = matches!(made.0.stop.stop(), Stop::End | Stop::Overrun);
    let next_start = seed.seal_step.and_then(|ahead| next.checked_add(ahead));
    if let (true, Some(next_start)) = (is_at_a_seal && made.0.evidence != Evidence::Below, next_start) {
        let mark = mark(start, end, next);
        made.0.mark = Some(mark);
        made.0.seal = Some(Seal { mark, next_start: SegmentStart::new(next_start) });
    }
    made
}

fn detail(stop: Stop, end: u64, next: u64) -> StopDetail {
    match stop {
        Stop::End => StopDetail::End,
        Stop::Short => StopDetail::Short { needed: Length::new(BATCH), available: Length::new(1) },
        Stop::Undecodable => StopDetail::Undecodable(Undecodable::Count { claimed: 9 }),
        Stop::BadChecksum => StopDetail::BadChecksum(BadChecksum::Message {
            index: 0,
            stored: crate::format::Checksum::new(1),
            actual: crate::format::Checksum::new(2),
        }),
        Stop::Overrun => StopDetail::Overrun { sealed: Length::new(end) },
        Stop::Foreign => StopDetail::Foreign { found: PartitionId::new(99) },
        Stop::Gap => StopDetail::Gap { found: near(next, 5) },
        Stop::Regression => StopDetail::Regression { found: near(next, -1) },
        Stop::Overflow => StopDetail::Overflow { base_offset: Offset::new(next), message_count: u32::MAX },
        Stop::Oversize => StopDetail::Oversize { batch_length: Length::new(u64::MAX) },
        Stop::Conflict => StopDetail::Conflict { agrees: None, differs: mark(0, end + 1, next) },
        Stop::Unreadable => StopDetail::Unreadable { errno: Errno::IO, position: Position::new(end) },
    }
}

/// Plants one of the faults of a directory, in few of all cases.
fn plant_fault(mut made: Partition, fault: u8) -> Partition {
    match fault {
        0 => {
            let incarnation = Incarnation::new(77);
            let (namespace, beside) = (super::builder::NAMESPACE, Some(Incarnation::new(76)));
            made.0.ledger = crate::observe::LedgerState::Mismatch { namespace, incarnation, beside };
        }
        1 => made.0.superblock = SuperblockState::Mismatch { slot: SuperblockSlot::A },
        2 => {
            let (slot, length) = (SuperblockSlot::B, Length::new(1));
            made.0.superblock = SuperblockState::Unreadable { slot, length };
        }
        3 => {
            let name = Name::new(b"1.log").expect("a name");
            made.0.listing.unexpected.push(OtherEntry { name, kind: EntryKind::File });
        }
        4 => {
            made.0.segments.pop();
        }
        5..=255 => {}
    }
    made
}
