//! The digest of a run: the same for any order, thread count or shard split (CONTRACTS 7).

use xxhash_rust::xxh3::xxh3_64;

/// A sum over worlds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunDigest(u64);

impl RunDigest {
    /// The digest of a run that was printed.
    pub const fn of(value: u64) -> Self {
        Self(value)
    }

    /// Adds one world.
    pub fn add(&mut self, seed: u64, world: u64) {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..].copy_from_slice(&world.to_le_bytes());
        // The sum is modulo 2^64 by definition.
        self.0 = self.0.wrapping_add(xxh3_64(&bytes));
    }

    /// Adds the worlds of another run.
    pub fn join(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }

    /// The value.
    pub const fn get(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_and_the_split_of_worlds_change_nothing() {
        let digest = |worlds: &[(u64, u64)]| {
            let mut digest = RunDigest::default();
            for (seed, world) in worlds {
                digest.add(*seed, *world);
            }
            digest
        };
        let whole = digest(&[(1, 10), (2, 20), (3, 30)]);
        assert_eq!(digest(&[(3, 30), (1, 10), (2, 20)]), whole);
        let mut joined = digest(&[(2, 20)]);
        joined.join(digest(&[(3, 30), (1, 10)]));
        assert_eq!(joined, whole);
        assert_ne!(digest(&[(1, 20), (2, 10), (3, 30)]), whole);
    }
}
