//! Newtypes for the numbers that must never be mixed up, with checked arithmetic only.
//!
//! Promises: an offset is never a position, a length is never either, and no sum or difference wraps.
//! Leaves out: any meaning of a value; that a position lies inside a file is for its reader to check.

use std::fmt;

macro_rules! newtype {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// The smallest value.
            pub const ZERO: Self = Self(0);

            /// Wraps a raw number.
            #[inline]
            pub const fn new(value: u64) -> Self {
                Self(value)
            }

            /// The raw number.
            #[inline]
            pub const fn get(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, formatter)
            }
        }
    };
}

newtype! {
    /// The number of a message in its partition, counted from 0. `u64::MAX` is never the offset of a
    /// message, so that "one behind the last" always exists (N16).
    Offset
}
newtype! {
    /// A byte position in one file, counted from 0.
    Position
}
newtype! {
    /// A number of bytes.
    Length
}
newtype! {
    /// Names a segment by the offset of its first message, which is also its file name.
    SegmentStart
}
newtype! {
    /// The partition number that a batch header carries. It names neither stream nor topic.
    PartitionId
}
newtype! {
    /// Which life of a namespace wrote something: a recreated topic has another incarnation (F63).
    Incarnation
}

impl Offset {
    /// The offset `count` messages further on, or `None` if that does not exist.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::units::Offset;
    ///
    /// assert_eq!(Offset::new(40).checked_add(2), Some(Offset::new(42)));
    /// assert_eq!(Offset::new(u64::MAX).checked_add(1), None);
    /// ```
    #[inline]
    pub const fn checked_add(self, count: u64) -> Option<Self> {
        match self.0.checked_add(count) {
            Some(value) => Some(Self(value)),
            None => None,
        }
    }

    /// How many messages lie in `[earlier, self)`, or `None` if `earlier` is the later one.
    #[inline]
    pub const fn checked_since(self, earlier: Self) -> Option<u64> {
        self.0.checked_sub(earlier.0)
    }

    /// The offset before this one, or `None` at 0.
    #[inline]
    pub const fn before(self) -> Option<Self> {
        match self.0.checked_sub(1) {
            Some(value) => Some(Self(value)),
            None => None,
        }
    }
}

impl Position {
    /// The position `length` bytes further on, or `None` if it does not fit.
    #[inline]
    pub const fn checked_add(self, length: Length) -> Option<Self> {
        match self.0.checked_add(length.0) {
            Some(value) => Some(Self(value)),
            None => None,
        }
    }

    /// How many bytes lie in `[earlier, self)`, or `None` if `earlier` is the later one.
    #[inline]
    pub const fn checked_since(self, earlier: Self) -> Option<Length> {
        match self.0.checked_sub(earlier.0) {
            Some(value) => Some(Length(value)),
            None => None,
        }
    }

    /// The length of the file that ends here.
    #[inline]
    pub const fn as_length(self) -> Length {
        Length(self.0)
    }
}

impl Length {
    /// The position one behind the last byte of a file of this length.
    #[inline]
    pub const fn as_position(self) -> Position {
        Position(self.0)
    }

    /// The sum, or `None` if it does not fit.
    #[inline]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(value) => Some(Self(value)),
            None => None,
        }
    }
}

impl SegmentStart {
    /// The first offset that the segment may hold.
    #[inline]
    pub const fn offset(self) -> Offset {
        Offset(self.0)
    }

    /// The segment that would start at `offset`.
    #[inline]
    pub const fn at(offset: Offset) -> Self {
        Self(offset.0)
    }
}

/// A stream, a topic and a partition: what the directory tree says and a batch does not (F28).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace {
    /// Stream number, at most 20 bits.
    pub stream: u32,
    /// Topic number, at most 12 bits.
    pub topic: u32,
    /// Partition number, at most 20 bits.
    pub partition: u32,
}

impl Namespace {
    /// Packs the triple as `stream << 32 | topic << 20 | partition` (IGGY_FORMAT section 1).
    #[inline]
    pub const fn packed(self) -> u64 {
        ((self.stream as u64) << 32) | ((self.topic as u64) << 20) | self.partition as u64
    }

    /// The id that every batch header of this partition must carry.
    #[inline]
    pub const fn partition_id(self) -> PartitionId {
        PartitionId(self.partition as u64)
    }

    /// Whether each part fits the width that [`Namespace::packed`] gives it.
    #[inline]
    pub const fn is_packable(self) -> bool {
        self.stream < 1 << 20 && self.topic < 1 << 12 && self.partition < 1 << 20
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{}", self.stream, self.topic, self.partition)
    }
}

/// What a writer promised before it acknowledged (DESIGN section 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// The write alone. Nothing is promised against a crash of the machine.
    #[default]
    Buffered,
    /// A sync of the log, and of the previous flush's mark.
    Synced,
    /// A sync of the log, then a sync of this flush's mark.
    Proven,
}

impl Durability {
    /// Every mode, in rising strength.
    pub const ALL: [Self; 3] = [Self::Buffered, Self::Synced, Self::Proven];

    /// The permanent word for flags, scenario files and JSON.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Buffered => "buffered",
            Self::Synced => "synced",
            Self::Proven => "proven",
        }
    }
}
