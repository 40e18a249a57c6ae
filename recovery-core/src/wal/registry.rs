//! What the records of the metadata log say together: the lives of partitions, and the stage of each.
//!
//! Promises: at most one life of a partition is meant to be there, and a later life has a larger incarnation
//! than any before it, so that nothing of an earlier one is ever taken for its own (F63). Leaves out: the
//! disk.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::format::{MetadataKind, MetadataRecord};
use crate::units::{Durability, Incarnation, Namespace};

/// Names one life of one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The partition.
    pub namespace: Namespace,
    /// Its life.
    pub incarnation: Incarnation,
}

/// How far making or removing a partition has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// It is to be, and its directory need not be there.
    Created,
    /// Its directory is durable: its absence is loss.
    Made,
    /// It is to go: its directory may be half gone, and is not judged any more.
    Deleting,
}

/// One life of a partition that has not been removed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// On how many nodes.
    pub replicas: u8,
    /// What its writer promises.
    pub durability: Durability,
    /// How far it has come.
    pub stage: Stage,
}

/// The lives of partitions that have not been removed yet, and the newest life of each that ever was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registry {
    entries: BTreeMap<Key, Entry>,
    newest: BTreeMap<Namespace, Incarnation>,
}

/// Why a record may not follow the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Contradiction {
    /// Bytes that no writer of this version makes.
    #[error("record {index} of it is none that a writer of this version makes")]
    NoRecord {
        /// The record's index in its batch.
        index: u32,
    },
    /// An incarnation that is not above those before it could take an older life's files for its own.
    #[error(
        "partition {namespace} is created with incarnation {incarnation}, and has had incarnation {newest}"
    )]
    IncarnationUsed {
        /// The partition.
        namespace: Namespace,
        /// The incarnation given.
        incarnation: Incarnation,
        /// The newest that there was.
        newest: Incarnation,
    },
    /// A partition is created that is there.
    #[error("partition {namespace} is created, and its incarnation {incarnation} has not been deleted")]
    Exists {
        /// The partition.
        namespace: Namespace,
        /// The life that is there.
        incarnation: Incarnation,
    },
    /// Something is said of a life that is not at the stage for it.
    #[error(
        "{what} is said of incarnation {incarnation} of partition {namespace}, which is not at that stage"
    )]
    WrongStage {
        /// The record's word.
        what: &'static str,
        /// The partition.
        namespace: Namespace,
        /// The life.
        incarnation: Incarnation,
    },
}

impl Contradiction {
    /// The permanent code of this contradiction.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoRecord { .. } => "metadata-no-record",
            Self::IncarnationUsed { .. } => "incarnation-used",
            Self::Exists { .. } => "partition-exists",
            Self::WrongStage { .. } => "metadata-wrong-stage",
        }
    }
}

impl Registry {
    /// Each life that has not been removed yet, ascending by partition, then by life.
    pub fn entries(&self) -> impl Iterator<Item = (&Key, &Entry)> {
        self.entries.iter()
    }

    /// One life, if it has not been removed yet.
    pub fn get(&self, key: &Key) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// The life of a partition that is meant to be there, if one is.
    pub fn target(&self, namespace: Namespace) -> Option<Key> {
        self.lives(namespace).find(|(_, entry)| entry.stage != Stage::Deleting).map(|(key, _)| *key)
    }

    /// The oldest life of a partition that is being removed, if one is. No later one is made before it is
    /// gone: both have the same directory.
    pub fn removing(&self, namespace: Namespace) -> Option<Key> {
        self.lives(namespace).find(|(_, entry)| entry.stage == Stage::Deleting).map(|(key, _)| *key)
    }

    /// The newest incarnation that a partition ever had.
    pub fn newest(&self, namespace: Namespace) -> Option<Incarnation> {
        self.newest.get(&namespace).copied()
    }

    fn lives(&self, namespace: Namespace) -> impl Iterator<Item = (&Key, &Entry)> {
        let first = Key { namespace, incarnation: Incarnation::ZERO };
        let last = Key { namespace, incarnation: Incarnation::new(u64::MAX) };
        self.entries.range(first..=last)
    }

    /// Whether `record` may follow.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn check(&self, record: &MetadataRecord) -> Result<(), Contradiction> {
        let MetadataRecord { kind, namespace, incarnation } = *record;
        let stage = self.get(&Key { namespace, incarnation }).map(|entry| entry.stage);
        let is_due = match kind {
            MetadataKind::Created { .. } => return self.check_created(namespace, incarnation),
            MetadataKind::Made => stage == Some(Stage::Created),
            MetadataKind::Deleting => matches!(stage, Some(Stage::Created | Stage::Made)),
            MetadataKind::Deleted => stage == Some(Stage::Deleting),
        };
        if is_due {
            return Ok(());
        }
        Err(Contradiction::WrongStage { what: kind.code(), namespace, incarnation })
    }

    fn check_created(&self, namespace: Namespace, incarnation: Incarnation) -> Result<(), Contradiction> {
        if let Some(there) = self.target(namespace) {
            return Err(Contradiction::Exists { namespace, incarnation: there.incarnation });
        }
        match self.newest(namespace) {
            Some(newest) if newest >= incarnation => {
                Err(Contradiction::IncarnationUsed { namespace, incarnation, newest })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Takes `record` in.
    ///
    /// # Errors
    ///
    /// As [`Registry::check`]; nothing has changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::{MetadataKind, MetadataRecord};
    /// use recovery_core::units::{Durability, Incarnation, Namespace};
    /// use recovery_core::wal::{Contradiction, Registry};
    ///
    /// let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// let incarnation = Incarnation::new(1);
    /// let record = |kind| MetadataRecord { kind, namespace, incarnation };
    /// let created = record(MetadataKind::Created { replicas: 1, durability: Durability::Synced });
    /// let mut registry = Registry::default();
    /// registry.apply(&created)?;
    /// registry.apply(&record(MetadataKind::Made))?;
    /// assert_eq!(registry.target(namespace).map(|key| key.incarnation), Some(incarnation));
    /// // Once it is deleted, its incarnation is never used again (F63).
    /// registry.apply(&record(MetadataKind::Deleting))?;
    /// registry.apply(&record(MetadataKind::Deleted))?;
    /// let used = Contradiction::IncarnationUsed { namespace, incarnation, newest: incarnation };
    /// assert_eq!(registry.apply(&created), Err(used));
    /// # Ok::<(), Contradiction>(())
    /// ```
    pub fn apply(&mut self, record: &MetadataRecord) -> Result<(), Contradiction> {
        self.check(record)?;
        let MetadataRecord { kind, namespace, incarnation } = *record;
        let key = Key { namespace, incarnation };
        match kind {
            MetadataKind::Created { replicas, durability } => {
                self.newest.insert(namespace, incarnation);
                self.entries.insert(key, Entry { replicas, durability, stage: Stage::Created });
            }
            MetadataKind::Made => self.set_stage(&key, Stage::Made),
            MetadataKind::Deleting => self.set_stage(&key, Stage::Deleting),
            MetadataKind::Deleted => {
                self.entries.remove(&key);
            }
        }
        Ok(())
    }

    fn set_stage(&mut self, key: &Key, stage: Stage) {
        self.entries.get_mut(key).expect("a record that was checked speaks of an entry").stage = stage;
    }
}
