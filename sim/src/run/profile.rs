//! Run profiles: named sets of limits, read from one commented file that is also their manual.

use std::sync::LazyLock;

use kdl::{KdlDocument, KdlNode, KdlValue};

use super::part::Part;
use crate::schedule::generate::ReplicasKnob;
use crate::schedule::word::Word;

/// The file, as it stands beside this one.
pub const PROFILES: &str = include_str!("profiles.kdl");

/// A named set of limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Seeds.
    pub seeds: Option<u64>,
    /// Seconds after which no seed is begun.
    pub seconds: Option<u64>,
    /// Failing seeds of groups that were not known.
    pub failures: Option<u64>,
    /// Failing seeds of a group that are shown.
    pub per_group: u64,
    /// Where the first seed comes from.
    pub from: FirstSeed,
    /// How many replicas its worlds have, if nobody says.
    pub replicas: ReplicasKnob,
    /// Whether scenario files run first.
    pub scenarios: bool,
    /// Whether a goal missed fails the run.
    pub require_reach: bool,
    /// What runs behind the seeds, in order.
    pub parts: Vec<Part>,
}

/// Where the first seed comes from, if nobody gives one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstSeed {
    /// A fresh one.
    Drawn,
    /// The commit id.
    Commit,
}

/// Every profile, in order.
pub fn profiles() -> &'static [Profile] {
    static READ: LazyLock<Vec<Profile>> = LazyLock::new(|| {
        let document: KdlDocument = PROFILES.parse().expect("the embedded profiles are KDL");
        document.nodes().iter().map(profile).collect()
    });
    &READ
}

/// The profile of a name.
///
/// # Examples
///
/// ```
/// use sim::run::profile::{FirstSeed, named};
///
/// let profile = named("pr").expect("a profile of that name");
/// // A change is judged by the seeds of its commit, within a minute.
/// assert_eq!(profile.from, FirstSeed::Commit);
/// assert!(profile.seconds.is_some_and(|seconds| seconds <= 60));
/// assert_eq!(named("no such profile"), None);
/// ```
pub fn named(name: &str) -> Option<&'static Profile> {
    profiles().iter().find(|profile| profile.name == name)
}

fn profile(node: &KdlNode) -> Profile {
    assert_eq!(node.name().value(), "profile");
    let name = node.get(0).and_then(KdlValue::as_string).expect("a profile has a name").to_owned();
    let mut profile = Profile {
        name,
        seeds: None,
        seconds: None,
        failures: None,
        per_group: 1,
        from: FirstSeed::Drawn,
        replicas: ReplicasKnob::One,
        scenarios: false,
        require_reach: false,
        parts: Vec::new(),
    };
    for line in node.children().expect("a profile has lines").nodes() {
        let number = line.get(0).and_then(KdlValue::as_integer).and_then(|number| u64::try_from(number).ok());
        let word = line.get(0).and_then(KdlValue::as_string);
        match (line.name().value(), number, word) {
            ("seeds", Some(seeds), None) => profile.seeds = Some(seeds),
            ("seconds", Some(seconds), None) => profile.seconds = Some(seconds),
            ("failures", Some(failures), None) => profile.failures = Some(failures),
            ("per-group", Some(seeds), None) => profile.per_group = seeds,
            ("from", None, Some("drawn")) => profile.from = FirstSeed::Drawn,
            ("from", None, Some("commit")) => profile.from = FirstSeed::Commit,
            ("replicas", None, Some(word)) => {
                profile.replicas = ReplicasKnob::from_word(word).expect("a number of replicas");
            }
            ("scenarios", None, None) => profile.scenarios = true,
            ("require-reach", None, None) => profile.require_reach = true,
            (part, None, None) if Part::from_word(part).is_some() => {
                profile.parts.extend(Part::from_word(part));
            }
            (other, ..) => panic!("profile {}: {other} is no line of a profile", profile.name),
        }
    }
    profile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiles_are_those_of_the_contract() {
        let profiles = profiles();
        let names: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
        assert_eq!(names, ["default", "pr", "nightly", "soak"]);
        assert!(profiles.iter().all(|profile| profile.seconds.or(profile.failures).is_some()));
    }

    #[test]
    fn a_change_is_judged_within_a_minute_by_seeds_of_its_commit() {
        let profile = named("pr").expect("it is there");
        assert!(profile.seconds.is_some_and(|seconds| seconds <= 60));
        assert!(profile.seeds.is_some() && profile.scenarios);
        assert_eq!(profile.from, FirstSeed::Commit);
        // Every planted bug that a seed finds is found by 2,000 worlds of its kind; a quarter are lone.
        assert!(profile.seeds.is_some_and(|seeds| seeds >= 20_000));
        assert_eq!(profile.replicas, ReplicasKnob::Mixed);
        // A harness that is blind is red, too.
        assert_eq!(profile.parts, [Part::SelfCheck]);
        assert_eq!(named("pm"), None);
    }

    #[test]
    fn every_night_the_harness_is_judged_too() {
        let profile = named("nightly").expect("it is there");
        assert_eq!(profile.parts, Part::ALL);
        assert!(profile.require_reach && profile.scenarios);
        assert_eq!(profile.from, FirstSeed::Drawn);
    }
}
