//! What a host tells, held against what lies on its disk (I23), and kept for the digest.
//!
//! Promises: each event is looked at when the step that it came of is over. Leaves out: wording, which the core's own
//! tests hold to its snapshots.

use std::collections::BTreeSet;

use recovery_core::host::{HostEvent, RebuildCause};
use recovery_core::units::Namespace;
use recovery_core::wal::{Key, Stage};

use super::run::HostWorld;
use super::sight::Sight;
use crate::oracle::invariants::{Excuses, Held, Place, Said, check_said, check_taken};
use crate::run::tally::Tally;
use crate::world::event::{EventCode, word};
use crate::world::look;

impl HostWorld<'_> {
    /// Takes what a host has told, and tells the truth of it; returns the slots whose newest life was judged.
    pub(super) fn note_events(&mut self, m: usize, sight: &Sight, tally: &mut Tally) -> BTreeSet<usize> {
        let (mut judged, mut made) = (BTreeSet::new(), BTreeSet::new());
        self.learn_lives(m);
        let Some(host) = &mut self.members[m].host else { return judged };
        let events = host.take_events();
        for (at, event) in events.iter().enumerate() {
            let code = code_of(event);
            let namespace = subject(event).map_or(u64::MAX, |key| key.namespace.packed());
            self.recorder.note(EventCode::Told, namespace, word(code), number(event));
            let Some(key) = subject(event) else { continue };
            let Some(index) = self.members[m].index_of(key.namespace) else { continue };
            if self.members[m].key(index) == key {
                self.check_error(m, index, event);
            }
            match event {
                HostEvent::Served { .. } => {
                    if self.members[m].key(index).incarnation < key.incarnation {
                        // A creation that nobody knew to hold did.
                        self.members[m].begin_life(index, key);
                        self.members[m].extras[index].is_made = true;
                    }
                    if self.members[m].key(index) == key {
                        self.adopt(m, index, sight, tally);
                        self.members[m].extras[index].tries = 0;
                        judged.insert(index);
                    }
                }
                HostEvent::Refused { .. } | HostEvent::Unavailable { .. } | HostEvent::Rebuilding { .. } => {
                    if self.members[m].key(index) == key {
                        judged.insert(index);
                        let tries = &mut self.members[m].extras[index].tries;
                        let is_unknown = matches!(event, HostEvent::Unavailable { .. });
                        // What stays unreadable is given up at once when it is judged again.
                        let stays =
                            matches!(event, HostEvent::Rebuilding { cause: RebuildCause::Unreadable(_), .. });
                        *tries = if is_unknown || stays { tries.saturating_add(1) } else { 0 };
                        if is_unknown {
                            self.note_strangers_of_a_failed_sync(m, index);
                        }
                        // Judged, put on record, and not served: it waits for what peers may have behind it.
                        let is_gap =
                            matches!(event, HostEvent::Rebuilding { cause: RebuildCause::Gap(_), .. });
                        let is_waiting = matches!(event, HostEvent::Rebuilding { .. });
                        let held = if is_waiting { self.held_here(m, index) } else { Held::default() };
                        self.members[m].extras[index].held = held;
                        // Who looks alone is not lied to as that start was.
                        if is_gap && (!sight.was_looked_at_alone(index) || self.lies_of(m).lasts) {
                            self.note_strangers(m, index);
                        }
                    }
                }
                HostEvent::MetadataOpened { .. }
                | HostEvent::MetadataCut(_)
                | HostEvent::MetadataRefused(_)
                | HostEvent::MetadataUnavailable(_)
                | HostEvent::UnknownDirectory(_)
                | HostEvent::NotListed(_)
                | HostEvent::Created(_)
                | HostEvent::InstallFailed { .. }
                | HostEvent::Deleting(_)
                | HostEvent::Deleted(_)
                | HostEvent::DeleteFailed { .. }
                | HostEvent::InsertRefused { .. } => {}
                HostEvent::Made(_) => {
                    made.insert(index);
                }
                HostEvent::Installed(_) => self.check_copy_taken(m, key, &events[at + 1..]),
            }
            // What is said last of a partition is what must be so now.
            if !events[at + 1..]
                .iter()
                .any(|later| subject(later).map(|key| key.namespace) == Some(key.namespace))
            {
                self.check_said(m, index, sight, event);
            }
        }
        // Where a metadata log has lost that it was made, it is made again, and not judged as it lies there.
        judged.retain(|index| !made.contains(index) && !self.is_to_be_made(m, *index));
        judged
    }

    /// I19: what was put in its place is served as soon as it is judged, where no call failed, and nobody has damaged it
    /// since it was complete. Of a replica that was damaged before, a superblock may say with a checksum that fits that
    /// more offsets were reserved: it comes along, and the peers are asked for those.
    fn check_copy_taken(&mut self, m: usize, key: Key, later: &[HostEvent]) {
        let extra = self.members[m].index_of(key.namespace).map(|index| &self.members[m].extras[index]);
        let is_damaged = extra.is_some_and(|extra| extra.is_copy_damaged);
        let may_reserve_more = extra.is_some_and(|extra| extra.was_damaged);
        if !self.is_calm(m) || self.members[m].was_lied_to || is_damaged {
            return;
        }
        let judged = later.iter().find_map(|event| match event {
            HostEvent::Served { key: other, .. } if *other == key => Some((true, "served")),
            HostEvent::Refused { key: other, reason } if *other == key => Some((false, reason.code())),
            HostEvent::Rebuilding { key: other, cause: RebuildCause::Gap(_) }
                if *other == key && may_reserve_more =>
            {
                None
            }
            HostEvent::Rebuilding { key: other, .. } if *other == key => Some((false, "rebuilding")),
            HostEvent::Served { .. }
            | HostEvent::Refused { .. }
            | HostEvent::Rebuilding { .. }
            | HostEvent::MetadataOpened { .. }
            | HostEvent::MetadataCut(_)
            | HostEvent::MetadataRefused(_)
            | HostEvent::MetadataUnavailable(_)
            | HostEvent::UnknownDirectory(_)
            | HostEvent::NotListed(_)
            | HostEvent::Created(_)
            | HostEvent::Made(_)
            | HostEvent::Unavailable { .. }
            | HostEvent::Installed(_)
            | HostEvent::InstallFailed { .. }
            | HostEvent::Deleting(_)
            | HostEvent::Deleted(_)
            | HostEvent::DeleteFailed { .. }
            | HostEvent::InsertRefused { .. } => None,
        });
        if let Some(violation) = judged.and_then(|(is_served, state)| check_taken(is_served, state)) {
            self.fail(Some(key.namespace), violation, "transfer-install", None);
        }
    }

    /// The metadata log says which lives are made; and a deletion that nobody knew to hold may do so, which it says
    /// when it is read again.
    fn learn_lives(&mut self, m: usize) {
        for index in 0..self.members[m].extras.len() {
            let member = &self.members[m];
            let key = member.key(index);
            let Some(registry) = member.host.as_ref().and_then(|host| host.registry()) else { return };
            let stage = registry.get(&key).map(|entry| entry.stage);
            let is_gone = stage.is_none_or(|stage| stage == Stage::Deleting);
            self.members[m].extras[index].is_made |= stage == Some(Stage::Made);
            let member = &self.members[m];
            if is_gone && !member.extras[index].is_deleted && self.cluster.is_deleted(key) {
                self.members[m].end_life(index);
            }
        }
    }

    /// Whether the metadata log says of a life that it is not made.
    fn is_to_be_made(&self, m: usize, index: usize) -> bool {
        let member = &self.members[m];
        let entry = member.host.as_ref().and_then(|host| host.registry()?.get(&member.key(index)));
        entry.is_some_and(|entry| entry.stage == Stage::Created)
    }

    /// What lies there of a partition behind a step.
    fn place(&self, m: usize, index: usize, sight: &Sight) -> Place {
        let (disk, slot) = (&self.members[m].node.disk, &self.members[m].node.slots[index]);
        let mut place = Place {
            has_directory: look::directory(disk, &slot.components).is_some(),
            has_sibling: look::has_sibling(disk, &slot.components, b".rebuild"),
            copies: 0,
            unexplained: 0,
            unexplained_new: 0,
            fences: 0,
        };
        for fence in look::image(disk, &slot.components).fences {
            let is_explained = fence.image.find(b"REASON.toml").is_some();
            place.fences += 1;
            place.copies += fence.image.entries.len() as u64 - u64::from(is_explained);
            if !is_explained {
                let is_new = sight.was_there(index, &fence.name) == Some(false);
                place.unexplained += u64::from(!is_new);
                place.unexplained_new += u64::from(is_new);
            }
        }
        place
    }

    fn check_said(&mut self, m: usize, index: usize, sight: &Sight, event: &HostEvent) {
        if self.has_liars(m) {
            return;
        }
        let place = self.place(m, index, sight);
        let member = &self.members[m];
        let slot = &member.node.slots[index];
        let namespace: Namespace = slot.header.namespace;
        let said = match event {
            HostEvent::Served { next_offset, messages, cut, copies, .. } => {
                let writer = member.host.as_ref().and_then(|host| host.writer(namespace));
                let Some(writer) = writer else { return };
                Said::Served {
                    next: (next_offset.get(), writer.next_offset().get()),
                    messages: (*messages, slot.truth.living_messages()),
                    cut: cut.get(),
                    copies: *copies,
                }
            }
            HostEvent::Refused { reason, .. } => Said::Refused {
                is_missing: matches!(reason, recovery_core::decide::Reason::MissingPartition { .. }),
            },
            HostEvent::Deleted(_) => Said::Deleted,
            HostEvent::Made(_) => Said::Made,
            HostEvent::Installed(_) => Said::Installed,
            HostEvent::MetadataOpened { .. }
            | HostEvent::MetadataCut(_)
            | HostEvent::MetadataRefused(_)
            | HostEvent::MetadataUnavailable(_)
            | HostEvent::UnknownDirectory(_)
            | HostEvent::NotListed(_)
            | HostEvent::Created(_)
            | HostEvent::Unavailable { .. }
            | HostEvent::Rebuilding { .. }
            | HostEvent::InstallFailed { .. }
            | HostEvent::Deleting(_)
            | HostEvent::DeleteFailed { .. }
            | HostEvent::InsertRefused { .. } => return,
        };
        let extra = &member.extras[index];
        let may_be_other = extra.was_damaged || extra.had_fault || member.was_lied_to;
        let excuses = Excuses { messages: may_be_other, copies: may_be_other || member.had_failed_sync };
        if let Some(violation) = check_said(&said, &place, excuses) {
            let remark = Some(event.to_string());
            self.fail(Some(namespace), violation, "boot", remark);
        }
    }
}

