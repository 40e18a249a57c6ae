//! The reader: acknowledged batches from an offset on.
//!
//! Promises: every batch is verified whole and continues the one before it; what cannot be read is an
//! error that names the place, never an empty answer; a wrong index costs time and nothing else. Leaves
//! out: which part of a batch a client asked for; batches are given whole.

use thiserror::Error;

use super::polled::{Polled, Skipped};
use super::segment_reader::SegmentReader;
use super::{Chain, ChainSegment};
use crate::observe::{RecordedGap, StopDetail, Verifier, Workspace};
use crate::storage::{Name, PartitionDirectory, Storage, StorageError};
use crate::units::{Length, Offset, Position};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollRequest {
    /// The first offset.
    pub from: Offset,
    /// No further batch is added once so many messages from there on are in the answer.
    pub messages_max: u64,
    /// No further batch is added once the answer has so many bytes. One batch is always given.
    pub bytes_max: Length,
}

/// Why a poll has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PollError {
    /// A storage call failed. It says nothing about the batches; the poll may be made again.
    #[error("the batches were not read: {0}")]
    Io(StorageError),
    /// Acknowledged bytes are not what was written, twice in a row.
    #[error(
        "{file} does not hold at byte {position} what was acknowledged there ({}), which puts offsets \
         {first} to {last} out of reach",
        stop.stop().code()
    )]
    Damaged {
        /// The log.
        file: Name,
        /// Where the batch lies that cannot be read.
        position: Position,
        /// What is wrong there.
        stop: StopDetail,
        /// First offset out of reach.
        first: Offset,
        /// Last offset of the segment.
        last: Offset,
    },
}

impl PollError {
    /// The permanent code of this error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "io",
            Self::Damaged { .. } => "damaged",
        }
    }
}

/// Reads partitions; reused from one poll to the next.
#[derive(Debug, Default)]
pub struct Reader {
    verifier: Verifier,
}

