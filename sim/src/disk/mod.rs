//! The simulated disk: one node's data directory as a filesystem in memory.
//!
//! Promises: it answers storage calls as a real filesystem does (`conformance` holds it to that); what a
//! crash may leave is what FAULT_MODEL 2.5 lets the chosen filesystem leave, and each such outcome can be
//! chosen (`litmus`); the same calls, injections and choices give the same disk, byte for byte. Leaves out:
//! time, threads, permissions beyond "may" and "may not", and any draw: every decision is given as data.
//!
//! # The model
//!
//! **Three views.** Of each file there is what reads see (its length and its cached pages), and what the
//! medium holds (its durable length and its extents: hole, unwritten, mapped). Between the two lies a list
//! of pending changes in issue order: sector writes with the sector's whole contents as of that write, and
//! changes of length. Of each directory there are the entries that lookups see and the durable ones; the
//! pending changes of names are one list for the whole disk. A page of the cache is dirty while a change of
//! it is still to be written back; it is *diverged* if it is clean and yet not what the medium holds, which
//! only faults bring about. A page that is not cached is read from the medium and then cached.
//!
//! **Syncs.** A sync of a file puts its pending changes on the medium, commits what its filesystem commits
//! with them, and flushes the device. A crash may cut it short while data moves, before metadata, before
//! the flush, or before the report. A lying flush reports success and leaves everything in the device's
//! cache, until the next honest sync of anything flushes the device whole.
//!
//! **Crashes.** A process crash takes handles and locks along and nothing else: pages that were never
//! written back are still read. An OS crash takes the cache; what is in the device's cache survives. A power
//! loss takes both. What of the pending changes survives is a choice made outside, element by element, and
//! then closed under the filesystem's order by *dropping* what lacks its prerequisite:
//!
//! | | ext4-ordered | ext4-writeback | ext4-journal | xfs | btrfs | adversarial |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | sectors are whole | yes | yes | yes | yes | yes | yes |
//! | an overwritten page changes whole | no | no | yes | no | yes | no |
//! | a new page shows whole | yes, or zeros | no | yes | yes | yes | no |
//! | what shows instead of lost bytes | runs of zeros | zeros, freed blocks | nothing | runs of zeros | holes | zeros, freed blocks, noise |
//! | names and cuts are one sequence | yes | yes | with everything else | yes | no | no |
//! | a rename is whole | yes | yes | yes | yes | yes | no |
//! | a rename over a file waits for its length | yes | no | yes | no | no | no |
//! | an overwrite comes before all later | no | no | yes | no | yes | no |
//! | a file's sync makes its name durable | yes | yes | yes | yes | yes | no |
//! | and what came before in the journal | yes | yes | and all else | yes | no | no |
//! | a file may end with its old last page | yes | yes | no | yes | no | yes |
//!
//! `sim kernel-check` holds ext4-ordered and xfs against the filesystems themselves (`docs/kernel-check.md`).
//!
//! A shorn sector is not a choice of a crash but a fault of its own ([`Disturbance::ShearWrite`]).
//!
//! **Failed syncs** (FAULT_MODEL 2.6). Pages that could not be written are clean afterwards and are not
//! tried again. ext4 keeps the new bytes in the cache and commits length and block without them, and with a
//! data journal tells the next sync instead of this one; XFS drops the length with them; Btrfs goes back to
//! the old bytes. An error is told once to each descriptor that was open at the time, and to the first later
//! one if nobody was; if the file leaves the cache first, to nobody.
//!
//! **The medium** ([`Damage`]). Damage is put on the medium at a place and stays there until the place is
//! overwritten; whether reads see it depends on the cache. Unreadable sectors fail the page they are in.
//! Where data is checksummed (btrfs), damaged bytes are not returned but fail, too. Faults that a retry heals
//! (transient corruption, misdirected reads) are disturbances of one call. Freed blocks keep their bytes in a
//! pool, and may show in blocks that were mapped and never written.
//!
//! **Outside hands** ([`SimDisk::take_name`] and its siblings) work through the filesystem: durable at once,
//! and with good checksums.
//!
//! # Where the model is coarser than the world
//!
//! - Damage to a file writes back all that is pending of it, not only the pages it touches.
//! - A page with one bad sector cannot be read at all, since the cache reads whole pages.
//!
//! # Speed
//!
//! Bytes live in an arena of sectors that is reset between worlds; pages are copied before they are written
//! if anything else may hold them; a snapshot copies page ids. Nothing is hashed by name order, formatted or
//! allocated per call, but for the growth of vectors that keep their memory.

mod arena;
mod call_file;
mod call_name;
mod choice;
mod closure;
mod commit;
pub mod conformance;
mod crash;
mod damage;
mod directory;
mod durable;
mod event;
mod failure;
mod fault;
mod file;
mod fingerprint;
mod fold;
mod freed;
mod geometry;
mod handle;
mod history;
mod hole;
mod image;
mod injection;
pub mod litmus;
mod medium;
mod name_table;
mod operator;
mod pending;
mod place;
mod resolve;
mod rest;
mod rules;
mod snapshot;
mod stamp;
mod state;
mod step;
mod storage;
mod strike;
mod sync;
#[cfg(test)]
mod tests;
mod undecided;
mod writeback;

use std::cell::RefCell;

