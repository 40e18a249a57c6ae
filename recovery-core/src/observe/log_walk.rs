//! The walk along one log: how far is it proven, and why no further?
//!
//! Promises: batch by batch, every byte verified before the batch's place is judged; damage, a misplaced
//! batch or a conflict is stated only when two reads in a row show the same (N13), and then only behind
//! batches that were read twice too: a single read that came from elsewhere may verify, and what follows it
//! looks like damage. What two readings contradict each other in is unreadable, and so is a read that fails
//! twice in a row: a stop of its own and never the end of the file. Leaves out: what follows the stop
//! ([`super::residue_probe`]).

use super::drive::{Allowance, Drive, Drover};
use super::index_walk::IndexWalk;
use super::meter::Meter;
use super::verifier::{Depth, Verifier};
use super::window::{Fill, Source, Window};
use super::{Proven, SegmentMarks, StopDetail, Undecodable, misplacement};
use crate::format::{BATCH_HASHED_BYTES, BATCH_HEADER_BYTES, BatchHeader, ChainHash, Mark};
use crate::storage::{Errno, Storage, StorageError};
use crate::units::{Length, PartitionId, Position, SegmentStart};

/// How many reads of one place may differ from the one before, before the place counts as unreadable.
const READINGS_MAX: u32 = 4;

const HEADER: u64 = BATCH_HEADER_BYTES as u64;

/// The marks that a walk checks on its way, ascending by position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checkpoints {
    marks: Vec<Mark>,
    next: usize,
    agreed: Option<(Mark, Proven)>,
}

impl Checkpoints {
    pub(crate) fn of(marks: Option<&SegmentMarks>) -> Self {
        let marks = marks
            .map_or_else(Vec::new, |marks| marks.checks.iter().chain([&marks.newest]).copied().collect());
        assert!(marks.is_sorted_by_key(|mark| mark.position), "marks ascend by position");
        Self { marks, next: 0, agreed: None }
    }
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// At a boundary: the header of the next batch is wanted.
    Header,
    /// Inside the batch at the boundary.
    Batch,
    /// The batch verifies and continues the chain; the index is compared.
    Index { delta_mismatches: u64 },
    /// The walk is over.
    Stopped(StopDetail),
}

/// A walk along one log.
#[derive(Debug)]
pub(crate) struct LogWalk {
    partition: PartitionId,
    start: SegmentStart,
    start_hash: Option<ChainHash>,
    /// Where the walk must end at the latest: the log's length, or the sealed length if that is smaller.
    bound: u64,
    sealed: Option<Length>,
    proven: Proven,
    phase: Phase,
    checkpoints: Checkpoints,
    /// What the last reading of the batch at the boundary showed.
    doubt: Option<StopDetail>,
    readings: u32,
    failed_read: bool,
    /// Where the walk stood when it first met a doubt, once it goes over what it took in again.
    retraced: Option<Proven>,
    retraces: u32,
}

/// The windows and the account that a walk uses in one step.
pub(crate) struct WalkTools<'a, 'b, S: Storage> {
    pub(crate) log: &'a Source<'b, S>,
    pub(crate) log_window: &'a mut Window,
    pub(crate) index: Option<&'a Source<'b, S>>,
    pub(crate) index_window: &'a mut Window,
    pub(crate) index_walk: &'a mut IndexWalk,
    pub(crate) verifier: &'a mut Verifier,
    pub(crate) meter: &'a mut Meter,
}

impl LogWalk {
    pub(crate) fn new(
        partition: PartitionId,
        start: SegmentStart,
        log_length: u64,
        sealed: Option<Length>,
        chain_hash: Option<ChainHash>,
        checkpoints: Checkpoints,
    ) -> Self {
        let bound = sealed.map_or(log_length, |sealed| sealed.get().min(log_length));
        let mut walk = Self {
            partition,
            start,
            start_hash: chain_hash,
            bound,
            sealed,
            proven: at_start(start, chain_hash),
            phase: Phase::Header,
            checkpoints,
            doubt: None,
            readings: 0,
            failed_read: false,
            retraced: None,
            retraces: 0,
        };
        walk.check_marks(None);
        walk
    }

    pub(crate) fn proven(&self) -> Proven {
        self.proven
    }

