//! I06 and I07 of a chain that a host serves: each batch in it was written there, and none is skipped.
//!
//! Asked whenever a partition is opened, in any circumstances. Once damage that no crash explains has hit a partition,
//! what cannot be told apart is left to the checks of a start alone.

use recovery_core::units::Offset;

use crate::oracle::served_log::Lying;
use crate::oracle::truth::{Life, Stranger, Truth};
use crate::oracle::{Check, Value, Violation};

/// The first batch that should not be served, or should be.
pub fn check_lying(
    truth: &Truth,
    lying: &[Lying<'_>],
    is_whole: bool,
    was_damaged: bool,
) -> Option<Violation> {
    if was_damaged {
        return None;
    }
    if !is_whole {
        let (expected, actual) = (Value::Code("batches"), Value::Code("noise"));
        return Some(Violation::new(Check::I06, "a served log", expected, actual));
    }
    let mut expected: Option<Offset> = None;
    for batch in lying {
        let lives = truth.living_at(batch.base, batch.bytes).map(|index| &truth.writes()[index]);
        let is_written = lives.is_some_and(|write| truth.bytes_of(write) == batch.bytes);
        // A floor that may not be durable may come back with what it had let go of.
        let is_back = truth.is_floor_doubtful
            && truth.writes().iter().any(|write| {
                write.life == Life::Retained
                    && write.base == batch.base
                    && truth.bytes_of(write) == batch.bytes
            });
        if !is_written && !is_back && !truth.strangers.contains(&Stranger::of(batch)) {
            let (written, other) = (Value::Code("as written"), Value::Code("another"));
            let violation = Violation::new(Check::I06, "a served batch", written, other);
            return Some(violation.in_segment(batch.segment).at(batch.position..batch.position + 1));
        }
        let skipped = expected.filter(|expected| *expected != batch.base);
        if let Some(expected) = skipped
            && (batch.position > 0 || is_held(truth, expected, batch.base))
        {
            let violation = Violation::new(Check::I07, "the next offset", expected.into(), batch.base.into());
            return Some(violation.in_segment(batch.segment));
        }
        expected = Some(batch.next);
    }
    None
}

/// Whether an offset from `from` to below `to` was promised and is not lost.
fn is_held(truth: &Truth, from: Offset, to: Offset) -> bool {
    truth.writes().iter().any(|write| {
        let lives = matches!(write.life, Life::Acknowledged | Life::Adopted);
        lives && write.is_promised && write.base < to && from < write.next
    })
}

#[cfg(test)]
mod tests {
    use recovery_core::units::SegmentStart;

    use super::*;

    fn truth() -> Truth {
        let mut truth = Truth::default();
        truth.reset(Offset::ZERO);
        for (at, bytes) in [b"one", b"two", b"six"].iter().enumerate() {
            let at = at as u64;
            let offsets = (Offset::new(at), Offset::new(at + 1));
            truth.append(None, offsets, (SegmentStart::ZERO, at * 3), *bytes, Life::Buffered);
        }
        truth.acknowledge(Offset::new(9));
        truth
    }

    fn lying(batches: &[(u64, &'static [u8])]) -> Vec<Lying<'static>> {
        let lying = batches.iter().map(|(base, bytes)| Lying {
            segment: SegmentStart::ZERO,
            position: base * 3,
            base: Offset::new(*base),
            next: Offset::new(base + 1),
            bytes,
        });
        lying.collect()
    }

    #[track_caller]
    fn check(batches: &[(u64, &'static [u8])], expected: Option<Check>) {
        let found = check_lying(&truth(), &lying(batches), true, false);
        assert_eq!(found.map(|violation| violation.check), expected);
        assert!(check_lying(&truth(), &lying(batches), true, true).is_none());
    }

    #[test]
    fn a_chain_as_it_was_written_passes() {
        check(&[(0, b"one"), (1, b"two"), (2, b"six")], None);
        check(&[(0, b"one")], None);
    }

    #[test]
    fn another_batch_a_gap_and_noise_are_violations() {
        check(&[(0, b"one"), (1, b"six")], Some(Check::I06));
        check(&[(0, b"one"), (2, b"six")], Some(Check::I07));
        let noise = check_lying(&truth(), &lying(&[(0, b"one")]), false, false);
        assert_eq!(noise.map(|violation| violation.check), Some(Check::I06));
    }
}
