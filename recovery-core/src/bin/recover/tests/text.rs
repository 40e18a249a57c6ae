//! What people read.

use recovery_core::decide::{Action, Disposition, Reason};
use recovery_core::observe::{
    IndexState, LedgerState, OtherEntry, PartitionFacts, Residue, Run, Stop, Unavailable,
};
use recovery_core::plan::{FencedFile, Step};
use recovery_core::storage::{Call, EntryKind, Errno, StorageError};
use recovery_core::units::{Length, Namespace, Offset, Position, SegmentStart};

use super::sample::{cut, facts, find, found, ledger, name, target, torn, whole};
use crate::paragraph::{COLUMNS, counted, paragraph, width};
use crate::report::{Mode, Report, text};
use crate::session::Found;

/// The text for these facts without colour. Every line fits.
pub(super) fn shown(
    mode: Mode,
    facts: &PartitionFacts,
    disposition: Disposition,
    actions: &[Action],
) -> String {
    let (target, found) = (target(), found(facts, disposition, actions));
    plain(&Report { mode, target: &target, replicas: 1, found: &found })
}

fn plain(report: &Report<'_>) -> String {
    let text = anstream::adapter::strip_str(&text(report)).to_string();
    for line in text.lines() {
        assert!(width(line) <= COLUMNS, "{line}");
        assert!(line.trim_end() == line, "{line:?}");
    }
    text
}

#[test]
fn a_whole_partition_is_told_in_a_few_lines() {
    let mut facts = facts(vec![whole(0, 4), whole(40, 1)]);
    facts.listing.others = vec![
        OtherEntry { name: name("offsets"), kind: EntryKind::Directory },
        OtherEntry { name: name("purge.gen"), kind: EntryKind::File },
    ];
    assert_eq!(
        shown(Mode::Check, &facts, Disposition::Serve, &[Action::Keep; 2]),
        "\
partition 1/2/3 in data/streams/1/topics/2/partitions/3
serve: 50 messages proven in 2 segments, next offset 50, nothing to repair

  00000000000000000000  whole  4000 bytes, 40 messages, offsets 0 to 39
  00000000000000000040  whole  1000 bytes, 10 messages, offsets 40 to 49

left alone: offsets/, purge.gen

4000 bytes read and 3500 hashed, through the page cache; nothing was changed
"
    );
}

#[test]
fn a_long_run_of_whole_segments_shows_its_ends() {
    let facts = facts((0..10).map(|number| whole(number * 40, 4)).collect());
    assert_eq!(
        shown(Mode::Check, &facts, Disposition::Serve, &[Action::Keep; 10]),
        "\
partition 1/2/3 in data/streams/1/topics/2/partitions/3
serve: 400 messages proven in 10 segments, next offset 400, nothing to repair

  00000000000000000000  whole  4000 bytes, 40 messages, offsets 0 to 39
  8 more whole segments
  00000000000000000360  whole  4000 bytes, 40 messages, offsets 360 to 399

4000 bytes read and 3500 hashed, through the page cache; nothing was changed
"
    );
}

#[test]
fn a_torn_tail_is_told_in_full() {
    let facts = facts(vec![whole(0, 4), torn(40, 2, Residue::Noise, 77)]);
    assert_eq!(
        shown(Mode::Check, &facts, Disposition::Serve, &[Action::Keep, cut(2000, 77)]),
        "\
partition 1/2/3 in data/streams/1/topics/2/partitions/3
serve: 60 messages proven in 2 segments, next offset 60, a repair is due

  00000000000000000000  whole  4000 bytes, 40 messages, offsets 0 to 39

  00000000000000000040  torn  2077 bytes, 2000 of them proven
    proven   2 batches, 20 messages, offsets 40 to 59
    stop     short at byte 2000: 1000 bytes are needed and 77 are left
    residue  77 bytes in which no batch verifies
    evidence unknown: no record says what was durable here
    index    good, 2 entries
    action   cut: apply would end the log at byte 2000, 77 bytes copied aside
             first
    [pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppTTT]
     p 0 to 2000  proven
     T 2000 to 2077  torn

4000 bytes read and 3500 hashed, through the page cache; nothing was changed
apply would copy 77 bytes aside, cut 1 log
hint: recover plan data/streams/1/topics/2/partitions/3 lists the steps
"
    );
}

