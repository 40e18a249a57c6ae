//! What a person sees: reads without colour, fits 80 columns, and ends with what to do next.

mod export;
mod kernel_check;
mod replay;
mod run;
mod self_check;
mod shrink;
mod summary;
mod sweep;
mod text;
mod verdicts;

pub use export::export;
pub use kernel_check::{kernel_check_begin, kernel_check_summary, kernel_strange, kernel_wronged};
pub use replay::{replay, replay_end, replay_step};
pub use run::{failure, run_started};
pub use self_check::{self_check, self_check_summary};
pub use shrink::shrink;
pub use summary::{left_out, run_summary};
pub use sweep::sweep;
pub use text::{counted, hint, not_run, paragraph, short};
pub use verdicts::verdicts;
