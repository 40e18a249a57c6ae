//! The twin rule (DESIGN section 9): a crash and a corruption that leave the same bytes get the same verdict.
//!
//! Asked at each undisturbed start of a partition whose only damage lies in bytes of logs at or above what its ledger
//! has marked as durable. To it belongs a history of crashes alone that leaves the same bytes, since what nobody had
//! synced a crash may leave in any shape. So both are served, which I13 asks of crashes, and served alike. Does not
//! claim anything where there is no ledger or its last record is that of a clean stop, or where names, the ledger or what
//! lies below a mark were damaged too: no crash does that.

use recovery_core::decide::Verdict;

use super::same_verdict::{check_same_verdict, code};
use crate::oracle::{Check, Value, Violation};

/// What is wrong with two verdicts on the same bytes: `damaged` where damage has left them, `crashed` where crashes
/// alone have.
pub fn check_twin(damaged: &Verdict, crashed: &Verdict) -> Option<Violation> {
    if !crashed.is_served() {
        let actual = code(crashed);
        return Some(Violation::new(
            Check::Twin,
            "what a crash alone has left",
            Value::Code("serve"),
            actual,
        ));
    }
    let subject = "the verdict on what a crash alone would leave";
    check_same_verdict(Check::Twin, subject, (crashed, damaged), false)
}
