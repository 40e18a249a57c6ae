//! What a disk was asked and what it answered, as fixed numbers for a digest or a timeline.
//!
//! Promises: one event for each storage call that was counted, in order, with nothing in it that depends on
//! addresses, wording or time. Leaves out: names, and bytes but for their hash.

use recovery_core::storage::{Call, Errno};

/// One storage call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Which call.
    pub call: Call,
    /// The error it failed with; `None`: it succeeded.
    pub errno: Option<Errno>,
    /// The file or directory it was about: for calls on a name, the directory.
    pub object: u32,
    /// A byte position (read, write), the new length (set-length), or the number of the name, counted from
    /// the first one this disk ever saw; else 0.
    pub position: u64,
    /// Bytes moved (read, write), the length (length), the object opened or made (open, create), entries
    /// listed (list), or the number of the new name (rename); else 0. When the call failed: what was asked
    /// for (read, write), or 0.
    pub length: u64,
    /// XXH3-64 of the bytes moved (read, write), where contents are recorded.
    pub content: Option<u64>,
}

impl Event {
    /// The call and what it was about, as one number.
    pub fn subject(&self) -> u64 {
        u64::from(self.object) << 8 | self.call as u64
    }
}
