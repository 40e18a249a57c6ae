//! Worlds with hosts in which nothing is wrong.

use crate::oracle::sample::Sample;
use crate::run::one::run_schedule;
use crate::schedule::parse;
use crate::world::Arena;

/// Nothing is wrong with a world of these steps, and every step finds what it is about.
#[track_caller]
fn check(world: &str, steps: &str) {
    let text = format!("scenario \"a world\" version=1\nworld {world}\nsteps {{\n{steps}\n}}\n");
    let schedule = parse("world.kdl", &text).expect("the text reads").schedule;
    assert!(schedule.needs_host());
    let outcome = run_schedule(&mut Arena::new(), &schedule, Sample::EVERYTHING);
    let failures =
        outcome.failures.iter().map(|failure| format!("{} {:?}", failure.violation, failure.remark));
    assert_eq!(failures.take(3).collect::<Vec<_>>(), [""; 0]);
    assert_eq!(outcome.tally.missed, 0, "every step found what it is about");
}

#[test]
fn three_nodes_follow_and_one_that_was_damaged_takes_a_copy() {
    check(
        r#"filesystem="xfs" regime="unlimited" nodes=3 { partition "1/1/0" durability="synced" segment-bytes=1024; }"#,
        r#"
append "1/1/0" batch=0 count=6
flush "1/1/0"
crash "power" node=1 survive="none"
append "1/1/0" batch=6 count=2
flush "1/1/0"
fault "bit-flip" "1/1/0" batch=2 field="frame.0.payload" bit=3 node=1
start node=1
expect-status "1/1/0" state="rebuilding" node=1
expect-poll "1/1/0" from=0 error="retriable" code="rebuilding" node=1
transfer "1/1/0" from=0 node=1
expect-status "1/1/0" state="served" node=1
expect-poll "1/1/0" from=0 messages=8 node=1
"#,
    );
}
