//! Calls that go wrong inside a step.

use recovery_core::storage::Call;

use super::draft::Draft;
use super::swarm::kinds;
use super::workload::narrow;
use crate::schedule::crash::CallPoint;
use crate::schedule::fault::{Edit, Fault, FaultInside, FaultKind, Times};
use crate::schedule::step::Interruption;
use crate::schedule::tape::Stream;
use crate::schedule::target::{Destination, Target};

const STREAM: Stream = Stream::Faults;

/// A step by the calls it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Append,
    Flush,
    Roll,
    Checkpoint,
    Retain,
    Stop,
    Start,
    Poll,
    /// A command that the metadata log takes down.
    Command,
    /// A pass, an insert, or what an operator gives up.
    Pass,
    /// A copy from a peer.
    Copy,
}

/// How often a call is aimed at, which, and about how many of it a step makes.
type Calls = &'static [(u32, (Call, u32))];

impl Moment {
    /// The calls that change something, which crashes are aimed at.
    pub(super) const fn changing_calls(self) -> Calls {
        match self {
            // Mostly none; the first append of an open writes to the ledger, and one behind a full segment
            // begins a new one.
            Self::Append => &[
                (3, (Call::Write, 3)),
                (4, (Call::Sync, 3)),
                (2, (Call::Create, 2)),
                (2, (Call::SyncDirectory, 1)),
                (1, (Call::Rename, 1)),
            ],
            Self::Flush => &[(3, (Call::Write, 3)), (4, (Call::Sync, 2))],
            Self::Roll => &[
                (2, (Call::Write, 3)),
                (3, (Call::Sync, 3)),
                (3, (Call::Create, 2)),
                (3, (Call::SyncDirectory, 1)),
            ],
            Self::Checkpoint => &[(1, (Call::Write, 1)), (2, (Call::Sync, 2))],
            Self::Retain => &[(1, (Call::Write, 1)), (1, (Call::Sync, 1)), (2, (Call::Remove, 2))],
            Self::Stop => &[(1, (Call::Write, 2)), (2, (Call::Sync, 3)), (1, (Call::SyncDirectory, 1))],
            Self::Start => &[
                (2, (Call::Write, 8)),
                (3, (Call::Sync, 8)),
                (2, (Call::SyncDirectory, 4)),
                (1, (Call::Create, 4)),
                (3, (Call::Rename, 3)),
                (3, (Call::SetLength, 2)),
                (1, (Call::MakeDirectory, 1)),
            ],
            Self::Poll => &[(1, (Call::Read, 4))],
            Self::Command => &[(2, (Call::Write, 2)), (3, (Call::Sync, 2))],
            Self::Pass => &[
                (2, (Call::Write, 12)),
                (3, (Call::Sync, 12)),
                (3, (Call::SyncDirectory, 12)),
                (2, (Call::Create, 6)),
                (3, (Call::Rename, 4)),
                (2, (Call::Remove, 8)),
                (1, (Call::MakeDirectory, 4)),
            ],
            // Two for each segment, and then each of the few that put the copy in its place.
            Self::Copy => &[
                (2, (Call::Write, 8)),
                (3, (Call::Sync, 8)),
                (3, (Call::SyncDirectory, 8)),
                (3, (Call::Create, 6)),
                (5, (Call::Rename, 4)),
                (1, (Call::Remove, 2)),
                (1, (Call::MakeDirectory, 1)),
            ],
        }
    }

    /// About how many calls a step makes in all.
    pub(super) const fn calls_most(self) -> u32 {
        match self {
            Self::Flush | Self::Command => 5,
            Self::Append | Self::Roll => 9,
            Self::Checkpoint => 3,
            Self::Retain | Self::Poll => 4,
            Self::Stop => 6,
            Self::Start | Self::Pass | Self::Copy => 80,
        }
    }

