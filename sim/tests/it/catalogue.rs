//! The catalogue of stories, held to what it must say: what is expected of every start in `findings/` and `reports/`.
//!
//! Promises: what was recovered is taken from a run of each story, and what is expected from its text, so no start can
//! be forgotten. Leaves out: whether what is expected comes true; `sim scenarios` and the snapshots hold that.

use std::fs;
use std::path::Path;

use recovery_core::decide::Action as SegmentAction;
use recovery_core::units::SegmentStart;
use sim::command::scenarios::files;
use sim::oracle::sample::Sample;
use sim::run::tally::Tally;
use sim::schedule::{Action, ActionWord, ExpectPartition, ExpectSegment, Expectation, Scenario, Step, parse};
use sim::world::{Arena, BootTold, Watch, run};

/// Every alternative that a step holds against the last start of a partition of its node.
fn alternatives(step: &Step) -> &[Expectation] {
    if let Action::Expect(expectation) = &step.action {
        std::slice::from_ref(expectation)
    } else if let Action::Either(alternatives) = &step.action {
        alternatives
    } else {
        &[]
    }
}

/// What is expected of one start, step by step: each its alternatives.
fn expected_of<'a>(boot: &BootTold, behind: &'a [Step]) -> Vec<Vec<&'a ExpectPartition>> {
    let of_boot = |expectation: &'a Expectation| {
        let Expectation::Partition(expected) = expectation else { return None };
        (expected.partition == boot.namespace).then_some(&**expected)
    };
    let own = behind.iter().filter(|step| step.node.0 == boot.node);
    let steps = own.map(|step| alternatives(step).iter().filter_map(of_boot).collect());
    steps.filter(|alternatives: &Vec<_>| !alternatives.is_empty()).collect()
}

/// Whether one of the steps says so, whichever of its alternatives holds.
fn is_said(expected: &[Vec<&ExpectPartition>], says: impl Fn(&ExpectPartition) -> bool) -> bool {
    expected.iter().any(|alternatives| alternatives.iter().all(|expected| says(expected)))
}

/// Whether a segment is named with what was done to it.
fn names(expected: &ExpectPartition, start: SegmentStart, action: SegmentAction) -> bool {
    let says = |segment: &ExpectSegment| match action {
        SegmentAction::Cut { .. } => {
            segment.action == Some(ActionWord::Cut) && (segment.at.is_some() || segment.at_batch.is_some())
        }
        SegmentAction::RebuildIndex => segment.action == Some(ActionWord::RebuildIndex),
        SegmentAction::Keep => segment.action == Some(ActionWord::Keep),
    };
    expected.segments.iter().any(|segment| segment.start == start && says(segment))
}

/// What is not said of a start.
fn unsaid(boot: &BootTold, expected: &[Vec<&ExpectPartition>]) -> Vec<String> {
    if expected.is_empty() {
        return vec!["nothing is expected of it".to_owned()];
    }
    let mut unsaid = Vec::new();
    let mut must = |is_said: bool, what: String| {
        if !is_said {
            unsaid.push(what);
        }
    };
    must(is_said(expected, |expected| expected.disposition.is_some()), "its disposition".to_owned());
    let ends = is_said(expected, |expected| expected.reason.is_some() || expected.next_offset.is_some());
    must(ends, "its reason or next offset".to_owned());
    let segments = &boot.verdict.segments;
    let any = segments.is_empty() || is_said(expected, |expected| !expected.segments.is_empty());
    must(any, "any of its segments".to_owned());
    for segment in segments.iter().filter(|segment| segment.action != SegmentAction::Keep) {
        let named = is_said(expected, |expected| names(expected, segment.start, segment.action));
        must(named, format!("segment {}: {}", segment.start.get(), segment.action.code()));
    }
    unsaid
}

/// Every start of a partition that the steps of a scenario bring about, in order; not those of what a world with hosts
/// does behind its last step.
fn starts(scenario: &Scenario, arena: &mut Arena) -> Vec<BootTold> {
    let watch = Watch { keeps_events: true, ..Watch::of(Sample::NOTHING) };
    let report = run(&scenario.schedule, arena, &mut Tally::default(), watch);
    let mut starts = report.told.expect("a world that keeps its events is told").boots;
    starts.retain(|boot| (boot.step as usize) < scenario.schedule.steps.len());
    starts
}

