//! What a person got wrong on the command line: exit status 2, one sentence, at most one piece of advice.
//!
//! Promises: nothing was opened for changing and no partition was judged when one of these is returned.

use std::path::PathBuf;

use thiserror::Error;

/// A command line that asks for what is not there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Mistake {
    /// The command line does not parse.
    #[error("{sentence}")]
    CommandLine {
        /// What is wrong with it.
        sentence: String,
    },
    /// The directory does not exist.
    #[error("there is no directory {}", path.display())]
    NoSuchDirectory {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The name is something else than a directory.
    #[error("{} is not a directory", path.display())]
    NotADirectory {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The name is a symbolic link.
    #[error("{} is a symbolic link, and none is followed", path.display())]
    SymbolicLink {
        /// The path as it was given.
        path: PathBuf,
    },
    /// Neither the path nor a flag says which partition this is.
    #[error("{} does not end in streams/S/topics/T/partitions/P, so it names no partition", path.display())]
    NoNamespace {
        /// The path, symbolic links in it resolved.
        path: PathBuf,
    },
    /// The directory has no name inside another one.
    #[error("{} lies in no directory that could hold a fence beside it", path.display())]
    NoParent {
        /// The path.
        path: PathBuf,
    },
    /// The file to inspect does not exist.
    #[error("there is no file {}", path.display())]
    NoSuchFile {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The name to inspect is a directory, a FIFO or the like.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The offsets given up are not those that are lost.
    #[error("{sentence}")]
    WrongRange {
        /// What is lost, and what was named.
        sentence: String,
    },
    /// There is no ledger to set aside.
    #[error("{sentence}")]
    NoLedger {
        /// What was looked for.
        sentence: String,
    },
    /// The position to inspect lies at or past the end.
    #[error("{} ends at byte {file_bytes}, and byte {position} was asked for", path.display())]
    PastEnd {
        /// The path as it was given.
        path: PathBuf,
        /// Length of the file.
        file_bytes: u64,
        /// The position.
        position: u64,
    },
}

impl Mistake {
    /// The permanent code of this mistake.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::CommandLine { .. } => "command-line",
            Self::NoSuchDirectory { .. } => "no-such-directory",
            Self::NotADirectory { .. } => "not-a-directory",
            Self::SymbolicLink { .. } => "symbolic-link",
            Self::NoNamespace { .. } => "no-namespace",
            Self::NoParent { .. } => "no-parent",
            Self::NoSuchFile { .. } => "no-such-file",
            Self::NotAFile { .. } => "not-a-file",
            Self::PastEnd { .. } => "past-end",
            Self::WrongRange { .. } => "wrong-range",
            Self::NoLedger { .. } => "no-ledger",
        }
    }

    /// What to do next, where that is not plain from the sentence.
    pub(crate) const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoNamespace { .. } => Some("give the numbers as --namespace S/T/P"),
            Self::SymbolicLink { .. } => Some("give the path that the link points to"),
            Self::NotADirectory { .. } => Some("to look into one file, use recover inspect FILE"),
            Self::WrongRange { .. } => {
                Some("recover check DIR says what is lost; name just that, each range once")
            }
            Self::NotAFile { .. } => Some("to look at a partition directory, use recover check DIR"),
            Self::CommandLine { .. }
            | Self::NoSuchDirectory { .. }
            | Self::NoParent { .. }
            | Self::NoSuchFile { .. }
            | Self::NoLedger { .. }
            | Self::PastEnd { .. } => None,
        }
    }
}
