//! What real kernels have shown, one program a finding: `sim kernel-check` met each of these outcomes on ext4
//! or XFS, or both, where the model did not know it.

use crate::schedule::Filesystem;

use super::explore::{explore, is_there};
use super::hand::{Hand, PAGE, SECTOR, is_all};
use super::{Litmus, Seen};

/// What was durable before.
const OLD: u8 = b'A';

/// What was written first and not synced.
const NEW: u8 = b'B';

/// What was written over it.
const NEWER: u8 = b'C';

pub(super) const TESTS: &[Litmus] = &[
    Litmus {
        name: "sync-of-file-and-later-names",
        cell: "2.4 a sync commits the journal up to what the file last changed there",
        outcomes: &[("kept", "owjxbp"), ("lost", "owxbp")],
        program: sync_of_file_and_later_names,
    },
    Litmus {
        name: "sync-of-directory-and-later-names",
        cell: "2.4 a directory's sync commits the journal up to what the directory last changed there",
        outcomes: &[("kept", "owjxbp"), ("lost", "owxbp")],
        program: sync_of_directory_and_later_names,
    },
    Litmus {
        name: "cut-committed-without-data",
        cell: "2.5 formal edges: a length in the journal waits for no overwrite",
        outcomes: &[("cut-and-new", "owjxbp"), ("cut-and-old", "owxp"), ("uncut", "bp"), ("torn", "owxp")],
        program: cut_committed_without_data,
    },
    Litmus {
        name: "cut-without-its-zeros",
        cell: "2.2 truncate down: the zeros behind the end come first, or not",
        outcomes: &[("cut-and-new", "owjxbp"), ("cut-and-old", "wxp"), ("uncut", "owjxbp")],
        program: cut_without_its_zeros,
    },
    Litmus {
        name: "longer-committed-without-data",
        cell: "2.5 formal edges: a length in the journal waits for no append before it",
        outcomes: &[("short", "bp"), ("whole", "owjxbp"), ("zeros", "owxp"), ("garbage", "wp")],
        program: longer_committed_without_data,
    },
    Litmus {
        name: "append-then-overwrite",
        cell: "2.4 background writeback may give a page its block between two writes to it",
        outcomes: &[
            ("absent", "owjxbp"),
            ("first", "owjxbp"),
            ("second", "owjxbp"),
            ("torn", "owxp"),
            ("garbage", "owp"),
        ],
        program: append_then_overwrite,
    },
    Litmus {
        name: "append-then-append-over",
        cell: "2.4 the same where the second write makes the file longer",
        outcomes: &[
            ("absent", "owjxbp"),
            ("first", "owjxbp"),
            ("second", "owjxbp"),
            ("second-at-old-length", "owxp"),
            ("garbage", "owp"),
        ],
        program: append_then_append_over,
    },
    Litmus {
        name: "append-in-steps",
        cell: "2.5 extended range may read as, note (a): each length by itself",
        outcomes: &[("absent", "owjxbp"), ("first-length", "owjxbp"), ("both-lengths", "owjxbp")],
        program: append_in_steps,
    },
    Litmus {
        name: "append-then-extend",
        cell: "2.5 extended range may read as, note (a): the length of an append without that of what follows",
        outcomes: &[
            ("absent", "owjxbp"),
            ("appended", "owjxbp"),
            ("appended-zeros", "owp"),
            ("extended", "owjxbp"),
            ("other", "owxp"),
        ],
        program: append_then_extend,
    },
    Litmus {
        name: "append-behind-a-gap",
        cell: "2.5 the length on the medium goes with what is written back",
        outcomes: &[("absent", "owjxbp"), ("old-page-filled", "owxp"), ("whole", "owjxbp"), ("other", "owp")],
        program: append_behind_a_gap,
    },
    Litmus {
        name: "gap-filled-in",
        cell: "2.5 the length on the medium goes with what is written back, whichever write made the file longer",
        outcomes: &[
            ("absent", "owjxbp"),
            ("filled-in", "owxp"),
            ("passed-over", "owjxbp"),
            ("whole", "owjxbp"),
            ("other", "owp"),
        ],
        program: gap_filled_in,
    },
];

fn sync_of_file_and_later_names(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.create("f");
    hand.write(&file, 0, NEW, SECTOR);
    hand.create("later");
    hand.sync(&file);
    explore(&mut hand, seen, |hand| if is_there(hand, "later") { "kept" } else { "lost" });
}

fn sync_of_directory_and_later_names(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let directory = hand.make_directory("d");
    hand.sync_root();
    hand.create("own");
    hand.create_in(&directory, "later");
    hand.sync_root();
    explore(&mut hand, seen, |hand| {
        // Its directory was synced.
        if !is_there(hand, "own") {
            return "broken";
        }
        if hand.look("d/later").is_some() { "kept" } else { "lost" }
    });
}

