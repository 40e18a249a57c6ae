//! Where a start broke, in the words of CONTRACTS 1.
//!
//! Promises: a word for every step of a plan, so that failures of one cause are one group. Leaves out: calls of
//! clients ([`super::asked`]), and what a host does beside its starts.

use recovery_core::plan::Step as PlanStep;
use recovery_core::recovery::RecoveryStep;

use super::boot::Boot;
use crate::oracle::Check;

impl Boot {
    /// Where it broke if `check` fires, in the words of CONTRACTS 1. What is wrong with a verdict broke before
    /// anything was done about it; what is wrong with the bytes, in the last step of the plan that was reached.
    pub fn recovery_step(&self, check: Check) -> &'static str {
        match self.reached {
            RecoveryStep::Settle => "settle",
            RecoveryStep::Observe => "observe",
            RecoveryStep::Apply | RecoveryStep::Done if self.failed_to_act || is_about_acts(check) => {
                self.acted.as_ref().map_or("decide", word)
            }
            RecoveryStep::Apply | RecoveryStep::Done if self.open_error.is_some() => "open-writer",
            RecoveryStep::Apply | RecoveryStep::Done => "decide",
        }
    }
}

/// Whether a check is about what was done, and not about what was concluded. An expectation is about both.
const fn is_about_acts(check: Check) -> bool {
    match check {
        Check::I01
        | Check::I02
        | Check::I04
        | Check::I09
        | Check::I10
        | Check::I11
        | Check::I12
        | Check::I16
        | Check::I17
        | Check::I20
        | Check::I21
        | Check::Expect => true,
        Check::I03
        | Check::I05
        | Check::I06
        | Check::I07
        | Check::I08
        | Check::I13
        | Check::I14
        | Check::I15
        | Check::I18
        | Check::I19
        | Check::I22
        | Check::I23
        | Check::I24
        | Check::Reference
        | Check::Twin
        | Check::Panic
        | Check::Nondeterminism => false,
    }
}

/// A step of a plan in the words of CONTRACTS 1.
const fn word(step: &PlanStep) -> &'static str {
    match step {
        PlanStep::StageRun { .. }
        | PlanStep::InstallRun { .. }
        | PlanStep::RecordSealed { .. }
        | PlanStep::RecordFrontier { .. } => "accept-loss",
        PlanStep::Identify { .. }
        | PlanStep::MakeFence
        | PlanStep::CheckZeros { .. }
        | PlanStep::SaveResidue { .. }
        | PlanStep::SaveIndex { .. }
        | PlanStep::WriteReason
        | PlanStep::SyncFence
        | PlanStep::SetAside { .. } => "save-residue",
        PlanStep::ReserveOffset { .. } => "ledger-reserved",
        PlanStep::CutLog { .. } => "cut-log",
        PlanStep::StageIndex { .. } | PlanStep::InstallIndex { .. } => "install-index",
        PlanStep::SyncDirectory => "sync-directory",
        PlanStep::RecordRecovered { .. } | PlanStep::RecordCleanStop { .. } => "ledger-recovered",
    }
}

#[cfg(test)]
mod tests {
    use crate::oracle::sample::Sample;
    use crate::run::one::run_schedule;
    use crate::schedule::parse;
    use crate::world::Arena;

    /// An expectation that does not hold, behind a start of a torn log, fails in `expected`.
    #[track_caller]
    fn check(start: &str, expectation: &str, expected: &str) {
        let text = format!(
            r#"scenario "torn" version=1
world filesystem="ext4-ordered" regime="unlimited" {{
    partition "1/1/0" durability="buffered"
}}
steps {{
    append "1/1/0" batch=0 count=3
    flush "1/1/0"
    crash "process"
    fault "shorn-write" "1/1/0" batch=2 bytes=100
    {start}
    {expectation}
}}
"#
        );
        let schedule = parse("torn.kdl", &text).expect("the text reads").schedule;
        let outcome = run_schedule(&mut Arena::new(), &schedule, Sample::EVERYTHING);
        let steps: Vec<&str> = outcome.failures.iter().map(|failure| failure.recovery_step).collect();
        assert_eq!(steps, [expected]);
    }

    #[test]
    fn an_expectation_fails_where_the_start_was_that_it_speaks_of() {
        let expect = "expect \"1/1/0\" next-offset=9";
        check("start", expect, "ledger-recovered");
        check(
            "start { fault \"no-space\" on=\"make-directory\" call=1 times=\"always\"; }",
            expect,
            "save-residue",
        );
        check(
            "start { fault \"write-error\" on=\"set-length\" call=2 times=\"always\"; }",
            expect,
            "cut-log",
        );
        check("start { fault \"read-error\" on=\"list\" call=1 times=\"always\"; }", expect, "settle");
        check("start", "expect-poll \"1/1/0\" from=0 messages=9", "poll");
        check("start", "expect-status \"1/1/0\" state=\"refused\"", "ledger-recovered");
        let flushed = "start\nappend \"1/1/0\" batch=5\nflush \"1/1/0\"";
        check(flushed, "expect-status \"1/1/0\" state=\"refused\"", "flush");
    }
}
