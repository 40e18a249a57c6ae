//! What lies ready in the directory in which commands are brought to their ends: scenarios, other programs, parts of
//! runs, and planted bugs beside a compiler that only pretends.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use sim::schedule::generate::GENERATOR;

/// Stands for the flags of a run with another program, whose script is named by the next argument.
pub(crate) const SUBJECT: &str = "--subject=small";

/// A program that refuses everything.
pub(crate) const REFUSES: &str = "refuses.sh";

/// The same, and the third time it asks the simulator to end.
pub(crate) const INTERRUPTS: &str = "interrupts.sh";

/// The same, and the third time it takes away the directory that it is tried in.
pub(crate) const BREAKS: &str = "breaks.sh";

/// Stands for surroundings in which no temporary file can be made.
pub(crate) const NOWHERE: &str = "--nowhere";

/// Where a run of the profile `nightly` lies that was run to its end.
pub(crate) const NIGHT: &str = "night";

/// Stands for the flag that names a planted bug.
pub(crate) const PLANTED: &str = "--only";

/// How often a program was asked so far, a line each time.
const ASKED: &str = "asked";

/// A world in which all is well, and what it is expected to come to.
const SCENARIO: &str = r#"scenario "three messages and a clean stop" version=1
world filesystem="xfs" regime="legal" {
    partition "1/1/0" durability="synced"
}
steps {
    append "1/1/0" batch=0 count=3
    flush "1/1/0"
    stop
    start
    expect "1/1/0" disposition="serve" next-offset=3
}
"#;

/// The lines of a run that a build of another version wrote.
const OTHER_VERSION: &str = "{\"type\":\"run-started\",\"version\":2}\n";

/// Makes a file of the directory in which a program is tried, which is what no start expects.
const BREAKING: &str = "{ for last; do :; done; data=${last%/streams/*}; rm -r \"$data\"; : > \"$data\"; }";

const REFUSAL: &str = "printf '{\"disposition\":\"refuse\",\"next_offset\":null}'\nexit 20\n";

/// What stands in for cargo: it builds a program that finds nothing, or what the source says that it finds; it fails on
/// a source that says so, and asks whoever runs it to end if the source does.
const COMPILER: &str = r#"#!/bin/sh
if grep -q "no Rust" sim/src/lib.rs; then echo "error: this is no Rust" >&2; exit 101; fi
if grep -q "ends it" sim/src/lib.rs; then kill -INT $PPID; fi
mkdir -p "$CARGO_TARGET_DIR/mutants"
program="$CARGO_TARGET_DIR/mutants/sim"
printf '#!/bin/sh\nif [ "$1" = self-check ]; then exit 70; fi\n' > "$program"
check=$(sed -n 's/^fails by //p' sim/src/lib.rs)
if [ -n "$check" ]; then
    printf "printf '{\"type\":\"failure\",\"check\":\"%s\",\"seed\":1}\\\\n'\n" "$check" >> "$program"
fi
chmod +x "$program"
"#;

/// Planted bugs: name, the text that is looked for, the text that takes its place, what kills it.
const BUGS: [(&str, &str, &str, &str); 7] = [
    ("killed", "right", "fails by I06", "I06"),
    ("killed-otherwise", "right", "fails by I05", "I06"),
    ("then-ended", "right", "ends it", "I06"),
    ("survives", "right", "wrong", "I06"),
    ("stale", "gone", "wrong", "I06"),
    ("unbuildable", "right", "no Rust", "I06"),
    ("kills-the-self-check", "right", "wrong", "self-check:litmus"),
];

