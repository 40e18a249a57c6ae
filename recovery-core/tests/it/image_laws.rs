//! Images of the fuzzer's corpus and of any other input: the law holds, and no window changes a verdict.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use recovery_core::observe::{WINDOW_BYTES_MAX, WINDOW_BYTES_MIN, Work, Workspace};
use recovery_core::recovery::Mode;
use recovery_core::storage::os::OsStorage;

use crate::image::check::{check, recover, recover_in};
use crate::image::{Image, NAMESPACE};
use crate::recovery_run::{check_nothing_is_lost, files_below};

/// What the corpus must show (`docs/fuzzing.md`), so that a change which makes it shallow is noticed.
const SHOWN: &[&str] = &[
    "serve",
    "serve-from",
    "refuse lost-durable",
    "refuse interior-damage",
    "refuse unproven-residue",
    "refuse foreign-batch",
    "refuse offset-discontinuity",
    "refuse offset-overflow",
    "refuse hole",
    "refuse overlap",
    "refuse empty-non-tail-segment",
    "refuse missing-segment",
    "refuse unexpected-file",
    "refuse superblock-unreadable",
    "refuse identity-mismatch",
    "refuse evidence-conflict",
    "stop end",
    "stop short",
    "stop undecodable",
    "stop bad-checksum",
    "stop overrun",
    "stop foreign",
    "stop gap",
    "stop regression",
    "stop overflow",
    "stop conflict",
    "residue none",
    "residue zeros",
    "residue noise",
    "residue survivor",
    "residue stray",
    "residue unproven",
    "index good",
    "index absent",
    "index partial-tail",
    "index wrong",
    "action cut",
    "action rebuild-index",
    "carries over",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("fuzz/corpus/image")
}

/// The inputs in a folder, the short ones first.
fn inputs(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut inputs: Vec<Vec<u8>> = entries.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
    inputs.sort_by(|left, right| (left.len(), left).cmp(&(right.len(), right)));
    inputs
}

/// Adds to the corpus what another folder has: the shortest inputs that show something new.
fn choose(from: &Path) {
    let mut shown = BTreeSet::new();
    let known = inputs(&folder());
    for input in known.into_iter().chain(inputs(from)) {
        let seen = check(&Image::of(&input));
        if seen.is_subset(&shown) {
            continue;
        }
        shown.extend(seen);
        let name = recovery_core::format::Checksum::of(&input).to_string();
        fs::write(folder().join(name), &input).unwrap();
    }
}

/// F54, F58, N22: among other things, what is read, hashed and walked of each byte is bounded.
#[test]
fn every_image_of_the_corpus_is_held_to_the_law() {
    if let Some(from) = std::env::var_os("CORPUS_FROM") {
        choose(Path::new(&from));
    }
    let mut shown = BTreeSet::new();
    for input in inputs(&folder()) {
        shown.extend(check(&Image::of(&input)));
    }
    let missing: Vec<&&str> = SHOWN.iter().filter(|what| !shown.contains(**what)).collect();
    assert!(missing.is_empty(), "no image shows {missing:?}");
}

/// Looks at one image through windows and in steps of every size.
fn check_windows(image: &Image, workspaces: &mut [Workspace]) {
    let storage = image.storage();
    storage.stop_listing();
    let mut first = None;
    for workspace in workspaces {
        for limit in [512, 3000, 1 << 20] {
            storage.start(None);
            let mut recovered = recover_in(workspace, limit, &storage, image, Mode::Look);
            recovered.facts.work = Work::default();
            let found = (recovered.facts, recovered.verdict, recovered.plan);
            match &first {
                None => first = Some(found),
                Some(first) => assert_eq!(found, *first, "{limit} bytes a step"),
            }
        }
    }
}

fn workspaces() -> Vec<Workspace> {
    [WINDOW_BYTES_MIN, 777, 4096, 64 * 1024, WINDOW_BYTES_MAX].map(Workspace::new).into()
}

#[test]
fn no_size_of_a_window_or_a_step_changes_a_verdict_on_the_corpus() {
    let mut workspaces = workspaces();
    for input in inputs(&folder()) {
        check_windows(&Image::of(&input), &mut workspaces);
    }
}

/// F18, F54, F83: nothing waits on a timer and nothing is charged by what a window shows; the caller takes steps of a size
/// that it chooses, and no size changes what is found.
#[test]
fn no_size_of_a_window_or_a_step_changes_a_verdict_on_any_image() {
    let workspaces = RefCell::new(workspaces());
    proptest!(|(input in vec(any::<u8>(), 0..700))| {
        check_windows(&Image::of(&input), &mut workspaces.borrow_mut());
    });
}

/// Repairs the image on a real disk, which must end as the storage in memory does.
fn check_real_disk(image: &Image) {
    let in_memory = image.storage();
    in_memory.start(None);
    let expected = recover(&in_memory, image, Mode::Repair);

    let directory = tempfile::tempdir().unwrap();
    image.write_below(directory.path());
    let before = files_below(directory.path());
    assert_eq!(before, image.storage().files(), "the image is there");
    let storage = OsStorage::open(directory.path()).unwrap();
    let mut workspace = Workspace::new(image.window);
    let found = recover_in(&mut workspace, image.limit, &storage, image, Mode::Repair);
    assert_eq!(found.verdict, expected.verdict);
    let after = files_below(directory.path());
    if found.verdict.is_served() {
        check_nothing_is_lost(NAMESPACE, &before, &after);
    } else {
        assert_eq!(after, before, "what is not served is untouched");
    }
    assert_eq!(after, in_memory.files(), "both disks end alike");
}

#[test]
fn every_image_of_the_corpus_ends_on_a_real_disk_as_in_memory() {
    for input in inputs(&folder()) {
        check_real_disk(&Image::of(&input));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_image_ends_on_a_real_disk_as_in_memory(input in vec(any::<u8>(), 0..700)) {
        check_real_disk(&Image::of(&input));
    }
}

proptest! {
    #[test]
    fn any_image_is_held_to_the_law(input in vec(any::<u8>(), 0..700)) {
        check(&Image::of(&input));
    }
}
