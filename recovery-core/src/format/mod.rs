//! Bytes on disk: sizes, encode, decode. No I/O and no opinion.
//!
//! Promises: byte-compatible with Apache Iggy's segments (batch, frame, index, superblock), one file a
//! structure, little-endian throughout; `docs/format.md` shows each as a picture. The ledger and the metadata
//! log are ours. Leaves out: whether bytes belong where they lie ([`crate::observe`]).

mod batch;
mod batch_builder;
mod bytes;
mod chain_hash;
mod checksum;
mod copy_name;
mod fence_name;
mod file_name;
mod frame;
mod index_entry;
mod ledger_record;
mod metadata_batch;
mod metadata_record;
mod superblock;

pub use batch::{BATCH_BYTES_MAX, BATCH_HASHED_BYTES, BATCH_HEADER_BYTES, BatchHeader, HeaderDamage};
pub use batch_builder::{BatchBuilder, BatchTooLarge, LayoutDamage, Message, stamp};
pub use chain_hash::{ChainHash, IdentityTag};
pub use checksum::{Checksum, Hasher};
pub use copy_name::CopyName;
pub use fence_name::FenceName;
pub use file_name::{FileName, SuperblockSlot, partition_components};
pub use frame::{FRAME_HASHED_FROM, FRAME_HEADER_BYTES, FrameDamage, FrameHeader};
pub use index_entry::{INDEX_ENTRY_BYTES, IndexEntry};
pub use ledger_record::{LEDGER_RECORD_BYTES, LedgerKind, LedgerRecord, Mark, RecordDamage};
pub use metadata_batch::{
    METADATA_HASHED_BYTES, METADATA_HEADER_BYTES, MetadataDamage, MetadataDraft, MetadataHeader,
};
pub use metadata_record::{METADATA_RECORD_BYTES, MetadataKind, MetadataRecord};
pub use superblock::{SUPERBLOCK_BYTES_MAX, Superblock, SuperblockDamage};
