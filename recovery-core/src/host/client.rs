//! What clients ask of a partition, and what they are told.
//!
//! Promises: only a served partition answers; every other state is an error with a permanent code and a
//! status that says whether trying again can help, never an empty success (F69); a writer that cannot go on
//! is closed and the partition looked at anew. Leaves out: sessions, and retries.

use thiserror::Error;

use super::slot::{Served, SlotState};
use super::superblock::SuperblockError;
use super::{Cause, Host, HostError};
use crate::decide::ReasonCode;
use crate::observe::Workspace;
use crate::partition::{Acknowledged, Appended, PollError, PollRequest, Polled, Writer, WriterError};
use crate::storage::Storage;
use crate::units::{Namespace, Offset};
use crate::wal::Key;

/// Whether trying again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The same request has the same answer until somebody changes something.
    Terminal,
    /// The state passes.
    Retriable,
}

impl Status {
    /// The permanent word.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Retriable => "retriable",
        }
    }
}

/// Why a client gets no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ClientError {
    /// No such partition is meant to be there.
    #[error("there is no such partition")]
    NoSuchPartition,
    /// It is being removed.
    #[error("the partition is deleted")]
    Deleted,
    /// It is a tombstone.
    #[error("the partition is refused ({})", .0.code())]
    Refused(ReasonCode),
    /// It is to be made.
    #[error("the partition is not made yet")]
    NotMade,
    /// It is being judged.
    #[error("the partition is being recovered")]
    Recovering,
    /// Nothing can be said of it now.
    #[error("the partition is unavailable: {0}")]
    Unavailable(Cause),
    /// Peers are asked for what is not here.
    #[error("the partition waits for peers")]
    Rebuilding,
    /// Nothing is known of any partition.
    #[error("{0}")]
    Host(HostError),
    /// The writer did not take or acknowledge it.
    #[error(transparent)]
    Writer(#[from] WriterError),
    /// The reader has no answer.
    #[error(transparent)]
    Poll(#[from] PollError),
    /// Everything else was done, and the superblock was not written.
    #[error(transparent)]
    Superblock(#[from] SuperblockError),
}

impl ClientError {
    /// The permanent code; never used again for something else (F13).
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoSuchPartition => "no-such-partition",
            Self::Deleted => "deleted",
            Self::Refused(reason) => reason.code(),
            Self::NotMade => "not-made",
            Self::Recovering => "recovering",
            Self::Unavailable(cause) => cause.code(),
            Self::Rebuilding => "rebuilding",
            Self::Host(error) => error.code(),
            Self::Writer(error) => error.code(),
            Self::Poll(error) => error.code(),
            Self::Superblock(SuperblockError::Io(_)) => "superblock-io",
            Self::Superblock(SuperblockError::Blocked { .. }) => "superblock-blocked",
            Self::Superblock(SuperblockError::Exhausted) => "superblock-exhausted",
        }
    }

    /// Whether trying again can help.
    pub const fn status(&self) -> Status {
        match self {
            Self::NoSuchPartition
            | Self::Deleted
            | Self::Refused(_)
            | Self::Host(HostError::MetadataRefused(_) | HostError::NoSuchPartition { .. })
            | Self::Writer(WriterError::Rejected(_) | WriterError::GapNeedsLedger { .. })
            | Self::Poll(PollError::Damaged { .. })
            | Self::Superblock(SuperblockError::Exhausted) => Status::Terminal,
            Self::NotMade
            | Self::Recovering
            | Self::Unavailable(_)
            | Self::Rebuilding
            | Self::Host(_)
            | Self::Writer(WriterError::Io(_) | WriterError::Poisoned { .. })
            | Self::Poll(PollError::Io(_))
            | Self::Superblock(SuperblockError::Io(_) | SuperblockError::Blocked { .. }) => Status::Retriable,
        }
    }
}

impl<S: Storage> Host<S> {
    /// Appends one batch in producer form; `timestamp` is the server's time in microseconds. Nothing is
    /// promised before [`Host::flush`].
    ///
    /// # Errors
    ///
    /// [`ClientError`]; the batch has got no offset.
    pub fn produce(
        &mut self,
        storage: &S,
        namespace: Namespace,
        batch: &[u8],
        timestamp: u64,
    ) -> Result<Appended, ClientError> {
        self.write(storage, namespace, |served| {
            let appended = served.writer.append(storage, batch, timestamp)?;
            let messages = appended.next_offset.checked_since(appended.base_offset);
            served.counts.append(messages.expect("a batch ends behind its start"));
            Ok(appended)
        })
    }

    /// Acknowledges all that was appended.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; nothing more is acknowledged.
    pub fn flush(&mut self, storage: &S, namespace: Namespace) -> Result<Acknowledged, ClientError> {
        self.write(storage, namespace, |served| served.acknowledging(|writer| writer.flush(storage)))
    }

    /// Forgets what was appended and not acknowledged.
    ///
    /// # Errors
    ///
    /// [`ClientError`] if the partition is not served.
    pub fn discard(&mut self, namespace: Namespace) -> Result<(), ClientError> {
        let (_, served) = self.served(namespace)?;
        served.writer.discard();
        served.counts.discard();
        Ok(())
    }

