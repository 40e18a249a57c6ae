//! The ledgers of the harness on small histories.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use recovery_core::storage::Name;
use recovery_core::units::{Durability, Incarnation, Length, Namespace, Offset, Position, SegmentStart};

use super::{
    DurableMark, FaultHit, FaultId, FileTruth, Obligation, PartitionTruth, Provenance, Source, Standing,
    Submission, SubmissionId,
};
use crate::schedule::{BatchId, FaultKind, Restart};

const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
const FIRST: SegmentStart = SegmentStart::new(0);

fn batch(id: u32) -> Source {
    Source::Batch { submission: SubmissionId(id), from: 0 }
}

/// The runs of a file as text.
fn render(file: &FileTruth) -> String {
    let runs: Vec<String> = file
        .runs()
        .iter()
        .map(|run| {
            let source = match run.source {
                Source::Batch { submission, from } => format!("b{}+{from}", submission.0),
                Source::Zeros => "zeros".to_owned(),
                Source::Stranger => "stranger".to_owned(),
            };
            let standing = match run.standing {
                Standing::Cached => "cached",
                Standing::Durable => "durable",
                Standing::Uncertain => "uncertain",
            };
            let fault = run.fault.map_or(String::new(), |fault| format!(" fault {}", fault.0));
            format!("{}..{} {source} {standing}{fault}", run.range.start, run.range.end)
        })
        .collect();
    runs.join("; ")
}

#[track_caller]
fn check(change: impl FnOnce(&mut FileTruth), expected: &str) {
    let mut file = FileTruth::default();
    file.write(0..400, batch(0));
    file.sync();
    file.write(400..700, batch(1));
    assert_eq!(render(&file), "0..400 b0+0 durable; 400..700 b1+0 cached");
    change(&mut file);
    assert_eq!(render(&file), expected);
}

#[test]
fn a_sync_makes_durable_what_is_cached_and_a_crash_makes_it_uncertain() {
    check(FileTruth::sync, "0..400 b0+0 durable; 400..700 b1+0 durable");
    check(FileTruth::crash, "0..400 b0+0 durable; 400..700 b1+0 uncertain");
    check(
        |file| {
            file.crash();
            file.sync();
        },
        "0..400 b0+0 durable; 400..700 b1+0 uncertain",
    );
}

#[test]
fn a_write_replaces_what_it_covers_and_nothing_else() {
    check(
        |file| file.write(300..500, batch(2)),
        "0..300 b0+0 durable; 300..500 b2+0 cached; 500..700 b1+100 cached",
    );
    check(|file| file.write(0..900, batch(2)), "0..900 b2+0 cached");
    check(
        |file| file.write(800..900, batch(2)),
        "0..400 b0+0 durable; 400..700 b1+0 cached; 700..800 zeros cached; 800..900 b2+0 cached",
    );
}

#[test]
fn writes_that_continue_a_batch_are_one_run() {
    check(
        |file| {
            file.write(700..800, Source::Batch { submission: SubmissionId(1), from: 300 });
            file.sync();
        },
        "0..400 b0+0 durable; 400..800 b1+0 durable",
    );
}

#[test]
fn another_length_cuts_or_adds_zeros() {
    check(|file| file.set_length(500), "0..400 b0+0 durable; 400..500 b1+0 cached");
    check(|file| file.set_length(0), "");
    check(|file| file.set_length(710), "0..400 b0+0 durable; 400..700 b1+0 cached; 700..710 zeros cached");
}

#[test]
fn a_fault_marks_the_bytes_it_hits_until_they_are_written_again() {
    check(
        |file| file.damage(100..101, FaultId(0)),
        "0..100 b0+0 durable; 100..101 b0+100 durable fault 0; 101..400 b0+101 durable; \
         400..700 b1+0 cached",
    );
    check(
        |file| {
            file.damage(350..9000, FaultId(3));
            file.write(400..700, batch(2));
        },
        "0..350 b0+0 durable; 350..400 b0+350 durable fault 3; 400..700 b2+0 cached",
    );
    check(|file| file.damage(700..800, FaultId(0)), "0..400 b0+0 durable; 400..700 b1+0 cached");
}

#[test]
fn what_recovery_read_from_the_medium_stays() {
    check(
        |file| {
            file.crash();
            file.adopt(600);
        },
        "0..400 b0+0 durable; 400..600 b1+0 durable; 600..700 b1+200 uncertain",
    );
}

fn submission(id: u32, base_offset: u64, messages: u32) -> Submission {
    Submission {
        batch: BatchId(id),
        base_offset: Offset::new(base_offset),
        messages,
        length: Length::new(100),
        content: u64::from(id) + 1000,
        generation: 0,
    }
}

/// Three batches of two messages each, 100 bytes each, written one behind the other.
fn written(provenance: &mut Provenance) -> &mut PartitionTruth {
    let partition = provenance.begin(NAMESPACE, Incarnation::new(1));
    for id in 0..3 {
        let submitted = partition.submit(submission(id, u64::from(id) * 2, 2));
        partition.write(FIRST, Position::new(u64::from(id) * 100), submitted, 0..100);
    }
    partition
}

fn mark(position: u64, next_offset: u64) -> DurableMark {
    let (position, next_offset) = (Position::new(position), Offset::new(next_offset));
    DurableMark { segment: FIRST, position, next_offset }
}

fn hit(range: std::ops::Range<u64>) -> FaultHit {
    FaultHit {
        kind: FaultKind::BitFlip,
        step: 4,
        namespace: Some(NAMESPACE),
        file: Name::new(b"00000000000000000000.log"),
        range: Some(range),
    }
}