    /// About how many of one call a step makes; 0 for none.
    const fn count_most(self, call: Call) -> u32 {
        match (self, call) {
            (Self::Start | Self::Pass | Self::Copy, Call::Open | Call::Read) => 16,
            (Self::Start | Self::Pass | Self::Copy, Call::Write | Call::Sync | Call::Length)
            | (Self::Pass | Self::Copy, Call::SyncDirectory | Call::Remove) => 8,
            (
                Self::Start,
                Call::Create | Call::SyncDirectory | Call::DropCache | Call::List | Call::Rename | Call::Lock,
            )
            | (
                Self::Pass | Self::Copy,
                Call::Create
                | Call::DropCache
                | Call::List
                | Call::Rename
                | Call::Lock
                | Call::MakeDirectory
                | Call::SetLength,
            )
            | (Self::Poll, Call::Read | Call::Open | Call::Length) => 4,
            (Self::Append | Self::Flush | Self::Roll, Call::Write)
            | (Self::Append | Self::Roll | Self::Stop, Call::Sync) => 3,
            (Self::Start, Call::SetLength | Call::Remove)
            | (Self::Flush | Self::Checkpoint | Self::Command, Call::Sync)
            | (Self::Stop | Self::Command, Call::Write)
            | (Self::Append | Self::Roll, Call::Create)
            | (Self::Retain, Call::Remove) => 2,
            (Self::Start, Call::MakeDirectory)
            | (Self::Checkpoint | Self::Retain, Call::Write)
            | (Self::Retain, Call::Sync)
            | (Self::Append, Call::Rename)
            | (Self::Append | Self::Roll | Self::Stop, Call::SyncDirectory) => 1,
            (
                Self::Append
                | Self::Flush
                | Self::Roll
                | Self::Checkpoint
                | Self::Retain
                | Self::Stop
                | Self::Poll
                | Self::Command,
                _,
            ) => 0,
        }
    }
}

/// The kinds that hit a call.
const AT_CALLS: u64 = kinds(&[
    FaultKind::ShornWrite,
    FaultKind::LostWrite,
    FaultKind::LyingFlush,
    FaultKind::MisdirectedWrite,
    FaultKind::MisdirectedRead,
    FaultKind::TransientReadCorruption,
    FaultKind::ReadError,
    FaultKind::WriteError,
    FaultKind::SyncFailure,
    FaultKind::DeferredSyncError,
    FaultKind::SwallowedSyncError,
    FaultKind::ShortRead,
    FaultKind::ShortWrite,
    FaultKind::Interrupted,
    FaultKind::NoSpace,
    FaultKind::TooManyFiles,
    FaultKind::PermissionDenied,
    FaultKind::ReadOnly,
    FaultKind::ListingOrder,
]);

/// The calls that a kind can hit.
const fn calls_of(kind: FaultKind) -> &'static [Call] {
    match kind {
        FaultKind::ShornWrite
        | FaultKind::LostWrite
        | FaultKind::MisdirectedWrite
        | FaultKind::ShortWrite => &[Call::Write],
        FaultKind::LyingFlush => &[Call::Sync, Call::SyncDirectory],
        FaultKind::DeferredSyncError | FaultKind::SwallowedSyncError => &[Call::Sync],
        FaultKind::SyncFailure => &[Call::Sync, Call::Sync, Call::SyncDirectory],
        FaultKind::MisdirectedRead | FaultKind::TransientReadCorruption | FaultKind::ShortRead => {
            &[Call::Read]
        }
        FaultKind::ReadError => &[Call::Read, Call::Read, Call::Open, Call::List, Call::Length],
        FaultKind::WriteError => &[Call::Write, Call::Write, Call::SetLength, Call::Rename, Call::Remove],
        FaultKind::Interrupted => &[Call::Read, Call::Write, Call::Open],
        FaultKind::NoSpace => {
            &[Call::Write, Call::Write, Call::Create, Call::Rename, Call::Sync, Call::MakeDirectory]
        }
        FaultKind::TooManyFiles => &[Call::Open, Call::Create],
        FaultKind::PermissionDenied => &[Call::Open, Call::Create, Call::Remove, Call::Lock],
        FaultKind::ReadOnly => &[Call::Write, Call::Create, Call::SetLength, Call::Rename],
        FaultKind::ListingOrder => &[Call::List],
        FaultKind::BitFlip
        | FaultKind::Zeroed
        | FaultKind::Noise
        | FaultKind::ForeignBatch
        | FaultKind::StaleGenerationBatch
        | FaultKind::DuplicateBatch
        | FaultKind::LatentSectorError
        | FaultKind::LostDirectoryEntry
        | FaultKind::UndoneRename
        | FaultKind::UndoneUnlink
        | FaultKind::StrayFile
        | FaultKind::OperatorDeletesIndex
        | FaultKind::OperatorCopiesSegment
        | FaultKind::OperatorRestoresFile
        | FaultKind::OperatorDropsLedger => &[],
    }
}

