//! I07 of a start: it goes on at most behind the last offset that was ever on its way to the disk.
//!
//! Asked of every start that serves, on bytes that no damage has hit and no read has misshown. Offsets that a batch was
//! given and that no call began to write are given again (G14), so a gap over them has no reason. Does not claim that a
//! gap below that is right, which [`super::check_served`] and the reference do.

use crate::oracle::boot_view::BootView;
use crate::oracle::reference::recover;
use crate::oracle::{Check, Violation};

/// What is wrong with the offset that a start goes on at, if anything is.
pub fn check_not_skipped(view: &BootView<'_>) -> Option<Violation> {
    let next = view.verdict.next_offset.filter(|_| view.verdict.is_served())?;
    let most = view.truth.goes_on_at_most();
    let is_asked = view.sees_truth && view.truth.damages.is_empty() && next > most;
    // Blocks of somebody else's that a crash has left in a file may hold batches that verify here, and go further.
    let before = view.before.filter(|_| is_asked)?;
    let found = recover(&before.directory, &view.expectation);
    if found.survivors().any(|(_, end)| end >= next) || found.segments.iter().any(|at| at.next_offset >= next)
    {
        return None;
    }
    let subject = "the next offset of a start at most";
    Some(Violation::new(Check::I07, subject, most.into(), next.into()))
}
