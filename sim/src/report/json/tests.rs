//! Every line has the fields that `docs/json.md` lists for it, and no other.

use std::time::Duration;

use serde_json::Value;

use super::{
    expect, export, kernel_check_summary, kernel_strange, kernel_wronged, mutant, mutants_summary, replay,
    self_check, self_check_summary, shrink, verdicts,
};
use crate::command::export::ExportReport;
use crate::command::kernel_check::KernelReport;
use crate::command::mutants::{Judged, Numbers};
use crate::command::self_check::SelfCheckReport;
use crate::command::shrink::{ShrinkReport, Verified};
use crate::command::source::Source;
use crate::command::verdicts::VerdictsReport;
use crate::disk::Geometry;
use crate::exit::Exit;
use crate::kernel::{Found, Kind, Program, Remains, Strange, Wronged};
use crate::oracle::sample::Checks;
use crate::oracle::{Check, Violation};
use crate::report::lines::{
    FailureLine, Line, LineError, ScenariosLine, StartedLine, SummaryLine, summary_of,
};
use crate::report::whole::Whole;
use crate::run::ending::FailureClass;
use crate::run::moves::{Move, Moves};
use crate::run::parallel::Seeds;
use crate::run::part::{Part, PartEnd};
use crate::run::pinned::PinnedSeed;
use crate::run::session::{FailedScenario, FailedSeed, Group, NotRun, Request, ScenariosRun, Summary};
use crate::schedule::generate::{Knobs, generate_seed};
use crate::schedule::token::{Commit, Token};
use crate::self_check::PartResult;
use crate::subject::kill::{Fate, Kill};
use crate::subject::mutant::Mutant;
use crate::world::{Arena, Failure, Watch};

const PAGE: &str = include_str!("../../../../docs/json.md");

/// The fields of the table under a heading of the page, sorted, with those of every line.
fn documented(line_type: &str) -> Vec<String> {
    let heading = format!("### `{line_type}`\n");
    let section = PAGE.split_once(&heading).unwrap_or_else(|| panic!("no section {line_type}")).1;
    let section = section.split("\n### ").next().expect("a split has a first part");
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|row| row.split('|').nth(1).expect("a row has a cell"));
    let mut fields: Vec<String> =
        cells.flat_map(|cell| cell.split(',')).map(|name| name.trim().trim_matches('`').to_owned()).collect();
    fields.extend(["type".to_owned(), "version".to_owned()]);
    fields.sort_unstable();
    fields
}

#[track_caller]
fn check(line: &Value) {
    let Value::Object(object) = line else { panic!("{line} is no object") };
    let line_type = object["type"].as_str().expect("a type is a word");
    assert_eq!(object["version"], 1);
    let mut fields: Vec<String> = object.keys().cloned().collect();
    fields.sort_unstable();
    assert_eq!(fields, documented(line_type), "{line_type}");
    assert!(!line.to_string().contains('\n'));
}

fn request() -> Request {
    Request {
        profile: "default",
        knobs: Knobs::default(),
        seeds: Seeds::all(7, 100),
        seconds: None,
        failures: None,
        per_group: 1,
        require_reach: false,
        jobs: 2,
        commit: Commit::Unknown,
        image: None,
        checks: Checks::Default,
        subject: None,
    }
}

#[test]
fn the_lines_of_a_check_against_a_kernel() {
    let program = Program::from_seed(7, Geometry::DEFAULT);
    let strange = Strange { program, found: Remains::default(), before: Remains::default() };
    check(&kernel_strange(Kind::Xfs, &strange));
    check(&kernel_wronged(Kind::Ext4, &Wronged { seed: 7, sentences: vec!["a batch is gone".to_owned()] }));
    let report = KernelReport {
        kind: Kind::Ext4,
        kernel: "6.1.0".to_owned(),
        from_seed: 7,
        found: Found::default(),
        missing: Some("no loop device".to_owned()),
        not_run: 0,
        elapsed: Duration::from_secs(1),
        exit: Exit::Nothing,
    };
    let line = kernel_check_summary(&report);
    check(&line);
    assert_eq!((&line["missing"], &line["exit"]), (&"no loop device".into(), &4.into()));
}

fn a_failure() -> Failure {
    let violation =
        Violation::new(Check::I06, "a batch", crate::oracle::Value::Number(1), crate::oracle::Value::None)
            .at(3..4);
    Failure {
        violation,
        partition: None,
        remark: None,
        varied: None,
        node: 0,
        step: 2,
        recovery_step: "decide",
    }
}

/// A line as a program reads it, after it was held to the page and to what reads it back here.
#[track_caller]
fn read(line: &Line) -> Value {
    let value = serde_json::from_str(&line.text()).expect("a line is JSON");
    check(&value);
    let back: Line = serde_json::from_str(&line.text()).expect("a line reads");
    assert_eq!(back, *line);
    value
}

