//! The named fields of every structure (CONTRACTS 8, `docs/format.md`), and where each lies.

use recovery_core::format::{BATCH_HEADER_BYTES, FRAME_HEADER_BYTES, INDEX_ENTRY_BYTES, LEDGER_RECORD_BYTES};

/// What a field belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Structure {
    /// A batch of a log: its header.
    Header,
    /// A frame of a batch.
    Frame,
    Index,
    Ledger,
    Superblock,
}

/// A field of a structure: its name, and its bytes from the start of the structure on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) structure: Structure,
    pub(super) name: &'static str,
    pub(super) at: usize,
    pub(super) bytes: usize,
}

const fn field(structure: Structure, name: &'static str, at: usize, bytes: usize) -> Field {
    Field { structure, name, at, bytes }
}

pub(super) const FIELDS: &[Field] = &[
    field(Structure::Header, "partition-id", 0, 8),
    field(Structure::Header, "base-offset", 8, 8),
    field(Structure::Header, "base-timestamp", 16, 8),
    field(Structure::Header, "origin-timestamp", 24, 8),
    field(Structure::Header, "batch-length", 32, 8),
    field(Structure::Header, "batch-checksum", 40, 8),
    field(Structure::Header, "message-count", 48, 4),
    field(Structure::Header, "reserved", 52, 204),
    field(Structure::Frame, "checksum", 0, 8),
    field(Structure::Frame, "id", 8, 16),
    field(Structure::Frame, "offset-delta", 24, 4),
    field(Structure::Frame, "timestamp-delta", 28, 4),
    field(Structure::Frame, "user-headers-length", 32, 4),
    field(Structure::Frame, "payload-length", 36, 4),
    field(Structure::Frame, "reserved", 40, 8),
    field(Structure::Frame, "payload", 48, 16),
    field(Structure::Index, "offset", 0, 8),
    field(Structure::Index, "timestamp", 8, 8),
    field(Structure::Index, "position", 16, 8),
    field(Structure::Ledger, "kind", 0, 1),
    field(Structure::Ledger, "mode", 1, 1),
    field(Structure::Ledger, "version", 2, 2),
    field(Structure::Ledger, "unused", 4, 4),
    field(Structure::Ledger, "identity", 8, 8),
    field(Structure::Ledger, "epoch", 16, 8),
    field(Structure::Ledger, "slot", 24, 8),
    field(Structure::Ledger, "generation", 32, 8),
    field(Structure::Ledger, "floor", 40, 8),
    field(Structure::Ledger, "reserved-offset", 48, 8),
    field(Structure::Ledger, "mark-segment", 56, 8),
    field(Structure::Ledger, "mark-position", 64, 8),
    field(Structure::Ledger, "mark-next-offset", 72, 8),
    field(Structure::Ledger, "mark-chain-hash", 80, 8),
    field(Structure::Ledger, "first-number", 88, 8),
    field(Structure::Ledger, "second-number", 96, 8),
    field(Structure::Ledger, "namespace", 104, 8),
    field(Structure::Ledger, "incarnation", 112, 8),
    field(Structure::Ledger, "checksum", 120, 8),
    field(Structure::Superblock, "magic", 0, 4),
    field(Structure::Superblock, "version", 4, 2),
    field(Structure::Superblock, "sequence", 8, 8),
    field(Structure::Superblock, "payload-length", 24, 4),
    field(Structure::Superblock, "cluster", 28, 16),
    field(Structure::Superblock, "replica", 44, 1),
    field(Structure::Superblock, "replica-count", 45, 1),
    field(Structure::Superblock, "offset-frontier", 86, 8),
    field(Structure::Superblock, "checksum", 94, 8),
];

/// The start and the end of a structure in a file.
pub(super) type Extent = (usize, usize);

/// Where the batches of a log lie, as its own headers say it, up to the first that does not fit.
pub(super) fn batches(log: &[u8]) -> Vec<Extent> {
    let mut batches = Vec::new();
    let mut at = 0;
    while let Some(header) = log.get(at..at + BATCH_HEADER_BYTES) {
        let length = u64::from_le_bytes(header[32..40].try_into().unwrap());
        let Some(end) = usize::try_from(length).ok().and_then(|length| at.checked_add(length)) else { break };
        if end > log.len() || end < at + BATCH_HEADER_BYTES {
            break;
        }
        batches.push((at, end));
        at = end;
    }
    batches
}

/// Where the frames of a batch lie.
pub(super) fn frames(log: &[u8], (from, end): Extent) -> Vec<Extent> {
    let mut frames = Vec::new();
    let mut at = from + BATCH_HEADER_BYTES;
    while at + FRAME_HEADER_BYTES <= end {
        let length = |from: usize| u32::from_le_bytes(log[from..from + 4].try_into().unwrap()) as usize;
        let next = at + FRAME_HEADER_BYTES + length(at + 32) + length(at + 36);
        if next > end {
            break;
        }
        frames.push((at, next));
        at = next;
    }
    frames
}

/// Where the structures of a kind lie in a file of theirs.
pub(super) fn extents(structure: Structure, file: &[u8]) -> Vec<Extent> {
    let entries = |bytes: usize| (0..file.len() / bytes).map(|at| (at * bytes, (at + 1) * bytes)).collect();
    match structure {
        Structure::Header => batches(file),
        Structure::Frame => batches(file).into_iter().flat_map(|batch| frames(file, batch)).collect(),
        Structure::Index => entries(INDEX_ENTRY_BYTES),
        Structure::Ledger => entries(LEDGER_RECORD_BYTES),
        Structure::Superblock => vec![(0, file.len())],
    }
}
