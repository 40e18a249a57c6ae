//! Partitions that go from one node to another: what is offered can be installed, what is installed is served, and
//! no call that fails or crashes leaves anything but the old directory or the new one.

use proptest::prelude::*;
use recovery_core::decide::losses;
use recovery_core::format::{Superblock, SuperblockSlot};
use recovery_core::observe::{Progress, Workspace};
use recovery_core::partition::{Adopted, PartitionOptions, Writer};
use recovery_core::recovery::Mode;
use recovery_core::storage::{Errno, PartitionDirectory, Storage};
use recovery_core::transfer::{
    Finished, Install, InstallOptions, Offer, PieceSource, StorageSource, finish_install,
};
use recovery_core::units::{Durability, Offset};

use crate::image::Image;
use crate::loss_world::{
    BATCH, DIRECTORY, NAMESPACE, SERVER, accept, change, look, lost, open, path, recover, served, written,
};
use crate::memory_storage::{Fault, MemoryStorage, name};
use crate::transfer_world::{bare, check_same, install, logs, offer, open_parent, options, start};

/// F02: what a peer is given lies below the proven end.
#[test]
fn what_is_served_there_is_served_here() {
    for local in [bare(), written(true)] {
        let peer = written(true);
        let before = offer(&peer);
        install(&local, None, &peer).unwrap();
        assert_eq!(local.open_handles(), peer.open_handles(), "every handle is closed");
        start(&local);
        check_same(&peer, &local);
        assert_eq!(served(&local), "0 1 2 3 4 5 6 7 8 9 10 11 12");
        assert_eq!(offer(&local).generation, before.generation + 1);
        assert!(!local.files().contains_key(&path("COMPLETE")), "nothing is left of the installation");
    }
}

#[test]
fn the_old_directory_is_in_a_fence_that_says_why() {
    let storage = written(true);
    storage.put(&path("offsets/consumers/7"), &[9; 8]);
    let record = Superblock {
        sequence: 4,
        cluster: 1,
        replica: 0,
        replica_count: 3,
        view: 2,
        log_view: 2,
        commit: 9,
        offset_frontier: Offset::new(5),
    };
    storage.put(&path(&SuperblockSlot::A.name().to_string()), &record.encode());
    storage.put("streams/1/topics/2/partitions/3.fenced.0/REASON.toml", b"older");
    let before = storage.files();
    install(&storage, None, &written(true)).unwrap();
    let after = storage.files();
    for (path, bytes) in before.iter().filter(|(path, _)| path.starts_with(&format!("{DIRECTORY}/"))) {
        let fenced = path.replace("partitions/3/", "partitions/3.fenced.1/");
        assert!(after.get(&fenced) == Some(bytes), "{path} is kept");
    }
    let reason = &after["streams/1/topics/2/partitions/3.fenced.1/REASON.toml"];
    let reason = String::from_utf8(reason.clone()).unwrap();
    assert!(reason.contains("why = \"the log says \\\"no\\\"\""), "{reason}");
    assert_eq!(after[&path("offsets/consumers/7")], [9; 8]);
    assert_eq!(after[&path("superblock.a")], record.encode());
}

#[test]
fn recorded_gaps_sparse_starts_and_empty_segments_travel() {
    // A gap in the middle, by an accepted loss.
    let peer = written(true);
    change(&peer, "00000000000000000000.log", |log| log[2 * BATCH + 310] ^= 1);
    let found = lost(&peer).unwrap();
    accept(&peer, &found.ranges).unwrap();
    // The front is gone, and the floor says so; the last segment is empty.
    let sparse = written(true);
    sparse.take(&path("00000000000000000000.log"));
    sparse.take(&path("00000000000000000000.index"));
    accept(&sparse, &lost(&sparse).unwrap().ranges).unwrap();
    let partition = open(&sparse);
    let recovered = recover(&sparse, Mode::Repair, SERVER);
    let adopted = Adopted::of(&recovered.facts, &recovered.verdict, &recovered.plan).unwrap();
    let mut writer =
        Writer::open(&sparse, partition, adopted, None, PartitionOptions::new(Durability::Proven, None))
            .unwrap();
    let _acknowledged = writer.roll(&sparse).unwrap();
    assert_eq!(Offer::of_writer(&writer).map(|offer| offer.segments.len()), Some(3), "5, 10, and 13 empty");
    writer.close(&sparse).close(&sparse);
    // The end was given up.
    let ended = written(true);
    change(&ended, "00000000000000000010.log", |log| log.truncate(BATCH));
    accept(&ended, &lost(&ended).unwrap().ranges).unwrap();
    for peer in [peer, sparse, ended] {
        let storage = bare();
        install(&storage, None, &peer).unwrap();
        start(&storage);
        check_same(&peer, &storage);
    }
}

