//! I21: beside its neighbours, in a host, a partition is judged and left as it is when it is started alone.
//!
//! Asked of every start in which nothing goes wrong. Does not claim that the judgement is right, which the checks of
//! a start alone do.

use recovery_core::host::{PartitionState, UNREADABLE_TRIES};
use recovery_core::units::Offset;

use super::sameness::first_difference;
use crate::oracle::{Check, PartitionImage, Value, Violation};

/// What a start of a partition alone came to.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "plain facts, each with its own name")]
pub struct Alone {
    /// Whether it is served.
    pub is_served: bool,
    /// Whether it leaves a gap.
    pub leaves_gap: bool,
    /// Whether that gap is recorded already, or a quorum has said that nobody holds its offsets.
    pub is_gap_settled: bool,
    /// How often in a row nothing could be said of it before, since its node came up.
    pub tries: u8,
    /// Why it is refused.
    pub reason: Option<&'static str>,
    /// Whether other nodes have it too.
    pub has_peers: bool,
    /// The offset of its next message.
    pub next_offset: Option<Offset>,
}

/// What the host made of it that does not follow (DESIGN section 8).
pub fn check_alone_alike(
    alone: &Alone,
    state: PartitionState,
    code: Option<&'static str>,
    next_offset: Option<Offset>,
) -> Option<Violation> {
    let expected: &[PartitionState] = match (alone.is_served, alone.reason.is_some(), alone.has_peers) {
        (true, _, true) if alone.leaves_gap && !alone.is_gap_settled => &[PartitionState::Rebuilding],
        (true, _, _) => &[PartitionState::Served],
        (false, true, true) => &[PartitionState::Rebuilding],
        (false, true, false) => &[PartitionState::Refused],
        (false, false, true) if alone.tries + 1 >= UNREADABLE_TRIES => {
            &[PartitionState::Unavailable, PartitionState::Rebuilding]
        }
        (false, false, _) => &[PartitionState::Unavailable],
    };
    let unlike = |subject, expected, actual| Some(Violation::new(Check::I21, subject, expected, actual));
    if !expected.contains(&state) {
        let expected = Value::Code(expected[0].code());
        return unlike("a partition among others", expected, Value::Code(state.code()));
    }
    if alone.reason.is_some() && code != alone.reason {
        let word = |code: Option<&'static str>| code.map_or(Value::None, Value::Code);
        return unlike("the reason of a partition among others", word(alone.reason), word(code));
    }
    if state == PartitionState::Served && next_offset != alone.next_offset {
        let subject = "the next offset of a partition among others";
        return unlike(subject, alone.next_offset.into(), next_offset.into());
    }
    None
}

/// What it left there that a start alone does not leave.
pub fn check_bytes_alike(alone: &PartitionImage, among_others: &PartitionImage) -> Option<Violation> {
    first_difference(Check::I21, alone, among_others)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVED: Alone = Alone {
        is_served: true,
        leaves_gap: false,
        is_gap_settled: false,
        tries: 0,
        reason: None,
        has_peers: false,
        next_offset: Some(Offset::new(7)),
    };
    const REFUSED: Alone = Alone { is_served: false, reason: Some("hole"), next_offset: None, ..SERVED };

    #[track_caller]
    fn check(alone: Alone, state: PartitionState, code: Option<&'static str>, is_alike: bool) {
        let next = (state == PartitionState::Served).then_some(Offset::new(7));
        assert_eq!(check_alone_alike(&alone, state, code, next).is_none(), is_alike);
    }

    #[test]
    fn what_follows_from_a_start_alone_passes() {
        check(SERVED, PartitionState::Served, None, true);
        check(REFUSED, PartitionState::Refused, Some("hole"), true);
        let (refused, gap) =
            (Alone { has_peers: true, ..REFUSED }, Alone { has_peers: true, leaves_gap: true, ..SERVED });
        check(refused, PartitionState::Rebuilding, Some("hole"), true);
        check(gap, PartitionState::Rebuilding, Some("gap"), true);
        check(Alone { is_gap_settled: true, ..gap }, PartitionState::Served, None, true);
        let unreadable = Alone { is_served: false, has_peers: true, next_offset: None, ..SERVED };
        check(unreadable, PartitionState::Unavailable, None, true);
        check(Alone { tries: 2, ..unreadable }, PartitionState::Rebuilding, None, true);
    }

    #[test]
    fn what_does_not_follow_is_a_violation() {
        check(SERVED, PartitionState::Refused, Some("hole"), false);
        check(REFUSED, PartitionState::Served, None, false);
        check(REFUSED, PartitionState::Rebuilding, Some("hole"), false);
        check(REFUSED, PartitionState::Refused, Some("overlap"), false);
        let gap = Alone { has_peers: true, leaves_gap: true, ..SERVED };
        check(gap, PartitionState::Served, None, false);
        let unreadable = Alone { is_served: false, has_peers: true, next_offset: None, tries: 1, ..SERVED };
        check(unreadable, PartitionState::Rebuilding, None, false);
        let other = check_alone_alike(&SERVED, PartitionState::Served, None, Some(Offset::new(6)));
        assert_eq!(other.map(|violation| violation.check), Some(Check::I21));
    }
}
