//! What can go wrong at the door to a disk: which call, on which name, with which error number.

use std::fmt;

use thiserror::Error;

use super::Name;

/// A storage call, by the word that scenarios and reports use for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each variant is the call of the same name on `Storage`")]
pub enum Call {
    Open,
    Create,
    Read,
    Write,
    SetLength,
    Sync,
    SyncDirectory,
    Length,
    List,
    Rename,
    Remove,
    MakeDirectory,
    Lock,
    DropCache,
}

impl Call {
    /// Every call.
    pub const ALL: [Self; 14] = [
        Self::Open,
        Self::Create,
        Self::Read,
        Self::Write,
        Self::SetLength,
        Self::Sync,
        Self::SyncDirectory,
        Self::Length,
        Self::List,
        Self::Rename,
        Self::Remove,
        Self::MakeDirectory,
        Self::Lock,
        Self::DropCache,
    ];

    /// The permanent word for this call.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Create => "create",
            Self::Read => "read",
            Self::Write => "write",
            Self::SetLength => "set-length",
            Self::Sync => "sync",
            Self::SyncDirectory => "sync-directory",
            Self::Length => "length",
            Self::List => "list",
            Self::Rename => "rename",
            Self::Remove => "remove",
            Self::MakeDirectory => "make-directory",
            Self::Lock => "lock",
            Self::DropCache => "drop-cache",
        }
    }

    /// Whether the call can change what a later start finds.
    pub const fn is_mutating(self) -> bool {
        match self {
            Self::Create
            | Self::Write
            | Self::SetLength
            | Self::Sync
            | Self::SyncDirectory
            | Self::Rename
            | Self::Remove
            | Self::MakeDirectory => true,
            Self::Open | Self::Read | Self::Length | Self::List | Self::Lock | Self::DropCache => false,
        }
    }
}

/// An error number as Linux spells it (`errno(3)`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Errno(i32);

macro_rules! errnos {
    ($($(#[$doc:meta])* $constant:ident = $number:literal, $code:literal;)*) => {
        impl Errno {
            $($(#[$doc])* pub const $constant: Self = Self($number);)*

            /// The error's symbolic name, such as `EIO`, or `errno` where this page lists none.
            pub const fn code(self) -> &'static str {
                match self.0 {
                    $($number => $code,)*
                    _ => "errno",
                }
            }
        }
    };
}

errnos! {
    /// The name does not exist: the only error that means "absent".
    NOT_FOUND = 2, "ENOENT";
    /// A signal came first; nothing was done.
    INTERRUPTED = 4, "EINTR";
    /// The device failed.
    IO = 5, "EIO";
    /// The lock is held by somebody else.
    WOULD_BLOCK = 11, "EAGAIN";
    /// The caller may not.
    PERMISSION_DENIED = 13, "EACCES";
    /// The file is busy.
    BUSY = 16, "EBUSY";
    /// The name is taken.
    EXISTS = 17, "EEXIST";
    /// A directory was asked for and the name is something else.
    NOT_A_DIRECTORY = 20, "ENOTDIR";
    /// A file was asked for and the name is a directory.
    IS_A_DIRECTORY = 21, "EISDIR";
    /// An argument makes no sense.
    INVALID = 22, "EINVAL";
    /// The whole system has no descriptor left.
    TOO_MANY_FILES_SYSTEM = 23, "ENFILE";
    /// This process has no descriptor left.
    TOO_MANY_FILES = 24, "EMFILE";
    /// The file would be larger than the filesystem allows.
    FILE_TOO_LARGE = 27, "EFBIG";
    /// The device is full.
    NO_SPACE = 28, "ENOSPC";
    /// The filesystem is mounted read-only.
    READ_ONLY = 30, "EROFS";
    /// The file has more names than one, and the call would take bytes from all of them.
    MANY_LINKS = 31, "EMLINK";
    /// The name is longer than the filesystem allows.
    NAME_TOO_LONG = 36, "ENAMETOOLONG";
    /// The directory is not empty.
    NOT_EMPTY = 39, "ENOTEMPTY";
    /// The name is a symbolic link, and this door follows none.
    SYMLINK = 40, "ELOOP";
    /// A value does not fit its type.
    OVERFLOW = 75, "EOVERFLOW";
    /// The operation is not supported on this object.
    NOT_SUPPORTED = 95, "EOPNOTSUPP";
    /// The file changed while it was being read (it ended early, or two reads of one place differ).
    STALE = 116, "ESTALE";
    /// The quota is used up.
    QUOTA = 122, "EDQUOT";
}

impl Errno {
    /// Wraps a raw error number.
    pub const fn from_raw(number: i32) -> Self {
        Self(number)
    }

    /// The raw error number.
    pub const fn raw(self) -> i32 {
        self.0
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code() {
            "errno" => write!(formatter, "errno {}", self.0),
            code => formatter.write_str(code),
        }
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A storage call that failed. It is `Copy` and allocates nothing.
///
/// An error is not evidence: only [`StorageError::is_not_found`] says that something is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{} of {file} failed with {errno}", call.code())]
pub struct StorageError {
    /// The call that failed.
    pub call: Call,
    /// The last component of the name it failed on.
    pub file: Name,
    /// Why it failed.
    pub errno: Errno,
}

impl StorageError {
    /// Whether the answer was a definite "there is no such name".
    #[inline]
    pub fn is_not_found(&self) -> bool {
        self.errno == Errno::NOT_FOUND
    }
}