#[test]
fn a_plan_lists_its_steps() {
    let facts = facts(vec![whole(0, 4), torn(40, 2, Residue::Noise, 77)]);
    assert_eq!(
        shown(Mode::Plan, &facts, Disposition::Serve, &[Action::Keep, cut(2000, 77)]),
        "\
partition 1/2/3 in data/streams/1/topics/2/partitions/3
serve: 60 messages proven in 2 segments, next offset 60, a repair is due

  00000000000000000000  whole  4000 bytes, 40 messages, offsets 0 to 39

  00000000000000000040  torn  2077 bytes, 2000 of them proven
    proven   2 batches, 20 messages, offsets 40 to 59
    stop     short at byte 2000: 1000 bytes are needed and 77 are left
    residue  77 bytes in which no batch verifies
    evidence unknown: no record says what was durable here
    index    good, 2 entries
    action   cut: apply would end the log at byte 2000, 77 bytes copied aside
             first
    [pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppTTT]
     p 0 to 2000  proven
     T 2000 to 2077  torn

steps
     1  identify          read 77 bytes of 00000000000000000040.log from byte
                          2000, to name their copy
     2  make-fence        look for copies of an earlier run, else make a fence
     3  save-residue      copy 77 bytes of 00000000000000000040.log from byte
                          2000 into the fence
     4  write-reason      write into the fence's REASON.toml what each copy is
     5  sync-fence        make the names in the fence durable
     6  cut-log           cut 00000000000000000040.log from 2077 to 2000 bytes

4000 bytes read and 3500 hashed, through the page cache; nothing was changed
hint: recover apply data/streams/1/topics/2/partitions/3 takes these steps
"
    );
}

#[test]
fn after_apply_the_text_says_what_was_done() {
    let facts = facts(vec![whole(0, 4), torn(40, 2, Residue::Noise, 77), torn(60, 0, Residue::Zeros, 512)]);
    let actions = [Action::Keep, cut(2000, 77), cut(0, 0)];
    let mut found = found(&facts, Disposition::Serve, &actions);
    found.fenced = Some(vec![FencedFile { fence: name("3.fenced.0"), file: name("a.log.1-2.3") }]);
    let target = target();
    assert_eq!(
        plain(&Report { mode: Mode::Apply, target: &target, replicas: 1, found: &found }),
        "\
partition 1/2/3 in data/streams/1/topics/2/partitions/3
serve: 60 messages proven in 3 segments, next offset 60, repaired

  00000000000000000000  whole  4000 bytes, 40 messages, offsets 0 to 39

  00000000000000000040  torn  2077 bytes, 2000 of them proven
    proven   2 batches, 20 messages, offsets 40 to 59
    stop     short at byte 2000: 1000 bytes are needed and 77 are left
    residue  77 bytes in which no batch verifies
    evidence unknown: no record says what was durable here
    index    good, 2 entries
    action   cut: the log ends at byte 2000 now, 77 bytes copied aside first
    [pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppFFF]
     p 0 to 2000  proven
     F 2000 to 2077  fenced

  00000000000000000060  torn  512 bytes, 0 of them proven
    proven   0 batches, no message
    stop     short at byte 0: 1000 bytes are needed and 512 are left
    residue  512 bytes, all zero
    evidence unknown: no record says what was durable here
    index    good, 0 entries
    action   cut: the log ends at byte 0 now; zeros are not copied aside
    [ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ]
     Z 0 to 512  zeros

4000 bytes read and 3500 hashed, the page cache dropped first; copied 77 bytes
aside, cut 2 logs
fenced: 3.fenced.0/a.log.1-2.3
"
    );
}

#[test]
fn an_apply_that_failed_says_at_which_step_and_claims_no_action() {
    let facts = facts(vec![torn(40, 2, Residue::Noise, 77)]);
    let error = StorageError { call: Call::SetLength, file: name("a.log"), errno: Errno::IO };
    let unavailable = Disposition::Unavailable(Unavailable::Io(error));
    let mut found = found(&facts, unavailable, &[Action::Keep]);
    found.failed = Some(Step::CutLog {
        segment: SegmentStart::new(40),
        from: Length::new(2077),
        to: Position::new(2000),
    });
    let target = target();
    assert_eq!(
        plain(&Report { mode: Mode::Apply, target: &target, replicas: 1, found: &found }),
        "\
partition 1/2/3 in data/streams/1/topics/2/partitions/3
unavailable (io): set-length of a.log failed with EIO

  00000000000000000040  damaged  2077 bytes, 2000 of them proven
    proven   2 batches, 20 messages, offsets 40 to 59
    stop     short at byte 2000: 1000 bytes are needed and 77 are left
    residue  77 bytes in which no batch verifies
    evidence unknown: no record says what was durable here
    index    good, 2 entries
    [pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppTTT]
     p 0 to 2000  proven
     T 2000 to 2077  torn

4000 bytes read and 3500 hashed, the page cache dropped first; the repair did
not come to its end
stopped at: cut-log (cut 00000000000000000040.log from 2077 to 2000 bytes); the
            steps before it were taken
hint: once the error clears, apply again: it finds what is done and does the
      rest
"
    );
}

