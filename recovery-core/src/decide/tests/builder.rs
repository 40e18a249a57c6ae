//! Builds facts for tests: a partition of batches of one empty message each, whole unless said otherwise.

use crate::format::{
    ChainHash, Checksum, FRAME_HEADER_BYTES, IndexEntry, LedgerKind, LedgerRecord, Mark, SuperblockSlot,
};
use crate::observe::{
    BadChecksum, Evidence, Find, IndexFacts, IndexState, LedgerFacts, LedgerState, Listing, PartitionFacts,
    Proven, RecordedGap, Residue, ResidueFacts, Run, Seal, SegmentFacts, SegmentMarks, StopDetail,
    SuperblockState, Undecodable, Work,
};
use crate::units::{Durability, Incarnation, Length, Namespace, Offset, Position, SegmentStart};

/// Bytes of a batch of one message without payload.
pub(super) const BATCH: u64 = 256 + FRAME_HEADER_BYTES as u64;

pub(super) const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };

/// A mark; tests of the decision need no chain hash.
pub(super) fn mark(segment: u64, position: u64, next_offset: u64) -> Mark {
    Mark {
        segment: SegmentStart::new(segment),
        position: Position::new(position),
        next_offset: Offset::new(next_offset),
        chain_hash: ChainHash::default(),
    }
}

/// A batch that was found in a residue.
pub(super) fn find(position: u64, base_offset: u64) -> Find {
    Find {
        position: Position::new(position),
        partition_id: NAMESPACE.partition_id(),
        base_offset: Offset::new(base_offset),
        message_count: 1,
        batch_length: Length::new(BATCH),
    }
}

/// Whole batches of a residue, of one message each.
pub(super) const fn run(position: u64, first: u64, next: u64) -> Run {
    Run {
        position: Position::new(position),
        length: Length::new((next - first) * BATCH),
        first: Offset::new(first),
        next: Offset::new(next),
        chain_hash: None,
    }
}

pub(super) fn bad_checksum() -> StopDetail {
    StopDetail::BadChecksum(BadChecksum::Batch { stored: Checksum::new(1), actual: Checksum::new(2) })
}

pub(super) fn undecodable() -> StopDetail {
    StopDetail::Undecodable(Undecodable::Frame { index: 0 })
}

/// A segment in the making.
#[derive(Clone, Debug)]
pub(super) struct Segment(pub(super) SegmentFacts);

/// A segment of `messages` batches of one message each, whole, with its index.
pub(super) fn segment(start: u64, messages: u64) -> Segment {
    let end = messages * BATCH;
    Segment(SegmentFacts {
        start: SegmentStart::new(start),
        log_length: Length::new(end),
        proven: Proven {
            end: Position::new(end),
            next_offset: Offset::new(start + messages),
            batches: messages,
            messages,
            delta_mismatches: 0,
            chain_hash: None,
        },
        stop: StopDetail::End,
        residue: ResidueFacts {
            kind: Residue::None,
            length: Length::ZERO,
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
            length: Some(Length::ZERO),
            checksum: None,
            entries: 0,
            beyond: None,
            rebuilt: Vec::new(),
            is_prefix_of_rebuilt: true,
        },
    })
}

impl Segment {
    /// The walk stopped behind the proven messages, at a residue of `length` bytes.
    pub(super) fn stopped(mut self, stop: StopDetail, kind: Residue, length: u64) -> Self {
        self.0.stop = stop;
        self.0.residue.kind = kind;
        self.0.residue.length = Length::new(length);
        self.0.log_length = Length::new(self.0.proven.end.get() + length);
        self
    }

    /// As [`Segment::stopped`] at a bad checksum, with one survivor at the end of the residue.
    pub(super) fn survived(mut self, length: u64, base_offset: u64) -> Self {
        let position = self.0.proven.end.get() + length - BATCH;
        self.0.residue.survivors = vec![find(position, base_offset)];
        self.0.residue.survivor_count = 1;
        self.0.residue.survivors_next_offset = Offset::new(base_offset).checked_add(1);
        self.stopped(bad_checksum(), Residue::Survivor, length)
    }

    pub(super) fn evidence(mut self, evidence: Evidence) -> Self {
        self.0.evidence = evidence;
        self
    }

    /// A mark behind `messages` messages, and the relation that follows from it.
    pub(super) fn marked(mut self, messages: u64) -> Self {
        let start = self.0.start.get();
        let mark = mark(start, messages * BATCH, start + messages);
        self.0.mark = Some(mark);
        self.0.evidence =
            if self.0.proven.end < mark.position { Evidence::Below } else { Evidence::AtOrAbove };
        self
    }

