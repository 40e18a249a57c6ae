//! What takes a partition without a host several steps in a row.
//!
//! Each of the steps counts only in the state that the one before has left, so drawn one by one they would hardly ever
//! meet: one read lies in the start that meets damage; a sync fails in the start that finds what a process has left in
//! the cache; a stop vouches for what the start before was kept from syncing; a name is half changed when power fails; a
//! roll is cut short behind its seal; every read of a start comes short.
//! Promises: drawn from words of its own; an ordeal takes no more downs than there are left. Leaves out: worlds with hosts
//! (`stories`).

use recovery_core::storage::Call;

use super::draft::Draft;
use super::rare::NEAR_THE_END;
use super::workload::narrow;
use crate::schedule::crash::{CallPoint, Crash, CrashInside, Survival, Survivors, SyncStage};
use crate::schedule::fault::{Edit, Fault, FaultInside, FaultKind, Times};
use crate::schedule::step::{Action, Append, BatchId, Interruption};
use crate::schedule::tape::Stream;
use crate::schedule::target::{FileRole, Target};
use crate::schedule::world::Regime;

const STREAM: Stream = Stream::Rare;

/// How many of 1000 phases of work end with one.
const SHARE: u32 = 250;
/// How many of 1000 starts with a read that lies meet damage too.
const DAMAGED_SHARE: u32 = 700;
/// About how many syncs, and reads, a start of a small partition makes.
const SYNCS: u64 = 6;
const READS: u64 = 16;
/// Bits of a read that may be shown wrongly.
const READ_BITS: u64 = 8 * 1024;

#[derive(Clone, Copy)]
enum Ordeal {
    ReadThatLies,
    SyncThatFails,
    StopThatVouches,
    NameHalfChanged,
    OldSeal,
    ReadsThatComeShort,
}

