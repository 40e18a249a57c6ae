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
    seeds: Vec<u64>,
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
    /// Worlds to the first kill, of those that seeds killed: the middle one.
    pub seeds_median: Option<u64>,
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
        if let Fate::Killed(Kill { seeds: Some(seeds), how: "seed", .. }) = fate {
            self.seeds.push(*seeds);
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
        let mut seeds = self.seeds.clone();
        seeds.sort_unstable();
        Numbers {
            planted: self.fates.iter().sum(),
            fates: self.fates,
            missing,
            total,
            seeds_median: seeds.get(seeds.len() / 2).copied(),
            seeds_max: seeds.last().copied(),
            seconds: self.begin.elapsed().as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn killed(how: &'static str, seeds: Option<u64>) -> Fate {
        Fate::Killed(Kill { by: "I05".to_owned(), how, seeds, token: None })
    }

    #[test]
    fn every_fate_is_counted_once_and_the_worst_of_them_is_the_exit() {
        let mut tally = Tally::begin();
        assert_eq!(tally.exit(), Exit::Nothing);
        for seeds in [3, 900, 40] {
            tally.count(&killed("seed", Some(seeds)));
        }
        tally.count(&killed("reach", Some(2000)));
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
        assert_eq!((numbers.seeds_median, numbers.seeds_max), (Some(40), Some(900)));
    }
}
