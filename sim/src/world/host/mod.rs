//! Executes a schedule that needs a host: nodes on which the real host of the core keeps many partitions, with the
//! metadata log, tombstones, the operator's ways out and peers.
//!
//! Promises: what a node does to its disk and answers to a client is the core's own; how nodes agree is a stand-in
//! and named so ([`cluster`]); a world is a pure function of its schedule. Behind the last step faults end, links
//! come up, and within a stated number of passes every partition is served whole, or not for a reason that is true
//! ([`settle`]; what that means is stated with [`crate::oracle::invariants::check_settled`]). Leaves out: schedules of lone partitions ([`super::run`]).
//!
//! In reading order: [`run`] (a schedule from its first step to its last), [`cluster`] and [`member`] (what nodes
//! agree on, and what lives on one), [`act`], [`start`], [`client`], [`follow`], [`transfer`] and [`loss`] (what is
//! asked of them, in [`slices`]), [`sight`], [`adopt`], [`dark`], [`failed_sync`], [`told`], [`holding`] and [`replica`] (what the
//! oracle is shown).

mod act;
mod adopt;
mod behind;
mod client;
mod cluster;
mod dark;
mod expect;
mod failed_sync;
mod follow;
mod holding;
mod loss;
mod member;
mod moment;
mod replica;
mod run;
mod settle;
mod sight;
mod slices;
mod start;
#[cfg(test)]
mod tests;
mod told;
mod transfer;
mod wire;

pub(super) use run::{freeze, run};
pub use told::HOST_WORDS;