fn subject(event: &HostEvent) -> Option<Key> {
    match event {
        HostEvent::MetadataOpened { .. }
        | HostEvent::MetadataCut(_)
        | HostEvent::MetadataRefused(_)
        | HostEvent::MetadataUnavailable(_)
        | HostEvent::UnknownDirectory(_)
        | HostEvent::NotListed(_) => None,
        HostEvent::Created(key)
        | HostEvent::Made(key)
        | HostEvent::Served { key, .. }
        | HostEvent::Refused { key, .. }
        | HostEvent::Unavailable { key, .. }
        | HostEvent::Rebuilding { key, .. }
        | HostEvent::Installed(key)
        | HostEvent::InstallFailed { key, .. }
        | HostEvent::Deleting(key)
        | HostEvent::Deleted(key)
        | HostEvent::DeleteFailed { key, .. }
        | HostEvent::InsertRefused { key, .. } => Some(*key),
    }
}

/// The words of what a host tells, for whoever reads records.
pub const HOST_WORDS: [&str; 18] = [
    "metadata-opened",
    "metadata-cut",
    "metadata-refused",
    "metadata-unavailable",
    "unknown-directory",
    "not-listed",
    "created",
    "made",
    "served",
    "refused",
    "unavailable",
    "rebuilding",
    "installed",
    "install-failed",
    "deleting",
    "deleted",
    "delete-failed",
    "insert-refused",
];

