//! A ledger with records of several lives of a partition: which of them count.

use recovery_core::format::{ChainHash, LedgerKind, LedgerRecord, Mark, partition_components};
use recovery_core::observe::{Expectation, LedgerState, Observation, Progress, Workspace};
use recovery_core::storage::PartitionDirectory;
use recovery_core::units::{Durability, Incarnation, Namespace, Offset, Position, SegmentStart};

use crate::memory_storage::MemoryStorage;

const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };

/// A mark of this life at `position` of the only segment, in this epoch.
#[derive(Clone, Copy)]
struct Said {
    life: u64,
    epoch: u64,
    position: u64,
}

const fn said(life: u64, epoch: u64, position: u64) -> Said {
    Said { life, epoch, position }
}

fn record(slot: u64, Said { life, epoch, position }: Said) -> [u8; 128] {
    let incarnation = Incarnation::new(life);
    let segment = SegmentStart::ZERO;
    let start = ChainHash::start(NAMESPACE, incarnation, segment);
    let mark = Mark {
        segment,
        position: Position::new(position),
        next_offset: Offset::new(position),
        chain_hash: if position == 0 { start } else { ChainHash::new(position) },
    };
    LedgerRecord {
        kind: LedgerKind::Frontier { mark },
        durability: Durability::Synced,
        namespace: NAMESPACE,
        incarnation,
        epoch,
        slot,
        generation: 0,
        floor: SegmentStart::ZERO,
        reserved_offset: Offset::ZERO,
    }
    .encode()
}

/// Life, every mark that counts, valid and skipped records: what is read of a ledger.
#[track_caller]
fn check(records: &[Said], known_life: Option<u64>, expected: &str) {
    let storage = MemoryStorage::new();
    let bytes: Vec<u8> = records.iter().zip(0..).flat_map(|(said, slot)| record(slot, *said)).collect();
    let components = partition_components(NAMESPACE);
    let directory = components.map(|name| name.to_string()).join("/");
    storage.put(&format!("{directory}/ledger"), &bytes);
    let partition = PartitionDirectory::open(&storage, &components).unwrap();
    let incarnation = known_life.map(Incarnation::new);
    let expectation = Expectation { incarnation, ..Expectation::of(NAMESPACE) };
    for limit in [512, 1 << 20] {
        let mut workspace = Workspace::new(512);
        let mut observation = Observation::new(expectation, &mut workspace);
        while observation.step(&storage, &partition, &mut workspace, limit) == Progress::More {}
        let found = match observation.finish().facts.ledger {
            LedgerState::None { .. } => "none".to_owned(),
            LedgerState::Mismatch { incarnation, .. } => format!("of life {}", incarnation.get()),
            LedgerState::Known(facts) => {
                let marks =
                    facts.segments.iter().flat_map(|marks| marks.checks.iter().chain([&marks.newest]));
                let positions: Vec<String> = marks.map(|mark| mark.position.to_string()).collect();
                let life = facts.newest.incarnation.get();
                format!(
                    "life {life} at {}: {} of {}",
                    positions.join(" "),
                    facts.valid,
                    facts.valid + facts.skipped
                )
            }
        };
        assert_eq!(found, expected, "{limit} bytes a step");
    }
}

#[test]
fn where_no_life_is_known_the_records_name_it_unless_they_name_two() {
    check(&[said(7, 1, 100), said(7, 1, 200)], None, "life 7 at 100 200: 2 of 2");
    // A stale record, wherever it shows and whatever it says of itself, never voids the marks of another life.
    check(&[said(7, 1, 100), said(8, 1, 900), said(7, 1, 200)], None, "of life 8");
    check(&[said(8, 1, 900), said(7, 1, 100), said(7, 1, 200)], None, "of life 7");
    check(&[said(7, 1, 100), said(7, 1, 200), said(8, 1, 900)], None, "of life 8");
    check(&[said(7, 2, 100), said(8, 1, 900)], None, "of life 8");
    check(&[said(7, 1, 100), said(8, 2, 900), said(7, 1, 200)], None, "of life 8");
}

#[test]
fn a_known_life_stands_whatever_other_records_say() {
    let mixed = [said(7, 1, 100), said(8, 5, 900), said(7, 1, 200)];
    check(&mixed, Some(7), "life 7 at 100 200: 2 of 3");
    check(&mixed, Some(8), "life 8 at 900: 1 of 3");
    check(&mixed, Some(9), "of life 7");
    check(&[], Some(7), "none");
}

#[test]
fn an_older_epoch_of_the_same_life_is_void() {
    check(&[said(7, 1, 100), said(7, 2, 50), said(7, 1, 300)], None, "life 7 at 50: 1 of 3");
}
