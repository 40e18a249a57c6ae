//! FAULT_MODEL 2.5: which unsynced names survive a crash, and in which order with bytes, one program a cell.

use crate::schedule::Filesystem;

use super::explore::{explore, is_there};
use super::hand::{Hand, PAGE, SECTOR, is_all};
use super::{Litmus, Seen};

/// What was durable before.
const OLD: u8 = b'A';

/// What was written and not synced.
const NEW: u8 = b'B';

pub(super) const TESTS: &[Litmus] = &[
    Litmus {
        name: "append-then-create",
        cell: "2.5 append before any later op",
        outcomes: &[
            ("neither", "owjxbp"),
            ("append", "owjxbp"),
            ("both", "owjxbp"),
            ("later-alone", "owxbp"),
            ("garbage", "owp"),
        ],
        program: append_then_create,
    },
    Litmus {
        name: "create-then-append",
        cell: "2.5 formal edges: the length of an append joins the journal behind older names",
        outcomes: &[
            ("neither", "owjxbp"),
            ("name", "owjxbp"),
            ("both", "owjxbp"),
            ("append-alone", "bp"),
            ("garbage", "owp"),
        ],
        program: create_then_append,
    },
    Litmus {
        name: "overwrite-then-create",
        cell: "2.5 overwrite before any later op",
        outcomes: &[
            ("neither", "owjxbp"),
            ("overwrite", "owjxbp"),
            ("both", "owjxbp"),
            ("later-alone", "owxp"),
            ("torn", "owxp"),
        ],
        program: overwrite_then_create,
    },
    Litmus {
        name: "rename",
        cell: "2.5 directory op atomic",
        outcomes: &[("old", "owjxbp"), ("new", "owjxbp"), ("both", "p"), ("neither", "p")],
        program: rename,
    },
    Litmus {
        name: "rename-over",
        cell: "2.5 directory op atomic, with a file in the way",
        outcomes: &[
            ("old", "owjxbp"),
            ("new", "owjxbp"),
            ("old-gone", "p"),
            ("both-new", "p"),
            ("source-gone", "p"),
            ("all-gone", "p"),
        ],
        program: rename_over,
    },
    Litmus {
        name: "create-then-create",
        cell: "2.5 directory ops in order among themselves",
        outcomes: &[("neither", "owjxbp"), ("first", "owjxbp"), ("both", "owjxbp"), ("second-alone", "bp")],
        program: create_then_create,
    },
    Litmus {
        name: "append-then-rename-over",
        cell: "2.5 append then rename over: length first, and bytes if no extent is unwritten",
        outcomes: &[
            ("old", "owjxbp"),
            ("new", "owjxbp"),
            ("zeros", "owp"),
            ("empty", "wxbp"),
            ("garbage", "wp"),
        ],
        program: append_then_rename_over,
    },
    Litmus {
        name: "sync-of-new-file",
        cell: "2.5 fsync of a new file also persists its name",
        outcomes: &[("named", "owjxbp"), ("nameless", "p")],
        program: sync_of_new_file,
    },
    Litmus {
        name: "sync-of-file-and-older-names",
        cell: "2.5 formal edges: a journal is committed whole, an fsync log is the file's own",
        outcomes: &[("kept", "owjxbp"), ("lost", "bp")],
        program: sync_and_older_names,
    },
    Litmus {
        name: "sync-of-overwrite-and-older-names",
        cell: "2.5 formal edges: data-journal, everything in order",
        outcomes: &[("kept", "owjxbp"), ("lost", "owxbp")],
        program: sync_of_overwrite_and_older_names,
    },
    Litmus {
        name: "sync-in-new-directory",
        cell: "2.5 fsync of a new file also persists its name, and those above it",
        outcomes: &[("named", "owjxbp"), ("nameless", "p")],
        program: sync_in_new_directory,
    },
    Litmus {
        name: "sync-of-directory-and-others",
        cell: "2.2 fsync(dir): barrier over that directory's entries only",
        outcomes: &[("kept", "owjxbp"), ("lost", "bp")],
        program: sync_of_directory_and_others,
    },
    Litmus {
        name: "sync-of-directory",
        cell: "2.2 fsync(dir) never implies the children's data",
        outcomes: &[("whole", "owjxbp"), ("empty", "owxbp"), ("garbage", "owp")],
        program: sync_of_directory,
    },
    Litmus {
        name: "unlink",
        cell: "2.2 unlink",
        outcomes: &[("there", "owjxbp"), ("gone", "owjxbp")],
        program: unlink,
    },
];

fn judge_append_and_name(hand: &Hand) -> (bool, Option<bool>) {
    let bytes = hand.look("f").expect("the file is durable");
    let appended = match bytes {
        bytes if bytes.is_empty() => Some(false),
        bytes if bytes.len() == 256 && is_all(&bytes, NEW) => Some(true),
        _ => None,
    };
    (is_there(hand, "later"), appended)
}

fn append_then_create(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 0);
    hand.write(&file, 0, NEW, PAGE);
    hand.create("later");
    explore(&mut hand, seen, |hand| match judge_append_and_name(hand) {
        (false, Some(false)) => "neither",
        (false, Some(true)) => "append",
        (true, Some(true)) => "both",
        (true, Some(false)) => "later-alone",
        (_, None) => "garbage",
    });
}

