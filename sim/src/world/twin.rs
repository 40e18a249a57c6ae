//! The twin of a damaged partition: the same bytes, left by a crash and by nothing else.
//!
//! Promises: the twin is the end of a history of storage calls on a disk of its own. What the ledger calls durable was
//! written and synced; the rest was written and not synced, as by an append that nobody had acknowledged yet; then the
//! power failed. What it left is compared with what it is to be. Leaves out: whose the bytes are that nobody had
//! synced. Where a filesystem shows an old owner's blocks, they lie there as if this owner had written them.

use recovery_core::format::FileName;
use recovery_core::storage::{Access, Name, Storage, StorageError, exact};
use recovery_core::units::Position;

use super::boot::expectation;
use super::look;
use super::node::{Node, Slot};
use crate::disk::{SimDisk, SurvivorChoice};
use crate::oracle::invariants::is_untouched;
use crate::oracle::reference::Heard;
use crate::oracle::{Content, Image, PartitionImage};
use crate::schedule::{Filesystem, Restart, Survivors};

/// The filesystem on which least is promised of what is not synced.
const FILESYSTEM: Filesystem = Filesystem::Adversarial;

/// Makes the twin of a partition of `node`, in which a start found `before`. `None`: it is not damaged, or in a way in
/// which no crash leaves it.
pub(super) fn of(node: &Node, slot: &Slot, before: &PartitionImage) -> Option<SimDisk> {
    let damages = &slot.truth.damages;
    if damages.is_empty() {
        return None;
    }
    let heard = Heard::of(&before.directory, &expectation(slot)).filter(Heard::is_under_way)?;
    let mark = |name: &Name| match FileName::classify(name) {
        FileName::Log(segment) => heard.mark(segment).map(Position::get),
        FileName::Index(_)
        | FileName::StrayLog
        | FileName::StrayIndex
        | FileName::Staging
        | FileName::Ledger
        | FileName::Superblock(_)
        | FileName::Other => None,
    };
    if !damages.lie_at_or_above(mark) {
        return None;
    }
    let directory = files(&before.directory)?;
    let fences = before.fences.iter().map(|fence| Some((fence.name, files(&fence.image)?)));
    let fences: Vec<(Name, Vec<Written<'_>>)> = fences.collect::<Option<_>>()?;
    let disk = SimDisk::new(node.disk.geometry(), FILESYSTEM);
    let history = || {
        for (name, files) in &fences {
            let mut components = slot.components;
            *components.last_mut().expect("a partition has a name") = *name;
            append(&disk, &components, files, |_| None)?;
        }
        append(&disk, &slot.components, &directory, mark)
    };
    let written: Result<(), StorageError> = history();
    written.expect("a disk on which nothing goes wrong takes what another one held");
    disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::All));
    let is_alike = is_untouched(before, &look::image(&disk, &slot.components));
    assert!(is_alike, "a crash that keeps all that was written leaves the bytes that were written");
    Some(disk)
}

/// A file by its name, and all its bytes.
type Written<'a> = (Name, &'a [u8]);

/// The files of a directory; `None` if anything else lies in it, or a file that no one history of writes leaves.
fn files(image: &Image) -> Option<Vec<Written<'_>>> {
    let files = image.entries.iter().map(|entry| match &entry.content {
        Content::File(file) => {
            let names = image.entries.iter().filter(|other| match &other.content {
                Content::File(other) => other.number == file.number,
                Content::Unopenable | Content::Directory | Content::Other => false,
            });
            let is_plain = file.unreadable.is_empty() && names.count() == 1;
            is_plain.then_some((entry.name, file.bytes.as_slice()))
        }
        Content::Unopenable | Content::Directory | Content::Other => None,
    });
    files.collect()
}

/// Writes the files of a directory: durably up to the mark of each, or whole where it has none, and the rest without a
/// sync.
fn append(
    disk: &SimDisk,
    components: &[Name],
    files: &[Written<'_>],
    mark: impl Fn(&Name) -> Option<u64>,
) -> Result<(), StorageError> {
    look::make_directories(disk, components)?;
    for (name, bytes) in files {
        let marked = mark(name).and_then(|mark| usize::try_from(mark).ok());
        let (durable, pending) = bytes.split_at(marked.map_or(bytes.len(), |mark| mark.min(bytes.len())));
        look::lay_file(disk, components, name, durable)?;
        if !pending.is_empty() {
            let directory = look::open_directory(disk, components)?;
            let file = disk.open(&directory, name, Access::ReadWrite)?;
            exact::write_all(disk, &file, name, durable.len() as u64, pending)?;
            disk.close(file);
            disk.close_directory(directory);
        }
    }
    Ok(())
}
