//! Seeds in parallel: blocks of 64 from one counter, results in seed order.
//!
//! Promises: what is reported, and where a run stops, depends on the seeds and the limits alone, never on
//! the number of threads. Leaves out: what a world is; it takes any function from a seed to a result.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

/// Seeds that a thread takes at a time.
pub const BLOCK_SEEDS: u64 = 64;

/// Which seeds are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// The first.
    pub from: u64,
    /// How many at most, those of all shards.
    pub count: u64,
    /// This shard, from 1.
    pub shard: u64,
    /// Of so many.
    pub shards: u64,
    /// Seeds of this shard that were run before, and are not run again.
    pub done: u64,
}

impl Seeds {
    /// All of `count` seeds from `from` on.
    pub const fn all(from: u64, count: u64) -> Self {
        Self { from, count, shard: 1, shards: 1, done: 0 }
    }

    /// The `index`-th seed of this shard, or `None` if it has fewer.
    pub fn get(&self, index: u64) -> Option<u64> {
        let place = index.checked_mul(self.shards)?.checked_add(self.shard - 1)?;
        (place < self.count).then(|| self.from.wrapping_add(place))
    }
}

/// Runs worlds on `jobs` threads, each with a value of its own made by `arena`, and hands their results to
/// `take` in seed order, until it breaks, `is_over` says that no more are begun, or none are left.
///
/// Every block begun before `is_over` is finished and handed over, so what ran is a prefix of the seeds.
pub fn run<A, R: Send>(
    seeds: Seeds,
    jobs: usize,
    is_over: impl Fn() -> bool + Sync,
    arena: impl Fn() -> A + Sync,
    world: impl Fn(&mut A, u64) -> R + Sync,
    mut take: impl FnMut(u64, R) -> ControlFlow<()>,
) {
    assert!(jobs > 0, "a run has a thread");
    let next_block = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::sync_channel::<(u64, Vec<(u64, R)>)>(jobs * 4);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, arena, world, is_over) = (sender.clone(), &arena, &world, &is_over);
            let (next_block, stop) = (&next_block, &stop);
            scope.spawn(move || {
                let mut arena = arena();
                // Blocks are finite: the seeds are.
                while !stop.load(Ordering::Relaxed) && !is_over() {
                    let block = next_block.fetch_add(1, Ordering::Relaxed);
                    let first = seeds.done + block * BLOCK_SEEDS;
                    let results: Vec<(u64, R)> = (first..first + BLOCK_SEEDS)
                        .map_while(|index| seeds.get(index))
                        .map(|seed| (seed, world(&mut arena, seed)))
                        .collect();
                    if results.is_empty() || sender.send((block, results)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut expected = 0;
        for (block, results) in &receiver {
            early.insert(block, results);
            while let Some(results) = early.remove(&expected) {
                expected += 1;
                for (seed, result) in results {
                    if take(seed, result).is_break() {
                        stop.store(true, Ordering::Relaxed);
                        // What is still in flight is read and dropped, so that no thread waits for ever.
                        receiver.iter().for_each(drop);
                        return;
                    }
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(seeds: Seeds, jobs: usize, limit: usize) -> Vec<(u64, u64)> {
        let mut results = Vec::new();
        run(
            seeds,
            jobs,
            || false,
            || (),
            |(), seed| seed * 2,
            |seed, result| {
                results.push((seed, result));
                if results.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        results
    }

    #[test]
    fn results_come_in_seed_order_on_any_number_of_threads() {
        let one = taken(Seeds::all(7, 1000), 1, usize::MAX);
        assert_eq!(one.len(), 1000);
        assert!(one.iter().enumerate().all(|(index, (seed, _))| *seed == 7 + index as u64));
        assert_eq!(taken(Seeds::all(7, 1000), 3, usize::MAX), one);
        assert_eq!(taken(Seeds::all(7, 1000), 3, 130), one[..130]);
    }

    #[test]
    fn shards_deal_the_seeds_out_one_by_one() {
        let mut all: Vec<u64> = (1..=3)
            .flat_map(|shard| taken(Seeds { from: 5, count: 100, shard, shards: 3, done: 0 }, 2, usize::MAX))
            .map(|(seed, _)| seed)
            .collect();
        all.sort_unstable();
        assert_eq!(all, (5..105).collect::<Vec<u64>>());
    }
}
