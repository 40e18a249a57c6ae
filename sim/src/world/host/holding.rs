//! What lies in a replica that waits for peers, as the truth knows it, and what one of them offers (I19).
//!
//! Promises: what was looked at when it began to wait is what a copy is held against when it is begun. Leaves out: batches
//! that the truth does not know, and all where a budget for looking at a log can run out, or a read may have lied.

use recovery_core::format::FileName;
use recovery_core::host::{Cause, HostEvent, RebuildCause};
use recovery_core::transfer::{InstallError, Offer};
use recovery_core::units::Offset;

use super::replica::{has_unreadable_log, unreadable_from, without_bad_sectors};
use super::run::HostWorld;
use crate::disk::DirectoryId;
use crate::oracle::Violation;
use crate::oracle::damage::Damages;
use crate::oracle::invariants::{
    Given, Held, check_begun, check_came, check_given_up, check_newest, check_own_error,
};
use crate::oracle::reference::Reference;
use crate::oracle::truth::{Life, Truth, Write};
use crate::world::look;

const fn lives(write: &Write) -> bool {
    matches!(write.life, Life::Acknowledged | Life::Adopted)
}

/// What an offer gives, as far as its numbers say.
pub(super) fn given(offer: &Offer) -> Given {
    let runs = offer.segments.iter().map(|end| (end.segment.offset(), end.next_offset));
    let is_empty = offer.bytes() == 0;
    let runs = runs.filter(|_| !is_empty).collect();
    Given { floor: offer.floor.offset(), runs, next: offer.next_offset }
}

/// Whether damage takes nothing of what lives.
fn leaves_all(damages: &Damages, truth: &Truth) -> bool {
    let ends = truth.writes().iter().filter(|write| lives(write));
    let mut ends = ends.map(|write| (write.segment, write.position + u64::from(write.length)));
    ends.all(|(segment, end)| !damages.explains_loss(&FileName::log(segment), end))
}

