//! How large a world is (CONTRACTS 6).

use super::knobs::SizeKnob;
use crate::schedule::tape::{Stream, Tape};
use crate::schedule::word::words;

words! {
    /// How large one world is.
    Size, "a size" {
        /// 1 to 2 partitions, at most 3 segments and 24 batches, 3 boots.
        Small = "small",
        /// Up to 4 partitions, 8 segments and 100 batches, 4 boots.
        Medium = "medium",
        /// Up to 8 partitions, batches wider than the read window, 6 boots.
        Large = "large",
    }
}

impl Size {
    /// The size of a world under the knob. One word is drawn whatever the knob says.
    pub(super) fn draw(tape: &mut Tape, knob: SizeKnob) -> Self {
        let drawn = tape.weighted(Stream::Swarm, &[(80, Self::Small), (18, Self::Medium), (2, Self::Large)]);
        match knob {
            SizeKnob::Mixed => drawn,
            SizeKnob::Small => Self::Small,
            SizeKnob::Medium => Self::Medium,
            SizeKnob::Large => Self::Large,
        }
    }
}

/// The bounds of a size. Each is a most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) partitions: u64,
    /// Of one partition.
    pub(super) segments: usize,
    /// Of the whole world.
    pub(super) batches: u32,
    /// Of one batch.
    pub(super) messages: u64,
    /// Of one message, in a batch of the common kind.
    pub(super) payload_bytes: u64,
    /// Of one message, in a batch that is wider than the window; 0 for none such.
    pub(super) wide_payload_bytes: u64,
    /// How often a node goes down.
    pub(super) downs: u32,
    /// What clients do between two downs.
    pub(super) actions: u64,
    /// Bytes at which small segments roll: least and most.
    pub(super) segment_bytes: (u64, u64),
    /// Read windows to choose from; the first is the simplest.
    pub(super) windows: &'static [u32],
}

impl Size {
    pub(super) const fn shape(self) -> Shape {
        match self {
            Self::Small => Shape {
                partitions: 2,
                segments: 3,
                batches: 24,
                messages: 4,
                payload_bytes: 256,
                wide_payload_bytes: 0,
                downs: 2,
                actions: 9,
                segment_bytes: (1024, 8192),
                windows: &[16384, 4096, 1000, 512],
            },
            Self::Medium => Shape {
                partitions: 4,
                segments: 8,
                batches: 100,
                messages: 8,
                payload_bytes: 1024,
                wide_payload_bytes: 4096,
                downs: 3,
                actions: 16,
                segment_bytes: (2048, 32768),
                windows: &[65536, 8192, 3000, 512],
            },
            Self::Large => Shape {
                partitions: 8,
                segments: 12,
                batches: 200,
                messages: 8,
                payload_bytes: 2048,
                wide_payload_bytes: 24 * 1024,
                downs: 5,
                actions: 24,
                segment_bytes: (16 * 1024, 256 * 1024),
                windows: &[8192, 4096, 1000, 512],
            },
        }
    }
}
