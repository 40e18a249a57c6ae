//! Facts to verdict: a pure, total function over a small enumerated domain.

mod reason;
mod reason_code;
mod row;
mod ruling;
mod table;
mod verdict;

pub use reason::{FoundIdentity, Reason};
pub use reason_code::ReasonCode;
pub use row::{Row, Table};
pub use ruling::Ruling;
pub use table::{judge, row};
pub use verdict::{Action, Disposition, SegmentVerdict, Verdict};
