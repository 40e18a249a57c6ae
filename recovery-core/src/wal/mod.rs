//! The metadata log: which partitions exist, in which life, and how far making and removing them has come.
//!
//! Promises: a record is durable when [`MetadataLog::append`] returns, and a second sync says so in the log
//! itself, so that damage to it is known for what it is; the rule for residue is the partitions' own: below
//! what is known to have been durable refuse, behind it cut at the first bad byte, whatever the width
//! (F90), and keep a copy. Leaves out: the directories that the records speak of ([`crate::host`]). A log
//! that is cut off exactly behind a batch shows no trace of what followed.

mod error;
mod fault;
mod log;
mod opening;
mod probe;
mod registry;
mod walk;

pub use error::MetadataError;
pub use fault::MetadataFault;
pub use log::MetadataLog;
pub use opening::{CutTail, Opened, Opening};
pub use registry::{Contradiction, Entry, Key, Registry, Stage};