#[test]
fn a_refusal_says_what_was_found_and_promises_nothing() {
    let mut damaged = torn(0, 1, Residue::Survivor, 5000);
    damaged.residue.survivors = vec![find(4000, 40, 3)];
    damaged.residue.survivor_count = 1;
    damaged.residue.runs = vec![Run {
        position: Position::new(4000),
        length: Length::new(1000),
        first: Offset::new(40),
        next: Offset::new(43),
        chain_hash: None,
    }];
    damaged.residue.strays = vec![find(1500, 7, 9)];
    damaged.residue.stray_count = 1;
    let facts = facts(vec![damaged]);
    let reason = Reason::InteriorDamage {
        segment: SegmentStart::new(0),
        position: Position::new(1000),
        stop: Stop::Short,
        survivor_position: Position::new(4000),
        survivor_offset: Offset::new(40),
        survivors: 1,
    };
    assert_eq!(
        shown(Mode::Plan, &facts, Disposition::Refuse(reason), &[Action::Keep]),
        "\
partition 1/2/3 in data/streams/1/topics/2/partitions/3
refuse (interior-damage): segment 0 is damaged at byte 1000 (short), and a whole
batch of this partition with base offset 40 follows at byte 4000 (1 such in all)

  00000000000000000000  damaged  6000 bytes, 1000 of them proven
    proven   1 batch, 10 messages, offsets 0 to 9
    stop     short at byte 1000: 1000 bytes are needed and 5000 are left
    residue  5000 bytes with 1 whole batch that would continue this partition,
             the first at byte 4000 with base offset 40 of partition 3; also 1
             stray
    evidence unknown: no record says what was durable here
    index    good, 1 entry
    action   keep: not touched
    [ppppppppppppTTTTTTXXXXXXXXXXXXTTTTTTTTTTTTTTTTTTSSSSSSSSSSSSTTTTTTTTTTTT]
     p 0 to 1000  proven
     T 1000 to 1500  torn
     X 1500 to 2500  stray
     T 2500 to 4000  torn
     S 4000 to 5000  survivor
     T 5000 to 6000  torn

lost: offsets 10 to 39

4000 bytes read and 3500 hashed, through the page cache; nothing was changed
hint: if they are nowhere else, recover accept-loss
      data/streams/1/topics/2/partitions/3 --range 10-39 gives them up and
      serves the rest
"
    );
}

#[test]
fn an_index_that_is_not_good_is_told_of_what_is_not_served_too() {
    let mut segment = whole(0, 1);
    segment.index.state = IndexState::Absent;
    segment.index.length = None;
    let facts = facts(vec![segment, whole(12, 1)]);
    let reason = Reason::Hole {
        segment: SegmentStart::new(0),
        next_segment: SegmentStart::new(12),
        first_missing_offset: Offset::new(10),
        last_missing_offset: Offset::new(11),
    };
    let text = shown(Mode::Check, &facts, Disposition::Refuse(reason), &[Action::Keep; 2]);
    let blocks: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(
        blocks[1..3].join("\n\n"),
        "  \
  00000000000000000000  index  1000 bytes, all proven
    proven   1 batch, 10 messages, offsets 0 to 9
    stop     end at byte 1000: the file ends behind a whole batch
    evidence unknown: no record says what was durable here
    index    absent
    action   keep: not touched

  00000000000000000012  whole  1000 bytes, 10 messages, offsets 12 to 21"
    );
}

#[test]
fn a_gap_and_an_index_to_rebuild_are_a_repair() {
    let mut segment = whole(0, 1);
    segment.index.state = IndexState::PartialTail;
    segment.index.length = Some(Length::new(29));
    let facts = facts(vec![segment]);
    let gap = Disposition::ServeFrom { first: Offset::new(10), last: Offset::new(1143) };
    assert_eq!(
        shown(Mode::Check, &facts, gap, &[Action::RebuildIndex]),
        "\
partition 1/2/3 in data/streams/1/topics/2/partitions/3
serve-from: 10 messages proven in 1 segment, next offset 1144, a repair is due;
offsets 10 to 1143 are a gap, which no message fills

  00000000000000000000  index  1000 bytes, all proven
    proven   1 batch, 10 messages, offsets 0 to 9
    stop     end at byte 1000: the file ends behind a whole batch
    evidence unknown: no record says what was durable here
    index    partial tail: 1 entry, then 5 bytes that are none
    action   rebuild-index: apply would write it anew

4000 bytes read and 3500 hashed, through the page cache; nothing was changed
apply would write 1 index anew
hint: recover plan data/streams/1/topics/2/partitions/3 lists the steps
"
    );
}

