//! How fast a run went, over its time and by shard: for a chart. Nothing depends on it.

use serde::{Deserialize, Serialize};

/// Most moments that are kept: then every second one goes, and they come half as often.
const MOMENTS: usize = 120;

/// Seconds between two moments at first.
const APART: f64 = 0.5;

/// How many seeds were done after so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Since the run began, pauses between its parts not counted.
    pub seconds: f64,
    /// Worlds completed by then.
    pub seeds: u64,
}

/// Moments of a run, evenly apart, and never many.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pace(Vec<Moment>);

/// What one shard did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardPace {
    /// Which, from 1.
    pub index: u64,
    /// Worlds completed.
    pub seeds: u64,
    /// How long it took.
    pub seconds: f64,
    /// Digest of its worlds.
    pub digest: String,
}

impl Pace {
    /// Keeps a moment, if the last one is long enough ago.
    pub fn note(&mut self, moment: Moment) {
        let apart = match self.0.as_slice() {
            [first, second, ..] => second.seconds - first.seconds,
            [_] | [] => APART,
        };
        let last = self.0.last().map_or(0.0, |last| last.seconds);
        // A little early is in time: blocks of seeds do not end on the second.
        if moment.seconds - last < apart * 0.95 {
            return;
        }
        self.0.push(moment);
        if self.0.len() >= MOMENTS {
            let mut nth = 0;
            self.0.retain(|_| {
                nth += 1;
                nth % 2 == 0
            });
        }
    }

    /// The moments, in order.
    pub fn moments(&self) -> &[Moment] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_stay_few_and_evenly_apart() {
        let mut pace = Pace::default();
        for tenth in 1..=36_000_u32 {
            pace.note(Moment { seconds: f64::from(tenth) / 10.0, seeds: u64::from(tenth) });
        }
        let moments = pace.moments();
        assert!((MOMENTS / 4..MOMENTS).contains(&moments.len()), "{}", moments.len());
        let apart: Vec<f64> = moments.windows(2).map(|pair| pair[1].seconds - pair[0].seconds).collect();
        let (least, most) =
            (apart.iter().copied().fold(f64::MAX, f64::min), apart.iter().copied().fold(0.0, f64::max));
        assert!(least * 1.2 > most, "{least} to {most} seconds apart");
        assert!(moments.last().is_some_and(|last| last.seconds > 3_500.0));
    }
}