    /// Makes all that is acknowledged durable, and the superblock say so.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub fn checkpoint(&mut self, storage: &S, namespace: Namespace) -> Result<(), ClientError> {
        self.write(storage, namespace, |served| served.writer.checkpoint(storage))?;
        self.write_superblock(storage, namespace)
    }

    /// Acknowledges all that was appended, and seals the newest segment: the next batch gets one of its own.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; what it acknowledged before it failed is there for readers all the same.
    pub fn roll(&mut self, storage: &S, namespace: Namespace) -> Result<Acknowledged, ClientError> {
        self.write(storage, namespace, |served| served.acknowledging(|writer| writer.roll(storage)))
    }

    /// Removes segments whose offsets all lie below `below`.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub fn retain(&mut self, storage: &S, namespace: Namespace, below: Offset) -> Result<(), ClientError> {
        self.write(storage, namespace, |served| {
            let retained = served.writer.retain(storage, below);
            served.counts.retain(served.writer.chain());
            retained
        })
    }

    /// Stops a partition cleanly: all is durable, and the ledger says that nothing follows. It is still
    /// served.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; the partition is not stopped.
    pub fn stop(&mut self, storage: &S, namespace: Namespace) -> Result<Acknowledged, ClientError> {
        let acknowledged =
            self.write(storage, namespace, |served| served.acknowledging(|writer| writer.stop(storage)))?;
        self.write_superblock(storage, namespace)?;
        Ok(acknowledged)
    }

    /// Answers `request` into `polled`.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; what `polled` holds is no answer then.
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::format::{BatchBuilder, Message};
    /// # use recovery_core::host::{Host, HostOptions, NewPartition, PartitionState};
    /// # use recovery_core::observe::{Progress, Workspace};
    /// # use recovery_core::storage::os::OsStorage;
    /// # use recovery_core::units::{Durability, Incarnation, Namespace};
    /// # let data = tempfile::tempdir()?;
    /// # let storage = OsStorage::open(data.path())?;
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// # let mut host = Host::new(HostOptions::new())?;
    /// # while host.start(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// # let (incarnation, durability) = (Incarnation::new(1), Durability::Synced);
    /// # host.create(&storage, &NewPartition { namespace, incarnation, replicas: 1, durability })?;
    /// # while host.reconcile(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let mut batch = Vec::new();
    /// # let mut builder = BatchBuilder::begin(&mut batch, 1);
    /// # builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// # builder.finish();
    /// # host.produce(&storage, namespace, &batch, 2)?;
    /// # assert_eq!(host.flush(&storage, namespace)?.next_offset.get(), 1);
    /// use recovery_core::partition::{PollRequest, Polled};
    /// use recovery_core::units::{Length, Offset};
    ///
    /// // `host` serves the partition, and one message was acknowledged.
    /// let request = PollRequest { from: Offset::ZERO, messages_max: 100, bytes_max: Length::new(1024 * 1024) };
    /// let mut polled = Polled::default();
    /// host.poll(&storage, namespace, &request, &mut workspace, &mut polled)?;
    /// assert_eq!((polled.messages(), polled.next_offset()), (1, Offset::new(1)));
    /// # host.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poll(
        &mut self,
        storage: &S,
        namespace: Namespace,
        request: &PollRequest,
        workspace: &mut Workspace,
        polled: &mut Polled,
    ) -> Result<(), ClientError> {
        let (_, served) = self.served(namespace)?;
        let Served { writer, reader, .. } = served;
        reader.poll(storage, writer.directory(), writer.chain(), request, workspace, polled)?;
        Ok(())
    }

    /// The writer of a served partition, to look at.
    pub fn writer(&self, namespace: Namespace) -> Option<&Writer<S>> {
        match &self.slots.get(&self.newest(namespace)?)?.state {
            SlotState::Served(served) => Some(&served.writer),
            SlotState::Created
            | SlotState::Waiting
            | SlotState::Recovering(_)
            | SlotState::Refused(_)
            | SlotState::Unavailable(_)
            | SlotState::Rebuilding(_)
            | SlotState::Deleting(_) => None,
        }
    }

    fn write_superblock(&mut self, storage: &S, namespace: Namespace) -> Result<(), ClientError> {
        let (_, served) = self.served(namespace)?;
        let Served { writer, superblock, .. } = served;
        let (Some(superblock), Some(frontier)) = (superblock, writer.chain().next_offset()) else {
            return Ok(());
        };
        superblock.advance(storage, &writer.directory().directory, frontier)?;
        Ok(())
    }

    /// Does something with a served partition's writer. One that cannot go on is closed.
    fn write<T>(
        &mut self,
        storage: &S,
        namespace: Namespace,
        work: impl FnOnce(&mut Served<S>) -> Result<T, WriterError>,
    ) -> Result<T, ClientError> {
        let (key, served) = self.served(namespace)?;
        let answer = work(served);
        if let Some(cause) = served.writer.poisoned_by().copied() {
            self.set_unavailable(storage, &key, &Cause::Poisoned(cause));
        }
        Ok(answer?)
    }

    /// The one door to a partition: nothing that is not served gets through.
    fn served(&mut self, namespace: Namespace) -> Result<(Key, &mut Served<S>), ClientError> {
        let Some(key) = self.newest(namespace) else {
            return Err(self.metadata.error().map_or(ClientError::NoSuchPartition, ClientError::Host));
        };
        let slot = self.slots.get_mut(&key).ok_or(ClientError::NoSuchPartition)?;
        match &mut slot.state {
            SlotState::Served(served) => Ok((key, served)),
            SlotState::Created => Err(ClientError::NotMade),
            SlotState::Waiting | SlotState::Recovering(_) => Err(ClientError::Recovering),
            SlotState::Refused(reason) => Err(ClientError::Refused(reason.reason_code())),
            SlotState::Unavailable(cause) => Err(ClientError::Unavailable(*cause)),
            SlotState::Rebuilding(_) => Err(ClientError::Rebuilding),
            SlotState::Deleting(_) => Err(ClientError::Deleted),
        }
    }
}
