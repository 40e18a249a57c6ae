//! The partition: every row of the second table, the next offset, and what cannot be read.

use super::check;
use crate::oracle::specimen::{
    ACCEPTED_LOSS, Directory, FLOOR, FRONTIER, ONE, RESERVED, Record, batch, batches, entries, mark, record,
    seal, superblock,
};
use crate::oracle::{Content, FileImage};

/// The line of a whole segment of single batches with a good index.
fn whole(start: u64, count: u64, evidence: &str) -> String {
    let bytes = count * 356;
    format!(
        "{start} {bytes}/{bytes} next={} messages={count} batches={count} end none {evidence} good keep saved=0",
        start + count
    )
}

#[test]
fn an_empty_directory_is_served_from_the_start() {
    check(Directory::new(), "serve next=0");
    check(Directory::new().file("purge.gen", [0; 16]).entry("offsets", Content::Directory), "serve next=0");
}

#[test]
fn segments_that_meet_are_served() {
    check(
        Directory::new().segment(0, 2).segment(2, 1).segment(3, 1),
        &format!(
            "serve next=4\n{}\n{}\n{}",
            whole(0, 2, "unknown"),
            whole(2, 1, "unknown"),
            whole(3, 1, "unknown")
        ),
    );
    check(Directory::new().segment(40, 2), &format!("serve next=42\n{}", whole(40, 2, "unknown")));
}

#[test]
fn whatever_cannot_be_read_makes_the_partition_unavailable() {
    let healthy = || Directory::new().segment(0, 2).file("superblock.a", superblock(1, 0));
    let broken_at = |at: u64, length: usize| {
        Content::File(FileImage {
            bytes: vec![7; length],
            unreadable: std::iter::once(at..at + 512).collect(),
            number: None,
        })
    };
    let log = "00000000000000000000.log";
    let index = "00000000000000000000.index";
    for name in [log, index, "ledger", "superblock.a", "superblock.b"] {
        for content in [broken_at(0, 2048), broken_at(2047, 2048), Content::Unopenable] {
            check(healthy().entry(name, content), "unavailable");
        }
    }
    let mut unlistable = healthy();
    unlistable.image.is_listable = false;
    check(unlistable, "unavailable");
    // Unavailable goes before every refusal.
    check(healthy().entry(index, Content::Unopenable).file("1.log", []), "unavailable");
}

#[test]
fn what_recovery_need_not_read_may_be_unreadable() {
    let directory = Directory::new()
        .segment(0, 2)
        .entry("00000000000000000009.index", Content::Unopenable)
        .entry("notes", Content::Unopenable)
        .entry("00000000000000000000.log.staging", Content::Unopenable);
    check(directory, &format!("serve next=2\n{}", whole(0, 2, "unknown")));
    let expired = Directory::new()
        .entry("00000000000000000000.log", Content::Unopenable)
        .segment(2, 1)
        .ledger(&[Record { floor: 2, ..record(FLOOR) }]);
    check(expired, &format!("serve next=3\n0 expired\n{}", whole(2, 1, "unknown")));
}

#[test]
fn a_superblock_slot_that_does_not_verify_refuses() {
    let segment = || Directory::new().segment(0, 2);
    let mut flipped = superblock(1, 2);
    flipped[40] ^= 1;
    let mut version = superblock(1, 2);
    version[4] = 2;
    for bytes in [flipped, version, vec![0; 102], vec![1], superblock(1, 2)[..101].to_vec()] {
        for slot in ["superblock.a", "superblock.b"] {
            let other = if slot == "superblock.a" { "superblock.b" } else { "superblock.a" };
            check(
                segment().file(slot, bytes.clone()).file(other, superblock(5, 9)),
                &format!("refuse superblock-unreadable\n{}", whole(0, 2, "unknown")),
            );
        }
    }
    check(
        segment().file("superblock.a", []).file("superblock.b", []),
        &format!("serve next=2\n{}", whole(0, 2, "unknown")),
    );
}

#[test]
fn the_frontier_of_the_newer_superblock_is_a_lower_bound() {
    let with = |a: Vec<u8>, b: Vec<u8>| {
        Directory::new().segment(0, 2).file("superblock.a", a).file("superblock.b", b)
    };
    let whole = whole(0, 2, "unknown");
    check(with(superblock(1, 9), superblock(2, 5)), &format!("serve-from gap=2..4 next=5\n{whole}"));
    check(with(superblock(3, 9), superblock(2, 5)), &format!("serve-from gap=2..8 next=9\n{whole}"));
    check(with(superblock(2, 9), superblock(2, 5)), &format!("serve-from gap=2..8 next=9\n{whole}"));
    check(with(superblock(2, 1), vec![]), &format!("serve next=2\n{whole}"));
}

