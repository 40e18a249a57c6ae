//! The fields a fault can be aimed at, by name and place.
//!
//! Promises: names and places of the format (IGGY_FORMAT sections 2, 5 and 6; the ledger's are ours).
//! Written down here once more on purpose: the injector must not learn from the code it judges.
//! Leaves out: where a batch or a record lies.

use super::word::words;

/// A run of bytes inside a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpan {
    /// First byte, counted from the start of the structure.
    pub at: u32,
    /// How many bytes.
    pub width_bytes: u32,
}

const fn span(at: u32, width_bytes: u32) -> FieldSpan {
    FieldSpan { at, width_bytes }
}

words! {
    /// A field of the 256-byte batch header.
    HeaderField, "a field of a batch header" {
        /// The partition's number.
        PartitionId = "partition-id",
        /// Offset of the first message.
        BaseOffset = "base-offset",
        /// Server time.
        BaseTimestamp = "base-timestamp",
        /// Producer time.
        OriginTimestamp = "origin-timestamp",
        /// Bytes of the whole batch.
        BatchLength = "batch-length",
        /// Checksum over the fields and the message checksums.
        BatchChecksum = "batch-checksum",
        /// How many messages.
        MessageCount = "message-count",
        /// The 204 bytes that are zero.
        Reserved = "reserved",
    }
}

impl HeaderField {
    /// Its place in the header.
    pub const fn span(self) -> FieldSpan {
        match self {
            Self::PartitionId => span(0, 8),
            Self::BaseOffset => span(8, 8),
            Self::BaseTimestamp => span(16, 8),
            Self::OriginTimestamp => span(24, 8),
            Self::BatchLength => span(32, 8),
            Self::BatchChecksum => span(40, 8),
            Self::MessageCount => span(48, 4),
            Self::Reserved => span(52, 204),
        }
    }
}

words! {
    /// A field of one message frame.
    FrameField, "a field of a frame" {
        /// Checksum of the message.
        Checksum = "checksum",
        /// The message's id.
        Id = "id",
        /// Offset after the batch's base offset.
        OffsetDelta = "offset-delta",
        /// Time after the batch's origin time.
        TimestampDelta = "timestamp-delta",
        /// Bytes of the user headers.
        UserHeadersLength = "user-headers-length",
        /// Bytes of the payload.
        PayloadLength = "payload-length",
        /// The 8 bytes that are zero.
        Reserved = "reserved",
        /// The payload.
        Payload = "payload",
        /// The user headers.
        UserHeaders = "user-headers",
    }
}

impl FrameField {
    /// Its place in the frame; `None` for the two whose place and width the frame's own lengths say.
    pub const fn span(self) -> Option<FieldSpan> {
        match self {
            Self::Checksum => Some(span(0, 8)),
            Self::Id => Some(span(8, 16)),
            Self::OffsetDelta => Some(span(24, 4)),
            Self::TimestampDelta => Some(span(28, 4)),
            Self::UserHeadersLength => Some(span(32, 4)),
            Self::PayloadLength => Some(span(36, 4)),
            Self::Reserved => Some(span(40, 8)),
            Self::Payload | Self::UserHeaders => None,
        }
    }
}

/// A field of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BatchField {
    /// Of its header.
    Header(HeaderField),
    /// Of one of its frames.
    Frame {
        /// Which frame, counted from 0.
        frame: u32,
        /// The field.
        field: FrameField,
    },
}

words! {
    /// A field of an index entry.
    IndexField, "a field of an index entry" {
        /// Base offset of the batch.
        Offset = "offset",
        /// Base timestamp of the batch.
        Timestamp = "timestamp",
        /// Where the batch lies.
        Position = "position",
    }
}

impl IndexField {
    /// Its place in the entry.
    pub const fn span(self) -> FieldSpan {
        match self {
            Self::Offset => span(0, 8),
            Self::Timestamp => span(8, 8),
            Self::Position => span(16, 8),
        }
    }
}

words! {
    /// A field of a ledger record.
    LedgerField, "a field of a ledger record" {
        /// What the record says.
        Kind = "kind",
        /// The writer's mode.
        Mode = "mode",
        /// Version of the record.
        Version = "version",
        /// The 4 bytes that are zero.
        Reserved = "reserved",
        /// Hash of namespace and incarnation.
        Identity = "identity",
        /// Epoch.
        Epoch = "epoch",
        /// The record's own index.
        Slot = "slot",
        /// Generation.
        Generation = "generation",
        /// Where the chain starts.
        Floor = "floor",
        /// No smaller offset will be minted.
        ReservedOffset = "reserved-offset",
        /// The mark's segment.
        MarkSegment = "mark-segment",
        /// The mark's position.
        MarkPosition = "mark-position",
        /// The mark's next offset.
        MarkNextOffset = "mark-next-offset",
        /// The mark's chain hash.
        MarkChainHash = "mark-chain-hash",
        /// First number of the kind's own.
        FirstNumber = "first-number",
        /// Second number of the kind's own.
        SecondNumber = "second-number",
        /// The packed namespace.
        Namespace = "namespace",
        /// The incarnation.
        Incarnation = "incarnation",
        /// Checksum of all before it.
        Checksum = "checksum",
    }
}

