//! Observes one segment: its log along the chain, its index beside it, its residue behind it.
//!
//! Promises: one open log and one open index at a time, both closed at the end whatever happens. Leaves
//! out: the other segments.

use super::directory_listing::Names;
use super::index_again::IndexAgain;
use super::index_walk::IndexWalk;
use super::log_walk::{Checkpoints, LogWalk, WalkTools};
use super::meter::Meter;
use super::residue_probe::{ProbeTools, ResidueProbe};
use super::run_collector::RunRules;
use super::segment_files::Files;
use super::verifier::Verifier;
use super::window::{Fill, Source};
use super::workspace::Workspace;
use super::{
    Evidence, Expectation, LedgerFacts, RecordedGap, Residue, ResidueFacts, SegmentFacts, SegmentMarks, Stop,
    StopDetail,
};
use crate::format::{ChainHash, LedgerKind};
use crate::storage::{Call, Errno, PartitionDirectory, Storage, StorageError};
use crate::units::{Durability, Incarnation, Length, Offset, Position, SegmentStart};

enum Phase {
    Log,
    Index(StopDetail),
    /// The index says that more was durable: it is read again.
    IndexAgain(StopDetail, IndexAgain),
    Residue(StopDetail, Box<ResidueProbe>),
    Done(StopDetail, ResidueFacts),
}

/// The observation of one segment under way.
pub(crate) struct SegmentWalk<S: Storage> {
    start: SegmentStart,
    files: Files<S>,
    /// Where the segment behind this one starts.
    next_start: Option<SegmentStart>,
    walk: LogWalk,
    index_walk: IndexWalk,
    phase: Phase,
    failed_probe: bool,
}

/// What a segment is observed against.
#[derive(Clone, Copy)]
pub(crate) struct Background<'a> {
    pub(crate) expectation: &'a Expectation,
    pub(crate) ledger: Option<&'a LedgerFacts>,
}

impl Background<'_> {
    fn marks(&self, segment: SegmentStart) -> Option<&SegmentMarks> {
        let segments = &self.ledger?.segments;
        let index = segments.binary_search_by_key(&segment, |marks| marks.segment);
        index.map_or(None, |index| Some(&segments[index]))
    }

    /// Which life of the partition, as the ledger says or else the caller.
    fn incarnation(&self) -> Option<Incarnation> {
        self.ledger.map(|ledger| ledger.newest.incarnation).or(self.expectation.incarnation)
    }

    /// The offsets that no batch behind a prefix may be carried over for: those of the next segment and of all
    /// behind it, and those that are recorded as held by nobody.
    fn barred(&self, next_start: Option<SegmentStart>) -> Vec<RecordedGap> {
        let recorded = self.ledger.map_or(&[][..], |ledger| &ledger.gaps);
        let behind =
            next_start.map(|start| RecordedGap { first: start.offset(), next: Offset::new(u64::MAX) });
        recorded.iter().copied().chain(behind).collect()
    }

    /// Whether an index is evidence: where no ledger is, and the writer made the log durable before it wrote an entry.
    fn index_speaks(&self) -> bool {
        self.ledger.is_none() && self.expectation.durability != Durability::Buffered
    }

    /// The relation of a stop to the evidence (DESIGN section 4).
    fn relation(&self, segment: SegmentStart, stop: Position, has_entry_beyond: bool) -> Evidence {
        let Some(ledger) = self.ledger else {
            let is_promised = self.index_speaks() && has_entry_beyond;
            return if is_promised { Evidence::Below } else { Evidence::Unknown };
        };
        let newest_marked = ledger.segments.last().map(|marks| marks.segment);
        let relation = match self.marks(segment) {
            Some(marks) if stop < marks.newest.position => Evidence::Below,
            // Older than the newest mark, its seal was lost; and where no mark is known at all, all were:
            // a writer makes the first one durable before the first batch.
            None if newest_marked.is_none_or(|newest| segment < newest) => Evidence::Unknown,
            Some(_) | None => Evidence::AtOrAbove,
        };
        match (ledger.newest.kind, relation) {
            // What lies past a clean stop was written by somebody else, with promises of its own.
            (LedgerKind::CleanStop { .. }, Evidence::AtOrAbove) => Evidence::Unknown,
            (_, relation) => relation,
        }
    }
}

