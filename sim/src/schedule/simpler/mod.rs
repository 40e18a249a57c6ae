//! What can be said more simply: all that shrinking knows of a schedule's parts.
//!
//! Promises: each part offers others that say less, boldest first, and none that says something new: no step
//! does the work of two, and no fault becomes another kind. Leaves out: which of them still fail
//! ([`crate::run::shrink`]), and which of two schedules is the simpler one ([`Extent`] says what counts).

mod crash;
mod fault;
mod number;
mod step;
mod world;

pub use number::lower;

/// A part of a schedule that can be said more simply.
pub trait Simpler: Sized {
    /// What counts of it when schedules are compared.
    fn extent(&self) -> Extent;

    /// Whether it takes a node down, and so may do it earlier.
    fn is_crash(&self) -> bool;

    /// Others in its place, boldest first. Whoever asks keeps only what is really simpler.
    fn simpler(&self) -> Vec<Self>;
}

/// How much there is of something, by rank: what stands first counts first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// Steps, and crashes and faults inside them; expectations do not count (CONTRACTS 4).
    pub steps: u64,
    /// Batches that are written or planted.
    pub batches: u64,
    /// Payload bytes of all their messages. A smaller payload than the default counts as the default: it
    /// would only have to be spelled.
    pub bytes: u64,
    /// How late crashes come: the calls before them, and the steps.
    pub lateness: u64,
    /// Those of the steps that are faults.
    pub faults: u64,
}

impl std::ops::Add for Extent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            batches: self.batches + other.batches,
            bytes: self.bytes + other.bytes,
            lateness: self.lateness + other.lateness,
            faults: self.faults + other.faults,
        }
    }
}

impl std::iter::Sum for Extent {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), |sum, size| sum + size)
    }
}
