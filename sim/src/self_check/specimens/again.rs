//! The same start again, and what is on the medium behind it: I10, I11, I16, I17, I18, I21, I22, and the twin
//! rule.

use recovery_core::decide::{Action, Disposition, Verdict};
use recovery_core::format::FileName;
use recovery_core::host::UNREADABLE_TRIES;
use recovery_core::observe::{Evidence, PartitionFacts, Unavailable};
use recovery_core::plan::{Plan, Step};
use recovery_core::storage::Name;
use recovery_core::units::{Length, Offset};

use super::judge;
use super::making::{
    ONE, PROVEN, batches, cut, cutting, damaged, damaged_log, entries, facts, log, lying, partition, refused,
    served, verdict, with_index,
};
use crate::disk::Exposed;
use crate::oracle::damage::{Damages, Place};
use crate::oracle::invariants::{
    Expected, check_adopted, check_baited, check_given_up, check_indexes, check_interrupted, check_misread,
    check_more_damage, check_probing, check_same_record, check_same_verdict, check_twin, check_work,
    check_wrong_word,
};
use crate::oracle::{Check, PartitionImage};

pub(super) fn interrupted() -> Result<String, String> {
    let whole = cut(&damaged_log()[PROVEN..]);
    let ends = |verdict: &Verdict, again: &PartitionImage| {
        check_interrupted((&cutting(396), &whole), (verdict, again))
    };
    let gap = Disposition::ServeFrom { first: Offset::new(1), last: Offset::new(1) };
    let uncut = PartitionImage { fences: whole.fences.clone(), ..damaged() };
    judge(
        Check::I10,
        [
            ends(&refused(), &whole),
            ends(&served(3), &whole),
            ends(&verdict(gap, Some(2), Action::Keep), &whole),
            ends(&served(2), &partition(&batches(2))),
            ends(&served(2), &uncut),
        ],
        [ends(&served(2), &whole), ends(&cutting(396), &whole)],
    )
}

pub(super) fn adopted() -> Result<String, String> {
    let image = cut(&[7; 40]);
    let mut rotten = Damages::default();
    rotten.add(Place::Bytes { file: log(), range: 3..4 });
    let (clean, lacking) = (Damages::default(), Err(Exposed::Bytes { position: 0 }));
    let of_logs = |damages, lacks| {
        check_adopted(
            &image,
            damages,
            true,
            |fence: Option<&Name>, _, _| {
                if fence.is_none() { lacks } else { Ok(()) }
            },
        )
    };
    let of_copies = |cuts| {
        check_adopted(
            &image,
            &clean,
            cuts,
            |fence: Option<&Name>, _, _| {
                if fence.is_none() { Ok(()) } else { Err(Exposed::Absent) }
            },
        )
    };
    judge(
        Check::I11,
        [of_logs(&clean, lacking), of_copies(true)],
        [of_logs(&clean, Ok(())), of_logs(&rotten, lacking), of_copies(false)],
    )
}

pub(super) fn indexes() -> Result<String, String> {
    let log = batches(3);
    let check = |index: &[u8]| check_indexes(&with_index(&log, index).directory, &lying(&log));
    let mut late = entries(2);
    late[8] ^= 1;
    let mut absent = partition(&log);
    absent.directory.entries.truncate(1);
    judge(
        Check::I16,
        [
            check(&entries(3)[24..]),
            check(&entries(4)),
            check(&entries(2)[..40]),
            check(&[]),
            check(&late),
            check_indexes(&absent.directory, &lying(&log)),
        ],
        [check(&entries(3)), check(&entries(1)), check(&[&entries(1)[..], &entries(3)[48..]].concat())],
    )
}

/// A start of a partition of 1,000 bytes may read 16 times that and 64 KiB.
pub(super) fn work() -> Result<String, String> {
    let image = partition(&batches(3)[..952]);
    let check = |bytes_read, longest_step_bytes, bytes_hashed| {
        let mut facts = facts(&batches(2), 2);
        facts.work.longest_step_bytes = longest_step_bytes;
        facts.work.bytes_hashed = bytes_hashed;
        check_work(&image, &facts, bytes_read, (65_536, 4096))
    };
    let probed = |bytes_hashed| {
        let mut again = facts(&damaged_log(), 1);
        again.segments[0].residue.length = Length::new(1000);
        again.work.bytes_hashed = bytes_hashed;
        let mut first = facts(&batches(2), 2);
        first.work.bytes_hashed = 400;
        check_probing(&first, &again)
    };
    judge(Check::I17, [probed(11_800 + 33_057)], [probed(11_800 + 33_056)])?;
    judge(
        Check::I17,
        [
            check(16_000 + 65_537, 0, 0),
            check(0, 65_536 + 4 * 4096 + 33_056 + 1, 0),
            check(0, 0, 16_000 + 65_537),
        ],
        [check(16_000 + 65_536, 65_536 + 4 * 4096 + 33_056, 16_000 + 65_536)],
    )
}

/// Verdicts that should be one.
fn alike(check: Check) -> Result<String, String> {
    let rebuilding = verdict(Disposition::Serve, Some(2), Action::RebuildIndex);
    let same = |other: &Verdict, but_for_indexes| {
        check_same_verdict(check, "the verdict", (&served(2), other), but_for_indexes)
    };
    let unlike = [same(&refused(), false), same(&served(3), false), same(&cutting(40), false)];
    judge(
        check,
        unlike.into_iter().chain([same(&rebuilding, false)]),
        [same(&served(2), false), same(&rebuilding, true)],
    )
}

