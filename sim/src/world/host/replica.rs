//! What each replica of a partition has come to in the end, found without asking the core what is right.
//!
//! Promises: a replica is whole if its served logs hold every batch of the sequence, byte for byte, from its first
//! offset on; what lies in one that waits is read by the reference. Leaves out: what follows from it
//! ([`crate::oracle::invariants::check_settled`]).

use std::collections::BTreeMap;
use std::ops::Range;

use recovery_core::format::{FileName, stamp};
use recovery_core::host::PartitionState;
use recovery_core::transfer::Offer;
use recovery_core::units::{Namespace, Offset, SegmentStart};

use super::member::Member;
use super::run::HostWorld;
use crate::oracle::invariants::Replica;
use crate::oracle::reference::{self, Reference, ReferenceSegment};
use crate::oracle::truth::Life;
use crate::oracle::{Content, Image, PartitionImage, served_log};
use crate::world::{boot, look};

impl HostWorld<'_> {
    /// Every partition, with its replicas.
    pub(super) fn partitions(&self) -> impl Iterator<Item = (Namespace, Vec<Replica>)> {
        let headers = self.schedule.world.partitions.iter().enumerate();
        headers.map(|(index, header)| {
            let replicas = (0..self.members.len()).map(|m| self.replica(m, index)).collect();
            (header.namespace, replicas)
        })
    }

    fn replica(&self, m: usize, index: usize) -> Replica {
        let member = &self.members[m];
        let (slot, extra) = (&member.node.slots[index], &member.extras[index]);
        let (components, disk) = (&slot.components, &member.node.disk);
        let image = look::image(disk, components);
        let has_files = look::directory(disk, components).is_some()
            || look::has_sibling(disk, components, b".rebuild")
            || !image.fences.is_empty();
        let state = self.state_of_target(m, slot.header.namespace);
        let is_waiting = state == Some(PartitionState::Rebuilding);
        // A copy that only lacks its name is what there is of it.
        let copy = match look::directory(disk, components) {
            Some(_) => None,
            None => look::complete_sibling(disk, components).map(|copy| look::image_of(disk, copy)),
        };
        let is_unreadable = has_unreadable_file(copy.as_ref().unwrap_or(&image.directory));
        let statistics = member.host.as_ref().and_then(|host| host.statistics(slot.header.namespace));
        let is_occupied = statistics.is_some_and(|statistics| statistics.code == Some("occupied"));
        Replica {
            state,
            was_damaged: extra.was_damaged,
            has_stranger: slot.truth.indistinguishable > 0
                || (is_waiting && self.knows_of_others(m, index, &image)),
            was_lied_to: member.was_lied_to,
            is_whole: self.members.len() == 1 || self.is_whole(m, index, &image),
            has_files,
            holds_more: is_waiting && self.holds_more(m, index, &image),
            is_unreadable,
            is_occupied: is_occupied && extra.had_fault,
        }
    }

    /// The state of the life that is meant to be there, or of the newest one where none is; `None` if the node knows
    /// another one: a metadata log that was lied to may have forgotten that it was deleted.
    fn state_of_target(&self, m: usize, namespace: Namespace) -> Option<PartitionState> {
        let host = self.members[m].host.as_ref()?;
        let target = self.cluster.target(namespace);
        if target.is_some() && host.newest(namespace) != target { None } else { host.state(namespace) }
    }

    /// Whether what is served holds all that the sequence gives, from the first offset on that is kept.
    fn is_whole(&self, m: usize, index: usize, image: &PartitionImage) -> bool {
        let member = &self.members[m];
        let namespace = member.node.slots[index].header.namespace;
        let writer = member.host.as_ref().and_then(|host| host.writer(namespace));
        let (Some(writer), Some(key)) = (writer, self.cluster.target(namespace)) else { return false };
        let segments: Vec<SegmentStart> =
            writer.chain().segments().iter().map(|segment| segment.start).collect();
        let first = segments.first().map_or(writer.next_offset(), |segment| segment.offset());
        let mut lying = BTreeMap::new();
        let is_read = served_log::for_each_in(&image.directory, &segments, |batch| {
            lying.insert(batch.base, batch.bytes);
        });
        let mut given = self.cluster.batches(key, self.cluster.len()).filter(|batch| batch.base >= first);
        is_read.is_ok()
            && writer.next_offset() >= self.cluster.end(key)
            && given.all(|batch| {
                let mut bytes = batch.bytes.clone();
                stamp(&mut bytes, namespace.partition_id(), batch.base, batch.time).expect("it was taken in");
                lying.get(&batch.base).is_some_and(|there| *there == bytes)
            })
    }

    /// Whether no peer can give all that lies here: each ends before it does, or lacks a batch of it, or has no message
    /// at all to give, where something verifies here or may lie in what cannot be read (N21, G25).
    fn holds_more(&self, m: usize, index: usize, image: &PartitionImage) -> bool {
        let slot = &self.members[m].node.slots[index];
        let found = self.found(m, index, image);
        // What cannot be opened may hold anything.
        let Some(known_end) = found.known_end() else { return true };
        let may_hold_a_batch = found.holds_a_batch() || has_unreadable_log(image);
        let bases: Vec<Offset> = slot
            .truth
            .writes()
            .iter()
            // What verifies here counts, whatever became of it: a fault may have brought back what a crash took.
            .filter(|write| write.life != Life::Retained)
            .filter(|write| slot.truth.lies_in(&image.directory, write))
            .map(|write| write.base)
            .collect();
        // All that is proven counts, whoever wrote it, and of what a log cannot show all that was durable.
        let is_unread = |segment: &&ReferenceSegment| unreadable_from(image, segment.start).is_some();
        let unread = found.segments.iter().filter(is_unread);
        let unread = unread.map(|segment| (segment.next_offset, found.marked_next(segment.start)));
        let proven = found.segments.iter().map(|segment| (segment.start.offset(), segment.next_offset));
        let held: Vec<(Offset, Offset)> = proven.chain(unread).filter(|(first, next)| first < next).collect();
        let gives_all = |offer: &Offer| {
            let is_given = |base: &Offset| {
                offer.segments.iter().any(|end| end.segment.offset() <= *base && *base < end.next_offset)
            };
            let has_nothing = offer.bytes() == 0 && may_hold_a_batch;
            known_end <= offer.next_offset
                && bases.iter().all(is_given)
                && found.survivors().all(|survivor| gives(offer, survivor))
                && held.iter().all(|offsets| gives(offer, *offsets))
                && !has_nothing
        };
        let offered = |member: &Member| member.host.as_ref()?.offer(slot.header.namespace);
        !self.members.iter().filter_map(offered).any(|offer| gives_all(&offer))
    }

    /// What the reference finds here.
    pub(super) fn found(&self, m: usize, index: usize, image: &PartitionImage) -> Reference {
        let slot = &self.members[m].node.slots[index];
        reference::recover(&without_bad_sectors(&image.directory), &boot::expectation(slot))
    }

    /// Whether what lies here says that offsets were given away which nobody ever gave here: a block of somebody else's
    /// came to lie behind the chain.
    fn knows_of_others(&self, m: usize, index: usize, image: &PartitionImage) -> bool {
        let given = self.members[m].node.slots[index].truth.writes().iter().map(|write| write.next).max();
        let end = self.found(m, index, image).known_end();
        end.is_some_and(|end| given.unwrap_or(Offset::ZERO) < end)
    }
}

