//! The invariants of DESIGN section 9, one file a family.
//!
//! Promises: pure functions from what lay on the disk before, what lies there after and what was promised
//! to what is wrong; the disk is that of the medium, unless a function says otherwise. Leaves out: when
//! each is asked, which is the world's to say.

mod answers;
mod lengths;
mod lost_bytes;
mod nonzero_bytes;
mod promises_kept;
mod recover_twice;
mod refused_untouched;
mod sameness;
mod served_was_written;
#[cfg(test)]
mod tests;
mod verified_bytes;

pub use answers::check_answer;
pub use lengths::{Cursor, check_lengths, recovered_lengths};
pub use nonzero_bytes::check_nonzero_bytes;
pub use promises_kept::check_promises;
pub use recover_twice::{SecondRun, check_recover_twice};
pub use refused_untouched::{check_refused_untouched, is_untouched};
pub use served_was_written::{adopted_strangers, check_served};
pub use verified_bytes::check_verified_bytes;
