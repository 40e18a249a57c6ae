//! Each invariant on a hand-made violation, and on the same history made right.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use recovery_core::decide::{Action, Disposition, Reason, SegmentVerdict, Verdict};
use recovery_core::storage::Name;
use recovery_core::units::{Length, Offset, Position, SegmentStart};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    Cursor, SecondRun, check_cursor, check_lengths, check_nonzero_bytes, check_recover_twice,
    check_refused_untouched, check_verified_bytes,
};
use crate::oracle::specimen::{Directory, ONE, batch, batches, entries};
use crate::oracle::{Content, Fence, FileImage, Forgotten, Image, ImageEntry, PartitionImage, Violation};

const LOG: &str = "00000000000000000000.log";
const INDEX: &str = "00000000000000000000.index";

fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).unwrap()
}

fn file(text: &str, bytes: &[u8]) -> ImageEntry {
    ImageEntry { name: name(text), content: Content::File(FileImage::readable(bytes.to_vec())) }
}

/// A partition with these files and nothing set aside.
fn partition(directory: Directory) -> PartitionImage {
    PartitionImage { directory: directory.image, fences: Vec::new() }
}

impl PartitionImage {
    /// The same with one more file in its fence.
    fn fenced(mut self, text: &str, bytes: &[u8]) -> Self {
        if self.fences.is_empty() {
            self.fences.push(Fence { name: name("3.fenced.0"), image: Image::default() });
        }
        self.fences[0].image.entries.push(file(text, bytes));
        self
    }

    /// The same with a copy of `bytes`, which lay at `position` of the file `of`.
    fn copied(self, of: &str, position: u64, bytes: &[u8]) -> Self {
        let text = format!("{of}.{position}-{}.{:016x}", bytes.len(), xxh3_64(bytes));
        self.fenced(&text, bytes)
    }
}

fn lost_bytes(before: &PartitionImage, after: &PartitionImage) -> Vec<Violation> {
    check_nonzero_bytes(before, after, &[])
}

#[track_caller]
fn check(violations: impl IntoIterator<Item = Violation>, expected: &[&str]) {
    let found: Vec<String> = violations.into_iter().map(|violation| violation.to_string()).collect();
    assert_eq!(found, expected);
}

/// Two whole batches, 40 bytes of noise, a batch behind them, and 20 bytes of zeros.
fn damaged_log() -> Vec<u8> {
    [&batches(0, 2)[..], &[7; 40], &batch(2, 1), &[0; 20]].concat()
}

fn damaged() -> PartitionImage {
    partition(Directory::new().log(0, damaged_log()).index(0, entries(0, 2)))
}

/// The same, cut behind the second batch, with nothing set aside.
fn cut() -> PartitionImage {
    partition(Directory::new().log(0, batches(0, 2)).index(0, entries(0, 2)))
}

#[test]
fn a_verified_batch_behind_damage_is_kept_aside() {
    check(check_verified_bytes(&damaged(), &damaged()), &[]);
    let rest = &damaged_log()[2 * ONE..];
    check(check_verified_bytes(&damaged(), &cut().copied(LOG, 712, rest)), &[]);
    check(
        check_verified_bytes(&damaged(), &cut()),
        &[
            "I01: 00000000000000000000.log: bytes 752 to 1108: bytes left of a verified batch should be 356 and is 0",
        ],
    );
}

#[test]
fn a_cut_that_is_one_byte_early_takes_a_verified_byte() {
    let early = partition(Directory::new().log(0, &batches(0, 2)[..711]).index(0, entries(0, 2)));
    check(
        check_verified_bytes(&damaged(), &early.clone().copied(LOG, 712, &damaged_log()[712..])),
        &[
            "I01: 00000000000000000000.log: bytes 711 to 712: bytes left of a verified batch should be 356 and is 355",
        ],
    );
    check(check_verified_bytes(&damaged(), &early.copied(LOG, 711, &damaged_log()[711..])), &[]);
}

