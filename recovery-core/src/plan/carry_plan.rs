//! The plan that carries batches over which lie behind damage that the operator has accepted (DESIGN section 8).
//!
//! Promises: each run of batches is a durable segment before the log that held it is sealed, and what a new
//! segment takes the place of is in a fence before; runs go from the last to the first, each name durable before
//! the next, so that a crash leaves only such names as a repeat can go on behind. Leaves out: all else that is to
//! be done with the partition; it is looked at again, and then has a plan of its own.

use super::{Plan, Step};
use crate::decide::{Piece, pieces};
use crate::format::FileName;
use crate::observe::PartitionFacts;
use crate::storage::Name;
use crate::units::{Length, Offset, Position, SegmentStart};

/// Lists what carries over, for facts whose chain holds together. No message gets an offset below `survivors`.
pub(super) fn carry(facts: &PartitionFacts, survivors: Option<Offset>) -> Plan {
    let pieces = pieces(facts);
    let mut steps = Vec::new();
    save(facts, &pieces, &mut steps);
    reserve(facts, &pieces, survivors, &mut steps);
    for piece in pieces.iter().rev() {
        stage(piece, &mut steps);
    }
    for (index, piece) in pieces.iter().enumerate().rev() {
        if piece.run.is_some() || piece.segment.accepts_loss {
            record(facts, piece, pieces.get(index + 1), &mut steps);
        }
    }
    Plan { steps }
}

/// What a new segment takes the place of, and scratch that lies under a name to stage under, get into a fence.
fn save(facts: &PartitionFacts, pieces: &[Piece<'_>], steps: &mut Vec<Step>) {
    let mut saved = Vec::new();
    for piece in pieces.iter().filter(|piece| piece.replaces()) {
        let (segment, residue) = (piece.segment.start, &piece.segment.residue);
        let (position, length) = (piece.segment.proven.end, residue.length);
        let checksum = residue.checksum.expect("a residue with batches in it was read whole");
        saved.push(Step::SaveResidue { segment, position, length, checksum: Some(checksum) });
    }
    let in_the_way: Vec<Name> = pieces
        .iter()
        .filter(|piece| piece.staged().is_some())
        .map(|piece| FileName::log_staging(piece.start))
        .filter(|name| facts.listing.scratch.contains(name))
        .collect();
    if saved.is_empty() && in_the_way.is_empty() {
        return;
    }
    let identify = |file: &Name| Step::Identify { file: *file, position: Position::ZERO, length: None };
    steps.extend(in_the_way.iter().map(identify));
    steps.push(Step::MakeFence);
    steps.extend(saved);
    steps.extend([Step::WriteReason, Step::SyncFence]);
    steps.extend(in_the_way.iter().map(|file| Step::SetAside { file: *file }));
    if !in_the_way.is_empty() {
        steps.extend([Step::SyncFence, Step::SyncDirectory]);
    }
}

/// A survivor that no run carries may be none when the partition is looked at again: its log is replaced, or the
/// chain reaches into it by then. Its offsets are remembered before.
fn reserve(facts: &PartitionFacts, pieces: &[Piece<'_>], survivors: Option<Offset>, steps: &mut Vec<Step>) {
    let Some(offset) = survivors.filter(|_| pieces.iter().any(|piece| piece.run.is_some())) else { return };
    let chain = pieces.last().map(|piece| piece.next_offset);
    let reserved = facts.ledger.known().map(|ledger| ledger.newest.reserved_offset);
    if chain.max(reserved) < Some(offset) {
        steps.push(Step::ReserveOffset { offset });
    }
}

fn stage(piece: &Piece<'_>, steps: &mut Vec<Step>) {
    let Some(run) = piece.staged() else { return };
    let prefix = if piece.replaces() { piece.segment.proven.end.as_length() } else { Length::ZERO };
    let segment = piece.segment.start;
    let (position, length, mark) = (run.position, run.length, piece.mark());
    steps.push(Step::StageRun { segment, prefix, position, length, mark });
    steps.push(Step::InstallRun { segment: piece.start });
    steps.push(Step::SyncDirectory);
}

/// The segment ends where it does, and the loss is dealt with.
fn record(facts: &PartitionFacts, piece: &Piece<'_>, next: Option<&Piece<'_>>, steps: &mut Vec<Step>) {
    let mark = piece.mark();
    let given_up = facts.ledger.known().and_then(|ledger| ledger.gaps.iter().map(|gap| gap.next).max());
    let next_start = match next {
        Some(next) => Some(next.start),
        // Behind the last segment: only where offsets were given up. A segment that is not sealed goes on.
        None => given_up.filter(|next| *next > mark.next_offset).map(SegmentStart::at),
    };
    steps.push(match next_start {
        Some(next_start) => Step::RecordSealed { mark, next_start },
        None => Step::RecordFrontier { mark },
    });
}
