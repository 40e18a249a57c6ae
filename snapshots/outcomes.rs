//! Every way in which a run ends: exit status, what a person reads last, and what a program reads last.

use std::time::Duration;

use sim::oracle::Check;
use sim::oracle::sample::Checks;
use sim::report::annotations::annotations;
use sim::report::lines::{Line, StartedLine, SummaryLine};
use sim::report::whole::Whole;
use sim::report::{html, junit, terminal};
use sim::run::parallel::Seeds;
use sim::run::planted::{Planted, PlantedFate};
use sim::run::session::{FailedScenario, Group, Request, ScenariosRun, Summary};
use sim::schedule::generate::Knobs;
use sim::schedule::token::Commit;
use sim::subject::kill_table::KillTable;

fn started() -> StartedLine {
    StartedLine::of(&Request {
        profile: "pr",
        knobs: Knobs::default(),
        seeds: Seeds::all(7, 1000),
        seconds: Some(60),
        failures: Some(50),
        per_group: 1,
        require_reach: true,
        jobs: 2,
        commit: Commit::Unknown,
        image: None,
        checks: Checks::Default,
        subject: None,
    })
}

/// A run in which nothing went wrong.
fn held() -> Summary {
    let planted = Planted { fate: PlantedFate::Found, group: Some("I05.decide.none".to_owned()) };
    let mut summary = Summary {
        seeds: 1000,
        reruns: 15,
        elapsed: Duration::from_secs(2),
        planted,
        scenarios: ScenariosRun { passed: 47, failed: Vec::new() },
        ..Summary::default()
    };
    summary.tally.worlds = 1000;
    summary
}

fn group(known: bool) -> Group {
    Group {
        id: "I06.decide.bit-flip".to_owned(),
        check: "I06".to_owned(),
        recovery_step: "decide".to_owned(),
        faults: vec!["bit-flip".to_owned()],
        count: 3,
        known,
        reason: known.then(|| "the fix waits for the next format".to_owned()),
        first_seen: known.then(|| "9f3c2a1b".to_owned()),
        token: "tm1-9-rmfasmn1-g1-unknown".to_owned(),
    }
}

fn failed(known: bool) -> Summary {
    let known_listed = 2 * u64::from(known);
    let mut summary = Summary { failures: 3, groups: vec![group(known)], known_listed, ..held() };
    summary.tally.violations.insert(Check::I06, 3);
    summary
}

fn scenarios() -> ScenariosRun {
    let path = "scenarios/findings/n01-error-of-a-read.kdl".to_owned();
    let sentence = "line 14: partition 1/1/0: expected unavailable, found serve (expect)".to_owned();
    ScenariosRun { passed: 46, failed: vec![FailedScenario { path, sentence }] }
}

fn fate(fate: PlantedFate) -> Summary {
    Summary { planted: Planted { fate, group: None }, ..held() }
}

/// The last lines for a person, from the one that says whether the harness is alive, and those fields of the last
/// line for a program that are not what they are in a run that held.
fn tell(what: &str, summary: Summary, started: StartedLine) -> String {
    let whole = Whole::of(started, None, Vec::new(), summary);
    let mut bytes = Vec::new();
    terminal::run_summary(&mut bytes, &whole).expect("memory takes it");
    let text = String::from_utf8(bytes).expect("text");
    let person = &text[text.find("   Alive").expect("it says whether it is alive")..];
    let fields = |whole: &Whole| {
        let line = Line::RunSummary(SummaryLine::of(&whole.started, &whole.summary, &[], whole.exit));
        serde_json::from_str::<serde_json::Value>(&line.text()).expect("a line is JSON")
    };
    let plain = fields(&Whole::of(self::started(), None, Vec::new(), held()));
    let mut program = String::new();
    for (name, value) in fields(&whole).as_object().expect("a line is an object") {
        if plain[name] != *value {
            program.extend([name, ": ", &value.to_string(), "\n"]);
        }
    }
    format!("== {what}: exit {}\n{person}{program}\n", whole.exit as u8)
}

/// A scenario, a new group and a known one failed, and another known one is gone.
fn failed_in_every_way() -> Whole {
    let new = Group { id: "I08.append.none".to_owned(), check: "I08".to_owned(), ..group(false) };
    let summary = Summary {
        groups: vec![group(true), new],
        failures: 6,
        known_listed: 2,
        known_gone: vec!["I05.decide.noise".to_owned()],
        scenarios: scenarios(),
        ..held()
    };
    Whole::of(started(), None, Vec::new(), summary)
}

#[test]
fn whatever_failed_is_named_in_every_output() {
    let whole = failed_in_every_way();
    let mut terminal = Vec::new();
    terminal::run_summary(&mut terminal, &whole).expect("memory takes it");
    let terminal = String::from_utf8(terminal).expect("text");
    // A line for a person is broken where it is full, also within a path.
    let terminal: String = terminal.split_whitespace().collect();
    let line = Line::RunSummary(SummaryLine::of(&whole.started, &whole.summary, &[], whole.exit)).text();
    let outputs = [
        ("terminal", terminal),
        ("json", line),
        ("junit", junit::document(&whole)),
        ("annotations", annotations(&whole)),
        ("page", html::page(&whole, &[], &KillTable::default())),
    ];
    let said = [
        "scenarios/findings/n01-error-of-a-read.kdl",
        "expected unavailable, found serve",
        "I08.append.none",
        "I06.decide.bit-flip",
        "the fix waits for the next format",
        "9f3c2a1b",
        "I05.decide.noise",
    ];
    for (output, text) in outputs {
        for words in said {
            let words = if output == "terminal" { words.replace(' ', "") } else { words.to_owned() };
            assert!(text.contains(&words), "{output} does not say {words}:\n{text}");
        }
    }
}

#[test]
fn how_a_run_ends() {
    let unreached = StartedLine { require_reach: true, ..started() };
    let mut late = held();
    late.seeds = 5000;
    late.tally.worlds = 5000;
    let pages = [
        tell("all held", held(), started()),
        tell("a check failed", failed(false), started()),
        tell("only a known group failed", failed(true), started()),
        tell(
            "a known group is gone",
            Summary { known_listed: 1, known_gone: vec!["I06.decide.bit-flip".to_owned()], ..held() },
            started(),
        ),
        tell("a scenario failed", Summary { scenarios: scenarios(), ..held() }, started()),
        tell("no seed ran behind it", Summary { seeds: 0, scenarios: scenarios(), ..held() }, started()),
        tell("the planted world fails by itself", fate(PlantedFate::Masked), started()),
        tell("one schedule gave two digests", Summary { mismatches: 1, ..failed(false) }, started()),
        tell("nothing ran", Summary { seeds: 0, ..held() }, started()),
        tell("goals were missed", late, unreached),
        tell("a shard is missing", Summary { shards_missing: vec![3], ..held() }, started()),
        tell("the planted failure is lost", fate(PlantedFate::Silent), started()),
        tell("the harness panicked", Summary { is_harness_bug: true, ..failed(false) }, started()),
        tell("somebody ended it", Summary { is_interrupted: true, ..held() }, started()),
    ];
    crate::check("outcomes", pages.concat().trim_end());
}