#[test]
fn a_name_that_only_looks_like_a_log_refuses() {
    let names = [
        "1.log",
        ".log",
        "+0000000000000000001.log",
        "0000000000000000002.log",
        "000000000000000000002.log",
        "18446744073709551616.log",
        "x.log",
    ];
    for name in names {
        check(
            Directory::new().segment(0, 2).file(name, []),
            &format!("refuse unexpected-file\n{}", whole(0, 2, "unknown")),
        );
    }
    for content in [Content::Directory, Content::Other] {
        check(
            Directory::new().segment(0, 2).entry("00000000000000000002.log", content.clone()),
            &format!("refuse unexpected-file\n{}", whole(0, 2, "unknown")),
        );
        let needed = [
            "ledger",
            "ledger.staging",
            "superblock.a",
            "superblock.b",
            "00000000000000000000.index.staging",
        ];
        for name in needed {
            check(
                Directory::new().segment(0, 2).entry(name, content.clone()),
                &format!("refuse unexpected-file\n{}", whole(0, 2, "unknown")),
            );
        }
        check(
            Directory::new().segment(0, 2).entry("00000000000000000000.index", content.clone()),
            &format!("refuse unexpected-file\n{}", whole(0, 2, "unknown").replace("good", "absent")),
        );
        for name in ["x.staging", "00000000000000000002.index", "superblock.c"] {
            check(
                Directory::new().segment(0, 2).entry(name, content.clone()),
                &format!("serve next=2\n{}", whole(0, 2, "unknown")),
            );
        }
    }
    check(
        Directory::new().segment(0, 2).file("18446744073709551615.log", []).index(u64::MAX, []),
        &format!(
            "refuse hole in 0\n{}\n{1} 0/0 next={1} messages=0 batches=0 end none unknown good keep saved=0",
            whole(0, 2, "unknown"),
            u64::MAX
        ),
    );
}

#[test]
fn segments_below_the_floor_are_expired_and_not_judged() {
    let floor = Record { floor: 5, ..mark(FRONTIER, 5, &batches(5, 1)) };
    check(
        Directory::new().log(0, [7; 900]).segment(3, 1).segment(5, 1).ledger(&[floor]),
        &format!("serve next=6\n0 expired\n3 expired\n{}", whole(5, 1, "at-or-above")),
    );
}

#[test]
fn a_marked_segment_without_a_file_is_missing() {
    let marks = [seal(0, &batches(0, 2), 2), mark(FRONTIER, 2, &[]), mark(FRONTIER, 3, &[])];
    check(
        Directory::new().segment(0, 2).segment(3, 1).ledger(&marks),
        &format!(
            "refuse missing-segment in 2\n{}\n{}",
            whole(0, 2, "at-or-above"),
            whole(3, 1, "at-or-above")
        ),
    );
    check(
        Directory::new().segment(0, 2).ledger(&marks[..2]),
        &format!("refuse missing-segment in 2\n{}", whole(0, 2, "at-or-above")),
    );
    check(Directory::new().ledger(&marks[..1]), "refuse missing-segment in 0");
}

#[test]
fn a_chain_that_starts_above_the_floor_is_missing_its_start() {
    check(
        Directory::new().segment(4, 1).ledger(&[record(FLOOR)]),
        &format!("refuse missing-segment in 0\n{}", whole(4, 1, "unknown")),
    );
}

#[test]
fn the_first_refused_segment_gives_the_reason() {
    let damaged = |start: u64, at: usize| {
        let mut log = batches(start, 3);
        log[at] ^= 1;
        log
    };
    check(
        Directory::new()
            .log(3, damaged(3, 8))
            .log(0, damaged(0, ONE - 1))
            .index(0, entries(0, 1))
            .index(3, []),
        "refuse interior-damage in 0
         0 0/1068 next=0 messages=0 batches=0 bad-checksum survivor unknown wrong keep saved=0
         3 0/1068 next=3 messages=0 batches=0 bad-checksum survivor unknown good keep saved=0",
    );
}

#[test]
fn segments_that_share_offsets_overlap() {
    check(
        Directory::new().segment(0, 3).segment(2, 1),
        &format!("refuse overlap in 0\n{}\n{}", whole(0, 3, "unknown"), whole(2, 1, "unknown")),
    );
}

