//! What a check may look at behind one answer to a client that reads.

use recovery_core::units::{Offset, PartitionId};

use super::truth::Truth;

/// A batch of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered<'a> {
    /// Its first offset.
    pub base: Offset,
    /// One behind its last offset.
    pub next: Offset,
    /// All its bytes.
    pub bytes: &'a [u8],
}

/// An answer of a partition that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// Batches, in order; perhaps none.
    Batches(Vec<Answered<'a>>),
    /// Offsets from `first` on, to the end of their segment, cannot be read: their bytes are damaged.
    Damaged {
        /// The first of them.
        first: Offset,
        /// The last of them.
        last: Offset,
    },
    /// A call failed, which says nothing of the batches.
    Failed,
}

/// One answer, and the truth.
pub struct AnswerView<'a> {
    /// The id that batches of the partition carry.
    pub partition_id: PartitionId,
    /// The first offset that was asked for.
    pub from: Offset,
    /// Whether no storage call failed while it was made.
    pub is_calm: bool,
    /// Whether no read of it was made to return what does not lie there.
    pub sees_truth: bool,
    /// Whether a sync has failed since the node started: what was acknowledged without one may be gone.
    pub has_sync_failed: bool,
    /// The answer.
    pub answer: &'a Answer<'a>,
    /// What is true.
    pub truth: &'a Truth,
}