#[test]
fn what_verifies_here_is_not_asked_for() {
    let peer = written(true);
    let storage = written(true);
    change(&storage, "00000000000000000000.log", |log| log[2 * BATCH + 310] ^= 1);
    storage.take(&path("00000000000000000005.log"));
    let (facts, verdict) = look(&storage);
    assert!(!verdict.is_served() && losses(&facts).is_ok());
    let install = Install::<MemoryStorage>::new(offer(&peer), Some(&facts), options());
    let told: Vec<String> = install
        .plan()
        .pieces
        .iter()
        .map(|piece| {
            let source = if piece.source == PieceSource::Local { "here" } else { "peer" };
            format!("{} {}..{} {source}", piece.segment, piece.from, piece.to)
        })
        .collect();
    assert_eq!(
        told,
        ["0 0..648 here", "0 648..972 peer", "0 972..1620 here", "5 0..1620 peer", "10 0..972 here"]
    );
    assert_eq!(install.plan().asked_bytes(), 324 + 1620);
    self::install(&storage, Some(&facts), &peer).unwrap();
    start(&storage);
    check_same(&peer, &storage);
}

#[test]
fn a_segment_that_differs_here_is_asked_for_whole() {
    let peer = written(true);
    // The same offsets with another payload: whole batches, and not the peer's.
    let storage = written(true);
    change(&storage, "00000000000000000005.log", |log| log[..BATCH].copy_from_slice(&other_batch(5)));
    let facts = look(&storage).0;
    install(&storage, Some(&facts), &peer).unwrap();
    start(&storage);
    check_same(&peer, &storage);
}

/// A whole batch of partition 3 with another payload.
pub(crate) fn other_batch(offset: u64) -> Vec<u8> {
    let mut bytes = crate::loss_world::batch(77);
    recovery_core::format::stamp(&mut bytes, NAMESPACE.partition_id(), Offset::new(offset), 5_000).unwrap();
    bytes
}

/// G27.
#[test]
fn whatever_call_crashes_or_fails_the_old_directory_or_the_new_one_is_there() {
    let peer = written(true);
    let old = written(true);
    change(&old, "00000000000000000010.log", |log| log.truncate(BATCH));
    let facts = look(&old).0;
    let (old_logs, new_logs) = (logs(&old), logs(&peer));
    let storage = old.clone();
    storage.start(None);
    install(&storage, Some(&facts), &peer).unwrap();
    let calls = storage.call_count();
    for call in 1..=calls {
        for fault in [Fault::CrashAfter(call), Fault::Once(call, Errno::IO)] {
            let storage = old.clone();
            storage.start(Some(fault));
            // Errors are the point; only what is left counts.
            let _ended = install(&storage, Some(&facts), &peer);
            let powerless = storage.clone();
            powerless.lose_power();
            for (power, storage) in [("on", storage), ("lost", powerless)] {
                storage.start(None);
                let parent = open_parent(&storage).unwrap();
                finish_install(&storage, &parent, &name("3")).unwrap();
                storage.close_directory(parent);
                let found = logs(&storage);
                assert!(found == old_logs || found == new_logs, "{fault:?}, power {power}: neither");
                check_fences(&storage);
                install(&storage, None, &peer).unwrap();
                start(&storage);
                assert!(logs(&storage) == new_logs, "{fault:?}, power {power}: a repeat ends it");
            }
        }
    }
}

/// Every fence says why it is there.
fn check_fences(storage: &MemoryStorage) {
    let files = storage.files();
    for path in files.keys().filter(|path| path.contains(".fenced.")) {
        let (fence, _) = path.rsplit_once('/').unwrap();
        let fence = fence.split_once("/offsets").map_or(fence, |(fence, _)| fence);
        assert!(files.contains_key(&format!("{fence}/REASON.toml")), "{fence} has no reason");
    }
}