#[track_caller]
fn check_owed(partition: &PartitionTruth, expected: &[&str]) {
    let owed: Vec<String> = partition
        .owed()
        .iter()
        .map(|owed| {
            let (range, obligation) = (&owed.range, owed.obligation.code());
            format!("{}..{} {}..{} {obligation}", range.start, range.end, owed.first_offset, owed.next_offset)
        })
        .collect();
    assert_eq!(owed, expected);
}

#[test]
fn what_is_promised_must_be_kept_and_the_rest_may_be_lost() {
    let mut provenance = Provenance::default();
    let partition = written(&mut provenance);
    partition.acknowledge(Offset::new(6), Durability::Buffered);
    check_owed(partition, &["0..100 0..2 may-lose", "100..200 2..4 may-lose", "200..300 4..6 may-lose"]);
    partition.mark(mark(100, 2));
    check_owed(partition, &["0..100 0..2 must-keep", "100..200 2..4 may-lose", "200..300 4..6 may-lose"]);
    partition.acknowledge(Offset::new(4), Durability::Synced);
    check_owed(partition, &["0..100 0..2 must-keep", "100..200 2..4 must-keep", "200..300 4..6 may-lose"]);
}

#[test]
fn damage_below_a_mark_must_be_refused_and_above_it_must_not_be_served() {
    let mut provenance = Provenance::default();
    written(&mut provenance).mark(mark(200, 4));
    provenance.note_fault(hit(150..151));
    provenance.note_fault(hit(299..300));
    let partition = provenance.partition(NAMESPACE).unwrap();
    check_owed(
        partition,
        &["0..100 0..2 must-keep", "100..200 2..4 must-refuse", "200..300 4..6 must-not-serve"],
    );
    assert_eq!(provenance.faults().len(), 2);
}

#[test]
fn a_mark_covers_every_older_segment_whole() {
    let mut provenance = Provenance::default();
    let partition = written(&mut provenance);
    let next = SegmentStart::new(6);
    partition.mark(DurableMark { segment: next, position: Position::ZERO, next_offset: Offset::new(6) });
    provenance.note_fault(hit(0..300));
    let owed = provenance.partition(NAMESPACE).unwrap().owed();
    assert!(owed.iter().all(|owed| owed.obligation == Obligation::MustRefuse));
}

#[test]
fn what_must_be_served_depends_on_what_went_down() {
    let mut provenance = Provenance::default();
    let partition = written(&mut provenance);
    partition.acknowledge(Offset::new(2), Durability::Synced);
    partition.acknowledge(Offset::new(6), Durability::Buffered);
    let range = |end| Offset::ZERO..Offset::new(end);
    assert_eq!(partition.must_serve(Restart::Process), range(6));
    assert_eq!(partition.must_serve(Restart::Os), range(2));
    assert_eq!(partition.must_serve(Restart::Power), range(2));
    partition.raise_floor(Offset::new(4));
    assert_eq!(partition.must_serve(Restart::Process), Offset::new(4)..Offset::new(6));
    assert_eq!(partition.must_serve(Restart::Power), Offset::new(4)..Offset::new(4));
}

#[test]
fn a_crash_leaves_logs_uncertain_unless_only_the_process_died() {
    let mut provenance = Provenance::default();
    let partition = written(&mut provenance);
    let text = |partition: &PartitionTruth| render(partition.log(FIRST).unwrap());
    let cached = "0..100 b0+0 cached; 100..200 b1+0 cached; 200..300 b2+0 cached";
    partition.crash(Restart::Process);
    assert_eq!(text(partition), cached);
    partition.crash(Restart::Power);
    assert_eq!(text(partition), cached.replace("cached", "uncertain"));
    partition.adopt(FIRST, Position::new(200));
    assert_eq!(text(partition), "0..100 b0+0 durable; 100..200 b1+0 durable");
    assert_eq!(partition.generation(), 1);
    partition.adopt(FIRST, Position::new(200));
    assert_eq!(partition.generation(), 1);
}

#[test]
fn a_promised_offset_has_one_holder_for_good() {
    let mut provenance = Provenance::default();
    let partition = written(&mut provenance);
    partition.acknowledge(Offset::new(4), Durability::Proven);
    partition.serve_to(Offset::new(2));
    let holder = |partition: &PartitionTruth, offset| {
        partition.promised_holder(Offset::new(offset)).map(|submission| submission.batch.0)
    };
    assert_eq!(
        [0, 1, 2, 3, 4].map(|offset| holder(partition, offset)),
        [Some(0), Some(0), Some(1), Some(1), None]
    );
    assert_eq!(partition.acknowledged(), Offset::new(4));
}

#[test]
fn only_what_was_submitted_at_an_offset_may_be_served_there() {
    let mut provenance = Provenance::default();
    let partition = written(&mut provenance);
    assert!(partition.was_submitted(Offset::new(2), 1001));
    assert!(!partition.was_submitted(Offset::new(2), 1000));
    assert!(!partition.was_submitted(Offset::new(3), 1001));
}

#[test]
fn the_newest_life_of_a_name_is_the_one_that_counts() {
    let mut provenance = Provenance::default();
    written(&mut provenance).mark(mark(300, 6));
    let reborn = provenance.begin(NAMESPACE, Incarnation::new(2));
    assert_eq!(reborn.promised(), Offset::ZERO);
    assert_eq!(provenance.partition(NAMESPACE).unwrap().incarnation(), Incarnation::new(2));
    assert_eq!(provenance.partitions().len(), 2);
    provenance.reset();
    assert!(provenance.partition(NAMESPACE).is_none());
}
