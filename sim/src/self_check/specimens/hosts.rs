//! What a host took from a peer, and what it says: I19, I23.

use recovery_core::units::{Offset, SegmentStart};

use super::judge;
use crate::oracle::damage::Damages;
use crate::oracle::invariants::{
    Excuses, Given, Held, Offered, Place, Said, check_begun, check_came, check_installed, check_newest,
    check_said, check_taken,
};
use crate::oracle::served_log::Lying;
use crate::oracle::truth::{Life, Truth};
use crate::oracle::{Check, Violation};
use crate::schedule::BatchId;

/// The bytes of a batch, which nobody looks into here.
const BATCHES: [&[u8]; 3] = [b"first", b"second", b"third"];

/// A partition that holds the first `count` batches, acknowledged.
fn offering(count: u32) -> Truth {
    let mut truth = Truth::default();
    truth.reset(Offset::ZERO);
    for (batch, bytes) in (0..count).zip(BATCHES) {
        let base = u64::from(batch);
        let offsets = (Offset::new(base), Offset::new(base + 1));
        truth.append(Some(BatchId(batch)), offsets, (SegmentStart::ZERO, base * 10), bytes, Life::Buffered);
    }
    truth.acknowledge(Offset::new(9));
    truth
}

fn lying(base: u64, bytes: &'static [u8]) -> Lying<'static> {
    let (base, next) = (Offset::new(base), Offset::new(base + 1));
    Lying { segment: SegmentStart::ZERO, position: base.get() * 10, base, next, bytes }
}

pub(super) fn installed() -> Result<String, String> {
    let (own, source, damages) = (offering(0), offering(2), Damages::default());
    let copy = |batches: &[Lying<'_>]| -> Option<Violation> {
        check_installed(&own, &Offered { truth: &source, damages: &damages }, batches, |_| true)
    };
    let begun = |held: &[(u64, u64)]| {
        let runs = |runs: &[(u64, u64)]| -> Vec<(Offset, Offset)> {
            runs.iter().map(|(first, next)| (Offset::new(*first), Offset::new(*next))).collect()
        };
        let held = Held { runs: runs(held), marked_next: Offset::new(2), is_unreadable: false };
        check_begun(&held, &Given { floor: Offset::ZERO, runs: runs(&[(0, 2)]), next: Offset::new(2) })
    };
    let empty = |is_unreadable| {
        let given = Given { floor: Offset::ZERO, runs: Vec::new(), next: Offset::new(2) };
        check_begun(&Held { is_unreadable, ..Held::default() }, &given)
    };
    let (first, second) = (lying(0, BATCHES[0]), lying(1, BATCHES[1]));
    judge(
        Check::I19,
        [
            copy(&[first]),
            copy(&[first, lying(1, BATCHES[2])]),
            copy(&[first, second, lying(2, BATCHES[2])]),
            check_taken(false, "refused"),
            begun(&[(0, 3)]),
            empty(true),
            check_came(true, "not-as-offered"),
            check_newest(false),
        ],
        [
            copy(&[first, second]),
            check_taken(true, "served"),
            begun(&[(0, 2)]),
            empty(false),
            check_came(false, "not-as-offered"),
            check_newest(true),
        ],
    )
}

pub(super) fn said() -> Result<String, String> {
    let place = |has_directory, fences| Place {
        has_directory,
        has_sibling: false,
        copies: fences,
        unexplained: 0,
        unexplained_new: 0,
        fences,
    };
    let served = |next, messages| Said::Served { next, messages, cut: 7, copies: 1 };
    let check = |said: &Said, place: &Place| check_said(said, place, Excuses::default());
    judge(
        Check::I23,
        [
            check(&served((5, 4), (3, 3)), &place(true, 1)),
            check(&served((4, 4), (3, 2)), &place(true, 1)),
            check(&served((4, 4), (3, 3)), &place(true, 0)),
            check(&Said::Refused { is_missing: false }, &place(false, 0)),
            check(&Said::Deleted, &place(false, 1)),
            check(&served((4, 4), (3, 3)), &Place { unexplained_new: 1, ..place(true, 1) }),
        ],
        [
            check(&served((4, 4), (3, 3)), &place(true, 1)),
            check(&Said::Refused { is_missing: false }, &place(true, 0)),
            check(&Said::Deleted, &place(false, 0)),
        ],
    )
}
