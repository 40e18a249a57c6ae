//! The oracle judged: for each check a history with a violation made by hand, and the same made right.
//!
//! Promises: the check fires on the first, by its own name, and says nothing of the second. Leaves out: the
//! many ways in which each can be violated, which the tests beside the checks go through.

use recovery_core::decide::{Action, Disposition, SegmentVerdict, Verdict};
use recovery_core::format::{BatchBuilder, IndexEntry, Message, stamp};
use recovery_core::observe::Expectation;
use recovery_core::storage::Name;
use recovery_core::units::{Length, Namespace, Offset, PartitionId, Position, SegmentStart};
use xxhash_rust::xxh3::xxh3_64;

use super::Part;
use crate::oracle::invariants::{
    Cursor, SecondRun, check_lengths, check_nonzero_bytes, check_recover_twice, check_refused_untouched,
    check_verified_bytes,
};
use crate::oracle::reference::{agrees, recover};
use crate::oracle::{Check, Content, Fence, FileImage, Image, ImageEntry, PartitionImage, Violation};

const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
const LOG: &str = "00000000000000000000.log";
const INDEX: &str = "00000000000000000000.index";

/// The parts of the self-check that judge the oracle.
pub(super) const PARTS: [Part; 6] = [
    Part { name: "I01", claim: "a verified batch that is cut and not kept is seen", run: verified_bytes },
    Part { name: "I02", claim: "a non-zero byte that is cut and not kept is seen", run: nonzero_bytes },
    Part { name: "I04", claim: "a refused partition that changes is seen", run: refused_untouched },
    Part { name: "I09", claim: "a second recovery that does something is seen", run: recover_twice },
    Part { name: "I12", claim: "a log that is longer than its verdict is seen", run: lengths },
    Part { name: "reference", claim: "a verdict that the rules do not give is seen", run: reference },
];

/// Holds a check to one history that violates it and one that does not.
fn judge(
    check: Check,
    wrong: impl IntoIterator<Item = Violation>,
    right: impl IntoIterator<Item = Violation>,
) -> Result<String, String> {
    if let Some(violation) = right.into_iter().next() {
        return Err(format!("nothing is wrong, and it says: {violation}"));
    }
    match wrong.into_iter().next() {
        Some(violation) if violation.check == check => Ok(violation.to_string()),
        Some(violation) => Err(format!("another check fires: {violation}")),
        None => Err("a violation was made by hand, and it says nothing".to_owned()),
    }
}

fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).expect("a short word is a name")
}

fn file(text: &str, bytes: &[u8]) -> ImageEntry {
    ImageEntry { name: name(text), content: Content::File(FileImage::readable(bytes.to_vec())) }
}

/// A batch of one message of 52 bytes.
fn batch(offset: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut builder = BatchBuilder::begin(&mut bytes, 900);
    let message = Message { id: 1, timestamp_delta: 0, payload: &[b'x'; 52], user_headers: &[] };
    builder.push(&message).expect("one message fits");
    builder.finish();
    stamp(&mut bytes, PartitionId::new(3), Offset::new(offset), 1_000).expect("it is whole");
    bytes
}

fn index() -> Vec<u8> {
    let length = batch(0).len() as u64;
    let entry = |offset| IndexEntry {
        offset: Offset::new(offset),
        timestamp: 1_000,
        position: Position::new(offset * length),
    };
    [entry(0).encode(), entry(1).encode()].concat()
}

/// Two whole batches, 40 bytes of noise, and the batch that would follow.
fn damaged_log() -> Vec<u8> {
    [&batch(0)[..], &batch(1), &[7; 40], &batch(2)].concat()
}

/// Where the damage begins.
fn proven() -> usize {
    2 * batch(0).len()
}

fn partition(log: &[u8]) -> PartitionImage {
    let entries = vec![file(LOG, log), file(INDEX, &index())];
    PartitionImage { directory: Image { entries, is_listable: true }, fences: Vec::new() }
}

fn damaged() -> PartitionImage {
    partition(&damaged_log())
}

