//! The reference on partition directories that a real server wrote (`recovery-core/tests/data/iggy-real`).

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use recovery_core::observe::Expectation;
use recovery_core::storage::Name;
use recovery_core::units::{Durability, Namespace};

use super::render;
use crate::oracle::reference::recover;
use crate::oracle::{Content, FileImage, Image, ImageEntry};

fn stored(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../recovery-core/tests/data/iggy-real").join(name)
}

fn file(name: &str, bytes: Vec<u8>) -> ImageEntry {
    let name = Name::new(name.as_bytes()).unwrap();
    ImageEntry { name, content: Content::File(FileImage::readable(bytes)) }
}

/// The partition with user headers: plain files.
fn headers() -> Image {
    let mut image = Image::default();
    for entry in fs::read_dir(stored("headers/partition-0")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_file() {
            image.entries.push(file(&name, fs::read(entry.path()).unwrap()));
        } else {
            let name = Name::new(name.as_bytes()).unwrap();
            image.entries.push(ImageEntry { name, content: Content::Directory });
        }
    }
    image
}

/// The partition whose last batch `kill -9` tore: packed.
fn torn_tail() -> Image {
    let mut image = Image::default();
    let packed = fs::File::open(stored("kill9-torn-tail.tar.gz")).unwrap();
    for entry in tar::Archive::new(GzDecoder::new(packed)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        if entry.header().entry_type().is_file() && path.parent().unwrap().ends_with("partition-0") {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            image.entries.push(file(path.file_name().unwrap().to_str().unwrap(), bytes));
        }
    }
    image
}

#[track_caller]
fn check(image: &Image, namespace: Namespace, durability: Durability, expected: &str) {
    let expectation = Expectation { durability, ..Expectation::of(namespace) };
    assert_eq!(render(&recover(image, &expectation)), expected);
}

#[test]
fn the_cleanly_stopped_one_is_served_as_it_is() {
    let namespace = Namespace { stream: 2, topic: 0, partition: 0 };
    for durability in Durability::ALL {
        check(
            &headers(),
            namespace,
            durability,
            "serve next=180\n\
             0 58062/58062 next=180 messages=180 batches=30 end none unknown good keep saved=0",
        );
    }
}

#[test]
fn the_torn_tail_is_cut_behind_the_last_whole_batch() {
    let namespace = Namespace { stream: 1, topic: 0, partition: 0 };
    for durability in Durability::ALL {
        check(
            &torn_tail(),
            namespace,
            durability,
            "serve next=90\n\
             0 4602556/4602556 next=50 messages=50 batches=5 end none unknown good keep saved=0\n\
             50 3639704/3641344 next=90 messages=40 batches=4 short noise unknown good cut saved=1640",
        );
    }
}

#[test]
fn a_real_directory_that_is_called_another_partition_is_refused() {
    check(
        &headers(),
        Namespace { stream: 2, topic: 0, partition: 1 },
        Durability::Buffered,
        "refuse foreign-batch in 0\n\
         0 0/58062 next=0 messages=0 batches=0 foreign stray unknown wrong keep saved=0",
    );
}
