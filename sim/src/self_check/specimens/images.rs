//! What a start did to the bytes: I01, I02, I04, I09, I12, and the reference.

use recovery_core::decide::Action;
use recovery_core::observe::Expectation;
use recovery_core::units::Length;

use super::judge;
use super::making::{
    NAMESPACE, PROVEN, SEGMENT, cut, cutting, damaged, damaged_log, partition, served, verdict,
};
use crate::oracle::invariants::{
    Cursor, SecondRun, check_cursor, check_lengths, check_nonzero_bytes, check_recover_twice,
    check_refused_untouched, check_settling, check_verified_bytes,
};
use crate::oracle::reference::{agrees, recover};
use crate::oracle::{Check, PartitionImage};

pub(super) fn verified_bytes() -> Result<String, String> {
    let rest = &damaged_log()[PROVEN..];
    let check = |after| check_verified_bytes(&damaged(), &after);
    judge(Check::I01, [check(cut(&rest[..40]))], [check(cut(rest)), check(damaged())])
}

pub(super) fn nonzero_bytes() -> Result<String, String> {
    let rest = &damaged_log()[PROVEN..];
    let check = |after| check_nonzero_bytes(&damaged(), &after, &[]);
    judge(Check::I02, [check(cut(&rest[..39]))], [check(cut(rest)), check(damaged())])
}

pub(super) fn refused_untouched() -> Result<String, String> {
    let mut log = damaged_log();
    log[PROVEN + 3] ^= 1;
    let check = |after| check_refused_untouched(&damaged(), &after);
    judge(
        Check::I04,
        [check(partition(&log)), check(cut(&log[PROVEN..])), check_settling(1)],
        [check(damaged()), check_settling(0)],
    )
}

pub(super) fn recover_twice() -> Result<String, String> {
    let after = cut(&damaged_log()[PROVEN..]);
    let (first, again) = (verdict(served(3).disposition, Some(3), Action::Keep), cutting(40));
    let run = |second_verdict, changing_calls| {
        check_recover_twice(SecondRun {
            first_verdict: &first,
            second_verdict,
            after_first: &after,
            after_second: &after,
            changing_calls,
        })
    };
    judge(Check::I09, [run(&again, 0), run(&first, 2)], [run(&first, 0)])
}

pub(super) fn lengths() -> Result<String, String> {
    let length = Length::new(PROVEN as u64);
    let cursor = Cursor { segment: SEGMENT, position: length.as_position() };
    let check = |image: PartitionImage| check_lengths(&image.directory, &[(SEGMENT, length)], Some(cursor));
    let behind_a_call = |length| check_cursor(cursor, Some(length)).into_iter().collect();
    let longer = Length::new(PROVEN as u64 + 1);
    judge(Check::I12, [check(damaged()), behind_a_call(longer)], [check(cut(&[])), behind_a_call(length)])
}

/// Without a ledger noise at the end is cut and the rest served; a batch behind it, which continues the
/// partition, refuses it.
pub(super) fn reference() -> Result<String, String> {
    let check = |log: &[u8]| {
        let found = recover(&partition(log).directory, &Expectation::of(NAMESPACE));
        agrees(&found, None, &cutting(40)).err()
    };
    judge(Check::Reference, [check(&damaged_log())], [check(&damaged_log()[..PROVEN + 40])])
}
