//! A stand-in for consensus: one committed sequence of commands, which each node follows with its own delay.
//!
//! Promises: what is in the sequence never changes and is never lost, so it is no model of elections, quorums or
//! messages, and nothing here is under test. A batch is in it from the moment that a node which was up to date
//! gave it offsets, acknowledged or not, so no two nodes ever hold different batches at one offset. Leaves out:
//! what a node does with a command, which is the core's.

use std::collections::BTreeMap;

use recovery_core::units::{Incarnation, Namespace, Offset};
use recovery_core::wal::Key;

use crate::schedule::BatchId;

/// Steps after which a slow link has carried something.
pub(super) const SLOW_STEPS: u32 = 3;

/// A batch of the sequence, as its producer sent it.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) key: Key,
    pub(super) id: BatchId,
    pub(super) base: Offset,
    pub(super) next: Offset,
    /// The server's time, the same on every node.
    pub(super) time: u64,
    pub(super) bytes: Vec<u8>,
}

/// What is agreed on.
#[derive(Clone, Debug)]
pub(super) enum Command {
    /// A partition is to be.
    Create(Key),
    /// It is to go.
    Delete(Key),
    /// It gets a batch.
    Batch(Batch),
    /// Nothing any more: nobody holds what it was.
    Nothing,
}

struct Entry {
    step: u32,
    command: Command,
}

/// The sequence.
#[derive(Default)]
pub(super) struct Cluster {
    entries: Vec<Entry>,
    /// The last incarnation that was given to each partition.
    given: BTreeMap<Namespace, u64>,
    /// Where lives go on behind offsets that nobody holds.
    gaps: BTreeMap<Key, Offset>,
}

impl Cluster {
    /// An incarnation that the partition never had.
    pub(super) fn new_life(&mut self, namespace: Namespace) -> Key {
        let given = self.given.entry(namespace).or_default();
        *given += 1;
        Key { namespace, incarnation: Incarnation::new(*given) }
    }

    pub(super) fn commit(&mut self, step: u32, command: Command) {
        self.entries.push(Entry { step, command });
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn command(&self, index: usize) -> &Command {
        &self.entries[index].command
    }

    /// How many commands a link has carried by `step` that is `lag` steps late, at least.
    pub(super) fn carried(&self, step: u32, lag: u32) -> usize {
        self.entries.iter().take_while(|entry| entry.step + lag <= step).count()
    }

    /// The life of a partition that is meant to be there.
    pub(super) fn target(&self, namespace: Namespace) -> Option<Key> {
        let mut target = None;
        for entry in &self.entries {
            match &entry.command {
                Command::Create(key) if key.namespace == namespace => target = Some(*key),
                Command::Delete(key) if key.namespace == namespace => target = None,
                Command::Create(_) | Command::Delete(_) | Command::Batch(_) | Command::Nothing => {}
            }
        }
        target
    }

    /// Whether it is agreed that a life is to go.
    pub(super) fn is_deleted(&self, key: Key) -> bool {
        self.entries.iter().any(|entry| matches!(&entry.command, Command::Delete(deleted) if *deleted == key))
    }

    /// Whether any life of a partition is deleted: a copy of an earlier one may lie beside its place.
    pub(super) fn has_deleted(&self, namespace: Namespace) -> bool {
        let is_meant =
            |command: &Command| matches!(command, Command::Delete(key) if key.namespace == namespace);
        self.entries.iter().any(|entry| is_meant(&entry.command))
    }

    /// One behind the last offset that the sequence gives a life.
    pub(super) fn end(&self, key: Key) -> Offset {
        let batches = self.batches(key, self.len()).map(|batch| batch.next);
        batches.chain(self.gaps.get(&key).copied()).max().unwrap_or(Offset::ZERO)
    }

    /// It is agreed that nobody holds the offsets of a life from `first` to below `next`.
    pub(super) fn leave_gap(&mut self, key: Key, first: Offset, next: Offset) {
        for entry in &mut self.entries {
            if let Command::Batch(batch) = &entry.command
                && batch.key == key
                && batch.base >= first
            {
                entry.command = Command::Nothing;
            }
        }
        self.gaps.insert(key, next);
    }

    /// The batches of a life among the first `seen` commands.
    pub(super) fn batches(&self, key: Key, seen: usize) -> impl Iterator<Item = &Batch> {
        self.entries[..seen].iter().filter_map(move |entry| match &entry.command {
            Command::Batch(batch) if batch.key == key => Some(batch),
            Command::Batch(_) | Command::Create(_) | Command::Delete(_) | Command::Nothing => None,
        })
    }
}
