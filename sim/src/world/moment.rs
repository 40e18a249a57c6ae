//! Where a world stands behind a step: all that its future can depend on as one number, and what a crash
//! there had to choose about.
//!
//! Promises: worlds of one schedule that stand at one step with one number go on alike. Leaves out: what the
//! rest of the schedule is.

use std::hash::Hash;

use recovery_core::storage::Name;
use recovery_core::units::Namespace;
use xxhash_rust::xxh3::Xxh3Default;

use super::aim;
use super::look;
use super::node::{Node, Service};
use crate::disk::{Node as DiskNode, View};
use crate::schedule::FileRole;

/// Where a world stands behind a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// A number for everything that decides what happens next.
    pub state: u64,
    /// What was pending when the node last went down, if it did in this step.
    pub pending: Option<Pending>,
    /// The files of partitions as reads see them.
    pub files: Vec<(Namespace, FileMeasure)>,
}

/// A file, and how long it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMeasure {
    /// What it is for.
    pub role: FileRole,
    /// Its name.
    pub name: Name,
    /// Its length.
    pub bytes: u64,
}

impl Moment {
    /// Where a node stands; `pending` is what a crash there had to choose about.
    pub(super) fn of(node: &Node, pending: Option<Pending>) -> Self {
        let mut files = Vec::new();
        for slot in &node.slots {
            let Some(directory) = look::directory(&node.disk, &slot.components) else { continue };
            for (name, found) in node.disk.entries(directory, View::Visible) {
                let (DiskNode::File(file), Some(role)) = (found, aim::role_of(&name)) else { continue };
                let bytes = node.disk.length_of(file, View::Visible);
                files.push((slot.header.namespace, FileMeasure { role, name, bytes }));
            }
        }
        Self { state: state_of(node), pending, files }
    }
}

/// What a crash had to choose about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Files of partitions that have pending sector writes, and how many.
    pub files: Vec<(Namespace, FileRole, u32)>,
    /// Pending sector writes of all other files.
    pub elsewhere: u32,
    /// Pending changes of names.
    pub names: u32,
}

impl Pending {
    /// What is pending on a node.
    pub(super) fn of(node: &Node) -> Self {
        let mut files = Vec::new();
        for slot in &node.slots {
            let Some(directory) = look::directory(&node.disk, &slot.components) else { continue };
            for (name, found) in node.disk.entries(directory, View::Visible) {
                let (DiskNode::File(file), Some(role)) = (found, aim::role_of(&name)) else { continue };
                let elements = node.disk.pending_elements(file);
                if elements > 0 {
                    files.push((slot.header.namespace, role, elements));
                }
            }
        }
        files.sort_unstable();
        let known: u32 = files.iter().map(|(_, _, elements)| elements).sum();
        let all = node.disk.all_pending_elements();
        // A file of two names is counted under each.
        let elsewhere = all.saturating_sub(known);
        Self { files, elsewhere, names: node.disk.pending_names() }
    }

    /// How many choices there are in all.
    pub fn choices(&self) -> u32 {
        self.files.iter().map(|(_, _, elements)| elements).sum::<u32>() + self.elsewhere + self.names
    }
}

/// A number for everything on a node that decides what happens next: the disk, and what was promised.
fn state_of(node: &Node) -> u64 {
    let mut hash = Xxh3Default::new();
    node.disk.fingerprint().hash(&mut hash);
    node.is_up.hash(&mut hash);
    for slot in &node.slots {
        slot.truth.hash(&mut hash);
        slot.failed_sync.map(|failed| (failed.acknowledged, failed.promised)).hash(&mut hash);
        match &slot.service {
            Service::Down => 0_u8.hash(&mut hash),
            Service::Serving(writer) => (1_u8, writer.next_offset()).hash(&mut hash),
            Service::Refused(code) => (2_u8, code.code()).hash(&mut hash),
            Service::Unavailable => 3_u8.hash(&mut hash),
        }
    }
    hash.digest()
}