/// A whole replacement that lacked only its name is no replacement any more from the first moment that another one
/// is built, even if the old directory goes meanwhile.
#[test]
fn half_of_an_older_replacement_is_never_installed() {
    let peer = written(true);
    let storage = written(true);
    storage.start(None);
    install(&storage, None, &peer).unwrap();
    let is_swap = |call: &String| call.starts_with("rename") && call.ends_with(".fenced.0");
    let swap = storage.calls().iter().position(is_swap).unwrap() as u64;
    let whole = written(true);
    whole.start(Some(Fault::CrashAfter(swap)));
    assert!(install(&whole, None, &peer).is_err());
    assert!(whole.files().contains_key(&format!("{DIRECTORY}.rebuild/COMPLETE")));
    whole.start(None);
    for call in 1..60 {
        let storage = whole.clone();
        storage.start(Some(Fault::CrashAfter(call)));
        // Errors are the point; only what is left counts.
        let _ended = install(&storage, None, &peer);
        storage.start(None);
        storage.take(DIRECTORY);
        let parent = open_parent(&storage).unwrap();
        let found = finish_install(&storage, &parent, &name("3")).unwrap();
        storage.close_directory(parent);
        let is_whole = logs(&storage) == logs(&peer);
        assert_eq!(is_whole, found == Finished::Installed, "call {call}");
    }
}

/// B22.
#[test]
fn a_start_finds_out_what_an_installation_left() {
    let find = |storage: &MemoryStorage| {
        let parent = open_parent(storage).unwrap();
        let found = finish_install(storage, &parent, &name("3")).unwrap();
        storage.close_directory(parent);
        found
    };
    assert_eq!(find(&bare()), Finished::Nothing);
    assert_eq!(find(&written(true)), Finished::Nothing);
    let storage = bare();
    storage.put("streams/1/topics/2/partitions/3.rebuild/00000000000000000000.log", b"half");
    let before = storage.files();
    assert_eq!(find(&storage), Finished::Incomplete);
    assert!(storage.files() == before, "it is left until one is built anew");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// F40, N17: one acceptor for recovery and transfer.
    /// I19: what recovery accepts, a peer can install; and what is installed, recovery accepts as it is.
    #[test]
    fn whatever_recovery_accepts_can_be_installed(input in prop::collection::vec(any::<u8>(), 0..900)) {
        let image = Image::of(&input);
        let peer = image.storage();
        let first = crate::image::check::recover(&peer, &image, Mode::Repair);
        let incarnation = first
            .facts
            .ledger
            .known()
            .map(|ledger| ledger.newest.incarnation)
            .or(image.expectation.incarnation);
        let Some(incarnation) = incarnation else { return Ok(()) };
        let again = crate::image::check::recover(&peer, &image, Mode::Look);
        let Some(offer) = Offer::of(&again.facts, &again.verdict, incarnation) else { return Ok(()) };
        let storage = bare();
        let parent = open_parent(&storage).unwrap();
        let partition = PartitionDirectory::open(
            &peer,
            &recovery_core::format::partition_components(crate::image::NAMESPACE),
        )
        .unwrap();
        let mut source = StorageSource::new(&peer, &partition, &offer);
        let options = InstallOptions { incarnation, ..options() };
        let mut install = Install::new(offer.clone(), None, options);
        let mut workspace = Workspace::new(512);
        while install
            .step(&storage, &parent, &name("3"), &mut source, &mut workspace, 4096)
            .map_err(|error| TestCaseError::fail(format!("{error}: {offer:?}")))?
            == Progress::More
        {}
        let installed = recover(&storage, Mode::Repair, SERVER);
        prop_assert!(installed.verdict.is_served(), "{:?}", installed.verdict.disposition);
        prop_assert!(installed.plan.is_empty(), "{:?}", installed.plan);
        let back = Offer::of(&installed.facts, &installed.verdict, incarnation).unwrap();
        prop_assert_eq!(back.segments, offer.segments);
        prop_assert_eq!(back.next_offset, offer.next_offset);
    }
}