fn create_then_append(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 0);
    hand.create("later");
    hand.write(&file, 0, NEW, PAGE);
    explore(&mut hand, seen, |hand| match judge_append_and_name(hand) {
        (false, Some(false)) => "neither",
        (true, Some(false)) => "name",
        (true, Some(true)) => "both",
        (false, Some(true)) => "append-alone",
        (_, None) => "garbage",
    });
}

fn overwrite_then_create(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    hand.write(&file, 0, NEW, PAGE);
    hand.create("later");
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        match (is_all(&bytes, NEW), is_all(&bytes, OLD), is_there(hand, "later")) {
            (true, _, true) => "both",
            (true, _, false) => "overwrite",
            (_, true, true) => "later-alone",
            (_, true, false) => "neither",
            (false, false, _) => "torn",
        }
    });
}

fn rename(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    hand.durable("from", OLD, SECTOR);
    hand.rename("from", "to");
    explore(&mut hand, seen, |hand| match (is_there(hand, "from"), is_there(hand, "to")) {
        (true, false) => "old",
        (false, true) => "new",
        (true, true) => "both",
        (false, false) => "neither",
    });
}

fn rename_over(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    hand.durable("to", OLD, SECTOR);
    hand.durable("from", NEW, SECTOR);
    hand.rename("from", "to");
    explore(&mut hand, seen, |hand| {
        let target = hand.look("to").map(|bytes| bytes[0]);
        match (is_there(hand, "from"), target) {
            (true, Some(OLD)) => "old",
            (false, Some(NEW)) => "new",
            (true, None) => "old-gone",
            (true, Some(_)) => "both-new",
            (false, Some(_)) => "source-gone",
            (false, None) => "all-gone",
        }
    });
}

fn create_then_create(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    hand.create("first");
    hand.create("second");
    explore(&mut hand, seen, |hand| match (is_there(hand, "first"), is_there(hand, "second")) {
        (false, false) => "neither",
        (true, false) => "first",
        (true, true) => "both",
        (false, true) => "second-alone",
    });
}

fn append_then_rename_over(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    hand.durable("f", OLD, PAGE);
    let next = hand.durable("next", OLD, 0);
    hand.write(&next, 0, NEW, PAGE);
    hand.rename("next", "f");
    explore(&mut hand, seen, |hand| match hand.look("f") {
        Some(bytes) if bytes.is_empty() => "empty",
        Some(bytes) if bytes.len() == 256 && is_all(&bytes, OLD) => "old",
        Some(bytes) if bytes.len() == 256 && is_all(&bytes, NEW) => "new",
        Some(bytes) if bytes.len() == 256 && is_all(&bytes, 0) => "zeros",
        // Where a rename is not atomic the name may be gone; that is another cell.
        None => "old",
        Some(_) => "garbage",
    });
}

fn sync_of_new_file(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.create("f");
    hand.write(&file, 0, NEW, SECTOR);
    hand.sync(&file);
    explore(&mut hand, seen, |hand| match hand.look("f") {
        Some(bytes) => {
            // A synced file has its bytes.
            if bytes.len() != 64 || !is_all(&bytes, NEW) {
                return "broken";
            }
            "named"
        }
        None => "nameless",
    });
}

fn sync_of_directory(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.create("f");
    hand.write(&file, 0, NEW, PAGE);
    hand.sync_root();
    explore(&mut hand, seen, |hand| match hand.look("f").expect("its directory was synced") {
        bytes if bytes.is_empty() => "empty",
        bytes if bytes.len() == 256 && is_all(&bytes, NEW) => "whole",
        _ => "garbage",
    });
}

fn unlink(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    hand.durable("f", OLD, PAGE);
    hand.remove("f");
    explore(&mut hand, seen, |hand| match hand.look("f") {
        Some(bytes) => {
            // A file that comes back is whole.
            if bytes.len() != 256 || !is_all(&bytes, OLD) {
                return "broken";
            }
            "there"
        }
        None => "gone",
    });
}

fn sync_and_older_names(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    hand.create("older");
    let file = hand.create("f");
    hand.write(&file, 0, NEW, SECTOR);
    hand.sync(&file);
    explore(&mut hand, seen, |hand| if is_there(hand, "older") { "kept" } else { "lost" });
}

fn sync_of_overwrite_and_older_names(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, SECTOR);
    hand.create("older");
    hand.write(&file, 0, NEW, SECTOR);
    hand.sync(&file);
    explore(&mut hand, seen, |hand| if is_there(hand, "older") { "kept" } else { "lost" });
}

fn sync_in_new_directory(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let directory = hand.make_directory("d");
    let file = hand.create_in(&directory, "f");
    hand.write(&file, 0, NEW, SECTOR);
    hand.sync(&file);
    explore(&mut hand, seen, |hand| match hand.look("d/f") {
        Some(bytes) => {
            // A synced file has its bytes.
            if bytes.len() != 64 || !is_all(&bytes, NEW) {
                return "broken";
            }
            "named"
        }
        None => "nameless",
    });
}

fn sync_of_directory_and_others(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let directory = hand.make_directory("d");
    hand.sync_root();
    hand.create_in(&directory, "other");
    hand.create("own");
    hand.sync_root();
    explore(&mut hand, seen, |hand| {
        // Its directory was synced.
        if !is_there(hand, "own") {
            return "broken";
        }
        if hand.look("d/other").is_some() { "kept" } else { "lost" }
    });
}
