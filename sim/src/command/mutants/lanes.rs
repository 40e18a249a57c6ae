//! Several planted bugs at once: each lane has a copy of the sources and builds of its own.
//!
//! Promises: each bug goes to one lane, once; what comes of it does not depend on which. Leaves out: what is done with a
//! bug ([`super::bench`]).

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

/// Bugs that make another lane worth its first build, which is of everything.
const BUGS_A_LANE: usize = 16;

/// How many lanes so many bugs are dealt out to, on so many processors: most of a rebuild keeps one of them busy.
pub(super) fn lanes_of(bugs: usize, processors: usize) -> usize {
    (bugs / BUGS_A_LANE).clamp(1, processors.max(1))
}

/// Deals work out to lanes, one piece whenever a lane is free, and hands over what comes of it as soon as it is there.
/// A lane that comes back with nothing takes no more.
///
/// # Errors
///
/// The first error of a lane or of `hand_over`; every lane then ends behind what it is at.
pub(super) fn deal<'a, L: Sync, W: Sync, R: Send + 'a>(
    lanes: &[L],
    work: &'a [W],
    run: &(dyn Fn(&L, &'a W) -> io::Result<Option<R>> + Sync),
    hand_over: &mut dyn FnMut(R) -> io::Result<()>,
) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for lane in lanes {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(piece) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(result) = run(lane, piece).transpose() else { return };
                    // Nobody listens any more behind an error.
                    if sender.send(result).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        receiver.into_iter().try_for_each(|result| hand_over(result?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_lane_is_made_where_there_are_bugs_and_processors_for_it() {
        assert_eq!(lanes_of(0, 2), 1);
        assert_eq!(lanes_of(6, 2), 1);
        assert_eq!(lanes_of(40, 2), 2);
        assert_eq!(lanes_of(40, 64), 2);
        assert_eq!(lanes_of(40, 0), 1);
    }

    #[test]
    fn each_piece_goes_to_one_lane_once() {
        let work: Vec<u32> = (0..100).collect();
        let mut seen = Vec::new();
        deal(&["a", "b", "c"], &work, &|_, piece| Ok(Some(*piece)), &mut |piece| {
            seen.push(piece);
            Ok(())
        })
        .expect("nothing fails");
        seen.sort_unstable();
        assert_eq!(seen, work);
    }

    #[test]
    fn a_lane_that_comes_back_with_nothing_or_an_error_takes_no_more() {
        let mut seen = Vec::new();
        let mut run = |lane_run: &(dyn Fn(&(), &u32) -> io::Result<Option<u32>> + Sync)| {
            deal(&[()], &[1, 2, 3, 4], lane_run, &mut |piece| {
                seen.push(piece);
                Ok(())
            })
        };
        run(&|(), piece| Ok((*piece < 3).then_some(*piece))).expect("nothing fails");
        let error =
            run(&|(), piece| if *piece < 2 { Ok(Some(*piece)) } else { Err(io::Error::other("full")) });
        assert_eq!(error.expect_err("the second piece fails").to_string(), "full");
        assert_eq!(seen, [1, 2, 1]);
    }
}
