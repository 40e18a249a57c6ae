//! What the host does about each finding, enumerated, and what a client is told of it. The sentence of each event is
//! in `snapshots/sentences.snap`.

use recovery_core::decide::ReasonCode;
use recovery_core::host::{Cause, ClientError, Finding, HostError, Replication, deed};
use recovery_core::partition::{PollError, WriterError};
use recovery_core::storage::{Call, Errno, StorageError};
use recovery_core::units::{Length, Namespace, Offset};
use recovery_core::wal::MetadataFault;

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

fn io() -> StorageError {
    StorageError { call: Call::Remove, file: name("5"), errno: Errno::IO }
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
