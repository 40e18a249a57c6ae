//! Many worlds: seeds in parallel, their digests and counts, and what is reported of them.
//!
//! Promises: what a run reports depends on its seeds and limits alone, never on threads or time. Leaves
//! out: what a world is ([`crate::world`]), and how anything looks ([`crate::report`]).

pub mod counterfactual;
pub mod difference;
pub mod digest;
pub mod ending;
pub mod explain;
pub mod first_seen;
pub mod fuzzed;
pub mod group;
pub mod join;
pub mod known;
pub mod moves;
pub mod one;
pub mod pace;
pub mod panics;
pub mod parallel;
pub mod part;
pub mod pinned;
pub mod planted;
pub mod profile;
pub mod reach;
pub mod regime_tally;
pub mod replay;
pub mod session;
pub mod shrink;
pub mod tally;
