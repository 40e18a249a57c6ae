//! Writes the ledger: the small file that says what was durable (DESIGN section 4).
//!
//! Promises: one record a slot, never over a valid one; a new file is whole and durable before its name is
//! taken; nothing is appended after a sync that failed. Leaves out: reading ([`crate::observe`]), and when
//! which record is due, which is for the writer of the partition and for recovery to say.

mod error;
mod live_marks;
mod staged_file;
mod writer;

pub use error::LedgerError;
pub use writer::{LedgerWriter, NewLedger};
