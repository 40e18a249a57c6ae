//! What each step asks of a node with a host.
//!
//! Promises: every storage call of a step is made while what is to go wrong in it lies in wait. Leaves out: what the
//! oracle says.

use recovery_core::host::{HostError, PartitionState};
use recovery_core::units::Namespace;
use recovery_core::wal::{Key, MetadataError};

use super::cluster::Command;
use super::member::Member;
use super::run::HostWorld;
use super::slices::{slice_bytes, to_the_end};
use crate::oracle::damage::Place;
use crate::oracle::invariants::check_inserted;
use crate::run::tally::Tally;
use crate::schedule::{Action, AsStep, Fault, FileRole, LinkState, Plant, Step, Target};
use crate::world::event::{EventCode, word};
use crate::world::serve::Answer;
use crate::world::{aim, damage, look, plant, standing};

/// What a client is told by a node that hears nobody.
const CUT_OFF: &str = "link-down";

impl HostWorld<'_> {
    pub(super) fn act(&mut self, m: usize, step: &Step, tally: &mut Tally) -> Answer {
        let index = step.action.partition().and_then(|namespace| self.members[m].index_of(namespace));
        match (&step.action, index) {
            (Action::Stop, _) => self.stop(m),
            (Action::Start, _) => self.start(m),
            (Action::Crash(crash), _) => self.crash(m, crash, tally),
            (Action::Evict(namespace), _) => self.evict(m, *namespace),
            (Action::Fault { fault, cached }, _) => self.fault(m, fault, *cached),
            (Action::Plant(plant), _) => self.plant(m, plant),
            (Action::Expect(expectation), _) => {
                self.expect(m, std::slice::from_ref(expectation), tally);
                Answer::Done
            }
            (Action::Either(alternatives), _) => {
                self.expect(m, alternatives, tally);
                Answer::Done
            }
            (Action::Link(state), _) => {
                self.members[m].link = *state;
                Answer::Done
            }
            (action, index) if self.members[m].node.is_up => self.ask(m, action, index, tally),
            (_, _) => Answer::Missed,
        }
    }

    fn ask(&mut self, m: usize, action: &Action, index: Option<usize>, tally: &mut Tally) -> Answer {
        match (action, index) {
            (Action::Reconcile, _) => self.reconcile(m),
            (Action::ApplyInserts, _) => self.apply_inserts(m),
            (Action::Append(append), Some(index)) => self.append(m, index, append, tally),
            (Action::Flush(_), Some(index)) => self.flush(m, index),
            (Action::Roll(_), Some(index)) => self.roll(m, index),
            (Action::Checkpoint(_), Some(index)) => self.checkpoint(m, index),
            (Action::Retain(retain), Some(index)) => self.retain(m, index, retain),
            (Action::Poll(poll), Some(index)) => self.poll(m, index, poll, tally),
            (Action::Create(namespace), Some(_)) => self.create(m, *namespace),
            (Action::Delete(namespace), Some(_)) => self.delete(m, *namespace),
            (Action::Confirm(namespace), Some(_)) => self.confirm(m, *namespace),
            (Action::QueueInsert(namespace), Some(_)) => self.queue_insert(m, *namespace),
            (Action::AcceptLoss(loss), Some(index)) => self.accept_loss(m, index, loss),
            (Action::Transfer { from, .. }, Some(index)) => self.transfer(m, index, *from),
            (
                Action::Roll(_)
                | Action::Append(_)
                | Action::Flush(_)
                | Action::Checkpoint(_)
                | Action::Retain(_)
                | Action::Poll(_)
                | Action::Create(_)
                | Action::Delete(_)
                | Action::Confirm(_)
                | Action::QueueInsert(_)
                | Action::AcceptLoss(_)
                | Action::Transfer { .. }
                | Action::Stop
                | Action::Start
                | Action::Crash(_)
                | Action::Evict(_)
                | Action::Fault { .. }
                | Action::Plant(_)
                | Action::Link(_)
                | Action::Expect(_)
                | Action::Either(_),
                _,
            ) => Answer::Missed,
        }
    }

    fn create(&mut self, m: usize, namespace: Namespace) -> Answer {
        if self.members[m].link == LinkState::Down {
            return Answer::Failed(CUT_OFF);
        }
        if self.cluster.target(namespace).is_some() {
            return Answer::Failed("partition-exists");
        }
        let key = self.cluster.new_life(namespace);
        self.decree(m, Command::Create(key))
    }

    fn delete(&mut self, m: usize, namespace: Namespace) -> Answer {
        if self.members[m].link == LinkState::Down {
            return Answer::Failed(CUT_OFF);
        }
        match self.cluster.target(namespace) {
            Some(key) => self.decree(m, Command::Delete(key)),
            None => Answer::Failed("no-such-partition"),
        }
    }

    /// A command enters the sequence. A node that is alone agrees with itself: what its host did not take, and
    /// surely does not hold, was never agreed on.
    fn decree(&mut self, m: usize, command: Command) -> Answer {
        let is_alone = self.members.len() == 1;
        if !is_alone {
            self.cluster.commit(self.step, command);
            self.members[m].hear(&self.cluster, self.step);
            return self
                .take_commands(m)
                .map_or_else(|error| Answer::Failed(error.code()), |()| Answer::Done);
        }
        // What was agreed on before comes first.
        self.members[m].hear(&self.cluster, self.step);
        if let Err(error) = self.take_commands(m) {
            return Answer::Failed(error.code());
        }
        let taken = self.take(m, &command);
        let may_hold = match &taken {
            Ok(()) | Err(HostError::Metadata(MetadataError::Poisoned { .. })) => true,
            Err(_) => false,
        };
        if may_hold {
            self.cluster.commit(self.step, command);
        }
        match taken {
            Ok(()) => {
                self.members[m].seen = self.cluster.len();
                self.members[m].taken = self.cluster.len();
                Answer::Done
            }
            Err(error) => Answer::Failed(error.code()),
        }
    }

    fn confirm(&mut self, m: usize, namespace: Namespace) -> Answer {
        let member = &mut self.members[m];
        let host = member.host.as_mut().expect("the node is up");
        match host.confirm(&member.node.disk, namespace) {
            Ok(_) => Answer::Done,
            Err(error) => Answer::Failed(error.code()),
        }
    }

    fn queue_insert(&mut self, m: usize, namespace: Namespace) -> Answer {
        match self.members[m].host.as_mut().expect("the node is up").queue_insert(namespace) {
            Ok(()) => Answer::Done,
            Err(error) => Answer::Failed(error.code()),
        }
    }

    fn apply_inserts(&mut self, m: usize) -> Answer {
        let limit = slice_bytes(self.schedule);
        let refused = self.refused(m);
        let member = &mut self.members[m];
        let host = member.host.as_mut().expect("the node is up");
        let (disk, workspace) = (&member.node.disk, &mut self.workspace);
        if !to_the_end(|| host.apply_inserts(disk, workspace, limit)) {
            self.fail_endless("reconcile");
        }
        let still = self.refused(m);
        for index in refused {
            let namespace = self.members[m].node.slots[index].header.namespace;
            if let Some(violation) = check_inserted(true, still.contains(&index)) {
                self.fail(Some(namespace), violation, "reconcile", None);
            }
        }
        Answer::Done
    }

    /// The partitions that are refused.
    fn refused(&self, m: usize) -> Vec<usize> {
        let member = &self.members[m];
        let host = member.host.as_ref().expect("the node is up");
        let is_refused = |index: &usize| host.state_of(&member.key(*index)) == Some(PartitionState::Refused);
        (0..member.node.slots.len()).filter(is_refused).collect()
    }

    /// What a server does now and then: it follows, tries again what was unavailable, and makes one pass.
    pub(super) fn reconcile(&mut self, m: usize) -> Answer {
        self.members[m].hear(&self.cluster, self.step);
        self.members[m].host.as_mut().expect("the node is up").retry();
        self.start_host(m);
        self.judge_pending(m);
        let taken = self.take_commands(m);
        let limit = slice_bytes(self.schedule);
        let member = &mut self.members[m];
        let host = member.host.as_mut().expect("the node is up");
        let (disk, workspace) = (&member.node.disk, &mut self.workspace);
        if !to_the_end(|| host.reconcile(disk, workspace, limit)) {
            self.fail_endless("reconcile");
        }
        taken.map_or_else(|error| Answer::Failed(error.code()), |()| Answer::Done)
    }

    /// Takes what has come of the sequence: every creation and deletion, in order.
    ///
    /// # Errors
    ///
    /// The first that the host did not take; it is tried again later.
    pub(super) fn take_commands(&mut self, m: usize) -> Result<(), HostError> {
        while self.members[m].taken < self.members[m].seen {
            let command = self.cluster.command(self.members[m].taken).clone();
            self.take(m, &command)?;
            self.members[m].taken += 1;
        }
        Ok(())
    }

    /// Takes one command, unless the host has it already.
    fn take(&mut self, m: usize, command: &Command) -> Result<(), HostError> {
        let replicas = u8::try_from(self.members.len()).expect("a world has few nodes");
        let member = &mut self.members[m];
        let (Command::Create(key) | Command::Delete(key)) = *command else { return Ok(()) };
        let Some(index) = member.index_of(key.namespace) else { return Ok(()) };
        let durability = member.node.slots[index].header.durability;
        let disk = &member.node.disk;
        let host = member.host.as_mut().expect("the node is up");
        match command {
            Command::Create(_) => {
                let is_known = host
                    .registry()
                    .and_then(|registry| registry.newest(key.namespace))
                    .is_some_and(|newest| newest >= key.incarnation);
                if !is_known {
                    let Key { namespace, incarnation } = key;
                    let new =
                        recovery_core::host::NewPartition { namespace, incarnation, replicas, durability };
                    host.create(disk, &new)?;
                }
                if member.key(index).incarnation < key.incarnation || member.extras[index].is_deleted {
                    member.begin_life(index, key);
                }
            }
            Command::Delete(_) => {
                let stage = host.registry().map(|registry| registry.get(&key).map(|entry| entry.stage));
                let is_gone =
                    stage.is_some_and(|stage| stage.is_none_or(|s| s == recovery_core::wal::Stage::Deleting));
                if !is_gone {
                    host.delete(disk, key.namespace)?;
                }
                if member.key(index) == key {
                    member.end_life(index);
                }
            }
            Command::Batch(_) | Command::Nothing => {}
        }
        Ok(())
    }

    fn evict(&mut self, m: usize, namespace: Option<Namespace>) -> Answer {
        let node = &self.members[m].node;
        let Some(namespace) = namespace else {
            node.disk.evict_all();
            return Answer::Done;
        };
        let Some(slot) = aim::slot_of(node, namespace) else { return Answer::Missed };
        look::evict(&node.disk, &node.slots[slot].components);
        Answer::Done
    }

    fn fault(&mut self, m: usize, fault: &Fault, keeps_cache: bool) -> Answer {
        let node = &mut self.members[m].node;
        let Some(places) = damage::apply(node, fault, keeps_cache) else { return Answer::Missed };
        for (index, place) in places {
            self.note_in_copy(m, index, place);
        }
        // What goes astray, or is copied, comes to lie in another one.
        for namespace in [fault.target.partition(), fault.to.partition].into_iter().flatten() {
            if let Some(index) = self.members[m].index_of(namespace) {
                self.members[m].extras[index].had_fault = true;
            }
        }
        let lies = standing::fails_syncs(fault.kind) && self.is_told_late(m, fault, None);
        if lies || (!fault.kind.is_legal() && fault.kind.as_step() == AsStep::Calls) {
            damage::mark_damaged(&mut self.members[m].node, fault, None, false);
        }
        self.note_beside(m, fault);
        let node = &self.members[m].node;
        self.members[m].was_lied_to |= lies || node.lies.reads || node.lies.successes;
        self.note_damage(m);
        self.recorder.note(EventCode::Fault, word(fault.kind.code()), 0, 0);
        Answer::Done
    }

    /// Keeps in mind damage to a copy that has its place, and was not judged there yet.
    fn note_in_copy(&mut self, m: usize, index: usize, place: Place) {
        let Member { node, extras, .. } = &mut self.members[m];
        let directory = look::directory(&node.disk, &node.slots[index].components);
        if let Some(installing) = &mut extras[index].installing
            && installing.replaces != directory
        {
            installing.damages.add(place);
            extras[index].is_copy_damaged = true;
        }
    }

    /// Keeps in mind damage to what lies beside a partition: to the metadata log, of which nothing is owed then; to what
    /// was set aside; to a copy from a peer, which may be all that a start finds.
    fn note_beside(&mut self, m: usize, fault: &Fault) {
        let Target::File { partition, file, .. } = &fault.target else { return };
        let Some(index) = self.members[m].index_of(*partition) else { return };
        let member = &mut self.members[m];
        match file {
            FileRole::MetadataLog => member.was_lied_to = true,
            FileRole::Fenced => member.node.slots[index].truth.damages.add_to_fences(),
            FileRole::CopyLog(_) | FileRole::CopyLedger => {
                member.extras[index].was_damaged = true;
                member.extras[index].is_copy_damaged = true;
                if let Some(installing) = &mut member.extras[index].installing {
                    installing.was_damaged = true;
                    installing.was_lied_to = true;
                }
            }
            // It says nothing that a start needs.
            FileRole::Complete
            | FileRole::Log(_)
            | FileRole::Index(_)
            | FileRole::IndexStaging(_)
            | FileRole::Ledger
            | FileRole::LedgerStaging
            | FileRole::Superblock(_)
            | FileRole::Directory => {}
        }
    }

    fn plant(&mut self, m: usize, plant: &Plant) -> Answer {
        let Some((index, place)) = plant::plant(&mut self.members[m].node, plant, self.step) else {
            return Answer::Missed;
        };
        self.note_in_copy(m, index, place);
        self.note_damage(m);
        self.recorder.note(EventCode::Fault, word("plant"), u64::from(plant.batch.0), 0);
        Answer::Done
    }
}
