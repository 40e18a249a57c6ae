//! A world at one moment, as its disks would be found if all its nodes went down there: what `sim export` writes.
//!
//! Promises: everything written back that can be and nothing cached, as recovery settles it; the world is not
//! changed by being looked at. Leaves out: files and words for it.

use recovery_core::observe::Expectation;
use recovery_core::storage::Name;

use super::node::Node;
use super::{boot, look};
use crate::oracle::Content;
use crate::oracle::case::Case;

/// One node's disk, and what is true of it.
#[derive(Clone, Debug)]
pub struct FrozenNode {
    /// Everything below its data directory, each entry with the way to it.
    pub tree: Vec<(Vec<Name>, Content)>,
    /// Its partitions.
    pub cases: Vec<FrozenPartition>,
}

/// One partition of a node.
#[derive(Clone, Debug)]
pub struct FrozenPartition {
    /// The way to its directory.
    pub components: [Name; 6],
    /// What is owed.
    pub case: Case,
}

impl FrozenNode {
    /// The node as it is now. Nothing is owed of a partition that has no directory, nor of those of which
    /// `is_owed` says so.
    pub(super) fn of(node: &Node, is_owed: impl Fn(usize) -> bool) -> Self {
        look::settled(&node.disk, || {
            let slots = node.slots.iter().enumerate().filter(|(index, slot)| {
                is_owed(*index) && look::directory(&node.disk, &slot.components).is_some()
            });
            let cases = slots.map(|(_, slot)| FrozenPartition {
                components: slot.components,
                case: Case::new(
                    look::image(&node.disk, &slot.components),
                    slot.truth.clone(),
                    boot::expectation(slot),
                    slot.header.ledger,
                ),
            });
            Self { cases: cases.collect(), tree: look::tree(&node.disk) }
        })
    }
}

/// What a program is told that knows the name of a partition and how it was written, and nothing else.
pub(super) fn told(expectation: Expectation, with_durability: bool) -> Expectation {
    let plain = Expectation::of(expectation.namespace);
    let durability = if with_durability { expectation.durability } else { plain.durability };
    Expectation { durability, ..plain }
}
