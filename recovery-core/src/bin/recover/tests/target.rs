//! From paths to partitions, on real directories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use recovery_core::units::Namespace;
use tempfile::TempDir;

use crate::target::Target;

const SPELT: &str = "streams/1/topics/2/partitions/3";

/// A data directory with one partition; its path has no link in it.
fn data() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    fs::create_dir_all(path.join(SPELT)).unwrap();
    (directory, path)
}

/// What `directory` leads to: root, components and namespace, with the data directory's path taken out.
fn found(root: &Path, directory: &Path, namespace: Option<Namespace>) -> String {
    let without_root = |text: String| text.replace(&root.display().to_string(), "ROOT");
    match Target::find(directory, namespace) {
        Ok(target) => {
            let components: Vec<String> = target.components.iter().map(ToString::to_string).collect();
            let overruled = target.overruled.map_or(String::new(), |spelt| format!(" overrules {spelt}"));
            let root = target.root.display();
            without_root(format!("{root} {} {}{overruled}", components.join("/"), target.namespace))
        }
        Err(mistake) => without_root(format!("{}: {mistake}", mistake.code())),
    }
}

#[test]
fn a_path_that_spells_a_partition_needs_no_flag() {
    let (_kept, root) = data();
    let expected = format!("ROOT {SPELT} 1/2/3");
    assert_eq!(found(&root, &root.join(SPELT), None), expected);
    assert_eq!(found(&root, &root.join("streams/1/topics/2/partitions/3/"), None), expected);
    assert_eq!(found(&root, &root.join("streams/1/../1/topics/2/partitions/3/."), None), expected);
}

#[test]
fn any_directory_will_do_with_a_namespace() {
    let (_kept, root) = data();
    fs::create_dir(root.join("copy")).unwrap();
    let namespace = Some(Namespace { stream: 7, topic: 8, partition: 9 });
    assert_eq!(found(&root, &root.join("copy"), namespace), "ROOT copy 7/8/9");
    assert_eq!(found(&root, &root.join(SPELT), namespace), format!("ROOT {SPELT} 7/8/9 overrules 1/2/3"));
    assert_eq!(
        found(&root, Path::new("/"), namespace),
        "no-parent: / lies in no directory that could hold a fence beside it"
    );
}

#[test]
fn a_path_that_spells_no_partition_needs_one() {
    let (_kept, root) = data();
    for place in [
        "copy",
        "streams/1/topics/2/partitions/03",
        "streams/1/topics/4096/partitions/0",
        "streams/1/topics/2/parts/3",
    ] {
        fs::create_dir_all(root.join(place)).unwrap();
        assert_eq!(
            found(&root, &root.join(place), None),
            format!(
                "no-namespace: ROOT/{place} does not end in streams/S/topics/T/partitions/P, so it names no partition"
            )
        );
    }
}

#[test]
fn what_is_not_there_or_no_directory_is_a_mistake() {
    let (_kept, root) = data();
    fs::write(root.join("file"), b"").unwrap();
    symlink(SPELT, root.join("link")).unwrap();
    let mistakes = [
        ("missing", "no-such-directory: there is no directory ROOT/missing"),
        ("file", "not-a-directory: ROOT/file is not a directory"),
        ("file/below", "no-such-directory: there is no directory ROOT/file/below"),
        ("link", "symbolic-link: ROOT/link is a symbolic link, and none is followed"),
        ("link/", "symbolic-link: ROOT/link/ is a symbolic link, and none is followed"),
    ];
    for (place, expected) in mistakes {
        assert_eq!(found(&root, &root.join(place), None), expected);
        let namespace = Some(Namespace { stream: 1, topic: 2, partition: 3 });
        assert_eq!(found(&root, &root.join(place), namespace), expected);
    }
}

#[test]
fn links_further_up_are_resolved_before_the_partition_is_named() {
    let (_kept, root) = data();
    symlink("streams/1", root.join("one")).unwrap();
    let expected = format!("ROOT {SPELT} 1/2/3");
    assert_eq!(found(&root, &root.join("one/topics/2/partitions/3"), None), expected);
}
