//! A start once more, in which one of its reads goes wrong once.
//!
//! Promises: the read is one that the start made while it looked for the first time, drawn from all of those by a word
//! of its own. Leaves out: what follows for the verdict, and what goes wrong while a plan is carried out, which
//! schedules do.

use std::ops::Range;

use recovery_core::decide::Disposition;
use recovery_core::format::FileName;
use recovery_core::observe::{Residue, Stop};
use recovery_core::storage::{Call, Errno, Name};

use super::again::{Again, Found};
use super::boot::{self, Boot, Sight};
use super::look;
use super::varied::{Change, Misread};
use crate::disk::{Cause, Disturbance, Event, FileId, Injection, View};
use crate::oracle::invariants::{Expected, check_misread, has_run_out};
use crate::oracle::sample::Question;
use crate::oracle::{Check, Value, Violation, reference};
use crate::schedule::{CallPoint, FaultKind, Times};

/// One start in so many is asked where nothing is damaged: each read of it is that of a whole log, or of a whole ledger.
const SHARE_OF_WHOLE: u64 = 8;
/// One start in so many is asked where a log ends in something else.
const SHARE_OF_DAMAGED: u64 = 2;

/// A position behind the end of any file, where the medium holds zeros.
const BEHIND_ALL: u64 = 1 << 40;

/// What a read is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Log,
    Index,
    /// The ledger or a superblock.
    Other,
}