pub(super) fn same_verdict() -> Result<String, String> {
    alike(Check::I18)
}

/// A start, and the same one with something going wrong in its reads.
pub(super) fn misread() -> Result<String, String> {
    let of_log = |is_asked_again: bool| Expected {
        subject: "the verdict behind a read that went wrong once",
        may_be_unavailable: !is_asked_again,
        but_for_indexes: false,
        for_any_reason: !is_asked_again,
        may_be_refused: false,
    };
    let ledger = Expected { for_any_reason: false, ..of_log(false) };
    let zeros = Expected { may_be_refused: true, ..of_log(false) };
    let index = Expected { but_for_indexes: true, ..of_log(false) };
    let unavailable = verdict(Disposition::Unavailable(Unavailable::Locked), None, Action::Keep);
    let rebuilding = verdict(Disposition::Serve, Some(2), Action::RebuildIndex);
    let plan = |steps: &[Step]| Plan { steps: steps.to_vec() };
    let aside = plan(&[Step::SetAside { file: FileName::ledger() }]);
    let other = plan(&[Step::SetAside { file: log() }]);
    let none = plan(&[]);
    let check = |expected: &Expected, first: (&Verdict, &Plan), second: (&Verdict, &Plan)| {
        check_misread(expected, first, second)
    };
    let (two, three, refusal) = (served(2), served(3), refused());
    judge(
        Check::I18,
        [
            check(&of_log(true), (&two, &none), (&refusal, &none)),
            check(&of_log(false), (&two, &none), (&refusal, &none)),
            check(&of_log(false), (&refusal, &none), (&two, &none)),
            check(&of_log(true), (&two, &none), (&unavailable, &none)),
            check(&index, (&two, &none), (&three, &none)),
            check(&ledger, (&two, &none), (&rebuilding, &none)),
            check(&zeros, (&refusal, &none), (&two, &none)),
            check(&ledger, (&two, &none), (&two, &aside)),
            check(&ledger, (&two, &aside), (&two, &other)),
        ],
        [
            check(&of_log(true), (&two, &aside), (&two, &aside)),
            check(&ledger, (&two, &none), (&unavailable, &none)),
            check(&of_log(false), (&refusal, &none), (&refusal, &none)),
            check(&zeros, (&two, &none), (&refusal, &none)),
            check(&index, (&two, &none), (&rebuilding, &aside)),
        ],
    )
}

/// A start behind whose log bait was laid, by what is known of the log.
pub(super) fn baited() -> Result<String, String> {
    let log = batches(2);
    let of = |evidence| {
        let mut facts = facts(&log, 2);
        facts.segments[0].evidence = evidence;
        facts
    };
    let (above, unknown) = (of(Evidence::AtOrAbove), of(Evidence::Unknown));
    let check = |second: &Verdict, facts: &PartitionFacts| check_baited(&served(2), second, facts);
    let (short, further) = (served(1), served(9));
    let told = judge(
        Check::I03,
        [check(&served(2), &unknown), check(&further, &unknown)],
        [check(&refused(), &unknown), check(&further, &above)],
    )?;
    judge(Check::Twin, [check(&refused(), &above), check(&short, &above)], [check(&served(2), &above)])?;
    Ok(told)
}

/// The newest record of a ledger, and of the same one without its last zeros.
pub(super) fn ledger_end() -> Result<String, String> {
    judge(
        Check::I18,
        [check_same_record(Some(5), Some(4)), check_same_record(Some(0), None)],
        [check_same_record(Some(5), Some(5)), check_same_record(None, None)],
    )
}

/// An operator's wrong word, and what was answered.
pub(super) fn wrong_word() -> Result<String, String> {
    let (log, mut flipped) = (batches(2), batches(2));
    flipped[3] ^= 1;
    let check = |is_a_mistake, after: &[u8]| {
        let answer = if is_a_mistake { "range-mistake" } else { "accepted" };
        check_wrong_word(is_a_mistake, answer, &partition(&log), &partition(after))
    };
    judge(Check::I04, [check(true, &flipped)], [check(true, &log)])?;
    judge(Check::I03, [check(false, &log), check(false, &flipped)], [check(true, &log)])
}

pub(super) fn damaged_sibling() -> Result<String, String> {
    // And one error is not enough to give up what lies there.
    let last = UNREADABLE_TRIES - 1;
    judge(Check::I21, [check_given_up(0), check_given_up(last - 1)], [check_given_up(last)])?;
    alike(Check::I21)
}

/// Two verdicts on the same bytes, of which a crash alone has left the second's.
pub(super) fn twin() -> Result<String, String> {
    let twins = |damaged: &Verdict, crashed: &Verdict| check_twin(damaged, crashed);
    judge(
        Check::Twin,
        [
            twins(&refused(), &served(2)),
            twins(&served(2), &served(3)),
            twins(&cutting(396), &served(2)),
            twins(&refused(), &refused()),
        ],
        [twins(&served(2), &served(2)), twins(&cutting(396), &cutting(396))],
    )
}

pub(super) fn more_damage() -> Result<String, String> {
    let log = batches(3);
    let less = partition(&log[..2 * ONE]).directory;
    let more = |before: &Verdict, after: &Verdict, count: usize| {
        check_more_damage((before, &less), after, &lying(&log[..count * ONE]))
    };
    judge(
        Check::I22,
        [more(&served(2), &served(3), 3), more(&refused(), &served(2), 2)],
        [more(&served(2), &served(1), 1), more(&served(2), &served(2), 2), more(&served(2), &refused(), 0)],
    )
}