impl Draft<'_> {
    /// Perhaps the node goes down by one of them, and is up again behind it; how many downs that took.
    pub(super) fn ordeal(&mut self, downs: u32) -> u32 {
        if !self.tape.chance(STREAM, SHARE) {
            return 0;
        }
        let at = self.pick_partition(STREAM);
        let is_unlimited = u32::from(self.world.regime == Regime::Unlimited);
        let has_two = u32::from(downs > 1);
        let ordeals = [
            (3, Ordeal::SyncThatFails),
            (5 * is_unlimited, Ordeal::ReadThatLies),
            (3 * has_two, Ordeal::StopThatVouches),
            (2 * has_two * is_unlimited, Ordeal::NameHalfChanged),
            (2 * has_two * is_unlimited * u32::from(self.may_outdate_a_seal(at)), Ordeal::OldSeal),
            (1, Ordeal::ReadsThatComeShort),
        ];
        match self.tape.weighted(STREAM, &ordeals) {
            Ordeal::SyncThatFails => self.fail_a_sync(at),
            Ordeal::ReadThatLies => self.lie_once(at),
            Ordeal::ReadsThatComeShort => self.read_short(at),
            Ordeal::StopThatVouches => {
                self.vouch(at);
                return 2;
            }
            Ordeal::NameHalfChanged => {
                self.change_half_a_name(at);
                return 2;
            }
            Ordeal::OldSeal => {
                self.outdate_a_seal(at);
                return 2;
            }
        }
        1
    }

    /// A start in which something goes wrong, and another one in which nothing does.
    fn start_disturbed(&mut self, fault: Fault, on: Call, most: u64) {
        let at = CallPoint { on: Some(on), call: narrow(self.tape.range(STREAM, 1, most)) };
        let inside = FaultInside { at, at_peer: false, fault };
        self.push_inside(Action::Start, vec![Interruption::Fault(inside)]);
        self.push(Action::Crash(Crash::Process));
        self.push(Action::Start);
    }

    /// The process ends before a sync, and the next start, which has to make up for it, cannot.
    fn fail_a_sync(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        self.append(at, self.batches_end);
        self.books[at].is_dirty = false;
        self.crash_before(Action::Flush(partition), Call::Sync, 1, None, Crash::Process);
        let fault = Fault::new(FaultKind::SyncFailure, Target::Any);
        self.start_disturbed(fault, Call::Sync, SYNCS);
    }

    /// One read of a start shows what does not lie there.
    fn lie_once(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        self.append_and_flush(at, self.batches_end);
        self.crash_now(Crash::Process);
        if self.tape.chance(STREAM, DAMAGED_SHARE) {
            self.damage_of(at);
        }
        let kinds = [FaultKind::TransientReadCorruption, FaultKind::MisdirectedRead];
        let kind = self.tape.pick(STREAM, &kinds);
        let segment = self.books[at].last_segment().start;
        let ledger = u32::from(self.books[at].header.ledger);
        let files = [(3, FileRole::Log(segment)), (2 * ledger, FileRole::Ledger)];
        let file = self.tape.weighted(STREAM, &files);
        let mut fault = Fault::new(kind, Target::File { partition, file, position: 0, length: None });
        if kind == FaultKind::MisdirectedRead {
            fault.to = self.anywhere(STREAM);
        } else {
            fault.edit = Some(Edit::Bit(narrow(self.tape.range(STREAM, 0, READ_BITS - 1))));
        }
        // The first read of that file, or any of the whole start.
        if self.tape.chance(STREAM, 500) {
            self.start_disturbed(Fault { target: Target::Any, ..fault }, Call::Read, READS);
        } else {
            self.push(Action::Fault { fault, cached: false });
            self.push(Action::Start);
        }
    }

    /// Each read of a start comes short.
    fn read_short(&mut self, at: usize) {
        self.append_and_flush(at, self.batches_end);
        self.crash_now(Crash::Process);
        let mut fault = Fault::new(FaultKind::ShortRead, Target::Any);
        fault.times = Times::Always;
        fault.bytes = self.tape.pick(STREAM, &[Some(512), Some(100), None]);
        self.start_disturbed(fault, Call::Read, READS);
    }

    /// A start is cut short before what it wrote is durable, a stop behind the next one says that nothing follows, and
    /// then the power fails.
    fn vouch(&mut self, at: usize) {
        self.append_and_flush(at, self.batches_end);
        self.roll(at);
        self.append_and_flush(at, self.batches_end);
        self.crash_now(Crash::Process);
        if self.world.regime == Regime::Unlimited {
            self.lengthen_a_log(at);
        }
        if self.tape.chance(STREAM, 700) {
            self.crash_before(Action::Start, Call::Sync, SYNCS, None, Crash::Process);
        }
        self.push(Action::Start);
        self.push(Action::Stop);
        let mut survival = self.survival();
        if self.tape.chance(STREAM, 500) {
            survival.survive = Survivors::None;
        }
        self.crash_now(Crash::Power(survival));
        self.push(Action::Start);
    }

    /// An index is gone, and the power fails while the new one gets its name.
    fn change_half_a_name(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        self.append_and_flush(at, self.batches_end);
        self.crash_now(Crash::Process);
        let index = self.tape.index(STREAM, self.books[at].segments.len());
        let segment = self.books[at].segments[index].start;
        let target = Target::Segment { partition, segment };
        let fault = Fault::new(FaultKind::OperatorDeletesIndex, target);
        self.push(Action::Fault { fault, cached: false });
        let mut survival = self.survival();
        survival.survive = Survivors::Subset { mask: self.tape.word(STREAM) };
        let crash = Crash::Power(survival);
        self.crash_before(Action::Start, Call::SyncDirectory, 3, Some(SyncStage::Metadata), crash);
        self.push(Action::Start);
    }

    /// A step that is cut short by one of its first `most` calls of a kind.
    fn crash_before(&mut self, action: Action, on: Call, most: u64, inside: Option<SyncStage>, crash: Crash) {
        let at = CallPoint { on: Some(on), call: narrow(self.tape.range(STREAM, 1, most)) };
        self.push_inside(action, vec![Interruption::Crash(CrashInside { at, inside, crash })]);
        self.push(Action::Crash(Crash::Process));
    }

    fn may_outdate_a_seal(&self, at: usize) -> bool {
        let book = &self.books[at];
        let room = self.batches_end - self.next_batch;
        book.header.ledger && book.may_roll() && room >= 3 && u64::MAX - book.next_offset >= NEAR_THE_END
    }

    /// A roll is cut short behind its seal, and a batch that was lost before turns up behind that seal.
    fn outdate_a_seal(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        let [kept, lost, newest] = [0, 1, 2].map(|number| BatchId(self.next_batch + number));
        self.next_batch += 3;
        self.put(at, kept);
        self.push(Action::Flush(partition));
        self.push(Action::Append(Append::new(partition, lost)));
        self.push(Action::Crash(Crash::Process));
        self.push(Action::Start);
        let crash = Crash::Power(Survival::of(Survivors::All));
        let inside = CrashInside { at: CallPoint { on: Some(Call::Create), call: 1 }, inside: None, crash };
        self.push_inside(Action::Roll(partition), vec![Interruption::Crash(inside)]);
        self.push(Action::Crash(Crash::Process));
        let target = Target::Batch { partition, batch: lost, field: None };
        self.hurt(Fault::new(FaultKind::StaleGenerationBatch, target));
        self.push(Action::Start);
        self.push(Action::Roll(partition));
        self.books[at].roll();
        self.put(at, newest);
        self.push(Action::Flush(partition));
        self.books[at].is_dirty = false;
    }

    fn put(&mut self, at: usize, batch: BatchId) {
        let append = Append::new(self.books[at].namespace(), batch);
        self.books[at].append(batch, append.messages, append.payload_bytes);
        self.push(Action::Append(append));
    }
}
