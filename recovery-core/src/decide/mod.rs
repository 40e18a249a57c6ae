//! Facts to verdict: a pure, total function over a small enumerated domain.

mod reason;
mod verdict;

pub use reason::{FoundIdentity, Reason};
pub use verdict::{Action, Disposition, SegmentVerdict, Verdict};
