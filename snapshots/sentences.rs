//! The sentence of each event of a host, as an operator reads it.
//!
//! Findings about words: F10, F59, F60, F61. What a partition is refused for is in `reasons`.

use std::fmt::Write;

use recovery_core::decide::{Reason, ReasonCode};
use recovery_core::host::{Cause, HostEvent, InsertRefusal, OffsetRange, RebuildCause, UnknownDirectory};
use recovery_core::storage::{Call, Errno, Name, StorageError};
use recovery_core::transfer::{InstallError, SourceError};
use recovery_core::units::{Incarnation, Length, Namespace, Offset, Position, SegmentStart};
use recovery_core::wal::{CutTail, Key, MetadataFault};

const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };

fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).expect("a name")
}

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
    let mut text = String::new();
    for event in events() {
        let sentence = event.to_string();
        assert!(!sentence.contains('\n'), "an event is one line: {sentence}");
        writeln!(text, "{sentence}").expect("to a string");
    }
    crate::check("sentences", text.trim_end());
}
