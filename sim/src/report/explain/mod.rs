//! Why a replayed world failed, in words: headline, timeline, strips, facts, bytes, and what it takes.
//!
//! Promises: fits 80 columns, but for what is there to be copied; reads without colour, which a stream takes
//! out where none is wanted. Leaves out: gathering, which [`crate::run::explain`] does.

mod facts;
mod headline;
mod index;
mod palette;
mod strip;
mod timeline;
mod touch;
mod verdicts;
mod window;

use std::io::{self, Write};

pub use facts::facts;
pub use headline::{headline, place_words};
pub use strip::{LEGEND, Strip, most, strip, strips_of};
pub use timeline::{TimelineRow, rows as timeline_rows};
pub use verdicts::{VerdictRow, rows as verdict_rows};

use crate::report::terminal::paragraph;
use crate::run::explain::Explanation;
use crate::run::replay::Replayed;

/// Everything that explains a failure.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn explanation(out: &mut dyn Write, explanation: &Explanation, replayed: &Replayed) -> io::Result<()> {
    headline::write(out, explanation)?;
    writeln!(out)?;
    timeline::write(out, explanation, replayed)?;
    if !explanation.moments.is_empty() {
        writeln!(out)?;
        strip::write(out, explanation)?;
    }
    if !explanation.facts.is_empty() {
        writeln!(out)?;
        facts::write(out, explanation)?;
    }
    if let Some(window) = &explanation.window {
        writeln!(out)?;
        window::write(out, window, not_varied(explanation))?;
    }
    if let Some(index) = &explanation.index {
        writeln!(out)?;
        index::write(out, index, not_varied(explanation))?;
    }
    writeln!(out)?;
    let rows = verdicts::rows(explanation, replayed);
    if rows.is_empty() {
        return paragraph(
            out,
            "Without",
            "there is no fault, and no crash that loses anything, to leave out",
        );
    }
    verdicts::write(out, &rows)
}

/// Whose bytes and facts are shown, where that is not the start in which the check failed.
fn not_varied(explanation: &Explanation) -> &'static str {
    if explanation.failure.varied.is_some() { ", of the start that was not varied" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::sample::Sample;
    use crate::run::replay::{Expected, replay};
    use crate::schedule::parse;
    use crate::world::{Change, Varied};

    /// A world in which an expectation fails behind a start.
    const STORY: &str = r#"
scenario "more is expected than was written" version=1
world filesystem="adversarial" regime="legal" {
    partition "1/1/0" durability="buffered"
}
steps {
    append "1/1/0" batch=0 payload=209
    flush "1/1/0"
    crash "os" survive="prefix" n=1
    start
    expect "1/1/0" next-offset=9
}
"#;

    #[test]
    fn what_is_not_of_the_start_that_failed_says_so() {
        let schedule = parse("story.kdl", STORY).expect("it reads").schedule;
        let replayed = replay(schedule, (Sample::EVERYTHING, None), &Expected::default(), None);
        let mut found = replayed.explanation.as_ref().expect("it fails").clone();
        let told = |found: &Explanation| {
            let mut out = Vec::new();
            explanation(&mut out, found, &replayed).expect("memory takes it");
            String::from_utf8(out).expect("text").split_whitespace().collect::<Vec<&str>>().join(" ")
        };
        assert!(!told(&found).contains("not varied"), "{}", told(&found));
        let (change, verdict) = (Change::Cleared, "serve");
        let varied = Varied { change, verdict, next_offset: None, remark: None };
        found.failure.varied = Some(Box::new(varied));
        let said = told(&found);
        assert!(said.contains("Said in a second look at this start the process ended"), "{said}");
        for part in
            ["Strip the log of segment 0, 513 bytes from end to end", "Facts", "as recovery found it,"]
        {
            let (_, behind) = said.split_once(part).unwrap_or_else(|| panic!("no {part}: {said}"));
            assert!(
                behind.trim_start_matches(", ").trim_start().starts_with("of the start that was not varied"),
                "{said}"
            );
        }
    }
}
