//! Renders each reason: its code, a sentence, its fields.
//!
//! Findings about words: F10, F31, F84.

use std::collections::BTreeMap;
use std::fmt::Write;

use recovery_core::decide::{FieldValue, FoundIdentity, Reason, ReasonCode, Witness};
use recovery_core::format::{BATCH_BYTES_MAX, SuperblockSlot};
use recovery_core::observe::Stop;
use recovery_core::storage::{EntryKind, Name};
use recovery_core::units::{Incarnation, Length, Namespace, Offset, PartitionId, Position, SegmentStart};

const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
const SEGMENT: SegmentStart = SegmentStart::new(50);
const NEXT_SEGMENT: SegmentStart = SegmentStart::new(90);
const POSITION: Position = Position::new(4096);

/// At least one example of each reason, and one of each of its sentences.
fn examples() -> Vec<Reason> {
    [losses(), misplaced(), chain(), directory()].concat()
}

fn losses() -> Vec<Reason> {
    let lost = |witness| Reason::LostDurable {
        segment: SEGMENT,
        proven_bytes: Length::new(4096),
        stop: Stop::BadChecksum,
        witness,
        durable_bytes: Length::new(8192),
        first_lost_offset: Offset::new(53),
        durable_next_offset: Offset::new(57),
    };
    let mut reasons = Witness::ALL.map(lost).to_vec();
    reasons.push(Reason::InteriorDamage {
        segment: SEGMENT,
        position: POSITION,
        stop: Stop::Undecodable,
        survivor_position: Position::new(8192),
        survivor_offset: Offset::new(57),
        survivors: 4,
    });
    reasons.push(Reason::UnprovenResidue {
        segment: SEGMENT,
        position: POSITION,
        residue_bytes: Length::new(65536),
        candidates: 4112,
    });
    reasons.push(Reason::EvidenceConflict {
        segment: SEGMENT,
        agrees_bytes: POSITION,
        agrees_next_offset: Offset::new(53),
        differs_bytes: Position::new(8192),
        differs_next_offset: Offset::new(57),
    });
    reasons
}

fn misplaced() -> Vec<Reason> {
    vec![
        Reason::ForeignBatch {
            segment: SEGMENT,
            position: POSITION,
            found_partition: PartitionId::new(7),
            expected_partition: NAMESPACE.partition_id(),
        },
        Reason::OffsetDiscontinuity {
            segment: SEGMENT,
            position: POSITION,
            found_offset: Offset::new(60),
            expected_offset: Offset::new(53),
        },
        Reason::OffsetOverflow {
            segment: SEGMENT,
            position: POSITION,
            base_offset: Offset::new(u64::MAX - 1),
            message_count: 2,
        },
        Reason::RecordCeiling {
            segment: SEGMENT,
            position: POSITION,
            batch_bytes: Length::new(300_000_000),
            ceiling_bytes: BATCH_BYTES_MAX,
        },
    ]
}

fn chain() -> Vec<Reason> {
    vec![
        Reason::Hole {
            segment: SEGMENT,
            next_segment: NEXT_SEGMENT,
            first_missing_offset: Offset::new(53),
            last_missing_offset: Offset::new(89),
        },
        Reason::Overlap { segment: SEGMENT, last_offset: Offset::new(94), next_segment: NEXT_SEGMENT },
        Reason::EmptyNonTailSegment {
            segment: SEGMENT,
            log_bytes: Length::new(512),
            next_segment: NEXT_SEGMENT,
        },
        Reason::MissingSegment {
            segment: SEGMENT,
            durable_bytes: Some(Length::new(8192)),
            first_present: Some(NEXT_SEGMENT),
            missing: 1,
        },
        Reason::MissingSegment {
            segment: SEGMENT,
            durable_bytes: Some(Length::new(8192)),
            first_present: None,
            missing: 2,
        },
        Reason::MissingSegment {
            segment: SEGMENT,
            durable_bytes: None,
            first_present: Some(NEXT_SEGMENT),
            missing: 1,
        },
    ]
}

fn directory() -> Vec<Reason> {
    let file = Name::new(b"50.log").expect("a name");
    let unexpected = |kind| Reason::UnexpectedFile { file, kind, files: 1 };
    let found = [
        FoundIdentity::Ledger {
            namespace: Namespace { stream: 9, ..NAMESPACE },
            incarnation: Incarnation::new(4),
            beside: None,
        },
        FoundIdentity::Ledger {
            namespace: NAMESPACE,
            incarnation: Incarnation::new(4),
            beside: Some(Incarnation::new(3)),
        },
        FoundIdentity::Superblock { slot: SuperblockSlot::A },
    ];
    let mut reasons = [EntryKind::File, EntryKind::Directory, EntryKind::Other].map(unexpected).to_vec();
    reasons.push(Reason::SuperblockUnreadable { slot: SuperblockSlot::B, length_bytes: Length::new(101) });
    reasons.extend(found.map(|found| Reason::IdentityMismatch { namespace: NAMESPACE, found }));
    reasons.push(Reason::MissingPartition { namespace: NAMESPACE });
    reasons
}

#[test]
fn the_sentences_are_as_they_were_reviewed() {
    let mut text = String::new();
    for reason in examples() {
        writeln!(text, "{}\n  {reason}", reason.code()).expect("to a string");
        for (name, value) in reason.fields() {
            match value {
                FieldValue::Number(number) => writeln!(text, "    {name} = {number}"),
                FieldValue::Text(word) => writeln!(text, "    {name} = {word:?}"),
                FieldValue::Absent => writeln!(text, "    {name} = null"),
            }
            .expect("to a string");
        }
    }
    super::check("reasons", &text);
}

#[test]
fn each_reason_has_an_example() {
    for code in ReasonCode::ALL {
        assert!(examples().iter().any(|reason| reason.reason_code() == code), "{}", code.code());
    }
}

#[test]
fn a_sentence_is_a_lower_case_clause_that_never_says_what_will_be_done() {
    let promises =
        [" will ", "cut", "remov", "delet", "truncat", "moved", "fence", "quarantine", "keep", "kept"];
    for reason in examples() {
        let sentence = reason.to_string();
        assert!(sentence.starts_with(|letter: char| letter.is_lowercase()), "{sentence}");
        assert!(!sentence.ends_with('.'), "{sentence}");
        for promise in promises {
            assert!(!sentence.contains(promise), "{promise:?} in: {sentence}");
        }
    }
}

#[test]
fn a_field_has_one_type_in_every_reason_and_no_name_that_every_reason_has() {
    let mut types: BTreeMap<&str, &str> = BTreeMap::new();
    for reason in examples() {
        for (name, value) in reason.fields() {
            assert!(!["code", "sentence"].contains(&name), "{name}");
            assert!(name.chars().all(|letter| letter == '_' || letter.is_ascii_lowercase()), "{name}");
            let kind = match value {
                FieldValue::Number(_) => "number",
                FieldValue::Text(_) => "text",
                FieldValue::Absent => continue,
            };
            assert_eq!(*types.entry(name).or_insert(kind), kind, "{name} in {}", reason.code());
        }
    }
}

/// What a machine reads and what a person reads is the same.
#[test]
fn every_number_among_the_fields_stands_in_the_sentence() {
    for reason in examples() {
        let sentence = reason.to_string();
        for (name, value) in reason.fields() {
            if let FieldValue::Number(number) = value {
                assert!(sentence.contains(&number.to_string()), "{name} is not in: {sentence}");
            }
        }
    }
}
