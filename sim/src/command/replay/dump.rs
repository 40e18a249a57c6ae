//! `--dump DIR`: every disk of a world, as it stands where the replay ends, as real files.
//!
//! Promises: two views of each node, `DIR/node-N/visible` (what storage calls see) and `DIR/node-N/durable`
//! (what lies on the medium), each a data directory that `recover` takes. Writes nowhere but below DIR, and
//! only if nothing is there. Leaves out: names that are neither file nor directory, which it counts.

use std::fs;
use std::path::{Component, Path};

use crate::report::terminal::counted;
use crate::run::explain::partitions_behind;
use crate::run::replay::Replayed;
use crate::world::{Arena, ContentLeft, FileLeft, WorldImage};

/// Whether a dump may be put there.
///
/// # Errors
///
/// When something is there already; the text is for a person.
pub(super) fn check(directory: &Path) -> Result<(), String> {
    let shown = directory.display();
    match fs::read_dir(directory) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(format!("{shown} is not empty, and a dump would mix with what is there")),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("{shown} cannot be a directory of dumps: {error}")),
    }
}

/// Writes every disk; says what was written.
///
/// # Errors
///
/// When a file cannot be written, or has a name that leads out of the directory; the text is for a person.
pub(super) fn dump(
    directory: &Path,
    replayed: &Replayed,
    image: Option<&'static WorldImage>,
) -> Result<String, String> {
    let nodes = partitions_behind(&mut Arena::on(image), &replayed.schedule, replayed.until);
    let (mut files, mut others) = (0, 0);
    for (number, node) in nodes.iter().enumerate() {
        for (view, left) in [("visible", &node.visible), ("durable", &node.durable)] {
            let top = directory.join(format!("node-{number}")).join(view);
            create(&top)?;
            for file in left {
                match write(&top, file)? {
                    Written::File => files += 1,
                    Written::Directory => {}
                    Written::Nothing => others += 1,
                }
            }
        }
    }
    let skipped = if others == 0 { String::new() } else { format!(", {others} links or devices left out") };
    let when = replayed.until.map_or("in the end".to_owned(), |until| format!("behind step {until}"));
    let (count, shown) = (counted(files, "file"), directory.display());
    Ok(format!(
        "{count} of {} as they are {when}{skipped}: {shown}/node-0/visible, .../durable",
        counted(nodes.len() as u64, "disk")
    ))
}

enum Written {
    File,
    Directory,
    Nothing,
}

fn write(top: &Path, file: &FileLeft) -> Result<Written, String> {
    let below = Path::new(&file.path);
    if !below.components().all(|component| matches!(component, Component::Normal(_))) {
        return Err(format!("a disk holds the name {:?}, which leads out of the dump", file.path));
    }
    let path = top.join(below);
    match &file.content {
        ContentLeft::Directory => create(&path).map(|()| Written::Directory),
        ContentLeft::Other => Ok(Written::Nothing),
        ContentLeft::File(bytes) => {
            path.parent().map_or(Ok(()), create)?;
            let failed = |error| format!("{} cannot be written: {error}", path.display());
            fs::write(&path, bytes).map_err(failed)?;
            Ok(Written::File)
        }
    }
}

fn create(directory: &Path) -> Result<(), String> {
    let failed = |error| format!("{} cannot be made: {error}", directory.display());
    fs::create_dir_all(directory).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_goes_where_nothing_is_and_stays_below() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let top = directory.path();
        assert_eq!(check(top), Ok(()));
        assert_eq!(check(&top.join("new")), Ok(()));
        let file = |path: &str| FileLeft { path: path.to_owned(), content: ContentLeft::File(vec![7]) };
        assert!(write(top, &file("a/b")).is_ok());
        assert_eq!(fs::read(top.join("a/b")).expect("it was written"), [7]);
        assert!(write(top, &file("../out")).is_err());
        assert!(check(top).expect_err("something is there").contains("is not empty"));
        assert!(check(&top.join("a/b")).is_err());
    }
}
