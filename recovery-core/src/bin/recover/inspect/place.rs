//! Where to look: `FILE` or `FILE@POSITION` on the command line.
//!
//! Promises: the file exists, is a regular file and no symbolic link, and the position lies inside it.

use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use recovery_core::storage::Name;

use crate::mistake::Mistake;

/// A file, and where in it to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The path as it was given, without the position.
    pub(crate) path: PathBuf,
    /// The directory that holds the file.
    pub(crate) directory: PathBuf,
    /// The file's name in it.
    pub(crate) name: Name,
    /// The position, if one was given.
    pub(crate) position: Option<u64>,
}

impl Place {
    /// Finds out what `place` names.
    ///
    /// # Errors
    ///
    /// When there is no such file, or it is something else than a regular file.
    #[expect(
        clippy::disallowed_methods,
        reason = "what a person names is looked at once, before the core is given it"
    )]
    pub(crate) fn find(place: &Path) -> Result<Self, Mistake> {
        let (path, position) = match split(place) {
            // A file whose own name ends like a position is that file.
            Some((path, position)) if place.symlink_metadata().is_err() => (path, Some(position)),
            Some(_) | None => (place.to_path_buf(), None),
        };
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => return Err(Mistake::SymbolicLink { path }),
            Ok(metadata) if !metadata.is_file() => return Err(Mistake::NotAFile { path }),
            Err(error) if error.kind() == ErrorKind::NotFound || error.kind() == ErrorKind::NotADirectory => {
                return Err(Mistake::NoSuchFile { path });
            }
            // Any other error is no evidence: opening the file will meet it again and name it.
            Ok(_) | Err(_) => {}
        }
        let name = path.file_name().and_then(|name| Name::new(name.as_bytes()));
        let Some(name) = name else { return Err(Mistake::NotAFile { path }) };
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            Some(_) | None => PathBuf::from("."),
        };
        Ok(Self { path, directory, name, position })
    }

    /// Where to start: the position, or the start of the file.
    pub(crate) fn start(&self) -> u64 {
        self.position.map_or(0, |position| position)
    }
}

/// The path and the number behind its last `@`, if that is a number.
fn split(place: &Path) -> Option<(PathBuf, u64)> {
    let bytes = place.as_os_str().as_bytes();
    let at = bytes.iter().rposition(|byte| *byte == b'@')?;
    let digits = std::str::from_utf8(&bytes[at + 1..]).ok()?;
    let position = match digits.strip_prefix("0x") {
        Some(digits) if is_all(digits, |byte| byte.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16).ok()?
        }
        None if is_all(digits, |byte| byte.is_ascii_digit()) => digits.parse().ok()?,
        Some(_) | None => return None,
    };
    Some((PathBuf::from(std::ffi::OsString::from_vec(bytes[..at].to_vec())), position))
}

/// Whether there are digits and every one of them is fitting. A sign is none.
fn is_all(digits: &str, is_fitting: fn(u8) -> bool) -> bool {
    !digits.is_empty() && digits.bytes().all(is_fitting)
}
