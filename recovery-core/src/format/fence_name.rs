//! Names of the directories beside a partition that hold what was set aside: `<partition>.fenced.N`.
//!
//! Promises: only the one canonical spelling of a number parses. Leaves out: who made a fence, and what it
//! holds; a whole partition directory that was replaced has such a name too.

use crate::storage::Name;

const INFIX: &[u8] = b".fenced.";

/// The name of one fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FenceName {
    /// Its number.
    pub number: u64,
}

impl FenceName {
    /// Whether `name` begins as every fence of `partition` does, whatever follows.
    pub fn is_beside(partition: &Name, name: &Name) -> bool {
        Self::tail(partition, name).is_some()
    }

    /// Reads the name of a fence of `partition`.
    pub fn parse(partition: &Name, name: &Name) -> Option<Self> {
        let digits = Self::tail(partition, name)?;
        let number = digits.iter().try_fold(0_u64, |number, digit| {
            let value = char::from(*digit).to_digit(10)?;
            number.checked_mul(10)?.checked_add(u64::from(value))
        })?;
        let fence = Self { number };
        (fence.name(partition) == Some(*name)).then_some(fence)
    }

    /// The name of this fence of `partition`, or `None` if it would be too long for a directory entry.
    pub fn name(self, partition: &Name) -> Option<Name> {
        let Self { number } = self;
        partition.with_suffix(INFIX)?.with_suffix(number.to_string().as_bytes())
    }

    fn tail<'a>(partition: &Name, name: &'a Name) -> Option<&'a [u8]> {
        name.as_bytes().strip_prefix(partition.as_bytes())?.strip_prefix(INFIX)
    }
}
