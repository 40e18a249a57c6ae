//! Facts to verdict: a pure, total function over a small enumerated domain.

mod chain;
mod fault;
mod link;
mod loss;
mod next_offset;
mod partition;
mod piece;
mod reason;
mod reason_code;
mod reason_fields;
mod refusal;
mod row;
mod ruling;
mod segment;
mod table;
mod verdict;
mod witness;

#[cfg(test)]
mod tests;

pub(crate) use chain::is_recorded;
pub use fault::Fault;
pub use link::{Content, Link, Place, link};
pub(crate) use loss::is_accepted;
pub use loss::{Loss, Losses, LostRange, Unacceptable, losses};
pub use partition::{decide, decide_telling};
pub(crate) use piece::{Piece, pieces};
pub use reason::{FoundIdentity, Reason};
pub use reason_code::ReasonCode;
pub use reason_fields::FieldValue;
pub use row::{Row, Table};
pub use ruling::Ruling;
pub use table::{judge, row};
pub use verdict::{Action, Disposition, SegmentVerdict, Verdict};
pub use witness::Witness;
