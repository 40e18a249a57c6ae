//! From a path on the command line to a data directory, the way down from it, and a namespace.
//!
//! Promises: what is named here exists, is a directory, and is no symbolic link itself; links further up
//! are resolved once, here, so that the core, which follows none, is given a way without any. Leaves out:
//! whether it can be read. A path that cannot be examined is taken as it is spelt, and opening it says why.
//!
//! This file and [`mod@crate::inspect`]'s door are the only ones that touch paths; everything below them goes
//! through `Storage`.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use recovery_core::storage::Name;
use recovery_core::units::Namespace;

use crate::arguments::parse_number;
use crate::mistake::Mistake;

/// How many components the path of a partition has below the data directory.
const COMPONENTS: usize = 6;

/// A partition directory that a command works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The path as it was given, for people.
    pub(crate) given: PathBuf,
    /// The data directory: absolute, links resolved.
    pub(crate) root: PathBuf,
    /// The way from the data directory to the partition directory; never empty.
    pub(crate) components: Vec<Name>,
    /// Which partition.
    pub(crate) namespace: Namespace,
    /// The namespace that the path spells, where a flag said another one.
    pub(crate) overruled: Option<Namespace>,
}

impl Target {
    /// Finds out what `directory` names.
    ///
    /// # Errors
    ///
    /// When there is no such directory, it is something else or a symbolic link, or neither the path nor
    /// `namespace` says which partition it is.
    pub(crate) fn find(directory: &Path, namespace: Option<Namespace>) -> Result<Self, Mistake> {
        let given = directory.to_path_buf();
        let path = resolve(directory)?;
        let names = component_names(&path).ok_or(Mistake::NoParent { path: path.clone() })?;
        let spelt = spelt_namespace(&names);
        let (namespace, depth) = match (namespace, spelt) {
            (None, None) => return Err(Mistake::NoNamespace { path }),
            (Some(namespace), None) => (namespace, 1),
            (None, Some(spelt)) => (spelt, COMPONENTS),
            (Some(namespace), Some(_)) => (namespace, COMPONENTS),
        };
        let (above, below) = names.split_at(names.len() - depth);
        let mut root = PathBuf::from("/");
        root.extend(above.iter().map(|name| OsStr::from_bytes(name.as_bytes())));
        let target = Self {
            given,
            root,
            components: below.to_vec(),
            namespace,
            overruled: spelt.filter(|spelt| *spelt != namespace),
        };
        assert!(!target.components.is_empty(), "a partition directory lies below its data directory");
        Ok(target)
    }

    /// The partition directory's own name.
    pub(crate) fn name(&self) -> Name {
        *self.components.last().expect("a partition directory lies below its data directory")
    }
}

/// The absolute path of a directory that is no symbolic link itself.
#[expect(
    clippy::disallowed_methods,
    reason = "what a person names is looked at once, before the core is given it"
)]
fn resolve(directory: &Path) -> Result<PathBuf, Mistake> {
    // Rebuilt from its components, so that a slash at the end does not follow a link.
    let path: PathBuf = directory.components().collect();
    let given = || directory.to_path_buf();
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => return Err(Mistake::SymbolicLink { path: given() }),
        Ok(metadata) if !metadata.is_dir() => return Err(Mistake::NotADirectory { path: given() }),
        Ok(_) => {}
        Err(error) if is_absent(error.kind()) => return Err(Mistake::NoSuchDirectory { path: given() }),
        // An error is not evidence: opening the directory will meet it again and name it.
        Err(_) => return Ok(lexical(&path)),
    }
    match path.canonicalize() {
        Ok(resolved) => Ok(resolved),
        Err(_) => Ok(lexical(&path)),
    }
}

/// Whether an error says that the path leads to nothing: a name is missing, or is no directory to look into.
fn is_absent(kind: ErrorKind) -> bool {
    kind == ErrorKind::NotFound || kind == ErrorKind::NotADirectory
}

/// The path made absolute without asking the disk.
#[expect(
    clippy::disallowed_methods,
    reason = "what a person names is looked at once, before the core is given it"
)]
fn lexical(path: &Path) -> PathBuf {
    match std::path::absolute(path) {
        Ok(absolute) => absolute,
        Err(_) => path.to_path_buf(),
    }
}

/// The components of an absolute path below `/`, or `None` if there are none, or one leads upwards.
fn component_names(path: &Path) -> Option<Vec<Name>> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            Component::ParentDir => return None,
            Component::Normal(name) => names.push(Name::new(name.as_bytes())?),
        }
    }
    (!names.is_empty()).then_some(names)
}

/// The namespace that a path spells if it ends in `streams/S/topics/T/partitions/P`.
fn spelt_namespace(names: &[Name]) -> Option<Namespace> {
    let first = names.len().checked_sub(COMPONENTS)?;
    let text = |index: usize| std::str::from_utf8(names[first + index].as_bytes()).ok();
    let is_partition = text(0)? == "streams" && text(2)? == "topics" && text(4)? == "partitions";
    let namespace = Namespace {
        stream: parse_number(text(1)?)?,
        topic: parse_number(text(3)?)?,
        partition: parse_number(text(5)?)?,
    };
    (is_partition && namespace.is_packable()).then_some(namespace)
}
