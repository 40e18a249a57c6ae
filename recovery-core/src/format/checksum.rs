//! XXH3-64, the only checksum of the format. The only file that names xxhash-rust.
//!
//! Promises: seed 0, default secret (IGGY_FORMAT head), and the same value whether bytes come at once or
//! in pieces. Leaves out: what is hashed, which each structure says for itself.

use std::fmt;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// An XXH3-64 value.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Checksum(u64);

impl Checksum {
    /// Wraps a stored value.
    #[inline]
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// Hashes `bytes` in one call.
    #[inline]
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxh3_64(bytes))
    }

    /// The raw value.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The same hash over bytes that arrive in pieces.
#[derive(Clone)]
pub struct Hasher(Xxh3Default);

impl Hasher {
    /// A hasher that has seen no byte.
    pub fn new() -> Self {
        Self(Xxh3Default::new())
    }

    /// Forgets every byte seen, without the cost of a new hasher.
    #[inline]
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// Adds `bytes`.
    #[inline]
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all bytes so far.
    #[inline]
    pub fn finish(&self) -> Checksum {
        Checksum(self.0.digest())
    }
}

impl Default for Hasher {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Hasher({})", self.finish())
    }
}