    /// Goes on until the walk is over or the step is.
    ///
    /// # Errors
    ///
    /// When the *index* cannot be read. What the log's reads say becomes a stop.
    pub(crate) fn step<S: Storage>(
        &mut self,
        tools: &mut WalkTools<'_, '_, S>,
    ) -> Result<Option<StopDetail>, StorageError> {
        // Each pass ends the walk, takes a batch of at least a header, or reads one again; readings of one
        // place are bounded, and so are the batches by the log's length.
        loop {
            let fill = match self.phase {
                Phase::Stopped(stop) => return Ok(Some(stop)),
                Phase::Header => self.header(tools),
                Phase::Batch => self.batch(tools),
                Phase::Index { delta_mismatches } if self.is_retracing() => {
                    // The index was compared the first time.
                    let header = *tools.verifier.header();
                    self.retrace(&header, delta_mismatches, tools.log_window);
                    Fill::Ready
                }
                Phase::Index { delta_mismatches } => {
                    let header = *tools.verifier.header();
                    let position = self.proven.end.get();
                    let fill = tools.index_walk.pass(
                        tools.index,
                        tools.index_window,
                        position,
                        &header,
                        tools.meter,
                    )?;
                    if fill == Fill::Ready {
                        self.accept(&header, delta_mismatches, tools.log_window);
                    }
                    fill
                }
            };
            if fill == Fill::Paused {
                return Ok(None);
            }
        }
    }

    fn header<S: Storage>(&mut self, tools: &mut WalkTools<'_, '_, S>) -> Fill {
        let position = self.proven.end.get();
        let log_length = tools.log.length;
        if position == self.bound {
            let stop = match self.sealed {
                Some(sealed) if sealed.get() < log_length => StopDetail::Overrun { sealed },
                Some(_) | None => StopDetail::End,
            };
            self.phase = Phase::Stopped(stop);
            return Fill::Ready;
        }
        let available = log_length - position;
        if available < HEADER {
            return self.doubt(
                StopDetail::Short { needed: Length::new(HEADER), available: Length::new(available) },
                tools.log_window,
            );
        }
        // Half of a step is kept for hashing: where the window is shared with others, a step that only read would
        // find its bytes gone, and read them again, for ever.
        let ahead = tools.meter.left() / 2;
        let shown = tools.log_window.ensure(tools.log, position, BATCH_HEADER_BYTES, ahead, tools.meter);
        match shown {
            Err(error) => return self.read_failed(&error, position, tools.log_window),
            Ok(Fill::Paused) => return Fill::Paused,
            Ok(Fill::Ready) if tools.meter.left() < BATCH_HASHED_BYTES as u64 => return Fill::Paused,
            Ok(Fill::Ready) => {}
        }
        let mut bytes = [0; BATCH_HEADER_BYTES];
        bytes.copy_from_slice(&tools.log_window.from(position)[..BATCH_HEADER_BYTES]);
        self.begin(&bytes, available, tools)
    }

    fn begin<S: Storage>(
        &mut self,
        bytes: &[u8; BATCH_HEADER_BYTES],
        available: u64,
        tools: &mut WalkTools<'_, '_, S>,
    ) -> Fill {
        let header = match BatchHeader::decode(bytes) {
            Ok(header) => header,
            Err(damage) => {
                let stop = StopDetail::Undecodable(Undecodable::Header(damage));
                return self.doubt(stop, tools.log_window);
            }
        };
        if header.batch_length.get() > available {
            let (needed, available) = (header.batch_length, Length::new(available));
            return self.doubt(StopDetail::Short { needed, available }, tools.log_window);
        }
        match tools.verifier.begin(&header, Depth::Full) {
            Ok(taken) => {
                tools.meter.hash(taken.hashed);
                self.phase = Phase::Batch;
                Fill::Ready
            }
            Err(stop) => self.doubt(stop, tools.log_window),
        }
    }

    fn batch<S: Storage>(&mut self, tools: &mut WalkTools<'_, '_, S>) -> Fill {
        let position = self.proven.end.get();
        let mut drover = Drover {
            source: tools.log,
            window: tools.log_window,
            base: position,
            ahead: u64::MAX,
            meter: tools.meter,
            allowance: &mut { Allowance::UNLIMITED },
        };
        match drover.drive(tools.verifier) {
            Err(error) => self.read_failed(&error, position, tools.log_window),
            Ok(Drive::Paused | Drive::Exhausted) => Fill::Paused,
            Ok(Drive::Fault(stop)) => self.doubt(stop, tools.log_window),
            Ok(Drive::Whole(delta_mismatches)) => {
                let header = tools.verifier.header();
                if let Some(stop) = misplacement(header, self.partition, self.proven.next_offset) {
                    return self.doubt(stop, tools.log_window);
                }
                self.phase = Phase::Index { delta_mismatches };
                Fill::Ready
            }
        }
    }

    /// Takes what a reading showed as the stop if the one before it showed the same; else reads again.
    fn doubt(&mut self, stop: StopDetail, window: &mut Window) -> Fill {
        self.readings += 1;
        if self.is_retracing() || self.readings >= READINGS_MAX {
            self.contradict();
        } else if self.doubt == Some(stop) {
            self.phase = Phase::Stopped(stop);
        } else {
            self.doubt = Some(stop);
            self.go_back(window);
        }
        Fill::Ready
    }

