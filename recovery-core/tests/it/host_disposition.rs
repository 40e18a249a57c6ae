//! What the host does about each finding, enumerated, and the sentence of each event.

use recovery_core::decide::{Reason, ReasonCode};
use recovery_core::host::{
    Cause, ClientError, Finding, HostError, HostEvent, InsertRefusal, OffsetRange, RebuildCause, Replication,
    UnknownDirectory, deed,
};
use recovery_core::partition::{PollError, WriterError};
use recovery_core::storage::{Call, Errno, StorageError};
use recovery_core::transfer::{InstallError, SourceError};
use recovery_core::units::{Incarnation, Length, Namespace, Offset, Position, SegmentStart};
use recovery_core::wal::{CutTail, Key, MetadataFault};

use crate::memory_storage::name;

/// F09, F65: 6 findings, 2 replications, empty or not: no reason of a lone node is ever served all the same.
#[test]
fn f09_f65_the_whole_table() {
    let mut lines = Vec::new();
    for finding in Finding::ALL {
        for replication in Replication::ALL {
            let [holds, empty] = [false, true].map(|is_empty| deed(finding, replication, is_empty).code());
            let both = if holds == empty { holds.to_owned() } else { format!("{holds} (empty: {empty})") };
            lines.push(format!("{} {}: {both}", finding.code(), replication.code()));
        }
    }
    assert_eq!(
        lines.join("\n"),
        "serve lone: serve\n\
         serve peers: serve\n\
         serve-from lone: serve-with-gap\n\
         serve-from peers: ask-for-gap\n\
         refuse lone: tombstone\n\
         refuse peers: rebuild-around (empty: rebuild-whole)\n\
         unavailable lone: retry\n\
         unavailable peers: retry\n\
         unreadable lone: retry\n\
         unreadable peers: rebuild-around (empty: rebuild-whole)\n\
         missing lone: tombstone\n\
         missing peers: rebuild-whole"
    );
}

const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };

fn key() -> Key {
    Key { namespace: NAMESPACE, incarnation: Incarnation::new(4) }
}

fn io() -> StorageError {
    StorageError { call: Call::Remove, file: name("5"), errno: Errno::IO }
}

fn missing() -> Reason {
    Reason::MissingPartition { namespace: NAMESPACE }
}

fn overlap() -> Reason {
    let (segment, next_segment) = (SegmentStart::ZERO, SegmentStart::new(5));
    Reason::Overlap { segment, last_offset: Offset::new(7), next_segment }
}

fn events() -> Vec<HostEvent> {
    let key = key();
    let gap = OffsetRange { first: Offset::new(3), next: Some(Offset::new(9)) };
    let served = |cut, copies, gap| HostEvent::Served {
        key,
        next_offset: Offset::new(9),
        messages: 3,
        cut: Length::new(cut),
        copies,
        gap,
    };
    let cut = CutTail { position: Position::new(64), length: Length::new(7), kept: None };
    let insert = |why| HostEvent::InsertRefused { key, why };
    vec![
        HostEvent::MetadataOpened { partitions: 2 },
        HostEvent::MetadataCut(cut),
        HostEvent::MetadataRefused(MetadataFault::Headless { length: Length::new(5) }),
        HostEvent::MetadataUnavailable(io()),
        HostEvent::UnknownDirectory(UnknownDirectory { path: vec![name("streams"), name("x")] }),
        HostEvent::NotListed(io()),
        HostEvent::Created(key),
        HostEvent::Made(key),
        served(0, 0, None),
        served(5, 1, Some((Offset::new(3), Offset::new(8)))),
        HostEvent::Refused { key, reason: overlap() },
        HostEvent::Refused { key, reason: missing() },
        HostEvent::Unavailable { key, cause: Cause::Locked },
        HostEvent::Unavailable { key, cause: Cause::Poisoned(io()) },
        HostEvent::Unavailable { key, cause: Cause::Occupied },
        HostEvent::Rebuilding { key, cause: RebuildCause::Refused(overlap()) },
        HostEvent::Rebuilding { key, cause: RebuildCause::Refused(missing()) },
        HostEvent::Rebuilding { key, cause: RebuildCause::Gap(gap) },
        HostEvent::Rebuilding { key, cause: RebuildCause::Unreadable(Cause::Io(io())) },
        HostEvent::Installed(key),
        HostEvent::InstallFailed { key, error: InstallError::Source(SourceError::Gone) },
        HostEvent::InstallFailed { key, error: InstallError::Io(io()) },
        HostEvent::Deleting(key),
        HostEvent::Deleted(key),
        HostEvent::DeleteFailed { key, error: io() },
        insert(InsertRefusal::OldIncarnation),
        insert(InsertRefusal::Deleting),
        insert(InsertRefusal::PredecessorPresent),
        insert(InsertRefusal::Tombstoned(ReasonCode::Hole)),
        insert(InsertRefusal::Rebuilding),
        insert(InsertRefusal::Unavailable(Cause::Locked)),
    ]
}

