//! Pieces of work on several threads, their results in order.

use std::cmp::Reverse;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::world::Arena;

/// Does every piece on one of `jobs` threads, those of most weight first, so that no long one is begun when all others are
/// done; returns the results in the order of the pieces.
pub(super) fn run<T: Sync, R: Send>(
    pieces: &[T],
    jobs: usize,
    weight: impl Fn(&T) -> usize,
    work: impl Fn(&mut Arena, &T) -> R + Sync,
) -> Vec<R> {
    assert!(jobs > 0, "work is done by a thread");
    let mut order: Vec<(usize, &T)> = pieces.iter().enumerate().collect();
    order.sort_by_key(|(_, piece)| Reverse(weight(piece)));
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(pieces.len()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(pieces.len()) {
            scope.spawn(|| {
                let mut arena = Arena::new();
                while let Some((at, piece)) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(&mut arena, piece);
                    results.lock().expect("no thread panics while it holds the results").push((*at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panics while it holds the results");
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