/// What a scenario does not say of the partitions that were judged.
fn unsaid_of_judged(scenario: &Scenario, starts: &[BootTold]) -> Vec<String> {
    let steps = &scenario.schedule.steps;
    let mut complaints = Vec::new();
    for (index, boot) in starts.iter().enumerate() {
        let same = |other: &&BootTold| (other.node, other.namespace) == (boot.node, boot.namespace);
        let next = starts[index + 1..].iter().find(same).map_or(steps.len(), |next| next.step as usize);
        let behind = (boot.step as usize + 1).min(next);
        let expected = expected_of(boot, &steps[behind..next]);
        let start = format!("step {} on node {}, {}", boot.step, boot.node, boot.namespace);
        complaints.extend(unsaid(boot, &expected).into_iter().map(|what| format!("{start}: {what}")));
    }
    complaints
}

/// Starts that judge nothing, since nothing is there or it is half deleted: of those something else must be expected.
fn unsaid_of_unjudged(scenario: &Scenario, starts: &[BootTold]) -> Vec<String> {
    let steps = &scenario.schedule.steps;
    let mut complaints = Vec::new();
    for (at, step) in steps.iter().enumerate().filter(|(_, step)| step.action == Action::Start) {
        let own = steps[at + 1..].iter().filter(|other| other.node == step.node);
        let behind: Vec<&Step> = own.take_while(|other| other.action != Action::Start).collect();
        for namespace in scenario.schedule.world.partitions.iter().map(|header| header.namespace) {
            let here = (at, step.node.0, namespace);
            let is_judged = starts.iter().any(|boot| (boot.step as usize, boot.node, boot.namespace) == here);
            let is_of = |expectation: &Expectation| expectation.partition() == namespace;
            let is_expected = behind.iter().any(|step| alternatives(step).iter().any(is_of));
            if !is_judged && !is_expected {
                let node = step.node.0;
                complaints.push(format!("step {at} on node {node}, {namespace}: nothing is expected of it"));
            }
        }
    }
    complaints
}

/// What a scenario does not say of its starts.
fn complaints_of(name: &str, text: &str, arena: &mut Arena) -> Vec<String> {
    let scenario = parse(name, text).expect("a scenario reads");
    let starts = starts(&scenario, arena);
    let unsaid = [unsaid_of_judged(&scenario, &starts), unsaid_of_unjudged(&scenario, &starts)].concat();
    unsaid.into_iter().map(|complaint| format!("{name}: {complaint}")).collect()
}

#[test]
fn every_start_of_a_finding_or_report_is_expected_with_each_segment_that_it_touched() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut arena = Arena::new();
    let mut complaints = Vec::new();
    for path in files(&[root.join("findings"), root.join("reports")]) {
        let name = path.file_name().expect("it is a file").to_string_lossy();
        let text = fs::read_to_string(&path).expect("a scenario can be read");
        complaints.extend(complaints_of(&name, &text, &mut arena));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// A story of which everything is said; each line of it that is left out is missed.
const WHOLE: &str = r#"
scenario "a torn tail is cut" version=1
world filesystem="ext4-ordered" regime="unlimited" {
    partition "1/1/0" durability="buffered" ledger=#false
}
steps {
    append "1/1/0" batch=0 count=2
    flush "1/1/0"
    crash "process"
    fault "shorn-write" "1/1/0" batch=1 bytes=300
    start
    expect "1/1/0" disposition="serve" next-offset=1 {
        segment 0 action="cut" at=404
    }
    delete "1/1/0"
    crash "process"
    start
    expect-poll "1/1/0" from=0 error="terminal"
}
"#;

#[test]
fn what_is_left_out_of_a_story_is_missed() {
    let mut arena = Arena::new();
    let mut said = |text: &str| complaints_of("story", text, &mut arena);
    assert_eq!(said(WHOLE), Vec::<String>::new());
    let left_out = [
        (" disposition=\"serve\"", "step 4 on node 0, 1/1/0: its disposition"),
        (" next-offset=1", "step 4 on node 0, 1/1/0: its reason or next offset"),
        (" at=404", "step 4 on node 0, 1/1/0: segment 0: cut"),
        ("segment 0 action=\"cut\" at=404", "step 4 on node 0, 1/1/0: any of its segments"),
        (
            "expect-poll \"1/1/0\" from=0 error=\"terminal\"",
            "step 8 on node 0, 1/1/0: nothing is expected of it",
        ),
    ];
    for (line, complaint) in left_out {
        let found = said(&WHOLE.replacen(line, "", 1));
        assert!(found.contains(&format!("story: {complaint}")), "without {line}: {found:?}");
    }
}