#[test]
fn the_lines_of_a_run_have_the_fields_of_the_page() {
    read(&Line::RunStarted(StartedLine::of(&request())));
    let token = Token::of(7, Knobs::default(), None, Commit::Unknown);
    let failed = FailedSeed {
        token: Some(token),
        schedule: &generate_seed(7, Knobs::default()),
        digest: 5,
        failure: &a_failure(),
        group: "I06.decide.noise",
        is_known: false,
        is_shown: true,
        faults: &["noise"],
        difference: None,
    };
    let line = read(&Line::Failure(FailureLine::of_seed(&failed)));
    assert_eq!(line["digest"], "0000000000000005");
    assert_eq!(line["range"], serde_json::json!([3, 4]));
    read(&Line::Planted(FailureLine::of_seed(&FailedSeed { token: None, ..failed })));
}

#[test]
fn the_summary_names_every_check_and_every_group() {
    let group = Group {
        id: "I06.decide.none".to_owned(),
        check: "I06".to_owned(),
        recovery_step: "decide".to_owned(),
        count: 3,
        token: Token::of(7, Knobs::default(), None, Commit::Unknown).to_string(),
        ..Group::default()
    };
    let failed = vec![FailedScenario { path: "a.kdl".to_owned(), sentence: "line 3: lost".to_owned() }];
    let mut arena = Arena::new();
    let mut summary = Summary {
        seeds: 100,
        failures: 3,
        groups: vec![group],
        elapsed: Duration::from_secs(2),
        parts: vec![PartEnd { part: Part::Sweeps, exit: Exit::Failed, elapsed: Duration::from_secs(3) }],
        not_run: NotRun { seeds: 5, scenarios: 1, parts: vec![Part::KillTable] },
        cut_by_time: Some(200),
        scenarios: ScenariosRun { passed: 2, failed },
        ..Summary::default()
    };
    for seed in 0..20 {
        summary
            .tally
            .add(&crate::run::one::run_seed(&mut arena, seed, Knobs::default(), Checks::Default).tally);
    }
    summary.tally.worlds = summary.seeds;
    let whole = Whole::of(StartedLine::of(&request()), None, Vec::new(), summary);
    assert_eq!(whole.exit, Exit::Failed);
    let mut reach = Vec::new();
    for line in whole.last_lines() {
        let value = read(&line);
        match line {
            Line::Reach(line) => reach.push(line),
            Line::RunSummary(line) => {
                let violations = value["violations_by_invariant"].as_object().expect("an object");
                assert_eq!(violations.len(), Check::ALL.len());
                assert_eq!((&value["exit"], &value["seeds_per_second"]), (&1.into(), &50.0.into()));
                let group = value["groups"][0].as_object().expect("an object");
                let fields: Vec<&str> = group.keys().map(String::as_str).collect();
                assert_eq!(fields, ["check", "count", "faults", "id", "known", "recovery_step", "token"]);
                let back = summary_of(&reach, &line).expect("every word is known");
                assert_eq!(back.tally, whole.summary.tally);
                assert_eq!(back.scenarios, whole.summary.scenarios);
                assert_eq!(SummaryLine::of(&whole.started, &back, &whole.missed, whole.exit), line);
                let unnamed = ScenariosLine { failing: Vec::new(), ..line.scenarios.clone() };
                let refused = summary_of(&reach, &SummaryLine { scenarios: unnamed, ..line });
                assert_eq!(refused, Err(LineError::Unnamed { failed: 1, named: 0 }));
            }
            Line::RunStarted(_) | Line::Planted(_) | Line::Failure(_) => panic!("no last line"),
        }
    }
}

#[test]
fn the_lines_of_a_self_check_have_the_fields_of_the_page() {
    for finding in [Ok("3 cells".to_owned()), Err("1 is wrong".to_owned())] {
        let passed = finding.is_ok();
        let line = self_check(&PartResult { name: "litmus", claim: "all is well", finding });
        check(&line);
        assert_eq!(line["passed"], passed);
    }
    let report = SelfCheckReport { parts: 5, failed: vec!["litmus"], ..SelfCheckReport::default() };
    check(&self_check_summary(&report));
    assert_eq!(report.exit(), Exit::Harness);
    let cut = SelfCheckReport { parts: 5, not_run: vec!["reach"], ..SelfCheckReport::default() };
    assert_eq!(self_check_summary(&cut)["exit"], 130);
}

#[test]
fn the_lines_of_planted_bugs_have_the_fields_of_the_page() {
    let text = "mutant \"m\" target=\"core\" version=1\nstory \"s\"\n\
                replace file=\"f\" {\n    find \"a\"\n    with \"b\"\n}\nkilled-by \"I01\"\n";
    let planted = Mutant::parse("m", text).expect("it is well-formed");
    let kill =
        Kill { by: "I01".to_owned(), how: "seed", seeds: Some(7), from_each: vec![3, 7, 5], token: None };
    for fate in [Fate::Killed(kill), Fate::WrongCheck { by: "I02".to_owned() }, Fate::Survived, Fate::Hung] {
        let line = mutant(&Judged { mutant: &planted, fate, scenarios: Vec::new(), seconds: 1.5 });
        check(&line);
        assert_eq!(line["how"].is_null(), line["status"] != "killed");
    }
    let numbers = Numbers {
        planted: 1,
        fates: [1, 0, 0, 0, 0, 0],
        missing: 0,
        total: 1,
        seeds_median: Some(5),
        seeds_median_of_worst: Some(7),
        seeds_max: Some(7),
        seconds: 2.5,
    };
    check(&mutants_summary(&numbers, &["m"]));
}