/// Puts everything there. `run` runs the program in the directory.
pub(crate) fn set(directory: &Path, run: &dyn Fn(&[&str]) -> Output) {
    let put = |name: &str, text: &str| {
        let file = directory.join(name);
        fs::create_dir_all(file.parent().expect("a file is in a directory")).expect("it can be made");
        fs::write(file, text).expect("it takes bytes");
    };
    put("right.kdl", SCENARIO);
    put("scenarios/right.kdl", SCENARIO);
    put("wrong.kdl", &SCENARIO.replace("next-offset=3", "next-offset=4"));
    put("broken.kdl", &SCENARIO.replace("append", "apend"));
    put("other-version/run.jsonl", OTHER_VERSION);
    fs::create_dir(directory.join("nothing")).expect("the name is free");
    put("edited.snap", &format!("generator {GENERATOR}\n0 refuse/hole - 00\n"));
    put(REFUSES, REFUSAL);
    let count = format!("{}/{ASKED}", directory.display());
    let third = format!("echo >> '{count}'\n[ $(wc -l < '{count}') -ne 3 ] || kill -INT $PPID\n");
    put(INTERRUPTS, &(third.clone() + REFUSAL));
    let third = third.replace("kill -INT $PPID", BREAKING);
    put(BREAKS, &(third + REFUSAL));
    put("compiler/cargo", COMPILER);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(directory.join("compiler/cargo"), executable).expect("it is ours");
    put("sim/src/lib.rs", "right\n");
    for (name, find, with, killed_by) in BUGS {
        let text = format!(
            "mutant \"{name}\" target=\"core\" version=1\nstory \"a bug\"\nreplace file=\"sim/src/lib.rs\" {{\n    \
             find \"{find}\"\n    with \"{with}\"\n}}\nkilled-by \"{killed_by}\"\n"
        );
        put(&format!("sim/mutants/{name}.kdl"), &text);
    }
    put("known.toml", &known(&run(&["run", SUBJECT, REFUSES, "--json"])));
    set_runs(directory, run, &put);
    // The self-check is long, and what has run is not run again.
    run(&[
        "run",
        "--profile",
        "nightly",
        "--from-seed",
        "7",
        "--seeds",
        "4",
        "--size",
        "small",
        "--out",
        NIGHT,
    ]);
}

/// Parts of runs: one shard of eight, the same with another digest, and a run that says it ran for long.
fn set_runs(directory: &Path, run: &dyn Fn(&[&str]) -> Output, put: &dyn Fn(&str, &str)) {
    let small = ["run", "--from-seed", "7", "--seeds", "16", "--size", "small", "--out"];
    let lines = |name: &str| fs::read_to_string(directory.join(name).join("run.jsonl")).expect("it ran");
    run(&[&small[..], &["eighth", "--shard", "1/8"]].concat());
    let eighth = lines("eighth");
    let last: Value =
        eighth.lines().last().map(|line| serde_json::from_str(line).expect("JSON")).expect("a line");
    let digest = last["digest"].as_str().expect("a digest");
    put("eighth-otherwise/run.jsonl", &eighth.replace(digest, "0000000000000001"));
    run(&[&small[..], &["late", "--require-reach"]].concat());
    let late = lines("late").replace("\"run-summary\",\"version\":1,\"seeds\":16", LATE);
    assert!(late.contains(LATE), "a summary begins with its number of seeds");
    put("late/run.jsonl", &late);
}

/// The beginning of the summary of a run within which every goal is due.
const LATE: &str = "\"run-summary\",\"version\":1,\"seeds\":5000000";

/// A file of known groups that holds those which failed.
fn known(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).expect("it prints text");
    let last: Value =
        text.lines().last().map(|line| serde_json::from_str(line).expect("JSON")).expect("a line");
    let groups = last["groups"].as_array().expect("a list");
    let entry = |group: &Value| {
        format!("[[group]]\nid = {}\nreason = \"a test\"\nfirst_seen = \"0123abcd\"\n", group["id"])
    };
    groups.iter().map(entry).collect()
}

/// Before each command: no program was asked yet.
pub(crate) fn begin(directory: &Path) {
    fs::write(directory.join(ASKED), "").expect("it takes bytes");
}

/// What an argument of the page stands for.
pub(crate) fn arguments(directory: &Path, argument: &str) -> Vec<OsString> {
    match argument {
        SUBJECT => {
            ["--from-seed", "1", "--seeds", "16", "--size", "small", "--subject"].map(OsString::from).into()
        }
        REFUSES | INTERRUPTS | BREAKS => vec![format!("exec:sh '{}/{argument}'", directory.display()).into()],
        NOWHERE => Vec::new(),
        other => vec![other.into()],
    }
}

/// How an argument reads on the page.
pub(crate) fn shown(argument: &str) -> &str {
    match argument {
        SUBJECT => "--from-seed 1 --seeds 16 --size small --subject",
        REFUSES => "'exec:sh refuses.sh'",
        INTERRUPTS => "'exec:sh interrupts.sh'",
        BREAKS => "'exec:sh breaks.sh'",
        NOWHERE => "(where no temporary file can be made)",
        other => other,
    }
}

/// The path on which the compiler that pretends comes first.
pub(crate) fn path_with_a_compiler(directory: &Path) -> OsString {
    let mut path = directory.join("compiler").into_os_string();
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    path
}
