//! Whole worlds: what a scenario expects, a panic, and a second run that is another one.

use super::judge;
use crate::oracle::sample::Sample;
use crate::oracle::{Check, Violation};
use crate::run::one::{Outcome, hold_to_second_run, outcome_of, run_schedule, run_watched};
use crate::run::panics::Panicked;
use crate::schedule::parse;
use crate::world::{Arena, Report, Watch};

/// The world of three batches that expects `next` to be the next offset.
fn world(next: u64) -> Outcome {
    let text = format!(
        r#"
scenario "three batches" version=1
world filesystem="xfs" regime="legal" {{
    partition "1/1/0" durability="synced"
}}
steps {{
    append "1/1/0" batch=0 count=3
    flush "1/1/0"
    crash "process"
    start
    expect "1/1/0" disposition="serve" next-offset={next}
}}
"#
    );
    let schedule = parse("three-batches.kdl", &text).expect("the text reads").schedule;
    run_schedule(&mut Arena::new(), &schedule, Sample::EVERYTHING)
}

fn violations(outcome: Outcome) -> Vec<Violation> {
    outcome.failures.into_iter().map(|failure| failure.violation).collect()
}

pub(super) fn expect() -> Result<String, String> {
    judge(Check::Expect, [violations(world(4))], [violations(world(3))])
}

/// What is said of a world in which a promise is invented that nobody made, behind a flush and a poll beside
/// which these faults lie in wait.
fn invented(beside_flush: &str, beside_poll: &str) -> Vec<Violation> {
    let text = format!(
        r#"
scenario "a promise that nobody made" version=1
world filesystem="xfs" regime="unlimited" {{
    partition "1/1/0" durability="synced"
}}
steps {{
    append "1/1/0" batch=0 count=3
    flush "1/1/0" {{ {beside_flush} }}
    poll "1/1/0" from=0 count=9 {{ {beside_poll} }}
    crash "process"
    start
}}
"#
    );
    let schedule = parse("invented.kdl", &text).expect("the text reads").schedule;
    let watch = Watch { plants_promise: true, ..Watch::of(Sample::EVERYTHING) };
    violations(run_watched(&mut Arena::new(), &schedule, watch))
}

/// A fault excuses what it hit, for as long as that is not as it should be.
pub(super) fn idle_fault() -> Result<String, String> {
    let lost = |call: u32| format!(r#"fault "lost-write" on="write" call={call}"#);
    let shown = |call: u32| format!(r#"fault "transient-read-corruption" on="read" call={call} bit=3"#);
    judge(
        Check::I05,
        [invented("", ""), invented(&lost(40), ""), invented("", &shown(40)), invented("", &shown(1))],
        [invented(&lost(1), "")],
    )
}

/// A panic is a failure of its own check; in a file of the simulator it is also a bug of the harness.
pub(super) fn panic() -> Result<String, String> {
    let of =
        |report: Option<Report>| outcome_of(&mut Arena::new(), |_, _| report.expect("a panic made by hand"));
    let calm =
        Report { digest: 1, outcome: 1, failures: Vec::new(), events: Vec::new(), told: None, moment: None };
    let is_ours = |place: &str| Panicked { place: place.to_owned(), text: String::new() }.is_harness_bug();
    if !is_ours("sim/src/world/run.rs:1") || is_ours("recovery-core/src/lib.rs:1") {
        return Err("whose panic it is was told wrongly".to_owned());
    }
    judge(Check::Panic, [violations(of(None))], [violations(of(Some(calm)))])
}

pub(super) fn nondeterminism() -> Result<String, String> {
    let run_twice = |second: &Outcome| {
        let mut first = world(3);
        hold_to_second_run(&mut first, second);
        violations(first)
    };
    let mut other_end = world(3);
    other_end.outcome ^= 1;
    let mut other_events = world(3);
    other_events.digest ^= 1;
    judge(Check::Nondeterminism, [run_twice(&other_end), run_twice(&other_events)], [run_twice(&world(3))])
}