#[test]
fn a_copy_of_another_place_or_file_or_content_keeps_nothing() {
    let rest = &damaged_log()[712..];
    let mut flipped = rest.to_vec();
    flipped[100] ^= 1;
    let wrong_name = format!("{LOG}.712-{}.{:016x}", rest.len(), xxh3_64(rest));
    for aside in [
        cut().copied("00000000000000000001.log", 712, rest),
        cut().copied(LOG, 711, rest),
        cut().fenced(&wrong_name, &flipped),
        cut().fenced("notes", rest),
        cut().fenced(&wrong_name, &rest[1..]),
    ] {
        assert!(!check_verified_bytes(&damaged(), &aside).is_empty());
        assert!(!lost_bytes(&damaged(), &aside).is_empty());
    }
}

#[test]
fn a_verified_batch_keeps_its_zeros_too() {
    // All of the last batch's reserved bytes are zero: a copy that leaves them out is no copy of it.
    let aside =
        cut().copied(LOG, 712, &damaged_log()[712..752 + 52]).copied(LOG, 1008, &damaged_log()[1008..1108]);
    check(
        check_verified_bytes(&damaged(), &aside),
        &[
            "I01: 00000000000000000000.log: bytes 804 to 1008: bytes left of a verified batch should be 356 and is 152",
        ],
    );
    check(lost_bytes(&damaged(), &aside), &[]);
}

#[test]
fn noise_is_kept_aside_and_zeros_need_not_be() {
    let rest = &damaged_log()[712..1108];
    check(lost_bytes(&damaged(), &cut().copied(LOG, 712, rest)), &[]);
    check(
        lost_bytes(&damaged(), &cut().copied(LOG, 713, &rest[1..])),
        &["I02: 00000000000000000000.log: bytes 712 to 713: non-zero bytes kept should be 1 and is 0"],
    );
}

#[test]
fn an_index_that_is_replaced_is_kept_unless_the_new_one_begins_with_it() {
    let with_index = |index: Vec<u8>| partition(Directory::new().log(0, batches(0, 3)).index(0, index));
    let lagging = with_index(entries(0, 1));
    check(lost_bytes(&lagging, &with_index(entries(0, 3))), &[]);
    let wrong = with_index(vec![9; 48]);
    check(
        lost_bytes(&wrong, &with_index(entries(0, 3))),
        &["I02: 00000000000000000000.index: bytes 0 to 48: non-zero bytes kept should be 48 and is 0"],
    );
    check(lost_bytes(&wrong, &with_index(entries(0, 3)).copied(INDEX, 0, &[9; 48])), &[]);
}

#[test]
fn a_file_of_somebody_else_is_not_destroyed_either() {
    let stranger = partition(Directory::new().segment(0, 1).file("notes", [1]));
    let without = partition(Directory::new().segment(0, 1));
    check(
        lost_bytes(&stranger, &without),
        &["I02: notes: bytes 0 to 1: non-zero bytes kept should be 1 and is 0"],
    );
    check(lost_bytes(&stranger, &without.copied("notes", 0, &[1])), &[]);
    let half_made = partition(Directory::new().segment(0, 1).file("00000000000000000000.index.staging", [1]));
    check(lost_bytes(&half_made, &partition(Directory::new().segment(0, 1))), &[]);
}

#[test]
fn a_file_of_two_names_is_there_by_either() {
    let numbered = |names: &[&str]| {
        let mut image = partition(Directory::new());
        for text in names {
            let mut entry = file(text, &[7; 3]);
            let Content::File(file) = &mut entry.content else { unreachable!() };
            file.number = Some(9);
            image.directory.entries.push(entry);
        }
        image
    };
    let both = || numbered(&["ledger", "ledger.staging"]);
    check(lost_bytes(&both(), &numbered(&["ledger"])), &[]);
    let lost = ": bytes 0 to 3: non-zero bytes kept should be 3 and is 0";
    check(
        lost_bytes(&both(), &numbered(&[])),
        &[&format!("I02: ledger{lost}"), &format!("I02: ledger.staging{lost}")],
    );
    // Files that are merely alike are two, and so are those of which nobody knows.
    let alike = partition(Directory::new().file("ledger", [7; 3]).file("ledger.staging", [7; 3]));
    check(lost_bytes(&alike, &numbered(&["ledger"])), &[&format!("I02: ledger.staging{lost}")]);
}

