//! Reads acknowledged batches of one segment: from where the index points, or else from the start.
//!
//! Promises: bytes that do not verify are read a second time before they count as damaged, and where the
//! index led there, the segment is first read from its start; memory beyond the caller's window is that of
//! the batches in the answer. Leaves out: the other segments.

use super::index_search;
use super::polled::Polled;
use super::reader::{PollError, PollRequest, is_answered};
use super::{ChainSegment, whole_batch};
use crate::format::{BATCH_HEADER_BYTES, BatchHeader, FileName, IndexEntry};
use crate::observe::{
    Allowance, Depth, Drive, Drover, Fill, Meter, Source, StopDetail, Undecodable, Verifier, Workspace,
    misplacement,
};
use crate::storage::{Access, Name, PartitionDirectory, Storage, StorageError, exact};
use crate::units::{Length, Offset, PartitionId, Position};

/// Least bytes that one read asks for where the log has them.
const READ_BYTES: u64 = 64 * 1024;

/// One segment that is read for one poll.
pub(super) struct SegmentReader<'a, S: Storage> {
    pub(super) storage: &'a S,
    pub(super) directory: &'a PartitionDirectory<S>,
    pub(super) partition: PartitionId,
    pub(super) segment: &'a ChainSegment,
    pub(super) request: &'a PollRequest,
    pub(super) verifier: &'a mut Verifier,
    pub(super) workspace: &'a mut Workspace,
}

/// A batch boundary.
#[derive(Clone, Copy, Debug)]
struct Boundary {
    position: Position,
    next: Offset,
    /// The index entry that led here, which the batch must agree with.
    entry: Option<IndexEntry>,
}

/// What is wrong at a boundary, or the call that failed there.
enum Fault {
    Io(StorageError),
    Stop(StopDetail),
}

impl From<StorageError> for Fault {
    fn from(error: StorageError) -> Self {
        Self::Io(error)
    }
}

