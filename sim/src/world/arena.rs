//! Memory that a thread reuses from world to world.

use std::rc::Rc;

use recovery_core::observe::Workspace;

use super::again::Moments;
use super::event::Recorder;
use super::image::WorldImage;
use super::left::NodeLeft;
use super::meter::Meter;
use super::poll::Reading;
use super::serve::Scratch;
use crate::disk::{Event as DiskEvent, Injection, SimDisk, Snapshot, Strike, keep_small};
use crate::oracle::truth::Truth;
use crate::subject::trial::Trial;

/// Memory that one thread reuses from world to world.
pub struct Arena {
    pub(super) disk: Option<SimDisk>,
    /// Disks of worlds with many nodes.
    pub(super) disks: Vec<SimDisk>,
    pub(super) snapshot: Snapshot,
    pub(super) workspace: Option<(u32, Workspace)>,
    pub(super) recorder: Recorder,
    pub(super) scratch: Scratch,
    pub(super) reading: Reading,
    pub(super) injections: Vec<Injection>,
    pub(super) calls: Vec<DiskEvent>,
    pub(super) strikes: Vec<Strike>,
    /// What was true of partitions of worlds that are over.
    pub(super) truths: Vec<Truth>,
    pub(super) moments: Moments,
    /// The directory that worlds on it start with, if their schedules name one.
    pub image: Option<&'static WorldImage>,
    /// Another program, which every start is put to, too.
    pub trial: Option<Rc<Trial>>,
    /// What the last world has left behind, node by node, if it was watched for that.
    pub left: Vec<NodeLeft>,
    /// Measures the worlds that are run on it, if it is switched on.
    pub meter: Meter,
}

impl Arena {
    /// Memory that has not held a world yet.
    ///
    /// # Examples
    ///
    /// ```
    /// use sim::oracle::sample::Checks;
    /// use sim::run::one::run_seed;
    /// use sim::schedule::generate::{Knobs, SizeKnob};
    /// use sim::world::Arena;
    ///
    /// let knobs = Knobs { size: SizeKnob::Small, ..Knobs::default() };
    /// let mut arena = Arena::new();
    /// let digests: Vec<u64> =
    ///     (1..4).map(|seed| run_seed(&mut arena, seed, knobs, Checks::Default).digest).collect();
    /// // Nothing of a world shows in the ones that follow it on the same memory.
    /// assert_eq!(digests[2], run_seed(&mut Arena::new(), 3, knobs, Checks::Default).digest);
    /// ```
    pub fn new() -> Self {
        Self {
            disk: None,
            disks: Vec::new(),
            snapshot: Snapshot::default(),
            workspace: None,
            recorder: Recorder::new(),
            scratch: Scratch::default(),
            reading: Reading::default(),
            injections: Vec::new(),
            calls: Vec::new(),
            strikes: Vec::new(),
            truths: Vec::new(),
            moments: Moments::default(),
            image: None,
            trial: None,
            left: Vec::new(),
            meter: Meter::OFF,
        }
    }
}

impl Arena {
    /// Memory for worlds that start with a directory.
    pub fn on(image: Option<&'static WorldImage>) -> Self {
        Self { image, ..Self::new() }
    }

    /// Lets go of the room that only large steps needed.
    pub(super) fn rest(&mut self) {
        keep_small(&mut self.calls);
        keep_small(&mut self.strikes);
        self.disk.iter().chain(&self.disks).for_each(SimDisk::rest);
        self.snapshot.rest();
        self.truths.iter_mut().for_each(Truth::rest);
        self.moments.rest();
    }

    /// Lets go of whatever a world that panicked has left.
    pub fn renew(&mut self) {
        *self = Self { image: self.image, trial: self.trial.take(), meter: self.meter, ..Self::new() };
    }
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}
