//! What is put to the test: the core as it is, with one bug planted into it, or another program.
//!
//! A harness that finds nothing proves nothing until it is shown what it would find. So bugs that somebody
//! made, or would make, are kept as data (`sim/mutants/*.kdl`, CONTRACTS 9) and planted into a copy of the
//! sources: shipped code carries no switches, and a bug whose text no longer matches is an error.
//!
//! Another program is run on real directories, one for each start of a world, and is held to what is owed the
//! bytes there, not to this project's policy.
//!
//! In reading order: [`mutant`] (one planted bug), [`collection`] (all of them), [`tree`] (the copy they are
//! planted into), [`planted`] (a program built there, and heard), [`kill`] (what kills it), [`kill_table`]
//! (what killed each, kept); [`program`] (a command, and how it fails), [`answer`] (what it says),
//! [`directory`] (the files that it is given), [`judge`] (what is wrong with both), [`trial`] (all of that,
//! start by start). Leaves out: how the results are printed.

pub mod answer;
pub mod collection;
pub mod directory;
pub mod judge;
pub mod kill;
pub mod kill_table;
pub mod mutant;
pub mod planted;
pub mod program;
pub mod tree;
pub mod trial;