/// The word of an event in a record of the digest.
const fn code_of(event: &HostEvent) -> &'static str {
    match event {
        HostEvent::MetadataOpened { .. } => "metadata-opened",
        HostEvent::MetadataCut(_) => "metadata-cut",
        HostEvent::MetadataRefused(_) => "metadata-refused",
        HostEvent::MetadataUnavailable(_) => "metadata-unavailable",
        HostEvent::UnknownDirectory(_) => "unknown-directory",
        HostEvent::NotListed(_) => "not-listed",
        HostEvent::Created(_) => "created",
        HostEvent::Made(_) => "made",
        HostEvent::Served { .. } => "served",
        HostEvent::Refused { .. } => "refused",
        HostEvent::Unavailable { .. } => "unavailable",
        HostEvent::Rebuilding { .. } => "rebuilding",
        HostEvent::Installed(_) => "installed",
        HostEvent::InstallFailed { .. } => "install-failed",
        HostEvent::Deleting(_) => "deleting",
        HostEvent::Deleted(_) => "deleted",
        HostEvent::DeleteFailed { .. } => "delete-failed",
        HostEvent::InsertRefused { .. } => "insert-refused",
    }
}

fn number(event: &HostEvent) -> u64 {
    match event {
        HostEvent::Served { next_offset, .. } => next_offset.get(),
        HostEvent::MetadataCut(cut) => cut.length.get(),
        HostEvent::MetadataOpened { partitions } => *partitions,
        HostEvent::Refused { reason, .. } => word(reason.code()),
        HostEvent::Unavailable { cause, .. } => word(cause.code()),
        HostEvent::InsertRefused { why, .. } => word(why.code()),
        HostEvent::MetadataRefused(fault) => word(fault.code()),
        HostEvent::InstallFailed { error, .. } => word(error.code()),
        HostEvent::MetadataUnavailable(_)
        | HostEvent::UnknownDirectory(_)
        | HostEvent::NotListed(_)
        | HostEvent::Created(_)
        | HostEvent::Made(_)
        | HostEvent::Rebuilding { .. }
        | HostEvent::Installed(_)
        | HostEvent::Deleting(_)
        | HostEvent::Deleted(_)
        | HostEvent::DeleteFailed { .. } => 0,
    }
}
