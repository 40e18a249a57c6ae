//! The bytes of a partition in another guise, or with more of them damaged.
//!
//! Promises: each is a function of the disk and of one drawn word. Leaves out: what follows for the verdict.

use recovery_core::format::FileName;
use recovery_core::observe::{IndexState, Stop, WINDOW_BYTES_MIN, Workspace};
use recovery_core::units::{Namespace, SegmentStart};

use super::boot::Boot;
use super::look;
use super::node::Node;
use super::varied::{Guise, MoreDamage, Spot};
use crate::disk::{Cause, Damage, FileId, View};
use crate::oracle::Check;
use crate::oracle::served_log::for_each;
use crate::schedule::FaultKind;

/// What is changed that must not change the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// The directory is listed in another order.
    ListingOrder,
    /// No clean page is cached.
    ColdCache,
    /// All indexes are gone, where the logs are whole and a ledger speaks for them.
    NoIndexes,
    /// The core reads through another window.
    OtherWindow,
    /// A bit of a field is flipped up, against another one of the field flipped down.
    FlipUpOrDown,
    /// The logs of another partition are zeros.
    DamagedSibling,
}

impl Variant {
    pub(super) const ALL: [Self; 6] = [
        Self::ListingOrder,
        Self::ColdCache,
        Self::NoIndexes,
        Self::OtherWindow,
        Self::FlipUpOrDown,
        Self::DamagedSibling,
    ];

    /// The check that it belongs to.
    pub(super) const fn check(self) -> Check {
        match self {
            Self::ListingOrder
            | Self::ColdCache
            | Self::NoIndexes
            | Self::OtherWindow
            | Self::FlipUpOrDown => Check::I18,
            Self::DamagedSibling => Check::I21,
        }
    }

    /// What is compared, for a report.
    pub(super) const fn subject(self) -> &'static str {
        match self {
            Self::ListingOrder => "the verdict by another listing order",
            Self::ColdCache => "the verdict with a cold cache",
            Self::NoIndexes => "the verdict without indexes",
            Self::OtherWindow => "the verdict through another window",
            Self::FlipUpOrDown => "the verdict on a bit flipped up, against one flipped down",
            Self::DamagedSibling => "the verdict beside a damaged partition",
        }
    }
}

/// Changes the guise of a partition. `None`: there is nothing to change, or it would change the bytes.
pub(super) fn apply(variant: Variant, node: &Node, index: usize, boot: &Boot, place: u64) -> Option<Guise> {
    let disk = &node.disk;
    match variant {
        Variant::ListingOrder => {
            disk.set_listing_order(place | 1, Cause::Fault(FaultKind::ListingOrder));
            Some(Guise::ListingOrder)
        }
        Variant::ColdCache => {
            // Where cache and medium differ by a fault, dropping a page changes what is read.
            let has_faults =
                disk.fault_tally().injected[..FaultKind::ALL.len()].iter().any(|count| *count > 0);
            if !has_faults {
                disk.evict_all();
            }
            (!has_faults).then_some(Guise::ColdCache)
        }
        Variant::NoIndexes => {
            let is_whole = |facts: &recovery_core::observe::SegmentFacts| facts.stop.stop() == Stop::End;
            // Without a ledger the index itself may be evidence.
            let is_asked = boot.facts.ledger.known().is_some() && boot.facts.segments.iter().all(is_whole);
            (is_asked && remove_indexes(node, index, boot)).then_some(Guise::NoIndexes)
        }
        Variant::OtherWindow => Some(Guise::OtherWindow),
        Variant::FlipUpOrDown => flip(node, index, boot, place, true).map(Guise::Flipped),
        Variant::DamagedSibling => {
            if node.slots.len() > 1 {
                damage_sibling(node, index, place).map(Guise::DamagedSibling)
            } else {
                None
            }
        }
    }
}

/// The same field with another bit flipped down.
pub(super) fn flip_down(node: &Node, index: usize, boot: &Boot, place: u64) {
    let is_done = flip(node, index, boot, place, false);
    assert!(is_done.is_some(), "a field that has a bit to flip up was found to have one to flip down");
}

/// The other window: the smallest, or one that is not.
pub(super) fn other_window(window_bytes: u64) -> Workspace {
    let is_smallest = window_bytes == WINDOW_BYTES_MIN as u64;
    Workspace::new(if is_smallest { WINDOW_BYTES_MIN * 3 } else { WINDOW_BYTES_MIN })
}

fn log_of(node: &Node, index: usize, segment: SegmentStart) -> Option<FileId> {
    look::file(&node.disk, &node.slots[index].components, &FileName::log(segment))
}

