//! The ledger record: 128 bytes of durable evidence (DESIGN section 4, `docs/format.md`).
//!
//! Promises: a record that decodes was written by our own writer for this slot of this epoch; the caller
//! compares identity, epoch and slot. Leaves out: which record decides ([`crate::observe`]).

use thiserror::Error;

use super::bytes::{put_u64, u32_at, u64_at};
use super::{ChainHash, Checksum, IdentityTag};
use crate::units::{Durability, Incarnation, Length, Namespace, Offset, Position, SegmentStart};

/// Bytes of a ledger record. A sector is a multiple of it, so no record straddles one.
pub const LEDGER_RECORD_BYTES: usize = 128;

const VERSION: u16 = 1;
const CHECKSUM_AT: usize = 120;

/// Says that bytes [0, position) of a segment, and every older segment whole, were made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The segment.
    pub segment: SegmentStart,
    /// One behind the last durable byte; a batch boundary.
    pub position: Position,
    /// One behind the last durable offset.
    pub next_offset: Offset,
    /// The chain hash at `position`.
    pub chain_hash: ChainHash,
}

impl Mark {
    /// Whether a loss up to `next` that was accepted at this mark voids older marks of `segment`: its own,
    /// and those of segments that start in the lost range (DESIGN section 4).
    pub fn is_voiding(&self, segment: SegmentStart, next: Offset) -> bool {
        segment == self.segment || (segment > self.segment && segment.offset() < next)
    }
}

/// What a record says, with the numbers of its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerKind {
    /// A writer opened the partition.
    Opened {
        /// The largest batch this writer admits ([`super::BATCH_BYTES_MAX`]).
        record_ceiling: Length,
    },
    /// A log sync returned; at position 0, the segment's name is durable.
    Frontier {
        /// How far.
        mark: Mark,
    },
    /// The segment ends at the mark and never grows again.
    Sealed {
        /// The sealed end.
        mark: Mark,
        /// Where the next segment starts. Above `mark.next_offset` it is a recorded gap.
        next_start: SegmentStart,
    },
    /// The chain starts at the record's floor.
    Floor,
    /// No offset below the record's reserved offset will be minted.
    Reserved,
    /// Recovery adopted what the mark covers.
    Recovered {
        /// How far.
        mark: Mark,
    },
    /// The operator accepted what a damaged place has lost: a range of offsets or, where whole batches
    /// behind it hold every one, none.
    AcceptedLoss {
        /// Where the proven prefix ends.
        mark: Mark,
        /// First lost offset.
        first: Offset,
        /// One behind the last lost offset; `first` if none is lost.
        next: Offset,
    },
    /// The partition was closed with everything durable.
    CleanStop {
        /// The end.
        mark: Mark,
    },
}

impl LedgerKind {
    /// The mark, for the kinds that carry one.
    pub const fn mark(&self) -> Option<Mark> {
        match self {
            Self::Opened { .. } | Self::Floor | Self::Reserved => None,
            Self::Frontier { mark }
            | Self::Sealed { mark, .. }
            | Self::Recovered { mark }
            | Self::AcceptedLoss { mark, .. }
            | Self::CleanStop { mark } => Some(*mark),
        }
    }

    /// Whether this is [`LedgerKind::CleanStop`].
    pub const fn is_clean_stop(&self) -> bool {
        match self {
            Self::CleanStop { .. } => true,
            Self::Opened { .. }
            | Self::Frontier { .. }
            | Self::Sealed { .. }
            | Self::Floor
            | Self::Reserved
            | Self::Recovered { .. }
            | Self::AcceptedLoss { .. } => false,
        }
    }

    /// The permanent word for this kind.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Opened { .. } => "opened",
            Self::Frontier { .. } => "frontier",
            Self::Sealed { .. } => "sealed",
            Self::Floor => "floor",
            Self::Reserved => "reserved",
            Self::Recovered { .. } => "recovered",
            Self::AcceptedLoss { .. } => "accepted-loss",
            Self::CleanStop { .. } => "clean-stop",
        }
    }

    const fn number(&self) -> u8 {
        match self {
            Self::Opened { .. } => 1,
            Self::Frontier { .. } => 2,
            Self::Sealed { .. } => 3,
            Self::Floor => 4,
            Self::Reserved => 5,
            Self::Recovered { .. } => 6,
            Self::AcceptedLoss { .. } => 7,
            Self::CleanStop { .. } => 8,
        }
    }

    const fn numbers(&self) -> [u64; 2] {
        match self {
            Self::Opened { record_ceiling } => [record_ceiling.get(), 0],
            Self::Sealed { next_start, .. } => [next_start.get(), 0],
            Self::AcceptedLoss { first, next, .. } => [first.get(), last_before(*next)],
            Self::Frontier { .. }
            | Self::Floor
            | Self::Reserved
            | Self::Recovered { .. }
            | Self::CleanStop { .. } => [0, 0],
        }
    }
}

