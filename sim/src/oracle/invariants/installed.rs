//! I19: what a node offers, another one installs whole and serves, and nothing else; and what the other one had
//! promised of it is still there.
//!
//! Asked of every copy that took a partition's place; the last part where `was_damaged` does not say that what was
//! here before had been damaged. Where the peer was damaged, what cannot be told apart there
//! cannot be told apart here, and nothing is claimed.

use crate::oracle::served_log::Lying;
use crate::oracle::truth::{Life, Truth, Write};
use crate::oracle::{Check, Value, Violation};

/// What is wrong with a copy: `own` is what was true here before, `source` what was true there.
pub fn check_installed(
    own: &Truth,
    source: &Truth,
    lying: &[Lying<'_>],
    was_damaged: bool,
) -> Option<Violation> {
    let is_there = |truth: &Truth, write: &Write| {
        lying.iter().any(|batch| batch.base == write.base && batch.bytes == truth.bytes_of(write))
    };
    let lives = |write: &&Write| matches!(write.life, Life::Acknowledged | Life::Adopted);
    let foreign = lying.iter().find(|batch| {
        !source.writes().iter().any(|write| write.base == batch.base && source.bytes_of(write) == batch.bytes)
    });
    if let Some(foreign) = foreign {
        let (expected, actual) = (Value::Code("as offered"), Value::Number(foreign.base.get()));
        return Some(Violation::new(Check::I19, "a batch of a copy", expected, actual));
    }
    if let Some(write) = source.writes().iter().filter(lives).find(|write| !is_there(source, write)) {
        let (expected, actual) = (Value::Number(write.base.get()), Value::None);
        return Some(Violation::new(Check::I19, "a batch that was offered", expected, actual));
    }
    // What damage put there was never promised by anybody.
    if was_damaged {
        return None;
    }
    let first = lying.first().map(|batch| batch.base);
    let promised = own.writes().iter().filter(lives).filter(|write| write.is_promised);
    let lost = promised
        .filter(|write| first.is_some_and(|first| write.base >= first))
        .find(|write| !is_there(own, write))?;
    let (expected, actual) = (Value::Number(lost.base.get()), Value::None);
    Some(Violation::new(Check::I05, "a batch that was promised before a copy came", expected, actual))
}

#[cfg(test)]
mod tests {
    use recovery_core::units::{Offset, SegmentStart};

    use super::*;

    const BATCHES: [&[u8]; 3] = [b"first", b"second", b"third"];

    fn truth(count: usize) -> Truth {
        let mut truth = Truth::default();
        truth.reset(Offset::ZERO);
        for (at, bytes) in BATCHES.iter().take(count).enumerate() {
            let at = at as u64;
            let offsets = (Offset::new(at), Offset::new(at + 1));
            truth.append(None, offsets, (SegmentStart::ZERO, at * 10), bytes, Life::Buffered);
        }
        truth.acknowledge(Offset::new(9));
        truth.promise(Offset::new(9));
        truth
    }

    fn lying(batches: &[(u64, &'static [u8])]) -> Vec<Lying<'static>> {
        let lying = batches.iter().map(|(base, bytes)| Lying {
            segment: SegmentStart::ZERO,
            position: base * 10,
            base: Offset::new(*base),
            next: Offset::new(base + 1),
            bytes,
        });
        lying.collect()
    }

    #[track_caller]
    fn check(own: usize, batches: &[(u64, &'static [u8])], expected: Option<Check>) {
        let found = check_installed(&truth(own), &truth(2), &lying(batches), false);
        assert_eq!(found.map(|violation| violation.check), expected);
    }

    #[test]
    fn a_copy_that_is_whole_passes() {
        check(0, &[(0, BATCHES[0]), (1, BATCHES[1])], None);
        check(2, &[(0, BATCHES[0]), (1, BATCHES[1])], None);
    }

    #[test]
    fn a_copy_with_less_more_or_other_batches_is_a_violation() {
        check(0, &[(0, BATCHES[0])], Some(Check::I19));
        check(0, &[(0, BATCHES[0]), (1, BATCHES[1]), (2, BATCHES[2])], Some(Check::I19));
        check(0, &[(0, BATCHES[0]), (1, BATCHES[2])], Some(Check::I19));
    }

    #[test]
    fn a_promise_that_a_copy_does_not_hold_is_a_violation() {
        check(3, &[(0, BATCHES[0]), (1, BATCHES[1])], Some(Check::I05));
    }
}
