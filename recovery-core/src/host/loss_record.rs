//! Says in the ledger what an operator gives up.
//!
//! Promises: what a crash leaves of it is refused, or is all of it; no offset that was held or lost is minted again.
//! Leaves out: which ranges may be named ([`super::accept_loss`]).

use crate::decide::Losses;
use crate::format::{FileName, LedgerKind};
use crate::ledger::{LedgerError, LedgerWriter, NewLedger};
use crate::observe::PartitionFacts;
use crate::storage::{Call, Errno, PartitionDirectory, Storage, StorageError};
use crate::units::{Incarnation, Offset, SegmentStart};

/// Says in the ledger what is accepted, and makes that durable.
pub(super) fn record<S: Storage>(
    storage: &S,
    partition: &PartitionDirectory<S>,
    facts: &PartitionFacts,
    losses: &Losses,
    new_ledger: Option<Incarnation>,
) -> Result<(), StorageError> {
    let kinds: Vec<_> =
        losses.records.iter().map(|loss| loss.record().expect("a life was named to hash for")).collect();
    let written = if let Some(ledger) = facts.ledger.known() {
        LedgerWriter::open(storage, &partition.directory, ledger).and_then(|mut ledger| {
            let end = known_end(facts, losses);
            let written = say(storage, &mut ledger, &kinds, end, losses.floor);
            ledger.close(storage);
            written
        })
    } else {
        let new = NewLedger {
            namespace: facts.namespace,
            incarnation: new_ledger.expect("a life was named to hash for"),
            durability: facts.durability,
            epoch: 1,
            generation: 0,
            floor: facts.segments.first().map_or(SegmentStart::ZERO, |first| first.start),
            reserved_offset: known_end(facts, losses),
        };
        LedgerWriter::create_saying(storage, &partition.directory, &new, &kinds)
            .map(|ledger| ledger.close(storage))
    };
    written.map_err(|error| cause(&error))
}

/// Appends what is accepted, and raises the floor where the front is.
///
/// `end`, behind all that was held or lost, is reserved first and the range that reaches furthest is durable before the
/// others: an earlier one alone would void the marks of its segment, and with them all that tells of offsets behind
/// what still verifies, which would be minted again. What a crash leaves then is refused for a hole, and the same words
/// repeat it. The floor comes behind records that are durable: of a floor alone nobody could tell that it was not
/// retention that raised it, and a repeat would be told that its range is wrong.
fn say<S: Storage>(
    storage: &S,
    ledger: &mut LedgerWriter<S>,
    kinds: &[LedgerKind],
    end: Offset,
    floor: Option<SegmentStart>,
) -> Result<(), LedgerError> {
    if ledger.newest().reserved_offset < end {
        ledger.reserve(storage, end)?;
    }
    let mut furthest_first = kinds.iter().rev();
    if let Some(furthest) = furthest_first.next() {
        ledger.append(storage, *furthest)?;
        ledger.sync(storage)?;
    }
    furthest_first.try_for_each(|kind| ledger.append(storage, *kind))?;
    ledger.sync(storage)?;
    let Some(floor) = floor else { return Ok(()) };
    ledger.raise_floor(storage, floor)?;
    ledger.sync(storage)
}

/// One behind the largest offset that is held or lost: none of them is minted again.
fn known_end(facts: &PartitionFacts, losses: &Losses) -> Offset {
    let lost = losses.records.iter().map(|loss| loss.next);
    let proven = facts.segments.iter().map(|segment| segment.proven.next_offset);
    let carried = facts.segments.iter().flat_map(|segment| &segment.residue.runs).map(|run| run.next);
    lost.chain(proven).chain(carried).max().unwrap_or(Offset::ZERO)
}

/// What failed. A ledger that is not the one that was read is a file that changed under the command.
fn cause(error: &LedgerError) -> StorageError {
    let changed = StorageError { call: Call::Length, file: FileName::ledger(), errno: Errno::STALE };
    error.cause().unwrap_or(changed)
}
