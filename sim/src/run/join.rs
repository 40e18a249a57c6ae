//! Shards of one run joined into what the whole run would have come to.
//!
//! Promises: the order in which shards come changes nothing, and a join of one shard is that shard. Leaves
//! out: whether they belong together, which whoever read them has checked.

use std::collections::BTreeMap;

use super::planted::{Planted, PlantedFate};
use super::session::{Group, Summary};
use crate::schedule::token::Token;

/// The run that began at `from` and was dealt out to these shards.
pub fn join(from: u64, shards: &[Summary]) -> Summary {
    let mut whole = Summary::default();
    for shard in shards {
        whole.seeds += shard.seeds;
        whole.failures += shard.failures;
        whole.digest.join(shard.digest);
        // Shards run side by side: the longest of them is how long it took.
        whole.elapsed = whole.elapsed.max(shard.elapsed);
        whole.tally.add(&shard.tally);
        whole.first_seen.add(&shard.first_seen);
        whole.reruns += shard.reruns;
        whole.mismatches += shard.mismatches;
        whole.scenarios.passed += shard.scenarios.passed;
        whole.scenarios.failed.extend(shard.scenarios.failed.iter().cloned());
        whole.known_listed = whole.known_listed.max(shard.known_listed);
        whole.is_harness_bug |= shard.is_harness_bug;
        whole.is_interrupted |= shard.is_interrupted;
        whole.shards_missing.extend(&shard.shards_missing);
        whole.not_run.seeds += shard.not_run.seeds;
        whole.not_run.scenarios += shard.not_run.scenarios;
        whole.not_run.parts.extend(&shard.not_run.parts);
        whole.parts.extend(&shard.parts);
        whole.shards.extend(shard.shards.iter().cloned());
    }
    if shards.iter().any(|shard| shard.cut_by_time.is_some()) {
        whole.cut_by_time = Some(shards.iter().map(|shard| shard.cut_by_time.unwrap_or(shard.seeds)).sum());
    }
    whole.shards.sort_by_key(|shard| shard.index);
    whole.shards_missing.sort_unstable();
    whole.shards_missing.dedup();
    whole.planted = planted(shards);
    whole.groups = groups(from, shards);
    let mut gone: Vec<String> = shards.iter().flat_map(|shard| shard.known_gone.iter().cloned()).collect();
    gone.sort_unstable();
    gone.dedup();
    gone.retain(|id| !whole.has_group(id));
    whole.known_gone = gone;
    if let [only] = shards {
        whole.pace = only.pace.clone();
    }
    whole
}

/// The worst that became of the planted failure anywhere.
fn planted(shards: &[Summary]) -> Planted {
    const WORST_FIRST: [PlantedFate; 4] =
        [PlantedFate::Silent, PlantedFate::Masked, PlantedFate::NotRun, PlantedFate::Found];
    let rank = |fate| WORST_FIRST.iter().position(|ranked| *ranked == fate);
    let worst = shards.iter().map(|shard| &shard.planted).min_by_key(|planted| rank(planted.fate));
    worst.cloned().unwrap_or_default()
}

/// Groups of the same cause as one, each with its first seed, in order of those.
fn groups(from: u64, shards: &[Summary]) -> Vec<Group> {
    let place = |group: &Group| {
        let token: Option<Token> = group.token.parse().ok();
        token.map_or(u64::MAX, |token| token.seed.wrapping_sub(from))
    };
    let mut joined: BTreeMap<&str, Group> = BTreeMap::new();
    for group in shards.iter().flat_map(|shard| &shard.groups) {
        match joined.get_mut(group.id.as_str()) {
            None => drop(joined.insert(&group.id, group.clone())),
            Some(whole) => {
                whole.count += group.count;
                if !group.known {
                    (whole.known, whole.reason, whole.first_seen) = (false, None, None);
                }
                if place(group) < place(whole) {
                    whole.token.clone_from(&group.token);
                }
            }
        }
    }
    let mut groups: Vec<Group> = joined.into_values().collect();
    groups.sort_by_key(place);
    groups
}