use recovery_core::storage::{Call, EntryKind, Name};

use crate::schedule::{Filesystem, Restart};

pub use choice::{CrashReport, FileChoice, SurvivorChoice};
pub use damage::Damage;
pub use directory::{DirectoryId, Node};
pub use durable::Exposed;
pub use event::Event;
pub use fault::{CAUSES, Cause, FaultId, FaultTally};
pub use file::FileId;
pub use geometry::{FILE_PAGES_MAX, Geometry};
pub use handle::{SimDirectory, SimFile};
pub use image::Image;
pub use injection::{Disturbance, Injection, Scope, Standing, StepOutcome, SyncPart};
pub use operator::Stray;
pub use place::View;
pub use rest::keep_small;
pub use snapshot::Snapshot;
pub use stamp::StampBroken;
pub use strike::{Strike, Touched};
pub use undecided::Undecided;

use state::Disk;

/// One node's simulated disk. See the module for the model.
#[derive(Debug)]
pub struct SimDisk {
    disk: RefCell<Disk>,
    listed: RefCell<Vec<(Name, EntryKind)>>,
}

impl SimDisk {
    /// An empty disk: a data directory with nothing in it.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::storage::{Name, Storage, exact};
    /// use sim::disk::{Geometry, SimDisk, SurvivorChoice};
    /// use sim::schedule::{Filesystem, Restart, Survivors};
    ///
    /// let disk = SimDisk::new(Geometry::DEFAULT, Filesystem::Ext4Ordered);
    /// let (root, name) = (disk.root()?, Name::new(b"journal").expect("one component"));
    /// let file = disk.create(&root, &name)?;
    /// disk.sync_directory(&root)?;
    /// exact::write_all(&disk, &file, &name, 0, b"kept")?;
    /// disk.sync(&file)?;
    /// exact::write_all(&disk, &file, &name, 4, b"lost")?;
    ///
    /// // Of a cut of the power the worst case: what no sync promised is gone.
    /// disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::None));
    /// let file = disk.open(&disk.root()?, &name, recovery_core::storage::Access::Read)?;
    /// assert_eq!(disk.length(&file)?, 4);
    /// # Ok::<(), recovery_core::storage::StorageError>(())
    /// ```
    pub fn new(geometry: Geometry, filesystem: Filesystem) -> Self {
        Self { disk: RefCell::new(Disk::new(geometry, filesystem)), listed: RefCell::new(Vec::new()) }
    }

    /// Makes it an empty disk again, and keeps the memory.
    pub fn reset(&self, geometry: Geometry, filesystem: Filesystem) {
        self.disk.borrow_mut().reset(geometry, filesystem);
    }

    /// Records an [`Event`] for each storage call from here on, or stops doing so.
    pub fn record(&self, is_recording: bool) {
        self.disk.borrow_mut().is_recording = is_recording;
    }

    /// Records the hash of the bytes that a call moves with its event from here on, or stops doing so.
    pub fn record_contents(&self, records: bool) {
        self.disk.borrow_mut().records_contents = records;
    }

    /// Takes the events recorded since the last time, oldest first, into `events`, which is emptied before.
    pub fn take_events(&self, events: &mut Vec<Event>) {
        events.clear();
        std::mem::swap(&mut self.disk.borrow_mut().events, events);
    }

    /// How many events are recorded that nobody has taken yet.
    pub fn recorded(&self) -> usize {
        self.disk.borrow().events.len()
    }

    /// How many of those, from the one at `from` on, are about such a call.
    pub fn count_recorded(&self, from: usize, is_meant: impl Fn(Call) -> bool) -> u64 {
        self.disk.borrow().events[from..].iter().filter(|event| is_meant(event.call)).count() as u64
    }

    /// Bytes of memory that this world has used so far.
    pub fn used_bytes(&self) -> u64 {
        self.disk.borrow().arena.used_bytes()
    }

    /// The node goes down, now or where the step left it, and comes back.
    ///
    /// # Panics
    ///
    /// If it went down inside a step by another kind of restart, or if a stamped sector changed.
    pub fn crash(&self, restart: Restart, choice: &SurvivorChoice) -> CrashReport {
        self.disk.borrow_mut().crash(restart, choice)
    }

    /// From here on, checks at every crash that no sector changed that a sync reported durable, unless a
    /// fault did it or the device lied.
    pub fn turn_stamps_on(&self) {
        self.disk.borrow_mut().stamps.turn_on();
    }

    /// Whether every stamped sector is on the medium as it was reported.
    ///
    /// # Errors
    ///
    /// The first sector that is not.
    pub fn check_stamps(&self) -> Result<(), StampBroken> {
        self.disk.borrow().check_stamps()
    }

    /// Takes a snapshot into memory that may have held another one.
    pub fn snapshot(&self, snapshot: &mut Snapshot) {
        self.disk.borrow_mut().take_snapshot(snapshot);
    }

    /// Goes back to a snapshot. Snapshots taken since stay good.
    pub fn restore(&self, snapshot: &Snapshot) {
        self.disk.borrow_mut().restore(snapshot);
    }

    /// Goes back to a snapshot and takes back the memory used since. Snapshots taken since are void.
    pub fn rewind(&self, snapshot: &Snapshot) {
        self.disk.borrow_mut().rewind(snapshot);
    }
}