impl Again<'_> {
    /// I18: a read that goes wrong once.
    pub(super) fn misread(&mut self) -> Vec<Found> {
        let reads = reads(self.calls, &self.boot.looked).count() as u64;
        if reads == 0 || !self.circumstances.sees_truth {
            return Vec::new();
        }
        let choices = reads * Misread::ONCE.len() as u64;
        let share = if is_whole(self.boot) { SHARE_OF_WHOLE } else { SHARE_OF_DAMAGED };
        let drawn = self.sample.choices(Question::Misread, self.nth, choices * share);
        let mut found = Vec::new();
        for choice in drawn.filter(|choice| *choice < choices) {
            // One is enough.
            if found.is_empty() {
                found = self.misread_by(choice);
            }
        }
        found
    }

    fn misread_by(&mut self, choice: u64) -> Vec<Found> {
        let kinds = Misread::ONCE.len() as u64;
        let at = usize::try_from(choice / kinds).expect("a start makes few reads");
        let nth = reads(self.calls, &self.boot.looked).nth(at);
        let (call, read) = nth.expect("a choice is one of the reads");
        let kind = usize::try_from(choice % kinds).expect("there are few kinds");
        self.one_misread(Misread::ONCE[kind], call, read)
    }

    fn one_misread(&mut self, misread: Misread, call: u32, read: Event) -> Vec<Found> {
        self.node.disk.restore(&self.moments.before);
        let of = self.read_of(&read);
        let injection = self.injection(misread, call, &read);
        let again = self.start_through_injection(injection);
        if has_run_out(&self.boot.facts) {
            return Vec::new();
        }
        let change = Change::Misread { misread, call, about: None };
        if has_run_out(&again.facts) {
            let (enough, used_up) = (Value::Code("enough"), Value::Code("used-up"));
            let subject = "what may be looked at behind a read that went wrong once";
            let violation = Violation::new(Check::I18, subject, enough, used_up);
            // Where two readings differ, nothing is judged.
            let is_judged = !matches!(again.verdict.disposition, Disposition::Unavailable(_));
            let found = (is_judged && !self.can_run_out()).then_some(violation);
            return self.found(&change, &again, found.into_iter().collect());
        }
        // A log counts as unreadable by two reads that fail. Where it is whole the next one shows that.
        let is_asked_again = of == Read::Log && (misread == Misread::Failed || is_whole(self.boot));
        let expected = Expected {
            subject: "the verdict behind a read that went wrong once",
            may_be_unavailable: !is_asked_again,
            // What an index says of one read is no matter of what is served, and it has no checksum.
            but_for_indexes: of == Read::Index,
            // What lies behind damage is read once before it is refused.
            for_any_reason: of != Read::Other && !is_asked_again,
            may_be_refused: of == Read::Log && !is_asked_again && ends_in_zeros(self.boot),
        };
        let (first, second) = ((&self.boot.verdict, &self.boot.plan), (&again.verdict, &again.plan));
        let violation = check_misread(&expected, first, second).filter(|_| !self.is_right(misread, &read));
        let about = violation.is_some().then(|| self.told(&read, &[&self.moments.before]));
        self.found(&Change::Misread { misread, call, about }, &again, violation.into_iter().collect())
    }

    /// Whether what lies there holds bait: then one wrong read may decide what the budgets are enough for.
    fn can_run_out(&self) -> bool {
        let Some(judged) = self.boot.carried.as_ref().or(self.boot.before.as_ref()) else { return true };
        !reference::recover(&judged.directory, &boot::expectation(self.slot())).is_all_found()
    }

    /// The start again, on the disk as it is now, with one thing going wrong in it.
    pub(super) fn start_through_injection(&mut self, injection: Injection) -> Boot {
        self.node.disk.begin_step(&[injection]);
        let again = self.start(Sight::NOTHING);
        let outcome = self.node.disk.end_step();
        assert!(outcome.missed == 0, "a start that makes its calls again comes to the one that goes wrong");
        again
    }

    /// Whether the read shows, by chance, what was written where a fault has put something else: of a batch that is damaged
    /// in truth, each byte is right there or in that read.
    fn is_right(&mut self, misread: Misread, read: &Event) -> bool {
        self.node.disk.restore(&self.moments.before);
        let slot = self.slot();
        let is_it = |name: &Name| {
            let file = look::file(&self.node.disk, &slot.components, name);
            file.filter(|file| file.number() == read.object)
        };
        let mut segments = self.boot.facts.segments.iter().map(|segment| segment.start);
        let found = segments.find_map(|segment| Some((segment, is_it(&FileName::log(segment))?)));
        let Some((segment, file)) = found else { return false };
        let lying = self.node.disk.contents_of(file, View::Visible);
        let mut shown = lying.clone();
        self.show(&mut shown, misread, read);
        let written = slot.truth.writes().iter().filter(|write| write.segment == segment);
        let mut batches = written.map(|write| (write.position, slot.truth.bytes_of(write)));
        batches.any(|(position, bytes)| {
            let from = usize::try_from(position).expect("a simulated file fits memory");
            let there = (from..from + bytes.len()).map(|at| [lying.get(at), shown.get(at)]);
            let mut each = bytes.iter().zip(there);
            lying.get(from..from + bytes.len()) != Some(bytes)
                && each.all(|(byte, there)| there.contains(&Some(byte)))
        })
    }

    /// Puts what a wrong read shows in the place of what lies there.
    fn show(&self, bytes: &mut [u8], misread: Misread, read: &Event) {
        let index = |at: u64| usize::try_from(at).expect("a simulated file fits memory");
        let upto = index(read.position + read.length).min(bytes.len());
        let range = &mut bytes[index(read.position).min(upto)..upto];
        match misread {
            Misread::Zeros => range.fill(0),
            Misread::Flipped if !range.is_empty() => {
                let (byte, bit) = self.flipped();
                range[index(byte % range.len() as u64)] ^= 1 << bit;
            }
            Misread::Flipped | Misread::Failed | Misread::Elsewhere => {}
        }
    }

    /// Which byte of a read is shown wrongly, modulo its length, and which bit of it.
    fn flipped(&self) -> (u64, u8) {
        let place = self.sample.place(self.nth);
        (place, place.to_le_bytes()[7] % 8)
    }

    pub(super) fn injection(&self, misread: Misread, call: u32, read: &Event) -> Injection {
        let (kind, disturbance) = match misread {
            Misread::Flipped => {
                let (byte, bit) = self.flipped();
                (FaultKind::TransientReadCorruption, Disturbance::CorruptRead { byte, bit })
            }
            Misread::Zeros => {
                let file = self.file_of(read);
                (FaultKind::MisdirectedRead, Disturbance::MisdirectRead { file, position: BEHIND_ALL })
            }
            Misread::Failed => (FaultKind::ReadError, Disturbance::Fail { errno: Errno::IO }),
            Misread::Elsewhere => unreachable!("what it shows is laid first"),
        };
        Injection {
            at: CallPoint { on: None, call },
            times: Times::Count(1),
            cause: Some(Cause::Fault(kind)),
            disturbance,
        }
    }

    fn file_of(&self, read: &Event) -> FileId {
        let file = self.node.disk.file_ids().find(|file| file.number() == read.object);
        file.expect("what a start has read is a file")
    }

    fn read_of(&self, read: &Event) -> Read {
        let slot = &self.node.slots[self.index];
        let is = |name: Name| {
            let file = look::file(&self.node.disk, &slot.components, &name);
            file.is_some_and(|file| file.number() == read.object)
        };
        let mut segments = self.boot.facts.segments.iter().map(|segment| segment.start);
        if segments.clone().any(|segment| is(FileName::log(segment))) {
            Read::Log
        } else if segments.any(|segment| is(FileName::index(segment))) {
            Read::Index
        } else {
            Read::Other
        }
    }
}

/// Whether every log goes on in whole batches to its end.
fn is_whole(boot: &Boot) -> bool {
    boot.facts.segments.iter().all(|segment| segment.stop.stop() == Stop::End)
}

/// Whether zeros are all that follows the prefix of some log.
fn ends_in_zeros(boot: &Boot) -> bool {
    boot.facts.segments.iter().any(|segment| segment.residue.kind == Residue::Zeros)
}

/// The reads among the calls that a start made while it looked, each with its number, counted from 1.
pub(super) fn reads<'a>(
    calls: &'a [Event],
    looked: &Range<usize>,
) -> impl Iterator<Item = (u32, Event)> + use<'a> {
    let looking = calls.iter().zip(1_u32..).skip(looked.start).take(looked.len());
    let reads =
        looking.filter(|(call, _)| call.call == Call::Read && call.errno.is_none() && call.length > 0);
    reads.map(|(call, number)| (number, *call))
}