    /// A seal behind `messages` messages.
    pub(super) fn sealed(mut self, messages: u64, next_start: u64) -> Self {
        self = self.marked(messages);
        let mark = self.0.mark.expect("just marked");
        self.0.seal = Some(Seal { mark, next_start: SegmentStart::new(next_start) });
        self
    }

    pub(super) fn index(mut self, state: IndexState) -> Self {
        self.0.index.state = state;
        self
    }

    /// An index entry past the stop proves a loss, as it may without a ledger.
    pub(super) fn promised_by_index(mut self, position: u64, offset: u64) -> Self {
        self.0.index.beyond =
            Some(IndexEntry { offset: Offset::new(offset), timestamp: 0, position: Position::new(position) });
        self.evidence(Evidence::Below)
    }
}

/// A partition in the making.
#[derive(Clone, Debug)]
pub(super) struct Partition(pub(super) PartitionFacts);

impl From<Partition> for PartitionFacts {
    fn from(partition: Partition) -> Self {
        partition.0
    }
}

/// A partition without ledger and superblock.
pub(super) fn partition(segments: impl IntoIterator<Item = Segment>) -> Partition {
    let segments: Vec<SegmentFacts> = segments.into_iter().map(|segment| segment.0).collect();
    Partition(PartitionFacts {
        namespace: NAMESPACE,
        durability: Durability::Buffered,
        listing: Listing {
            segments: segments.iter().map(|facts| facts.start).collect(),
            ..Listing::default()
        },
        ledger: LedgerState::None { length: None },
        superblock: SuperblockState::None,
        segments,
        expired: Vec::new(),
        work: Work::default(),
    })
}

/// A partition with a ledger that has the segments' marks and seals, and no floor above 0.
pub(super) fn with_ledger(segments: impl IntoIterator<Item = Segment>) -> Partition {
    let mut partition = partition(segments);
    let marked = partition.0.segments.iter().filter_map(|facts| {
        let newest = facts.mark?;
        Some(SegmentMarks {
            segment: facts.start,
            newest,
            seal: facts.seal,
            accepts_loss: facts.accepts_loss,
            checks: Vec::new(),
        })
    });
    let gaps = partition.0.segments.iter().filter_map(|facts| {
        let seal = facts.seal?;
        let (first, next) = (seal.mark.next_offset, seal.next_start.offset());
        (first < next).then_some(RecordedGap { first, next })
    });
    partition.0.ledger = LedgerState::Known(LedgerFacts {
        newest: LedgerRecord {
            kind: LedgerKind::Reserved,
            durability: Durability::Synced,
            namespace: NAMESPACE,
            incarnation: Incarnation::new(1),
            epoch: 1,
            slot: 9,
            generation: 0,
            floor: SegmentStart::new(0),
            reserved_offset: Offset::ZERO,
        },
        next_slot: 10,
        valid: 10,
        skipped: 0,
        segments: marked.collect(),
        gaps: gaps.collect(),
        given_up: Vec::new(),
    });
    partition
}

impl Partition {
    pub(super) fn ledger(&mut self) -> &mut LedgerFacts {
        match &mut self.0.ledger {
            LedgerState::Known(ledger) => ledger,
            LedgerState::None { .. } | LedgerState::Mismatch { .. } => panic!("the partition has no ledger"),
        }
    }

    pub(super) fn floor(mut self, floor: u64) -> Self {
        self.ledger().newest.floor = SegmentStart::new(floor);
        self
    }

    pub(super) fn reserved(mut self, offset: u64) -> Self {
        self.ledger().newest.reserved_offset = Offset::new(offset);
        self
    }

    pub(super) fn gap(mut self, first: u64, next: u64) -> Self {
        let gaps = &mut self.ledger().gaps;
        gaps.push(RecordedGap { first: Offset::new(first), next: Offset::new(next) });
        gaps.sort_by_key(|gap| (gap.first, gap.next));
        self
    }

    /// A mark of a segment that has no log.
    pub(super) fn marked_elsewhere(mut self, segment: u64, messages: u64) -> Self {
        let newest = mark(segment, messages * BATCH, segment + messages);
        let segments = &mut self.ledger().segments;
        segments.push(SegmentMarks {
            segment: newest.segment,
            newest,
            seal: None,
            accepts_loss: false,
            checks: Vec::new(),
        });
        segments.sort_by_key(|marks| marks.segment);
        self
    }

    pub(super) fn superblock(mut self, superblock: SuperblockState) -> Self {
        self.0.superblock = superblock;
        self
    }

    pub(super) fn frontier(self, offset: u64) -> Self {
        self.superblock(SuperblockState::Known {
            offset_frontier: Offset::new(offset),
            slot: SuperblockSlot::A,
            sequence: 1,
        })
    }
}
