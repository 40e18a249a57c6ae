//! What becomes of directories that copies replace, and of the copies: chains of steps of a replica and a peer of it.
//!
//! Promises: a directory makes way again and again, and is listed in another order when it does; a copy that only lacks
//! its name has a text that is damaged; a copy that never got its name lies there when the directory beside it is lost.
//! Leaves out: which of them befalls a world (`motifs`), copies of the common kind (`copies`).

use recovery_core::storage::Call;

use super::draft::Draft;
use crate::schedule::crash::{Crash, Survival, Survivors};
use crate::schedule::fault::{Edit, Fault, FaultKind, Times};
use crate::schedule::step::{AcceptLoss, Action, NodeId};
use crate::schedule::tape::Stream;
use crate::schedule::target::{FileRole, Target};

const STREAM: Stream = Stream::Motifs;

/// How often a directory makes way in a row.
const WAYS: (u64, u64) = (2, 4);
/// Where the line lies, about, in the text of a complete copy that names the fence.
const FENCE_LINE: (u64, u64) = (86, 112);
/// Which renames of a copy are those that put it in the place of a directory, and which are about them.
const PLACING: (u64, u64) = (1, 4);

impl Draft<'_> {
    /// What a mark covers is damaged and comes from a peer, again and again, and each time another directory makes way.
    pub(super) fn make_way_again(&mut self, at: usize, peer: NodeId) {
        let partition = self.books[at].namespace();
        self.append_and_flush(at, self.batches_end);
        let ways = self.tape.range(STREAM, WAYS.0, WAYS.1);
        for _ in 0..ways {
            self.lose(at);
            if self.tape.chance(STREAM, 600) {
                let mut fault = Fault::new(FaultKind::ListingOrder, Target::Any);
                let others = self.tape.word(STREAM);
                fault.edit = Some(Edit::Value(self.tape.pick(STREAM, &[1, others])));
                fault.times = self.tape.weighted(STREAM, &[(3, Times::Always), (1, Times::Count(1))]);
                self.hurt(fault);
            }
            self.push(Action::Start);
            self.push(Action::Transfer { partition, from: peer });
        }
    }

    /// A copy is whole and lacks its name, and what names the fence of the directory that makes way for it is damaged.
    pub(super) fn damage_what_names_the_fence(&mut self, at: usize, peer: NodeId) {
        let partition = self.books[at].namespace();
        self.append_and_flush(at, self.batches_end);
        self.lose(at);
        self.push(Action::Start);
        let around = self.tape.range(STREAM, PLACING.0, PLACING.1);
        let call = self.tape.weighted(STREAM, &[(4, 3), (2, around)]);
        let keeps_all = Crash::Power(Survival::of(Survivors::All));
        let crash = if self.tape.chance(STREAM, 700) { keeps_all } else { Crash::Process };
        self.push_crashing(Action::Transfer { partition, from: peer }, Call::Rename, call, crash);
        let position = self.tape.range(STREAM, FENCE_LINE.0, FENCE_LINE.1);
        let target = Target::File { partition, file: FileRole::Complete, position, length: Some(1) };
        let mut fault = Fault::new(FaultKind::BitFlip, target);
        fault.edit = Some(Edit::Bit(3));
        self.hurt(fault);
        self.push(Action::Start);
    }

    /// A copy never gets its name, the replica is served all the same by an operator's word and goes on, and then its
    /// directory is lost.
    pub(super) fn outlive_the_loss(&mut self, at: usize, peer: NodeId) {
        let partition = self.books[at].namespace();
        self.append_and_flush(at, self.batches_end);
        let lost = self.lose(at);
        self.push(Action::Start);
        let around = self.tape.range(STREAM, PLACING.0, PLACING.1);
        let call = self.tape.weighted(STREAM, &[(4, 2), (2, around)]);
        let crash = self.deep_crash();
        self.push_crashing(Action::Transfer { partition, from: peer }, Call::Rename, call, crash);
        self.push(Action::Start);
        let range = lost.and_then(|batch| self.offsets_of(at, batch));
        self.push(Action::AcceptLoss(AcceptLoss { partition, range }));
        if self.tape.chance(STREAM, 700) {
            self.append_and_flush(at, self.batches_end);
        }
        self.crash_now(Crash::Process);
        self.lose_directory(at);
        self.push(Action::Start);
    }
}