fn remove_indexes(node: &Node, index: usize, boot: &Boot) -> bool {
    let Some(directory) = look::directory(&node.disk, &node.slots[index].components) else { return false };
    let cause = Cause::Fault(FaultKind::OperatorDeletesIndex);
    let mut is_any = false;
    for segment in boot.facts.segments.iter().filter(|segment| segment.index.state != IndexState::Absent) {
        is_any |= node.disk.take_name(directory, &FileName::index(segment.start), cause).is_some();
    }
    is_any
}

/// Flips a bit of the base offset of a batch that lies in a log: one that is clear, or one that is set.
fn flip(node: &Node, index: usize, boot: &Boot, place: u64, up: bool) -> Option<Spot> {
    let before = boot.before.as_ref()?;
    let mut batches = Vec::new();
    // What does not go on in batches has none to flip a bit of.
    let _is_whole = for_each(&before.directory, &boot.facts, |batch| {
        let facts = boot.facts.segments.iter().find(|facts| facts.start == batch.segment);
        // A batch that is damaged already may be mended by a flip.
        if facts.is_some_and(|facts| batch.position < facts.proven.end.get()) {
            batches.push((batch.segment, batch.position, batch.base.get()));
        }
    });
    // An offset of 0 has no bit that could be flipped down, and the last one there is none that could be flipped up. Both
    // ways are compared, so neither is drawn for the other one either.
    batches.retain(|(_, _, base)| *base != 0 && *base != u64::MAX);
    if batches.is_empty() {
        return None;
    }
    let drawn = usize::try_from(place % batches.len() as u64).expect("a place in a list");
    let (segment, position, base) = batches[drawn];
    let wanted = if up { !base } else { base };
    let bits = (0..64_u8).filter(|bit| wanted >> bit & 1 == 1).collect::<Vec<u8>>();
    let bit = bits[usize::try_from(place >> 32).expect("32 bits") % bits.len()];
    let log = log_of(node, index, segment)?;
    let position = position + 8 + u64::from(bit / 8);
    let damage = Damage::FlipBit { position, bit: bit % 8 };
    node.disk.damage(log, damage, Cause::Fault(FaultKind::BitFlip), false)?;
    Some(Spot::new(segment, position))
}

fn damage_sibling(node: &Node, index: usize, place: u64) -> Option<Namespace> {
    let others = (0..node.slots.len()).filter(|other| *other != index).collect::<Vec<usize>>();
    let other = others[usize::try_from(place % others.len() as u64).expect("a place in a list")];
    let directory = look::directory(&node.disk, &node.slots[other].components)?;
    let mut is_any = false;
    for (name, entry) in node.disk.entries(directory, View::Visible) {
        if let crate::disk::Node::File(file) = entry
            && name.as_bytes().ends_with(b".log")
        {
            let length = node.disk.length_of(file, View::Visible);
            let zeros = Damage::Zero { position: 0, length };
            is_any |= node.disk.damage(file, zeros, Cause::Fault(FaultKind::Zeroed), false).is_some();
        }
    }
    is_any.then_some(node.slots[other].header.namespace)
}

/// Kinds of more damage.
pub(super) const MORE_DAMAGE: u64 = 3;

/// Damages bytes of a drawn log in addition: a bit, a stretch of zeros, or all that follows. It begins at a
/// byte that is proven and that it changes, so that it mends nothing on its way.
pub(super) fn damage_more(
    node: &Node,
    index: usize,
    boot: &Boot,
    place: u64,
    kind: u64,
) -> Option<MoreDamage> {
    let segments = &boot.facts.segments;
    if segments.is_empty() {
        return None;
    }
    let drawn = usize::try_from(place % segments.len() as u64).expect("a place in a list");
    let segment = segments[drawn].start;
    let log = log_of(node, index, segment)?;
    let (proven, contents) = (segments[drawn].proven.end.get(), node.disk.contents_of(log, View::Visible));
    if proven == 0 {
        return None;
    }
    let length = contents.len() as u64;
    let drawn_position = (place >> 24) % proven;
    let is_other_than_zero = |position: &u64| {
        let index = usize::try_from(*position).expect("a simulated file fits memory");
        contents.get(index).is_some_and(|byte| *byte != 0)
    };
    let position = (drawn_position..proven).find(is_other_than_zero)?;
    let spot = Spot::new(segment, position);
    let more = match kind {
        0 => MoreDamage::Flip(spot, place.to_le_bytes()[1] % 8),
        1 => MoreDamage::Zeros(spot, 300.min(length - position)),
        _ => MoreDamage::Noise(spot),
    };
    let damage = match more {
        MoreDamage::Flip(_, bit) => Damage::FlipBit { position, bit },
        MoreDamage::Zeros(_, length) => Damage::Zero { position, length },
        MoreDamage::Noise(_) => Damage::Noise { position, length: length - position },
    };
    node.disk.damage(log, damage, Cause::Fault(FaultKind::Noise), false).map(|_| more)
}