impl<S: Storage> SegmentWalk<S> {
    /// Opens the segment's files.
    ///
    /// # Errors
    ///
    /// When a file that the listing names cannot be opened or measured.
    pub(crate) fn open(
        storage: &S,
        partition: &PartitionDirectory<S>,
        names: &Names,
        start: SegmentStart,
        background: Background<'_>,
    ) -> Result<Self, StorageError> {
        let files = Files::open(storage, partition, start, names.indexes.binary_search(&start).is_ok())?;
        let marks = background.marks(start);
        let sealed = marks.and_then(sealed_length);
        // Without a ledger the caller may still know the life, and then a first ledger can be made.
        let namespace = background.expectation.namespace;
        let chain_hash =
            background.incarnation().map(|incarnation| ChainHash::start(namespace, incarnation, start));
        let partition_id = background.expectation.namespace.partition_id();
        let checkpoints = Checkpoints::of(marks);
        let log_length = files.log_length;
        let index_length = files.index.as_ref().map(|(_, _, length)| *length);
        Ok(Self {
            start,
            files,
            next_start: next_start(names, start),
            walk: LogWalk::new(partition_id, start, log_length, sealed, chain_hash, checkpoints),
            index_walk: IndexWalk::new(start, index_length, log_length),
            phase: Phase::Log,
            failed_probe: false,
        })
    }

    /// Goes on until the segment is observed (`Ready`) or the step is over.
    ///
    /// # Errors
    ///
    /// When the index cannot be read, or two readings of one that counts as evidence differ. What the log's reads say
    /// is a stop.
    pub(crate) fn step(
        &mut self,
        storage: &S,
        workspace: &mut Workspace,
        verifier: &mut Verifier,
        meter: &mut Meter,
        background: Background<'_>,
    ) -> Result<Fill, StorageError> {
        let log = Source {
            storage,
            file: &self.files.log,
            name: &self.files.log_name,
            length: self.files.log_length,
        };
        let index = self.files.index.as_ref().map(|(file, name, length)| Source {
            storage,
            file,
            name,
            length: *length,
        });
        // The phases follow each other; only a probe that fails is begun again, once.
        loop {
            match &mut self.phase {
                Phase::Done(..) => return Ok(Fill::Ready),
                Phase::Log => {
                    let mut tools = WalkTools {
                        log: &log,
                        log_window: &mut workspace.log,
                        index: index.as_ref(),
                        index_window: &mut workspace.index,
                        index_walk: &mut self.index_walk,
                        verifier,
                        meter,
                    };
                    match self.walk.step(&mut tools)? {
                        None => return Ok(Fill::Paused),
                        Some(stop) => self.phase = Phase::Index(stop),
                    }
                }
                Phase::Index(stop) => {
                    let proven = self.walk.proven();
                    if let Some(index) = &index {
                        let (end, next) = (proven.end.get(), proven.next_offset);
                        let window = &mut workspace.index;
                        if self.index_walk.drain(index, window, end, next, meter)? == Fill::Paused {
                            return Ok(Fill::Paused);
                        }
                    }
                    let stop = *stop;
                    self.phase = if background.index_speaks() && self.index_walk.has_entry_beyond() {
                        Phase::IndexAgain(stop, IndexAgain::begin(&mut workspace.index))
                    } else {
                        self.behind(stop, background)
                    };
                }
                Phase::IndexAgain(stop, again) => {
                    let index = index.as_ref().expect("only an index that is there says anything");
                    if again.step(index, &mut workspace.index, meter)? == Fill::Paused {
                        return Ok(Fill::Paused);
                    }
                    if again.checksum() != self.index_walk.checksum() {
                        return Err(StorageError {
                            call: Call::Read,
                            file: *index.name,
                            errno: Errno::STALE,
                        });
                    }
                    let stop = *stop;
                    self.phase = self.behind(stop, background);
                }
                Phase::Residue(stop, probe) => {
                    let mut tools = ProbeTools {
                        log: &log,
                        log_window: &mut workspace.log,
                        candidate_window: &mut workspace.candidate,
                        verifier,
                        meter,
                    };
                    let stop = *stop;
                    match probe.step(&mut tools) {
                        Ok(Fill::Paused) => return Ok(Fill::Paused),
                        Ok(Fill::Ready) => {
                            let probe = std::mem::replace(&mut self.phase, Phase::Log);
                            self.phase = Self::judged(stop, probe, self.walk.proven().end);
                        }
                        Err(error) if self.failed_probe => {
                            self.phase = Self::unreadable(error.errno, self.walk.proven().end, &log);
                        }
                        Err(_) => {
                            self.failed_probe = true;
                            workspace.forget();
                            self.phase = self.behind(stop, background);
                        }
                    }
                }
            }
        }
    }

