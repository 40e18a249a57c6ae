//! Seeds in parallel: blocks of 64 from one counter, results in seed order.
//!
//! Promises: what is reported, and where a run stops, depends on the seeds and the limits alone, never on
//! the number of threads. Leaves out: what a world is; it takes any function from a seed to a result.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};

/// Seeds that a thread takes at a time. In blocks of 8, threads were asleep for 5 to 10 per cent of the time, waiting for
/// the locks of handing over; in blocks of 64 it is less than one.
pub const BLOCK_SEEDS: u64 = 64;

/// Blocks after which a thread lets its memory go and begins with new memory: 1,024 worlds.
///
/// Each of the many buffers of an arena keeps the size of the largest world that it ever served. Kept for ever, their
/// sum grows for as long as some world somewhere is the largest so far, which is for hundreds of thousands of worlds.
pub const ARENA_BLOCKS: u64 = 1024 / BLOCK_SEEDS;

/// Blocks that may be under way or wait to be handed over, for each thread: one slow world must not let the others
/// pile up results without end, and what waits is lost if the run is killed. So a slow world, or a thread that hands
/// over and is not scheduled, may take as long as 256 usual worlds before anybody waits for it.
pub const AHEAD_BLOCKS: u64 = 256 / BLOCK_SEEDS;

/// How far results have been handed over.
#[derive(Default)]
struct Front {
    handed_over: Mutex<u64>,
    moved: Condvar,
}

impl Front {
    /// Waits until `block` is less than `most` blocks ahead. The next block to be handed over never waits.
    fn wait(&self, block: u64, most: u64) {
        let handed_over = self.handed_over.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ahead = |handed_over: &mut u64| block >= handed_over.saturating_add(most);
        drop(self.moved.wait_while(handed_over, is_ahead));
    }

    /// All blocks before this one have been handed over.
    fn move_to(&self, block: u64) {
        let mut handed_over = self.handed_over.lock().unwrap_or_else(PoisonError::into_inner);
        *handed_over = block.max(*handed_over);
        self.moved.notify_all();
    }
}

/// Whoever may be waited for: once it is gone, by a panic too, nobody waits any more.
struct Awaited<'a>(&'a Front);

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.0.move_to(u64::MAX);
    }
}

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

    /// How many of them this shard runs; `None` if nothing but time or a person ends the run.
    pub fn share(&self) -> Option<u64> {
        (self.count < u64::MAX).then(|| share(self.count, self.shard, self.shards))
    }

    /// The `index`-th seed of this shard, or `None` if it has fewer.
    pub fn get(&self, index: u64) -> Option<u64> {
        let place = index.checked_mul(self.shards)?.checked_add(self.shard - 1)?;
        (place < self.count).then(|| self.from.wrapping_add(place))
    }
}

/// How many of `count` seeds the `shard`-th (from 1) of `shards` shards runs.
pub fn share(count: u64, shard: u64, shards: u64) -> u64 {
    count.saturating_sub(shard - 1).div_ceil(shards)
}

/// Runs worlds on `jobs` threads, each with a value of its own made by `arena` and made anew after every
/// [`ARENA_BLOCKS`] blocks, and hands their results to `take` in seed order, until it breaks, `is_over` says that no
/// more are begun, or none are left.
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
    let front = Front::default();
    let most_ahead = AHEAD_BLOCKS * jobs as u64;
    let (sender, receiver) = mpsc::channel::<(u64, Vec<(u64, R)>)>();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, arena, world, is_over) = (sender.clone(), &arena, &world, &is_over);
            let (next_block, stop, front) = (&next_block, &stop, &front);
            scope.spawn(move || {
                let _awaited = Awaited(front);
                let mut memory = arena();
                // Blocks are finite: the seeds are.
                for nth in 1.. {
                    if stop.load(Ordering::Relaxed) || is_over() {
                        break;
                    }
                    let block = next_block.fetch_add(1, Ordering::Relaxed);
                    front.wait(block, most_ahead);
                    let first = seeds.done + block * BLOCK_SEEDS;
                    let results: Vec<(u64, R)> = (first..first + BLOCK_SEEDS)
                        .map_while(|index| seeds.get(index))
                        .map(|seed| (seed, world(&mut memory, seed)))
                        .collect();
                    if results.is_empty() || sender.send((block, results)).is_err() {
                        break;
                    }
                    if u64::is_multiple_of(nth, ARENA_BLOCKS) {
                        memory = arena();
                    }
                }
            });
        }
        drop(sender);
        let _awaited = Awaited(&front);
        let mut early = BTreeMap::new();
        let mut expected = 0;
        for (block, results) in &receiver {
            early.insert(block, results);
            while let Some(results) = early.remove(&expected) {
                expected += 1;
                for (seed, result) in results {
                    if take(seed, result).is_break() {
                        stop.store(true, Ordering::Relaxed);
                        front.move_to(u64::MAX);
                        // What is still in flight is read and dropped, so that no thread waits for ever.
                        receiver.iter().for_each(drop);
                        return;
                    }
                }
                front.move_to(expected);
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
    fn no_thread_keeps_its_memory_for_ever() {
        let most = ARENA_BLOCKS * BLOCK_SEEDS;
        let (mut worlds, mut arenas) = (0, 0);
        run(
            Seeds::all(0, most * 3),
            1,
            || false,
            || 0_u64,
            |memory, _| {
                *memory += 1;
                *memory
            },
            |_, nth| {
                assert!(nth <= most, "{nth} worlds in one memory");
                worlds += 1;
                arenas += u64::from(nth == 1);
                ControlFlow::Continue(())
            },
        );
        assert_eq!((worlds, arenas), (most * 3, 3));
    }

    #[test]
    fn a_slow_world_lets_no_others_pile_up() {
        let begun = AtomicU64::new(0);
        let seeds = AHEAD_BLOCKS * BLOCK_SEEDS * 8;
        let mut most_ahead = 0;
        run(
            Seeds::all(0, seeds),
            2,
            || false,
            || (),
            |(), seed| {
                begun.fetch_add(1, Ordering::Relaxed);
                if seed == 0 {
                    // It ends when the other thread has nothing more that it may begin.
                    while begun.load(Ordering::Relaxed) < (2 * AHEAD_BLOCKS - 1) * BLOCK_SEEDS + 1 {
                        std::hint::spin_loop();
                    }
                }
            },
            |seed, ()| {
                most_ahead = most_ahead.max(begun.load(Ordering::Relaxed) - seed);
                ControlFlow::Continue(())
            },
        );
        assert!(most_ahead <= 2 * AHEAD_BLOCKS * BLOCK_SEEDS, "{most_ahead} worlds ahead");
        assert_eq!(begun.into_inner(), seeds);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_thread_that_is_gone_is_not_waited_for() {
        let world = |(): &mut (), seed| assert!(seed != 0, "a bug of the harness");
        let seeds = Seeds::all(0, AHEAD_BLOCKS * BLOCK_SEEDS * 8);
        run(seeds, 2, || false, || (), world, |_, ()| ControlFlow::Continue(()));
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
