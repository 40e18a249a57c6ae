//! What is put to the test: the core as it is, or with one bug planted into it.
//!
//! A harness that finds nothing proves nothing until it is shown what it would find. So bugs that somebody
//! made, or would make, are kept as data (`sim/mutants/*.kdl`, CONTRACTS 9) and planted into a copy of the
//! sources: shipped code carries no switches, and a bug whose text no longer matches is an error.
//!
//! In reading order: [`mutant`] (one planted bug), [`tree`] (the copy it is planted into), [`kill`] (what
//! becomes of it). Leaves out: how the results are printed.

pub mod kill;
pub mod mutant;
pub mod tree;
