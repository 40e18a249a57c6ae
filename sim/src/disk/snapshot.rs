//! Moments of a disk that can be gone back to.
//!
//! Promises: taking one copies page ids and small tables, no bytes; going back brings everything back,
//! counters and recorded events included, so a check that runs on a copy leaves no trace. Leaves out:
//! snapshots of one disk put on another one.

use super::geometry::Geometry;
use super::stamp::Stamps;
use super::state::{Disk, State};

use crate::schedule::Filesystem;

/// One moment of a disk. Its memory can be used again for the next one.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(super) state: State,
    stamps: Stamps,
    mark: u32,
    events: usize,
    strikes: usize,
    is_recording: bool,
    origin: Option<(Geometry, Filesystem)>,
}

impl Disk {
    pub(super) fn take_snapshot(&mut self, snapshot: &mut Snapshot) {
        self.arena.freeze();
        snapshot.state.copy_from(&self.state);
        snapshot.stamps.clone_from(&self.stamps);
        snapshot.mark = self.arena.mark();
        snapshot.events = self.events.len();
        snapshot.strikes = self.strikes.len();
        snapshot.is_recording = self.is_recording;
        snapshot.origin = Some((self.geometry, self.filesystem));
    }

    pub(super) fn restore(&mut self, snapshot: &Snapshot) {
        assert!(
            snapshot.origin == Some((self.geometry, self.filesystem)) && snapshot.mark <= self.arena.mark(),
            "a snapshot is put back on the disk it was taken of"
        );
        self.state.copy_from(&snapshot.state);
        self.stamps.clone_from(&snapshot.stamps);
        self.events.truncate(snapshot.events);
        self.strikes.truncate(snapshot.strikes);
        self.is_recording = snapshot.is_recording;
        self.arena.freeze();
    }

    pub(super) fn rewind(&mut self, snapshot: &Snapshot) {
        self.restore(snapshot);
        self.arena.rewind(snapshot.mark);
    }
}