fn cut_committed_without_data(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 2 * PAGE);
    hand.write(&file, 0, NEW, PAGE);
    hand.set_length(&file, PAGE);
    hand.create("later");
    hand.sync_root();
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        match bytes.len() {
            256 if is_all(&bytes, NEW) => "cut-and-new",
            256 if is_all(&bytes, OLD) => "cut-and-old",
            512 => "uncut",
            _ => "torn",
        }
    });
}

fn cut_without_its_zeros(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    hand.write(&file, 0, NEW, PAGE);
    hand.set_length(&file, SECTOR / 2);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        match bytes.len() {
            32 if is_all(&bytes, NEW) => "cut-and-new",
            32 if is_all(&bytes, OLD) => "cut-and-old",
            _ => "uncut",
        }
    });
}

fn longer_committed_without_data(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 0);
    hand.write(&file, 0, NEW, PAGE);
    hand.set_length(&file, 2 * PAGE);
    hand.create("later");
    hand.sync_root();
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        let (first, second) = bytes.split_at(bytes.len().min(256));
        match bytes.len() {
            512 if is_all(first, NEW) && is_all(second, 0) => "whole",
            512 if is_all(&bytes, 0) => "zeros",
            512 => "garbage",
            _ => "short",
        }
    });
}

fn append_then_overwrite(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 0);
    hand.write(&file, 0, NEW, PAGE);
    hand.write(&file, 0, NEWER, PAGE);
    explore(&mut hand, seen, |hand| match hand.look("f").expect("the file is durable") {
        bytes if bytes.is_empty() => "absent",
        bytes if is_all(&bytes, NEW) => "first",
        bytes if is_all(&bytes, NEWER) => "second",
        bytes if bytes.iter().all(|byte| [NEW, NEWER].contains(byte)) => "torn",
        _ => "garbage",
    });
}

fn append_then_append_over(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 0);
    hand.write(&file, 0, NEW, SECTOR);
    hand.write(&file, 0, NEWER, PAGE);
    explore(&mut hand, seen, judge_append_over);
}

fn append_in_steps(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, SECTOR);
    hand.write(&file, SECTOR, NEW, SECTOR / 2);
    hand.write(&file, SECTOR + SECTOR / 2, NEWER, SECTOR / 2);
    explore(&mut hand, seen, |hand| match hand.look("f").expect("the file is durable").len() {
        64 => "absent",
        96 => "first-length",
        128 => "both-lengths",
        _ => "other",
    });
}

fn append_then_extend(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, SECTOR);
    hand.write(&file, SECTOR, NEW, SECTOR);
    hand.set_length(&file, 2 * PAGE);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        match (bytes.len(), bytes.get(64)) {
            (64, None) => "absent",
            (128, Some(&NEW)) => "appended",
            (128, Some(0)) => "appended-zeros",
            (512, Some(&NEW)) => "extended",
            _ => "other",
        }
    });
}

fn append_behind_a_gap(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, SECTOR);
    hand.write(&file, 2 * PAGE, NEW, PAGE);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        if !is_all(&bytes[..64], OLD) {
            return "broken";
        }
        match bytes.len() {
            64 => "absent",
            256 if is_all(&bytes[64..], 0) => "old-page-filled",
            768 if is_all(&bytes[64..512], 0) && is_all(&bytes[512..], NEW) => "whole",
            _ => "other",
        }
    });
}

fn gap_filled_in(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    hand.write(&file, 2 * PAGE, NEW, PAGE);
    hand.write(&file, PAGE, NEWER, PAGE);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        if !is_all(&bytes[..256], OLD) {
            return "broken";
        }
        match bytes.len() {
            256 => "absent",
            512 if is_all(&bytes[256..], NEWER) => "filled-in",
            768 if is_all(&bytes[256..512], 0) && is_all(&bytes[512..], NEW) => "passed-over",
            768 if is_all(&bytes[256..512], NEWER) && is_all(&bytes[512..], NEW) => "whole",
            _ => "other",
        }
    });
}

fn judge_append_over(hand: &Hand) -> &'static str {
    match hand.look("f").expect("the file is durable") {
        bytes if bytes.is_empty() => "absent",
        bytes if bytes.len() == 64 && is_all(&bytes, NEW) => "first",
        bytes if bytes.len() == 64 && is_all(&bytes, NEWER) => "second-at-old-length",
        bytes if bytes.len() == 256 && is_all(&bytes, NEWER) => "second",
        _ => "garbage",
    }
}
