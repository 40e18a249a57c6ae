//! Which kinds of trouble a world has: each class is on in half of all worlds, so that the common ones do
//! not hide the rare ones, and only a few are on at a time.

use crate::schedule::fault::FaultKind;
use crate::schedule::tape::{Stream, Tape};
use crate::schedule::world::Regime;

/// Something a world may do now and then, apart from faults. The bit of a habit is its place here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Habit {
    /// Nodes go down inside a step.
    CrashInside,
    /// Nodes go down inside recovery.
    CrashInRecovery,
    /// A second, deeper crash before the next start.
    CrashTwice,
    /// Nodes stop cleanly.
    CleanStop,
    /// Single files and names survive otherwise than the rest.
    Exceptions,
    /// Segments are rolled by hand.
    Roll,
    /// Segments are small, and roll by themselves.
    SmallSegments,
    /// Checkpoints.
    Checkpoint,
    /// Retention.
    Retention,
    /// Clean pages leave the cache.
    Evict,
    /// Some partitions have no ledger.
    Ledgerless,
    /// Some partitions have a superblock.
    Superblock,
    /// Offsets near the ends of their types.
    FarOffsets,
    /// Batches that nobody of ours wrote are put in (unlimited only).
    Plant,
    /// Hosts go through what takes several steps in a row.
    Stories,
}

/// What a world has of everything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Swarm {
    /// The fault kinds that are on: bit k is `FaultKind::ALL[k]`.
    kinds: u64,
    habits: u64,
    /// How many of 1000 downs are followed by damage.
    pub(super) damage_share: u32,
    /// Most faults in one place.
    pub(super) cluster: u64,
    /// How many of 1000 steps have a call that goes wrong.
    pub(super) error_share: u32,
    /// How many of 1000 starts have one.
    pub(super) start_error_share: u32,
}

/// A set of fault kinds, as bits.
pub(super) const fn kinds(list: &[FaultKind]) -> u64 {
    let mut bits = 0;
    let mut index = 0;
    while index < list.len() {
        bits |= 1 << list[index] as u32;
        index += 1;
    }
    bits
}

/// Whether a kind is of a set.
pub(super) const fn is_among(set: u64, kind: FaultKind) -> bool {
    set >> kind as u32 & 1 == 1
}

const LEGAL_KINDS: u64 = {
    let mut bits = 0;
    let mut index = 0;
    while index < FaultKind::ALL.len() {
        if FaultKind::ALL[index].is_legal() {
            bits |= 1 << index;
        }
        index += 1;
    }
    bits
};

impl Swarm {
    /// Draws what a world has. Every bit of a word is a coin, and a used-up tape has nothing on.
    pub(super) fn draw(tape: &mut Tape, regime: Regime) -> Self {
        let kinds = tape.word(Stream::Swarm);
        let habits = tape.word(Stream::Swarm);
        Self {
            kinds: match regime {
                Regime::Legal => kinds & LEGAL_KINDS,
                Regime::Unlimited => kinds,
            },
            habits: match regime {
                Regime::Legal => habits & !(1 << Habit::Plant as u32),
                Regime::Unlimited => habits,
            },
            damage_share: tape.pick(Stream::Swarm, &[500, 800, 1000]),
            cluster: tape.pick(Stream::Swarm, &[1, 1, 2, 4]),
            error_share: tape.pick(Stream::Swarm, &[0, 60, 180]),
            start_error_share: tape.pick(Stream::Swarm, &[0, 200, 500]),
        }
    }

    /// Whether a fault kind is on.
    pub(super) const fn has_kind(&self, kind: FaultKind) -> bool {
        is_among(self.kinds, kind)
    }

    pub(super) const fn has(&self, habit: Habit) -> bool {
        self.habits >> habit as u32 & 1 == 1
    }

    /// The weight of a choice that belongs to a habit.
    pub(super) const fn weight(&self, habit: Habit, weight: u32) -> u32 {
        if self.has(habit) { weight } else { 0 }
    }

    /// One of the kinds that are on and among `candidates`; `None` if there is none.
    pub(super) fn pick(&self, tape: &mut Tape, stream: Stream, candidates: u64) -> Option<FaultKind> {
        let mut left = self.kinds & candidates;
        let count = u64::from(left.count_ones());
        let skipped = tape.range(stream, 0, count.checked_sub(1)?);
        for _ in 0..skipped {
            left &= left - 1;
        }
        Some(FaultKind::ALL[left.trailing_zeros() as usize])
    }
}
