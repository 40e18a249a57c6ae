//! Executes a schedule: nodes with disks, the real core on them, clients, crashes and damage.
//!
//! Promises: a world is a pure function of its schedule; every decision comes from there, and every event
//! goes into one digest (CONTRACTS 7). The core under test is the linked `recovery-core`, unchanged. Leaves
//! out: what is right, which the oracle says from what the world shows it; how it looks, which reports do.
//!
//! In reading order: [`run`] (one schedule from its first step to its last), `node` and `boot` (what lives
//! on a disk, and a start of it), `serve` and `poll` (what clients ask), `damage`, `standing`, `plant`
//! and `interrupt` (what goes wrong), `aim` (from a target of the schedule to a
//! place on a disk), `look` (what a disk holds, for whoever judges), `event` (the digest), `frozen` (a world at
//! one moment), `linked` and `tried` (the core beside another program).

mod again;
mod aim;
mod arena;
mod asked;
mod bait;
mod boot;
mod broke;
mod damage;
mod down;
pub mod event;
mod expect;
mod failed_call;
mod frozen;
mod giving_up;
mod host;
mod image;
mod interrupt;
mod laid;
mod left;
mod lifetime;
mod linked;
mod look;
pub mod meter;
mod misread;
mod moment;
mod node;
mod other_index;
mod outcome;
mod patience;
mod places;
mod plant;
mod poll;
mod producer;
mod report;
mod restamp;
mod run;
mod serve;
mod short_reads;
mod signals;
mod standing;
mod start;
mod struck;
#[cfg(test)]
mod tests;
mod told;
mod tried;
mod twin;
mod variant;
mod varied;
mod watch;
mod wrong_word;

pub use arena::Arena;
pub use boot::{Boot, STEP_BYTES};
pub use frozen::{FrozenNode, FrozenPartition};
pub use host::HOST_WORDS;
pub use image::WorldImage;
pub use laid::Laid;
pub use left::{ContentLeft, FileLeft, NodeLeft, PartitionLeft};
pub use moment::{FileMeasure, Moment, Pending};
pub use poll::Reply;
pub use report::{Failure, Report};
pub use run::{freeze, run};
pub use told::{AnswerTold, BootTold, Told, short_path};
pub use varied::{Change, Varied};
pub use watch::Watch;
