//! The operator's sentences: one line an event, by the layer that acts.
//!
//! Promises: what a line says of files is what the host does with them (F10, F59, F84, I23); a refusal and
//! its reason stand on one line (F61). Leaves out: the reasons' own sentences ([`crate::decide::Reason`]),
//! which say what was found and never what is done.

use std::fmt;

use super::{Cause, HostEvent, InsertRefusal, OffsetRange, RebuildCause};
use crate::decide::Reason;
use crate::transfer::InstallError;
use crate::wal::{CutTail, Key};

impl fmt::Display for HostEvent {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MetadataOpened { partitions } => {
                write!(to, "the metadata log is read; partitions it names: {partitions}")
            }
            Self::MetadataCut(cut) => metadata_cut(to, cut),
            Self::MetadataRefused(fault) => {
                write!(to, "no partition is served [{}]: {fault}; no file is touched", fault.code())
            }
            Self::MetadataUnavailable(error) => {
                write!(to, "the metadata log is unavailable: {error}; it is read again at the next try")
            }
            Self::UnknownDirectory(directory) => {
                write!(to, "{directory} is named by no record of the metadata log; it is left alone")
            }
            Self::NotListed(error) => {
                write!(to, "directories that no record names were not all looked for: {error}")
            }
            Self::Created(key) => write!(to, "{} is to be made", Named(key)),
            Self::Made(key) => write!(to, "{} is made: its directory is durable", Named(key)),
            Self::Served { key, next_offset, messages, cut, copies, gap } => {
                write!(to, "{} is served: {messages} messages, next offset {next_offset}", Named(key))?;
                if cut.get() > 0 {
                    let copies = Counted(*copies);
                    write!(to, "; {cut} bytes were cut off, and {copies} in fences")?;
                }
                match gap {
                    Some((first, last)) => write!(to, "; offsets {first} to {last} stay unused"),
                    None => Ok(()),
                }
            }
            Self::Refused { key, reason } => refused(to, key, reason),
            Self::Unavailable { key, cause } => {
                write!(to, "{} is not served for now [{}]: {cause}", Named(key), cause.code())
            }
            Self::Rebuilding { key, cause } => rebuilding(to, key, cause),
            Self::Installed(key) => write!(
                to,
                "{} has a whole copy from a peer in its place; whatever was there before lies in a fence",
                Named(key)
            ),
            Self::InstallFailed { key, error } => install_failed(to, key, error),
            Self::Deleting(key) => write!(to, "{} is to be removed, with its fences", Named(key)),
            Self::Deleted(key) => write!(to, "{} is removed: nothing of it is left", Named(key)),
            Self::DeleteFailed { key, error } => {
                write!(to, "{} is not removed yet: {error}; the next pass goes on", Named(key))
            }
            Self::InsertRefused { key, why } => insert_refused(to, key, why),
        }
    }
}

/// `1 copy lies`, `2 copies lie`.
struct Counted(u64);

impl fmt::Display for Counted {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count) = self;
        if *count == 1 { write!(to, "1 copy lies") } else { write!(to, "{count} copies lie") }
    }
}

/// `partition 1/2/3 (incarnation 4)`.
struct Named<'a>(&'a Key);

impl fmt::Display for Named<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Key { namespace, incarnation } = self.0;
        write!(to, "partition {namespace} (incarnation {incarnation})")
    }
}

fn metadata_cut(to: &mut fmt::Formatter<'_>, cut: &CutTail) -> fmt::Result {
    let CutTail { position, length, kept } = cut;
    write!(to, "{length} bytes were cut off the metadata log at byte {position}, ")?;
    match kept {
        Some(kept) => write!(to, "a copy is {kept}; they may hold a record that was acknowledged"),
        None => write!(to, "and all of them were zero"),
    }
}

fn refused(to: &mut fmt::Formatter<'_>, key: &Key, reason: &Reason) -> fmt::Result {
    let kept = match reason {
        Reason::MissingPartition { .. } => "nothing is created in its place",
        Reason::LostDurable { .. }
        | Reason::InteriorDamage { .. }
        | Reason::UnprovenResidue { .. }
        | Reason::ForeignBatch { .. }
        | Reason::OffsetDiscontinuity { .. }
        | Reason::OffsetOverflow { .. }
        | Reason::RecordCeiling { .. }
        | Reason::Hole { .. }
        | Reason::Overlap { .. }
        | Reason::EmptyNonTailSegment { .. }
        | Reason::MissingSegment { .. }
        | Reason::UnexpectedFile { .. }
        | Reason::SuperblockUnreadable { .. }
        | Reason::IdentityMismatch { .. }
        | Reason::EvidenceConflict { .. } => "its files stay as they are",
    };
    write!(to, "{} is refused [{}]: {reason}; {kept}", Named(key), reason.code())
}

fn rebuilding(to: &mut fmt::Formatter<'_>, key: &Key, cause: &RebuildCause) -> fmt::Result {
    let name = Named(key);
    match cause {
        RebuildCause::Refused(reason @ Reason::MissingPartition { .. }) => {
            write!(to, "{name} waits for peers [{}]: {reason}; all of it is asked for", reason.code())
        }
        RebuildCause::Refused(reason) => write!(
            to,
            "{name} waits for peers [{}]: {reason}; its files stay as they are until a complete copy is here",
            reason.code()
        ),
        RebuildCause::Unreadable(cause) => write!(
            to,
            "{name} waits for peers [{}]: a part of it stays unreadable, {cause}; its files stay as they are \
             until a complete copy is here",
            cause.code()
        ),
        RebuildCause::Gap(OffsetRange { first, next }) => match next {
            Some(next) => {
                write!(to, "{name} waits for peers [gap]: offsets {first} to below {next} are not here")
            }
            None => write!(to, "{name} waits for peers [gap]: offsets from {first} on are not here"),
        },
    }
}

fn install_failed(to: &mut fmt::Formatter<'_>, key: &Key, error: &InstallError) -> fmt::Result {
    let next = match error {
        // It may have failed between two renames.
        InstallError::Io(_) => "it is judged again",
        InstallError::Offer(_) | InstallError::Source(_) | InstallError::NotAsOffered { .. } => {
            "its files stay as they are"
        }
    };
    write!(to, "{} has no copy from a peer [{}]: {error}; {next}", Named(key), error.code())
}

fn insert_refused(to: &mut fmt::Formatter<'_>, key: &Key, why: &InsertRefusal) -> fmt::Result {
    let name = Named(key);
    match why {
        InsertRefusal::OldIncarnation => write!(to, "{name} is not mounted: it is not the newest life"),
        InsertRefusal::Deleting => write!(to, "{name} is not mounted: it is being removed"),
        InsertRefusal::PredecessorPresent => {
            write!(to, "{name} is not mounted: an earlier life is not removed yet")
        }
        InsertRefusal::Tombstoned(reason) => {
            write!(to, "{name} is not mounted: it is refused [{}]", reason.code())
        }
        InsertRefusal::Rebuilding => write!(to, "{name} is not mounted: it waits for peers"),
        InsertRefusal::Unavailable(cause) => write!(to, "{name} is not mounted [{}]: {cause}", cause.code()),
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked => write!(to, "somebody else holds its lock"),
            Self::Io(error) => error.fmt(to),
            Self::Open(error) => error.fmt(to),
            Self::Poisoned(error) => write!(to, "{error}, so that what is durable has to be looked up"),
            Self::Occupied => write!(to, "its directory is there already, and holds what is not its own"),
        }
    }
}
