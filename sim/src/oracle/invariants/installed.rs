//! I19: what a node offers, another one installs whole and serves, and nothing else; and what the other one had
//! promised of it is still there.
//!
//! Asked of every copy that took a partition's place, also where the peer was damaged: what is offered is what it
//! serves. Of what was offered only that is given up which damage done to the copy before anybody looked at it explains,
//! by its place. Of what had been promised here only that is given up which damage explains, by its place, and batches on which the
//! nodes never agreed, or the place of which at a damaged peer another one has that nobody could tell from it.

use recovery_core::format::FileName;

use crate::oracle::damage::Damages;
use crate::oracle::served_log::Lying;
use crate::oracle::truth::{Life, Truth, Write};
use crate::oracle::{Check, Value, Violation};

/// What was offered.
pub struct Offered<'a> {
    /// What was true where it comes from.
    pub truth: &'a Truth,
    /// Damage to the copy of it since it has its place.
    pub damages: &'a Damages,
}

/// What is wrong with a copy: `own` is what was true here before, `offered` what came, and `is_owed` says of a batch that
/// was promised here whether a copy that lacks it is to be judged by it.
pub fn check_installed(
    own: &Truth,
    offered: &Offered<'_>,
    lying: &[Lying<'_>],
    is_owed: impl Fn(&Write) -> bool,
) -> Option<Violation> {
    let is_there = |truth: &Truth, write: &Write| {
        lying.iter().any(|batch| batch.base == write.base && batch.bytes == truth.bytes_of(write))
    };
    let lives = |write: &&Write| matches!(write.life, Life::Acknowledged | Life::Adopted);
    let source = offered.truth;
    let foreign = lying.iter().find(|batch| {
        let place = batch.position..batch.position + batch.bytes.len() as u64;
        !offered.damages.explains_divergence(&FileName::log(batch.segment), &place)
            && !source
                .writes()
                .iter()
                .any(|write| write.base == batch.base && source.bytes_of(write) == batch.bytes)
    });
    if let Some(foreign) = foreign {
        let (expected, actual) = (Value::Code("as offered"), Value::Number(foreign.base.get()));
        return Some(Violation::new(Check::I19, "a batch of a copy", expected, actual));
    }
    let is_hit = |damages: &Damages, write: &Write| {
        damages.explains_loss(&FileName::log(write.segment), write.position + u64::from(write.length))
    };
    let came = |write: &Write| is_there(source, write) || is_hit(offered.damages, write);
    if let Some(write) = source.writes().iter().filter(lives).find(|write| !came(write)) {
        let (expected, actual) = (Value::Number(write.base.get()), Value::None);
        return Some(Violation::new(Check::I19, "a batch that was offered", expected, actual));
    }
    let is_explained = |write: &Write| !is_owed(write) || is_hit(&own.damages, write);
    let first = lying.first().map(|batch| batch.base);
    let promised = own.writes().iter().filter(lives).filter(|write| write.is_promised);
    let lost = promised
        .filter(|write| first.is_some_and(|first| write.base >= first))
        .find(|write| !is_there(own, write) && !is_explained(write))?;
    let (expected, actual) = (Value::Number(lost.base.get()), Value::None);
    Some(Violation::new(Check::I05, "a batch that was promised before a copy came", expected, actual))
}

/// What a copy came to that was put in its place by a step in which nothing went wrong, and then judged: `state` is the
/// word for what the partition is now.
pub fn check_taken(is_served: bool, state: &'static str) -> Option<Violation> {
    let (expected, actual) = (Value::Code("served"), Value::Code(state));
    (!is_served).then(|| Violation::new(Check::I19, "a copy that was just installed", expected, actual))
}

#[cfg(test)]
mod tests {
    use recovery_core::units::{Offset, SegmentStart};

    use super::*;
    use crate::oracle::damage::Place;
    use crate::schedule::BatchId;

    const BATCHES: [&[u8]; 3] = [b"first", b"second", b"third"];

    fn truth(count: usize) -> Truth {
        let mut truth = Truth::default();
        truth.reset(Offset::ZERO);
        for (at, bytes) in BATCHES.iter().take(count).enumerate() {
            let at = at as u64;
            let offsets = (Offset::new(at), Offset::new(at + 1));
            let name = Some(BatchId(u32::try_from(at).expect("a few batches")));
            truth.append(name, offsets, (SegmentStart::ZERO, at * 10), bytes, Life::Buffered);
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

    fn check_damaged(own: &Truth, damages: &Damages, copy: &[Lying<'_>], is_owed: bool) -> Option<Check> {
        let source = truth(2);
        let offered = Offered { truth: &source, damages };
        check_installed(own, &offered, copy, |_| is_owed).map(|violation| violation.check)
    }

    #[track_caller]
    fn check(own: usize, batches: &[(u64, &'static [u8])], expected: Option<Check>) {
        let found = check_damaged(&truth(own), &Damages::default(), &lying(batches), true);
        assert_eq!(found, expected);
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

    #[test]
    fn only_what_damage_hit_is_given_up() {
        let (mut own, copy) = (truth(3), lying(&[(0, BATCHES[0]), (1, BATCHES[1])]));
        let log = FileName::log(SegmentStart::ZERO);
        own.damages.add(Place::Bytes { file: log, range: 90..91 });
        let none = Damages::default();
        let lost = check_damaged(&own, &none, &copy, true);
        assert_eq!(lost, Some(Check::I05), "it lies behind all that was promised");
        assert_eq!(check_damaged(&own, &none, &copy, false), None, "nobody agreed on it");
        own.damages.add(Place::Bytes { file: log, range: 21..22 });
        assert_eq!(check_damaged(&own, &none, &copy, true), None);
    }

    #[test]
    fn what_damage_did_to_a_copy_in_its_place_is_given_up() {
        let (first, whole) = (lying(&[(0, BATCHES[0])]), lying(&[(0, BATCHES[0]), (1, BATCHES[1])]));
        let log = FileName::log(SegmentStart::ZERO);
        let mut hit = Damages::default();
        hit.add(Place::Bytes { file: log, range: 12..13 });
        assert_eq!(check_damaged(&truth(0), &hit, &first, true), None);
        assert_eq!(check_damaged(&truth(0), &hit, &whole, true), None);
        let mut behind = Damages::default();
        behind.add(Place::Bytes { file: log, range: 30..31 });
        assert_eq!(check_damaged(&truth(0), &behind, &first, true), Some(Check::I19), "it lies behind it");
        let other = lying(&[(0, BATCHES[0]), (1, BATCHES[2])]);
        assert_eq!(check_damaged(&truth(0), &behind, &other, true), Some(Check::I19));
    }

    #[test]
    fn a_copy_that_is_not_served_is_a_violation() {
        assert!(check_taken(true, "served").is_none());
        assert_eq!(check_taken(false, "refused").map(|violation| violation.check), Some(Check::I19));
    }
}