/// Whether the segments of an offer hold offsets from the first of `range` up to, and without, its second, as far as they
/// are not below its floor.
fn gives(offer: &Offer, (first, next): (Offset, Offset)) -> bool {
    let held = offer.segments.iter().fold(first.max(offer.floor.offset()), |at, end| {
        if end.segment.offset() <= at { at.max(end.next_offset) } else { at }
    });
    next <= held
}

/// Where a log cannot be read from, if it cannot be read to its end.
pub(super) fn unreadable_from(image: &PartitionImage, segment: SegmentStart) -> Option<u64> {
    let log = image.directory.find(FileName::log(segment).as_bytes());
    match log {
        Some(Content::File(file)) => {
            let within = file.unreadable.iter().map(|range| range.start);
            within.filter(|start| *start < file.bytes.len() as u64).min()
        }
        Some(Content::Unopenable | Content::Directory | Content::Other) | None => Some(0),
    }
}

/// The same directory with zeros in the place of what cannot be read.
pub(super) fn without_bad_sectors(image: &Image) -> Image {
    let mut image = image.clone();
    for entry in &mut image.entries {
        let Content::File(file) = &mut entry.content else { continue };
        for range in std::mem::take(&mut file.unreadable) {
            let length = file.bytes.len();
            let within = |position: u64| usize::try_from(position).map_or(length, |at| at.min(length));
            file.bytes[within(range.start)..within(range.end)].fill(0);
        }
    }
    image
}

/// Whether a file cannot be read that no range of offsets could be asked for instead: any but a log.
fn has_unreadable_file(directory: &Image) -> bool {
    has_unreadable(directory, false)
}

/// Whether a part of a log cannot be read.
pub(super) fn has_unreadable_log(image: &PartitionImage) -> bool {
    has_unreadable(&image.directory, true)
}

fn has_unreadable(directory: &Image, is_log: bool) -> bool {
    directory.entries.iter().any(|entry| match &entry.content {
        Content::File(file) => {
            let is_within = |range: &Range<u64>| range.start < file.bytes.len() as u64;
            let is_meant = entry.name.as_bytes().ends_with(b".log") == is_log;
            is_meant && file.unreadable.iter().any(is_within)
        }
        Content::Unopenable | Content::Directory | Content::Other => false,
    })
}
