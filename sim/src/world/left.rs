//! What a world leaves behind where it ends: its disks as files, and each partition beside what is true of it.
//!
//! Promises: kept only where it is asked for, and taken before anything is reset. Leaves out: what becomes
//! of it, which reports and `--dump` say.

use recovery_core::units::Namespace;

use super::look;
use super::node::{Node, Slot};
use crate::disk::{Node as DiskNode, SimDisk, View};
use crate::oracle::PartitionImage;
use crate::oracle::truth::Truth;

/// One node where a world ends.
#[derive(Clone, Debug)]
pub struct NodeLeft {
    /// What storage calls see.
    pub visible: Vec<FileLeft>,
    /// What lies on the medium.
    pub durable: Vec<FileLeft>,
    /// Its partitions, in the order of the schedule's header.
    pub partitions: Vec<PartitionLeft>,
}

/// A name of a disk.
#[derive(Clone, Debug)]
pub struct FileLeft {
    /// Its path from the data directory.
    pub path: String,
    /// What it leads to.
    pub content: ContentLeft,
}

/// What a name leads to.
#[derive(Clone, Debug)]
pub enum ContentLeft {
    /// A directory.
    Directory,
    /// A file of these bytes.
    File(Vec<u8>),
    /// Neither.
    Other,
}

/// One partition of a node.
#[derive(Clone, Debug)]
pub struct PartitionLeft {
    /// Which.
    pub namespace: Namespace,
    /// Its directory and its fences, as storage calls see them.
    pub image: PartitionImage,
    /// What is true of it.
    pub truth: Truth,
}

impl NodeLeft {
    pub(super) fn of(node: &Node) -> Self {
        let left = |slot: &Slot| PartitionLeft {
            namespace: slot.header.namespace,
            image: look::image(&node.disk, &slot.components),
            truth: slot.truth.clone(),
        };
        Self {
            visible: files(&node.disk, View::Visible),
            durable: files(&node.disk, View::Durable),
            partitions: node.slots.iter().map(left).collect(),
        }
    }
}

fn files(disk: &SimDisk, view: View) -> Vec<FileLeft> {
    let mut files = Vec::new();
    disk.walk(view, &mut |path, node| {
        let content = match node {
            DiskNode::Directory(_) => ContentLeft::Directory,
            DiskNode::File(file) => ContentLeft::File(disk.contents_of(file, view)),
            DiskNode::Link | DiskNode::Special => ContentLeft::Other,
        };
        files.push(FileLeft { path: path.to_owned(), content });
    });
    files
}
