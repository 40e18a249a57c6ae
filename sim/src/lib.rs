//! The deterministic simulator that tries to break `recovery-core`.
//!
//! A [`schedule`] is made from a seed, from bytes or from a file; a [`world`] executes it against the real
//! core on simulated [`disk`]s; the [`oracle`] says whether what came of it may be; [`run`] does so for
//! many seeds, and [`report`] shows it. [`self_check`] asks whether all that would notice anything,
//! and so do bugs that are planted on purpose, a [`subject`] of their own.

pub mod cli;
pub mod command;
pub mod disk;
pub mod exit;
pub mod explore;
pub mod kernel;
pub mod oracle;
pub mod report;
pub mod run;
pub mod schedule;
pub mod self_check;
pub mod subject;
pub mod world;
