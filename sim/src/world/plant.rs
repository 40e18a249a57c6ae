//! Whole batches that nobody of this world wrote, put into a log by hand, with checksums that fit.
//!
//! Promises: made from the step alone and from what was written before its place. Leaves out: what recovery
//! makes of them.

use recovery_core::format::{BatchBuilder, Message, stamp};
use recovery_core::units::{Offset, PartitionId, SegmentStart};

use super::aim::{self, Spot};
use super::node::Node;
use super::producer::{produce, time_of};
use super::restamp;
use crate::disk::{Cause, Damage, View};
use crate::oracle::damage::Place as Damaged;
use crate::oracle::truth::{Life, Truth};
use crate::schedule::{Append, BatchField, BatchId, FileRole, FrameField, Place, Plant, Target};

/// Puts a batch down: the partition, by its place among those of the node, and where in it bytes were written over.
/// `None` if its place is not there.
pub(super) fn plant(node: &mut Node, plant: &Plant, step: u32) -> Option<(usize, Damaged)> {
    let place = spot(node, &plant.place, plant)?;
    let base = match plant.base_offset {
        Some(base) => base,
        None => continuing(&node.slots[place.slot].truth, plant.place, &place)?,
    };
    let bytes = batch(plant, base, step);
    let laid = match plant.place {
        Place::Inside(outer) => embed(node, plant, outer, &bytes)?,
        Place::End | Place::Batch(_) | Place::Position { .. } => bytes.clone(),
    };
    let damage = Damage::Overwrite { position: place.laid_at, bytes: &laid };
    node.disk.damage(place.file.file, damage, Cause::Plant, false)?;
    let truth = &mut node.slots[place.slot].truth;
    let end = place.laid_at + laid.len() as u64;
    let laid_over = Damaged::Bytes { file: place.file.name, range: place.laid_at..end };
    truth.damages.add(laid_over.clone());
    let messages = if plant.nested > 0 { 1 } else { plant.messages };
    let next = Offset::new(base.get().saturating_add(u64::from(messages)));
    let offsets = (base, next);
    truth.append(Some(plant.batch), offsets, (place.segment, place.position), &bytes, Life::Planted);
    Some((place.slot, laid_over))
}

/// Where a planted batch lies.
struct Planted {
    slot: usize,
    segment: SegmentStart,
    file: Spot,
    /// Its first byte.
    position: u64,
    /// The first byte that is written: that of the outer batch for bait, whose checksums change too.
    laid_at: u64,
}

fn spot(node: &Node, place: &Place, plant: &Plant) -> Option<Planted> {
    let partition = plant.partition;
    let at = |batch: BatchId, field| aim::spot(node, &Target::Batch { partition, batch, field });
    let segment_of = |batch: BatchId| {
        let truth = &node.slots[aim::slot_of(node, partition)?].truth;
        truth.find(batch).map(|write| write.segment)
    };
    let (segment, file, position, laid_at) = match *place {
        Place::End => {
            let segment = aim::newest_segment(node, partition)?;
            let file = aim::whole(node, partition, FileRole::Log(segment))?;
            (segment, file, file.length, file.length)
        }
        Place::Batch(batch) => {
            let file = at(batch, None)?;
            (segment_of(batch)?, file, file.position, file.position)
        }
        Place::Inside(batch) => {
            let payload = BatchField::Frame { frame: 0, field: FrameField::Payload };
            let (file, outer) = (at(batch, Some(payload))?, at(batch, None)?);
            (segment_of(batch)?, file, file.position, outer.position)
        }
        Place::Position { segment, position } => {
            let segment = segment.or_else(|| aim::newest_segment(node, partition))?;
            let file = aim::whole(node, partition, FileRole::Log(segment))?;
            (segment, file, position, position)
        }
    };
    Some(Planted { slot: file.slot, segment, file, position, laid_at })
}

/// The offset that continues what was written before the place.
fn continuing(truth: &Truth, place: Place, planted: &Planted) -> Option<Offset> {
    match place {
        Place::Batch(batch) => truth.find(batch).map(|write| write.base),
        Place::Inside(batch) => truth.find(batch).map(|write| write.next),
        Place::End | Place::Position { .. } => {
            let before = |write: &&crate::oracle::truth::Write| {
                write.segment == planted.segment
                    && write.position + u64::from(write.length) <= planted.position
            };
            // Of two that end at one place the newer one counts.
            let last = truth.writes().iter().filter(before).max_by_key(|write| write.position);
            Some(last.map_or(planted.segment.offset(), |write| write.next))
        }
    }
}

/// The bytes of the batch.
pub(super) fn batch(plant: &Plant, base: Offset, step: u32) -> Vec<u8> {
    let append = Append {
        messages: plant.messages,
        payload_bytes: plant.payload_bytes,
        ..Append::new(plant.partition, plant.batch)
    };
    let (mut bytes, mut payload) = (Vec::new(), Vec::new());
    let time = time_of(step);
    produce(&append, plant.batch, time, &mut bytes, &mut payload);
    let owner = plant.like.unwrap_or(plant.partition).partition_id();
    let owner = plant.partition_id.map_or(owner, PartitionId::new);
    stamp(&mut bytes, owner, base, time).expect("what was built is whole");
    for level in 0..plant.nested {
        let inner = std::mem::take(&mut bytes);
        let mut builder = BatchBuilder::begin(&mut bytes, time);
        let id = u128::from(level) + 1;
        let message = Message { id, timestamp_delta: 0, payload: &inner, user_headers: &[] };
        builder.push(&message).expect("a schedule's batches lie below the ceiling");
        builder.finish();
        stamp(&mut bytes, owner, base, time).expect("what was built is whole");
    }
    bytes
}

/// The bytes of the outer batch with `bytes` at the start of its first payload. `None` if they do not fit
/// there, or the outer batch is not whole.
fn embed(node: &Node, plant: &Plant, outer: BatchId, bytes: &[u8]) -> Option<Vec<u8>> {
    let target = |field| Target::Batch { partition: plant.partition, batch: outer, field };
    let payload = BatchField::Frame { frame: 0, field: FrameField::Payload };
    let (whole, payload) = (aim::spot(node, &target(None))?, aim::spot(node, &target(Some(payload)))?);
    if payload.length < bytes.len() as u64 {
        return None;
    }
    let mut laid = vec![0; usize::try_from(whole.length).ok()?];
    let found = node.disk.peek(whole.file, View::Visible, whole.position, &mut laid);
    let from = usize::try_from(payload.position - whole.position).ok()?;
    laid[from..from + bytes.len()].copy_from_slice(bytes);
    (found == laid.len() && restamp::batch(&mut laid)).then_some(laid)
}
