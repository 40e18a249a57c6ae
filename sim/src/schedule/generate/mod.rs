//! Makes schedules: a tape and the knobs of a run in, a schedule out (CONTRACTS 6).
//!
//! Promises: a pure function; no world is looked at, so every decision is absolute or relative to a name
//! in the schedule, and a step can be left out without changing the rest; a used-up tape gives the simplest
//! schedule; the legal regime holds only crashes and errors that calls report. Leaves out: whether what a
//! step names will be there when it runs: offsets and segments are the generator's own estimate.
//!
//! In reading order: [`knobs`] (what a run chooses), `shape` (how large), `swarm` (which kinds of trouble
//! this world has), `book` (what has been written so far), then `workload`, `crashes`, `faults`, `errors`,
//! `host` and `rare`, each drawing from its own stream; `ordeals` for worlds without hosts, `hosted`, `stories`, `copies`
//! and `wire` for worlds with hosts, `image` for worlds that start with a real directory; `motifs` for chains of steps, which
//! are in `cuts`, `hardships`, `replicas` and `replaced`.

mod book;
mod copies;
mod crashes;
mod cuts;
mod draft;
mod errors;
mod faults;
mod hardships;
mod header;
mod host;
mod hosted;
mod image;
pub mod knobs;
mod motifs;
mod ordeals;
mod rare;
mod replaced;
mod replicas;
mod shape;
mod stories;
mod swarm;
mod wire;
mod workload;

pub use image::{ImageBatch, ImagePartition, ImageSegment, ImageShape};
pub use knobs::{FilesystemKnob, Knobs, RegimeKnob, ReplicasKnob, SizeKnob};
pub use shape::Size;

use self::draft::Draft;
use super::scenario::Schedule;
use super::tape::Tape;

/// Raised whenever any seed would give another schedule.
pub const GENERATOR: u32 = 11;

/// The schedule that a tape spells.
///
/// # Examples
///
/// ```
/// use sim::schedule::Tape;
/// use sim::schedule::generate::{Knobs, SizeKnob, generate};
///
/// let knobs = Knobs { size: SizeKnob::Small, ..Knobs::default() };
/// let schedule = generate(&mut Tape::from_seed(7), knobs);
/// assert_eq!(schedule, generate(&mut Tape::from_seed(7), knobs));
/// assert!(!schedule.steps.is_empty());
/// ```
pub fn generate(tape: &mut Tape, knobs: Knobs) -> Schedule {
    let mut draft = Draft::begin(tape, knobs);
    if draft.has_hosts {
        draft.live_hosted();
    } else {
        draft.live();
    }
    draft.finish()
}

/// The schedule that a tape spells for a world that starts with a directory.
///
/// # Panics
///
/// If the directory has no partition, or one without a segment.
///
/// # Examples
///
/// ```
/// use sim::schedule::Tape;
/// use sim::schedule::generate::{Knobs, generate_on};
/// use sim::world::WorldImage;
///
/// # use recovery_core::format::{BatchBuilder, Message};
/// # let directory = tempfile::tempdir()?;
/// # let mut batch = Vec::new();
/// # let mut builder = BatchBuilder::begin(&mut batch, 1);
/// # builder.push(&Message { payload: b"hello", ..Message::default() })?;
/// # builder.finish();
/// # std::fs::write(directory.path().join("00000000000000000000.log"), &batch)?;
/// let image = WorldImage::read(directory.path())?;
/// let schedule = generate_on(&mut Tape::from_seed(7), Knobs::default(), image.shape());
/// // Its world starts with what lies in the directory, and goes on from there.
/// assert_eq!(schedule.world.images.len(), 1);
/// assert!(!schedule.steps.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn generate_on(tape: &mut Tape, knobs: Knobs, image: &ImageShape) -> Schedule {
    let mut draft = Draft::begin_on(tape, knobs, image);
    draft.live_on();
    draft.finish()
}

/// The schedule of a seed.
pub fn generate_seed(seed: u64, knobs: Knobs) -> Schedule {
    generate(&mut Tape::from_seed(seed), knobs)
}
