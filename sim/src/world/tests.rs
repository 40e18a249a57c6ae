//! Worlds in which nothing is wrong, and the oracle once found something: each is a story of what it owes.

use super::arena::Arena;
use crate::oracle::sample::Sample;
use crate::run::one::run_schedule;
use crate::schedule::parse;

/// Nothing is wrong with a world of these steps, under every check there is.
#[track_caller]
fn check(world: &str, steps: &str) {
    let text = format!("scenario \"a world\" version=1\nworld {world}\nsteps {{\n{steps}\n}}\n");
    let schedule = parse("world.kdl", &text).expect("the text reads").schedule;
    let outcome = run_schedule(&mut Arena::new(), &schedule, Sample::EVERYTHING);
    let failures = outcome.failures.iter().map(|failure| failure.violation.to_string());
    assert_eq!(failures.take(3).collect::<Vec<_>>(), [""; 0]);
    assert_eq!(outcome.tally.missed, 0, "every step found what it is about");
}

#[test]
fn a_flush_of_nothing_makes_no_mark_durable() {
    let world = r#"filesystem="ext4-ordered" regime="unlimited" { partition "1/1/0" durability="synced"; }"#;
    let twice = "append \"1/1/0\" batch=5 count=2\nflush \"1/1/0\"\nflush \"1/1/0\"\n";
    let zeroed = "fault \"zeroed\" \"1/1/0\" batch=6\nstart";
    check(world, &format!("{twice}crash \"power\" survive=\"none\"\n{zeroed}"));
    // The mark is there at the start, and gone once the power fails in it.
    check(world, &format!("{twice}crash \"process\"\n{zeroed}"));
}

#[test]
fn a_file_with_two_names_is_set_aside_by_one_of_them() {
    check(
        r#"filesystem="adversarial" regime="unlimited" {
    partition "1/1/0" durability="buffered" first-offset=9
    partition "1/2/0" durability="buffered"
}"#,
        r#"
append "1/1/0" batch=1 {
    crash "os" on="sync-directory" call=1 inside="metadata" survive="subset" mask=0xfffffffffffffffb
}
start
"#,
    );
}

#[test]
fn a_sync_that_fails_drops_what_was_only_in_the_cache() {
    check(
        r#"filesystem="btrfs" regime="unlimited" { partition "1/2/0" durability="buffered"; }"#,
        r#"
append "1/2/0" batch=1 count=3
flush "1/2/0"
fault "lost-directory-entry" "1/2/0" segment=0 file="log"
crash "process"
fault "undone-rename" "1/2/0" file="ledger"
start { fault "sync-failure" on="sync" call=2; }
"#,
    );
}

#[test]
fn a_read_that_shows_what_a_mark_promised_hides_what_lies_there() {
    check(
        r#"filesystem="xfs" regime="unlimited" { partition "1/1/0" durability="proven"; }"#,
        r#"
append "1/1/0" batch=0
flush "1/1/0"
append "1/1/0" batch=1 count=3
flush "1/1/0" { crash "os" on="sync" call=1 survive="all"; }
fault "duplicate-batch" "1/1/0" batch=0 to-batch=2 to="1/1/0"
fault "noise" "1/1/0" batch=0
fault "misdirected-read" "1/1/0" batch=0 to-batch=2 to="1/1/0"
start
"#,
    );
}

#[test]
fn a_floor_that_a_poisoned_writer_was_asked_for_acknowledges_nothing() {
    check(
        r#"filesystem="btrfs" regime="unlimited" { partition "1/1/0" durability="synced" first-offset=9; }"#,
        r#"
append "1/1/0" batch=0 count=3 messages=2 payload=120
roll "1/1/0"
crash "power" survive="all" { names survive="none"; }
fault "lost-directory-entry" "1/1/0" segment=9 file="log"
fault "operator-drops-ledger" "1/1/0"
start
checkpoint "1/1/0" { fault "sync-failure" on="sync" call=2; }
retain "1/1/0" below=15
"#,
    );
}
