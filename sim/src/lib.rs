//! The deterministic simulator that tries to break `recovery-core`.
//!
//! A [`schedule`] is made from a seed, from bytes or from a file; a [`world`] executes it against the real
//! core on simulated [`disk`]s; the [`oracle`] says whether what came of it may be; [`run`] does so for
//! many seeds, and [`report`] shows it. [`self_check`] asks whether all that would notice anything,
//! and so do bugs that are planted on purpose, a [`subject`] of their own.
//!
//! From a seed to its schedule, through its world, which is judged, and back again from the token that names it:
//!
//! ```
//! use sim::oracle::sample::Sample;
//! use sim::run::one::run_checked;
//! use sim::run::replay::{Expected, Reproduced, replay};
//! use sim::schedule::generate::{Knobs, SizeKnob, generate_seed};
//! use sim::schedule::token::{Commit, Token};
//! use sim::world::Arena;
//!
//! let knobs = Knobs { size: SizeKnob::Small, ..Knobs::default() };
//! let schedule = generate_seed(7, knobs);
//! let outcome = run_checked(&mut Arena::new(), &schedule, Sample::EVERYTHING);
//! assert_eq!(outcome.failures, []);
//!
//! let token = Token::of(7, knobs, None, Commit::Unknown).to_string();
//! let Token { seed, knobs, .. } = token.parse()?;
//! let expected = Expected { digest: Some(outcome.digest), ..Expected::default() };
//! let replayed = replay(generate_seed(seed, knobs), (Sample::EVERYTHING, None), &expected, None);
//! assert_eq!(replayed.reproduced(&expected), Reproduced::Yes);
//! # Ok::<(), sim::schedule::token::TokenError>(())
//! ```
//!
//! `examples/foreign_recovery.rs` tests with it a recovery that has nothing to do with `recovery-core`.
//!
//! # Entry points
//!
//! An entry point is what a program that embeds this crate begins with: a function that needs nothing of the crate but
//! what anybody can write down, or what another entry point gives. Each has an example of its own:
//!
//! - schedules: [`schedule::tape::Tape::from_seed`], [`schedule::generate::generate`],
//!   [`schedule::generate::generate_on`], [`schedule::parse()`], [`schedule::print()`]
//! - one world: [`world::Arena::new`], [`world::WorldImage::read`], [`world::run()`], [`run::one::run_seed`],
//!   [`run::one::run_checked`], [`run::one::run_schedule`], [`run::fuzzed::run_bytes`], [`run::fuzzed::check_bytes`]
//! - a world that failed: [`run::replay::replay`], [`run::replay::twice`], [`run::shrink::shrink`]
//! - many worlds: [`run::session::run_session`], [`run::profile::named`], [`run::known::Known::read`],
//!   [`explore::sweep()`], [`explore::explore_host`]
//! - what comes of them: [`report::merged::merged`], [`report::html::page`], [`report::junit::document`],
//!   [`report::annotations::annotations`]
//! - what is right: [`oracle::judge::judge`], [`oracle::reference::recover`]
//! - the disk: [`disk::SimDisk::new`], [`disk::litmus::run_litmus_tests`], [`disk::conformance::compare`]
//! - other programs: [`subject::trial::probe`], [`subject::trial::Trial::new`], [`subject::trial::Trial::start`]
//! - the simulator itself: [`self_check::parts`], [`self_check::Part::run`], [`subject::mutant::Replacement::apply`],
//!   [`subject::kill_table::KillTable::read`]

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
