//! What a healthy partition does: append, flush, roll, retain, stop, read.
//!
//! Promises: an offset is acknowledged only after what its mode promises (DESIGN section 4); a reader sees
//! acknowledged batches only, each verified; a failed write leaves the files as they were, and a failed
//! sync ends all writing until recovery has looked again. Leaves out: recovery itself ([`crate::observe`],
//! [`crate::decide`], [`crate::plan`]), and the choice of when to flush, which is the caller's.

mod admission;
mod adopted;
mod announcement;
mod buffer;
mod chain;
mod cursor;
mod error;
mod flush;
mod index_search;
mod options;
mod poison;
mod polled;
mod reader;
mod retention;
mod roll;
mod segment_reader;
mod stop;
mod whole_batch;
mod writer;

pub use admission::{Admission, Rejection};
pub use adopted::{Adopted, AdoptedSegment};
pub use chain::{Chain, ChainSegment};
pub use error::{OpenError, StorageSizeMismatch, WriterError};
pub use flush::Acknowledged;
pub use options::{OptionsError, PartitionOptions, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN};
pub use polled::{Polled, Skipped};
pub use reader::{PollError, PollRequest, Reader};
pub use writer::{Appended, Writer};