    /// Two readings do not agree: nobody can say which of them is true.
    fn contradict(&mut self) {
        let position = self.proven.end;
        self.phase = Phase::Stopped(StopDetail::Unreadable { errno: Errno::STALE, position });
    }

    /// Reads again from the last mark that agrees, or from the start, unless this place was come to in that
    /// way already.
    fn go_back(&mut self, window: &mut Window) {
        self.phase = Phase::Header;
        window.forget();
        let from = self.last_agreed();
        if self.retraced.is_none() && from.end < self.proven.end {
            self.retraces += 1;
            self.retraced = Some(self.proven);
            self.proven = from;
            // Each time costs as much as the walk up to here.
            if self.retraces >= READINGS_MAX {
                self.contradict();
            }
        }
    }

    /// Whether the walk is below the place from which it went back.
    fn is_retracing(&self) -> bool {
        self.retraced.is_some_and(|met| self.proven.end < met.end)
    }

    /// Takes a batch in for the second time: both times must have come to the same.
    fn retrace(&mut self, header: &BatchHeader, delta_mismatches: u64, window: &mut Window) {
        let met = self.retraced.expect("the walk goes over what it took in");
        self.proven = self.proven_behind(header, delta_mismatches);
        self.phase = Phase::Header;
        if self.proven.end > met.end || (self.proven.end == met.end && self.proven != met) {
            self.contradict();
        } else if self.proven == met {
            self.check_marks(Some(window));
        }
    }

    /// Where the last mark agreed, or the start.
    fn last_agreed(&self) -> Proven {
        self.checkpoints.agreed.map_or_else(|| at_start(self.start, self.start_hash), |(_, proven)| proven)
    }

    fn read_failed(&mut self, error: &StorageError, position: u64, window: &mut Window) -> Fill {
        if self.failed_read {
            let position = Position::new(position);
            self.phase = Phase::Stopped(StopDetail::Unreadable { errno: error.errno, position });
        } else {
            self.failed_read = true;
            self.phase = Phase::Header;
            window.forget();
        }
        Fill::Ready
    }

    /// Moves the boundary behind a batch that verifies and continues the chain.
    fn accept(&mut self, header: &BatchHeader, delta_mismatches: u64, window: &mut Window) {
        let before = self.proven;
        self.proven = self.proven_behind(header, delta_mismatches);
        assert!(self.proven.end > before.end, "a walk moves forward");
        assert!(self.proven.next_offset >= before.next_offset, "a walk moves forward");
        self.doubt = None;
        self.readings = 0;
        self.failed_read = false;
        self.retraced = None;
        self.phase = Phase::Header;
        self.check_marks(Some(window));
    }

    fn proven_behind(&self, header: &BatchHeader, delta_mismatches: u64) -> Proven {
        let before = self.proven;
        Proven {
            end: before.end.checked_add(header.batch_length).expect("a batch ends within its file"),
            next_offset: header.next_offset().expect("a placed batch leaves a next offset"),
            batches: before.batches + 1,
            messages: before.messages + u64::from(header.message_count),
            delta_mismatches: before.delta_mismatches + delta_mismatches,
            chain_hash: before.chain_hash.map(|hash| hash.after(header.batch_checksum)),
        }
    }

    /// Compares the boundary with the marks that lie at or below it.
    fn check_marks(&mut self, window: Option<&mut Window>) {
        while let Some(mark) = self.checkpoints.marks.get(self.checkpoints.next).copied() {
            if mark.position > self.proven.end {
                return;
            }
            let agrees = mark.position == self.proven.end
                && mark.next_offset == self.proven.next_offset
                && Some(mark.chain_hash) == self.proven.chain_hash;
            if !agrees {
                return self.conflict(mark, window);
            }
            self.checkpoints.agreed = Some((mark, self.proven));
            self.checkpoints.next += 1;
        }
    }

    /// A mark that differs is told of when a second walk, through `window`, has come to the same.
    fn conflict(&mut self, differs: Mark, window: Option<&mut Window>) {
        if let Some(window) = window
            && self.retraced != Some(self.proven)
            && self.last_agreed().end < self.proven.end
        {
            return self.go_back(window);
        }
        let agrees = self.checkpoints.agreed.map(|(mark, _)| mark);
        self.proven = match self.checkpoints.agreed {
            Some((_, proven)) => proven,
            None => at_start(self.start, None),
        };
        assert!(self.proven.end < differs.position, "a conflict lies below its mark");
        self.phase = Phase::Stopped(StopDetail::Conflict { agrees, differs });
    }
}

/// Nothing is proven yet.
fn at_start(start: SegmentStart, chain_hash: Option<ChainHash>) -> Proven {
    Proven {
        end: Position::ZERO,
        next_offset: start.offset(),
        batches: 0,
        messages: 0,
        delta_mismatches: 0,
        chain_hash,
    }
}
