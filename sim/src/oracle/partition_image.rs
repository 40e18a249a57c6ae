//! Everything of one partition that recovery may touch: its directory, and the fences beside it.

use recovery_core::storage::Name;

use super::Image;

/// One partition at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionImage {
    /// The partition directory.
    pub directory: Image,
    /// The directories beside it that hold what was set aside, in any order.
    pub fences: Vec<Fence>,
}

/// A file of which a sync failed: what was not written back by then the disk may have dropped for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// Its name.
    pub name: Name,
    /// What the medium held of it before.
    pub medium: Vec<u8>,
}

/// One directory of set-aside files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Its name, `<partition>.fenced.N`.
    pub name: Name,
    /// What lies in it.
    pub image: Image,
}
