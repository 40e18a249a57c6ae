//! Exhaustive sweeps over one schedule: every crash point, every error, every survivor set, every field.
//!
//! Promises: what is left out is counted, and a sweep that was cut short says so; the order of work, and so
//! the result, depends on the schedule alone. Every variant is a schedule like any other, so whatever fails
//! can be saved and replayed. Leaves out: worlds of chance, which seeds are for.
//!
//! In reading order: `calls` (what a schedule asks of its disk), `crashes`, `errors`, `survivors` and
//! `fields` (the variants of one schedule), `states` (which of them are one), `sweeper` (a piece of
//! the work), [`sweep()`] (all of it), and `pool` (threads). Apart from those, `hosted`: sequences of events on a host.

mod calls;
mod crashes;
mod errors;
mod fields;
mod hosted;
mod pool;
mod request;
mod states;
mod summary;
mod survivors;
mod sweep;
mod sweeper;
mod variant;

pub use hosted::{EVENTS, Explored, HostStart, explore_host};
pub use request::{Kind, Request};
pub use summary::{Summary, SweptGroup};
pub use sweep::sweep;
