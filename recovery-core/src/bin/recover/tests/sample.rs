//! Hand-made facts and verdicts.

use recovery_core::decide::{Action, Disposition, SegmentVerdict, Verdict};
use recovery_core::format::{Checksum, LedgerKind, LedgerRecord, Mark};
use recovery_core::observe::{
    Evidence, Find, IndexFacts, IndexState, LedgerFacts, LedgerState, Listing, PartitionFacts, Proven,
    Residue, ResidueFacts, SegmentFacts, StopDetail, SuperblockState, Work,
};
use recovery_core::plan::{PlanOptions, build};
use recovery_core::storage::Name;
use recovery_core::units::{
    Durability, Incarnation, Length, Namespace, Offset, PartitionId, Position, SegmentStart,
};

use crate::session::Found;
use crate::target::Target;

pub(super) const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };

pub(super) fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).unwrap()
}

pub(super) fn target() -> Target {
    Target {
        given: "data/streams/1/topics/2/partitions/3".into(),
        root: "/data".into(),
        components: ["streams", "1", "topics", "2", "partitions", "3"].map(name).to_vec(),
        namespace: NAMESPACE,
        overruled: None,
    }
}

/// A whole segment of `batches` batches, each of ten messages and 1000 bytes.
pub(super) fn whole(start: u64, batches: u64) -> SegmentFacts {
    SegmentFacts {
        start: SegmentStart::new(start),
        log_length: Length::new(batches * 1000),
        proven: Proven {
            end: Position::new(batches * 1000),
            next_offset: Offset::new(start + batches * 10),
            batches,
            messages: batches * 10,
            delta_mismatches: 0,
            chain_hash: None,
        },
        stop: StopDetail::End,
        residue: residue(Residue::None, 0),
        evidence: Evidence::Unknown,
        mark: None,
        seal: None,
        accepts_loss: false,
        index: IndexFacts {
            state: IndexState::Good,
            length: Some(Length::new(batches * 24)),
            checksum: Some(Checksum::new(7)),
            entries: batches,
            rebuilt: Vec::new(),
            is_prefix_of_rebuilt: true,
            beyond: None,
        },
    }
}

pub(super) fn residue(kind: Residue, length: u64) -> ResidueFacts {
    ResidueFacts {
        kind,
        length: Length::new(length),
        checksum: None,
        survivor_count: 0,
        survivors: Vec::new(),
        survivors_next_offset: None,
        runs: Vec::new(),
        stray_count: 0,
        strays: Vec::new(),
        candidates: 0,
    }
}

/// The same segment with `length` bytes of `kind` behind its proven prefix.
pub(super) fn torn(start: u64, batches: u64, kind: Residue, length: u64) -> SegmentFacts {
    let mut facts = whole(start, batches);
    facts.log_length = Length::new(batches * 1000 + length);
    facts.stop = StopDetail::Short { needed: Length::new(1000), available: Length::new(length) };
    facts.residue = residue(kind, length);
    facts
}

pub(super) fn find(position: u64, base_offset: u64, partition: u64) -> Find {
    Find {
        position: Position::new(position),
        partition_id: PartitionId::new(partition),
        base_offset: Offset::new(base_offset),
        message_count: 10,
        batch_length: Length::new(1000),
    }
}

pub(super) fn mark(segment: u64, position: u64, next_offset: u64) -> Mark {
    Mark {
        segment: SegmentStart::new(segment),
        position: Position::new(position),
        next_offset: Offset::new(next_offset),
        chain_hash: recovery_core::format::ChainHash::new(9),
    }
}

pub(super) fn facts(segments: Vec<SegmentFacts>) -> PartitionFacts {
    PartitionFacts {
        namespace: NAMESPACE,
        durability: Durability::Buffered,
        listing: Listing::default(),
        ledger: LedgerState::None { length: None },
        superblock: SuperblockState::None,
        segments,
        expired: Vec::new(),
        work: Work { bytes_read: 4000, bytes_hashed: 3500, bytes_walked: 480, longest_step_bytes: 4096 },
    }
}

/// What a command would have found: these facts, and a verdict with one action a segment.
pub(super) fn found(facts: &PartitionFacts, disposition: Disposition, actions: &[Action]) -> Found {
    assert_eq!(facts.segments.len(), actions.len(), "one action a segment");
    let next_offset = match disposition {
        Disposition::Serve => {
            Some(facts.segments.last().map_or(Offset::ZERO, |segment| segment.proven.next_offset))
        }
        Disposition::ServeFrom { last, .. } => last.checked_add(1),
        Disposition::Refuse(_) | Disposition::Unavailable(_) => None,
    };
    let segments = facts
        .segments
        .iter()
        .zip(actions)
        .map(|(segment, action)| SegmentVerdict { start: segment.start, action: *action })
        .collect();
    let verdict = Verdict { disposition, next_offset, reserve: None, segments };
    let plan =
        build(facts, &verdict, PlanOptions { sync_indexes: true, clean_stop: true, makes_ledger: false });
    Found {
        facts: Some(facts.clone()),
        work: Some(facts.work),
        verdict,
        plan,
        fenced: None,
        failed: None,
        given_up: None,
    }
}

pub(super) fn cut(at: u64, save: u64) -> Action {
    Action::Cut { at: Position::new(at), save: Length::new(save) }
}

/// A ledger of so many valid records, its newest a floor, and so many that do not verify.
pub(super) fn ledger(valid: u64, skipped: u64) -> LedgerState {
    LedgerState::Known(LedgerFacts {
        newest: LedgerRecord {
            kind: LedgerKind::Floor,
            durability: Durability::Synced,
            namespace: NAMESPACE,
            incarnation: Incarnation::new(1),
            epoch: 1,
            slot: valid + skipped - 1,
            generation: 0,
            floor: SegmentStart::ZERO,
            reserved_offset: Offset::new(7),
        },
        next_slot: valid + skipped,
        valid,
        skipped,
        segments: Vec::new(),
        gaps: Vec::new(),
        given_up: Vec::new(),
    })
}
