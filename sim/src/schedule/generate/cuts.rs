//! What is cut, and what comes of it: chains of steps of a node without a host.
//!
//! Promises: the first batch of a world is torn before its ledger is sure; a device is full in the start that has something
//! to cut; a start goes down between a cut and its sync, and a stop vouches for it; an index is written anew under a name
//! that is half changed; a whole batch lies inside what the header of a torn one claims, and one read of it lies. Leaves
//! out: which of them befalls a world (`motifs`).

use recovery_core::storage::Call;
use recovery_core::units::Durability;

use super::book::batch_bytes;
use super::draft::Draft;
use super::workload::narrow;
use crate::schedule::crash::{CallPoint, Crash, CrashInside, SizeChoice, Survivors, SyncStage};
use crate::schedule::fault::{Edit, Fault, FaultKind, Times};
use crate::schedule::step::{Action, Append, BatchId, Interruption, Place, Plant};
use crate::schedule::tape::Stream;
use crate::schedule::target::{FileRole, Target};
use crate::schedule::world::Regime;

const STREAM: Stream = Stream::Motifs;

const SECTOR_BYTES: u64 = 512;
/// Bytes of a payload that spreads a batch over some sectors.
const WIDE_BYTES: (u64, u64) = (400, 3000);
/// Most bytes behind the end of a log.
const BEHIND_MOST: u64 = 700;
/// Widest window for which a batch is made wider than it.
const WINDOW_MOST: u32 = 16 * 1024;
/// Messages of a torn batch, and of the whole one behind it.
const TORN_MESSAGES: u32 = 4;
/// Which reads of a start of it are those of the whole one, about.
const READS: (u64, u64) = (8, 32);

