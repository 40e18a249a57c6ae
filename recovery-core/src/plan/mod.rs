//! Verdict to disk: an ordered list of steps as plain data, and the code that carries them out.
//!
//! Promises: no non-zero byte is destroyed, whatever call fails or crashes; a partition that is refused
//! or unavailable gets an empty plan and is not touched; carrying a plan out twice changes nothing the
//! second time. Leaves out: whether the verdict is right ([`crate::decide`]).

mod apply;
mod aside;
mod build;
mod carry_plan;
mod carrying;
mod copies;
mod cut;
mod fence;
mod identify;
mod index;
mod range;
mod reason_file;
mod record;
mod save;
mod search;
mod set_aside;
mod settle;
mod site;
mod step;

#[cfg(test)]
mod tests;

pub use apply::{Applied, Applying, FencedFile};
pub(crate) use aside::SettingAside;
pub use build::{PlanOptions, build};
pub use settle::Settling;
pub use step::{Plan, Step};