impl<S: Storage> SegmentReader<'_, S> {
    /// Adds batches from the answer's next offset on, until it is enough or the segment ends.
    pub(super) fn read(&mut self, polled: &mut Polled) -> Result<(), PollError> {
        let name = FileName::log(self.segment.start);
        let log = exact::uninterrupted(|| self.storage.open(&self.directory.directory, &name, Access::Read))
            .map_err(PollError::Io)?;
        let answer = self.read_log(&log, &name, polled);
        self.storage.close(log);
        self.workspace.forget();
        answer
    }

    fn read_log(&mut self, log: &S::File, name: &Name, polled: &mut Polled) -> Result<(), PollError> {
        let log_length = exact::uninterrupted(|| self.storage.length(log)).map_err(PollError::Io)?;
        // A log that ends early is read as far as it goes: what lies there is still what was promised.
        let length = log_length.min(self.segment.end.get());
        let source = Source { storage: self.storage, file: log, name, length };
        let from = polled.next_offset();
        let start = Boundary { position: Position::ZERO, next: self.segment.start.offset(), entry: None };
        if let Some(entry) = index_search::entry_at_or_below(self.storage, self.directory, self.segment, from)
        {
            let led = Boundary { position: entry.position, next: entry.offset, entry: Some(entry) };
            match self.walk(&source, led, polled) {
                // What the index led to may be damaged, or the index may be wrong: the log decides.
                Err(PollError::Damaged { .. }) if polled.is_empty() => {}
                answer => return answer,
            }
        }
        self.walk(&source, start, polled)
    }

    fn walk(
        &mut self,
        source: &Source<'_, S>,
        start: Boundary,
        polled: &mut Polled,
    ) -> Result<(), PollError> {
        self.workspace.forget();
        let mut boundary = start;
        let mut is_second_reading = false;
        // Each pass moves the boundary by a batch, reads one again, or is the last.
        while boundary.position < self.segment.end && !is_answered(self.request, polled) {
            match self.batch(source, &boundary, polled) {
                Ok(behind) => {
                    boundary = behind;
                    is_second_reading = false;
                }
                Err(Fault::Io(error)) => return Err(PollError::Io(error)),
                Err(Fault::Stop(stop)) if is_second_reading => {
                    return Err(self.damaged(source, &boundary, stop, polled));
                }
                Err(Fault::Stop(_)) => {
                    self.workspace.forget();
                    is_second_reading = true;
                }
            }
        }
        Ok(())
    }

    fn damaged(
        &self,
        source: &Source<'_, S>,
        boundary: &Boundary,
        stop: StopDetail,
        polled: &Polled,
    ) -> PollError {
        let last = self.segment.next_offset.before().expect("a segment that is read holds a message");
        let first = boundary.next.max(polled.next_offset());
        PollError::Damaged { file: *source.name, position: boundary.position, stop, first, last }
    }

    /// Verifies the batch at `boundary`, adds it if it holds offsets that are asked for, and gives the
    /// boundary behind it.
    fn batch(
        &mut self,
        source: &Source<'_, S>,
        boundary: &Boundary,
        polled: &mut Polled,
    ) -> Result<Boundary, Fault> {
        let header = self.header(source, boundary)?;
        let is_asked_for = header.next_offset().is_some_and(|next| next > polled.next_offset());
        let before = polled.bytes_mut().len();
        let whole = if is_asked_for {
            self.take(source, boundary, &header, polled)
        } else {
            self.pass(source, boundary, &header)
        };
        let placed = whole.and_then(|()| self.check_place(boundary, &header));
        if let Err(fault) = placed {
            polled.bytes_mut().truncate(before);
            return Err(fault);
        }
        if is_asked_for {
            polled.accept(&header, before);
        }
        Ok(Boundary {
            position: boundary.position.checked_add(header.batch_length).expect("it ends within its file"),
            next: header.next_offset().expect("a placed batch leaves a next offset"),
            entry: None,
        })
    }

    fn header(&mut self, source: &Source<'_, S>, boundary: &Boundary) -> Result<BatchHeader, Fault> {
        let available = source.length - boundary.position.get().min(source.length);
        let short =
            |needed: Length| Fault::Stop(StopDetail::Short { needed, available: Length::new(available) });
        if available < BATCH_HEADER_BYTES as u64 {
            return Err(short(Length::new(BATCH_HEADER_BYTES as u64)));
        }
        let position = boundary.position.get();
        let ahead = self.request.bytes_max.get().max(READ_BYTES);
        let window = &mut self.workspace.log;
        let fill = window.ensure(source, position, BATCH_HEADER_BYTES, ahead, &mut unlimited())?;
        assert!(fill == Fill::Ready, "nothing limits this read");
        let bytes = window.from(position).first_chunk().expect("the window shows a header");
        let header = BatchHeader::decode(bytes)
            .map_err(|damage| Fault::Stop(StopDetail::Undecodable(Undecodable::Header(damage))))?;
        if header.batch_length.get() > available {
            return Err(short(header.batch_length));
        }
        Ok(header)
    }

    /// Reads the whole batch into the answer and verifies it there.
    fn take(
        &mut self,
        source: &Source<'_, S>,
        boundary: &Boundary,
        header: &BatchHeader,
        polled: &mut Polled,
    ) -> Result<(), Fault> {
        let position = boundary.position.get();
        let length = usize::try_from(header.batch_length.get()).expect("a batch in a log fits memory");
        let bytes = polled.bytes_mut();
        let from = bytes.len();
        let shown = self.workspace.log.from(position);
        let shown = &shown[..shown.len().min(length)];
        bytes.extend_from_slice(shown);
        if shown.len() < length {
            bytes.resize(from + length, 0);
            let rest = &mut bytes[from + shown.len()..];
            let at = position + shown.len() as u64;
            exact::read_all(source.storage, source.file, source.name, at, rest)?;
        }
        let batch = &bytes[from..];
        whole_batch::verify(self.verifier, header, batch).map(|_| ()).map_err(Fault::Stop)
    }

    /// Verifies a batch that holds nothing that is asked for, through the window.
    fn pass(
        &mut self,
        source: &Source<'_, S>,
        boundary: &Boundary,
        header: &BatchHeader,
    ) -> Result<(), Fault> {
        self.verifier.begin(header, Depth::Full).map_err(Fault::Stop)?;
        let mut drover = Drover {
            source,
            window: &mut self.workspace.log,
            base: boundary.position.get(),
            ahead: READ_BYTES,
            meter: &mut unlimited(),
            allowance: &mut { Allowance::UNLIMITED },
        };
        match drover.drive(self.verifier)? {
            Drive::Whole(_) => Ok(()),
            Drive::Fault(stop) => Err(Fault::Stop(stop)),
            Drive::Paused | Drive::Exhausted => unreachable!("nothing limits this verification"),
        }
    }

    /// A batch that verifies still has to be the one that belongs here, and the segment has to end where
    /// it was acknowledged to end.
    fn check_place(&self, boundary: &Boundary, header: &BatchHeader) -> Result<(), Fault> {
        if let Some(stop) = misplacement(header, self.partition, boundary.next) {
            return Err(Fault::Stop(stop));
        }
        let found = header.base_offset;
        if boundary.entry.is_some_and(|entry| entry.timestamp != header.base_timestamp) {
            return Err(Fault::Stop(StopDetail::Regression { found }));
        }
        let end = boundary.position.checked_add(header.batch_length).expect("it ends within its file");
        let next = header.next_offset().expect("a placed batch leaves a next offset");
        let is_last = end == self.segment.end;
        if next > self.segment.next_offset || (is_last && next != self.segment.next_offset) {
            return Err(Fault::Stop(StopDetail::Gap { found: self.segment.next_offset }));
        }
        Ok(())
    }
}

/// An account without a limit: what is read is bounded by what is asked for.
fn unlimited() -> Meter {
    let mut meter = Meter::default();
    meter.begin_step(u64::MAX);
    meter
}
