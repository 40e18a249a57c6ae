//! A world from any bytes whatsoever: what the fuzz target `schedule` runs (`docs/fuzzing.md`).
//!
//! Promises: any input is a schedule, the same one every time, and its world is held to every check that a
//! seed's is. Leaves out: choosing inputs.

use arbitrary::Unstructured;

use super::one::{Outcome, run_schedule};
use crate::oracle::sample::Sample;
use crate::schedule::Schedule;
use crate::schedule::generate::{Knobs, SizeKnob, generate};
use crate::schedule::tape::Tape;
use crate::world::Arena;

/// The schedule that bytes spell, and the sampled checks of its world.
pub fn schedule_of_bytes(input: &[u8]) -> (Schedule, Sample) {
    let mut tape = Tape::from_bytes(&mut Unstructured::new(input));
    let schedule = generate(&mut tape, Knobs { size: SizeKnob::Small, ..Knobs::default() });
    let sample = Sample::draw(&mut tape);
    (schedule, sample)
}

/// Runs the world that bytes spell.
///
/// # Examples
///
/// ```
/// use sim::run::fuzzed::run_bytes;
/// use sim::world::Arena;
///
/// let outcome = run_bytes(&mut Arena::new(), b"any bytes whatsoever");
/// assert_eq!((outcome.failures.len(), outcome.tally.worlds), (0, 1));
/// // The same bytes are the same world, whatever memory it runs in.
/// assert_eq!(run_bytes(&mut Arena::new(), b"any bytes whatsoever").digest, outcome.digest);
/// ```
pub fn run_bytes(arena: &mut Arena, input: &[u8]) -> Outcome {
    let (schedule, sample) = schedule_of_bytes(input);
    run_schedule(arena, &schedule, sample)
}

/// Runs the world that bytes spell, on memory of its own.
///
/// # Panics
///
/// If a check fails in it; the schedule is printed, and replays.
///
/// # Examples
///
/// ```
/// use sim::run::fuzzed::{check_bytes, schedule_of_bytes};
///
/// // What a fuzz target calls with each input: it returns, or panics with the schedule.
/// check_bytes(b"any bytes whatsoever");
/// // An input without bytes is the simplest schedule that there is.
/// check_bytes(&[]);
/// let (simplest, _) = schedule_of_bytes(&[]);
/// assert!(simplest.first_illegal().is_none());
/// ```
pub fn check_bytes(input: &[u8]) {
    let outcome = run_bytes(&mut Arena::new(), input);
    if let Some(failure) = outcome.failures.first() {
        let (schedule, _) = schedule_of_bytes(input);
        let scenario = crate::schedule::Scenario::untold("bytes of a fuzzer", schedule);
        panic!("{}\n\n{}", failure.violation, crate::schedule::print(&scenario));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("fuzz/corpus/schedule")
    }

    /// The inputs in a folder, the short ones first.
    fn inputs(folder: &Path) -> Vec<Vec<u8>> {
        let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut inputs: Vec<Vec<u8>> =
            entries.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
        inputs.sort_by(|left, right| (left.len(), left).cmp(&(right.len(), right)));
        inputs
    }

    /// What the world of an input shows.
    fn shown(input: &[u8]) -> BTreeSet<String> {
        let outcome = run_bytes(&mut Arena::new(), input);
        assert_eq!(outcome.failures, []);
        let tally = outcome.tally;
        let verdicts = tally.verdicts.keys().map(|verdict| format!("verdict {verdict}"));
        let rows = tally.rows.keys().map(|row| format!("row {}", row.code()));
        let faults = tally.faults.iter().filter(|(_, reached)| reached.read > 0);
        verdicts.chain(rows).chain(faults.map(|(kind, _)| format!("fault {kind}"))).collect()
    }

    /// Adds to the corpus what another folder has: the shortest inputs that show something new.
    fn choose(from: &Path) {
        let mut seen = BTreeSet::new();
        for input in inputs(&folder()).into_iter().chain(inputs(from)) {
            let shows = shown(&input);
            if !shows.is_subset(&seen) {
                seen.extend(shows);
                let name = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&input));
                fs::write(folder().join(name), &input).unwrap();
            }
        }
    }

    #[test]
    fn every_schedule_of_the_corpus_holds_and_they_show_many_things() {
        if let Some(from) = std::env::var_os("CORPUS_FROM") {
            choose(Path::new(&from));
        }
        let seen: BTreeSet<String> = inputs(&folder()).iter().flat_map(|input| shown(input)).collect();
        let count = |kind: &str| seen.iter().filter(|what| what.starts_with(kind)).count();
        let counts = (count("verdict"), count("row"), count("fault"));
        assert!(counts.0 >= 10 && counts.1 >= 25 && counts.2 >= 25, "{counts:?}: {seen:?}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_schedule_whose_world_holds(input in vec(any::<u8>(), 0..1200)) {
            check_bytes(&input);
        }
    }

    #[test]
    fn no_bytes_at_all_are_the_simplest_schedule() {
        let (empty, _) = schedule_of_bytes(&[]);
        assert_eq!(schedule_of_bytes(&[0; 40]).0, empty);
        assert_eq!(run_bytes(&mut Arena::new(), &[]).failures, []);
    }
}
