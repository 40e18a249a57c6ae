//! Each fact of a segment as a sentence.

use recovery_core::decide::{Action, Disposition, Reason};
use recovery_core::format::{Checksum, HeaderDamage};
use recovery_core::observe::{
    BadChecksum, Evidence, IndexState, Residue, SegmentFacts, StopDetail, Undecodable,
};
use recovery_core::storage::Errno;
use recovery_core::units::{Length, Offset, PartitionId, Position};

use super::sample::{facts, find, mark, torn};
use super::text::shown;
use crate::report::Mode;

/// The lines of a damaged segment that start with `word`.
fn line_of(segment: SegmentFacts, word: &str) -> String {
    let facts = facts(vec![segment]);
    let reason = Reason::MissingPartition { namespace: facts.namespace };
    let text = shown(Mode::Check, &facts, Disposition::Refuse(reason), &[Action::Keep]);
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.trim_start().starts_with(word)).collect();
    let more = lines.iter().skip(1).take_while(|line| line.starts_with("             ")).count();
    lines[..=more].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_stop_is_a_sentence() {
    let stop = |stop| {
        let mut segment = torn(40, 1, Residue::Noise, 77);
        segment.stop = stop;
        line_of(segment, "stop")
    };
    let checksum = Checksum::new(0xab);
    assert_eq!(
        stop(StopDetail::Undecodable(Undecodable::Header(HeaderDamage::Length { claimed: 7 }))),
        "stop     undecodable at byte 1000: the header claims a batch of 7 bytes, and a header alone takes 256"
    );
    assert_eq!(
        stop(StopDetail::Undecodable(Undecodable::Count { claimed: 7 })),
        "stop     undecodable at byte 1000: the header counts 7 messages, which do not fit its length"
    );
    assert_eq!(
        stop(StopDetail::Undecodable(Undecodable::Frame { index: 7 })),
        "stop     undecodable at byte 1000: frame 7 does not fit its batch, or its reserved field is not zero"
    );
    assert_eq!(
        stop(StopDetail::Undecodable(Undecodable::Tiling { claimed: 7, found: 6 })),
        "stop     undecodable at byte 1000: the header counts 7 messages, and its frames do not fill the batch (6 fit)"
    );
    let message = BadChecksum::Message { index: 2, stored: checksum, actual: Checksum::new(1) };
    assert_eq!(
        stop(StopDetail::BadChecksum(message)),
        "stop     bad-checksum at byte 1000: message 2 hashes to 0000000000000001, and 00000000000000ab is stored"
    );
    let batch = BadChecksum::Batch { stored: checksum, actual: Checksum::new(1) };
    assert_eq!(
        stop(StopDetail::BadChecksum(batch)),
        "stop     bad-checksum at byte 1000: the batch hashes to 0000000000000001, and 00000000000000ab is stored"
    );
    assert_eq!(
        stop(StopDetail::Overrun { sealed: Length::new(1000) }),
        "stop     overrun at byte 1000: the segment was sealed at 1000 bytes"
    );
    assert_eq!(
        stop(StopDetail::Foreign { found: PartitionId::new(9) }),
        "stop     foreign at byte 1000: a whole batch of partition 9"
    );
    assert_eq!(
        stop(StopDetail::Gap { found: Offset::new(60) }),
        "stop     gap at byte 1000: a whole batch with base offset 60, and 50 would continue the chain"
    );
    assert_eq!(
        stop(StopDetail::Regression { found: Offset::new(40) }),
        "stop     regression at byte 1000: a whole batch with base offset 40, and 50 would continue the chain"
    );
    assert_eq!(
        stop(StopDetail::Overflow { base_offset: Offset::new(50), message_count: 3 }),
        "stop     overflow at byte 1000: a whole batch of 3 messages from offset 50 leaves no next offset"
    );
    assert_eq!(
        stop(StopDetail::Oversize { batch_length: Length::new(300_000_000) }),
        "stop     oversize at byte 1000: a whole batch of 300000000 bytes is above the ceiling"
    );
    assert_eq!(
        stop(StopDetail::Conflict { agrees: None, differs: mark(40, 2000, 60) }),
        "stop     conflict at byte 1000: the ledger's mark at byte 2000 differs; the last that agrees is at byte 0"
    );
    let position = Position::new(1000);
    assert_eq!(
        stop(StopDetail::Unreadable { errno: Errno::IO, position }),
        "stop     unreadable at byte 1000: reading at byte 1000 gave EIO twice"
    );
    assert_eq!(
        stop(StopDetail::Unreadable { errno: Errno::STALE, position }),
        "stop     unreadable at byte 1000: two reads at byte 1000 differ"
    );
}

#[test]
fn every_residue_is_a_sentence() {
    let residue = |kind| {
        let mut segment = torn(40, 1, kind, 2077);
        segment.residue.candidates = 3;
        segment.residue.strays = vec![find(1500, 7, 9)];
        segment.residue.stray_count = 2;
        segment.residue.survivors = vec![find(1500, 60, 3)];
        segment.residue.survivor_count = 1;
        line_of(segment, "residue")
    };
    assert_eq!(residue(Residue::Zeros), "residue  2077 bytes, all zero; also 2 strays");
    assert_eq!(residue(Residue::Noise), "residue  2077 bytes in which no batch verifies; also 2 strays");
    assert_eq!(
        residue(Residue::Survivor),
        "residue  2077 bytes with 1 whole batch that would continue this partition, the first at byte 1500 with base offset 60 of partition 3; also 2 strays"
    );
    assert_eq!(
        residue(Residue::Stray),
        "residue  2077 bytes with 2 whole batches that do not continue this partition, the first at byte 1500 with base offset 7 of partition 9"
    );
    assert_eq!(
        residue(Residue::Unproven),
        "residue  2077 bytes, not all judged within the budget (3 candidates looked at); also 2 strays"
    );
}

#[test]
fn every_relation_is_a_sentence() {
    let evidence = |evidence| {
        let mut segment = torn(40, 1, Residue::Noise, 77);
        segment.evidence = evidence;
        segment.mark = (evidence != Evidence::Unknown).then(|| mark(40, 1000, 50));
        line_of(segment, "evidence")
    };
    assert_eq!(evidence(Evidence::Unknown), "evidence unknown: no record says what was durable here");
    assert_eq!(
        evidence(Evidence::Below),
        "evidence below: bytes behind the stop were made durable; durable up to byte 1000, offset 50 exclusive"
    );
    assert_eq!(
        evidence(Evidence::AtOrAbove),
        "evidence at or above: nothing behind the stop is known to have been durable; durable up to byte 1000, offset 50 exclusive"
    );
}

#[test]
fn every_index_is_a_sentence() {
    let index = |state, length| {
        let mut segment = torn(40, 1, Residue::Noise, 77);
        segment.index.state = state;
        segment.index.length = length;
        line_of(segment, "index")
    };
    assert_eq!(index(IndexState::Good, Some(Length::new(24))), "index    good, 1 entry");
    assert_eq!(index(IndexState::Absent, None), "index    absent");
    assert_eq!(
        index(IndexState::Absent, Some(Length::ZERO)),
        "index    absent: the file has 0 bytes and no entry"
    );
    assert_eq!(
        index(IndexState::PartialTail, Some(Length::new(25))),
        "index    partial tail: 1 entry, then 1 byte that is none"
    );
    assert_eq!(
        index(IndexState::Wrong, Some(Length::new(24))),
        "index    wrong: of 1 entry, not all name a proven batch in order"
    );
}
