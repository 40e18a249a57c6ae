//! FAULT_MODEL 2.5: which unsynced bytes and lengths survive a crash, one program a cell.

use crate::schedule::Filesystem;

use super::explore::{STALE_FOREIGN, STALE_SAME, explore, is_there};
use super::hand::{Hand, PAGE, SECTOR, is_all};
use super::{Litmus, Seen};

/// What was durable before.
const OLD: u8 = b'A';

/// What was written and not synced.
const NEW: u8 = b'B';

pub(super) const TESTS: &[Litmus] = &[
    Litmus {
        name: "sector-overwrite",
        cell: "2.5 sector atomic",
        outcomes: &[("old", "owjxbp"), ("new", "owjxbp")],
        program: sector_overwrite,
    },
    Litmus {
        name: "page-overwrite",
        cell: "2.5 4 KiB overwrite atomic",
        outcomes: &[("old", "owjxbp"), ("new", "owjxbp"), ("torn", "owxp")],
        program: page_overwrite,
    },
    Litmus {
        name: "several-pages-overwrite",
        cell: "2.5 several blocks in one write atomic",
        outcomes: &[
            ("old", "owjxbp"),
            ("new", "owjxbp"),
            ("first-page", "owjxbp"),
            ("second-page", "owxbp"),
            ("torn", "owxp"),
        ],
        program: several_pages_overwrite,
    },
    Litmus {
        name: "append-page",
        cell: "2.5 append: block appears whole with its size; extended range may read as",
        outcomes: &[
            ("absent", "owjxbp"),
            ("whole", "owjxbp"),
            ("zeros", "owp"),
            ("stale-same", "wp"),
            ("stale-foreign", "wp"),
            ("mixed", "wp"),
            ("noise", "p"),
        ],
        program: append_page,
    },
    Litmus {
        name: "append-in-old-page",
        cell: "2.5 extended range may read as, note (a)",
        outcomes: &[
            ("absent", "owjxbp"),
            ("whole", "owjxbp"),
            ("zeros", "owp"),
            ("partial", "owp"),
            ("short", "p"),
            ("garbage", "p"),
        ],
        program: append_in_old_page,
    },
    Litmus {
        name: "append-length",
        cell: "2.2 size and data are durable independently: where a length may end",
        outcomes: &[("absent", "owjxbp"), ("page", "owjxbp"), ("sector", "p")],
        program: append_length,
    },
    Litmus {
        name: "write-into-hole",
        cell: "2.5 formal edges: WriteSec(newly allocated block) -> MapExtent",
        outcomes: &[("hole", "owjxbp"), ("whole", "owjxbp"), ("torn", "wp"), ("garbage", "wp")],
        program: write_into_hole,
    },
    Litmus {
        name: "append-several-pages",
        cell: "2.5 append lands as a prefix of blocks, notes (b) and (c)",
        outcomes: &[("prefix", "owjxbp"), ("zero-run", "owxbp"), ("garbage", "wp")],
        program: append_several_pages,
    },
    Litmus {
        name: "append-then-append",
        cell: "2.5 append then append, same file, in order, note (b)",
        outcomes: &[
            ("neither", "owjxbp"),
            ("first", "owjxbp"),
            ("both", "owjxbp"),
            ("second-alone", "owxp"),
            ("zeros", "owp"),
            ("garbage", "wp"),
        ],
        program: append_then_append,
    },
    Litmus {
        name: "sync-keeps",
        cell: "2.5 what a successful fsync covered always survives",
        outcomes: &[("kept", "owjxbp")],
        program: sync_keeps,
    },
    Litmus {
        name: "cut",
        cell: "2.2 truncate down",
        outcomes: &[("old", "owjxbp"), ("cut", "owjxbp"), ("zeros-first", "owjxbp")],
        program: cut,
    },
    Litmus {
        name: "cut-then-append",
        cell: "2.2 truncate down, then append: what was cut does not come back as new bytes",
        outcomes: &[
            ("old", "owjxbp"),
            ("cut", "owjxbp"),
            ("appended", "owjxbp"),
            ("zeros-behind", "owp"),
            ("resurrected", "wp"),
            ("mixed", "owjxbp"),
        ],
        program: cut_then_append,
    },
    Litmus {
        name: "cut-pages-then-append",
        cell: "2.2 truncate down: freed blocks are not written in place",
        outcomes: &[
            ("old", "owjxbp"),
            ("cut", "owjxbp"),
            ("appended", "owjxbp"),
            ("overwritten", "p"),
            ("zeros", "owp"),
            ("garbage", "wp"),
        ],
        program: cut_pages_then_append,
    },
];

fn judge_overwrite(hand: &Hand) -> &'static str {
    let bytes = hand.look("f").expect("the file is durable");
    match bytes {
        bytes if is_all(&bytes, OLD) => "old",
        bytes if is_all(&bytes, NEW) => "new",
        _ => "torn",
    }
}

fn sector_overwrite(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, SECTOR);
    hand.write(&file, 0, NEW, SECTOR);
    explore(&mut hand, seen, judge_overwrite);
}

fn page_overwrite(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    hand.write(&file, 0, NEW, PAGE);
    explore(&mut hand, seen, judge_overwrite);
}

fn several_pages_overwrite(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 2 * PAGE);
    hand.write(&file, 0, NEW, 2 * PAGE);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        let (first, second) = bytes.split_at(256);
        match (is_all(first, NEW), is_all(first, OLD), is_all(second, NEW), is_all(second, OLD)) {
            (true, _, true, _) => "new",
            (true, _, _, true) => "first-page",
            (_, true, true, _) => "second-page",
            (_, true, _, true) => "old",
            _ => "torn",
        }
    });
}