#[test]
fn a_sync_that_failed_loses_what_the_medium_never_held_and_nothing_else() {
    let before = partition(Directory::new().file("notes", [1, 2, 3, 4]));
    let without = partition(Directory::new());
    let forgotten = |text: &str, medium: &[u8]| [Forgotten { name: name(text), medium: medium.to_vec() }];
    check(check_nonzero_bytes(&before, &without, &forgotten("notes", &[])), &[]);
    check(
        check_nonzero_bytes(&before, &without, &forgotten("notes", &[1, 2, 9])),
        &["I02: notes: bytes 0 to 2: non-zero bytes kept should be 2 and is 0"],
    );
    check(
        check_nonzero_bytes(&before, &without, &forgotten("other", &[])),
        &["I02: notes: bytes 0 to 4: non-zero bytes kept should be 4 and is 0"],
    );
}

#[test]
fn a_copy_that_lay_in_a_fence_stays_there() {
    let fenced = || cut().copied(LOG, 712, &[7; 40]);
    check(lost_bytes(&fenced(), &fenced().copied(INDEX, 0, &[1])), &[]);
    check(lost_bytes(&fenced(), &cut()), &["I02: a copy in a fence should be present and is none"]);
    // What does not hold what its name says is no copy, and is written anew.
    let half_made = cut().fenced("00000000000000000000.log.712-40.0123456789abcdef", &[7; 12]);
    check(lost_bytes(&half_made, &cut()), &[]);
}

#[test]
fn a_refused_partition_is_untouched_to_the_byte() {
    let before = || damaged().copied(INDEX, 0, &[1]);
    check(check_refused_untouched(&before(), &before()), &[]);
    let mut reversed = before();
    reversed.directory.entries.reverse();
    check(check_refused_untouched(&before(), &reversed), &[]);

    let changed = |change: fn(&mut PartitionImage)| {
        let mut image = before();
        change(&mut image);
        check_refused_untouched(&before(), &image)
    };
    check(
        changed(|image| image.directory = cut().directory),
        &["I04: 00000000000000000000.log: length should be 1128 and is 712"],
    );
    check(
        changed(|image| {
            let Content::File(log) = &mut image.directory.entries[0].content else { unreachable!() };
            *log.bytes.last_mut().unwrap() = 3;
        }),
        &["I04: 00000000000000000000.log: bytes 1127 to 1128: byte should be 0 and is 3"],
    );
    check(
        changed(|image| drop(image.directory.entries.pop())),
        &["I04: 00000000000000000000.index: kind should be file and is none"],
    );
    check(
        changed(|image| image.directory.entries.push(file("lock", &[]))),
        &["I04: lock: kind should be none and is file"],
    );
    check(
        changed(|image| image.directory.entries[1].content = Content::Other),
        &["I04: 00000000000000000000.index: kind should be file and is other"],
    );
    check(changed(|image| image.fences.clear()), &["I04: fences should be 1 and is 0"]);
    check(
        changed(|image| image.fences[0].image.entries.push(file("REASON.toml", b"why"))),
        &["I04: REASON.toml: kind should be none and is file"],
    );
}

fn verdict(disposition: Disposition, next_offset: Option<u64>, action: Action) -> Verdict {
    let segments = vec![SegmentVerdict { start: SegmentStart::new(0), action }];
    Verdict { disposition, next_offset: next_offset.map(Offset::new), reserve: None, segments }
}

