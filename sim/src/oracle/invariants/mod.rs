//! The invariants of DESIGN section 9, one file a family.
//!
//! Promises: pure functions from what lay on the disk before, what lies there after and what was promised
//! to what is wrong; the disk is that of the medium, unless a function says otherwise. Leaves out: when
//! each is asked, which is the world's to say.

mod adopted_survives;
mod alone;
mod answers;
mod baited;
mod copying;
mod failed_sync;
mod index_agrees;
mod installed;
mod interrupted;
mod lengths;
mod linear_work;
mod lost_bytes;
mod lying;
mod more_damage;
mod nonzero_bytes;
mod not_served;
mod not_skipped;
mod own_error;
mod own_offsets;
mod promise_durable;
mod promises_kept;
mod recover_twice;
mod refused_untouched;
mod replaced;
mod said;
mod same_verdict;
mod sameness;
mod served_was_written;
mod settled;
mod shown;
#[cfg(test)]
mod tests;
mod twin;
mod verified_bytes;
mod wrong_word;

pub use adopted_survives::check_adopted;
pub use alone::{Alone, check_alone_alike, check_bytes_alike};
pub use answers::check_answer;
pub use baited::check_baited;
pub use copying::{Given, Held, check_begun, check_came, check_newest};
pub use failed_sync::{
    FailedSync, check_after_failed_sync, check_call_of_failed_sync, check_ledger_behind_failed_sync,
    failed_sync,
};
pub use index_agrees::check_indexes;
pub use installed::{Offered, check_installed, check_taken};
pub use interrupted::check_interrupted;
pub use lengths::{Cursor, check_cursor, check_lengths, recovered_lengths};
pub use linear_work::{STEPS_SPARE, check_ends, check_probing, check_work, steps_max};
pub use lying::check_lying;
pub use more_damage::{check_more_damage, is_known_throughout};
pub use nonzero_bytes::check_nonzero_bytes;
pub use not_served::{check_inserted, check_not_adopted, check_success};
pub use not_skipped::check_not_skipped;
pub use own_error::{check_given_up, check_own_error};
pub use own_offsets::check_own_offsets;
pub use promise_durable::check_promise_durable;
pub use promises_kept::{check_kept, check_promises};
pub use recover_twice::{SecondRun, check_recover_twice};
pub use refused_untouched::{check_refused_untouched, check_settling, is_untouched};
pub use replaced::{Replaced, check_complete, check_replaced, check_taken_over};
pub use said::{Excuses, Place, Said, check_said};
pub use same_verdict::{Expected, check_misread, check_same_record, check_same_verdict, has_run_out};
pub use sameness::first_difference;
pub use served_was_written::{adopted_strangers, check_served};
pub use settled::{PASSES_MAX, Replica, check_settled};
pub use shown::{Shown, check_shown};
pub use twin::check_twin;
pub use verified_bytes::check_verified_bytes;
pub use wrong_word::check_wrong_word;
