//! Worlds that begin with less.

use recovery_core::units::{Durability, Offset};

use super::{Extent, Simpler, lower};
use crate::schedule::world::{
    Filesystem, PAGE_BYTES_DEFAULT, PartitionHeader, Regime, SECTOR_BYTES_DEFAULT, SEGMENT_BYTES_DEFAULT,
    WINDOW_BYTES_DEFAULT, WorldHeader,
};

impl Simpler for WorldHeader {
    fn extent(&self) -> Extent {
        Extent::default()
    }

    fn is_crash(&self) -> bool {
        false
    }

    fn simpler(&self) -> Vec<Self> {
        let mut found = Vec::new();
        for at in (0..self.partitions.len()).rev() {
            let mut fewer = self.clone();
            fewer.partitions.remove(at);
            found.push(fewer);
        }
        found.extend(lower(self.nodes, 1).into_iter().map(|nodes| Self { nodes, ..self.clone() }));
        found.extend([
            Self {
                sector_bytes: SECTOR_BYTES_DEFAULT,
                page_bytes: PAGE_BYTES_DEFAULT,
                window_bytes: WINDOW_BYTES_DEFAULT,
                ..self.clone()
            },
            Self { window_bytes: WINDOW_BYTES_DEFAULT, ..self.clone() },
            Self { sector_bytes: SECTOR_BYTES_DEFAULT, page_bytes: PAGE_BYTES_DEFAULT, ..self.clone() },
            Self { page_bytes: PAGE_BYTES_DEFAULT, ..self.clone() },
            Self { regime: Regime::Legal, ..self.clone() },
        ]);
        let before = Filesystem::ALL.into_iter().take_while(|other| *other != self.filesystem);
        found.extend(before.map(|filesystem| Self { filesystem, ..self.clone() }));
        for (at, partition) in self.partitions.iter().enumerate() {
            found.extend(partition.simpler().into_iter().map(|partition| {
                let mut other = self.clone();
                other.partitions[at] = partition;
                other
            }));
        }
        found.retain(|other| other != self);
        found
    }
}

impl PartitionHeader {
    fn simpler(self) -> [Self; 5] {
        [
            Self { superblock_frontier: None, ..self },
            Self { segment_bytes: SEGMENT_BYTES_DEFAULT, ..self },
            Self { first_offset: Offset::ZERO, ..self },
            Self { ledger: true, ..self },
            Self { durability: Durability::Buffered, ..self },
        ]
    }
}
