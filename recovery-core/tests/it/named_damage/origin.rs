//! A partition as the real writer leaves it: in each mode, with and without ledger, superblock and index.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;
use recovery_core::format::{FileName, Superblock, SuperblockSlot, partition_components};
use recovery_core::units::{Durability, Offset};

use super::SUPERBLOCK;
use crate::partition_world::{NAMESPACE, World, empty, file, options, without_ledger};

/// What a partition may be without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Ledger,
    Superblock,
    Index,
}

/// How a partition came to be.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) durability: Durability,
    /// What it does not have.
    pub(super) lacks: Vec<Part>,
    /// Messages of each batch, flush by flush.
    flushes: Vec<Vec<u32>>,
    segment_bytes: u64,
    is_stopped: bool,
}

pub(super) fn origin() -> impl Strategy<Value = Origin> {
    let durability =
        prop_oneof![Just(Durability::Buffered), Just(Durability::Synced), Just(Durability::Proven)];
    let lacks = subsequence(vec![Part::Ledger, Part::Superblock, Part::Index], 0..=3);
    let flushes = vec(vec(1..4_u32, 1..4), 0..6);
    (durability, lacks, flushes, 512..4000_u64, any::<bool>()).prop_map(
        |(durability, lacks, flushes, segment_bytes, is_stopped)| Origin {
            durability,
            lacks,
            flushes,
            segment_bytes,
            is_stopped,
        },
    )
}

impl Origin {
    /// Several segments of several batches, not stopped.
    pub(super) fn with_everything_but(lacks: &[Part], durability: Durability) -> Self {
        Self {
            durability,
            lacks: lacks.to_vec(),
            flushes: vec![vec![1, 2], vec![3], vec![1], vec![2, 1]],
            segment_bytes: 1500,
            is_stopped: false,
        }
    }

    pub(super) fn has(&self, part: Part) -> bool {
        !self.lacks.contains(&part)
    }

    /// Writes the partition below a data directory; returns the partition directory.
    pub(super) fn write_below(&self, root: &Path) -> PathBuf {
        let options = if self.has(Part::Ledger) { options } else { without_ledger };
        let mut world = World::start(empty(), options(self.durability, self.segment_bytes));
        for flush in &self.flushes {
            for messages in flush {
                world.append(*messages).unwrap();
            }
            let _acknowledged = world.flush().unwrap();
        }
        if self.is_stopped {
            let _acknowledged = world.writer.stop(&world.storage).unwrap();
        }
        let next_offset = world.writer.next_offset();
        let storage = world.crash();
        let components = partition_components(NAMESPACE).map(|name| name.to_string());
        let partition = root.join(components.iter().collect::<PathBuf>());
        fs::create_dir_all(&partition).unwrap();
        let names = storage.names();
        for name in &names {
            let found = file(name);
            if matches!(FileName::classify(&found), FileName::Index(_)) && !self.has(Part::Index) {
                continue;
            }
            fs::write(partition.join(found.to_string()), storage.bytes(&found).unwrap()).unwrap();
        }
        if self.has(Part::Superblock) {
            for (slot, sequence) in [(SuperblockSlot::A, 1), (SuperblockSlot::B, 2)] {
                let bytes = superblock(sequence, next_offset).encode();
                fs::write(partition.join(slot.name().to_string()), bytes).unwrap();
            }
        }
        partition
    }
}

fn superblock(sequence: u64, offset_frontier: Offset) -> Superblock {
    Superblock {
        sequence,
        cluster: SUPERBLOCK.cluster,
        replica: SUPERBLOCK.replica,
        replica_count: SUPERBLOCK.replica_count,
        view: 0,
        log_view: 0,
        commit: 0,
        offset_frontier,
    }
}