/// One record. Every record repeats floor, reserved offset and generation, so the newest valid one
/// speaks for all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerRecord {
    /// What it says.
    pub kind: LedgerKind,
    /// The writer's mode.
    pub durability: Durability,
    /// Whose partition.
    pub namespace: Namespace,
    /// Which life of it.
    pub incarnation: Incarnation,
    /// Raised by each compaction; the highest counts.
    pub epoch: u64,
    /// The record's own index in the file.
    pub slot: u64,
    /// Raised by each recovery that changed a file.
    pub generation: u64,
    /// Where the chain starts.
    pub floor: SegmentStart,
    /// No smaller offset will be minted.
    pub reserved_offset: Offset,
}

/// Why 128 bytes are no ledger record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RecordDamage {
    /// The checksum does not match.
    #[error("the record hashes to {actual}, and {stored} is stored")]
    Checksum {
        /// The stored value.
        stored: Checksum,
        /// The value of the bytes.
        actual: Checksum,
    },
    /// The checksum matches and the contents are none that a writer of this version makes.
    #[error("the record verifies, but its {field} makes no sense")]
    Contents {
        /// The field.
        field: &'static str,
    },
}

impl LedgerRecord {
    /// The tag of the record's partition and life.
    pub fn identity(&self) -> IdentityTag {
        IdentityTag::of(self.namespace, self.incarnation)
    }

    /// Encodes the record, checksum included.
    pub fn encode(&self) -> [u8; LEDGER_RECORD_BYTES] {
        let mut bytes = [0; LEDGER_RECORD_BYTES];
        bytes[0] = self.kind.number();
        bytes[1] = durability_number(self.durability);
        bytes[2..4].copy_from_slice(&VERSION.to_le_bytes());
        put_u64(&mut bytes, 8, self.identity().get());
        put_u64(&mut bytes, 16, self.epoch);
        put_u64(&mut bytes, 24, self.slot);
        put_u64(&mut bytes, 32, self.generation);
        put_u64(&mut bytes, 40, self.floor.get());
        put_u64(&mut bytes, 48, self.reserved_offset.get());
        if let Some(mark) = self.kind.mark() {
            put_u64(&mut bytes, 56, mark.segment.get());
            put_u64(&mut bytes, 64, mark.position.get());
            put_u64(&mut bytes, 72, mark.next_offset.get());
            put_u64(&mut bytes, 80, mark.chain_hash.get());
        }
        let [first, second] = self.kind.numbers();
        put_u64(&mut bytes, 88, first);
        put_u64(&mut bytes, 96, second);
        put_u64(&mut bytes, 104, self.namespace.packed());
        put_u64(&mut bytes, 112, self.incarnation.get());
        let checksum = Checksum::of(&bytes[..CHECKSUM_AT]);
        put_u64(&mut bytes, CHECKSUM_AT, checksum.get());
        bytes
    }

    /// Decodes a record and checks everything that it can show by itself.
    ///
    /// # Errors
    ///
    /// When the checksum does not match, or the contents are none that a writer of this version makes.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::{LedgerKind, LedgerRecord};
    /// use recovery_core::units::{Durability, Incarnation, Namespace, Offset, SegmentStart};
    ///
    /// let record = LedgerRecord {
    ///     kind: LedgerKind::Floor,
    ///     durability: Durability::Synced,
    ///     namespace: Namespace { stream: 1, topic: 1, partition: 0 },
    ///     incarnation: Incarnation::new(1),
    ///     epoch: 1,
    ///     slot: 0,
    ///     generation: 0,
    ///     floor: SegmentStart::ZERO,
    ///     reserved_offset: Offset::ZERO,
    /// };
    /// let mut bytes = record.encode();
    /// assert_eq!(LedgerRecord::decode(&bytes).as_ref(), Ok(&record));
    /// bytes[9] ^= 1;
    /// assert!(LedgerRecord::decode(&bytes).is_err());
    /// ```
    pub fn decode(bytes: &[u8; LEDGER_RECORD_BYTES]) -> Result<Self, RecordDamage> {
        let stored = Checksum::new(u64_at(bytes, CHECKSUM_AT));
        let actual = Checksum::of(&bytes[..CHECKSUM_AT]);
        if stored != actual {
            return Err(RecordDamage::Checksum { stored, actual });
        }
        let wrong = |field| RecordDamage::Contents { field };
        if u16::from_le_bytes([bytes[2], bytes[3]]) != VERSION {
            return Err(wrong("version"));
        }
        if u32_at(bytes, 4) != 0 {
            return Err(wrong("reserved field"));
        }
        let namespace = unpack(u64_at(bytes, 104)).ok_or(wrong("namespace"))?;
        let record = Self {
            kind: decode_kind(bytes)?,
            durability: durability_of(bytes[1]).ok_or(wrong("mode"))?,
            namespace,
            incarnation: Incarnation::new(u64_at(bytes, 112)),
            epoch: u64_at(bytes, 16),
            slot: u64_at(bytes, 24),
            generation: u64_at(bytes, 32),
            floor: SegmentStart::new(u64_at(bytes, 40)),
            reserved_offset: Offset::new(u64_at(bytes, 48)),
        };
        if record.identity().get() != u64_at(bytes, 8) {
            return Err(wrong("identity"));
        }
        if record.kind.mark().is_none() && bytes[56..88].iter().any(|byte| *byte != 0) {
            return Err(wrong("unused mark"));
        }
        if record.kind.numbers() != [u64_at(bytes, 88), u64_at(bytes, 96)] {
            return Err(wrong("unused number"));
        }
        record.check_mark().map(|()| record)
    }