    /// The phase behind a walk that ended in `stop`: the residue, if there is one that can be read.
    fn behind(&self, stop: StopDetail, background: Background<'_>) -> Phase {
        let proven = self.walk.proven();
        let log_length = self.files.log_length;
        let length = log_length - proven.end.get();
        if stop.stop() == Stop::End || stop.stop() == Stop::Unreadable {
            assert!(stop.stop() == Stop::Unreadable || length == 0, "a log ends where its file does");
            return Phase::Done(stop, ResidueFacts::unread(stop.stop(), Length::new(length)));
        }
        let is_damage = matches!(stop.stop(), Stop::Short | Stop::Undecodable | Stop::BadChecksum);
        let rules = RunRules {
            segment: self.start,
            stop: proven.end,
            next: proven.next_offset,
            chain_hash: proven.chain_hash,
            namespace: background.expectation.namespace,
            incarnation: background.incarnation(),
            barred: background.barred(self.next_start),
        };
        let probe = ResidueProbe::new(rules, Length::new(log_length), is_damage);
        Phase::Residue(stop, Box::new(probe))
    }

    fn judged(stop: StopDetail, phase: Phase, position: Position) -> Phase {
        let Phase::Residue(_, probe) = phase else { unreachable!("only a probe is judged") };
        let is_contradicted = probe.is_contradicted();
        let facts = probe.finish();
        if is_contradicted {
            return Phase::Done(StopDetail::Unreadable { errno: Errno::STALE, position }, facts);
        }
        Phase::Done(stop, facts)
    }

    fn unreadable(errno: Errno, position: Position, log: &Source<'_, S>) -> Phase {
        let length = Length::new(log.length - position.get());
        let stop = StopDetail::Unreadable { errno, position };
        Phase::Done(stop, ResidueFacts::unread(Stop::Unreadable, length))
    }

    /// Closes the files and states the facts.
    pub(crate) fn finish(self, storage: &S, background: Background<'_>) -> SegmentFacts {
        let Phase::Done(stop, residue) = self.phase else {
            unreachable!("a segment is judged when it was observed")
        };
        let log_length = Length::new(self.files.log_length);
        self.files.close(storage);
        let proven = self.walk.proven();
        assert!(
            proven.end.checked_add(residue.length) == Some(log_length.as_position()),
            "a log is prefix and residue"
        );
        let has_entry_beyond = self.index_walk.has_entry_beyond();
        let marks = background.marks(self.start);
        SegmentFacts {
            start: self.start,
            log_length,
            proven,
            stop,
            residue,
            evidence: background.relation(self.start, proven.end, has_entry_beyond),
            mark: marks.map(|marks| marks.newest),
            seal: marks.and_then(|marks| marks.seal),
            accepts_loss: marks.is_some_and(|marks| marks.accepts_loss),
            index: self.index_walk.finish(proven.batches, proven.end, stop.stop() != Stop::Unreadable),
        }
    }

    /// Closes the files of an observation that is given up.
    pub(crate) fn abandon(self, storage: &S) {
        self.files.close(storage);
    }
}

/// Where the ledger says that a segment ends: at its seal, or where a loss was accepted.
fn sealed_length(marks: &SegmentMarks) -> Option<Length> {
    let accepted = marks.accepts_loss.then_some(marks.newest);
    marks.seal.map(|seal| seal.mark).or(accepted).map(|mark| mark.position.as_length())
}

/// Where the segment behind `start` starts, by the names.
fn next_start(names: &Names, start: SegmentStart) -> Option<SegmentStart> {
    let segments = &names.listing.segments;
    segments.get(segments.partition_point(|segment| *segment <= start)).copied()
}

impl ResidueFacts {
    /// A residue of which nothing was read: there is none, or it cannot be.
    fn unread(stop: Stop, length: Length) -> Self {
        Self {
            kind: if stop == Stop::End { Residue::None } else { Residue::Unproven },
            length,
            checksum: None,
            survivor_count: 0,
            survivors: Vec::new(),
            survivors_next_offset: None,
            runs: Vec::new(),
            stray_count: 0,
            strays: Vec::new(),
            candidates: 0,
        }
    }
}
