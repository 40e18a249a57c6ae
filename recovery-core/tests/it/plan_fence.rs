//! What lies in a fence afterwards: which fence, which copies, and what is said of them.

use recovery_core::format::{Checksum, CopyName, FileName};
use recovery_core::storage::Errno;
use recovery_core::units::{Length, Position, SegmentStart};

use crate::memory_storage::name;
use crate::plan_run::{NARROW, SERVER, Slices, WIDE, check_is_recovered, check_nothing_is_lost, recover};
use crate::plan_world::{DIRECTORY, PARENT, Segment, World};

/// What becomes of a torn log of nine proven bytes, given other files beside the partition.
fn check_fence(others: Vec<(&'static str, Vec<u8>)>, expected: &[&str]) {
    let world = World { segments: vec![Segment::whole(0, 9).with_residue(TAIL)], others, ..World::default() };
    let storage = world.storage();
    let mut before = storage.files();
    before.retain(|path, _| path.starts_with(&format!("{DIRECTORY}/")));
    storage.start(None);
    let fenced = recover(&world, &storage, SERVER, WIDE).unwrap();
    let numbers: Vec<_> = fenced.iter().map(|path| path.split('/').next().expect("a fence")).collect();
    assert_eq!(numbers, expected);
    assert_eq!(storage.files()[&format!("{PARENT}/{}", fenced[0])], TAIL);
    check_nothing_is_lost(&world, &before, &storage.files());
}

const TAIL: &[u8] = &[1, 2, 3];
const TAIL_NAME: &str = "00000000000000000000.log.9-3.ebce9b7632ae733b";

/// N03, G22: copies share one fence, so names do not run out, and a crash loop uses up none.
#[test]
fn the_fence_is_the_lowest_that_is_free_or_holds_only_copies() {
    let copy = CopyName::new(
        &FileName::log(SegmentStart::ZERO),
        Position::new(9),
        Length::new(3),
        Checksum::of(TAIL),
    );
    assert_eq!(copy.name().to_string(), TAIL_NAME, "the name that the tests below write out");
    check_fence(vec![], &["3.fenced.0"]);
    check_fence(vec![("3.fenced.1/REASON.toml", vec![])], &["3.fenced.0"]);
    check_fence(vec![("3.fenced.0/REASON.toml", vec![])], &["3.fenced.0"]);
    check_fence(vec![("3.fenced.0/REASON.toml.staging", b"half".to_vec())], &["3.fenced.0"]);
    check_fence(vec![("3.fenced.0/00000000000000000000.log", vec![])], &["3.fenced.1"]);
    let ours = |length: usize| {
        let mut text = include_bytes!("reason.toml").to_vec();
        text.resize(length, b'#');
        vec![("3.fenced.0/REASON.toml", text)]
    };
    check_fence(ours(256 * 1024), &["3.fenced.0"]);
    check_fence(ours(256 * 1024 + 1), &["3.fenced.1"]);
    check_fence(vec![("3.fenced.0/REASON.toml", b"left by somebody else".to_vec())], &["3.fenced.1"]);
    let other_copy = "3.fenced.0/00000000000000000000.index.0-3.0123456789abcdef";
    check_fence(vec![(other_copy, vec![1, 2, 3])], &["3.fenced.0"]);
    check_fence(vec![("3.fenced.0/sub/file", vec![])], &["3.fenced.1"]);
    // Our own reason does not make what lies beside it ours.
    let mut beside = ours(include_bytes!("reason.toml").len());
    beside.push(("3.fenced.0/x", vec![]));
    check_fence(beside, &["3.fenced.1"]);
    check_fence(vec![("3.fenced.00/x", vec![]), ("3.fenced.x/y", vec![])], &["3.fenced.0"]);
    check_fence(vec![("13.fenced.0/x", vec![]), ("3.fenced/x", vec![])], &["3.fenced.0"]);
    let full = (0..12).map(|number| {
        let path: &'static str = Box::leak(format!("3.fenced.{number}/x").into_boxed_str());
        (path, vec![])
    });
    check_fence(full.collect(), &["3.fenced.12"]);
}

#[test]
fn a_copy_that_lies_in_any_fence_is_not_made_again() {
    for fence in ["3.fenced.0", "3.fenced.7", "3.fenced.x"] {
        let path: &'static str = Box::leak(format!("{fence}/{TAIL_NAME}").into_boxed_str());
        check_fence(vec![(path, TAIL.to_vec())], &[fence]);
    }
}

/// What another partition, or nobody, keeps beside this one is not ours to rely on.
#[test]
fn a_copy_that_lies_beside_the_partition_and_in_no_fence_of_it_does_not_count() {
    for directory in ["4", "3x", "13.fenced.0"] {
        let path: &'static str = Box::leak(format!("{directory}/{TAIL_NAME}").into_boxed_str());
        check_fence(vec![(path, TAIL.to_vec())], &["3.fenced.0"]);
    }
}

#[test]
fn a_residue_that_was_not_read_to_its_end_is_called_in_the_fence_as_any_other() {
    let mut segment = Segment::whole(0, 9).with_residue(TAIL);
    segment.is_read_whole = false;
    let world = World { segments: vec![segment], ..World::default() };
    for slices in [WIDE, NARROW] {
        let storage = world.storage();
        assert_eq!(recover(&world, &storage, SERVER, slices), Ok(vec![format!("3.fenced.0/{TAIL_NAME}")]));
    }
}

#[test]
fn a_copy_with_the_right_name_and_the_wrong_contents_is_written_anew() {
    for wrong in [&[1, 2, 4][..], &[1, 2], &[1, 2, 3, 4], &[]] {
        let path: &'static str = Box::leak(format!("3.fenced.0/{TAIL_NAME}").into_boxed_str());
        check_fence(vec![(path, wrong.to_vec())], &["3.fenced.0"]);
        let half_made: &'static str = Box::leak(format!("3.fenced.0/{TAIL_NAME}.staging").into_boxed_str());
        check_fence(vec![(half_made, wrong.to_vec())], &["3.fenced.0"]);
    }
}

#[test]
fn zero_pages_are_left_out_of_a_copy() {
    let mut tail = vec![0; 8 * 4096 + 100];
    tail[2 * 4096 + 7] = 7;
    tail[3 * 4096] = 8;
    let world = World { segments: vec![Segment::whole(0, 9).with_residue(&tail)], ..World::default() };
    let storage = world.storage();
    storage.start(None);
    let fenced = recover(&world, &storage, SERVER, Slices(1 << 20, 1 << 20)).unwrap();
    let writes: Vec<_> = storage.changes().into_iter().filter(|call| call.starts_with("write")).collect();
    assert_eq!(writes.len(), 2, "two pages in one call, and the reason: {writes:?}");
    assert_eq!(storage.files()[&format!("{PARENT}/{}", fenced[0])], tail);
}

#[test]
fn an_index_of_ours_that_was_not_finished_is_written_over_and_any_other_set_aside() {
    let segment = Segment::whole(0, 9).with_index(None);
    let new = segment.new_index();
    let mut changed = new.clone();
    changed[30] ^= 1;
    for (left_over, is_ours) in [
        (new[..25].to_vec(), true),
        (vec![], true),
        (vec![0; 300], true),
        ([&new[..], &[0, 0]].concat(), true),
        ([&new[..], &[1]].concat(), false),
        (changed, false),
    ] {
        for slices in [WIDE, NARROW] {
            let world = World {
                segments: vec![segment.clone()],
                others: vec![("00000000000000000000.index.staging", left_over.clone())],
                ..World::default()
            };
            let storage = world.storage();
            let fenced = recover(&world, &storage, SERVER, slices).unwrap();
            assert_eq!(fenced.is_empty(), is_ours, "{left_over:?}");
            let looks = storage.calls().iter().filter(|call| call.starts_with("list ")).count();
            assert_eq!(looks == 0, is_ours, "fences are looked through for a copy, and not for nothing");
            let has_fence = storage.files().keys().any(|path| path.contains(".fenced."));
            assert_eq!(has_fence, !is_ours, "no fence is made for nothing");
            assert_eq!(storage.files()[&format!("{DIRECTORY}/00000000000000000000.index")], new);
        }
    }
}

#[test]
fn a_long_index_of_ours_is_known_by_every_one_of_its_entries() {
    let mut segment = Segment::whole(0, 9);
    segment.entries = 100;
    let segment = segment.with_index(None);
    let half_made = segment.new_index()[..2000].to_vec();
    let is_ours = |left_over: Vec<u8>, slices| {
        let world = World {
            segments: vec![segment.clone()],
            others: vec![("00000000000000000000.index.staging", left_over)],
            ..World::default()
        };
        recover(&world, &world.storage(), SERVER, slices).expect("nothing fails").is_empty()
    };
    for slices in [WIDE, NARROW] {
        assert!(is_ours(half_made.clone(), slices));
        for entry in [0, 1, 15, 16, 17, 50, 82] {
            let mut changed = half_made.clone();
            changed[24 * entry + 8] ^= 0x10;
            assert!(!is_ours(changed, slices), "entry {entry} is another");
        }
    }
}

/// A loss of power may leave the later blocks of a file and not the earlier ones.
#[test]
fn an_index_of_ours_with_holes_is_still_ours() {
    let mut segment = Segment::whole(256, 9);
    segment.entries = 100;
    let segment = segment.with_index(None);
    let mut left_over = segment.new_index();
    left_over[2..576].fill(0);
    let world = World {
        segments: vec![segment],
        others: vec![("00000000000000000256.index.staging", left_over)],
        ..World::default()
    };
    assert_eq!(recover(&world, &world.storage(), SERVER, WIDE), Ok(Vec::new()));
}

/// Only what will be written again under the same name is ours to drop.
#[test]
fn scratch_of_zeros_is_set_aside_as_any_other() {
    for scratch in [vec![0; 30], vec![]] {
        let world = World { others: vec![("x.staging", scratch)], ..World::default() };
        let storage = world.storage();
        assert_eq!(recover(&world, &storage, SERVER, WIDE).map(|fenced| fenced.len()), Ok(1));
        check_is_recovered(&world, &storage);
    }
}

#[test]
fn scratch_that_a_fence_holds_already_only_loses_its_second_name() {
    let copy = CopyName::new(&name("x.staging"), Position::ZERO, Length::new(3), Checksum::of(TAIL));
    let path: &'static str = Box::leak(format!("3.fenced.0/{}", copy.name()).into_boxed_str());
    let world =
        World { others: vec![("x.staging", TAIL.to_vec()), (path, TAIL.to_vec())], ..World::default() };
    let storage = world.storage();
    storage.start(None);
    assert_eq!(recover(&world, &storage, SERVER, WIDE), Ok(vec![path.to_owned()]));
    let changes = storage.changes();
    let place = |call: String| changes.iter().position(|change| *change == call);
    let synced = place(format!("sync {PARENT}/{path}")).expect("what stays is made durable");
    let removed = place(format!("remove {DIRECTORY}/x.staging")).expect("the second name goes");
    assert!(synced < removed, "{changes:?}");
    check_is_recovered(&world, &storage);
}

/// N12: the name that goes may be that of the only whole copy.
#[test]
fn a_second_name_stays_unless_the_medium_holds_under_it_what_the_fence_holds() {
    let copy = CopyName::new(&name("x.staging"), Position::ZERO, Length::new(3), Checksum::of(TAIL));
    let path: &'static str = Box::leak(format!("3.fenced.0/{}", copy.name()).into_boxed_str());
    let world =
        World { others: vec![("x.staging", TAIL.to_vec()), (path, TAIL.to_vec())], ..World::default() };
    let storage = world.storage();
    storage.rot_under_the_cache("x.staging");
    let error = recover(&world, &storage, SERVER, WIDE).expect_err("the two differ");
    assert_eq!(error.errno, Errno::STALE);
    assert!(storage.files().contains_key(&format!("{DIRECTORY}/x.staging")), "nothing is removed");
}

/// F86: a fence explains itself.
#[test]
fn the_reason_file_says_what_lies_there_and_never_changes_what_it_says() {
    let world = World {
        has_ledger: true,
        segments: vec![Segment::whole(0, 9).with_residue(TAIL).with_index(Some(&[7; 24]))],
        others: vec![("a\".staging", vec![9])],
        ..World::default()
    };
    let storage = world.storage();
    recover(&world, &storage, SERVER, WIDE).unwrap();
    let path = format!("{DIRECTORY}.fenced.0/REASON.toml");
    let first = String::from_utf8(storage.files()[&path].clone()).unwrap();
    let expected = include_str!("reason.toml");
    assert_eq!(first, expected);

    // Other damage later adds to it, and only that.
    let again = World { segments: vec![Segment::whole(0, 9).with_residue(&[5; 9])], ..World::default() };
    storage.put(
        &format!("{DIRECTORY}/00000000000000000000.log"),
        &[&again.segments[0].proven[..], &[5; 9]].concat(),
    );
    recover(&again, &storage, SERVER, WIDE).unwrap();
    let second = String::from_utf8(storage.files()[&path].clone()).unwrap();
    let added = second.strip_prefix(expected).expect("the old entries stay");
    assert_eq!(added.matches("[[copy]]").count(), 1, "{added}");
    assert!(added.starts_with("\n[[copy]]\n"), "{added}");
}

#[test]
fn an_entry_starts_on_a_line_of_its_own_whatever_the_file_ends_with() {
    let world = World { segments: vec![Segment::whole(0, 9).with_residue(&[5; 9])], ..World::default() };
    for (end, between) in [("\n", "\n"), ("# half a li", "\n\n")] {
        let storage = world.storage();
        let path = format!("{DIRECTORY}.fenced.0/REASON.toml");
        let old = format!("{}{end}", include_str!("reason.toml").trim_end());
        storage.put(&path, old.as_bytes());
        recover(&world, &storage, SERVER, WIDE).expect("nothing fails");
        let new = String::from_utf8(storage.files()[&path].clone()).expect("a reason is text");
        let added = new.strip_prefix(&old).expect("what it said stays");
        assert!(added.starts_with(&format!("{between}[[copy]]\n")), "{added:?}");
    }
}
