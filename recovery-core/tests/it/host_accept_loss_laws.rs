//! The law of accepted losses, on real directories: whatever is damaged, no byte that is not zero is lost, what is
//! served is what was written, and every offset is served, given up, or never was.

use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;
use recovery_core::decide::{Verdict, losses};
use recovery_core::observe::{PartitionFacts, Progress, Workspace};
use recovery_core::plan::PlanOptions;
use recovery_core::recovery::{Mode, Recovery};
use recovery_core::storage::os::OsStorage;
use recovery_core::units::Offset;

use crate::fixture::scratch;
use crate::loss_world::{BATCH, DIRECTORY, NAMESPACE, accept_through, expectation, open, written};
use crate::recovery_run::{check_nothing_is_lost, files_below};

/// One accident to one log.
#[derive(Clone, Debug)]
enum Accident {
    Flip { log: usize, at: usize },
    Cut { log: usize, at: usize },
    Insert { log: usize, at: usize, bytes: usize },
    Remove { log: usize, at: usize, bytes: usize },
    Take { log: usize },
}

const LOGS: [&str; 3] = ["00000000000000000000.log", "00000000000000000005.log", "00000000000000000010.log"];

fn accident() -> impl Strategy<Value = Accident> {
    let log = 0..LOGS.len();
    let at = 0..5 * BATCH;
    prop_oneof![
        4 => (log.clone(), at.clone()).prop_map(|(log, at)| Accident::Flip { log, at }),
        1 => (log.clone(), at.clone()).prop_map(|(log, at)| Accident::Cut { log, at }),
        1 => (log.clone(), at.clone(), 1..700_usize)
            .prop_map(|(log, at, bytes)| Accident::Insert { log, at, bytes }),
        1 => (log.clone(), at, 1..700_usize).prop_map(|(log, at, bytes)| Accident::Remove { log, at, bytes }),
        1 => log.prop_map(|log| Accident::Take { log }),
    ]
}

fn happen(directory: &std::path::Path, accident: &Accident) {
    let (Accident::Flip { log, .. }
    | Accident::Cut { log, .. }
    | Accident::Insert { log, .. }
    | Accident::Remove { log, .. }
    | Accident::Take { log }) = accident;
    let path = directory.join(LOGS[*log]);
    let Ok(mut bytes) = fs::read(&path) else { return };
    match accident {
        Accident::Flip { at, .. } => {
            if let Some(byte) = bytes.get_mut(*at) {
                *byte ^= 4;
            }
        }
        Accident::Cut { at, .. } => bytes.truncate(*at),
        Accident::Insert { at, bytes: count, .. } => {
            let at = (*at).min(bytes.len());
            bytes.splice(at..at, vec![0xa5; *count]);
        }
        Accident::Remove { at, bytes: count, .. } => {
            let at = (*at).min(bytes.len());
            let end = (at + count).min(bytes.len());
            bytes.drain(at..end);
        }
        Accident::Take { .. } => return fs::remove_file(&path).unwrap(),
    }
    fs::write(&path, bytes).unwrap();
}

fn look(storage: &OsStorage) -> (PartitionFacts, Verdict) {
    let partition = open(storage);
    let mut workspace = Workspace::new(512);
    let options = PlanOptions::default();
    let mut recovery = Recovery::new(expectation(), Mode::Look, options, &mut workspace);
    while recovery.step(storage, &partition, &mut workspace, 4096) == Progress::More {}
    let recovered = recovery.finish();
    partition.close(storage);
    (recovered.facts, recovered.verdict)
}

fn check(has_ledger: bool, accidents: &[Accident]) {
    let root = scratch();
    for (path, bytes) in written(has_ledger).files() {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let directory = root.path().join(DIRECTORY);
    for accident in accidents {
        happen(&directory, accident);
    }
    let storage = OsStorage::open(root.path()).unwrap();
    let (facts, _) = look(&storage);
    let Ok(found) = losses(&facts) else { return };
    let before = files_below(root.path());
    let accepted = accept_through(&storage, &found.ranges, 4096).unwrap();
    assert!(accepted.is_accepted && accepted.recovered.verdict.is_served());
    check_nothing_is_lost(NAMESPACE, &before, &files_below(root.path()));
    let (facts, verdict) = look(&storage);
    assert!(verdict.is_served(), "{:?}", verdict.disposition);
    let mut held = BTreeSet::new();
    for segment in &facts.segments {
        let (first, next) = (segment.start.offset().get(), segment.proven.next_offset.get());
        (first..next).for_each(|offset| assert!(held.insert(offset), "{offset} is held once"));
    }
    for range in &found.ranges {
        (range.first.get()..=range.last.get())
            .for_each(|offset| assert!(held.insert(offset), "{offset} is held, and was given up"));
    }
    let next = verdict.next_offset.unwrap();
    let end = Offset::new(held.last().map_or(0, |last| last + 1));
    assert!(held.iter().copied().eq(held.first().copied().unwrap_or(0)..end.get()), "no offset is forgotten");
    assert!(next >= end, "no offset is given again");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_but_what_is_named(
        has_ledger in any::<bool>(),
        accidents in prop::collection::vec(accident(), 1..5),
    ) {
        check(has_ledger, &accidents);
    }
}
