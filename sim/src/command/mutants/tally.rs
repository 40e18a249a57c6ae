//! How many planted bugs came to what.

use crate::exit::Exit;
use crate::subject::kill::{Fate, Kill};

/// The words of the fates, in the order they are counted.
const FATES: [&str; 6] = ["killed", "survived", "wrong-check", "stale", "unbuildable", "hung"];

/// How many came to what so far.
#[derive(Debug)]
#[expect(clippy::disallowed_types, reason = "how long a run takes is shown; nothing depends on it")]
pub(super) struct Tally {
    fates: [u64; 6],
    /// Worlds to the first kill from each start, of each that seeds killed.
    seeds: Vec<Vec<u64>>,
    begin: std::time::Instant,
}

/// The numbers of the last line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// Bugs that were to be planted.
    pub planted: u64,
    /// How many were killed, survived, died by another check, were stale, unbuildable, hung.
    pub fates: [u64; 6],
    /// Bugs of the table of which there is no file.
    pub missing: usize,
    /// Files.
    pub total: usize,
    /// Worlds to the first kill from each start, of those that seeds killed: the middle one.
    pub seeds_median: Option<u64>,
    /// The same from the worst start of each.
    pub seeds_median_of_worst: Option<u64>,
    /// And the most.
    pub seeds_max: Option<u64>,
    /// How long all of it took, the run without a bug included.
    pub seconds: f64,
}

impl Tally {
    /// Nothing yet; the clock runs.
    #[expect(clippy::disallowed_types, reason = "how long a run takes is shown; nothing depends on it")]
    pub(super) fn begin() -> Self {
        Self { fates: [0; 6], seeds: Vec::new(), begin: std::time::Instant::now() }
    }

    /// Counts one.
    pub(super) fn count(&mut self, fate: &Fate) {
        for (word, count) in FATES.iter().zip(&mut self.fates) {
            *count += u64::from(*word == fate.code());
        }
        if let Fate::Killed(Kill { from_each, how: "seed", .. }) = fate {
            self.seeds.push(from_each.clone());
        }
    }

    /// How the run ends, for what became of the bugs.
    pub(super) fn exit(&self) -> Exit {
        let [killed, survived, wrong_check, stale, unbuildable, hung] = self.fates;
        let mut exit = if killed == 0 { Exit::Nothing } else { Exit::Held };
        if survived + wrong_check + hung > 0 {
            exit = exit.worst(Exit::Failed);
        }
        if stale + unbuildable > 0 {
            exit = exit.worst(Exit::Harness);
        }
        exit
    }

    /// The numbers of the last line.
    pub(super) fn numbers(&self, missing: usize, total: usize) -> Numbers {
        let worst = || self.seeds.iter().filter_map(|from_each| from_each.iter().copied().max());
        Numbers {
            planted: self.fates.iter().sum(),
            fates: self.fates,
            missing,
            total,
            seeds_median: median(self.seeds.iter().flatten().copied().collect()),
            seeds_median_of_worst: median(worst().collect()),
            seeds_max: worst().max(),
            seconds: self.begin.elapsed().as_secs_f64(),
        }
    }
}

/// The middle one; of two the greater.
fn median(mut seeds: Vec<u64>) -> Option<u64> {
    seeds.sort_unstable();
    seeds.get(seeds.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn killed(how: &'static str, from_each: &[u64]) -> Fate {
        let seeds = from_each.iter().copied().max();
        Fate::Killed(Kill { by: "I05".to_owned(), how, seeds, from_each: from_each.to_vec(), token: None })
    }

    #[test]
    fn every_fate_is_counted_once_and_the_worst_of_them_is_the_exit() {
        let mut tally = Tally::begin();
        assert_eq!(tally.exit(), Exit::Nothing);
        for from_each in [[3, 1, 2], [900, 7, 8], [9, 40, 9]] {
            tally.count(&killed("seed", &from_each));
        }
        tally.count(&killed("reach", &[]));
        assert_eq!(tally.exit(), Exit::Held);
        tally.count(&Fate::Survived);
        tally.count(&Fate::WrongCheck { by: "I01".to_owned() });
        tally.count(&Fate::Hung);
        assert_eq!(tally.exit(), Exit::Failed);
        tally.count(&Fate::Stale { sentence: String::new() });
        tally.count(&Fate::Unbuildable { sentence: String::new() });
        assert_eq!(tally.exit(), Exit::Harness);
        let numbers = tally.numbers(1, 20);
        assert_eq!((numbers.planted, numbers.fates), (9, [4, 1, 1, 1, 1, 1]));
        assert_eq!((numbers.seeds_median, numbers.seeds_median_of_worst), (Some(8), Some(40)));
        assert_eq!(numbers.seeds_max, Some(900));
    }
}