fn append_page(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 0);
    hand.write(&file, 0, NEW, PAGE);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        match bytes {
            bytes if bytes.is_empty() => "absent",
            bytes if is_all(&bytes, NEW) && bytes.len() == 256 => "whole",
            bytes if is_all(&bytes, 0) => "zeros",
            bytes if is_all(&bytes, STALE_SAME) => "stale-same",
            bytes if is_all(&bytes, STALE_FOREIGN) => "stale-foreign",
            bytes if bytes.iter().all(|byte| [0, NEW, STALE_SAME, STALE_FOREIGN].contains(byte)) => "mixed",
            _ => "noise",
        }
    });
}

fn append_in_old_page(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, SECTOR);
    hand.write(&file, SECTOR, NEW, 2 * SECTOR);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        let (before, after) = bytes.split_at(64);
        // What was durable stays.
        if !is_all(before, OLD) {
            return "broken";
        }
        match after {
            [] => "absent",
            after if after.len() == 64 => "short",
            after if is_all(after, NEW) => "whole",
            after if is_all(after, 0) => "zeros",
            after if after.iter().all(|byte| [0, NEW].contains(byte)) => "partial",
            _ => "garbage",
        }
    });
}

fn append_several_pages(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 0);
    hand.write(&file, 0, NEW, 3 * PAGE);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        match bytes {
            bytes if is_all(&bytes, NEW) => "prefix",
            bytes if bytes.chunks(256).all(|page| is_all(page, NEW) || is_all(page, 0)) => "zero-run",
            _ => "garbage",
        }
    });
}

fn append_then_append(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 0);
    hand.write(&file, 0, NEW, PAGE);
    hand.write(&file, PAGE, NEW, PAGE);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        let (first, second) = bytes.split_at(bytes.len().min(256));
        match (first.len(), second.len()) {
            (0, 0) => "neither",
            (256, 0) if is_all(first, NEW) => "first",
            (256, 256) if is_all(&bytes, NEW) => "both",
            (256, 256) if is_all(first, 0) && is_all(second, NEW) => "second-alone",
            _ if bytes.chunks(256).all(|page| is_all(page, NEW) || is_all(page, 0)) => "zeros",
            _ => "garbage",
        }
    });
}

fn sync_keeps(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE + SECTOR);
    hand.write(&file, SECTOR, NEW, 2 * PAGE);
    hand.set_length(&file, 2 * PAGE);
    hand.create("g");
    hand.rename("g", "h");
    hand.sync(&file);
    hand.sync_root();
    let before = (hand.look("f"), hand.look("h"));
    assert!(before.0.is_some() && before.1.is_some(), "both are there");
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").unwrap_or_default();
        let is_kept = bytes.len() == 512 && is_all(&bytes[..64], OLD) && is_all(&bytes[64..], NEW);
        if is_kept && is_there(hand, "h") && !is_there(hand, "g") { "kept" } else { "lost" }
    });
}

fn cut(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE + PAGE / 2);
    hand.set_length(&file, SECTOR + SECTOR / 2);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        match bytes.len() {
            96 if is_all(&bytes, OLD) => "cut",
            384 if is_all(&bytes, OLD) => "old",
            384 if is_all(&bytes[..64], OLD) => "zeros-first",
            _ => "garbage",
        }
    });
}

fn cut_then_append(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 3 * SECTOR);
    hand.set_length(&file, SECTOR);
    hand.write(&file, SECTOR, NEW, SECTOR);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        // What was not cut stays.
        if !is_all(&bytes[..64], OLD) {
            return "broken";
        }
        match (bytes.len(), bytes.get(64)) {
            (64, None) => "cut",
            (128, Some(&NEW)) => "appended",
            (128, Some(0)) => "zeros-behind",
            (128, Some(&OLD)) => "resurrected",
            (192, Some(&OLD)) if is_all(&bytes, OLD) => "old",
            _ => "mixed",
        }
    });
}

fn append_length(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 0);
    hand.write(&file, 0, NEW, PAGE + 2 * SECTOR);
    explore(&mut hand, seen, |hand| match hand.look("f").expect("the file is durable").len() {
        0 => "absent",
        256 | 384 => "page",
        _ => "sector",
    });
}

fn write_into_hole(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 0);
    hand.set_length(&file, 2 * PAGE);
    hand.sync(&file);
    hand.write(&file, 0, NEW, PAGE);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        // The rest stays a hole.
        if bytes.len() != 512 || !is_all(&bytes[256..], 0) {
            return "broken";
        }
        match &bytes[..256] {
            page if is_all(page, 0) => "hole",
            page if is_all(page, NEW) => "whole",
            page if page.iter().all(|byte| [0, NEW].contains(byte)) => "torn",
            _ => "garbage",
        }
    });
}

fn cut_pages_then_append(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 2 * PAGE);
    hand.set_length(&file, PAGE);
    hand.write(&file, PAGE, NEW, SECTOR);
    explore(&mut hand, seen, |hand| {
        let bytes = hand.look("f").expect("the file is durable");
        // What was not cut stays.
        if !is_all(&bytes[..256], OLD) {
            return "broken";
        }
        match (bytes.len(), bytes.get(256)) {
            (256, None) => "cut",
            (320, Some(&NEW)) => "appended",
            (512, Some(&OLD)) if is_all(&bytes, OLD) => "old",
            (512, Some(&NEW)) => "overwritten",
            (320, Some(0)) => "zeros",
            _ => "garbage",
        }
    });
}
