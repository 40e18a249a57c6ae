//! Verdict to disk: an ordered list of steps as plain data, and the code that carries them out.
//!
//! Promises: no non-zero byte is destroyed, whatever call fails or crashes; a partition that is refused
//! or unavailable gets an empty plan and is not touched; carrying a plan out twice changes nothing the
//! second time. Leaves out: whether the verdict is right ([`crate::decide`]).

mod build;
mod step;

pub use build::{PlanOptions, build};
pub use step::{Plan, Step};
