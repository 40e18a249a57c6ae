//! I14: at the instant of an acknowledgement its promise holds in every crash state.
//!
//! Asked of the disk whenever a promise is made: is each batch that it covers, with its names and length,
//! in every crash state? No crash is needed to see that it is not. Damage that no crash explains is excused
//! at its place, lying syncs with it. Does not claim that the ledger says so yet.

use std::ops::Range;

use recovery_core::format::FileName;
use recovery_core::storage::Name;

use super::adopted_survives::word;
use crate::disk::Exposed;
use crate::oracle::truth::{Life, Truth};
use crate::oracle::{Check, Value, Violation};

/// The first batch with a promise that some crash state breaks, among those promised from `since` on.
pub fn check_promise_durable(
    truth: &Truth,
    since: recovery_core::units::Offset,
    is_durable: impl Fn(&Name, Range<u64>) -> Result<(), Exposed>,
) -> Option<Violation> {
    let promised = truth.writes().iter().filter(|write| {
        let lives = matches!(write.life, Life::Acknowledged | Life::Adopted);
        lives && write.is_promised && write.base >= since
    });
    promised.into_iter().find_map(|write| {
        let log = FileName::log(write.segment);
        let range = write.position..write.position + u64::from(write.length);
        let exposed = is_durable(&log, range.clone()).err()?;
        if truth.damages.explains_divergence(&log, &range) {
            return None;
        }
        let (whole, lacks) = (Value::Code("whole"), Value::Code(word(exposed)));
        let violation = Violation::new(Check::I14, "a batch at its acknowledgement", whole, lacks);
        Some(violation.in_segment(write.segment).at(range))
    })
}
