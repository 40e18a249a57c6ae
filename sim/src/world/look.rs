//! What a disk holds, for whoever judges: partition images, fences, and the few files a world lays itself.

use recovery_core::format::{FileName, Superblock, SuperblockSlot};
use recovery_core::observe::SuperblockIdentity;
use recovery_core::storage::{Errno, Name, Storage, StorageError, exact};
use recovery_core::units::{Offset, SegmentStart};

use crate::disk::{DirectoryId, FileId, Node, SimDisk, Snapshot, View};
use crate::oracle::{Content, Fence, FileImage, Forgotten, Image, ImageEntry, PartitionImage};

/// The directory that `components` lead to.
pub(super) fn directory(disk: &SimDisk, components: &[Name]) -> Option<DirectoryId> {
    components.iter().try_fold(DirectoryId::ROOT, |directory, name| {
        match disk.entry(directory, name, View::Visible)? {
            Node::Directory(below) => Some(below),
            Node::File(_) | Node::Link | Node::Special => None,
        }
    })
}

/// A file of the partition.
pub(super) fn file(disk: &SimDisk, components: &[Name], name: &Name) -> Option<FileId> {
    match disk.entry(directory(disk, components)?, name, View::Visible)? {
        Node::File(file) => Some(file),
        Node::Directory(_) | Node::Link | Node::Special => None,
    }
}

/// The partition directory and its fences as reads see them; empty if they are not there.
pub(super) fn image(disk: &SimDisk, components: &[Name]) -> PartitionImage {
    let (name, above) = components.split_last().expect("a partition has a name");
    let Some(parent) = directory(disk, above) else { return PartitionImage::default() };
    let directory = match disk.entry(parent, name, View::Visible) {
        Some(Node::Directory(directory)) => image_of(disk, directory),
        Some(Node::File(_) | Node::Link | Node::Special) | None => Image::default(),
    };
    let fences = named_fences(disk, parent, name).into_iter();
    let fences = fences.map(|(name, fence)| Fence { name, image: image_of(disk, fence) });
    PartitionImage { directory, fences: fences.collect() }
}

pub(super) fn image_of(disk: &SimDisk, directory: DirectoryId) -> Image {
    let mut entries = Vec::with_capacity(disk.entry_count(directory, View::Visible));
    disk.for_each_entry(directory, View::Visible, &mut |name, node| {
        let name = Name::new(name).expect("what a directory holds has a name");
        entries.push(ImageEntry { name, content: content_of(disk, node) });
    });
    Image { entries, is_listable: true }
}

fn content_of(disk: &SimDisk, node: Node) -> Content {
    match node {
        Node::File(file) => Content::File(FileImage {
            bytes: disk.contents_of(file, View::Visible),
            unreadable: disk.unreadable_bytes(file),
            number: Some(file.number()),
        }),
        Node::Directory(_) => Content::Directory,
        Node::Link | Node::Special => Content::Other,
    }
}

/// Files of the partition that the medium does not hold as reads see them, by their numbers, and what it
/// holds.
pub(super) fn unsettled(disk: &SimDisk, components: &[Name]) -> Vec<(u32, Forgotten)> {
    let Some(directory) = directory(disk, components) else { return Vec::new() };
    let mut unsettled = Vec::new();
    disk.for_each_entry(directory, View::Visible, &mut |name, node| match node {
        Node::File(file) if !disk.is_clean(file) => {
            let name = Name::new(name).expect("what a directory holds has a name");
            let medium = disk.contents_of(file, View::Durable);
            unsettled.push((file.number(), Forgotten { name, medium }));
        }
        Node::File(_) | Node::Directory(_) | Node::Link | Node::Special => {}
    });
    unsettled
}

/// The fences of a partition, beside it in `parent`.
fn named_fences(disk: &SimDisk, parent: DirectoryId, partition: &Name) -> Vec<(Name, DirectoryId)> {
    let mut fences = Vec::new();
    disk.for_each_entry(parent, View::Visible, &mut |name, node| match node {
        Node::Directory(fence) if is_fenced_name(partition, name) => {
            fences.push((Name::new(name).expect("what a directory holds has a name"), fence));
        }
        Node::Directory(_) | Node::File(_) | Node::Link | Node::Special => {}
    });
    fences
}

/// The directories of a partition's fences.
pub(super) fn fence_directories(disk: &SimDisk, components: &[Name]) -> Vec<DirectoryId> {
    let (name, above) = components.split_last().expect("a partition has a name");
    let Some(parent) = directory(disk, above) else { return Vec::new() };
    named_fences(disk, parent, name).into_iter().map(|(_, fence)| fence).collect()
}

/// Whether a fence of the partition is called so.
pub(super) fn is_fence_of(components: &[Name], name: &Name) -> bool {
    let (partition, _) = components.split_last().expect("a partition has a name");
    is_fenced_name(partition, name.as_bytes())
}

fn is_fenced_name(partition: &Name, name: &[u8]) -> bool {
    name.strip_prefix(partition.as_bytes()).is_some_and(|rest| rest.starts_with(b".fenced."))
}

/// Whether a directory lies beside a partition that is called as it is, with a suffix.
pub(super) fn has_sibling(disk: &SimDisk, components: &[Name], suffix: &[u8]) -> bool {
    let (name, above) = components.split_last().expect("a partition has a name");
    let name = name.with_suffix(suffix).expect("a partition's name is short");
    let parent = directory(disk, above);
    parent.is_some_and(|parent| disk.entry(parent, &name, View::Visible).is_some())
}

