//! The operator's page names everything that makes a fence.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::tidy::{check, read, top};

/// What the sources say where a fence is asked for.
const MAKES: [&str; 4] = [
    "steps.push(Step::MakeFence)",
    "Plan::of_ledger_set_aside()",
    "SettingAside::new(walk",
    "FenceName { number }.name(partition)",
];

/// The sources that make a fence, and what the table says of each.
const PRODUCERS: [(&str, &[&str]); 7] = [
    (
        "plan/build.rs",
        &[
            "| a partition that is served | a start, or `recover apply` | residue",
            "| a partition without a ledger | a start of a server that makes ledgers |",
            "| a partition that was refused | `recover accept-loss` | what was cut off behind the loss, and an index",
        ],
    ),
    ("plan/carry_plan.rs", &["the end of a log that a segment with carried batches takes the place of"]),
    ("host/accept_loss.rs", &["a file under the ledger's name that is none"]),
    ("host/adopt.rs", &["| a partition | `recover adopt` | its ledger |"]),
    ("transfer/swap.rs", &["| a partition with replicas | the installation of a whole copy from a peer |"]),
    ("wal/opening.rs", &["| `metadata.log` | a start |"]),
    // Carries out what the others ask for.
    ("plan/search.rs", &[]),
];

fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            let core = top().join("recovery-core/src");
            found.push(path.strip_prefix(core).unwrap().to_str().unwrap().to_owned());
        }
    }
}

/// F85 to F88: every producer of a fence stands in the table of them, and no other does.
#[test]
fn every_producer_of_a_fence_has_a_row() {
    let page = read("docs/operations.md");
    let (_, table) = page.split_once("### Where a `.fenced.N` comes from").expect("the page has the table");
    let (table, _) = table.split_once("\n### ").expect("another part follows");
    let known: BTreeMap<&str, &[&str]> = PRODUCERS.into_iter().collect();
    let (mut files, mut complaints) = (Vec::new(), Vec::new());
    sources(&top().join("recovery-core/src"), &mut files);
    let makes =
        |file: &String| MAKES.iter().any(|make| read(&format!("recovery-core/src/{file}")).contains(make));
    let producers: Vec<String> = files.into_iter().filter(makes).collect();
    for file in producers.iter().filter(|file| !known.contains_key(file.as_str())) {
        complaints.push(format!("{file} makes a fence, and nobody says which row is about it"));
    }
    for (file, rows) in PRODUCERS {
        if !producers.iter().any(|maker| maker == file) {
            complaints.push(format!("{file} makes no fence any more"));
        }
        for row in rows.iter().filter(|row| !table.contains(**row)) {
            complaints.push(format!("{file}: the table does not say: {row}"));
        }
    }
    check(&complaints);
}
