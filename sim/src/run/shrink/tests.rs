//! Schedules that fail by what they expect themselves, so that no planted bug is needed.

use super::*;
use crate::schedule::generate::{Knobs, generate_seed};
use crate::schedule::{Tape, print_step};

const TEXT: &str = r#"
scenario "an expectation that does not hold" version=1
world filesystem="xfs" regime="unlimited" {
    partition "3/2/9" durability="synced"
    partition "3/4/9" durability="buffered"
}
steps {
    append "3/4/9" batch=3 messages=3 payload=600
    append "3/2/9" batch=17 messages=2 payload=300 content=8
    flush "3/2/9" { fault "short-write" call=2 bytes=100; }
    append "3/2/9" batch=18 count=2
    crash "power" survive="subset" mask=0xff
    start
    expect "3/2/9" next-offset=9
}
"#;

/// The same failure, as a person would write it.
const SHORT: &str = r#"append "1/1/0" batch=0 messages=2
flush "1/1/0"
crash "process"
start
expect "1/1/0" next-offset=9
"#;

fn schedule(text: &str) -> Schedule {
    parse("shrink.kdl", text).expect("the text reads").schedule
}

fn shrunk(schedule: &Schedule) -> Option<Shrunk> {
    let expected = (Sample::EVERYTHING, &Expected::default());
    shrink(Arena::new(), schedule, expected, 20_000, || false)
}

fn lines(schedule: &Schedule) -> String {
    schedule.steps.iter().map(|step| print_step(step).trim().to_owned() + "\n").collect()
}

#[test]
fn a_schedule_that_holds_is_not_shrunk() {
    assert_eq!(shrunk(&generate_seed(1, Knobs::default())), None);
}

#[test]
fn what_is_left_is_what_a_person_would_write() {
    let found = shrunk(&schedule(TEXT)).expect("it fails");
    assert_eq!(lines(&found.schedule), SHORT);
    assert_eq!(found.schedule.world.partitions.len(), 1);
    let expectation = Some("the next offset");
    let class = FailureClass { check: crate::oracle::Check::Expect, recovery_step: "decide", expectation };
    assert_eq!(found.class, class);
    let (from, to) = found.extents;
    assert_eq!((from.steps, from.faults, from.batches), (7, 1, 4));
    assert_eq!((to.steps, to.faults, to.batches, to.bytes), (4, 0, 1, 200));
    assert!(!found.is_cut_short && found.sample == Sample::EVERYTHING);
    // What was shrunk is left as it is.
    let again = shrunk(&found.schedule).expect("it still fails");
    assert_eq!(again.schedule, found.schedule);
}

#[test]
fn what_few_checks_find_is_held_to_all_of_them() {
    let drawn = Sample::draw(&mut Tape::from_seed(7));
    let found = shrink(Arena::new(), &schedule(TEXT), (drawn, &Expected::default()), 20_000, || false);
    let found = found.expect("it fails");
    assert_eq!((lines(&found.schedule).as_str(), found.sample), (SHORT, Sample::EVERYTHING));
}

#[test]
fn a_budget_ends_it_and_says_so() {
    let whole = schedule(TEXT);
    let expected = (Sample::EVERYTHING, &Expected::default());
    let few = shrink(Arena::new(), &whole, expected, 4, || false).expect("it fails");
    assert!(few.is_cut_short && few.runs == 4);
    let late = shrink(Arena::new(), &whole, expected, 20_000, || true).expect("it fails");
    assert!(late.is_cut_short && late.schedule == whole);
}

#[test]
fn steps_are_dropped_and_never_put_together() {
    let text = r#"
scenario "two appends that both matter" version=1
world filesystem="xfs" regime="unlimited" {
    partition "1/1/0" durability="synced"
}
steps {
    append "1/1/0" batch=0
    append "1/1/0" batch=1
    crash "process"
    start
    expect "1/1/0" next-offset=3
}
"#;
    let found = shrunk(&schedule(text)).expect("it fails");
    assert!(found.schedule.steps.iter().all(|step| print_step(step).find("count=").is_none()));
}

#[test]
fn steps_and_what_is_inside_them_count_and_expectations_do_not() {
    let text = r#"
scenario "counted" version=1
world filesystem="xfs" regime="unlimited" {
    partition "1/1/0" durability="buffered"
}
steps {
    append "1/1/0" batch=0 count=7
    flush "1/1/0" {
        fault "short-write" call=1
        crash "power" call=2 survive="none"
    }
    fault "noise" "1/1/0" batch=1
    start
    expect "1/1/0" disposition="serve"
}
"#;
    let found = extent(&schedule(text));
    assert_eq!((found.steps, found.faults, found.batches, found.bytes), (6, 2, 7, 700));
    // The crash is in step 1, before its second call.
    assert_eq!(found.lateness, 3);
}