/// The copy beside a partition that does not have its name yet.
pub(super) fn sibling(disk: &SimDisk, components: &[Name]) -> Option<DirectoryId> {
    let (name, above) = components.split_last()?;
    match disk.entry(directory(disk, above)?, &FileName::rebuild(name)?, View::Visible)? {
        Node::Directory(sibling) => Some(sibling),
        Node::File(_) | Node::Link | Node::Special => None,
    }
}

/// The same, if it is complete, and only lacks its name.
pub(super) fn complete_sibling(disk: &SimDisk, components: &[Name]) -> Option<DirectoryId> {
    let sibling = sibling(disk, components)?;
    disk.entry(sibling, &FileName::complete(), View::Visible).is_some().then_some(sibling)
}

/// The fence of that name beside a partition.
pub(super) fn fence(disk: &SimDisk, components: &[Name], fence: &Name) -> Option<DirectoryId> {
    let (_, above) = components.split_last()?;
    match disk.entry(directory(disk, above)?, fence, View::Visible)? {
        Node::Directory(fence) => Some(fence),
        Node::File(_) | Node::Link | Node::Special => None,
    }
}

/// Drops every clean cached page of a partition's files.
pub(super) fn evict(disk: &SimDisk, components: &[Name]) {
    let Some(directory) = directory(disk, components) else { return };
    for (_, node) in disk.entries(directory, View::Visible) {
        if let Node::File(file) = node {
            disk.evict(file);
        }
    }
}

/// Looks at the disk as the next program finds it: everything written back that can be, and nothing cached. The
/// disk is afterwards as it was.
pub(super) fn settled<T>(disk: &SimDisk, look: impl FnOnce() -> T) -> T {
    let mut now = Snapshot::default();
    disk.snapshot(&mut now);
    disk.file_ids().for_each(|file| disk.write_back(file));
    disk.evict_all();
    let seen = look();
    disk.restore(&now);
    seen
}

/// Everything below the root, each entry with the way to it, in order; directories before what lies in them.
pub(super) fn tree(disk: &SimDisk) -> Vec<(Vec<Name>, Content)> {
    let mut tree = Vec::new();
    grow(disk, DirectoryId::ROOT, &mut Vec::new(), &mut tree);
    tree
}

fn grow(disk: &SimDisk, at: DirectoryId, way: &mut Vec<Name>, tree: &mut Vec<(Vec<Name>, Content)>) {
    let mut entries = disk.entries(at, View::Visible);
    entries.sort_by_key(|(name, _)| *name);
    for (name, node) in entries {
        way.push(name);
        tree.push((way.clone(), content_of(disk, node)));
        if let Node::Directory(below) = node {
            grow(disk, below, way, tree);
        }
        way.pop();
    }
}

/// Makes the directories that lead to a partition, durably, as a server does for a new topic.
pub(super) fn make_directories(disk: &SimDisk, components: &[Name]) -> Result<(), StorageError> {
    let mut directory = disk.root()?;
    for name in components {
        match disk.make_directory(&directory, name) {
            Ok(()) => disk.sync_directory(&directory)?,
            Err(error) if error.errno == Errno::EXISTS => {}
            Err(error) => return Err(error),
        }
        let below = disk.open_directory(&directory, name)?;
        disk.close_directory(std::mem::replace(&mut directory, below));
    }
    disk.close_directory(directory);
    Ok(())
}

/// Lays an empty first segment, durably, for a partition whose offsets do not begin at 0.
pub(super) fn lay_first_segment(
    disk: &SimDisk,
    components: &[Name],
    first: Offset,
) -> Result<(), StorageError> {
    let start = SegmentStart::at(first);
    lay_file(disk, components, &FileName::log(start), &[])?;
    lay_file(disk, components, &FileName::index(start), &[])
}

/// Whose the superblocks are that a world lays.
pub(super) const OWN_SUPERBLOCK: SuperblockIdentity =
    SuperblockIdentity { cluster: 1, replica: 0, replica_count: 1 };

/// Lays a superblock that reserves the offsets below `frontier`, durably, as another server leaves it.
pub(super) fn lay_superblock(
    disk: &SimDisk,
    components: &[Name],
    frontier: Offset,
) -> Result<(), StorageError> {
    let superblock = Superblock {
        sequence: 1,
        cluster: OWN_SUPERBLOCK.cluster,
        replica: OWN_SUPERBLOCK.replica,
        replica_count: OWN_SUPERBLOCK.replica_count,
        view: 0,
        log_view: 0,
        commit: 0,
        offset_frontier: frontier,
    };
    lay_file(disk, components, &SuperblockSlot::A.name(), &superblock.encode())
}

/// Opens the directory that `components` lead to, as a process does.
pub(super) fn open_directory(
    disk: &SimDisk,
    components: &[Name],
) -> Result<<SimDisk as Storage>::Directory, StorageError> {
    let mut directory = disk.root()?;
    for name in components {
        let below = disk.open_directory(&directory, name)?;
        disk.close_directory(std::mem::replace(&mut directory, below));
    }
    Ok(directory)
}

/// Lays a file with `bytes`, durably.
pub(super) fn lay_file(
    disk: &SimDisk,
    components: &[Name],
    name: &Name,
    bytes: &[u8],
) -> Result<(), StorageError> {
    let directory = open_directory(disk, components)?;
    let file = disk.create(&directory, name)?;
    exact::write_all(disk, &file, name, 0, bytes)?;
    disk.sync(&file)?;
    disk.close(file);
    disk.sync_directory(&directory)?;
    disk.close_directory(directory);
    Ok(())
}