impl Draft<'_> {
    /// The first batch is written and not synced, and what is kept of it is not its beginning.
    pub(super) fn doubt_the_first(&mut self) {
        let at = self.pick_partition(STREAM);
        let payload = narrow(self.tape.range(STREAM, WIDE_BYTES.0, WIDE_BYTES.1));
        let count = narrow(self.tape.range(STREAM, 2, 4));
        self.put_some(at, count, payload);
        let sectors = batch_bytes(1, payload).div_ceil(SECTOR_BYTES);
        let lost = self.tape.range(STREAM, 1, sectors + 1);
        let others = self.tape.word(STREAM);
        let mut survival = self.survival();
        survival.survive = Survivors::Subset { mask: self.tape.pick(STREAM, &[u64::MAX, others]) << lost };
        survival.size = self.tape.weighted(STREAM, &[(3, Some(SizeChoice::New)), (1, None)]);
        survival.exceptions.clear();
        let is_power = self.tape.chance(STREAM, 500);
        let crash = if is_power { Crash::Power(survival) } else { Crash::Os(survival) };
        if self.books[at].header.durability == Durability::Buffered {
            self.flush_all(at);
            self.crash_now(crash);
        } else {
            self.books[at].is_dirty = false;
            let flush = Action::Flush(self.books[at].namespace());
            self.push_crashing(flush, Call::Sync, 1, crash);
        }
        self.push(Action::Start);
    }

    /// Something lies behind the end of a log, and the device is full in the start that would set it aside.
    pub(super) fn fill_the_device(&mut self, at: usize) {
        self.append_and_flush(at, self.batches_end);
        if self.world.regime == Regime::Unlimited {
            self.crash_now(Crash::Process);
            self.leave_behind_the_end(at);
        } else {
            self.append(at, self.batches_end);
            self.books[at].is_dirty = false;
            let flush = Action::Flush(self.books[at].namespace());
            let crash = Crash::Power(self.survival());
            self.push_crashing(flush, Call::Sync, 1, crash);
        }
        let mut fault = Fault::new(FaultKind::NoSpace, Target::Any);
        fault.times = self.tape.weighted(STREAM, &[(3, Times::Always), (1, Times::Count(1))]);
        let on = self.tape.weighted(STREAM, &[(3, Call::Write), (1, Call::Create), (1, Call::MakeDirectory)]);
        let call = self.tape.range(STREAM, 1, 3);
        self.push_faulty(Action::Start, on, call, fault);
        self.push(Action::Crash(Crash::Process));
        self.push(Action::Start);
    }

    /// The newest batch ends early, or there are bytes behind it that nobody wrote.
    fn leave_behind_the_end(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        let last = self.books[at].batches.last().copied();
        if let Some(written) = last.filter(|_| self.tape.chance(STREAM, 400)) {
            let target = Target::Batch { partition, batch: written.batch, field: None };
            let bytes = Some(self.tape.range(STREAM, 1, written.bytes() - 1));
            self.hurt(Fault { bytes, ..Fault::new(FaultKind::ShornWrite, target) });
            return;
        }
        let segment = self.books[at].last_segment();
        let length = Some(self.tape.range(STREAM, 1, BEHIND_MOST));
        let target =
            Target::File { partition, file: FileRole::Log(segment.start), position: segment.bytes, length };
        self.hurt(Fault::new(FaultKind::Noise, target));
    }

    /// A start cuts what lies behind the end of a closed log and goes down around the sync of it; the next one finds
    /// nothing to do, a stop says that nothing follows, and the power fails.
    pub(super) fn cut_and_vouch(&mut self, at: usize) {
        self.append_and_flush(at, self.batches_end);
        self.roll(at);
        self.append_and_flush(at, self.batches_end);
        self.crash_now(Crash::Process);
        let closed = self.books[at].segments.len() - 1;
        let segment = self.books[at].segments[self.tape.index(STREAM, closed.max(1))];
        let (partition, start) = (self.books[at].namespace(), segment.start);
        if self.next_batch < self.batches_end && self.tape.chance(STREAM, 900) {
            let place = Place::Position { segment: Some(start), position: segment.bytes };
            let plant = Plant { place, ..Plant::new(partition, BatchId(self.next_batch)) };
            let messages = narrow(self.tape.range(STREAM, 1, 3));
            self.next_batch += 1;
            self.push(Action::Plant(Plant { messages, ..plant }));
        } else {
            let length = Some(self.tape.range(STREAM, 1, BEHIND_MOST));
            let target =
                Target::File { partition, file: FileRole::Log(start), position: segment.bytes, length };
            self.hurt(Fault::new(FaultKind::Noise, target));
        }
        // A start syncs the ledger and each log of a partition, and what it sets aside, before it syncs what it has cut.
        let own = self.books[at].segments.len() + 5;
        let before: usize = self.books[..at].iter().map(|book| book.segments.len() + 2).sum();
        let call = (before + own) as u64 + self.tape.weighted(STREAM, &[(4, 0), (1, 1), (1, 2)]);
        self.push_crashing(Action::Start, Call::Sync, call, Crash::Process);
        self.push(Action::Start);
        self.push(Action::Stop);
        let crash = self.deep_crash();
        self.crash_now(crash);
        self.push(Action::Start);
    }

    /// An index is written anew, and the power fails while it gets its name, which is kept under both.
    pub(super) fn leave_two_names(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        self.append_and_flush(at, self.batches_end);
        self.crash_now(Crash::Process);
        let segment = self.books[at].last_segment().start;
        self.hurt(Fault::new(FaultKind::OperatorDeletesIndex, Target::Segment { partition, segment }));
        let mut survival = self.survival();
        // The new name, and not that the old one is gone.
        let word = self.tape.word(STREAM);
        let mask = self.tape.pick(STREAM, &[word << 3 | 3, word << 3 | 3, word]);
        survival.survive = Survivors::Subset { mask };
        survival.size = self.tape.pick(STREAM, &[Some(SizeChoice::Old), None, Some(SizeChoice::New)]);
        // One sync of a directory to make up for what was not synced, of each partition, and then the one of the new name.
        let any = narrow(self.tape.range(STREAM, 1, 5));
        let own = 2 + narrow(at as u64);
        let call = self.tape.weighted(STREAM, &[(3, own), (1, any)]);
        let inside = CrashInside {
            at: CallPoint { on: Some(Call::SyncDirectory), call },
            inside: Some(SyncStage::Metadata),
            crash: Crash::Power(survival),
        };
        self.push_inside(Action::Start, vec![Interruption::Crash(inside)]);
        self.push(Action::Crash(Crash::Process));
        self.push(Action::Start);
    }

    /// A batch wider than the window is torn, a whole one lies inside what its header claims, and reads of that one lie.
    /// Without a ledger nobody knows which of them was durable.
    pub(super) fn tear_before_a_whole_one(&mut self, at: usize) {
        let window = self.world.window_bytes.min(WINDOW_MOST);
        let partition = self.books[at].namespace();
        let wide = |draft: &mut Self| window / TORN_MESSAGES + narrow(draft.tape.range(STREAM, 0, 120));
        let (torn, whole) = (BatchId(self.next_batch), BatchId(self.next_batch + 1));
        if self.batches_end - self.next_batch < 2 || (self.books[at].is_full() && !self.books[at].may_roll())
        {
            self.fill_the_device(at);
            return;
        }
        self.next_batch += 2;
        let (torn_bytes, whole_bytes) = (wide(self), wide(self));
        let append =
            Append { messages: TORN_MESSAGES, payload_bytes: torn_bytes, ..Append::new(partition, torn) };
        self.books[at].append(torn, append.messages, append.payload_bytes);
        self.push(Action::Append(append));
        self.flush_all(at);
        self.crash_now(Crash::Process);
        if self.books[at].header.ledger {
            self.hurt(Fault::new(FaultKind::OperatorDropsLedger, Target::Partition(partition)));
        }
        let claimed = batch_bytes(TORN_MESSAGES, torn_bytes);
        let left = self.tape.range(STREAM, claimed / 2, claimed - 1);
        let target = Target::Batch { partition, batch: torn, field: None };
        self.hurt(Fault { bytes: Some(left), ..Fault::new(FaultKind::ShornWrite, target) });
        let plant =
            Plant { messages: TORN_MESSAGES, payload_bytes: whole_bytes, ..Plant::new(partition, whole) };
        self.push(Action::Plant(plant));
        let mut fault = Fault::new(FaultKind::TransientReadCorruption, Target::Any);
        fault.edit = Some(Edit::Bit(narrow(self.tape.range(STREAM, 0, 8 * 512 - 1))));
        let call = self.tape.range(STREAM, READS.0, READS.1);
        self.push_faulty(Action::Start, Call::Read, call, fault);
        // What the wrong read did to that start, the next one does not see.
        self.push(Action::Crash(Crash::Process));
        self.push(Action::Start);
    }
}
