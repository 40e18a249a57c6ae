//! The pinned seeds, a short line each: what a change of policy moves shows here seed by seed.
//!
//! `cargo sim verdicts` makes one table of what moved.

use sim::run::panics::remember_panics;
use sim::run::pinned::{PINNED, pinned};

#[test]
fn the_pinned_seeds_come_to_what_they_came_to() {
    remember_panics();
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    crate::check("seeds", &pinned(PINNED, jobs, || false).to_string());
}
