//! A failing world as a replay explains it: one that a crash and a flipped bit keep from being served.

use sim::oracle::sample::Sample;
use sim::report::explain::explanation;
use sim::run::replay::{Expected, replay};
use sim::schedule::parse;

/// What fails is an expectation that is wrong on purpose: no bug has to be planted for it.
const SCENARIO: &str = r#"
scenario "a promised batch that a flipped bit has damaged is expected to be served" version=1
world filesystem="xfs" regime="unlimited" {
    partition "1/1/0" durability="synced"
}
steps {
    append "1/1/0" batch=0 count=3
    flush "1/1/0"
    append "1/1/0" batch=3 payload=3000
    flush "1/1/0" { crash "power" on="sync" call=1 survive="prefix" n=2; }
    fault "bit-flip" "1/1/0" batch=1 field="header.base-offset" bit=2
    fault "operator-deletes-index" "1/1/0" segment=0
    start
    expect "1/1/0" disposition="serve"
}
"#;

#[test]
fn a_failure_explains_itself() {
    let schedule = parse("report.kdl", SCENARIO).expect("the text reads").schedule;
    let replayed = replay(schedule, (Sample::EVERYTHING, None), &Expected::default(), None);
    let found = replayed.explanation.as_ref().expect("it fails");
    let mut bytes = Vec::new();
    explanation(&mut bytes, found, &replayed).expect("memory takes it");
    let text = String::from_utf8(bytes).expect("text");
    let plain = anstream::adapter::strip_str(&text).to_string();
    assert!(plain.lines().all(|line| line.chars().count() <= 80), "{plain}");
    crate::check("failure-report", plain.trim_end());
}
