//! A start once more, with bytes behind the newest log that nobody wrote, or with a ledger that lacks the zeros it ended in.
//!
//! Promises: what is laid is a whole batch that only what lies around it tells from one that was written here: in a message
//! behind a whole stranger it is no payload, and in a whole message of a damaged batch it is nothing else (N09). Asked
//! besides with one of the reads of it gone wrong (N13), and so is a whole batch behind bait that leaves nothing for second
//! looks (F46). Leaves out: what follows for the verdict, which the reference says.

use std::fmt;

use recovery_core::decide::Disposition;
use recovery_core::format::{BATCH_HEADER_BYTES, FileName, LEDGER_RECORD_BYTES};
use recovery_core::storage::Call;

use super::again::{Again, Found};
use super::boot::{self, Boot, Sight};
use super::look;
use super::plant;
use super::varied::{Change, Misread};
use crate::disk::{Cause, Damage, Event, View};
use crate::oracle::invariants::{
    Expected, check_misread, check_same_record, check_same_verdict, has_run_out,
};
use crate::oracle::sample::Question;
use crate::oracle::{Check, reference};
use crate::schedule::{BatchId, Plant};

/// One start in so many is asked about each of what may be laid behind its newest log.
const SHARE: u64 = 48;

/// One start in so many is asked about bait, where nothing tells what is promised.
const SHARE_OF_BAIT: u64 = 4;

/// Bytes of the innermost payload.
const PAYLOAD_BYTES: u32 = 60;

/// How many batches lie inside of the outermost one of bait, and the payload of the whole batch behind it: looking twice at
/// all that fails costs more than twice what there is, and looking at it once does not run any budget out.
const BAIT: (u8, u32) = (8, 1700);

/// Where in a header its checksum lies.
const CHECKSUM_AT: usize = 40;

/// What is laid, or taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Laid {
    /// A whole batch of another partition, and behind it a message in which a batch lies.
    Stranger,
    /// A damaged batch, and a batch in its one message, which is whole.
    Message,
    /// Batches inside of batches, the innermost of them damaged, and behind them a whole batch.
    Bait,
    /// One of those two, and one read goes wrong of the batch that is whole, or of the message.
    Misread {
        /// Whether it lies behind bait.
        is_bait: bool,
        /// How.
        misread: Misread,
        /// Which of the start's calls it is, counted from 1.
        call: u32,
    },
    /// The zeros are taken that the last record of the ledger ends in.
    ShorterLedger {
        /// How many.
        zeros: u64,
    },
}

impl Laid {
    /// What is laid behind the newest log.
    const BEHIND: [Self; 2] = [Self::Stranger, Self::Message];
}

