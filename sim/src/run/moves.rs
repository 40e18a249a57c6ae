//! What has moved between two states of the pinned seeds: from which verdict to which, in how many seeds.
//!
//! Promises: a pure function of two states of one generator. Leaves out: which of the two is right.

use std::collections::BTreeMap;

use super::pinned::{PinnedSeed, SeedVerdict, SeedVerdicts};

/// Seeds in which a partition moved from one verdict to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Where it was.
    pub from: String,
    /// Where it is. The same word where a next offset, an answer or final bytes moved and the verdict did not.
    pub to: String,
    /// In how many seeds; a seed counts once in each move of its partitions.
    pub count: u64,
    /// The first of them.
    pub seed: PinnedSeed,
}

/// Two states, compared seed by seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Seeds that both states hold.
    pub compared: u64,
    /// Those that came to the same.
    pub same: u64,
    /// Those that did not.
    pub moved: u64,
    /// Seeds of the later state of which the earlier one has nothing.
    pub missing: u64,
    /// What moved, the most frequent first.
    pub moves: Vec<Move>,
}

impl Moves {
    /// What is different in `after`, or `None` if the two are of different generators: then no seed of the one
    /// is the world that it is in the other.
    pub fn between(before: &SeedVerdicts, after: &SeedVerdicts) -> Option<Self> {
        if before.generator != after.generator {
            return None;
        }
        let before: BTreeMap<PinnedSeed, &SeedVerdict> =
            before.seeds.iter().map(|verdict| (verdict.seed, verdict)).collect();
        let mut found = Self::default();
        let mut moves: BTreeMap<(&str, &str), (u64, PinnedSeed)> = BTreeMap::new();
        for after in &after.seeds {
            let Some(before) = before.get(&after.seed) else {
                found.missing += 1;
                continue;
            };
            found.compared += 1;
            found.same += u64::from(*before == after);
            for pair in moved_pairs(before, after) {
                moves.entry(pair).or_insert((0, after.seed)).0 += 1;
            }
        }
        found.moved = found.compared - found.same;
        let moves = moves.into_iter().map(|((from, to), (count, seed))| Move {
            from: from.to_owned(),
            to: to.to_owned(),
            count,
            seed,
        });
        found.moves = moves.collect();
        found.moves.sort_by_key(|moved| std::cmp::Reverse(moved.count));
        Some(found)
    }
}

/// From which verdict to which partitions of one seed moved, each pair once.
fn moved_pairs<'a>(before: &'a SeedVerdict, after: &'a SeedVerdict) -> Vec<(&'a str, &'a str)> {
    let pairs = before.partitions.iter().flatten().zip(after.partitions.iter().flatten());
    let mut moved: Vec<(&str, &str)> = pairs
        .filter(|(before, after)| before != after)
        .map(|(before, after)| (before.verdict.as_str(), after.verdict.as_str()))
        .collect();
    moved.sort_unstable();
    moved.dedup();
    if moved.is_empty() && before != after {
        // Something moved that no last verdict shows; the seed is found under its first partition's.
        let verdict = |seed: &'a SeedVerdict| {
            seed.partitions.iter().flatten().next().map_or("", |first| &first.verdict)
        };
        moved.push((verdict(before), verdict(after)));
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(lines: &[&str]) -> SeedVerdicts {
        format!("generator 2\n{}", lines.join("\n")).parse().expect("the lines read")
    }

    fn told(moves: &Moves) -> Vec<String> {
        let tell = |moved: &Move| format!("{} {} {} {}", moved.count, moved.from, moved.to, moved.seed);
        moves.moves.iter().map(tell).collect()
    }

    #[test]
    fn a_state_has_not_moved_from_itself() {
        let lines = state(&["0 serve 3 00", "1 refuse/hole - 01"]);
        let expected = Moves { compared: 2, same: 2, ..Moves::default() };
        assert_eq!(Moves::between(&lines, &lines), Some(expected));
    }

    #[test]
    fn seeds_are_counted_by_where_they_moved() {
        let before =
            state(&["0 serve 3 00", "1 serve;serve 3;4 01", "2 serve 5 02", "3 serve 1 03", "9 serve 1 09"]);
        let after = state(&[
            "0 refuse/hole - 10",
            "1 refuse/hole;refuse/hole -;- 11",
            "2 serve-from 6 12",
            "3 serve 1 13",
            "4 serve 1 14",
        ]);
        let moves = Moves::between(&before, &after).expect("they are of one generator");
        assert_eq!((moves.compared, moves.same, moves.moved, moves.missing), (4, 0, 4, 1));
        assert_eq!(told(&moves), ["2 serve refuse/hole 0", "1 serve serve 3", "1 serve serve-from 2"]);
    }

    #[test]
    fn a_next_offset_that_moved_is_a_move() {
        let (before, after) = (state(&["0 serve;serve-from 3;4 00"]), state(&["0 serve;serve-from 3;5 00"]));
        let moves = Moves::between(&before, &after).expect("they are of one generator");
        assert_eq!(told(&moves), ["1 serve-from serve-from 0"]);
    }

    #[test]
    fn a_seed_of_hosts_is_not_the_same_seed_alone() {
        let before = state(&["0 serve 3 00", "n3:0 serve,serve,serve 3,3,3 00"]);
        let after = state(&["0 serve 3 00", "n3:0 serve,refuse/hole,serve 3,-,3 01"]);
        let moves = Moves::between(&before, &after).expect("they are of one generator");
        assert_eq!((moves.compared, moves.same), (2, 1));
        assert_eq!(told(&moves), ["1 serve refuse/hole n3:0"]);
    }

    #[test]
    fn two_generators_are_not_compared() {
        let other = SeedVerdicts { generator: 3, ..state(&[]) };
        assert_eq!(Moves::between(&state(&[]), &other), None);
    }
}