/// A file of a world that ends as it is recorded to.
fn replayed_file(name: &str, record: &str) -> Value {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join(format!("{name}.kdl"));
    let schedule = generate_seed(7, Knobs::default());
    let scenario = crate::schedule::Scenario::untold("a world", schedule);
    std::fs::write(&path, crate::schedule::print(&scenario)).expect("it takes a file");
    std::fs::write(path.with_extension("json"), record).expect("it takes a file");
    let source = Source::read(path.to_str().expect("a plain path"), None, Checks::Default)
        .expect("what is printed reads");
    let replayed = crate::run::replay::replay(
        source.scenario.schedule.clone(),
        (source.sample, None),
        &source.expected,
        None,
    );
    replay(&source, Commit::Unknown, &replayed)
}

#[test]
fn the_line_of_a_replay_has_the_fields_of_the_page() {
    let line = replayed_file("unknown", "");
    check(&line);
    assert_eq!((&line["reproduced"], &line["expected_digest"]), (&"unknown".into(), &Value::Null));
    let boots = line["boots"].as_array().expect("a list");
    assert!(!boots.is_empty());
    for boot in boots {
        let fields: Vec<&str> = boot.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(fields, ["node", "partitions", "plan", "step"]);
    }
    assert!(line["timeline"].as_array().expect("a list").len() > 20);
}

#[test]
fn a_replay_says_whether_it_is_what_was_recorded() {
    let digest = replayed_file("first", "")["digest"].as_str().expect("a digest").to_owned();
    let reproduced = |record: &str| replayed_file("again", record)["reproduced"].clone();
    assert_eq!(reproduced(&format!("{{\"digest\":\"{digest}\"}}")), "yes");
    assert_eq!(reproduced("{\"digest\":\"0000000000000001\"}"), "differs");
    assert_eq!(reproduced(&format!("{{\"digest\":\"{digest}\",\"check\":\"I06\"}}")), "no");
}

#[test]
fn the_line_of_a_shrunk_schedule_has_the_fields_of_the_page() {
    let extent = crate::schedule::Extent { steps: 3, faults: 1, ..Default::default() };
    check(&shrink(&ShrinkReport {
        from: extent,
        to: extent,
        title: "something broke".to_owned(),
        steps: vec!["start".to_owned()],
        runs: 5,
        seconds: 0.5,
        class: FailureClass { check: Check::I06, recovery_step: "decide", expectation: None },
        sentence: "one should be two".to_owned(),
        is_cut_short: false,
        is_interrupted: false,
        verified: Verified::Yes,
        file: "a.kdl".to_owned(),
    }));
}

#[test]
fn the_lines_of_moved_verdicts_have_the_fields_of_the_page() {
    let seed = PinnedSeed { has_hosts: true, seed: 9 };
    let one = Move { from: "serve".to_owned(), to: "refuse/hole".to_owned(), count: 3, seed };
    let moves = Moves { compared: 1000, same: 997, moved: 3, missing: 0, moves: vec![one] };
    let report = VerdictsReport { against: "main".to_owned(), moves, commit: Commit::Unknown, not_run: 0 };
    let lines = verdicts(&report);
    lines.iter().for_each(check);
    assert_eq!(lines[0]["tokens"].as_array().map(Vec::len), Some(1));
    assert_eq!(lines.last().expect("the summary")["type"], "verdicts-summary");
}

/// What the last step of a world with damage finds.
fn exported() -> ExportReport {
    let schedule = generate_seed(7, Knobs::default());
    let step = u32::try_from(schedule.steps.len()).expect("a schedule is short");
    let sample = crate::oracle::sample::Sample::EVERYTHING;
    let nodes = crate::world::freeze(&schedule, &mut Arena::new(), step, Watch::of(sample));
    let (subject, directory) = ("tm1-7".to_owned(), "out".to_owned());
    ExportReport { subject, directory, step, step_text: None, nodes }
}

#[test]
fn an_export_and_its_demands_have_the_fields_of_the_page() {
    let report = exported();
    check(&export(&report));
    let demands = expect(&report);
    let keys = |value: &Value| -> Vec<String> {
        let mut keys: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
        keys.sort_unstable();
        keys
    };
    let partition = &demands["partitions"][0];
    let mut fields = [keys(&demands), keys(partition)].concat();
    fields.push("type".to_owned());
    fields.sort_unstable();
    assert_eq!(fields, documented("EXPECT.json"));
    let batches = ["must_keep", "may_lose", "must_not_serve", "must_refuse"].map(|list| &partition[list]);
    let batch = batches.iter().find_map(|list| list.get(0)).expect("the world has a batch");
    assert_eq!(keys(batch), ["file", "first_offset", "last_offset", "length", "position"]);
    let accepted = partition["accept"].get(0).expect("something may be concluded");
    assert_eq!(keys(accepted), ["disposition", "next_offset_max", "next_offset_min", "reason"]);
}
