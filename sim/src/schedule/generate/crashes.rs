//! When nodes go down, how deep, and what survives.

use recovery_core::storage::Call;
use recovery_core::units::Durability;

use super::draft::Draft;
use super::errors::Moment;
use super::swarm::Habit;
use super::workload::narrow;
use crate::schedule::crash::{
    CallPoint, Crash, CrashInside, Exception, Fill, Restart, SizeChoice, Survival, Survivors, SyncStage,
};
use crate::schedule::fault::{Fault, FaultKind, Times};
use crate::schedule::step::{Action, Interruption};
use crate::schedule::tape::Stream;
use crate::schedule::target::{FileRole, Target};
use crate::schedule::world::Filesystem;

const STREAM: Stream = Stream::Crashes;

/// How many of 1000 downs of a world with lying flushes follow one.
const LIE_SHARE: u32 = 70;

#[derive(Clone, Copy)]
enum Way {
    Now,
    Inside(Moment),
    Clean,
}

impl Draft<'_> {
    /// The node goes down: between two steps, inside one, or cleanly.
    pub(super) fn go_down(&mut self) {
        if self.swarm.has_kind(FaultKind::LyingFlush) && self.tape.chance(Stream::Faults, LIE_SHARE) {
            self.go_down_lied_to();
            return;
        }
        let inside = |weight| self.swarm.weight(Habit::CrashInside, weight);
        let ways = [
            (6, Way::Now),
            (inside(6), Way::Inside(Moment::Flush)),
            (inside(2), Way::Inside(Moment::Append)),
            (inside(3), Way::Inside(Moment::Roll)),
            (inside(2), Way::Inside(Moment::Checkpoint)),
            (inside(1).min(self.swarm.weight(Habit::Retention, 1)), Way::Inside(Moment::Retain)),
            (inside(1), Way::Inside(Moment::Stop)),
            (self.swarm.weight(Habit::CleanStop, 4), Way::Clean),
        ];
        match self.tape.weighted(STREAM, &ways) {
            Way::Now => {
                let crash = self.crash();
                self.crash_now(crash);
            }
            Way::Clean => {
                let errors = self.step_errors(Moment::Stop);
                let is_disturbed = !errors.is_empty();
                self.push_inside(Action::Stop, errors);
                self.has_page_cache = true;
                if is_disturbed {
                    // A stop that failed may have left the node up.
                    self.push(Action::Crash(Crash::Process));
                }
            }
            Way::Inside(moment) => {
                let action = self.interruptible(moment);
                self.crash_in(action, moment);
            }
        }
    }

    /// The disk says that it has flushed, and has not; then the power fails.
    fn go_down_lied_to(&mut self) {
        let at = self.pick_partition(Stream::Faults);
        let header = self.books[at].header;
        let mut fault = Fault::new(FaultKind::LyingFlush, Target::Partition(header.namespace));
        fault.times = Times::Always;
        self.push(Action::Fault { fault, cached: false });
        self.append_and_flush(at, self.batches_end);
        if header.durability == Durability::Buffered {
            self.push(Action::Checkpoint(header.namespace));
        }
        let mut survival = self.survival();
        if self.tape.chance(STREAM, 500) {
            survival.survive = Survivors::None;
        }
        self.crash_now(Crash::Power(survival));
    }

    pub(super) fn crash_now(&mut self, crash: Crash) {
        self.has_page_cache = crash.restart() == Restart::Process;
        self.push(Action::Crash(crash));
    }

    /// A step with a crash inside. Should its call never come, the process goes down behind it.
    pub(super) fn crash_in(&mut self, action: Action, moment: Moment) {
        let inside = self.crash_inside(moment);
        self.has_page_cache = inside.crash.restart() == Restart::Process;
        self.push_inside(action, vec![Interruption::Crash(inside)]);
        self.push(Action::Crash(Crash::Process));
    }

    /// A start with a crash inside.
    pub(super) fn crash_in_recovery(&mut self) {
        self.crash_in(Action::Start, Moment::Start);
    }

    /// A node whose process is down may lose its page cache too.
    pub(super) fn crash_deeper(&mut self) {
        if self.has_page_cache && self.swarm.has(Habit::CrashTwice) && self.tape.chance(STREAM, 400) {
            let survival = self.survival();
            self.crash_now(Crash::Power(survival));
        }
    }

    /// The step that a crash interrupts, with something for it to do.
    fn interruptible(&mut self, moment: Moment) -> Action {
        let at = self.pick_partition(STREAM);
        let partition = self.books[at].namespace();
        let last_batch = self.batches_end;
        match moment {
            Moment::Append => match self.draw_append(at, last_batch) {
                Some(append) => Action::Append(append),
                None => Action::Flush(partition),
            },
            Moment::Flush => {
                if let Some(append) = self.draw_append(at, last_batch) {
                    self.push(Action::Append(append));
                }
                self.books[at].is_dirty = false;
                Action::Flush(partition)
            }
            Moment::Roll => {
                if self.books[at].may_roll() {
                    self.books[at].roll();
                }
                Action::Roll(partition)
            }
            Moment::Checkpoint => Action::Checkpoint(partition),
            Moment::Retain => match self.retention(at) {
                Some(retain) => Action::Retain(retain),
                None => Action::Checkpoint(partition),
            },
            Moment::Stop => Action::Stop,
            Moment::Start | Moment::Poll | Moment::Command | Moment::Pass | Moment::Copy => {
                unreachable!("the ways down name neither")
            }
        }
    }

    fn crash_inside(&mut self, moment: Moment) -> CrashInside {
        let (on, most) = if self.tape.chance(STREAM, 600) {
            let (call, most) = self.tape.weighted(STREAM, moment.changing_calls());
            (Some(call), most)
        } else {
            (None, moment.calls_most())
        };
        let at = CallPoint { on, call: narrow(self.tape.range(STREAM, 1, u64::from(most))) };
        let inside = match on {
            Some(Call::Sync) => self.sync_stage(&SyncStage::ALL),
            Some(Call::SyncDirectory) => self.sync_stage(&SyncStage::ALL[1..]),
            Some(_) | None => None,
        };
        CrashInside { at, inside, crash: self.crash() }
    }

    fn sync_stage(&mut self, stages: &[SyncStage]) -> Option<SyncStage> {
        let chosen = self.tape.index(STREAM, stages.len() + 1);
        chosen.checked_sub(1).map(|index| stages[index])
    }

    pub(super) fn crash(&mut self) -> Crash {
        match self.tape.weighted(STREAM, &[(3, Restart::Process), (2, Restart::Os), (5, Restart::Power)]) {
            Restart::Process => Crash::Process,
            Restart::Os => Crash::Os(self.survival()),
            Restart::Power => Crash::Power(self.survival()),
        }
    }

    pub(super) fn survival(&mut self) -> Survival {
        let survive = self.survivors();
        let (fill, size) = (self.fill(), self.size());
        let mut exceptions = Vec::new();
        if self.swarm.has(Habit::Exceptions) {
            if self.tape.chance(STREAM, 500) {
                exceptions.push(self.file_exception());
            }
            if self.tape.chance(STREAM, 300) {
                exceptions.push(Exception::Names { survive: self.survivors() });
            }
        }
        Survival { survive, fill, size, exceptions }
    }

    fn survivors(&mut self) -> Survivors {
        let drawn =
            self.tape.weighted(STREAM, &[(3, 0), (3, 1), (4, 2), (2, 3), (3, 4), (2, 5), (2, 6), (2, 7)]);
        let mut number = |most| narrow(self.tape.range(STREAM, 0, most));
        match drawn {
            0 => Survivors::None,
            1 => Survivors::All,
            2 => Survivors::Prefix { n: number(12) },
            3 => Survivors::Suffix { n: number(12) },
            4 => Survivors::Subset { mask: self.tape.word(STREAM) },
            // One hole, or one survivor, near the oldest or anywhere.
            5 => Survivors::Subset { mask: !(1 << number(12)) },
            6 => Survivors::Subset { mask: 1 << number(12) },
            _ => Survivors::Window { from: number(8), n: number(8) },
        }
    }

    /// What may show in a hole is the filesystem's.
    fn fill(&mut self) -> Fill {
        let fills: &[(u32, Fill)] = match self.world.filesystem {
            Filesystem::Ext4Writeback => &[(3, Fill::Zeros), (3, Fill::StaleSame), (3, Fill::StaleForeign)],
            Filesystem::Adversarial => {
                &[(3, Fill::Zeros), (2, Fill::StaleSame), (2, Fill::StaleForeign), (2, Fill::Noise)]
            }
            Filesystem::Ext4Ordered | Filesystem::Ext4Journal | Filesystem::Xfs | Filesystem::Btrfs => {
                &[(1, Fill::Zeros)]
            }
        };
        self.tape.weighted(STREAM, fills)
    }

    fn size(&mut self) -> Option<SizeChoice> {
        let sizes = [(3, None), (2, Some(SizeChoice::New)), (1, Some(SizeChoice::Old))];
        self.tape.weighted(STREAM, &sizes)
    }

    fn file_exception(&mut self) -> Exception {
        let at = self.pick_partition(STREAM);
        let book = &self.books[at];
        let (partition, segment) = (book.namespace(), book.last_segment().start);
        let files = [(4, FileRole::Log(segment)), (2, FileRole::Index(segment)), (3, FileRole::Ledger)];
        let file = self.tape.weighted(STREAM, &files);
        let survive = Some(self.survivors());
        Exception::File { partition, file, survive, fill: None, size: self.size() }
    }
}
