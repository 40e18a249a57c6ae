//! What the whole ledger file says about a partition (DESIGN section 4).
//!
//! Promises: records count by identity, epoch and slot; what a later record voids is gone from here.
//! Leaves out: what follows for a segment ([`super::relation`]).

use super::ledger_record::{Kind, Mark, RECORD_BYTES, Record, read};
use crate::oracle::{Content, Image};

/// The evidence of one ledger that is this partition's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Testimony {
    /// The life of the partition that the ledger speaks of.
    pub(super) incarnation: u64,
    /// The chain starts here.
    pub(super) floor: u64,
    /// No smaller offset will be minted.
    pub(super) reserved_offset: u64,
    /// Whether the newest valid record is a clean stop.
    pub(super) is_clean_stop: bool,
    /// Every mark that is not void, in the order of their slots; those of one segment ascend.
    pub(super) marks: Vec<Mark>,
    /// Every seal that is not void.
    pub(super) seals: Vec<Seal>,
    /// Every range that the operator gave up.
    pub(super) accepted_losses: Vec<Gap>,
    /// Segments whose newest mark is where the operator accepted a loss.
    pub(super) accepting: Vec<u64>,
}

/// How a segment was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seal {
    pub(super) segment: u64,
    pub(super) length: u64,
    pub(super) next_offset: u64,
    /// Of the batches before its end.
    pub(super) chain_hash: u64,
    pub(super) next_start: u64,
}

/// Offsets that nobody holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) first: u64,
    /// Inclusive.
    pub(super) last: u64,
}

/// Whose ledger a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ledger {
    /// Nobody's: not one valid record.
    None,
    /// Valid records, and all of another partition or another life.
    Foreign,
    /// This partition's.
    Own(Testimony),
}

/// The bytes of the ledger, none if there is no such file; `None` if some of it cannot be read.
pub(super) fn bytes(image: &Image) -> Option<&[u8]> {
    match image.find(b"ledger") {
        Some(Content::File(file)) => file.is_readable().then_some(&file.bytes),
        Some(Content::Unopenable) => None,
        None | Some(Content::Directory | Content::Other) => Some(&[]),
    }
}

/// Reads a whole ledger file for the partition `namespace`, in the life `incarnation` if that is known.
pub(super) fn hear(bytes: &[u8], namespace: u64, incarnation: Option<u64>) -> Ledger {
    // Behind the end of a file there are zeros, as soon as anything is written further on.
    let whole = |chunk: &[u8]| {
        let mut record = [0; RECORD_BYTES];
        record[..chunk.len()].copy_from_slice(chunk);
        record
    };
    // A record counts only in its own slot: a copied or misdirected one lies elsewhere.
    let in_place: Vec<Record> = bytes
        .chunks(RECORD_BYTES)
        .zip(0_u64..)
        .filter_map(|(chunk, slot)| read(&whole(chunk)).filter(|record| record.slot == slot))
        .collect();
    let Some(incarnation) = incarnation.or_else(|| only_incarnation(&in_place, namespace)) else {
        return if in_place.is_empty() { Ledger::None } else { Ledger::Foreign };
    };
    let own = |record: &&Record| record.namespace == namespace && record.incarnation == incarnation;
    let epoch = in_place.iter().filter(own).map(|record| record.epoch).max();
    let Some(epoch) = epoch else {
        return if in_place.is_empty() { Ledger::None } else { Ledger::Foreign };
    };
    let counting: Vec<Record> =
        in_place.iter().filter(own).filter(|record| record.epoch == epoch).copied().collect();
    Ledger::Own(testimony_of(&counting))
}

/// Where the caller knows no incarnation, the records of the namespace say which one it is, unless they differ.
fn only_incarnation(records: &[Record], namespace: u64) -> Option<u64> {
    let mut named = records.iter().filter(|record| record.namespace == namespace);
    let first = named.next()?.incarnation;
    named.all(|record| record.incarnation == first).then_some(first)
}

/// Records of one identity and one epoch, in the order of their slots; at least one.
fn testimony_of(records: &[Record]) -> Testimony {
    let newest = records.last().expect("a testimony has at least one record");
    let mut testimony = Testimony {
        incarnation: newest.incarnation,
        floor: newest.floor,
        reserved_offset: newest.reserved_offset,
        is_clean_stop: newest.kind == Kind::CleanStop,
        marks: Vec::new(),
        seals: Vec::new(),
        accepted_losses: Vec::new(),
        accepting: Vec::new(),
    };
    for record in records {
        testimony.add(record);
    }
    testimony.marks.retain(|mark| mark.segment >= newest.floor);
    testimony.seals.retain(|seal| seal.segment >= newest.floor);
    testimony
}

