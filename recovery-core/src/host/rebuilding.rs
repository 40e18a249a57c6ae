//! A partition of which peers are asked for what this node does not hold.
//!
//! Promises: what verifies here stays where it is; it is neither served nor counted as held; what is asked
//! for is only what is missing or damaged (N21). Leaves out: asking, and installing
//! ([`super::installing`]).

use super::installing::Installing;
use super::slot::SlotState;
use super::{Cause, Host, HostError};
use crate::decide::Reason;
use crate::observe::PartitionFacts;
use crate::storage::Storage;
use crate::units::{Namespace, Offset};

/// How often a range must have been unreadable in a row before peers are asked for it.
pub const UNREADABLE_TRIES: u8 = 3;

/// Offsets from `first` on, up to `next` or without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetRange {
    /// The first.
    pub first: Offset,
    /// One behind the last; `None` if only a peer knows where it ends.
    pub next: Option<Offset>,
}

/// Why peers are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RebuildCause {
    /// What lies here is refused, or gone.
    Refused(Reason),
    /// Offsets that were promised are not here, and the rest is whole.
    Gap(OffsetRange),
    /// A range of a log could not be read, and that at every try.
    Unreadable(Cause),
}

/// The state of such a partition.
pub(super) struct Rebuilding<S: Storage> {
    pub(super) cause: RebuildCause,
    /// What was found here; `None` if there is no directory.
    pub(super) facts: Option<Box<PartitionFacts>>,
    /// A copy that comes from a peer.
    pub(super) installing: Option<Box<Installing<S>>>,
}

impl<S: Storage> Rebuilding<S> {
    /// The offsets to ask for, ascending.
    pub(super) fn wanted(&self) -> Vec<OffsetRange> {
        match (&self.cause, &self.facts) {
            (RebuildCause::Gap(gap), _) => vec![*gap],
            (RebuildCause::Refused(_) | RebuildCause::Unreadable(_), Some(facts)) => missing_from(facts),
            (RebuildCause::Refused(_) | RebuildCause::Unreadable(_), None) => {
                vec![OffsetRange { first: Offset::ZERO, next: None }]
            }
        }
    }
}

impl<S: Storage> Host<S> {
    /// The offsets that peers are to be asked for, ascending; none unless the partition waits for them.
    pub fn wanted(&self, namespace: Namespace) -> Vec<OffsetRange> {
        self.rebuilding(namespace).map_or_else(Vec::new, Rebuilding::wanted)
    }

    /// What was found here of a partition that waits for peers; `None` if there is no directory.
    pub fn local_facts(&self, namespace: Namespace) -> Option<&PartitionFacts> {
        self.rebuilding(namespace)?.facts.as_deref()
    }

    /// The offsets that this node counts as holding: none of a partition that is not served.
    pub fn holds(&self, namespace: Namespace) -> Option<OffsetRange> {
        let chain = self.writer(namespace)?.chain();
        let first = chain.segments().first()?.start.offset();
        Some(OffsetRange { first, next: chain.next_offset() })
    }

    /// Says that a quorum never held the offsets that are asked for, or that retention has removed them wherever they
    /// were, and that offsets go on at `next`: the partition is judged again, and the gap is recorded. `next` is the
    /// largest of what the replicas of that quorum have reserved: else an offset that one of them has promised away would
    /// be given to another batch here (I08), and no copy of this one would ever be taken there, since it ends before what
    /// was durable. One that is below what is reserved here changes nothing.
    ///
    /// # Errors
    ///
    /// [`HostError::NoSuchPartition`]; [`HostError::WrongState`] unless only a gap is asked for.
    pub fn nobody_holds_gap(
        &mut self,
        storage: &S,
        namespace: Namespace,
        next: Offset,
    ) -> Result<(), HostError> {
        let no_such = HostError::NoSuchPartition { namespace };
        let key = self.newest(namespace).ok_or(no_such)?;
        let slot = self.slots.get_mut(&key).ok_or(no_such)?;
        let state = slot.state.summary().code();
        match &slot.state {
            SlotState::Rebuilding(rebuilding) if matches!(rebuilding.cause, RebuildCause::Gap(_)) => {
                slot.gap_settled = Some(next);
                self.set(storage, &key, SlotState::Waiting);
                Ok(())
            }
            SlotState::Rebuilding(_)
            | SlotState::Created
            | SlotState::Waiting
            | SlotState::Recovering(_)
            | SlotState::Served(_)
            | SlotState::Refused(_)
            | SlotState::Unavailable(_)
            | SlotState::Deleting(_) => Err(HostError::WrongState { namespace, state }),
        }
    }

    pub(super) fn rebuilding(&self, namespace: Namespace) -> Option<&Rebuilding<S>> {
        match &self.slots.get(&self.newest(namespace)?)?.state {
            SlotState::Rebuilding(rebuilding) => Some(rebuilding),
            SlotState::Created
            | SlotState::Waiting
            | SlotState::Recovering(_)
            | SlotState::Served(_)
            | SlotState::Refused(_)
            | SlotState::Unavailable(_)
            | SlotState::Deleting(_) => None,
        }
    }
}

/// All offsets that no verified batch here holds, in the chain or behind damage, and no record says that nobody holds.
fn missing_from(facts: &PartitionFacts) -> Vec<OffsetRange> {
    let ledger = facts.ledger.known();
    let gaps = ledger.map_or(&[][..], |ledger| &ledger.gaps);
    let mut next = ledger.map_or(Offset::ZERO, |ledger| ledger.newest.floor.offset());
    let mut missing = Vec::new();
    let mut hold = |first: Offset, behind: Offset| {
        let is_recorded = gaps.iter().any(|gap| gap.first == next && gap.next == first);
        if first > next && !is_recorded {
            missing.push(OffsetRange { first: next, next: Some(first) });
        }
        next = next.max(behind);
    };
    for segment in &facts.segments {
        hold(segment.start.offset(), segment.proven.next_offset);
        for survivor in &segment.residue.survivors {
            if let Some(behind) = survivor.base_offset.checked_add(u64::from(survivor.message_count)) {
                hold(survivor.base_offset, behind);
            }
        }
    }
    missing.push(OffsetRange { first: next, next: None });
    missing
}