impl Reader {
    /// A reader.
    ///
    /// One serves as many partitions as there are: it holds nothing of them from one [`Reader::poll`] to the next.
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::format::partition_components;
    /// # use recovery_core::observe::{Expectation, Progress};
    /// # use recovery_core::partition::{Adopted, PartitionOptions, Writer};
    /// # use recovery_core::plan::PlanOptions;
    /// # use recovery_core::recovery::{Mode, Recovery};
    /// # use recovery_core::storage::PartitionDirectory;
    /// # use recovery_core::storage::os::OsStorage;
    /// # use recovery_core::units::{Durability, Namespace};
    /// use recovery_core::observe::Workspace;
    /// use recovery_core::partition::{PollRequest, Polled, Reader};
    /// use recovery_core::units::{Length, Offset};
    ///
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// # let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// # let storage = OsStorage::open(data.path())?;
    /// # let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// # let expectation = Expectation::of(namespace);
    /// # let mut recovery = Recovery::new(expectation, Mode::Repair, PlanOptions::default(), &mut workspace);
    /// # while recovery.step(&storage, &partition, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let recovered = recovery.finish();
    /// # let adopted = Adopted::of(&recovered.facts, &recovered.verdict, &recovered.plan).expect("it is served");
    /// # let options = PartitionOptions::new(Durability::Buffered, None);
    /// # let writer = Writer::open(&storage, partition, adopted, recovered.ledger, options)?;
    /// let (mut reader, mut polled) = (Reader::new(), Polled::default());
    /// let request = PollRequest { from: Offset::ZERO, messages_max: 100, bytes_max: Length::new(1024 * 1024) };
    /// // Nothing was written here yet: an answer without a batch, and no error.
    /// reader.poll(&storage, writer.directory(), writer.chain(), &request, &mut workspace, &mut polled)?;
    /// assert!(polled.is_empty());
    /// # writer.close(&storage).close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        Self { verifier: Verifier::new() }
    }

    /// Answers `request` from the files of `directory`, as far as `chain` says that they are acknowledged.
    ///
    /// An offset that is not acknowledged yet gives an answer without a batch. If batches were read before
    /// something failed, they are the answer, and the next poll meets the failure.
    ///
    /// # Errors
    ///
    /// [`PollError`]; the answer is without a batch then.
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::format::{BatchBuilder, Message, partition_components};
    /// # use recovery_core::observe::{Expectation, Progress};
    /// # use recovery_core::plan::PlanOptions;
    /// # use recovery_core::recovery::{Mode, Recovery};
    /// # use recovery_core::storage::PartitionDirectory;
    /// # use recovery_core::storage::os::OsStorage;
    /// # use recovery_core::partition::{Adopted, PartitionOptions, Writer};
    /// # use recovery_core::units::{Durability, Incarnation, Namespace};
    /// use recovery_core::observe::Workspace;
    /// use recovery_core::partition::{PollRequest, Polled, Reader};
    /// use recovery_core::units::{Length, Offset};
    ///
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// # let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// # let storage = OsStorage::open(data.path())?;
    /// # let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// # let expectation = Expectation::of(namespace);
    /// # let mut recovery = Recovery::new(expectation, Mode::Repair, PlanOptions::default(), &mut workspace);
    /// # while recovery.step(&storage, &partition, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let recovered = recovery.finish();
    /// # let adopted = Adopted::of(&recovered.facts, &recovered.verdict, &recovered.plan).expect("it is served");
    /// # let options = PartitionOptions::new(Durability::Buffered, None);
    /// # let mut writer = Writer::open(&storage, partition, adopted, recovered.ledger, options)?;
    /// # let mut batch = Vec::new();
    /// # let mut builder = BatchBuilder::begin(&mut batch, 1);
    /// # builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// # builder.finish();
    /// # writer.append(&storage, &batch, 2)?;
    /// # assert_eq!(writer.flush(&storage)?.next_offset, Offset::new(1));
    /// let request = PollRequest { from: Offset::ZERO, messages_max: 100, bytes_max: Length::new(1024 * 1024) };
    /// let (mut reader, mut polled) = (Reader::new(), Polled::default());
    /// reader.poll(&storage, writer.directory(), writer.chain(), &request, &mut workspace, &mut polled)?;
    /// assert_eq!(polled.messages(), 1);
    /// assert_eq!(polled.next_offset(), Offset::new(1));
    /// # writer.close(&storage).close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poll<S: Storage>(
        &mut self,
        storage: &S,
        directory: &PartitionDirectory<S>,
        chain: &Chain,
        request: &PollRequest,
        workspace: &mut Workspace,
        polled: &mut Polled,
    ) -> Result<(), PollError> {
        polled.begin(request.from);
        let segments = begin(chain, polled);
        // Each pass takes a segment.
        for (index, segment) in segments.iter().enumerate() {
            if polled.next_offset() < segment.next_offset {
                let mut reading = SegmentReader {
                    storage,
                    directory,
                    partition: chain.partition(),
                    segment,
                    request,
                    verifier: &mut self.verifier,
                    workspace,
                };
                match reading.read(polled) {
                    Ok(()) => {}
                    Err(_) if !polled.is_empty() => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
            if is_answered(request, polled) {
                return Ok(());
            }
            let Some(after) = segments.get(index + 1) else { return Ok(()) };
            let (first, next) = (polled.next_offset(), after.start.offset());
            if first < next {
                polled.skip(Skipped::Gap(RecordedGap { first, next }));
            }
        }
        Ok(())
    }
}

/// The segments that the answer may come from.
fn begin<'a>(chain: &'a Chain, polled: &mut Polled) -> &'a [ChainSegment] {
    let segments = chain.segments();
    let first = polled.next_offset();
    match (chain.next_offset(), chain.place(first)) {
        (None, _) => &[],
        (Some(end), _) if first >= end => &[],
        (Some(_), Some(index)) => &segments[index..],
        (Some(_), None) => {
            polled.skip(Skipped::Expired { first, next: segments[0].start.offset() });
            segments
        }
    }
}

/// Whether no further batch is to be added.
pub(super) fn is_answered(request: &PollRequest, polled: &Polled) -> bool {
    let is_enough = polled.messages() >= request.messages_max || polled.length() >= request.bytes_max;
    !polled.is_empty() && is_enough
}
