//! I03 of what a host shows: a partition that is not served is never routed, never counted as held, answers nobody
//! with a success, and has no numbers that could be read as those of an empty one; one that is served counts
//! its messages one by one; and one whose deletion was taken down is on its way out, whatever it was (F63).
//!
//! Asked of every partition of a node behind every step. Does not claim which state is right.

use recovery_core::host::PartitionState;

use crate::oracle::{Check, Value, Violation};
use crate::schedule::ErrorClass;

/// What a host shows of a partition.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "plain facts, each with its own name")]
pub struct Shown {
    /// The state of its newest life.
    pub state: Option<PartitionState>,
    /// Whether its deletion was taken down, and no other life has begun.
    pub is_deleted: bool,
    /// Lives of it that are not removed yet.
    pub lives: u64,
    /// Whether requests may be sent here.
    pub is_routed: bool,
    /// Whether the node counts as holding offsets of it, or offers some.
    pub holds: bool,
    /// What a client that reads is told, if it is not served.
    pub answer: Option<Result<(), (ErrorClass, &'static str)>>,
    /// The code in its statistics.
    pub code: Option<&'static str>,
    /// The messages in its statistics.
    pub messages: Option<u64>,
    /// Whether its statistics have any number.
    pub has_numbers: bool,
    /// Messages that were acknowledged or adopted, and are kept.
    pub acknowledged: u64,
    /// Whether they can be compared.
    pub counts: bool,
}

/// What is wrong with it, if anything is.
pub fn check_shown(shown: &Shown) -> Option<Violation> {
    let is_served = shown.state == Some(PartitionState::Served);
    let state = shown.state.map_or("gone", PartitionState::code);
    let violation = |subject, expected, actual| Some(Violation::new(Check::I03, subject, expected, actual));
    let word = |is_there: bool| Value::Code(if is_there { "some" } else { "none" });
    if shown.is_deleted && !matches!(shown.state, None | Some(PartitionState::Deleting)) {
        return violation(
            "a partition whose deletion was taken down",
            Value::Code("deleting"),
            Value::Code(state),
        );
    }
    if shown.is_routed != is_served {
        return violation("a route to a partition", word(is_served), word(shown.is_routed));
    }
    if shown.holds && !is_served {
        return violation("offsets held of a partition that is not served", word(false), word(true));
    }
    if shown.has_numbers != is_served {
        return violation("numbers of a partition", word(is_served), word(shown.has_numbers));
    }
    if is_served {
        if shown.lives > 1 {
            return violation(
                "lives beside one that is served",
                Value::Number(1),
                Value::Number(shown.lives),
            );
        }
        let is_other = shown.counts && shown.messages != Some(shown.acknowledged);
        let actual = shown.messages.map_or(Value::None, Value::Number);
        return if is_other {
            violation("messages counted", Value::Number(shown.acknowledged), actual)
        } else {
            None
        };
    }
    let Err((class, code)) = shown.answer? else {
        return violation(
            "an answer of a partition that is not served",
            Value::Code("an error"),
            Value::Code("success"),
        );
    };
    let expected = class_of(shown.state);
    if expected.is_some_and(|expected| expected != class) {
        let expected = expected.map_or(Value::None, |class| Value::Code(class.code()));
        return violation("the class of an error", expected, Value::Code(class.code()));
    }
    let must_have_code = matches!(shown.state, Some(PartitionState::Refused | PartitionState::Unavailable));
    if must_have_code && shown.code != Some(code) {
        let expected = shown.code.map_or(Value::Code(state), Value::Code);
        return violation("the reason that a client is told", expected, Value::Code(code));
    }
    None
}

/// Whether asking again can help; `None` where only the node knows.
const fn class_of(state: Option<PartitionState>) -> Option<ErrorClass> {
    match state {
        None => None,
        Some(PartitionState::Refused | PartitionState::Deleting) => Some(ErrorClass::Terminal),
        Some(
            PartitionState::Created
            | PartitionState::Recovering
            | PartitionState::Unavailable
            | PartitionState::Rebuilding
            | PartitionState::Served,
        ) => Some(ErrorClass::Retriable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dark(state: PartitionState, class: ErrorClass) -> Shown {
        Shown {
            state: Some(state),
            is_deleted: false,
            lives: 1,
            is_routed: false,
            holds: false,
            answer: Some(Err((class, "lost-durable"))),
            code: Some("lost-durable"),
            messages: None,
            has_numbers: false,
            acknowledged: 3,
            counts: true,
        }
    }

    fn refused() -> Shown {
        dark(PartitionState::Refused, ErrorClass::Terminal)
    }

    fn served() -> Shown {
        Shown {
            state: Some(PartitionState::Served),
            is_routed: true,
            holds: true,
            answer: None,
            code: None,
            messages: Some(3),
            has_numbers: true,
            ..refused()
        }
    }

    #[track_caller]
    fn check(shown: Shown, expected: Option<&str>) {
        assert_eq!(check_shown(&shown).map(|violation| violation.subject), expected);
    }

    #[test]
    fn what_is_dark_and_says_so_passes() {
        check(refused(), None);
        check(dark(PartitionState::Rebuilding, ErrorClass::Retriable), None);
        check(served(), None);
    }

    #[test]
    fn what_was_deleted_is_on_its_way_out() {
        let deleted = "a partition whose deletion was taken down";
        check(Shown { is_deleted: true, ..refused() }, Some(deleted));
        check(Shown { is_deleted: true, ..served() }, Some(deleted));
        check(Shown { is_deleted: true, ..dark(PartitionState::Deleting, ErrorClass::Terminal) }, None);
    }

    #[test]
    fn a_dark_partition_that_looks_like_a_served_one_is_a_violation() {
        check(Shown { is_routed: true, ..refused() }, Some("a route to a partition"));
        check(Shown { holds: true, ..refused() }, Some("offsets held of a partition that is not served"));
        check(Shown { messages: Some(0), has_numbers: true, ..refused() }, Some("numbers of a partition"));
        let answer = "an answer of a partition that is not served";
        check(Shown { answer: Some(Ok(())), ..refused() }, Some(answer));
    }

    #[test]
    fn an_error_of_the_wrong_class_or_without_its_reason_is_a_violation() {
        check(dark(PartitionState::Refused, ErrorClass::Retriable), Some("the class of an error"));
        check(dark(PartitionState::Rebuilding, ErrorClass::Terminal), Some("the class of an error"));
        check(Shown { code: Some("hole"), ..refused() }, Some("the reason that a client is told"));
    }

    #[test]
    fn messages_that_are_not_counted_one_by_one_are_a_violation() {
        check(Shown { messages: Some(4), ..served() }, Some("messages counted"));
        check(Shown { messages: Some(4), counts: false, ..served() }, None);
        check(Shown { lives: 2, ..served() }, Some("lives beside one that is served"));
    }
}
