//! How a stop relates to what was durable (DESIGN section 4, "the relation").

use recovery_core::observe::Evidence;
use recovery_core::units::Durability;

use super::index;
use super::testimony::Testimony;
use super::walk::Walk;

/// The first rule that applies, then the rule about a clean stop.
pub(super) fn evidence(
    segment: u64,
    walk: &Walk,
    testimony: Option<&Testimony>,
    durability: Durability,
    index_bytes: &[u8],
) -> Evidence {
    let Some(testimony) = testimony else {
        let is_synced = match durability {
            Durability::Buffered => false,
            Durability::Synced | Durability::Proven => true,
        };
        let is_below = is_synced && index::proves_more(index_bytes, segment, walk);
        return if is_below { Evidence::Below } else { Evidence::Unknown };
    };
    let by_marks = match testimony.newest_mark(segment) {
        Some(mark) if (walk.end as u64) < mark.position => Evidence::Below,
        Some(_) => Evidence::AtOrAbove,
        // Where no mark is known at all, nothing is.
        None if testimony.newest_marked_segment().is_some_and(|newest| segment > newest) => {
            Evidence::AtOrAbove
        }
        None => Evidence::Unknown,
    };
    if testimony.is_clean_stop && by_marks == Evidence::AtOrAbove { Evidence::Unknown } else { by_marks }
}
