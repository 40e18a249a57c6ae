//! A run as `JUnit`: what the programs of CI read.
//!
//! Promises: a check that held is a test that passed; a group or a scenario that failed is one that failed, and a
//! known group is skipped, with its reason; so the page is red exactly when something failed, was missed or never ran.
//! What somebody interrupted is skipped and not red. This is the only file that knows the crate.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::again::Again;
use super::terminal::{counted, left_out};
use super::whole::Whole;
use crate::exit::Exit;
use crate::oracle::Check;
use crate::run::planted::{CHECK, PlantedFate};
use crate::run::session::{Group, Summary};

/// The document.
///
/// # Panics
///
/// Never: a document in memory can be written.
///
/// # Examples
///
/// ```
/// # use sim::oracle::sample::Checks;
/// # use sim::run::parallel::Seeds;
/// # use sim::run::session::Request;
/// # use sim::schedule::generate::{Knobs, SizeKnob};
/// # use sim::schedule::token::Commit;
/// use sim::report::junit::document;
/// use sim::report::lines::StartedLine;
/// use sim::report::whole::Whole;
/// use sim::run::planted::{Planted, PlantedFate};
/// use sim::run::session::Summary;
///
/// # let request = Request {
/// #     profile: "default",
/// #     knobs: Knobs { size: SizeKnob::Small, ..Knobs::default() },
/// #     seeds: Seeds::all(1, 4),
/// #     seconds: None,
/// #     failures: None,
/// #     per_group: 1,
/// #     require_reach: false,
/// #     jobs: 1,
/// #     commit: Commit::Unknown,
/// #     image: None,
/// #     checks: Checks::Default,
/// #     subject: None,
/// # };
/// let planted = Planted { fate: PlantedFate::Found, group: None };
/// let summary = Summary { seeds: 4, planted, ..Summary::default() };
/// let whole = Whole::of(StartedLine::of(&request), None, Vec::new(), summary);
/// // A test for each check, and none of them failed.
/// let document = document(&whole);
/// assert!(document.contains("<testsuite name=\"checks\"") && !document.contains("<failure"));
/// ```
#[must_use]
pub fn document(whole: &Whole) -> String {
    let mut report = Report::new("sim");
    report.set_time(whole.summary.elapsed);
    report.add_test_suites([checks(whole), scenarios(&whole.summary), harness(whole)]);
    report.to_string().expect("a document in memory can be written")
}

/// One test a check, and one a group of failures.
fn checks(whole: &Whole) -> TestSuite {
    let mut suite = TestSuite::new("checks");
    suite.set_time(whole.summary.elapsed);
    for check in Check::ALL {
        let groups = whole.summary.groups.iter().filter(|group| group.check == check.code());
        let mut cases: Vec<TestCase> = groups.map(|group| failed(whole, group)).collect();
        if cases.is_empty() {
            cases.push(TestCase::new(check.code(), TestCaseStatus::success()));
        }
        for mut case in cases {
            case.set_classname(format!("sim.{check}"));
            suite.add_test_case(case);
        }
    }
    suite
}

fn failed(whole: &Whole, group: &Group) -> TestCase {
    let line = whole.line_of(group);
    let sentence = line.map_or("", |line| line.sentence.as_str());
    let (count, Again { word, command }) = (group.count, Again::of_group(&whole.started, group, line));
    let text = format!("{sentence}\nfailing seeds: {count}\n{word}: {command}\n");
    let mut status = if group.known {
        TestCaseStatus::skipped()
    } else {
        TestCaseStatus::non_success(NonSuccessKind::Failure)
    };
    let known = group.known_as().map(|why| format!("known: {why}: {sentence}"));
    status.set_message(known.unwrap_or_else(|| sentence.to_owned()));
    status.set_type(group.check.clone()).set_description(text);
    TestCase::new(group.id.clone(), status)
}

/// One test for all scenarios that held, and one for each that did not.
fn scenarios(summary: &Summary) -> TestSuite {
    let mut suite = TestSuite::new("scenarios");
    let ran = &summary.scenarios;
    let mut add = |name: String, status: TestCaseStatus| {
        let mut case = TestCase::new(name, status);
        case.set_classname("sim.scenarios");
        suite.add_test_case(case);
    };
    if ran.passed > 0 {
        add(format!("{} held", counted(ran.passed, "scenario")), TestCaseStatus::success());
    }
    for failed in &ran.failed {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(failed.sentence.clone()).set_type(Check::Expect.code());
        add(failed.path.clone(), status);
    }
    suite
}

/// What says whether the run was worth something.
fn harness(whole: &Whole) -> TestSuite {
    let summary = &whole.summary;
    let mut suite = TestSuite::new("harness");
    let reached = if whole.started.require_reach { whole.missed.join(", ") } else { String::new() };
    let missing: Vec<String> = summary.shards_missing.iter().map(u64::to_string).collect();
    let parts = summary.parts.iter().filter(|end| end.exit != Exit::Held);
    let parts: Vec<&str> = parts.map(|end| end.part.code()).collect();
    let fate = summary.planted.fate;
    let lost = if fate == PlantedFate::Found { "" } else { fate.code() };
    for (name, wrong) in [
        ("worlds ran", if summary.seeds == 0 { "no seed ran".to_owned() } else { String::new() }),
        ("the planted failure is found", lost.to_owned()),
        ("worlds run twice are the same", counted_or_none(summary.mismatches, "worlds differed")),
        (
            "the harness does not panic",
            if summary.is_harness_bug { "it did".to_owned() } else { String::new() },
        ),
        ("goals are reached", reached),
        ("no shard is missing", missing.join(", ")),
        ("what ran beside the seeds holds", parts.join(", ")),
    ] {
        let status = if wrong.is_empty() {
            TestCaseStatus::success()
        } else {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(format!("{name}: {wrong}")).set_type(CHECK.code());
            status
        };
        let mut case = TestCase::new(name, status);
        case.set_classname("sim.harness");
        suite.add_test_case(case);
    }
    suite.add_test_case(all_seeds_ran(summary));
    for id in &summary.known_gone {
        suite.add_test_case(gone(id));
    }
    suite
}

/// A known group that is gone does not fail a run, and is not passed over.
fn gone(id: &str) -> TestCase {
    let mut status = TestCaseStatus::skipped();
    status.set_message("this known group did not fail, and its faults were met");
    let mut case = TestCase::new(format!("known group {id} is gone"), status);
    case.set_classname("sim.harness");
    case
}

/// A run that time or somebody cut short has not failed: its test is skipped.
fn all_seeds_ran(summary: &Summary) -> TestCase {
    let by_time = summary.cut_by_time.map(|wanted| format!("cut by time, {} of {wanted}", summary.seeds));
    let by_somebody = left_out(&summary.not_run).map(|left| format!("interrupted: {left} were not run"));
    let status = match by_time.or(by_somebody) {
        None => TestCaseStatus::success(),
        Some(message) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(message);
            status
        }
    };
    let mut case = TestCase::new("all seeds ran", status);
    case.set_classname("sim.harness");
    case
}

fn counted_or_none(count: u64, what: &str) -> String {
    if count == 0 { String::new() } else { format!("{count} {what}") }
}
