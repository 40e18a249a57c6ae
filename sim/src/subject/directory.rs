//! Partition images as real directories: written for a program to recover, and read back.
//!
//! Promises: what is written is what is read back, names, kinds and bytes; a name that leads to no file and no
//! directory becomes a symbolic link to nowhere. Leaves out: bytes that no read returns, which no directory can
//! be made to hold; they are written as the zeros or the bytes that lie there.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use recovery_core::storage::Name;

use crate::oracle::{Content, Fence, FileImage, Image, ImageEntry, PartitionImage};

/// Where a link leads that stands for what is no file and no directory.
const NOWHERE: &str = "nowhere";

/// The path that components spell below `root`.
pub fn path_below(root: &Path, components: &[Name]) -> PathBuf {
    let mut path = root.to_owned();
    path.extend(components.iter().map(|name| OsStr::from_bytes(name.as_bytes())));
    path
}

/// Writes what a name leads to; of a directory only the directory itself.
///
/// # Errors
///
/// When the filesystem does not take it.
pub fn write_content(path: &Path, content: &Content) -> io::Result<()> {
    match content {
        Content::File(file) => fs::write(path, &file.bytes),
        Content::Unopenable => fs::write(path, []),
        Content::Directory => fs::create_dir_all(path),
        Content::Other => symlink(NOWHERE, path),
    }
}

/// Writes a partition to where `components` lead below `root`, with its fences beside it.
///
/// # Errors
///
/// When the filesystem does not take it.
pub fn write(root: &Path, components: &[Name], image: &PartitionImage) -> io::Result<PathBuf> {
    let directory = path_below(root, components);
    write_image(&directory, &image.directory)?;
    for fence in &image.fences {
        write_image(&directory.with_file_name(OsStr::from_bytes(fence.name.as_bytes())), &fence.image)?;
    }
    Ok(directory)
}

fn write_image(directory: &Path, image: &Image) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    image.entries.iter().try_for_each(|entry| {
        write_content(&directory.join(OsStr::from_bytes(entry.name.as_bytes())), &entry.content)
    })
}

/// Reads a partition directory and the fences beside it; empty if it is not there.
///
/// # Errors
///
/// When something there cannot be read.
pub fn read(directory: &Path) -> io::Result<PartitionImage> {
    let mut image = PartitionImage { directory: read_image(directory)?, fences: Vec::new() };
    let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else { return Ok(image) };
    let prefix = [name.as_bytes(), b".fenced."].concat();
    for entry in entries(parent)? {
        let is_fence = entry.name.as_bytes().starts_with(&prefix) && entry.content == Content::Directory;
        if is_fence {
            let fence = read_image(&parent.join(OsStr::from_bytes(entry.name.as_bytes())))?;
            image.fences.push(Fence { name: entry.name, image: fence });
        }
    }
    Ok(image)
}

fn read_image(directory: &Path) -> io::Result<Image> {
    match entries(directory) {
        Ok(entries) => Ok(Image { entries, is_listable: true }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Image::default()),
        Err(error) => Err(error),
    }
}

/// The entries of a directory by name, whatever the order in which they are listed.
fn entries(directory: &Path) -> io::Result<Vec<ImageEntry>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let file_name = entry.file_name();
        let too_long = || io::Error::other(format!("{} has too long a name", entry.path().display()));
        let name = Name::new(file_name.as_bytes()).ok_or_else(too_long)?;
        let kind = entry.file_type()?;
        let content = if kind.is_file() {
            Content::File(FileImage::readable(fs::read(entry.path())?))
        } else if kind.is_dir() {
            Content::Directory
        } else {
            Content::Other
        };
        entries.push(ImageEntry { name, content });
    }
    entries.sort_by_key(|entry| entry.name);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use recovery_core::format::partition_components;
    use recovery_core::units::Namespace;

    use super::*;

    fn entry(name: &str, content: Content) -> ImageEntry {
        ImageEntry { name: Name::new(name.as_bytes()).expect("a short name"), content }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let file = |bytes: &[u8]| Content::File(FileImage::readable(bytes.to_vec()));
        let entries = vec![
            entry("00000000000000000000.log", file(b"bytes")),
            entry("empty", file(b"")),
            entry("folder", Content::Directory),
            entry("link.log", Content::Other),
        ];
        let fence = Image { entries: vec![entry("copy", file(b"aside"))], is_listable: true };
        let name = Name::new(b"3.fenced.0").expect("a short name");
        let image = PartitionImage {
            directory: Image { entries, is_listable: true },
            fences: vec![Fence { name, image: fence }],
        };
        let root = tempfile::tempdir().expect("a temporary directory can be made");
        let components = partition_components(Namespace { stream: 1, topic: 2, partition: 3 });
        let directory = write(root.path(), &components, &image).expect("the filesystem takes it");
        assert!(directory.ends_with("streams/1/topics/2/partitions/3"));
        assert_eq!(read(&directory).expect("it reads"), image);
    }

    #[test]
    fn a_directory_that_is_gone_is_empty() {
        let root = tempfile::tempdir().expect("a temporary directory can be made");
        let gone = read(&root.path().join("0")).expect("its parent reads");
        assert_eq!(gone, PartitionImage::default());
    }
}
