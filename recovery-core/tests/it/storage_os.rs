//! The real filesystem: every error by its name, no link followed, nothing hidden from a listing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use recovery_core::storage::os::{OsDirectory, OsStorage};
use recovery_core::storage::{Access, EntryKind, LockMode, Name, Storage, StorageError};
use tempfile::TempDir;

/// A directory with one of everything that can be found in one.
fn zoo() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::write(path.join("file"), "0123456789").unwrap();
    fs::create_dir(path.join("directory")).unwrap();
    fs::write(path.join("directory/inner"), "inner").unwrap();
    fs::create_dir(path.join("empty")).unwrap();
    symlink("file", path.join("link")).unwrap();
    symlink("directory", path.join("directory-link")).unwrap();
    symlink("nowhere", path.join("dangling")).unwrap();
    make_fifo(&path.join("fifo"));
    drop(UnixListener::bind(path.join("socket")).unwrap());
    directory
}

fn make_fifo(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).unwrap()
}

fn outcome<T>(result: Result<T, StorageError>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn listing(storage: &OsStorage, directory: &OsDirectory) -> String {
    let mut entries = Vec::new();
    storage.list(directory, &mut |name, kind| entries.push(format!("{name} {kind:?}"))).unwrap();
    entries.sort();
    entries.join(", ")
}

/// Runs one call against a fresh zoo and compares what it answers.
fn check<T>(call: impl FnOnce(&OsStorage, &OsDirectory) -> Result<T, StorageError>, expected: &str) {
    let zoo = zoo();
    let storage = OsStorage::open(zoo.path()).unwrap();
    let root = storage.root().unwrap();
    assert_eq!(outcome(call(&storage, &root)), expected);
}

#[test]
fn opening_takes_regular_files_only_and_names_what_it_found_instead() {
    for (entry, reading, changing) in [
        ("file", "ok", "ok"),
        ("missing", "open of missing failed with ENOENT", "open of missing failed with ENOENT"),
        ("directory", "open of directory failed with EISDIR", "open of directory failed with EISDIR"),
        ("link", "open of link failed with ELOOP", "open of link failed with ELOOP"),
        ("dangling", "open of dangling failed with ELOOP", "open of dangling failed with ELOOP"),
        ("fifo", "open of fifo failed with EOPNOTSUPP", "open of fifo failed with EOPNOTSUPP"),
        ("socket", "open of socket failed with EOPNOTSUPP", "open of socket failed with EOPNOTSUPP"),
    ] {
        check(|storage, root| storage.open(root, &name(entry), Access::Read), reading);
        check(|storage, root| storage.open(root, &name(entry), Access::ReadWrite), changing);
    }
}

#[test]
fn opening_a_directory_takes_directories_only_and_follows_no_link() {
    for (entry, expected) in [
        ("directory", "ok"),
        ("missing", "open of missing failed with ENOENT"),
        ("file", "open of file failed with ENOTDIR"),
        ("directory-link", "open of directory-link failed with ENOTDIR"),
        ("fifo", "open of fifo failed with ENOTDIR"),
    ] {
        check(|storage, root| storage.open_directory(root, &name(entry)), expected);
    }
}

#[test]
fn a_taken_name_is_neither_created_nor_made_whatever_has_it() {
    for entry in ["file", "directory", "link", "dangling", "fifo", "socket"] {
        let created = format!("create of {entry} failed with EEXIST");
        check(|storage, root| storage.create(root, &name(entry)), &created);
        let made = format!("make-directory of {entry} failed with EEXIST");
        check(|storage, root| storage.make_directory(root, &name(entry)), &made);
    }
}

#[test]
fn removing_needs_the_right_kind_and_an_empty_directory() {
    for (entry, kind, expected) in [
        ("file", EntryKind::File, "ok"),
        ("link", EntryKind::Other, "ok"),
        ("empty", EntryKind::Directory, "ok"),
        ("missing", EntryKind::File, "remove of missing failed with ENOENT"),
        ("missing", EntryKind::Directory, "remove of missing failed with ENOENT"),
        ("directory", EntryKind::Directory, "remove of directory failed with ENOTEMPTY"),
        ("directory", EntryKind::File, "remove of directory failed with EISDIR"),
        ("file", EntryKind::Directory, "remove of file failed with ENOTDIR"),
        ("directory-link", EntryKind::Directory, "remove of directory-link failed with ENOTDIR"),
    ] {
        check(|storage, root| storage.remove(root, &name(entry), kind), expected);
    }
}

#[test]
fn renaming_replaces_a_file_and_no_directory_that_holds_something() {
    for (from, to, expected) in [
        ("file", "new", "ok"),
        ("file", "link", "ok"),
        ("directory", "empty", "ok"),
        ("missing", "file", "rename of missing failed with ENOENT"),
        ("file", "directory", "rename of file failed with EISDIR"),
        ("directory", "file", "rename of directory failed with ENOTDIR"),
        ("empty", "directory", "rename of empty failed with ENOTEMPTY"),
    ] {
        check(|storage, root| storage.rename(root, &name(from), root, &name(to)), expected);
    }
}

#[test]
fn a_removed_or_replaced_link_leaves_its_target_alone() {
    let zoo = zoo();
    let storage = OsStorage::open(zoo.path()).unwrap();
    let root = storage.root().unwrap();
    storage.remove(&root, &name("link"), EntryKind::Other).unwrap();
    let fresh = storage.create(&root, &name("fresh")).unwrap();
    storage.close(fresh);
    symlink("file", zoo.path().join("link")).unwrap();
    storage.rename(&root, &name("fresh"), &root, &name("link")).unwrap();
    assert_eq!(fs::read_to_string(zoo.path().join("file")).unwrap(), "0123456789");
    assert_eq!(fs::read_to_string(zoo.path().join("link")).unwrap(), "");
}

#[test]
fn an_unreadable_file_is_the_error_that_the_kernel_gives() {
    let zoo = zoo();
    let path = zoo.path().join("file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever may read everything gets the file, everybody else EACCES; here as from any other door.
    let expected = fs::File::open(&path).err().and_then(|error| error.raw_os_error());
    let storage = OsStorage::open(zoo.path()).unwrap();
    let root = storage.root().unwrap();
    let found = storage.open(&root, &name("file"), Access::Read).err().map(|error| error.errno.raw());
    assert_eq!(found, expected);
}

#[test]
fn a_data_directory_must_be_a_directory_and_may_be_named_through_a_link() {
    let zoo = zoo();
    for (path, expected) in [
        ("missing", "open of missing failed with ENOENT"),
        ("file", "open of file failed with ENOTDIR"),
        ("missing/..", "open of data directory failed with ENOENT"),
        ("directory-link", "ok"),
        ("directory/..", "ok"),
    ] {
        assert_eq!(outcome(OsStorage::open(&zoo.path().join(path))), expected);
    }
}

#[test]
fn a_listing_shows_every_entry_by_its_own_kind() {
    let zoo = zoo();
    let storage = OsStorage::open(zoo.path()).unwrap();
    let root = storage.root().unwrap();
    assert_eq!(
        listing(&storage, &root),
        "dangling Other, directory Directory, directory-link Other, empty Directory, fifo Other, \
         file File, link Other, socket Other"
    );
}

#[test]
fn a_second_listing_through_one_handle_starts_at_the_beginning() {
    let zoo = zoo();
    let storage = OsStorage::open(zoo.path()).unwrap();
    let root = storage.root().unwrap();
    let directory = storage.open_directory(&root, &name("directory")).unwrap();
    assert_eq!(listing(&storage, &directory), "inner File");
    storage.make_directory(&directory, &name("later")).unwrap();
    storage.rename(&directory, &name("inner"), &directory, &name("moved")).unwrap();
    assert_eq!(listing(&storage, &directory), "later Directory, moved File");
    assert_eq!(listing(&storage, &directory), "later Directory, moved File");
}

#[test]
fn a_listing_inside_a_listing_of_the_same_handle_disturbs_neither() {
    let zoo = zoo();
    let storage = OsStorage::open(zoo.path()).unwrap();
    let root = storage.root().unwrap();
    let mut inner_counts = Vec::new();
    let visit = &mut |_: &Name, _| {
        let mut count = 0;
        storage.list(&root, &mut |_, _| count += 1).unwrap();
        inner_counts.push(count);
    };
    storage.list(&root, visit).unwrap();
    assert_eq!(inner_counts, [8; 8]);
}

#[test]
fn a_listing_of_a_removed_directory_is_an_error_and_not_empty() {
    let zoo = zoo();
    let storage = OsStorage::open(zoo.path()).unwrap();
    let root = storage.root().unwrap();
    let empty = storage.open_directory(&root, &name("empty")).unwrap();
    storage.remove(&root, &name("empty"), EntryKind::Directory).unwrap();
    assert_eq!(outcome(storage.list(&empty, &mut |_, _| ())), "list of empty failed with ENOENT");
}

#[test]
fn a_long_listing_loses_no_entry_at_the_edge_of_a_buffer() {
    let directory = tempfile::tempdir().unwrap();
    let storage = OsStorage::open(directory.path()).unwrap();
    let root = storage.root().unwrap();
    let mut expected: Vec<Name> = (0..500).map(|number| name(&format!("{number:0>199}"))).collect();
    expected.push(name(&"x".repeat(255)));
    for entry in &expected {
        fs::write(directory.path().join(entry.to_string()), "").unwrap();
    }
    let mut found = Vec::new();
    storage.list(&root, &mut |name, _| found.push(*name)).unwrap();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_name_that_is_no_text_is_listed_by_its_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().unwrap();
    let bytes = b"a\xff\n.log";
    fs::write(directory.path().join(std::ffi::OsStr::from_bytes(bytes)), "").unwrap();
    let storage = OsStorage::open(directory.path()).unwrap();
    let root = storage.root().unwrap();
    assert_eq!(listing(&storage, &root), "a\\xff\\n.log File");
    storage.open(&root, &Name::new(bytes).unwrap(), Access::Read).unwrap();
}

/// B135.
#[test]
fn an_exclusive_lock_is_held_once_and_a_shared_one_many_times() {
    let zoo = zoo();
    let storage = OsStorage::open(zoo.path()).unwrap();
    let refused = format!("lock of {} failed with EAGAIN", zoo.path().file_name().unwrap().display());
    for (held, asked, expected) in [
        (LockMode::Exclusive, LockMode::Exclusive, refused.as_str()),
        (LockMode::Exclusive, LockMode::Shared, refused.as_str()),
        (LockMode::Shared, LockMode::Exclusive, refused.as_str()),
        (LockMode::Shared, LockMode::Shared, "ok"),
    ] {
        let [holder, asker] = [storage.root().unwrap(), storage.root().unwrap()];
        storage.lock(&holder, held).unwrap();
        assert_eq!(outcome(storage.lock(&asker, asked)), expected, "{asked:?} while {held:?} is held");
        storage.close_directory(holder);
        assert_eq!(outcome(storage.lock(&asker, LockMode::Exclusive)), "ok", "a closed handle holds nothing");
    }
}

#[test]
fn bytes_written_at_a_position_are_read_there_and_a_hole_reads_as_zeros() {
    let zoo = zoo();
    let storage = OsStorage::open(zoo.path()).unwrap();
    let root = storage.root().unwrap();
    let file = storage.create(&root, &name("new")).unwrap();
    assert_eq!(storage.write(&file, 4, b"abcd"), Ok(4));
    assert_eq!(storage.length(&file), Ok(8));
    let mut buffer = [0xee; 16];
    assert_eq!(storage.read(&file, 2, &mut buffer), Ok(6));
    assert_eq!(buffer[..7], *b"\0\0abcd\xee");
    storage.set_length(&file, 5).unwrap();
    assert_eq!(storage.read(&file, 0, &mut buffer), Ok(5));
    storage.set_length(&file, 10).unwrap();
    assert_eq!(storage.read(&file, 4, &mut buffer), Ok(6));
    assert_eq!(buffer[..6], *b"a\0\0\0\0\0");
    storage.sync(&file).unwrap();
    storage.drop_cache(&file).unwrap();
    storage.sync_directory(&root).unwrap();
    assert_eq!(fs::read(zoo.path().join("new")).unwrap(), b"\0\0\0\0a\0\0\0\0\0");
}

#[test]
fn a_read_at_or_past_the_end_is_empty_at_every_position() {
    let zoo = zoo();
    let storage = OsStorage::open(zoo.path()).unwrap();
    let root = storage.root().unwrap();
    let file = storage.open(&root, &name("file"), Access::Read).unwrap();
    let largest = i64::MAX.cast_unsigned();
    for position in [10, 11, 1 << 40, largest - 4, largest, largest + 1, u64::MAX] {
        assert_eq!(storage.read(&file, position, &mut [0; 16]), Ok(0), "at {position}");
    }
}

#[test]
fn a_file_opened_for_reading_is_not_written() {
    check(
        |storage, root| {
            let file = storage.open(root, &name("file"), Access::Read)?;
            storage.write(&file, 0, b"x")
        },
        "write of file failed with errno 9",
    );
    check(
        |storage, root| {
            let file = storage.open(root, &name("file"), Access::Read)?;
            storage.set_length(&file, 0)
        },
        "set-length of file failed with EINVAL",
    );
}

/// A backup or a de-duplicator may have given a log a second name, and a copy in a fence may be that name.
#[test]
fn a_file_with_two_names_becomes_longer_and_never_shorter() {
    let cut = |storage: &OsStorage, root: &OsDirectory, length| {
        let file = storage.open(root, &name("file"), Access::ReadWrite)?;
        storage.set_length(&file, length)
    };
    let zoo = zoo();
    let storage = OsStorage::open(zoo.path()).unwrap();
    let root = storage.root().unwrap();
    fs::hard_link(zoo.path().join("file"), zoo.path().join("directory/second")).unwrap();
    assert_eq!(outcome(cut(&storage, &root, 9)), "set-length of file failed with EMLINK");
    assert_eq!(outcome(cut(&storage, &root, 10)), "ok");
    assert_eq!(outcome(cut(&storage, &root, 11)), "ok");
    assert_eq!(fs::read(zoo.path().join("directory/second")).unwrap(), b"0123456789\0");
    fs::remove_file(zoo.path().join("directory/second")).unwrap();
    assert_eq!(outcome(cut(&storage, &root, 9)), "ok");
}

#[test]
fn handles_keep_what_they_opened_when_names_change() {
    let zoo = zoo();
    let [before, after] = [zoo.path().join("directory"), zoo.path().join("elsewhere")];
    let storage = OsStorage::open(&before).unwrap();
    let root = storage.root().unwrap();
    let file = storage.open(&root, &name("inner"), Access::Read).unwrap();
    fs::rename(&before, &after).unwrap();
    symlink("empty", &before).unwrap();
    assert_eq!(listing(&storage, &storage.root().unwrap()), "inner File");
    storage.remove(&root, &name("inner"), EntryKind::File).unwrap();
    assert_eq!(storage.read(&file, 0, &mut [0; 16]), Ok(5));
    assert!(storage.open(&root, &name("inner"), Access::Read).unwrap_err().is_not_found());
}

#[test]
fn a_read_only_storage_reads_lists_and_locks() {
    let zoo = zoo();
    let storage = OsStorage::open_read_only(zoo.path()).unwrap();
    let root = storage.root().unwrap();
    storage.lock(&root, LockMode::Shared).unwrap();
    let directory = storage.open_directory(&root, &name("directory")).unwrap();
    assert_eq!(listing(&storage, &directory), "inner File");
    let file = storage.open(&directory, &name("inner"), Access::Read).unwrap();
    assert_eq!(storage.length(&file), Ok(5));
    let mut buffer = [0; 5];
    assert_eq!(storage.read(&file, 0, &mut buffer), Ok(5));
    assert_eq!(&buffer, b"inner");
    storage.drop_cache(&file).unwrap();
}

#[test]
fn a_read_only_storage_refuses_every_call_that_changes_something() {
    let zoo = zoo();
    let storage = OsStorage::open_read_only(zoo.path()).unwrap();
    let root = storage.root().unwrap();
    let file = storage.open(&root, &name("file"), Access::Read).unwrap();
    let answers = [
        outcome(storage.open(&root, &name("file"), Access::ReadWrite)),
        outcome(storage.create(&root, &name("new"))),
        outcome(storage.make_directory(&root, &name("new"))),
        outcome(storage.write(&file, 0, b"x")),
        outcome(storage.set_length(&file, 0)),
        outcome(storage.sync(&file)),
        outcome(storage.rename(&root, &name("file"), &root, &name("new"))),
        outcome(storage.remove(&root, &name("empty"), EntryKind::Directory)),
    ];
    let expected = [
        "open of file failed with EROFS",
        "create of new failed with EROFS",
        "make-directory of new failed with EROFS",
        "write of file failed with EROFS",
        "set-length of file failed with EROFS",
        "sync of file failed with EROFS",
        "rename of file failed with EROFS",
        "remove of empty failed with EROFS",
    ];
    assert_eq!(answers, expected);
    assert!(outcome(storage.sync_directory(&root)).starts_with("sync-directory of "));
    assert_eq!(fs::read_to_string(zoo.path().join("file")).unwrap(), "0123456789");
    assert!(zoo.path().join("empty").is_dir() && !zoo.path().join("new").exists());
}