impl Testimony {
    fn add(&mut self, record: &Record) {
        let Some(mark) = record.mark else { return };
        // The newest mark of a segment decides: a seal that it does not agree with is void. One of the same length over
        // other bytes spoke of a log that was cut and written anew.
        let agrees = |seal: &Seal| {
            seal.length == mark.position
                && seal.next_offset == mark.next_offset
                && seal.chain_hash == mark.chain_hash
        };
        self.seals.retain(|older| older.segment != mark.segment || agrees(older));
        self.accepting.retain(|segment| *segment != mark.segment);
        match record.kind {
            Kind::AcceptedLoss { first, last } => {
                // It touches the segment whose prefix it ends, and those that start in the lost range.
                let next = last.wrapping_add(1);
                let touches = |segment| segment == mark.segment || (mark.segment < segment && segment < next);
                self.marks.retain(|older| !touches(older.segment));
                self.seals.retain(|older| !touches(older.segment));
                self.accepting.retain(|segment| !touches(*segment));
                self.accepting.push(mark.segment);
                if first < next {
                    self.accepted_losses.push(Gap { first, last });
                }
            }
            Kind::Sealed { next_start } => {
                self.seals.retain(|older| older.segment != mark.segment);
                self.seals.push(Seal {
                    segment: mark.segment,
                    length: mark.position,
                    next_offset: mark.next_offset,
                    chain_hash: mark.chain_hash,
                    next_start,
                });
            }
            Kind::Opened
            | Kind::Frontier
            | Kind::Floor
            | Kind::Reserved
            | Kind::Recovered
            | Kind::CleanStop => {}
        }
        // A later mark that is lower speaks of a log that was cut since.
        self.marks.retain(|older| older.segment != mark.segment || older.position < mark.position);
        self.marks.push(mark);
    }

    /// The newest mark of a segment: by slot, not the highest.
    pub(super) fn newest_mark(&self, segment: u64) -> Option<Mark> {
        self.marks.iter().rev().find(|mark| mark.segment == segment).copied()
    }

    /// Every mark of a segment: what a walk checks on the way to the newest one.
    pub(super) fn marks_of(&self, segment: u64) -> Vec<Mark> {
        self.marks.iter().filter(|mark| mark.segment == segment).copied().collect()
    }

    /// The newest segment that has a mark.
    pub(super) fn newest_marked_segment(&self) -> Option<u64> {
        self.marks.iter().map(|mark| mark.segment).max()
    }

    /// How a segment was closed, if it was.
    pub(super) fn seal(&self, segment: u64) -> Option<Seal> {
        self.seals.iter().find(|seal| seal.segment == segment).copied()
    }

    /// Where a segment ends by the records: at its seal, or where a loss was accepted.
    pub(super) fn end(&self, segment: u64) -> Option<u64> {
        let accepted = self.accepting.contains(&segment).then(|| self.newest_mark(segment)).flatten();
        self.seal(segment).map(|seal| seal.length).or(accepted.map(|mark| mark.position))
    }

    /// Every recorded gap, from its first offset to the one behind its last.
    pub(super) fn gaps(&self) -> Vec<(u64, u64)> {
        let sealed = self.seals.iter().map(|seal| (seal.next_offset, seal.next_start));
        let lost = self
            .accepted_losses
            .iter()
            .filter_map(|gap| gap.last.checked_add(1).map(|next| (gap.first, next)));
        sealed.chain(lost).filter(|(first, next)| first < next && *next > self.floor).collect()
    }

    /// Whether records explain that just the offsets from `first` to before `next` are missing. Several may
    /// do so together, but none that reaches out of the gap: it was written for another one.
    pub(super) fn explains_gap(&self, first: u64, next: u64) -> bool {
        let sealed = self.seals.iter().map(|seal| (seal.next_offset, seal.next_start));
        let lost = self
            .accepted_losses
            .iter()
            .filter_map(|gap| gap.last.checked_add(1).map(|next| (gap.first, next)));
        let inside: Vec<(u64, u64)> =
            sealed.chain(lost).filter(|gap| first <= gap.0 && gap.1 <= next).collect();
        let mut explained_to = first;
        while let Some(gap) = inside.iter().find(|gap| gap.0 <= explained_to && explained_to < gap.1) {
            explained_to = gap.1;
        }
        explained_to == next
    }
}
