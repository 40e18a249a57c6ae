//! Planted bugs, held to the sources and to what scenarios say of them, without building any.

use std::fs;
use std::path::{Path, PathBuf};

use sim::command::scenarios::files;
use sim::schedule::{Kills, parse};
use sim::subject::collection::{FOLDER, read};
use sim::subject::kill_table::{FILE, KillTable, Row};
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

/// F12: a bug is planted for each guard.
#[test]
fn there_are_enough_planted_bugs_and_enough_of_them_blind_the_harness() {
    let mutants = mutants();
    let blinding = mutants.iter().filter(|mutant| mutant.target != Target::Core).count();
    let of_hosts = mutants.iter().filter(|mutant| mutant.replicas != "1").count();
    assert!(mutants.len() >= 75, "{} planted bugs", mutants.len());
    assert!(blinding >= 10, "{blinding} of the disk and the oracle");
    assert!(of_hosts >= 10, "{of_hosts} of the host");
}

/// Every scenario with its path from the top, and what it says that it kills.
fn scenarios() -> Vec<(String, Kills)> {
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a scenario can be read");
        let path = path.strip_prefix(top()).expect("it lies below the top").to_string_lossy().into_owned();
        let scenario = parse(&path, &text).expect("a scenario reads");
        (path, scenario.kills)
    };
    files(&[top().join("scenarios")]).into_iter().map(read).collect()
}

fn table() -> KillTable {
    let text = fs::read_to_string(top().join(FILE)).expect("the table can be read");
    KillTable::read(&text).expect("it is a table")
}

#[test]
fn every_scenario_kills_what_it_says() {
    let table = table();
    let mut complaints = Vec::new();
    for (path, kills) in scenarios() {
        let Kills::Mutants(ids) = kills else { continue };
        for id in ids {
            if !table.row(&id).is_some_and(|row| row.scenarios.contains(&path)) {
                complaints.push(format!("{path}: says that it kills {id}, and the table has not seen that"));
            }
        }
    }
    check(&complaints);
}

/// A bug that more than one scenario in so many shows is about none of them: it shows wherever something is written, or
/// cut, or refused.
const BROAD_SHARE: usize = 20;

/// A bug that a few scenarios show by the way need not be what one of them is about; but the reason says so by its
/// name.
#[test]
fn a_scenario_that_says_it_kills_nothing_names_what_shows_in_it_all_the_same() {
    let (table, scenarios) = (table(), scenarios());
    let is_broad = |row: &&Row| row.scenarios.len() * BROAD_SHARE > scenarios.len();
    let mut complaints = Vec::new();
    for (path, kills) in &scenarios {
        let why = match kills {
            Kills::Mutants(_) => continue,
            Kills::None(why) => why.as_str(),
            Kills::Unsaid => "",
        };
        if why.is_empty() {
            complaints.push(format!("{path}: says neither what it kills nor why nothing"));
        }
        let words: Vec<&str> = why.split([' ', ',', ';']).collect();
        let of_core = table.rows().filter(|row| row.target == Target::Core.code() && !is_broad(row));
        for row in of_core.filter(|row| row.scenarios.contains(path) && !words.contains(&row.id.as_str())) {
            complaints.push(format!("{path}: says nothing of {}, which it kills", row.id));
        }
    }
    check(&complaints);
}

/// Whatever seeds do not kill says why: what no random world can show is a claim, and somebody must have looked.
#[test]
fn what_only_stories_kill_says_why_and_nothing_else_does() {
    let table = table();
    let complaint = |mutant: &Mutant| {
        let how = table.row(&mutant.id)?.how.as_deref()?;
        mutant.complaint(how).map(|complaint| format!("{}: {complaint}", mutant.id))
    };
    check(&mutants().iter().filter_map(complaint).collect::<Vec<String>>());
}
