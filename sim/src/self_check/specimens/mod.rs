//! The oracle judged: for each check histories with a violation made by hand, and the same made right.
//!
//! Promises: the check fires on each of the first, by its own name, and says nothing of the second; a part
//! is called by the name of its check. Leaves out: the many ways in which most checks can be violated, which
//! the tests beside them go through.
//!
//! In reading order: [`making`] (what the histories are put together from), [`images`] (what a start did to
//! the bytes), [`starts`] (what it served), [`clients`] (what clients were told), [`again`] (the same start
//! again, and what is on the medium), [`hosts`] (what came from a peer, and what is said), [`worlds`] (whole
//! worlds, and what is run twice).

mod again;
mod clients;
mod hosts;
mod images;
mod making;
mod starts;
mod worlds;

use super::Part;
use crate::oracle::{Check, Violation};

/// The parts of the self-check that judge the oracle.
pub(super) const PARTS: [Part; 35] = [
    Part {
        name: "I01",
        claim: "a verified batch that is cut and not kept is seen",
        run: images::verified_bytes,
    },
    Part {
        name: "I02",
        claim: "a non-zero byte that is cut and not kept is seen",
        run: images::nonzero_bytes,
    },
    Part { name: "I03", claim: "a success of a refused partition is seen", run: clients::not_served },
    Part { name: "I04", claim: "a refused partition that changes is seen", run: images::refused_untouched },
    Part { name: "I05", claim: "a promise that is broken is seen", run: starts::promises },
    Part { name: "I06", claim: "a batch that nobody wrote there is seen", run: starts::strangers },
    Part { name: "I07", claim: "an offset that is left out is seen", run: starts::gaps },
    Part { name: "I08", claim: "an offset that is given away twice is seen", run: clients::own_offsets },
    Part { name: "I09", claim: "a second recovery that does something is seen", run: images::recover_twice },
    Part { name: "I10", claim: "a crash in recovery that changes its end is seen", run: again::interrupted },
    Part { name: "I11", claim: "what was adopted and is not durable is seen", run: again::adopted },
    Part { name: "I12", claim: "a log that is longer than its verdict is seen", run: images::lengths },
    Part { name: "I13", claim: "a clean crash that is refused is seen", run: starts::clean_crash },
    Part {
        name: "I14",
        claim: "a promise that some crash state breaks is seen",
        run: clients::promise_durable,
    },
    Part { name: "I15", claim: "a sync that is retried is seen", run: clients::failed_sync },
    Part { name: "I16", claim: "an index of other batches is seen", run: again::indexes },
    Part { name: "I17", claim: "more work than there is to do is seen", run: again::work },
    Part { name: "I18", claim: "a verdict on more than the bytes is seen", run: again::same_verdict },
    Part { name: "I19", claim: "a copy that is not what was offered is seen", run: hosts::installed },
    Part { name: "I20", claim: "an error without a cause is seen", run: starts::errors },
    Part { name: "I21", claim: "damage that changes another partition is seen", run: again::damaged_sibling },
    Part { name: "I22", claim: "more served with more damage is seen", run: again::more_damage },
    Part { name: "I23", claim: "what is said and is not so is seen", run: hosts::said },
    Part { name: "I24", claim: "seeds that end differently are seen", run: super::reach::other_seeds },
    Part { name: "reference", claim: "a verdict that the rules do not give is seen", run: images::reference },
    Part { name: "twin", claim: "a crash and damage judged by two measures are seen", run: again::twin },
    Part { name: "one-read-again", claim: "a verdict that hangs on one read is seen", run: again::misread },
    Part { name: "bait", claim: "a budget that is taken for a proof is seen", run: again::baited },
    Part { name: "ledger-end", claim: "a record that counts only later is seen", run: again::ledger_end },
    Part { name: "wrong-word", claim: "a word for what is not lost is seen", run: again::wrong_word },
    Part {
        name: "one-wrong-read",
        claim: "what one wrong read took away is seen",
        run: starts::one_wrong_read,
    },
    Part { name: "idle-fault", claim: "a fault that hits nothing excuses nothing", run: worlds::idle_fault },
    Part { name: "expect", claim: "an expectation that does not hold is seen", run: worlds::expect },
    Part { name: "panic", claim: "a world that panics is seen", run: worlds::panic },
    Part { name: "nondeterminism", claim: "a second run that differs is seen", run: worlds::nondeterminism },
];