impl Draft<'_> {
    /// What goes wrong inside a step of the workload; mostly nothing.
    pub(super) fn step_errors(&mut self, moment: Moment) -> Vec<Interruption> {
        self.errors(moment, self.swarm.error_share)
    }

    /// What goes wrong inside a start.
    pub(super) fn start_errors(&mut self) -> Vec<Interruption> {
        self.errors(Moment::Start, self.swarm.start_error_share)
    }

    fn errors(&mut self, moment: Moment, share: u32) -> Vec<Interruption> {
        let mut errors = Vec::new();
        if self.tape.chance(STREAM, share) {
            let count = self.tape.range(STREAM, 1, self.swarm.cluster);
            for _ in 0..count {
                errors.extend(self.error(moment));
            }
        }
        errors
    }

    fn error(&mut self, moment: Moment) -> Option<Interruption> {
        let kind = self.swarm.pick(self.tape, STREAM, AT_CALLS)?;
        let call = self.tape.pick(STREAM, calls_of(kind));
        let times = self.times(kind);
        let most = moment.count_most(call);
        if most == 0 {
            return None;
        }
        let at = CallPoint { on: Some(call), call: narrow(self.tape.range(STREAM, 1, u64::from(most))) };
        let mut fault = Fault::new(kind, Target::Any);
        fault.times = times;
        self.complete(&mut fault);
        Some(Interruption::Fault(FaultInside { at, at_peer: false, fault }))
    }

    fn times(&mut self, kind: FaultKind) -> Times {
        let times = [(6, Times::Count(1)), (2, Times::Count(3)), (2, Times::Always)];
        match (kind, self.tape.weighted(STREAM, &times)) {
            // A signal that comes for ever is no signal; a call would rightly wait for ever.
            (FaultKind::Interrupted, Times::Always) => Times::Count(8),
            (_, times) => times,
        }
    }

    /// Draws what the kind needs besides its call.
    fn complete(&mut self, fault: &mut Fault) {
        let has_bytes =
            matches!(fault.kind, FaultKind::ShortRead | FaultKind::ShortWrite | FaultKind::ShornWrite);
        let is_misdirected = matches!(fault.kind, FaultKind::MisdirectedRead | FaultKind::MisdirectedWrite);
        if has_bytes {
            fault.bytes =
                self.tape.weighted(STREAM, &[(3, None), (2, Some(1)), (1, Some(100)), (1, Some(512))]);
        } else if is_misdirected {
            fault.to = self.anywhere(STREAM);
        } else if fault.kind == FaultKind::ListingOrder {
            fault.edit = Some(Edit::Value(self.tape.word(STREAM)));
        } else if fault.kind == FaultKind::TransientReadCorruption {
            fault.edit = Some(Edit::Bit(narrow(self.tape.range(STREAM, 0, 8 * 512 - 1))));
        }
    }

    /// A batch of any partition, as the place where something lands.
    pub(super) fn anywhere(&mut self, stream: Stream) -> Destination {
        let at = self.pick_partition(stream);
        let book = &self.books[at];
        let partition = Some(book.namespace());
        if book.batches.is_empty() {
            return Destination { batch: None, segment: Some(book.last_segment().start), partition };
        }
        let index = self.tape.index(stream, book.batches.len());
        Destination { batch: Some(self.books[at].batches[index].batch), segment: None, partition }
    }
}