#[test]
fn what_lies_in_the_directory_is_listed_by_kind() {
    let mut facts = facts(Vec::new());
    facts.listing.unexpected = vec![
        OtherEntry { name: name("5.log"), kind: EntryKind::File },
        OtherEntry { name: name("00000000000000000007.log"), kind: EntryKind::Other },
    ];
    facts.listing.scratch = (0..12).map(|number| name(&format!("{number:020}.index"))).collect();
    facts.expired = vec![SegmentStart::new(3)];
    let reason =
        Reason::UnexpectedFile { file: name("00000000000000000007.log"), kind: EntryKind::Other, files: 2 };
    assert_eq!(
        shown(Mode::Check, &facts, Disposition::Refuse(reason), &[]),
        "\
partition 1/2/3 in data/streams/1/topics/2/partitions/3
refuse (unexpected-file): the entry 00000000000000000007.log has the name of a
file of the log and is a link, a pipe or a device, which is not followed (2 such
in all)

unexpected: 5.log, 00000000000000000007.log (no regular file)
scratch: 00000000000000000000.index, 00000000000000000001.index,
         00000000000000000002.index, 00000000000000000003.index,
         00000000000000000004.index, 00000000000000000005.index,
         00000000000000000006.index, 00000000000000000007.index and 4 more
expired: 00000000000000000003

4000 bytes read and 3500 hashed, through the page cache; nothing was changed
hint: move the entry out of the directory if it does not belong to the log
"
    );
}

#[test]
fn a_ledger_that_is_not_whole_has_a_line() {
    let line = |ledger| {
        let mut facts = facts(Vec::new());
        facts.ledger = ledger;
        let text = shown(Mode::Check, &facts, Disposition::Serve, &[]);
        text.lines().filter(|line| line.starts_with("ledger: ")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(line(LedgerState::None { length: None }), "");
    assert_eq!(line(ledger(3, 0)), "");
    assert_eq!(
        line(ledger(3, 1)),
        "ledger: 1 of 4 records do not count: damaged, or of another life or place"
    );
    assert_eq!(
        line(LedgerState::None { length: Some(Length::new(512)) }),
        "ledger: 512 bytes and not one record among them, so it counts as none"
    );
}

#[test]
fn nothing_that_could_not_be_read_is_told() {
    let mut target = target();
    target.overruled = Some(Namespace { stream: 9, topic: 9, partition: 9 });
    let cause = |cause| {
        let found = Found::unavailable(&cause);
        plain(&Report { mode: Mode::Check, target: &target, replicas: 1, found: &found })
    };
    assert_eq!(
        cause(Unavailable::Locked),
        "\
partition 1/2/3 in data/streams/1/topics/2/partitions/3
unavailable (locked): the directory 3 is locked by another process
hint: the path spells partition 9/9/9, and --namespace overrules it
hint: a server or another recover has the partition open; stop it first
"
    );
    let error = StorageError { call: Call::Read, file: name("00000000000000000000.log"), errno: Errno::IO };
    assert_eq!(
        cause(Unavailable::Io(error)),
        "\
partition 1/2/3 in data/streams/1/topics/2/partitions/3
unavailable (io): read of 00000000000000000000.log failed with EIO
hint: the path spells partition 9/9/9, and --namespace overrules it
hint: an error says nothing about the bytes; once it clears, run the command
      again
"
    );
}

#[test]
fn words_are_counted_and_broken_at_eighty_columns() {
    assert_eq!(counted(1, "entry"), "1 entry");
    assert_eq!(counted(0, "entry"), "0 entries");
    assert_eq!(counted(2, "whole batch"), "2 whole batches");
    assert_eq!(counted(2, "index"), "2 indexes");
    assert_eq!(counted(2, "byte"), "2 bytes");
    let word = "x".repeat(37);
    assert_eq!(
        paragraph("lead: ", &format!("{word} {word} {word}")),
        format!("lead: {word}\n      {word}\n      {word}\n")
    );
    let exact = "y".repeat(36);
    assert_eq!(paragraph("lead: ", &format!("{word} {exact}")), format!("lead: {word} {exact}\n"));
    assert_eq!(width("\u{1b}[1m\u{1b}[31mred\u{1b}[0m"), 3);
}