impl Again<'_> {
    /// Reference, I18: what is laid behind the newest log is taken for what it is.
    pub(super) fn laid(&mut self) -> Vec<Found> {
        let drawn = self
            .sample
            .choices(Question::Laid, self.nth, SHARE * Laid::BEHIND.len() as u64)
            .filter(|choice| *choice < Laid::BEHIND.len() as u64);
        if !self.boot.verdict.is_served() || !self.circumstances.sees_truth {
            return Vec::new();
        }
        let mut laid: Vec<Laid> =
            drawn.map(|choice| Laid::BEHIND[usize::try_from(choice).expect("there are few kinds")]).collect();
        let drawn = self.sample.choices(Question::LaidBehindBait, self.nth, SHARE_OF_BAIT);
        if self.boot.facts.ledger.known().is_none() && drawn.into_iter().any(|choice| choice == 0) {
            laid.push(Laid::Bait);
        }
        let mut found = Vec::new();
        for laid in laid {
            // One is enough.
            if found.is_empty() {
                found = self.laid_behind(laid);
            }
        }
        found
    }

    fn laid_behind(&mut self, laid: Laid) -> Vec<Found> {
        self.node.disk.restore(&self.moments.before);
        let Some(from) = self.lay(laid) else { return Vec::new() };
        let again = self.start(Sight::ALL);
        if again.failed_to_act {
            // What was to be made could not be: an operator has put something else in its place.
            return Vec::new();
        }
        let expectation = boot::expectation(self.slot());
        let judged = again.before.as_ref().filter(|_| again.carried.is_none());
        let told = judged.map(|before| reference::recover(&before.directory, &expectation));
        let violation =
            told.and_then(|told| reference::agrees(&told, Some(&again.facts), &again.verdict).err());
        if violation.is_some() || laid == Laid::Stranger {
            return self.found(&Change::Laid(laid), &again, violation.into_iter().collect());
        }
        self.laid_and_misread(laid, &again, from)
    }

    /// I18: one of the reads goes wrong once of what lies there from a position on: a message that holds a batch, or a batch.
    fn laid_and_misread(&mut self, laid: Laid, first: &Boot, from: u64) -> Vec<Found> {
        let place = self.sample.place(self.nth);
        let is_of_it = |call: &Event| {
            call.call == Call::Read && call.errno.is_none() && call.length > 0 && call.position >= from
        };
        let Some(log) = self.newest_log() else { return Vec::new() };
        let looking =
            self.moments.calls.iter().zip(1_u32..).skip(first.looked.start).take(first.looked.len());
        let reads: Vec<(u32, Event)> = looking
            .filter(|(call, _)| call.object == log.number() && is_of_it(call))
            .map(|(call, number)| (number, *call))
            .collect();
        let Some(nth) = place.checked_rem(reads.len() as u64) else { return Vec::new() };
        let (call, read) = reads[usize::try_from(nth).expect("a start makes few reads")];
        let misread = if place >> 32 & 1 == 0 { Misread::Flipped } else { Misread::Zeros };
        self.node.disk.restore(&self.moments.before);
        self.lay(laid).expect("it was laid once");
        let injection = self.injection(misread, call, &read);
        let again = self.start_through_injection(injection);
        // What is refused stays refused. How many offsets are skipped may depend on what a budget was enough for.
        let is_refused = matches!(first.verdict.disposition, Disposition::Refuse(_));
        if !is_refused && (has_run_out(&first.facts) || has_run_out(&again.facts)) {
            return Vec::new();
        }
        let expected = Expected {
            may_be_unavailable: true,
            for_any_reason: true,
            ..Expected::the_same("the verdict behind a read that went wrong once of what was laid")
        };
        let violation =
            check_misread(&expected, (&first.verdict, &first.plan), (&again.verdict, &again.plan));
        let laid = Laid::Misread { is_bait: laid == Laid::Bait, misread, call };
        self.found(&Change::Laid(laid), &again, violation.into_iter().collect())
    }

    fn newest_log(&self) -> Option<crate::disk::FileId> {
        let newest = self.boot.facts.segments.last()?;
        look::file(&self.node.disk, &self.slot().components, &FileName::log(newest.start))
    }

    /// Lays it behind the end of the newest log, and says where what is asked about begins. `None`: there is none, it does not end in a whole
    /// batch, no offset is left, or the filesystem checksums data and does not show it.
    fn lay(&self, laid: Laid) -> Option<u64> {
        let disk = &self.node.disk;
        let newest = self.boot.facts.segments.last()?;
        let log = self.newest_log()?;
        let position = disk.length_of(log, View::Visible);
        if position != newest.proven.end.get() {
            return None;
        }
        let base = newest.proven.next_offset;
        base.checked_add(1)?;
        let own = self.slot().header.namespace;
        let nested = if laid == Laid::Bait { BAIT.0 } else { 1 };
        let nesting =
            Plant { messages: 1, payload_bytes: PAYLOAD_BYTES, nested, ..Plant::new(own, BatchId(0)) };
        let mut bytes = plant::batch(&nesting, base, 0);
        let mut from = position;
        match laid {
            Laid::Stranger => {
                let other = Plant {
                    messages: 0,
                    partition_id: Some(u64::from(!own.partition)),
                    ..Plant::new(own, BatchId(0))
                };
                let header = plant::batch(&other, base, 0);
                bytes.splice(..BATCH_HEADER_BYTES, header);
            }
            Laid::Message => {
                bytes[CHECKSUM_AT] ^= 1;
                from += BATCH_HEADER_BYTES as u64;
            }
            Laid::Bait => {
                *bytes.last_mut().expect("a batch has bytes") ^= 1;
                from += bytes.len() as u64;
                let behind = Plant { messages: 1, payload_bytes: BAIT.1, ..Plant::new(own, BatchId(0)) };
                bytes.extend(plant::batch(&behind, base.checked_add(1)?, 0));
            }
            Laid::Misread { .. } | Laid::ShorterLedger { .. } => return None,
        }
        disk.damage(log, Damage::Overwrite { position, bytes: &bytes }, Cause::Plant, false)?;
        disk.unreadable_bytes(log).is_empty().then_some(from)
    }

    /// I18: zeros that a record of the ledger ends in are there as soon as another one is written behind it, so a ledger that
    /// lacks them says the same.
    pub(super) fn shorter_ledger(&mut self) -> Vec<Found> {
        if self.boot.facts.ledger.known().is_none() || !self.circumstances.sees_truth {
            return Vec::new();
        }
        self.node.disk.restore(&self.moments.before);
        let Some(zeros) = self.shorten_ledger() else { return Vec::new() };
        let again = self.start(Sight::NOTHING);
        if again.failed_to_act {
            return Vec::new();
        }
        let subject = "the verdict on a ledger without its last zeros";
        let verdict = check_same_verdict(Check::I18, subject, (&self.boot.verdict, &again.verdict), false);
        let violation = verdict.or_else(|| check_same_record(newest_slot(self.boot), newest_slot(&again)));
        self.found(&Change::Laid(Laid::ShorterLedger { zeros }), &again, violation.into_iter().collect())
    }

    /// How many zeros were taken. `None`: the ledger does not end in a record that ends in any.
    fn shorten_ledger(&self) -> Option<u64> {
        let disk = &self.node.disk;
        let ledger = look::file(disk, &self.slot().components, &FileName::ledger())?;
        let bytes = disk.contents_of(ledger, View::Visible);
        // Where the cache hides damage to the medium, a shorter file would bring back what was there before it.
        if bytes != disk.contents_of(ledger, View::Durable) {
            return None;
        }
        let record = bytes.chunks(LEDGER_RECORD_BYTES).next_back()?;
        let zeros = record.iter().rev().take_while(|byte| **byte == 0).count();
        if zeros == 0 || zeros == record.len() {
            return None;
        }
        let damage = Damage::Length { length: (bytes.len() - zeros) as u64 };
        disk.damage(ledger, damage, Cause::Plant, false)?;
        disk.unreadable_bytes(ledger).is_empty().then_some(zeros as u64)
    }
}

/// The slot of the newest record of the ledger that counts.
fn newest_slot(boot: &Boot) -> Option<u64> {
    boot.facts.ledger.known().map(|ledger| ledger.newest.slot)
}

impl fmt::Display for Laid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stranger => formatter.write_str(
                "a batch of another partition lay behind the newest log, and behind it one in a message",
            ),
            Self::Message => formatter.write_str(
                "a damaged batch lay behind the newest log, and a batch in its message, which was whole",
            ),
            Self::Bait => formatter.write_str(
                "batches inside of batches lay behind the newest log, and a whole one behind them",
            ),
            Self::Misread { is_bait, misread, call } => {
                let laid = if *is_bait { Self::Bait } else { Self::Message };
                write!(formatter, "{laid}, and call {call}{misread}")
            }
            Self::ShorterLedger { zeros } => {
                write!(formatter, "the ledger was shorter by the zeros that it ended in, {zeros} of them")
            }
        }
    }
}
