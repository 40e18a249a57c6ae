//! Every scenario, as it went: its steps, what each start concluded, what clients were told.

use std::path::{Path, PathBuf};

use sim::command::scenarios::{files, run_file};
use sim::report::story::story;
use sim::run::explain::course;
use sim::run::panics::remember_panics;
use sim::world::Arena;

/// `scenario-<folder>-<file stem>`.
fn name_of(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).expect("a scenario lies in the directory of scenarios");
    let words: Vec<String> =
        below.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    format!("scenario-{}", words.join("-"))
}

#[test]
fn every_scenario_goes_as_its_snapshot_tells_and_holds_what_it_expects() {
    remember_panics();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut arena = Arena::new();
    let mut names = Vec::new();
    let mut failed: Vec<PathBuf> = Vec::new();
    for path in files(std::slice::from_ref(&root)) {
        let told = run_file(&path, &mut arena).expect("every scenario can be read and run");
        if !told.has_passed() {
            failed.push(path.clone());
        }
        let name = name_of(&root, &path);
        let course = course(&mut arena, &told.scenario.schedule);
        crate::check(&name, &story(&told.scenario, &told.report, &course));
        names.push(format!("{name}.snap"));
    }
    assert_eq!(failed, Vec::<PathBuf>::new(), "these do not hold; cargo sim scenarios says why");
    let snapshots = std::fs::read_dir(root.join("../snapshots")).expect("the snapshots are there");
    let unclaimed: Vec<String> = snapshots
        .map(|entry| entry.expect("the directory can be read").file_name().to_string_lossy().into_owned())
        .filter(|file| {
            let stem = file.strip_suffix(".snap");
            stem.is_some_and(|stem| !crate::NAMES.contains(&stem) && !names.contains(file))
        })
        .collect();
    assert_eq!(unclaimed, Vec::<String>::new(), "these are snapshots of no scenario and of no test");
}
