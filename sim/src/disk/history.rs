//! What names led to before they were removed or renamed, so that a fault can undo it.
//!
//! Promises: nothing is forgotten within a world. Leaves out: whether an undo makes sense; that is for the
//! schedule to choose.

use super::arena::Run;
use super::directory::{DirectoryId, Node};
use super::file::FileId;
use super::name_table::NameId;

/// A name that was removed, or whose file was replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removed {
    pub(super) directory: DirectoryId,
    pub(super) name: NameId,
    pub(super) node: Node,
}

/// A rename.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renamed {
    pub(super) from_directory: DirectoryId,
    pub(super) from: NameId,
    pub(super) to_directory: DirectoryId,
    pub(super) to: NameId,
    pub(super) node: Node,
    pub(super) replaced: Option<Node>,
}

/// A file as it was when the node last went down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) file: FileId,
    pub(super) directory: DirectoryId,
    pub(super) name: NameId,
    pub(super) length: u64,
    /// Where its pages start in [`History::pages`].
    pub(super) first_page: usize,
    /// How many it has there; behind them is a hole.
    pub(super) pages: usize,
}

/// Everything that can be undone.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) removed: Vec<Removed>,
    pub(super) renamed: Vec<Renamed>,
    pub(super) kept: Vec<Kept>,
    pub(super) pages: Vec<Run>,
}

impl History {
    pub(super) fn reset(&mut self) {
        self.removed.clear();
        self.renamed.clear();
        self.kept.clear();
        self.pages.clear();
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        self.removed.clone_from(&other.removed);
        self.renamed.clone_from(&other.renamed);
        self.kept.clone_from(&other.kept);
        self.pages.clone_from(&other.pages);
    }
}
