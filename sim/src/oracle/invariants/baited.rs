//! I03, I22 and the twin rule, in part: a budget that runs out is no proof.
//!
//! Asked of a start that serves, once more with bait behind the newest log: what looking at all of it would cost is more
//! than the core spends. Where nothing tells what is promised, some of it may be, and nobody is to be served without it;
//! where a mark does, a client's own batches that a crash tore would lie there like that, so it is a tail (G03, F47). Does
//! not claim how many offsets are skipped.
//!
//! Findings: F44, F46, F47, G03.

use recovery_core::decide::Verdict;
use recovery_core::observe::{Evidence, PartitionFacts};

use super::same_verdict::code;
use crate::oracle::{Check, Value, Violation};

/// What is wrong with the second of two starts, of which the first was served, and bait was laid for the second.
pub fn check_baited(first: &Verdict, baited: &Verdict, facts: &PartitionFacts) -> Option<Violation> {
    assert!(first.is_served(), "bait is laid for what is served");
    let newest = facts.segments.last().map(|segment| segment.evidence);
    match newest {
        Some(Evidence::Unknown) if baited.is_served() => {
            let subject = "the verdict where a budget runs out and no mark speaks";
            Some(Violation::new(Check::I03, subject, Value::Code("refuse"), code(baited)))
        }
        Some(Evidence::AtOrAbove) if !baited.is_served() => {
            let subject = "the verdict on a tail that is not looked at to its end";
            Some(Violation::new(Check::Twin, subject, code(first), code(baited)))
        }
        Some(Evidence::AtOrAbove) if baited.next_offset < first.next_offset => {
            let value = |verdict: &Verdict| match verdict.next_offset {
                Some(next) => Value::Number(next.get()),
                None => Value::None,
            };
            let subject = "the next offset behind a tail that is not looked at to its end";
            Some(Violation::new(Check::Twin, subject, value(first), value(baited)))
        }
        Some(Evidence::Unknown | Evidence::AtOrAbove | Evidence::Below) | None => None,
    }
}