fn hole(last_missing: u64) -> Disposition {
    Disposition::Refuse(Reason::Hole {
        segment: SegmentStart::new(0),
        next_segment: SegmentStart::new(9),
        first_missing_offset: Offset::new(2),
        last_missing_offset: Offset::new(last_missing),
    })
}

#[test]
fn a_second_recovery_finds_nothing_to_do() {
    let cutting = Action::Cut { at: Position::new(712), save: Length::new(416) };
    let after = cut().copied(LOG, 712, &damaged_log()[712..]);
    let gap = || Disposition::ServeFrom { first: Offset::new(2), last: Offset::new(2) };
    let first = verdict(gap(), Some(3), cutting);
    let second = verdict(gap(), Some(3), Action::Keep);
    let run = SecondRun {
        first_verdict: &first,
        second_verdict: &second,
        after_first: &after,
        after_second: &after,
        changing_calls: 0,
    };
    check(check_recover_twice(run), &[]);
    check(
        check_recover_twice(SecondRun { changing_calls: 2, ..run }),
        &["I09: changing calls of a second run should be 0 and is 2"],
    );
    let again = verdict(gap(), Some(3), cutting);
    check(
        check_recover_twice(SecondRun { second_verdict: &again, ..run }),
        &["I09: segment 0: action of a second run should be keep and is cut"],
    );
    let forgetful = verdict(Disposition::Serve, Some(2), Action::Keep);
    check(
        check_recover_twice(SecondRun { second_verdict: &forgetful, ..run }),
        &[
            "I09: disposition of a second run should be serve-from and is serve",
            "I09: next offset of a second run should be 3 and is 2",
            "I09: first offset of the gap of a second run should be 2 and is none",
        ],
    );
    check(
        check_recover_twice(SecondRun { after_second: &cut(), ..run }),
        &["I09: fences should be 1 and is 0"],
    );
}

#[test]
fn a_second_refusal_has_the_same_reason() {
    let after = damaged();
    let first = verdict(hole(8), None, Action::Keep);
    let run = |second_verdict| SecondRun {
        first_verdict: &first,
        second_verdict,
        after_first: &after,
        after_second: &after,
        changing_calls: 0,
    };
    check(check_recover_twice(run(&first)), &[]);
    let overlap = verdict(
        Disposition::Refuse(Reason::Overlap {
            segment: SegmentStart::new(0),
            last_offset: Offset::new(2),
            next_segment: SegmentStart::new(1),
        }),
        None,
        Action::Keep,
    );
    check(check_recover_twice(run(&overlap)), &["I09: reason of a second run should be hole and is overlap"]);
}

#[test]
fn file_length_recovered_length_and_writer_cursor_are_one_number() {
    let image = cut().directory;
    let start = SegmentStart::new(0);
    let cursor = |position| Some(Cursor { segment: start, position: Position::new(position) });
    check(check_lengths(&image, &[(start, Length::new(712))], cursor(712)), &[]);
    check(check_lengths(&image, &[(start, Length::new(712))], None), &[]);
    check(
        check_lengths(&damaged().directory, &[(start, Length::new(712))], cursor(712)),
        &[
            "I12: segment 0: log length should be 712 and is 1128",
            "I12: segment 0: writer cursor should be 1128 and is 712",
        ],
    );
    let behind_a_call = |length: Option<u64>| {
        let cursor = Cursor { segment: start, position: Position::new(712) };
        check_cursor(cursor, length.map(Length::new)).into_iter().collect::<Vec<_>>()
    };
    check(behind_a_call(Some(712)), &[]);
    check(behind_a_call(Some(1128)), &["I12: segment 0: log length behind a call should be 712 and is 1128"]);
    check(behind_a_call(None), &["I12: segment 0: log length behind a call should be 712 and is none"]);
    check(
        check_lengths(&image, &[(SegmentStart::new(5), Length::new(0))], cursor(711)),
        &[
            "I12: segment 5: log length should be 0 and is none",
            "I12: segment 0: writer cursor should be 712 and is 711",
        ],
    );
}