    /// A mark at position 0 can say only one thing, and no mark ends before its segment starts.
    fn check_mark(&self) -> Result<(), RecordDamage> {
        let Some(mark) = self.kind.mark() else { return Ok(()) };
        let wrong = RecordDamage::Contents { field: "mark" };
        if mark.next_offset < mark.segment.offset() {
            return Err(wrong);
        }
        let start = ChainHash::start(self.namespace, self.incarnation, mark.segment);
        let is_start = mark.next_offset == mark.segment.offset() && mark.chain_hash == start;
        if mark.position == Position::ZERO && !is_start {
            return Err(wrong);
        }
        Ok(())
    }
}

fn decode_kind(bytes: &[u8; LEDGER_RECORD_BYTES]) -> Result<LedgerKind, RecordDamage> {
    let wrong = |field| RecordDamage::Contents { field };
    let mark = Mark {
        segment: SegmentStart::new(u64_at(bytes, 56)),
        position: Position::new(u64_at(bytes, 64)),
        next_offset: Offset::new(u64_at(bytes, 72)),
        chain_hash: ChainHash::new(u64_at(bytes, 80)),
    };
    let [first, second] = [u64_at(bytes, 88), u64_at(bytes, 96)];
    // The stored last offset is inclusive. Behind the largest number there is none: no offset is lost.
    let behind_second = second.checked_add(1).map_or(Offset::ZERO, Offset::new);
    let kind = match bytes[0] {
        1 => LedgerKind::Opened { record_ceiling: Length::new(first) },
        2 => LedgerKind::Frontier { mark },
        3 => LedgerKind::Sealed { mark, next_start: SegmentStart::new(first) },
        4 => LedgerKind::Floor,
        5 => LedgerKind::Reserved,
        6 => LedgerKind::Recovered { mark },
        7 => LedgerKind::AcceptedLoss { mark, first: Offset::new(first), next: behind_second },
        8 => LedgerKind::CleanStop { mark },
        _ => return Err(wrong("kind")),
    };
    match kind {
        LedgerKind::Sealed { mark, next_start } if next_start.offset() < mark.next_offset => {
            Err(wrong("next start"))
        }
        LedgerKind::AcceptedLoss { first, next, .. } if next < first => Err(wrong("lost range")),
        LedgerKind::Opened { .. }
        | LedgerKind::Frontier { .. }
        | LedgerKind::Sealed { .. }
        | LedgerKind::Floor
        | LedgerKind::Reserved
        | LedgerKind::Recovered { .. }
        | LedgerKind::AcceptedLoss { .. }
        | LedgerKind::CleanStop { .. } => Ok(kind),
    }
}

/// The stored form of the end of a lost range: the last offset, and the largest number where 0 is the end.
const fn last_before(next: Offset) -> u64 {
    match next.before() {
        Some(last) => last.get(),
        None => u64::MAX,
    }
}

pub(super) const fn durability_number(durability: Durability) -> u8 {
    match durability {
        Durability::Buffered => 1,
        Durability::Synced => 2,
        Durability::Proven => 3,
    }
}

pub(super) const fn durability_of(number: u8) -> Option<Durability> {
    match number {
        1 => Some(Durability::Buffered),
        2 => Some(Durability::Synced),
        3 => Some(Durability::Proven),
        _ => None,
    }
}

/// The inverse of [`Namespace::packed`].
pub(super) fn unpack(packed: u64) -> Option<Namespace> {
    let part = |shift: u32, mask: u64| {
        u32::try_from((packed >> shift) & mask).expect("a mask leaves at most 32 bits")
    };
    let namespace =
        Namespace { stream: part(32, 0xffff_ffff), topic: part(20, 0xfff), partition: part(0, 0xf_ffff) };
    namespace.is_packable().then_some(namespace)
}
