//! I03 and I04, in part: nothing is given up but what an operator names and has lost.
//!
//! Asked of a start that came to an end, in a second look: the operator names offsets that are not lost, or leaves out some
//! that are. The core says that it is a mistake, and the partition is what it was, to the byte. Does not claim what is
//! lost, which the scenarios of F67 say.
//!
//! Findings: F67.

use super::refused_untouched::check_refused_untouched;
use crate::oracle::{Check, PartitionImage, Value, Violation};

/// What is wrong where a word was: whether it was called a mistake, what it was answered with, and what lay there before and
/// behind it.
pub fn check_wrong_word(
    is_a_mistake: bool,
    answer: &'static str,
    before: &PartitionImage,
    after: &PartitionImage,
) -> Vec<Violation> {
    let subject = "the answer to a range that is not what is lost";
    let taken = (!is_a_mistake)
        .then(|| Violation::new(Check::I03, subject, Value::Code("range-mistake"), Value::Code(answer)));
    taken.into_iter().chain(check_refused_untouched(before, after)).collect()
}
