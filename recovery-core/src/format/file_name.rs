//! Names of the files in a partition directory and beside it (IGGY_FORMAT section 1, CONTRACTS 2).
//!
//! Promises: one spelling a file. A segment's stem is its start offset in exactly 20 digits; anything else
//! that ends in `.log` is unexpected, however well it parses (N05). Leaves out: what lies in the files.

use crate::storage::Name;
use crate::units::{Namespace, SegmentStart};

/// Digits of a segment's stem: as many as the largest u64 has.
const STEM_DIGITS: usize = 20;

/// One of the two superblock files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SuperblockSlot {
    /// `superblock.a`, written first.
    A,
    /// `superblock.b`.
    B,
}

impl SuperblockSlot {
    /// Both slots.
    pub const ALL: [Self; 2] = [Self::A, Self::B];

    /// The slot's file name.
    pub fn name(self) -> Name {
        match self {
            Self::A => literal(b"superblock.a"),
            Self::B => literal(b"superblock.b"),
        }
    }

    /// The name under which a new record is written before it is renamed into the slot.
    pub fn staging(self) -> Name {
        match self {
            Self::A => literal(b"superblock.a.staging"),
            Self::B => literal(b"superblock.b.staging"),
        }
    }
}

/// What a name in a partition directory says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileName {
    /// `<20 digits>.log`.
    Log(SegmentStart),
    /// `<20 digits>.index`.
    Index(SegmentStart),
    /// Ends in `.log`, and is no canonical segment name.
    StrayLog,
    /// Ends in `.index`, and is no canonical index name: an index that can have no log.
    StrayIndex,
    /// Ends in `.staging`: a file that somebody did not finish.
    Staging,
    /// `ledger`.
    Ledger,
    /// `superblock.a` or `superblock.b`.
    Superblock(SuperblockSlot),
    /// Anything else: left alone.
    Other,
}

impl FileName {
    /// Reads a name.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::FileName;
    /// use recovery_core::storage::Name;
    /// use recovery_core::units::SegmentStart;
    ///
    /// let start = SegmentStart::new(12);
    /// assert_eq!(FileName::classify(&FileName::log(start)), FileName::Log(start));
    /// // Ends in `.log` and is no canonical name: evidence of somebody else at work.
    /// let stray = Name::new(b"12.log").expect("one component");
    /// assert_eq!(FileName::classify(&stray), FileName::StrayLog);
    /// ```
    pub fn classify(name: &Name) -> Self {
        let bytes = name.as_bytes();
        if bytes == b"ledger" {
            Self::Ledger
        } else if bytes == b"superblock.a" {
            Self::Superblock(SuperblockSlot::A)
        } else if bytes == b"superblock.b" {
            Self::Superblock(SuperblockSlot::B)
        } else if bytes.ends_with(b".staging") {
            Self::Staging
        } else if let Some(stem) = bytes.strip_suffix(b".log") {
            parse_stem(stem).map_or(Self::StrayLog, Self::Log)
        } else if let Some(stem) = bytes.strip_suffix(b".index") {
            parse_stem(stem).map_or(Self::StrayIndex, Self::Index)
        } else {
            Self::Other
        }
    }

    /// The name of a segment's log.
    pub fn log(start: SegmentStart) -> Name {
        segment_name(start, b".log")
    }

    /// The name of a segment's index.
    pub fn index(start: SegmentStart) -> Name {
        segment_name(start, b".index")
    }

    /// The name under which a new index is written before it is renamed into place.
    pub fn index_staging(start: SegmentStart) -> Name {
        segment_name(start, b".index.staging")
    }

    /// The name under which a new segment's log is written before it is renamed into place.
    pub fn log_staging(start: SegmentStart) -> Name {
        segment_name(start, b".log.staging")
    }

    /// The segment for which a new index is staged under this name; `None` for any other name.
    pub fn staged_index(name: &Name) -> Option<SegmentStart> {
        let index = name.as_bytes().strip_suffix(b".staging")?;
        parse_stem(index.strip_suffix(b".index")?)
    }

    /// The ledger's name.
    pub fn ledger() -> Name {
        literal(b"ledger")
    }

    /// The name under which a new ledger is written before it is renamed into place.
    pub fn ledger_staging() -> Name {
        literal(b"ledger.staging")
    }

    /// The name of the metadata log, in the data directory.
    pub fn metadata_log() -> Name {
        literal(b"metadata.log")
    }

    /// The name under which a new metadata log is written before it is renamed into place.
    pub fn metadata_staging() -> Name {
        literal(b"metadata.log.staging")
    }

    /// The name of the text that says why a fence holds what it holds.
    pub fn reason() -> Name {
        literal(b"REASON.toml")
    }

    /// The name of the file that says that a partition from a peer is whole.
    pub fn complete() -> Name {
        literal(b"COMPLETE")
    }

    /// The name of the directory of consumers' offsets.
    pub fn offsets() -> Name {
        literal(b"offsets")
    }

    /// The name beside a partition directory under which a replacement for it is built, or `None` if it would
    /// be too long.
    pub fn rebuild(partition: &Name) -> Option<Name> {
        partition.with_suffix(b".rebuild")
    }

    /// The name under which a new reason is written before it is renamed into place.
    pub fn reason_staging() -> Name {
        literal(b"REASON.toml.staging")
    }
}

/// The components of a partition directory below the data directory: `streams/S/topics/T/partitions/P`.
///
/// # Examples
///
/// ```
/// use recovery_core::format::partition_components;
/// use recovery_core::units::Namespace;
///
/// let components = partition_components(Namespace { stream: 1, topic: 2, partition: 3 });
/// let path: Vec<String> = components.iter().map(ToString::to_string).collect();
/// assert_eq!(path.join("/"), "streams/1/topics/2/partitions/3");
/// ```
pub fn partition_components(namespace: Namespace) -> [Name; 6] {
    [
        literal(b"streams"),
        decimal(u64::from(namespace.stream)),
        literal(b"topics"),
        decimal(u64::from(namespace.topic)),
        literal(b"partitions"),
        decimal(u64::from(namespace.partition)),
    ]
}

fn literal(bytes: &[u8]) -> Name {
    Name::new(bytes).expect("a literal file name is one component")
}

fn decimal(number: u64) -> Name {
    Name::numbered(number, 1, b"")
}

fn segment_name(start: SegmentStart, suffix: &'static [u8]) -> Name {
    Name::numbered(start.get(), STEM_DIGITS, suffix)
}

pub(super) fn parse_stem(stem: &[u8]) -> Option<SegmentStart> {
    if stem.len() != STEM_DIGITS || !stem.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // 20 digits can spell more than the largest u64; then no segment has that name.
    stem.iter()
        .try_fold(0_u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
        .map(SegmentStart::new)
}
