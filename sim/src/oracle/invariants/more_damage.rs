//! I22: more damage never serves more.
//!
//! Asked at each start about the same partition with bytes of one log damaged in addition, as long as
//! ledger and names were left alone by all damage and no relation is unknown, before or after: there,
//! killing a survivor rightly turns a refusal into a cut. Does not claim that less is served.

use recovery_core::decide::Verdict;
use recovery_core::observe::{Evidence, PartitionFacts};

use super::same_verdict::code;
use crate::oracle::boot_view::bytes_of;
use crate::oracle::served_log::Lying;
use crate::oracle::{Check, Image, Value, Violation};

/// Whether the relation of every segment to the evidence is known.
pub fn is_known_throughout(facts: &PartitionFacts) -> bool {
    facts.segments.iter().all(|segment| match segment.evidence {
        Evidence::Below | Evidence::AtOrAbove => true,
        Evidence::Unknown => false,
    })
}

/// The first batch that is served with more damage and was not served with less.
pub fn check_more_damage(
    (less, less_after): (&Verdict, &Image),
    more: &Verdict,
    more_lying: &[Lying<'_>],
) -> Option<Violation> {
    if more.is_served() && !less.is_served() {
        return Some(Violation::new(Check::I22, "the verdict with more damage", code(less), code(more)));
    }
    let batch = more_lying.iter().find(|batch| {
        let from = usize::try_from(batch.position).expect("a simulated file fits memory");
        let log = bytes_of(less_after, &recovery_core::format::FileName::log(batch.segment));
        log.and_then(|log| log.get(from..from + batch.bytes.len())) != Some(batch.bytes)
    })?;
    let (cut, served) = (Value::Code("not served"), Value::Code("served"));
    let end = batch.position + batch.bytes.len() as u64;
    let violation = Violation::new(Check::I22, "a batch with more damage", cut, served);
    Some(violation.in_segment(batch.segment).at(batch.position..end))
}