impl LedgerField {
    /// Its place in the record.
    pub const fn span(self) -> FieldSpan {
        match self {
            Self::Kind => span(0, 1),
            Self::Mode => span(1, 1),
            Self::Version => span(2, 2),
            Self::Reserved => span(4, 4),
            Self::Identity => span(8, 8),
            Self::Epoch => span(16, 8),
            Self::Slot => span(24, 8),
            Self::Generation => span(32, 8),
            Self::Floor => span(40, 8),
            Self::ReservedOffset => span(48, 8),
            Self::MarkSegment => span(56, 8),
            Self::MarkPosition => span(64, 8),
            Self::MarkNextOffset => span(72, 8),
            Self::MarkChainHash => span(80, 8),
            Self::FirstNumber => span(88, 8),
            Self::SecondNumber => span(96, 8),
            Self::Namespace => span(104, 8),
            Self::Incarnation => span(112, 8),
            Self::Checksum => span(120, 8),
        }
    }
}

words! {
    /// A field of a superblock record with the payload of 66 bytes.
    SuperblockField, "a field of a superblock" {
        /// Magic.
        Magic = "magic",
        /// Version.
        Version = "version",
        /// The 2 bytes that are written 0.
        Reserved = "reserved",
        /// Sequence.
        Sequence = "sequence",
        /// Parent checksum, written 0.
        Parent = "parent",
        /// Bytes of the payload.
        PayloadLength = "payload-length",
        /// Cluster.
        Cluster = "cluster",
        /// Replica.
        Replica = "replica",
        /// How many replicas.
        ReplicaCount = "replica-count",
        /// View.
        View = "view",
        /// View of the log.
        LogView = "log-view",
        /// Highest committed operation.
        Commit = "commit",
        /// Checkpoint operation, 0 for partitions.
        CheckpointOp = "checkpoint-op",
        /// Checkpoint checksum, 0 for partitions.
        CheckpointChecksum = "checkpoint-checksum",
        /// Next offset to mint.
        OffsetFrontier = "offset-frontier",
        /// Checksum of all before it.
        Checksum = "checksum",
    }
}

impl SuperblockField {
    /// Its place in the file.
    pub const fn span(self) -> FieldSpan {
        match self {
            Self::Magic => span(0, 4),
            Self::Version => span(4, 2),
            Self::Reserved => span(6, 2),
            Self::Sequence => span(8, 8),
            Self::Parent => span(16, 8),
            Self::PayloadLength => span(24, 4),
            Self::Cluster => span(28, 16),
            Self::Replica => span(44, 1),
            Self::ReplicaCount => span(45, 1),
            Self::View => span(46, 4),
            Self::LogView => span(50, 4),
            Self::Commit => span(54, 8),
            Self::CheckpointOp => span(62, 8),
            Self::CheckpointChecksum => span(70, 16),
            Self::OffsetFrontier => span(86, 8),
            Self::Checksum => span(94, 8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::word::Word;

    const PAGE: &str = include_str!("../../../docs/format.md");

    /// The fields must stand in the section of the format's page as they are here, in order, with their
    /// places.
    fn check<F: Word>(heading: &str, span: fn(F) -> Option<FieldSpan>) {
        let (_, section) = PAGE.split_once(heading).expect("the page has the section");
        let rows = section.lines().skip_while(|line| !line.starts_with("| at |")).skip(2);
        let rows = rows.take_while(|line| line.starts_with('|'));
        let written: Vec<String> = rows.map(|row| cells(row).join(" ")).collect();
        let ours: Vec<String> = F::WORDS.iter().map(|field| line(*field, span(*field))).collect();
        assert_eq!(ours, written, "{heading}");
    }

    /// Place, width and name of a row: those that it has.
    fn cells(row: &str) -> Vec<&str> {
        let cells = row.split('|').map(|cell| cell.trim().trim_matches('`'));
        cells.skip(1).take(3).filter(|cell| !cell.is_empty()).collect()
    }

    fn line<F: Word>(field: F, span: Option<FieldSpan>) -> String {
        match (span, field.word()) {
            (Some(FieldSpan { at, width_bytes }), name) => format!("{at} {width_bytes} {name}"),
            // The page says where the first one starts, which is behind the lengths.
            (None, "payload") => "48 payload".to_owned(),
            (None, name) => name.to_owned(),
        }
    }

    #[test]
    fn the_fields_are_those_of_the_page_on_the_format() {
        check::<HeaderField>("### Batch header", |field| Some(field.span()));
        check::<FrameField>("### Frame", FrameField::span);
        check::<IndexField>("## 5. The index", |field| Some(field.span()));
        check::<SuperblockField>("## 6. The superblock", |field| Some(field.span()));
        check::<LedgerField>("## 7. The ledger", |field| Some(field.span()));
    }
}
