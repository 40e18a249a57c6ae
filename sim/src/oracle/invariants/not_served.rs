//! I03: a partition that is refused or unavailable is never served, and never looks empty.
//!
//! Asked of every answer to a client: what the last start did not serve answers with an error. And of every
//! start: what is not served leaves nothing that a writer could be opened on. And of every application of inserts: what was
//! refused before is so behind it (F21, F66). Does not claim which error.

use recovery_core::decide::Verdict;
use recovery_core::observe::PartitionFacts;
use recovery_core::partition::Adopted;
use recovery_core::plan::Plan;

use super::same_verdict::code;
use crate::oracle::{Check, Value, Violation};

/// A success that a partition gave which is not served.
pub fn check_success(is_served: bool, is_success: bool) -> Option<Violation> {
    if is_served || !is_success {
        return None;
    }
    let (error, success) = (Value::Code("an error"), Value::Code("success"));
    Some(Violation::new(Check::I03, "an answer of a partition that is not served", error, success))
}

/// A partition that an insert has made something else of than refused.
pub fn check_inserted(was_refused: bool, is_refused: bool) -> Option<Violation> {
    let (expected, actual) = (Value::Code("refused"), Value::Code("not refused"));
    let subject = "a refused partition behind an insert";
    (was_refused && !is_refused).then(|| Violation::new(Check::I03, subject, expected, actual))
}

/// A chain that the core hands to a writer although its verdict does not serve it.
pub fn check_not_adopted(facts: &PartitionFacts, verdict: &Verdict, plan: &Plan) -> Option<Violation> {
    if verdict.is_served() {
        return None;
    }
    Adopted::of(facts, verdict, plan)?;
    Some(Violation::new(Check::I03, "a chain to append to", Value::None, code(verdict)))
}
