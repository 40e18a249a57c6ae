//! How nodes follow the sequence: creations and deletions in order, batches by their offsets.
//!
//! Promises: a node that serves a partition is given just the batch that continues it, so what it lost it gets again
//! at the same offsets, and a partition that is not served gets nothing. Leaves out: what is asked of peers.

use super::cluster::Command;
use super::run::HostWorld;
use crate::run::tally::Tally;
use crate::schedule::LinkState;
use crate::world::serve::Answer;

impl HostWorld<'_> {
    /// Behind each step: every node that is up and hears something goes on.
    pub(super) fn follow(&mut self, tally: &mut Tally) {
        if self.members.len() == 1 {
            return;
        }
        self.forget_injections();
        for m in 0..self.members.len() {
            self.members[m].hear(&self.cluster, self.step);
            if !self.members[m].node.is_up {
                continue;
            }
            let is_new = self.members[m].taken < self.members[m].seen;
            let copies = self.members[m].extras.iter().any(|extra| extra.installing.is_some());
            if !is_new && !copies && !self.lags(m) {
                continue;
            }
            self.calls.clear();
            self.answers.clear();
            self.recorder.at(u8::try_from(m).expect("a world has few nodes"), self.step);
            let sight = self.sight_of_copies(m);
            self.members[m].node.disk.begin_step(&[]);
            // What was not taken is taken later.
            let _taken = self.take_commands(m);
            self.take_batches(m);
            self.go_on_installing(m);
            let _ended = self.members[m].node.disk.end_step();
            self.note_calls(m, tally);
            self.check_failed_syncs(m);
            let judged = self.note_events(m, &sight, tally);
            self.look_behind_copies(m, &sight, &judged);
        }
    }

    /// Whether a partition that is served lacks a batch that has come.
    fn lags(&self, m: usize) -> bool {
        (0..self.members[m].node.slots.len()).any(|index| self.next_batch(m, index).is_some())
    }

    /// The place in the sequence of the batch that a partition goes on with.
    fn next_batch(&self, m: usize, index: usize) -> Option<usize> {
        let member = &self.members[m];
        if !member.is_served(index) || member.link == LinkState::Down {
            return None;
        }
        let key = member.key(index);
        let writer = member.host.as_ref()?.writer(key.namespace)?;
        if writer.buffered_length().get() > 0 {
            return None;
        }
        let next = writer.next_offset();
        (0..member.seen).find(|place| match self.cluster.command(*place) {
            Command::Batch(batch) => batch.key == key && batch.base == next,
            Command::Create(_) | Command::Delete(_) | Command::Nothing => false,
        })
    }

    /// Takes the batches that continue what is served.
    pub(super) fn take_batches(&mut self, m: usize) {
        for index in 0..self.members[m].node.slots.len() {
            // Each pass takes a batch of the sequence.
            while let Some(place) = self.next_batch(m, index) {
                let Command::Batch(batch) = self.cluster.command(place) else { return };
                let (id, time, base) = (batch.id, batch.time, batch.base);
                self.scratch.batch.clone_from(&batch.bytes);
                let Ok((given, _)) = self.produce(m, index, id, time) else { break };
                assert!(given == base, "a batch that continues a partition gets its own offsets");
                if self.flush(m, index) != Answer::Done {
                    break;
                }
            }
        }
    }
}
