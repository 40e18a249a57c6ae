//! I08: no promised offset, and none that a survivor in a fence holds, is given to another batch.
//!
//! Asked of every batch that is given offsets. Does not claim anything about offsets of batches that damage
//! took before their promise could be kept, unless their bytes were whole when a recovery cut them, nor
//! once the ledger, which remembers what was reserved, was damaged itself. Without a ledger only the names of
//! files say how far retention went, so nothing is claimed of what it gave up.

use crate::oracle::truth::{Life, Truth};
use crate::oracle::{Check, Violation};

/// A batch that held an offset before it was given to the `newest` write.
pub fn check_own_offsets(truth: &Truth, newest: usize) -> Option<Violation> {
    if truth.damages.explains_forgotten_offsets() {
        return None;
    }
    let (before, rest) = truth.writes().split_at(newest);
    let batch = rest.first()?;
    let holder = before.iter().find(|write| {
        let overlaps = write.base < batch.next && batch.base < write.next;
        let holds = match write.life {
            Life::Buffered | Life::Acknowledged | Life::Adopted => true,
            Life::Lost => write.is_fenced,
            Life::Retained => write.is_promised && truth.has_ledger,
            Life::Planted => false,
        };
        overlaps && holds
    })?;
    let subject = "the first offset of a new batch";
    Some(Violation::new(Check::I08, subject, holder.next.into(), batch.base.into()))
}
