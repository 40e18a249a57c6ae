//! What goes wrong with bytes on their way from one node to another.
//!
//! All of it comes from a stream of its own, so that worlds of one node, and all that happens in others besides, are as
//! they were before there was a wire.

use super::draft::Draft;
use super::workload::narrow;
use crate::schedule::crash::CallPoint;
use crate::schedule::fault::{Edit, Fault, FaultInside, FaultKind, Times};
use crate::schedule::step::{Action, Interruption};
use crate::schedule::tape::Stream;
use crate::schedule::target::{FileRole, Target};
use crate::schedule::world::Regime;

const STREAM: Stream = Stream::Wire;

/// How many of 1000 transfers lose something on the way.
const SHARE: u32 = 300;
/// How many of 1000 nodes that are down find something damaged beside their partitions.
const BESIDE_SHARE: u32 = 100;
/// About how long the text is that says that a copy is complete, up to the name of the fence.
const MARKER_BYTES: u64 = 120;

impl Draft<'_> {
    /// What lies beside the partitions of a node that is down may be damaged too: a copy from a peer, what was set aside,
    /// the metadata log; and a partition may be gone with its directory.
    pub(super) fn spoil_beside(&mut self) {
        if self.world.regime != Regime::Unlimited || !self.tape.chance(STREAM, BESIDE_SHARE) {
            return;
        }
        let at = self.pick_partition(STREAM);
        let partition = self.books[at].namespace();
        let index = self.tape.index(STREAM, self.books[at].segments.len());
        let segment = self.books[at].segments[index].start;
        let files = [
            (3, FileRole::CopyLog(segment)),
            (1, FileRole::CopyLedger),
            (2, FileRole::Fenced),
            (1, FileRole::MetadataLog),
            (1, FileRole::Directory),
        ];
        let file = self.tape.weighted(STREAM, &files);
        if file == FileRole::Directory {
            let target = Target::File { partition, file, position: 0, length: None };
            let fault = Fault::new(FaultKind::LostDirectoryEntry, target);
            self.push(Action::Fault { fault, cached: false });
            return;
        }
        let kinds = [(4, FaultKind::BitFlip), (1, FaultKind::Zeroed), (1, FaultKind::LostWrite)];
        let kind = self.tape.weighted(STREAM, &kinds);
        let position = self.tape.range(STREAM, 0, 600);
        let mut fault = Fault::new(kind, Target::File { partition, file, position, length: Some(8) });
        fault.edit = (kind == FaultKind::BitFlip).then_some(Edit::Bit(3));
        self.push(Action::Fault { fault, cached: false });
    }

    /// What says that a copy is complete may be damaged before a start has put the copy in its place.
    pub(super) fn spoil_marker(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        let kinds = [(4, FaultKind::BitFlip), (1, FaultKind::Zeroed)];
        let kind = self.tape.weighted(STREAM, &kinds);
        let position = self.tape.range(STREAM, 0, MARKER_BYTES - 1);
        let target = Target::File { partition, file: FileRole::Complete, position, length: Some(1) };
        let mut fault = Fault::new(kind, target);
        fault.edit = (kind == FaultKind::BitFlip).then_some(Edit::Bit(0));
        self.push(Action::Fault { fault, cached: false });
    }

    /// Something may go wrong with what the peer sends in the step that was just added.
    pub(super) fn spoil_wire(&mut self) {
        let Some(Action::Transfer { partition, .. }) = self.steps.last().map(|step| &step.action) else {
            return;
        };
        let partition = *partition;
        if !self.tape.chance(STREAM, SHARE) {
            return;
        }
        // What comes changed is no error that a call reports.
        let lies = if self.world.regime == Regime::Unlimited { 3 } else { 0 };
        let kinds = [
            (1, FaultKind::ShortRead),
            (1, FaultKind::ReadError),
            (lies, FaultKind::TransientReadCorruption),
            (lies, FaultKind::MisdirectedRead),
        ];
        let kind = self.tape.weighted(STREAM, &kinds);
        let mut fault = Fault::new(kind, Target::Partition(partition));
        fault.times = self.tape.weighted(STREAM, &[(3, Times::Count(1)), (1, Times::Always)]);
        if kind == FaultKind::ShortRead {
            fault.bytes = self.tape.weighted(STREAM, &[(2, None), (1, Some(1)), (1, Some(100))]);
        } else if kind == FaultKind::MisdirectedRead {
            fault.to = self.anywhere(STREAM);
        } else if kind == FaultKind::TransientReadCorruption {
            fault.edit = Some(Edit::Bit(narrow(self.tape.range(STREAM, 0, 8 * 2048 - 1))));
        }
        let at = CallPoint { on: None, call: narrow(self.tape.range(STREAM, 1, 4)) };
        let inside = FaultInside { at, at_peer: true, fault };
        let step = self.steps.last_mut().expect("a transfer was just added");
        step.interruptions.push(Interruption::Fault(inside));
    }
}