/// Cut where the damage begins, with `kept` in a fence as it lay there.
fn cut(kept: &[u8]) -> PartitionImage {
    let copy = format!("{LOG}.{}-{}.{:016x}", proven(), kept.len(), xxh3_64(kept));
    let image = Image { entries: vec![file(&copy, kept)], is_listable: true };
    PartitionImage {
        fences: vec![Fence { name: name("3.fenced.0"), image }],
        ..partition(&damaged_log()[..proven()])
    }
}

fn verdict(next: u64, action: Action) -> Verdict {
    Verdict {
        disposition: Disposition::Serve,
        next_offset: Some(Offset::new(next)),
        reserve: None,
        segments: vec![SegmentVerdict { start: SegmentStart::new(0), action }],
    }
}

fn verified_bytes() -> Result<String, String> {
    let rest = &damaged_log()[proven()..];
    let (wrong, right) = (cut(&rest[..40]), cut(rest));
    judge(Check::I01, check_verified_bytes(&damaged(), &wrong), check_verified_bytes(&damaged(), &right))
}

fn nonzero_bytes() -> Result<String, String> {
    let rest = &damaged_log()[proven()..];
    let (wrong, right) = (cut(&rest[..39]), cut(rest));
    judge(
        Check::I02,
        check_nonzero_bytes(&damaged(), &wrong, &[]),
        check_nonzero_bytes(&damaged(), &right, &[]),
    )
}

fn refused_untouched() -> Result<String, String> {
    let mut log = damaged_log();
    log[proven() + 3] ^= 1;
    let (wrong, right) = (partition(&log), damaged());
    judge(
        Check::I04,
        check_refused_untouched(&damaged(), &wrong),
        check_refused_untouched(&damaged(), &right),
    )
}

fn recover_twice() -> Result<String, String> {
    let after = cut(&damaged_log()[proven()..]);
    let at = Position::new(proven() as u64);
    let (first, again) = (verdict(3, Action::Keep), verdict(3, Action::Cut { at, save: Length::new(40) }));
    let run = |second_verdict| SecondRun {
        first_verdict: &first,
        second_verdict,
        after_first: &after,
        after_second: &after,
        changing_calls: 0,
    };
    judge(Check::I09, check_recover_twice(run(&again)), check_recover_twice(run(&first)))
}

fn lengths() -> Result<String, String> {
    let start = SegmentStart::new(0);
    let length = Length::new(proven() as u64);
    let cursor = Some(Cursor { segment: start, position: length.as_position() });
    let check = |image: &PartitionImage| check_lengths(&image.directory, &[(start, length)], cursor);
    judge(Check::I12, check(&damaged()), check(&cut(&[])))
}

/// Without a ledger noise at the end is cut and the rest served; a batch behind it, which continues the
/// partition, refuses it.
fn reference() -> Result<String, String> {
    let at = Position::new(proven() as u64);
    let cut = verdict(2, Action::Cut { at, save: Length::new(40) });
    let check = |log: &[u8]| {
        let found = recover(&partition(log).directory, &Expectation::of(NAMESPACE));
        agrees(&found, None, &cut).err()
    };
    judge(Check::Reference, check(&damaged_log()), check(&damaged_log()[..proven() + 40]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Value;

    #[test]
    fn every_check_tells_its_violation_from_what_is_right() {
        for part in PARTS {
            let finding = part.run().finding;
            assert!(finding.is_ok(), "{}: {finding:?}", part.name);
        }
    }

    #[test]
    fn a_check_that_is_blind_deaf_or_another_fails_its_part() {
        let violation = |check| Violation::new(check, "a byte", Value::Number(1), Value::Number(0));
        let wrong = || [violation(Check::I02)];
        assert!(judge(Check::I02, wrong(), []).is_ok());
        assert!(judge(Check::I02, [], []).is_err());
        assert!(judge(Check::I01, wrong(), []).is_err());
        assert!(judge(Check::I02, wrong(), wrong()).is_err());
    }
}