/// F10, F59, F60, F61: one line each, the reason on it, and nothing is promised that is not done.
#[test]
fn f10_f59_f60_f61_every_sentence() {
    let lines: Vec<String> = events().iter().map(ToString::to_string).collect();
    assert_eq!(
        lines.join("\n"),
        "the metadata log is read; partitions it names: 2\n\
         7 bytes were cut off the metadata log at byte 64, and all of them were zero\n\
         no partition is served [metadata-headless]: the metadata log has 5 bytes, and no batch verifies at its start; no file is touched\n\
         the metadata log is unavailable: remove of 5 failed with EIO; it is read again at the next try\n\
         streams/x is named by no record of the metadata log; it is left alone\n\
         directories that no record names were not all looked for: remove of 5 failed with EIO\n\
         partition 1/2/3 (incarnation 4) is to be made\n\
         partition 1/2/3 (incarnation 4) is made: its directory is durable\n\
         partition 1/2/3 (incarnation 4) is served: 3 messages, next offset 9\n\
         partition 1/2/3 (incarnation 4) is served: 3 messages, next offset 9; 5 bytes were cut off, and 1 copy lies in fences; offsets 3 to 8 stay unused\n\
         partition 1/2/3 (incarnation 4) is refused [overlap]: segment 0 holds offsets up to 7, and segment 5 follows it; its files stay as they are\n\
         partition 1/2/3 (incarnation 4) is refused [missing-partition]: partition 1/2/3 was made, and its directory is not there; nothing is created in its place\n\
         partition 1/2/3 (incarnation 4) is not served for now [locked]: somebody else holds its lock\n\
         partition 1/2/3 (incarnation 4) is not served for now [poisoned]: remove of 5 failed with EIO, so that what is durable has to be looked up\n\
         partition 1/2/3 (incarnation 4) is not served for now [occupied]: its directory is there already, and holds what is not its own\n\
         partition 1/2/3 (incarnation 4) waits for peers [overlap]: segment 0 holds offsets up to 7, and segment 5 follows it; its files stay as they are until a complete copy is here\n\
         partition 1/2/3 (incarnation 4) waits for peers [missing-partition]: partition 1/2/3 was made, and its directory is not there; all of it is asked for\n\
         partition 1/2/3 (incarnation 4) waits for peers [gap]: offsets 3 to below 9 are not here\n\
         partition 1/2/3 (incarnation 4) waits for peers [io]: a part of it stays unreadable, remove of 5 failed with EIO; its files stay as they are until a complete copy is here\n\
         partition 1/2/3 (incarnation 4) has a whole copy from a peer in its place; whatever was there before lies in a fence\n\
         partition 1/2/3 (incarnation 4) has no copy from a peer [source-failed]: the bytes did not come: the peer is gone; its files stay as they are\n\
         partition 1/2/3 (incarnation 4) has no copy from a peer [install-io]: the copy was not installed: remove of 5 failed with EIO; it is judged again\n\
         partition 1/2/3 (incarnation 4) is to be removed, with its fences\n\
         partition 1/2/3 (incarnation 4) is removed: nothing of it is left\n\
         partition 1/2/3 (incarnation 4) is not removed yet: remove of 5 failed with EIO; the next pass goes on\n\
         partition 1/2/3 (incarnation 4) is not mounted: it is not the newest life\n\
         partition 1/2/3 (incarnation 4) is not mounted: it is being removed\n\
         partition 1/2/3 (incarnation 4) is not mounted: an earlier life is not removed yet\n\
         partition 1/2/3 (incarnation 4) is not mounted: it is refused [hole]\n\
         partition 1/2/3 (incarnation 4) is not mounted: it waits for peers\n\
         partition 1/2/3 (incarnation 4) is not mounted [locked]: somebody else holds its lock"
    );
    assert!(lines.iter().all(|line| !line.contains('\n')), "an event is one line");
}

/// F13, F69: codes are permanent and each has one status; a dark partition is terminal.
#[test]
fn f13_f69_every_answer_that_a_client_may_get() {
    let namespace = NAMESPACE;
    let fault = MetadataFault::Headless { length: Length::ZERO };
    let errors = [
        ClientError::NoSuchPartition,
        ClientError::Deleted,
        ClientError::Refused(ReasonCode::LostDurable),
        ClientError::NotMade,
        ClientError::Recovering,
        ClientError::Unavailable(Cause::Locked),
        ClientError::Unavailable(Cause::Io(io())),
        ClientError::Rebuilding,
        ClientError::Host(HostError::NotStarted),
        ClientError::Host(HostError::MetadataRefused(fault)),
        ClientError::Host(HostError::MetadataUnavailable(io())),
        ClientError::Host(HostError::NoSuchPartition { namespace }),
        ClientError::Writer(WriterError::Io(io())),
        ClientError::Writer(WriterError::Poisoned { cause: io() }),
        ClientError::Writer(WriterError::GapNeedsLedger { first: Offset::ZERO, last: Offset::ZERO }),
        ClientError::Poll(PollError::Io(io())),
    ];
    let lines: Vec<String> =
        errors.iter().map(|error| format!("{} {}", error.code(), error.status().code())).collect();
    assert_eq!(
        lines.join("\n"),
        "no-such-partition terminal\n\
         deleted terminal\n\
         lost-durable terminal\n\
         not-made retriable\n\
         recovering retriable\n\
         locked retriable\n\
         io retriable\n\
         rebuilding retriable\n\
         not-started retriable\n\
         metadata-headless terminal\n\
         metadata-unavailable retriable\n\
         no-such-partition terminal\n\
         io retriable\n\
         poisoned retriable\n\
         gap-needs-ledger terminal\n\
         io retriable"
    );
    // Every reason is terminal, and named by its own code.
    for reason in ReasonCode::ALL {
        let error = ClientError::Refused(reason);
        assert_eq!((error.code(), error.status().code()), (reason.code(), "terminal"));
    }
}
