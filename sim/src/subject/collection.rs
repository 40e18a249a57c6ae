//! All planted bugs, read from their folder, and a few of them drawn.
//!
//! Promises: the order is that of their names; a draw depends on the seed alone, and has one of each target.
//! Leaves out: what a file says ([`super::mutant`]).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::mutant::{Mutant, Target};

/// Where planted bugs are kept, relative to the root of the sources.
pub const FOLDER: &str = "sim/mutants";

/// Reads every planted bug of a folder.
///
/// # Errors
///
/// When one cannot be read, or is none; the text is for a person.
pub fn read(folder: &Path) -> Result<Vec<Mutant>, String> {
    let files = fs::read_dir(folder).map_err(|error| {
        format!("{}: {error}; planted bugs are run from the root of the sources", folder.display())
    })?;
    let mut mutants = Vec::new();
    for entry in files {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if path.extension().is_none_or(|suffix| suffix != "kdl") {
            continue;
        }
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mutant = Mutant::parse(&stem, &text).map_err(|fault| format!("{}: {fault}", path.display()))?;
        mutants.push(mutant);
    }
    mutants.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(mutants)
}

/// Draws `count` of them: one of each target first, then whatever comes.
pub fn sample(mutants: Vec<Mutant>, count: usize, seed: u64) -> Vec<Mutant> {
    let mut drawn: Vec<&Mutant> = mutants.iter().collect();
    drawn.sort_by_cached_key(|mutant| (xxh3_64_with_seed(mutant.id.as_bytes(), seed), mutant.id.clone()));
    let first = |target| drawn.iter().find(move |mutant| mutant.target == target);
    let firsts: Vec<&str> =
        Target::ALL.into_iter().filter_map(first).map(|mutant| mutant.id.as_str()).collect();
    let others = drawn.iter().map(|mutant| mutant.id.as_str()).filter(|id| !firsts.contains(id));
    let chosen: BTreeSet<String> =
        firsts.iter().copied().chain(others).take(count).map(str::to_owned).collect();
    mutants.into_iter().filter(|mutant| chosen.contains(&mutant.id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutants() -> Vec<Mutant> {
        let text = |id: &str, target: &str| {
            format!(
                "mutant \"{id}\" target=\"{target}\" version=1\nstory \"s\"\n\
                 replace file=\"f\" {{\n    find \"a\"\n    with \"b\"\n}}\nkilled-by \"I01\"\n"
            )
        };
        (0..20)
            .map(|number| (format!("m{number:02}"), ["core", "core", "core", "disk", "oracle"][number % 5]))
            .map(|(id, target)| Mutant::parse(&id, &text(&id, target)).expect("it is well-formed"))
            .collect()
    }

    fn ids(mutants: &[Mutant]) -> Vec<&str> {
        mutants.iter().map(|mutant| mutant.id.as_str()).collect()
    }

    #[test]
    fn a_draw_is_of_the_seed_alone_and_has_one_of_each_target() {
        let mut met = BTreeSet::new();
        for seed in 0..40 {
            let drawn = sample(mutants(), 6, seed);
            assert_eq!(drawn.len(), 6);
            assert!(Target::ALL.iter().all(|target| drawn.iter().any(|mutant| mutant.target == *target)));
            let mut backwards = mutants();
            backwards.reverse();
            let mut again = sample(backwards, 6, seed);
            again.reverse();
            assert_eq!(ids(&drawn), ids(&again));
            met.extend(drawn.into_iter().map(|mutant| mutant.id));
        }
        assert_eq!(met.len(), 20, "every one is drawn some day");
        assert_eq!(sample(mutants(), 99, 1).len(), 20);
    }

    #[test]
    fn a_folder_is_read_in_the_order_of_names_and_what_is_no_bug_is_told() {
        let folder = tempfile::tempdir().expect("a temporary directory can be made");
        let write =
            |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it is written");
        for id in ["two", "one"] {
            let text = format!(
                "mutant \"{id}\" target=\"core\" version=1\nstory \"s\"\n\
                 replace file=\"f\" {{\n    find \"a\"\n    with \"b\"\n}}\nkilled-by \"I01\"\n"
            );
            write(&format!("{id}.kdl"), &text);
        }
        write("notes.txt", "no bug");
        let read_all = || read(folder.path());
        assert_eq!(ids(&read_all().expect("both read")), ["one", "two"]);
        write("three.kdl", "mutant \"four\" target=\"core\" version=1");
        let sentence = read_all().expect_err("one is misnamed");
        assert!(sentence.ends_with("three.kdl: its id is four, and its file is called three"), "{sentence}");
    }
}
