//! Builds one segment of a replacement: its log, verified from the medium, and its index.
//!
//! Promises: memory of one window; what lies here is used first, and if the segment does not hash to what is
//! offered then, all of it is taken from the peer. Leaves out: making names durable.

use super::{InstallError, Offer, Piece, PieceSource, Source, SourceError};
use crate::format::{FileName, INDEX_ENTRY_BYTES, IndexEntry, Mark};
use crate::observe::{LogCheck, LogExpectation, Workspace};
use crate::storage::{Access, Call, Errno, Name, Storage, StorageError, exact};
use crate::units::Position;

/// The segment under way.
pub(super) struct SegmentBuild<S: Storage> {
    expectation: LogExpectation,
    name: Name,
    pieces: Vec<Piece>,
    target: S::File,
    /// The log here that holds some of it, while it is read.
    local: Option<S::File>,
    written: u64,
    is_mixed: bool,
    check: Option<LogCheck>,
}

/// Where bytes come from and go to.
pub(super) struct Site<'a, S: Storage, R: Source> {
    pub(super) storage: &'a S,
    /// The directory that is being built.
    pub(super) sibling: &'a S::Directory,
    /// The one that is there, if any is.
    pub(super) old: Option<&'a S::Directory>,
    pub(super) source: &'a mut R,
}

impl<S: Storage> SegmentBuild<S> {
    /// Creates the log.
    pub(super) fn start<R: Source>(
        site: &Site<'_, S, R>,
        offer: &Offer,
        end: Mark,
        pieces: Vec<Piece>,
    ) -> Result<Self, StorageError> {
        let name = FileName::log(end.segment);
        let target = exact::uninterrupted(|| site.storage.create(site.sibling, &name))?;
        let (namespace, incarnation) = (offer.namespace, offer.incarnation);
        let is_mixed = pieces.iter().any(|piece| piece.source == PieceSource::Local);
        let expectation = LogExpectation { namespace, incarnation, end };
        Ok(Self { expectation, name, pieces, target, local: None, written: 0, is_mixed, check: None })
    }

    /// Copies or verifies about `limit` bytes; says whether the segment is whole and durable by then.
    pub(super) fn advance<R: Source>(
        &mut self,
        site: &mut Site<'_, S, R>,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<bool, InstallError> {
        let end = self.expectation.end;
        if self.written < end.position.get() {
            self.copy(site, workspace.scratch(), limit)?;
            return Ok(false);
        }
        let check = match &mut self.check {
            Some(check) => check,
            unbegun => {
                site.storage.sync(&self.target)?;
                // What is verified must come from the medium.
                exact::uninterrupted(|| site.storage.drop_cache(&self.target))?;
                unbegun.insert(LogCheck::new(self.expectation, workspace))
            }
        };
        match check.step(site.storage, &self.target, &self.name, workspace, limit)? {
            None => Ok(false),
            Some(true) => {
                let check = self.check.take().expect("it said so just now");
                self.write_index(site, &check.into_index())?;
                Ok(true)
            }
            Some(false) if self.is_mixed => self.begin_again(site.storage).map(|()| false),
            Some(false) => Err(InstallError::NotAsOffered { segment: end.segment }),
        }
    }

    fn copy<R: Source>(
        &mut self,
        site: &mut Site<'_, S, R>,
        scratch: &mut [u8],
        limit: u64,
    ) -> Result<(), InstallError> {
        let at = Position::new(self.written);
        let piece = *self.pieces.iter().find(|piece| piece.to > at).expect("pieces cover the segment");
        let left = piece.to.get() - self.written;
        let most = left.min(limit).min(scratch.len() as u64);
        let buffer = &mut scratch[..usize::try_from(most).expect("a part of a buffer")];
        let count = match piece.source {
            PieceSource::Local => self.read_local(site, buffer)?,
            PieceSource::Peer => {
                site.source.read(piece.segment, at, buffer).map_err(InstallError::Source)?.min(buffer.len())
            }
        };
        if count == 0 {
            return match piece.source {
                // It is shorter than it was.
                PieceSource::Local => Ok(self.begin_again(site.storage)?),
                PieceSource::Peer => Err(InstallError::Source(SourceError::Gone)),
            };
        }
        exact::write_all(site.storage, &self.target, &self.name, self.written, &buffer[..count])?;
        self.written += count as u64;
        Ok(())
    }

    fn read_local<R: Source>(
        &mut self,
        site: &Site<'_, S, R>,
        buffer: &mut [u8],
    ) -> Result<usize, StorageError> {
        let file = match &mut self.local {
            Some(file) => file,
            none => {
                let gone = StorageError { call: Call::Open, file: self.name, errno: Errno::NOT_FOUND };
                let old = site.old.ok_or(gone)?;
                none.insert(exact::uninterrupted(|| site.storage.open(old, &self.name, Access::Read))?)
            }
        };
        exact::read(site.storage, file, self.written, buffer)
    }

    /// Takes all of it from the peer.
    fn begin_again(&mut self, storage: &S) -> Result<(), InstallError> {
        exact::uninterrupted(|| storage.set_length(&self.target, 0))?;
        let end = self.expectation.end;
        let (segment, from, to, source) = (end.segment, Position::ZERO, end.position, PieceSource::Peer);
        self.pieces = vec![Piece { segment, from, to, source }];
        (self.written, self.is_mixed, self.check) = (0, false, None);
        Ok(())
    }

    fn write_index<R: Source>(
        &self,
        site: &Site<'_, S, R>,
        entries: &[IndexEntry],
    ) -> Result<(), StorageError> {
        let name = FileName::index(self.expectation.end.segment);
        let index = exact::uninterrupted(|| site.storage.create(site.sibling, &name))?;
        let mut bytes = Vec::with_capacity(entries.len() * INDEX_ENTRY_BYTES);
        for entry in entries {
            bytes.extend_from_slice(&entry.encode());
        }
        let written =
            exact::write_all(site.storage, &index, &name, 0, &bytes).and_then(|()| site.storage.sync(&index));
        site.storage.close(index);
        written
    }

    pub(super) fn close(self, storage: &S) {
        storage.close(self.target);
        if let Some(local) = self.local {
            storage.close(local);
        }
    }
}
