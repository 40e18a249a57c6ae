//! The same start again, on a disk that is put back afterwards, for the checks that compare two starts.
//!
//! Promises: whatever is done here leaves no trace in the world: the disk goes back to the moment behind
//! the start, counters and recorded calls included. Leaves out: judging what is seen, which the invariants
//! do.

use recovery_core::format::FileName;
use recovery_core::observe::Workspace;
use recovery_core::plan::Step;
use recovery_core::storage::{Call, Name};

use super::boot::{self, Boot, Means, STEP_BYTES, Sight};
use super::look;
use super::meter::Meter;
use super::node::{Node, Slot};
use super::start::{Circumstances, bytes_read, is_an_answer};
use super::told::Paths;
use super::twin;
use super::variant::{self, Variant};
use super::varied::{CallTold, Change, Guise, Varied};
use crate::disk::{Disturbance, Event, Injection, Snapshot, SurvivorChoice, keep_small};
use crate::oracle::boot_view::BootView;
use crate::oracle::invariants::{
    SecondRun, check_adopted, check_interrupted, check_more_damage, check_recover_twice, check_same_verdict,
    check_twin, is_known_throughout,
};
use crate::oracle::sample::{Question, Sample};
use crate::oracle::{Violation, judge};
use crate::schedule::{CallPoint, Restart, Survivors, Times};

/// The moments of one start that are gone back to, and memory for the second looks.
#[derive(Debug, Default)]
pub(super) struct Moments {
    /// Before the start.
    pub(super) before: Snapshot,
    /// Behind it.
    behind: Snapshot,
    /// Calls of a second look.
    pub(super) calls: Vec<Event>,
}

/// What is wrong with a start, and what was changed where it showed in a second look.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) violation: Violation,
    pub(super) varied: Option<Box<Varied>>,
}

/// A start that is looked at again.
pub(super) struct Again<'a> {
    pub(super) node: &'a Node,
    pub(super) index: usize,
    pub(super) boot: &'a Boot,
    pub(super) circumstances: Circumstances,
    /// Whether it found batches that nobody wrote here and nobody can tell apart: a start that is cut short
    /// may have put them on record.
    pub(super) has_strangers: bool,
    /// Storage calls that the start made.
    pub(super) calls: &'a [Event],
    pub(super) sample: Sample,
    /// Which start of a partition it is, counted over the world.
    pub(super) nth: u64,
    pub(super) moments: &'a mut Moments,
    pub(super) workspace: &'a mut Workspace,
    pub(super) meter: &'a mut Meter,
}

impl Moments {
    /// Lets go of the room that only large steps needed.
    pub(super) fn rest(&mut self) {
        keep_small(&mut self.calls);
        self.before.rest();
        self.behind.rest();
    }

    /// Keeps the moment before a start.
    pub(super) fn keep_before(&mut self, node: &Node) {
        node.disk.snapshot(&mut self.before);
    }
}