#[test]
fn an_empty_segment_before_another_refuses_unless_it_was_sealed_so() {
    let empty =
        |evidence: &str| format!("0 0/0 next=0 messages=0 batches=0 end none {evidence} good keep saved=0");
    let directory = || Directory::new().log(0, []).index(0, []).segment(2, 1);
    check(
        directory(),
        &format!("refuse empty-non-tail-segment in 0\n{}\n{}", empty("unknown"), whole(2, 1, "unknown")),
    );
    check(
        directory().ledger(&[seal(0, &[], 2)]),
        &format!("serve next=3\n{}\n{}", empty("at-or-above"), whole(2, 1, "at-or-above")),
    );
    check(
        directory().ledger(&[seal(0, &[], 1)]),
        &format!("refuse hole in 0\n{}\n{}", empty("at-or-above"), whole(2, 1, "at-or-above")),
    );
    check(
        Directory::new().log(0, [7; 300]).index(0, []).segment(2, 1),
        &format!(
            "refuse empty-non-tail-segment in 0
             0 0/300 next=0 messages=0 batches=0 undecodable noise unknown good keep saved=0\n{}",
            whole(2, 1, "unknown")
        ),
    );
}

#[test]
fn logs_without_one_byte_that_is_not_zero_are_served_empty() {
    let directory =
        || Directory::new().log(0, [0; 700]).index(0, []).log(5, []).index(5, []).log(9, [0; 3]).index(9, []);
    check(
        directory(),
        "serve next=9
         0 0/700 next=0 messages=0 batches=0 undecodable zeros unknown good cut saved=0
         5 0/0 next=5 messages=0 batches=0 end none unknown good keep saved=0
         9 0/3 next=9 messages=0 batches=0 short zeros unknown good cut saved=0",
    );
    check(
        directory().ledger(&[mark(FRONTIER, 0, &[]), mark(FRONTIER, 9, &[])]),
        "serve next=9
         0 0/700 next=0 messages=0 batches=0 undecodable zeros at-or-above good cut saved=0
         5 0/0 next=5 messages=0 batches=0 end none unknown good keep saved=0
         9 0/3 next=9 messages=0 batches=0 short zeros at-or-above good cut saved=0",
    );
    check(
        directory().ledger(&[mark(FRONTIER, 0, &batches(0, 1))]),
        "refuse lost-durable in 0
         0 0/700 next=0 messages=0 batches=0 undecodable zeros below good keep saved=0
         5 0/0 next=5 messages=0 batches=0 end none at-or-above good keep saved=0
         9 0/3 next=9 messages=0 batches=0 short zeros at-or-above good keep saved=0",
    );
}

#[test]
fn offsets_that_no_record_explains_are_a_hole() {
    let directory = || Directory::new().segment(0, 2).segment(5, 1);
    let lines = |evidence| format!("{}\n{}", whole(0, 2, evidence), whole(5, 1, evidence));
    check(directory(), &format!("refuse hole in 0\n{}", lines("unknown")));
    check(
        directory().ledger(&[seal(0, &batches(0, 2), 5)]),
        &format!("serve next=6\n{}", lines("at-or-above")),
    );
    check(
        directory().ledger(&[seal(0, &batches(0, 2), 4)]),
        &format!("refuse hole in 0\n{}", lines("at-or-above")),
    );
    let loss = |last| Record { numbers: [2, last], ..mark(ACCEPTED_LOSS, 0, &batches(0, 2)) };
    check(directory().ledger(&[loss(4)]), &format!("serve next=6\n{}", lines("at-or-above")));
    check(directory().ledger(&[loss(3)]), &format!("refuse hole in 0\n{}", lines("at-or-above")));
}

#[test]
fn a_cut_that_leaves_a_hole_before_the_next_segment_refuses() {
    let mut log = batches(0, 2);
    log[2 * ONE - 1] ^= 1;
    check(
        Directory::new().log(0, log).index(0, entries(0, 1)).segment(2, 1),
        &format!(
            "refuse hole in 0
             0 356/712 next=1 messages=1 batches=1 bad-checksum noise unknown good keep saved=0\n{}",
            whole(2, 1, "unknown")
        ),
    );
}

#[test]
fn a_cut_in_the_middle_is_legal_where_the_chain_still_meets() {
    check(
        Directory::new().log(0, [&batches(0, 2)[..], &[7; 9]].concat()).index(0, entries(0, 2)).segment(2, 1),
        &format!(
            "serve next=3
             0 712/721 next=2 messages=2 batches=2 short noise unknown good cut saved=9\n{}",
            whole(2, 1, "unknown")
        ),
    );
}

