//! A copy of the sources, in which one bug is planted at a time.
//!
//! Promises: the sources themselves are only read; a file of the copy is written only where it differs, so
//! that a rebuild compiles no more than what changed; everything is as in the sources once the bug is taken
//! out again. Leaves out: building.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::mutant::{Mutant, Stale};

/// What of the sources a program is built from.
const PARTS: [&str; 6] = [".cargo", "Cargo.lock", "Cargo.toml", "recovery-core", "scenarios", "sim"];

/// A copy of the sources.
#[derive(Debug)]
pub struct Tree {
    sources: PathBuf,
    copy: PathBuf,
}

/// Why a bug could not be planted.
#[derive(Debug, thiserror::Error)]
pub enum PlantError {
    /// Its text is not where it should be.
    #[error("{file}: {stale}")]
    Stale {
        /// In which file.
        file: String,
        /// How often it stands there.
        stale: Stale,
    },
    /// A file could not be read or written.
    #[error("{file}: {error}")]
    Io {
        /// Which file.
        file: String,
        /// Why.
        error: io::Error,
    },
}

impl Tree {
    /// Brings the copy under `copy` up to date with `sources`.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or written.
    pub fn copy(sources: &Path, copy: &Path) -> io::Result<Self> {
        let tree = Self { sources: sources.to_owned(), copy: copy.to_owned() };
        let mut kept = BTreeSet::new();
        for part in PARTS {
            tree.copy_part(Path::new(part), &mut kept)?;
        }
        remove_others(copy, copy, &kept)?;
        Ok(tree)
    }

    /// Where the copy is.
    pub fn path(&self) -> &Path {
        &self.copy
    }

    fn copy_part(&self, part: &Path, kept: &mut BTreeSet<PathBuf>) -> io::Result<()> {
        let from = self.sources.join(part);
        if from.is_dir() {
            for entry in fs::read_dir(from)? {
                self.copy_part(&part.join(entry?.file_name()), kept)?;
            }
            return Ok(());
        }
        if from.is_file() {
            write_if_changed(&self.copy.join(part), &fs::read(from)?)?;
            kept.insert(part.to_owned());
        }
        Ok(())
    }

    /// Plants a bug.
    ///
    /// # Errors
    ///
    /// When one of its texts does not stand in its file exactly once. Nothing is planted then.
    pub fn plant(&self, mutant: &Mutant) -> Result<(), PlantError> {
        let mut planted: Vec<(PathBuf, String)> = Vec::new();
        for replacement in &mutant.replacements {
            let file = replacement.file.clone();
            let path = self.copy.join(&file);
            let earlier = planted.iter().position(|(known, _)| *known == path).map(|at| planted.remove(at).1);
            let source = match earlier {
                Some(source) => source,
                None => fs::read_to_string(self.sources.join(&file))
                    .map_err(|error| PlantError::Io { file: file.clone(), error })?,
            };
            let text = replacement.apply(&source).map_err(|stale| PlantError::Stale { file, stale })?;
            planted.push((path, text));
        }
        for (path, text) in planted {
            fs::write(&path, text)
                .map_err(|error| PlantError::Io { file: path.display().to_string(), error })?;
        }
        Ok(())
    }

    /// Takes a bug out again.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or written.
    pub fn restore(&self, mutant: &Mutant) -> io::Result<()> {
        for replacement in &mutant.replacements {
            let source = fs::read(self.sources.join(&replacement.file))?;
            write_if_changed(&self.copy.join(&replacement.file), &source)?;
        }
        Ok(())
    }
}

fn write_if_changed(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::read(path) {
        Ok(there) if there == bytes => return Ok(()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(directory) = path.parent() {
                fs::create_dir_all(directory)?;
            }
        }
        Err(error) => return Err(error),
    }
    fs::write(path, bytes)
}

/// Removes the files of an earlier copy that the sources do not have any more.
fn remove_others(root: &Path, directory: &Path, kept: &BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(root, &path, kept)?;
        } else if !path.strip_prefix(root).is_ok_and(|part| kept.contains(part)) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn mutant(file: &str, find: &str) -> Mutant {
        let text = format!(
            "mutant \"m\" target=\"core\" version=1\nstory \"s\"\nreplace file=\"{file}\" {{\n    find \"{find}\"\n    with \"two();\"\n}}\nkilled-by \"I01\"\n"
        );
        Mutant::parse("m", &text).unwrap()
    }

    #[test]
    fn a_bug_is_planted_in_the_copy_and_taken_out_again() {
        let sources = tempfile::tempdir().unwrap();
        let copy = tempfile::tempdir().unwrap();
        let source = sources.path().join("sim/src.rs");
        fs::create_dir_all(source.parent().unwrap()).unwrap();
        fs::write(&source, "    one();\n").unwrap();
        fs::write(copy.path().join("stray"), "of an earlier copy").unwrap();
        let tree = Tree::copy(sources.path(), copy.path()).unwrap();
        assert!(!copy.path().join("stray").exists());
        let copied = || fs::read_to_string(copy.path().join("sim/src.rs")).unwrap();
        let planted = mutant("sim/src.rs", "one();");
        tree.plant(&planted).unwrap();
        assert_eq!(copied(), "two();\n");
        assert_eq!(fs::read_to_string(&source).unwrap(), "    one();\n");
        tree.restore(&planted).unwrap();
        assert_eq!(copied(), "    one();\n");
        let stale = tree.plant(&mutant("sim/src.rs", "three();")).unwrap_err();
        assert_eq!(stale.to_string(), "sim/src.rs: its text stands there 0 times, and not once");
    }
}
