//! Draws where a world starts.

use recovery_core::units::{Durability, Namespace, Offset};

use super::knobs::{Knobs, ReplicasKnob};
use super::shape::{Shape, Size};
use super::swarm::{Habit, Swarm};
use crate::schedule::tape::{Stream, Tape};
use crate::schedule::world::{Filesystem, PartitionHeader, Regime, SEGMENT_BYTES_DEFAULT, WorldHeader};

/// Partitions in the order worlds get them: three topics, and partition ids that they share.
const NAMESPACES: [Namespace; 8] = [
    namespace(1, 1, 0),
    namespace(1, 2, 0),
    namespace(1, 1, 1),
    namespace(2, 1, 0),
    namespace(1, 2, 1),
    namespace(1, 1, 2),
    namespace(2, 1, 1),
    namespace(1, 2, 2),
];

const fn namespace(stream: u32, topic: u32, partition: u32) -> Namespace {
    Namespace { stream, topic, partition }
}

/// Nodes of a world with replicas.
const NODES: u8 = 3;

/// First offsets of the worlds that go far: behind 32 bits, and just before the last offset there is.
const FAR_OFFSETS: [(u32, u64); 4] = [(4, 0), (3, 1000), (2, u32::MAX as u64 - 3), (1, u64::MAX - 24)];

/// Worlds of a mixed run: how many nodes, and whether they have hosts. More than half have three, so that every
/// thousand of them shows it; the others are lone, with a host or with what a host is made of alone.
const MIXED: [(u32, (u8, bool)); 3] = [(11, (NODES, true)), (4, (1, true)), (5, (1, false))];

/// Regimes of a mixed run. More than half of its worlds have damage: that takes more forms than crashes have.
const REGIMES: [(u32, Regime); 2] = [(2, Regime::Legal), (3, Regime::Unlimited)];

/// Draws size, swarm and header, each choice from its own word whatever the knobs fix.
pub(super) fn draw(tape: &mut Tape, knobs: Knobs) -> (WorldHeader, Shape, Swarm) {
    let size = Size::draw(tape, knobs.size);
    let regime = tape.weighted(Stream::Swarm, &REGIMES);
    let regime = knobs.regime.fixed().unwrap_or(regime);
    let filesystem = tape.pick(Stream::Swarm, &Filesystem::ALL);
    let filesystem = knobs.filesystem.fixed().unwrap_or(filesystem);
    let (shape, swarm) = (size.shape(), Swarm::draw(tape, regime));
    let mut world = WorldHeader::new(filesystem, regime);
    world.window_bytes = tape.pick(Stream::Swarm, shape.windows);
    let count = tape.range(Stream::Swarm, 1, shape.partitions);
    world.partitions =
        NAMESPACES.iter().zip(0..count).map(|(at, _)| partition(tape, &shape, &swarm, *at)).collect();
    (world, shape, swarm)
}

/// Draws how many nodes there are, where that is not fixed, and whether each has a host, which it returns. Hosts
/// make their partitions themselves, from offset 0 on, and keep ledgers for all.
pub(super) fn draw_hosts(tape: &mut Tape, knobs: Knobs, world: &mut WorldHeader) -> bool {
    let (nodes, has_hosts) = match knobs.replicas {
        ReplicasKnob::One => (1, false),
        ReplicasKnob::Three => (NODES, true),
        ReplicasKnob::Mixed => tape.weighted(Stream::Host, &MIXED),
    };
    world.nodes = nodes;
    if !has_hosts {
        return false;
    }
    // A node has superblocks or it has none; in half of all worlds it has, since it writes them all the time.
    let has_superblocks = tape.chance(Stream::Host, 500);
    for partition in &mut world.partitions {
        partition.ledger = true;
        partition.superblock_frontier = has_superblocks.then_some(Offset::ZERO);
        partition.first_offset = Offset::ZERO;
    }
    true
}

fn partition(tape: &mut Tape, shape: &Shape, swarm: &Swarm, namespace: Namespace) -> PartitionHeader {
    let mut partition = PartitionHeader::new(namespace);
    partition.durability = tape.pick(Stream::Swarm, &Durability::ALL);
    if swarm.has(Habit::Ledgerless) {
        partition.ledger = !tape.chance(Stream::Swarm, 400);
    }
    if swarm.has(Habit::FarOffsets) {
        partition.first_offset = Offset::new(tape.weighted(Stream::Swarm, &FAR_OFFSETS));
    }
    if swarm.has(Habit::Superblock) && tape.chance(Stream::Swarm, 200) {
        partition.superblock_frontier = Some(partition.first_offset);
    }
    let (least, most) = shape.segment_bytes;
    partition.segment_bytes = if swarm.has(Habit::SmallSegments) {
        tape.range(Stream::Swarm, least, most)
    } else {
        SEGMENT_BYTES_DEFAULT
    };
    partition
}