#[test]
fn a_roll_that_was_cut_short_is_no_fault() {
    let sealed = |next| Directory::new().segment(0, 2).ledger(&[seal(0, &batches(0, 2), next)]);
    check(sealed(2), &format!("serve next=2\n{}", whole(0, 2, "at-or-above")));
    check(sealed(7), &format!("serve-from gap=2..6 next=7\n{}", whole(0, 2, "at-or-above")));
}

#[test]
fn the_last_segment_may_be_empty() {
    check(
        Directory::new().segment(0, 2).log(2, []),
        &format!(
            "serve next=2\n{}\n2 0/0 next=2 messages=0 batches=0 end none unknown absent rebuild-index saved=0",
            whole(0, 2, "unknown")
        ),
    );
    check(
        Directory::new().segment(0, 2).log(2, [7; 30]).index(2, []),
        &format!(
            "serve next=2\n{}\n2 0/30 next=2 messages=0 batches=0 short noise unknown good cut saved=30",
            whole(0, 2, "unknown")
        ),
    );
    check(
        Directory::new().segment(0, 2).log(6, []).index(6, []).ledger(&[seal(0, &batches(0, 2), 6)]),
        &format!(
            "serve next=6\n{}\n6 0/0 next=6 messages=0 batches=0 end none at-or-above good keep saved=0",
            whole(0, 2, "at-or-above")
        ),
    );
}

#[test]
fn the_reserved_offset_is_a_lower_bound_and_the_larger_one_counts() {
    let reserved = Record { reserved: 20, ..record(RESERVED) };
    let directory =
        || Directory::new().segment(0, 2).ledger(&[mark(FRONTIER, 0, &batches(0, 2)), reserved.clone()]);
    let whole = whole(0, 2, "at-or-above");
    check(directory(), &format!("serve-from gap=2..19 next=20\n{whole}"));
    check(
        directory().file("superblock.b", superblock(1, 25)),
        &format!("serve-from gap=2..24 next=25\n{whole}"),
    );
    check(
        directory().file("superblock.b", superblock(1, 15)),
        &format!("serve-from gap=2..19 next=20\n{whole}"),
    );
}

#[test]
fn a_floor_without_a_segment_is_where_the_chain_starts() {
    let floor = |reserved| Directory::new().ledger(&[Record { floor: 30, reserved, ..record(FLOOR) }]);
    check(floor(0), "serve next=30");
    check(floor(33), "serve-from gap=30..32 next=33");
    check(Directory::new().file("superblock.a", superblock(1, 76)), "serve-from gap=0..75 next=76");
}

#[test]
fn survivors_of_every_cut_segment_keep_their_offsets() {
    let torn = |start: u64, base: u64| [&batches(start, 2)[..], &[7; 1000], &batch(base, 2)].concat();
    let ledger = [seal(0, &batches(0, 2), 2), mark(FRONTIER, 2, &batches(2, 2))];
    check(
        Directory::new()
            .log(0, torn(0, 9))
            .index(0, entries(0, 2))
            .log(2, torn(2, 5))
            .index(2, entries(2, 2))
            .ledger(&ledger),
        "serve-from gap=4..10 next=11 reserve=11
         0 712/2168 next=2 messages=2 batches=2 overrun survivor at-or-above good cut saved=1456
         2 712/2168 next=4 messages=2 batches=2 undecodable survivor at-or-above good cut saved=1456",
    );
}

#[test]
fn rows_are_asked_in_their_order() {
    // A foreign ledger, an unreadable superblock and a stray name: each is taken away in turn.
    let stray = Directory::new().segment(0, 3).segment(2, 1).file("x.log", []);
    let superblock = stray.clone().file("superblock.a", [1]);
    let foreign = superblock.clone().ledger(&[Record { incarnation: 1, ..record(FLOOR) }]);
    for (directory, reason) in
        [(foreign, "identity-mismatch"), (superblock, "superblock-unreadable"), (stray, "unexpected-file")]
    {
        check(directory, &format!("refuse {reason}\n{}\n{}", whole(0, 3, "unknown"), whole(2, 1, "unknown")));
    }
    // An overlap anywhere comes before an empty segment anywhere, and that before a hole anywhere.
    let hole = Directory::new().segment(0, 1).segment(5, 2).log(7, []).index(7, []).segment(9, 2);
    let tail = [
        whole(0, 1, "unknown"),
        whole(5, 2, "unknown"),
        "7 0/0 next=7 messages=0 batches=0 end none unknown good keep saved=0".to_owned(),
        whole(9, 2, "unknown"),
    ]
    .join("\n");
    check(hole.clone(), &format!("refuse empty-non-tail-segment in 7\n{tail}"));
    check(hole.segment(10, 1), &format!("refuse overlap in 9\n{tail}\n{}", whole(10, 1, "unknown")));
}
