//! An initial disk as shared data: read once, laid under any number of worlds.
//!
//! Promises: nothing in it is ever written; a world that changes a page gets a copy. Leaves out: reading a
//! real directory, which is for the caller.

use std::sync::Arc;

use recovery_core::storage::Name;

use super::SimDisk;
use super::arena::Run;
use super::directory::{DirectoryId, Node, set};
use super::file::PageSlot;
use super::geometry::{Geometry, index, narrow};
use super::state::Disk;

/// A tree of files for one geometry.
#[derive(Clone, Debug)]
pub struct Image {
    geometry: Geometry,
    bytes: Arc<[u8]>,
    entries: Vec<ImageEntry>,
}

/// One file or directory of an image.
#[derive(Clone, Debug)]
struct ImageEntry {
    components: Vec<Name>,
    /// A file's length and the first sector of its bytes; `None` for a directory.
    file: Option<(u64, u32)>,
}

impl Image {
    /// Makes an image of paths, each with a file's bytes or `None` for a directory. Directories on the way
    /// to a path need not be named. `None`: some path has a component that is no name, or is empty.
    pub fn new<'a>(
        geometry: Geometry,
        tree: impl IntoIterator<Item = (&'a str, Option<&'a [u8]>)>,
    ) -> Option<Self> {
        let mut bytes = Vec::new();
        let mut entries = Vec::new();
        for (path, contents) in tree {
            let components = path.split('/').map(|component| Name::new(component.as_bytes()));
            let components: Vec<Name> = components.collect::<Option<_>>()?;
            let file = contents.map(|contents| {
                let first = geometry.sector_of(bytes.len() as u64);
                bytes.extend_from_slice(contents);
                let whole = (bytes.len() as u64).next_multiple_of(geometry.page_bytes());
                bytes.resize(index(whole), 0);
                (contents.len() as u64, first)
            });
            entries.push(ImageEntry { components, file });
        }
        Some(Self { geometry, bytes: bytes.into(), entries })
    }

    /// The geometry it was made for.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }
}

impl SimDisk {
    /// Lays an image under a disk that is still empty: its files are durable, and not cached.
    ///
    /// # Panics
    ///
    /// If the disk is not empty, or of another geometry.
    pub fn load(&self, image: &Image) {
        self.disk.borrow_mut().load(image);
    }
}

impl Disk {
    /// Lays an image under an empty disk: its files are durable and not cached.
    pub(super) fn load(&mut self, image: &Image) {
        assert!(image.geometry == self.geometry, "an image fits disks of its own geometry");
        self.arena.lay(Arc::clone(&image.bytes));
        for entry in &image.entries {
            let (last, above) = entry.components.split_last().expect("a path has a component");
            let mut directory = DirectoryId::ROOT;
            for name in above {
                directory = self.image_directory(directory, name);
            }
            let Some((length, first)) = entry.file else {
                self.image_directory(directory, last);
                continue;
            };
            let name = self.state.names.intern(last.as_bytes());
            let file = self.state.new_file(name, directory);
            let per_page = self.geometry.sectors_per_page();
            for page in 0..narrow(self.geometry.page_count(length) as u64) {
                let medium = self.arena.image_run(first + page * per_page);
                self.state.file_mut(file).pages.push(PageSlot { medium, cached: Run::NONE, is_dirty: false });
            }
            let node = self.state.file_mut(file);
            node.length = length;
            node.durable_length = length;
            self.add_image_entry(directory, name, Node::File(file));
        }
    }

    fn image_directory(&mut self, parent: DirectoryId, name: &Name) -> DirectoryId {
        let id = self.state.names.intern(name.as_bytes());
        if let Some(Node::Directory(directory)) = self.state.directory(parent).find(id) {
            return directory;
        }
        let directory = self.state.new_directory(id, parent);
        self.add_image_entry(parent, id, Node::Directory(directory));
        directory
    }

    fn add_image_entry(&mut self, parent: DirectoryId, name: super::name_table::NameId, node: Node) {
        let parent = self.state.directory_mut(parent);
        set(&mut parent.entries, name, Some(node));
        set(&mut parent.durable, name, Some(node));
    }
}
