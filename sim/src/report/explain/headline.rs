//! What broke, in plain words.

use std::io::{self, Write};

use crate::report::terminal::{counted, paragraph};
use crate::run::ending::FailureClass;
use crate::run::explain::{Explanation, Place};

/// What broke and where, in one sentence.
pub fn headline(explanation: &Explanation) -> String {
    let failure = &explanation.failure;
    let (check, step) = (failure.violation.check, failure.step);
    format!("{} ({check}, in {}, at step {step})", FailureClass::of(failure).broken(), failure.recovery_step)
}

/// Where it is, from the large to the small.
pub fn place_words(place: &Place) -> String {
    let mut words = vec![format!("node {}, partition {}", place.node, place.namespace)];
    words.extend(place.segment.map(|segment| format!("segment {segment}")));
    words.extend(place.file.map(|file| format!("file {file}")));
    words.extend(place.range.as_ref().map(|range| match range.end.checked_sub(range.start) {
        Some(1) => format!("byte {}", range.start),
        Some(_) | None => format!("bytes {} to {}", range.start, range.end),
    }));
    words.join(", ")
}

pub(super) fn write(out: &mut dyn Write, explanation: &Explanation) -> io::Result<()> {
    let violation = &explanation.failure.violation;
    paragraph(out, "BROKEN", &headline(explanation))?;
    if let Some(place) = &explanation.place {
        paragraph(out, "Where", &place_words(place))?;
    }
    paragraph(out, "Expected", &format!("{}: {}", violation.subject, violation.expected))?;
    paragraph(out, "Actual", &violation.actual.to_string())?;
    if let Some(said) = explanation.failure.said() {
        paragraph(out, "Said", &said)?;
    }
    if explanation.others > 0 {
        let others = counted(explanation.others as u64, "other violation");
        paragraph(out, "", &format!("{others} in the same world: --full lists them"))?;
    }
    Ok(())
}
