//! Planted bugs, held to the sources without building any of them.

use std::fs;
use std::path::Path;

use sim::subject::collection::{FOLDER, read};
use sim::subject::mutant::{Mutant, Target};

fn top() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn mutants() -> Vec<Mutant> {
    read(&top().join(FOLDER)).expect("every planted bug reads")
}

#[track_caller]
fn check(complaints: &[String]) {
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_planted_bug_has_its_text_in_the_sources() {
    let mut complaints = Vec::new();
    for mutant in mutants() {
        for replacement in &mutant.replacements {
            let source = fs::read_to_string(top().join(&replacement.file));
            let source =
                source.unwrap_or_else(|error| panic!("{}: {}: {error}", mutant.id, replacement.file));
            if let Err(stale) = replacement.apply(&source) {
                complaints.push(format!("{}: {}: {stale}", mutant.id, replacement.file));
            }
        }
    }
    check(&complaints);
}

#[test]
fn there_are_enough_planted_bugs_and_enough_of_them_blind_the_harness() {
    let mutants = mutants();
    let blinding = mutants.iter().filter(|mutant| mutant.target != Target::Core).count();
    let of_hosts = mutants.iter().filter(|mutant| mutant.replicas != "1").count();
    assert!(mutants.len() >= 75, "{} planted bugs", mutants.len());
    assert!(blinding >= 10, "{blinding} of the disk and the oracle");
    assert!(of_hosts >= 10, "{of_hosts} of the host");
}
