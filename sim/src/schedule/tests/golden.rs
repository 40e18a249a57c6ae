//! The examples of the language's page, word for word.

use crate::schedule::{Kills, Origin, Scenario, parse, print};

const FLIP_UP: &str = r#"scenario "a bit upward in the last base offset is a torn tail, not a gap" version=1
finding "F29" "F36"
kills "judge-offset-before-verify"
world filesystem="ext4-ordered" regime="unlimited" {
    partition "1/1/1" durability="buffered" ledger=#false
}
steps {
    append "1/1/1" batch=0 count=3
    flush "1/1/1"
    crash "process"
    fault "bit-flip" "1/1/1" batch=2 field="header.base-offset" bit=2   // 2 becomes 6
    start
    expect "1/1/1" disposition="serve" next-offset=2 served="0..1" {
        segment 0 stop="bad-checksum" residue="noise" evidence="unknown" action="cut" at-batch=2
        saved bytes=404
    }
}
"#;

const TORN_TWICE: &str = r#"scenario "a power cut tears the last batch, then the repair itself is cut short" version=1
finding "N12"
kills "cut-before-copy"
world filesystem="adversarial" regime="legal" {
    partition "1/1/0" durability="synced"
}
steps {
    append "1/1/0" batch=0 count=9 payload=1000
    flush "1/1/0"
    append "1/1/0" batch=9 payload=9000
    flush "1/1/0" {
        crash "power" on="sync" call=1 inside="data" survive="all" {
            file "1/1/0" segment=0 file="log" survive="subset" mask=0xfffffffffffffffb fill="zeros" size="new"
        }
    }
    start { crash "power" on="set-length" call=1 survive="none"; }
    start
    expect "1/1/0" disposition="serve" next-offset=9 served="0..8" {
        segment 0 evidence="at-or-above" action="cut" at-batch=9
        saved bytes=9304
    }
}
"#;

const RECREATED: &str = r#"scenario "a topic that is deleted and created again never inherits the tombstone" version=1
finding "F63" "N26"
kills "tombstone-without-incarnation"
world filesystem="ext4-ordered" regime="unlimited" {
    partition "2/1/0" durability="synced"
}
steps {
    append "2/1/0" batch=0 count=5
    flush "2/1/0"
    checkpoint "2/1/0"
    crash "process"
    fault "bit-flip" "2/1/0" batch=3 field="frame.0.payload" bit=7
    start
    expect "2/1/0" disposition="refuse" reason="lost-durable" { unchanged; }
    expect-poll "2/1/0" from=0 error="terminal" code="lost-durable"
    delete "2/1/0"
    create "2/1/0"           // before any reconcile pass has seen the delete
    reconcile
    expect-status "2/1/0" state="served"
    expect-poll "2/1/0" from=0 messages=0
}
"#;

const HEADER: &str = r#"scenario "one line: what it shows" version=1
story "optional prose, any number"
finding "F29" "F36"          // or: report "B02"
kills "mutant-id"            // at least one, or: kills-none "why no planted bug belongs to it"
origin token="tm1-5eed-rmfasmn1-g3-9f3c2a1b" check="I06"          // only in stored failures and regressions
world filesystem="ext4-ordered" regime="legal" nodes=1 sector=512 page=4096 window=4194304 {
    partition "1/2/3" durability="buffered" ledger=#true first-offset=0 segment-bytes=1048576
    image "directory" node=0 // optional, instead of an empty disk; relative to the file
}
steps {
}
"#;

/// Reads `text` and demands that it is printed as it stands, but for comments.
fn check(text: &str) -> Scenario {
    let scenario = read(text);
    let bare: String = text
        .lines()
        .map(|line| line.split("//").next().expect("a line has a start").trim_end().to_owned() + "\n")
        .collect();
    assert_eq!(print(&scenario), bare);
    scenario
}

fn read(text: &str) -> Scenario {
    parse("example.kdl", text).unwrap_or_else(|error| panic!("{:?}", miette::Report::new(error)))
}

#[test]
fn the_flipped_offset_reads_and_prints_as_written() {
    let scenario = check(FLIP_UP);
    assert_eq!(scenario.schedule.step_count(), 5);
}

#[test]
fn the_torn_repair_reads_and_prints_as_written() {
    let scenario = check(TORN_TWICE);
    assert_eq!(scenario.schedule.step_count(), 6);
    assert_eq!(scenario.schedule.interruption_count(), 2);
}

#[test]
fn the_recreated_topic_reads_and_prints_as_written() {
    let scenario = check(RECREATED);
    assert!(scenario.schedule.needs_host());
}

#[test]
fn a_header_with_every_default_spelt_out_prints_without_them() {
    let scenario = read(HEADER);
    let token = "tm1-5eed-rmfasmn1-g3-9f3c2a1b".to_owned();
    assert_eq!(scenario.kills, Kills::Mutants(vec!["mutant-id".to_owned()]));
    assert_eq!(scenario.origin, Some(Origin { token, check: "I06".to_owned(), is_drawn: false }));
    let printed = print(&scenario);
    let world = printed.lines().skip_while(|line| !line.starts_with("world")).collect::<Vec<_>>().join("\n");
    assert_eq!(
        world,
        "world filesystem=\"ext4-ordered\" regime=\"legal\" {\n    partition \"1/2/3\" durability=\"buffered\"\n    \
         image \"directory\"\n}\nsteps {\n}"
    );
}

/// Every version of the language stays readable, so there is one sample of each, with everything in it.
#[test]
fn the_sample_of_version_1_reads_and_prints_as_written() {
    let scenario = check(include_str!("samples/version-1.kdl"));
    assert_eq!(scenario.reports, ["B02"]);
}
