//! Every snapshot of the project, in one test binary: what a reviewer reads when a verdict changes.
//!
//! Promises: a snapshot holds what a person reads, rendered on purpose, without times, paths or addresses.
//! Its name is its file's name in this directory.

mod decision_table;
mod failure_report;
mod help_recover;
mod help_sim;
mod outcomes;
mod provoked;
mod provoked_stage;
mod reasons;
mod scenarios;
mod seeds;
mod sentences;

/// The snapshots of no scenario, one for each test of this directory. A file of any other name is claimed by
/// nobody, and the test of the scenarios fails on it.
const NAMES: [&str; 9] = [
    "decision-table",
    "failure-report",
    "help-recover",
    "help-sim",
    "outcomes",
    "provoked",
    "reasons",
    "seeds",
    "sentences",
];

/// Compares `text` with `snapshots/<name>.snap`.
#[track_caller]
fn check(name: &str, text: &str) {
    assert!(NAMES.contains(&name) || name.starts_with("scenario-"), "{name} is a name that is claimed");
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(".");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