impl HostWorld<'_> {
    /// The offsets of each batch that lives and lies here whole, and where marks end; nothing where that is not known, or
    /// there is no directory.
    pub(super) fn held_here(&self, m: usize, index: usize) -> Held {
        let member = &self.members[m];
        let slot = &member.node.slots[index];
        let image = look::image(&member.node.disk, &slot.components);
        let has_directory = look::directory(&member.node.disk, &slot.components).is_some();
        let is_known = has_directory && !self.has_liars(m) && !member.was_lied_to;
        let found = is_known.then(|| self.found(m, index, &image));
        let Some(found) = found.filter(Reference::is_all_found) else { return Held::default() };
        let readable = without_bad_sectors(&image.directory);
        let is_here = |write: &&Write| lives(write) && slot.truth.lies_in(&readable, write);
        // Of a log of which a part cannot be read only what is proven before it counts, and what a mark tells of; and what
        // lies where nothing could follow what is before it counts for nothing.
        let is_told = |write: &&Write| {
            let (segment, end) = (write.segment, write.position + u64::from(write.length));
            let is_proven = found.proves(segment, write.base);
            match unreadable_from(&image, segment) {
                Some(from) => (is_proven && end <= from) || write.next <= found.marked_next(segment),
                None => is_proven || found.survivors().any(|(first, _)| first == write.base),
            }
        };
        let writes = slot.truth.writes().iter().filter(is_here).filter(is_told);
        let held = writes.map(|write| (write.base, write.next));
        let runs = held.filter(|(first, next)| first < next).collect();
        Held {
            runs,
            marked_next: slot.truth.marked_next().unwrap_or(Offset::ZERO),
            is_unreadable: has_unreadable_log(&image),
        }
    }

    /// I19: a copy was begun.
    pub(super) fn check_begun(&mut self, m: usize, index: usize, given: &Given) {
        let violation = check_begun(&self.members[m].extras[index].held, given);
        self.fail_copy(m, index, violation);
    }

    /// I19: a copy was given up because of what came.
    pub(super) fn check_came(&mut self, m: usize, index: usize, error: &InstallError) {
        let is_of_bytes = match error {
            InstallError::NotAsOffered { .. } => true,
            // It is of another life, or nothing came.
            InstallError::Offer(_) | InstallError::Source(_) | InstallError::Io(_) => false,
        };
        let Some(installing) = &self.members[m].extras[index].installing else { return };
        let peer = usize::from(installing.from.0);
        let is_sound = |member: usize| {
            let had = &self.members[member];
            !had.was_lied_to && !had.had_failed_sync && !self.has_liars(member)
        };
        let there = &self.members[peer].node.slots[index].truth;
        let is_still = |write: &Write| {
            let bytes = installing.truth.bytes_of(write);
            there.writes().iter().any(|other| {
                (other.base, other.segment, other.position, other.life)
                    == (write.base, write.segment, write.position, write.life)
                    && there.bytes_of(other) == bytes
            })
        };
        let is_as_begun = installing.truth.writes().iter().filter(|write| lives(write)).all(is_still);
        let is_whole = is_of_bytes
            && is_sound(m)
            && is_sound(peer)
            && self.wire.len() == 0
            && is_as_begun
            && there.indistinguishable == 0
            && leaves_all(&there.damages, there)
            && leaves_all(&installing.truth.damages, &installing.truth);
        let violation = check_came(is_whole, error.code());
        self.fail_copy(m, index, violation);
    }

    /// I19: what is served again is what was served last.
    pub(super) fn check_newest(&mut self, m: usize, index: usize, directory: Option<DirectoryId>) {
        let (member, extra) = (&self.members[m], &self.members[m].extras[index]);
        let is_known = !member.was_lied_to && !member.had_failed_sync && !self.has_liars(m);
        let is_newest = extra.served_from.is_none() || extra.served_from == directory;
        let violation = check_newest(is_newest || !is_known || extra.is_deleted);
        self.fail_copy(m, index, violation);
    }

    /// I20, I21: what a host tells of an error.
    pub(super) fn check_error(&mut self, m: usize, index: usize, event: &HostEvent) {
        if self.has_liars(m) || self.members[m].was_lied_to {
            return;
        }
        let failed = || self.calls.iter().filter_map(|call| call.errno);
        let violation = match event {
            HostEvent::Unavailable { cause: Cause::Io(error), .. } => check_own_error(error, failed()),
            HostEvent::InstallFailed { error: InstallError::Io(error), .. } => {
                check_own_error(error, failed())
            }
            HostEvent::Rebuilding { cause: RebuildCause::Unreadable(_), .. } => {
                check_given_up(self.members[m].extras[index].tries)
            }
            HostEvent::Unavailable { .. }
            | HostEvent::InstallFailed { .. }
            | HostEvent::Rebuilding { .. }
            | HostEvent::MetadataOpened { .. }
            | HostEvent::MetadataCut(_)
            | HostEvent::MetadataRefused(_)
            | HostEvent::MetadataUnavailable(_)
            | HostEvent::UnknownDirectory(_)
            | HostEvent::NotListed(_)
            | HostEvent::Created(_)
            | HostEvent::Made(_)
            | HostEvent::Served { .. }
            | HostEvent::Refused { .. }
            | HostEvent::Installed(_)
            | HostEvent::Deleting(_)
            | HostEvent::Deleted(_)
            | HostEvent::DeleteFailed { .. }
            | HostEvent::InsertRefused { .. } => None,
        };
        if let Some(violation) = violation {
            let namespace = self.members[m].node.slots[index].header.namespace;
            self.fail(Some(namespace), violation, "boot", Some(event.to_string()));
        }
    }

    fn fail_copy(&mut self, m: usize, index: usize, violation: Option<Violation>) {
        if let Some(violation) = violation {
            let namespace = self.members[m].node.slots[index].header.namespace;
            self.fail(Some(namespace), violation, "transfer-install", None);
        }
    }
}