impl Again<'_> {
    /// How a node goes down in a start, the process alone first.
    const ENDS: [(Restart, Survivors); 3] = [
        (Restart::Process, Survivors::All),
        (Restart::Power, Survivors::None),
        (Restart::Power, Survivors::All),
    ];

    /// Everything that is wrong with a start by another one like it.
    pub(super) fn violations(mut self) -> Vec<Found> {
        self.node.disk.snapshot(&mut self.moments.behind);
        // What is looked at here enters no digest.
        self.node.disk.record_contents(false);
        let mut found = Vec::new();
        if self.circumstances.goes_down {
            // The disk answers nothing until the node has gone down.
        } else if !self.circumstances.is_disturbed && self.circumstances.is_calm {
            found.extend(self.survives());
            found.extend(self.twice());
            found.extend(self.interrupted());
            found.extend(self.relations());
            found.extend(self.twin());
            found.extend(self.misread());
            found.extend(self.other_index());
            found.extend(self.failed_call());
            found.extend(self.short_reads());
            found.extend(self.signals());
            found.extend(self.bait());
            found.extend(self.laid());
            found.extend(self.shorter_ledger());
            found.extend(self.wrong_word());
        } else if self.boot.is_serving() {
            found.extend(self.in_spite_of_it());
        } else if !self.circumstances.is_calm {
            found.extend(self.once_it_clears());
        }
        self.node.disk.rewind(&self.moments.behind);
        self.node.disk.record_contents(true);
        found
    }

    /// Something was to go wrong in the start, and it serves: whatever failed or fell short, what it adopted
    /// is durable (I11), and where it saw what lies there, there is nothing left to do (I09).
    fn in_spite_of_it(&mut self) -> Vec<Found> {
        if !self.circumstances.writes_land {
            return Vec::new();
        }
        let mut found: Vec<Found> = self.survives().into_iter().collect();
        if self.circumstances.sees_truth {
            self.node.disk.begin_step(&[]);
            found.extend(self.twice());
        }
        found
    }

    pub(super) fn slot(&self) -> &Slot {
        &self.node.slots[self.index]
    }

    /// Starts the partition as the disk is now, with the errors of its calls noted.
    pub(super) fn start(&mut self, sight: Sight) -> Boot {
        let (boot, _service) =
            boot::start(&self.node.disk, &self.node.slots[self.index], self.workspace, self.meter, sight);
        self.node.disk.take_events(&mut self.moments.calls);
        boot
    }

    /// The process ends, and whatever went wrong in it with it.
    fn end_process(&self) {
        self.node.disk.crash(Restart::Process, &SurvivorChoice::of(Survivors::All));
    }

    /// I11: asked of the disk as it is.
    fn survives(&self) -> Option<Found> {
        if !self.boot.verdict.is_served() {
            return None;
        }
        let (disk, slot) = (&self.node.disk, self.slot());
        let directory = look::directory(disk, &slot.components)?;
        let cuts = self.boot.plan.repairs();
        let cut_steps = self.boot.plan.steps.iter().filter(|step| matches!(step, Step::CutLog { .. }));
        let cut: Vec<Name> = cut_steps.filter_map(Step::file).collect();
        // What is below the floor was neither looked at nor adopted.
        let expired: Vec<Name> = self.boot.facts.expired.iter().copied().map(FileName::log).collect();
        let violation = check_adopted(&self.boot.after, &slot.truth.damages, cuts, |fence, file, range| {
            if fence.is_none() && expired.contains(file) {
                return Ok(());
            }
            let home = fence.map_or(Some(directory), |fence| look::fence(disk, &slot.components, fence));
            home.map_or(Ok(()), |home| match fence {
                // A cut that a power loss takes back is a tail that comes back.
                None if cut.contains(file) => disk.is_file_durable(home, file),
                None | Some(_) => disk.is_durable(home, file, range),
            })
        });
        violation.map(|violation| Found { violation, varied: None })
    }

    /// I09: the process ends right behind the start, and the next one starts the partition again.
    fn twice(&mut self) -> Vec<Found> {
        self.end_process();
        let second = self.start(Sight::AFTER);
        let changing = || self.moments.calls.iter().filter(|call| changes(call.call));
        let (changing_calls, first_change) = (changing().count() as u64, changing().next().copied());
        let violations = check_recover_twice(SecondRun {
            first_verdict: &self.boot.verdict,
            second_verdict: &second.verdict,
            after_first: &self.boot.after,
            after_second: &second.after,
            changing_calls,
        });
        if violations.is_empty() || self.is_told_an_error(&second) {
            self.node.disk.restore(&self.moments.behind);
            return Vec::new();
        }
        let first_change = first_change.map(|call| self.told(&call, &[]));
        self.node.disk.restore(&self.moments.behind);
        self.found(&Change::Repeated { first_change }, &second, violations)
    }

    /// Whether an error that was due before the start came late, and was told to the second look.
    fn is_told_an_error(&self, again: &Boot) -> bool {
        self.moments.calls.iter().any(is_failure) && !again.is_serving()
    }

    /// I10: the node goes down at a call of the start, and starts again. A power loss there is judged as
    /// any start is.
    fn interrupted(&mut self) -> Vec<Found> {
        let mut found = Vec::new();
        let choices = self.calls.len() as u64 * Self::ENDS.len() as u64;
        let drawn = self.sample.choices(Question::InterruptedCall, self.nth, choices);
        let behind_cut = self.behind_cut().filter(|choice| !drawn.contains(choice));
        for choice in drawn.chain(behind_cut) {
            // One is enough, and each costs two starts: much, where one of them comes to no end.
            if !found.is_empty() {
                break;
            }
            let call = u32::try_from(choice / Self::ENDS.len() as u64 + 1).expect("a start makes few calls");
            let (restart, survivors) =
                Self::ENDS[usize::try_from(choice % Self::ENDS.len() as u64).expect("below 3")];
            let disk = &self.node.disk;
            disk.restore(&self.moments.before);
            disk.begin_step(&[Injection {
                at: CallPoint { on: None, call },
                times: Times::Count(1),
                cause: None,
                disturbance: Disturbance::Crash { restart, inside: None },
            }]);
            self.start(Sight::NOTHING);
            let disk = &self.node.disk;
            let is_down = disk.end_step().crashed.is_some();
            assert!(is_down, "a start that makes its calls again goes down at one of them");
            disk.crash(restart, &SurvivorChoice::of(survivors));
            // What is left by the end of a process is compared with the start that was not cut short.
            let sight = if restart == Restart::Process { Sight::AFTER } else { Sight::ALL };
            let again = self.start(sight);
            if self.is_told_an_error(&again) {
                continue;
            }
            let violations: Vec<Violation> = match restart {
                Restart::Process => {
                    check_interrupted((&self.boot.verdict, &self.boot.after), (&again.verdict, &again.after))
                        .into_iter()
                        .collect()
                }
                Restart::Os | Restart::Power if self.has_strangers => Vec::new(),
                Restart::Os | Restart::Power => self.judge(&again),
            };
            if !violations.is_empty() {
                let about = self
                    .calls
                    .get(call as usize - 1)
                    .map(|call| self.told(call, &[&self.moments.before, &self.moments.behind]));
                let change = Change::CutShort { call, about, restart, survivors };
                found = self.found(&change, &again, violations);
            }
        }
        found
    }

    /// The choice in which the process ends right behind the last cut, of a plan that reserves the offsets
    /// of survivors: no call may lie between the two at which they are forgotten. Such plans are few, and
    /// that call is one of many, so it is not left to the draw.
    fn behind_cut(&self) -> Option<u64> {
        let reserves = self.boot.plan.steps.iter().any(|step| matches!(step, Step::ReserveOffset { .. }));
        let calls_to_cut = self.calls.iter().rposition(|call| call.call == Call::SetLength);
        let calls = calls_to_cut.map(|calls| calls as u64 + 1);
        let calls = calls.filter(|calls| *calls < self.calls.len() as u64);
        calls.filter(|_| reserves).map(|calls| calls * Self::ENDS.len() as u64)
    }

    /// I18, I21, I22: the same bytes in another guise, or fewer of them.
    fn relations(&mut self) -> Vec<Found> {
        let guises = Variant::ALL.len() as u64;
        let mut found = Vec::new();
        for choice in self.sample.choices(Question::Relation, self.nth, guises + variant::MORE_DAMAGE) {
            self.node.disk.restore(&self.moments.before);
            match choice.checked_sub(guises) {
                None => {
                    let choice = usize::try_from(choice).expect("there are few variants");
                    found.extend(self.variant(Variant::ALL[choice]));
                }
                Some(kind) => found.extend(self.more_damage(kind)),
            }
        }
        found
    }

    /// I18, I21: the same bytes in another guise.
    fn variant(&mut self, variant: Variant) -> Option<Found> {
        let place = self.sample.place(self.nth);
        let guise = variant::apply(variant, self.node, self.index, self.boot, place)?;
        let again = match variant {
            Variant::OtherWindow => {
                self.start_through(variant::other_window(self.circumstances.window_bytes), STEP_BYTES)
            }
            Variant::ListingOrder
            | Variant::ColdCache
            | Variant::NoIndexes
            | Variant::FlipUpOrDown
            | Variant::DamagedSibling => self.start(Sight::NOTHING),
        };
        if again.failed_to_act {
            // What was to be made could not be: an operator has put something else in its place.
            return None;
        }
        let expected = if variant == Variant::FlipUpOrDown {
            self.node.disk.restore(&self.moments.before);
            variant::flip_down(self.node, self.index, self.boot, place);
            self.start(Sight::NOTHING).verdict
        } else {
            self.boot.verdict.clone()
        };
        let but_for_indexes = variant == Variant::NoIndexes;
        let (verdict, subject) = (&again.verdict, variant.subject());
        let violation = check_same_verdict(variant.check(), subject, (&expected, verdict), but_for_indexes)?;
        self.found(&Change::Guise(guise), &again, vec![violation]).pop()
    }

    /// The twin rule: a crash alone leaves the same bytes, on another disk.
    fn twin(&mut self) -> Option<Found> {
        let before = self.boot.before.as_ref().filter(|_| self.boot.carried.is_none())?;
        let slot = &self.node.slots[self.index];
        let disk = twin::of(self.node, slot, before)?;
        let (again, _service) = boot::start(&disk, slot, self.workspace, self.meter, Sight::NOTHING);
        let violation = check_twin(&self.boot.verdict, &again.verdict)?;
        self.found(&Change::Guise(Guise::CrashAlone), &again, vec![violation]).pop()
    }

    /// As [`Self::start`], through memory of its own, in steps of so many bytes.
    pub(super) fn start_through(&mut self, mut workspace: Workspace, step_bytes: u64) -> Boot {
        let slot = &self.node.slots[self.index];
        let mut means = Means { workspace: &mut workspace, step_bytes };
        let (boot, _service) = boot::start_by(&self.node.disk, slot, &mut means, self.meter, Sight::NOTHING);
        self.node.disk.take_events(&mut self.moments.calls);
        boot
    }

    /// I22: more bytes of a log are damaged.
    fn more_damage(&mut self, kind: u64) -> Option<Found> {
        let is_asked = self.slot().truth.damages.are_bytes_of_logs() && is_known_throughout(&self.boot.facts);
        let place = self.sample.place(self.nth);
        if !is_asked {
            return None;
        }
        let damage = variant::damage_more(self.node, self.index, self.boot, place, kind)?;
        let again = self.start(Sight::AFTER);
        if !is_known_throughout(&again.facts) {
            return None;
        }
        let lying = judge::lying(&again.after.directory, &again.facts, &again.verdict);
        let less = (&self.boot.verdict, &self.boot.after.directory);
        let violation = check_more_damage(less, &again.verdict, &lying)?;
        self.found(&Change::Damaged(damage), &again, vec![violation]).pop()
    }

    /// I20: what failed has failed; once nothing does any more the partition is judged, and nothing is lost.
    fn once_it_clears(&mut self) -> Vec<Found> {
        self.node.disk.begin_step(&[]);
        self.end_process();
        let again = self.start(Sight::ALL);
        let violations = self.judge(&again);
        self.found(&Change::Cleared, &again, violations)
    }

    /// What showed in a second look, with what was changed for it.
    pub(super) fn found(&self, change: &Change, again: &Boot, violations: Vec<Violation>) -> Vec<Found> {
        let varied = || Some(Box::new(Varied::of(change.clone(), self.boot, again)));
        violations.into_iter().map(|violation| Found { violation, varied: varied() }).collect()
    }

    /// A call for a person, by the names that lie there now and at some moments, to the last of which the disk goes
    /// back. Slow: for failures.
    pub(super) fn told(&self, call: &Event, moments: &[&Snapshot]) -> CallTold {
        let disk = &self.node.disk;
        let mut paths = Paths::default();
        paths.learn(disk);
        for moment in moments {
            disk.restore(moment);
            paths.learn(disk);
        }
        CallTold { call: call.call, path: paths.of(call, disk) }
    }

    /// Judges a second look as a start of its own.
    fn judge(&mut self, again: &Boot) -> Vec<Violation> {
        let circumstances = Circumstances {
            is_calm: !self.moments.calls.iter().any(is_failure),
            is_disturbed: false,
            goes_down: false,
            writes_land: true,
            lies_at_most_once: true,
            sees_truth: true,
            bytes_read: bytes_read(&self.moments.calls),
            ..self.circumstances
        };
        let slot = &self.node.slots[self.index];
        let view = circumstances.view(slot, again);
        // What the start itself may not have come to: how far a retention came that failed.
        let mut truth = slot.truth.is_floor_doubtful.then(|| slot.truth.clone());
        if let (Some(truth), Some(first)) = (&mut truth, again.facts.segments.first()) {
            truth.learn_floor(first.start.offset());
        }
        judge::judge(&BootView { truth: truth.as_ref().unwrap_or(&slot.truth), ..view }, self.meter)
    }
}

/// Whether a call failed, and not merely answered.
fn is_failure(call: &Event) -> bool {
    call.errno.is_some_and(|errno| !is_an_answer(errno))
}

/// Whether a call changes names, lengths or contents.
pub(super) const fn changes(call: Call) -> bool {
    match call {
        Call::Create | Call::Write | Call::SetLength | Call::Rename | Call::Remove | Call::MakeDirectory => {
            true
        }
        Call::Open
        | Call::Read
        | Call::Sync
        | Call::SyncDirectory
        | Call::Length
        | Call::List
        | Call::Lock
        | Call::DropCache => false,
    }
}