/// Holds a check to histories that violate it, each by itself, and to histories that do not.
fn judge<Found: IntoIterator<Item = Violation>>(
    check: Check,
    wrong: impl IntoIterator<Item = Found>,
    right: impl IntoIterator<Item = Found>,
) -> Result<String, String> {
    if let Some(violation) = right.into_iter().flatten().next() {
        return Err(format!("nothing is wrong, and it says: {violation}"));
    }
    let mut first = None;
    let mut histories = 0;
    for found in wrong {
        histories += 1;
        match found.into_iter().next() {
            Some(violation) if violation.check == check => {
                first.get_or_insert(violation);
            }
            Some(violation) => return Err(format!("history {histories}: another check fires: {violation}")),
            None => {
                return Err(format!("history {histories} has a violation made by hand, and it says nothing"));
            }
        }
    }
    let first = first.ok_or("no history has a violation")?;
    Ok(if histories == 1 { first.to_string() } else { format!("{first}; and {} more", histories - 1) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Value;

    /// The violations made by hand, as each part tells of them.
    const SAID: [&str; 34] = [
        "I01: 00000000000000000000.log: bytes 752 to 1108: bytes left of a verified batch should be 356 and is 0",
        "I02: 00000000000000000000.log: bytes 751 to 753: non-zero bytes kept should be 2 and is 0",
        "I03: an answer of a partition that is not served should be an error and is success; and 1 more",
        "I04: 00000000000000000000.log: bytes 715 to 716: byte should be 7 and is 6; and 2 more",
        "I05: segment 0: 00000000000000000000.log: bytes 356 to 712: a batch that was promised should be present and is gone; and 4 more",
        "I06: segment 0: bytes 356 to 712: a served batch should be as written and is another; and 9 more",
        "I07: the next offset of a start at most should be 2 and is 3; and 6 more",
        "I08: the first offset of a new batch should be 2 and is 1; and 1 more",
        "I09: next offset of a second run should be 3 and is 2; and 1 more",
        "I10: the verdict behind a crash in recovery should be serve and is overlap; and 4 more",
        "I11: 00000000000000000000.log: bytes 0 to 712: after a power loss should be whole and is of other bytes; and 1 more",
        "I12: segment 0: log length should be 712 and is 1108; and 1 more",
        "I13: a clean crash over a ledger should be served and is overlap; and 1 more",
        "I14: segment 0: bytes 356 to 712: a batch at its acknowledgement should be whole and is shorter",
        "I15: the answer to a call whose sync failed should be an error and is success; and 4 more",
        "I16: segment 0: 00000000000000000000.index: an index should be good and is of other batches; and 5 more",
        "I17: bytes read should be 81536 and is 81537; and 2 more",
        "I18: the verdict should be serve and is overlap; and 3 more",
        "I19: a batch that was offered should be 1 and is none; and 7 more",
        "I20: a start without errors should be judged and is unavailable; and 4 more",
        "I21: the verdict should be serve and is overlap; and 3 more",
        "I22: segment 0: bytes 712 to 1068: a batch with more damage should be not served and is served; and 1 more",
        "I23: the next offset should be 5 and is 4; and 5 more",
        "20 worlds, against three runs that differ",
        "reference: disposition should be refuse and is serve",
        "twin: the verdict on what a crash alone would leave should be serve and is overlap; and 3 more",
        "I18: the verdict behind a read that went wrong once should be serve and is overlap; and 8 more",
        "I03: the verdict where a budget runs out and no mark speaks should be refuse and is serve; and 1 more",
        "I18: the newest record of a ledger without its last zeros should be 5 and is 4; and 1 more",
        "I03: the answer to a range that is not what is lost should be range-mistake and is accepted; and 1 more",
        "reference: segment 0: proven bytes behind one wrong read should be 1068 and is 712",
        "I05: segment 0: 00000000000000000000.log: bytes 1212 to 1225: a batch that was promised should be present and is gone; and 3 more",
        "expect: the next offset should be 4 and is 3",
        "panic: a world should be over and is a panic",
    ];

    #[test]
    fn every_check_tells_its_violation_from_what_is_right() {
        let said: Vec<String> = PARTS
            .iter()
            .map(|part| part.run().finding.unwrap_or_else(|wrong| format!("{} FAILS: {wrong}", part.name)))
            .collect();
        // What the last part says has digests in it, which change with the calls of the core.
        let (last, rest) = said.split_last().expect("there are parts");
        assert_eq!(rest, SAID);
        assert!(last.starts_with("nondeterminism: the outcome of a second run"), "{last}");
    }

    #[test]
    fn a_check_that_is_blind_deaf_or_another_fails_its_part() {
        let violation = |check| vec![Violation::new(check, "a byte", Value::Number(1), Value::Number(0))];
        let wrong = || [violation(Check::I02)];
        assert!(judge(Check::I02, wrong(), []).is_ok());
        assert!(judge(Check::I02, [Vec::new()], []).is_err());
        assert!(judge(Check::I02, [violation(Check::I02), Vec::new()], []).is_err());
        assert!(judge(Check::I02, [], wrong()).is_err());
        assert!(judge::<Vec<Violation>>(Check::I02, [], []).is_err());
        assert!(judge(Check::I01, wrong(), []).is_err());
        assert!(judge(Check::I02, wrong(), wrong()).is_err());
    }
}
