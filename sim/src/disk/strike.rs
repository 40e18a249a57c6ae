//! Faults that hit calls, for whoever judges: which call, and what of the disk is not as it says since.
//!
//! Promises: a fault that hit nothing is not here, and one that changed nothing touches nothing. What is
//! touched is at least what differs. Leaves out: faults that act at once, whose places the schedule names.

use std::ops::Range;

use recovery_core::storage::{Call, Name};

use super::SimDisk;
use super::commit::NameScope;
use super::directory::DirectoryId;
use super::fault::Cause;
use super::file::FileId;
use super::injection::Disturbance;
use super::state::Disk;

/// One fault that hit one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strike {
    /// As what it is counted.
    pub cause: Cause,
    /// The call that it hit.
    pub call: Call,
    /// How many calls were recorded before that one, and not taken yet.
    pub at: usize,
    /// What happened.
    pub disturbance: Disturbance,
    /// What it touches.
    pub touched: Vec<Touched>,
}

/// What a strike touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// Bytes of a file: what a read showed of them, or what the medium will hold of them.
    Bytes {
        /// The file.
        file: FileId,
        /// The directory that it was made in, and the name that it was made with.
        made_as: (DirectoryId, Name),
        /// Its bytes.
        range: Range<u64>,
    },
    /// A name: what the medium will hold of it.
    Name {
        /// In which directory.
        directory: DirectoryId,
        /// Which.
        name: Name,
    },
}

impl Strike {
    /// Whether a read showed what does not lie there.
    pub fn misleads(&self) -> bool {
        self.disturbance.changes_reads() && !self.touched.is_empty()
    }

    /// Whether a write or a sync said that it had done what it had not.
    pub fn pretends(&self) -> bool {
        !self.disturbance.changes_reads() && !self.touched.is_empty()
    }
}

impl SimDisk {
    /// Takes the strikes since the last time, oldest first, into `strikes`, which is emptied before.
    pub fn take_strikes(&self, strikes: &mut Vec<Strike>) {
        strikes.clear();
        std::mem::swap(&mut self.disk.borrow_mut().strikes, strikes);
    }
}

impl Disk {
    /// A fault hits a call.
    pub(super) fn strike(&mut self, cause: Cause, call: Call, disturbance: Disturbance) {
        let at = self.events.len();
        self.strikes.push(Strike { cause, call, at, disturbance, touched: Vec::new() });
    }

    /// The call that was hit last touches bytes of a file.
    pub(super) fn touch_bytes(&mut self, file: FileId, range: Range<u64>) {
        let node = self.state.file(file);
        let made_as = (node.home, self.state.names.name_of(node.name));
        self.touch(Touched::Bytes { file, made_as, range });
    }

    /// It touches what of a file is not on the medium yet, and all that is put behind it.
    pub(super) fn touch_pending(&mut self, file: FileId) {
        let starts =
            self.state.file(file).pending.iter().map(|change| change.position.min(change.length_after));
        if let Some(start) = starts.min() {
            self.touch_bytes(file, start..u64::MAX);
        }
    }

    /// It touches the names that a sync was to make durable.
    pub(super) fn touch_names(&mut self, scope: NameScope) {
        for at in 0..self.state.name_changes.len() {
            let group = self.state.name_changes[at].group;
            let mut changes = self.state.name_changes.iter();
            if changes.any(|change| change.group == group && self.is_in_scope(change, scope)) {
                let change = self.state.name_changes[at];
                let name = self.state.names.name_of(change.name);
                self.touch(Touched::Name { directory: change.directory, name });
            }
        }
    }

    fn touch(&mut self, touched: Touched) {
        if let Some(strike) = self.strikes.last_mut() {
            strike.touched.push(touched);
        }
    }
}
