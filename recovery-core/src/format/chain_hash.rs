//! The hashes that bind evidence to one life of one partition, and a batch to its place in it (DESIGN section 4).
//!
//! Promises: both are of what `docs/format.md` section 7 says, and nothing else. Leaves out: the batch's own
//! checksum ([`super::checksum`]).

use std::fmt;

use super::Checksum;
use super::bytes::put_u64;
use crate::units::{Incarnation, Namespace, SegmentStart};

/// Hash of namespace and incarnation: which life of which partition a record speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdentityTag(u64);

impl IdentityTag {
    /// The tag of one life of one partition.
    pub fn of(namespace: Namespace, incarnation: Incarnation) -> Self {
        let mut bytes = [0; 16];
        put_u64(&mut bytes, 0, namespace.packed());
        put_u64(&mut bytes, 8, incarnation.get());
        Self(Checksum::of(&bytes).get())
    }

    /// The raw value.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// The running hash over the batches of one segment, which binds each to its place.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ChainHash(u64);

impl ChainHash {
    /// The hash before the first batch of a segment.
    pub fn start(namespace: Namespace, incarnation: Incarnation, segment: SegmentStart) -> Self {
        let mut bytes = [0; 24];
        put_u64(&mut bytes, 0, namespace.packed());
        put_u64(&mut bytes, 8, incarnation.get());
        put_u64(&mut bytes, 16, segment.get());
        Self(Checksum::of(&bytes).get())
    }

    /// The hash behind one more batch.
    #[inline]
    #[must_use]
    pub fn after(self, batch: Checksum) -> Self {
        let mut bytes = [0; 16];
        put_u64(&mut bytes, 0, self.0);
        put_u64(&mut bytes, 8, batch.get());
        Self(Checksum::of(&bytes).get())
    }

    /// Wraps a stored value.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The raw value.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}
