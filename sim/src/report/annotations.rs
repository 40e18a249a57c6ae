//! Annotations: lines that GitHub's runner turns into remarks on a change.
//!
//! Promises: one line an annotation, whatever the text holds. Leaves out: whether anybody reads them, which
//! the caller asks of the environment.

use std::fmt::Write;

use super::again::Again;
use super::terminal::counted;
use super::whole::Whole;
use crate::exit::Exit;
use crate::run::planted::PlantedFate;

/// One line a group, one a scenario that failed, and one for everything else that fails the run.
///
/// # Examples
///
/// ```
/// # use sim::oracle::sample::Checks;
/// # use sim::run::parallel::Seeds;
/// # use sim::run::session::Request;
/// # use sim::schedule::generate::{Knobs, SizeKnob};
/// # use sim::schedule::token::Commit;
/// use sim::report::annotations::annotations;
/// use sim::report::lines::StartedLine;
/// use sim::report::whole::Whole;
/// use sim::run::planted::{Planted, PlantedFate};
/// use sim::run::session::Summary;
///
/// # let request = Request {
/// #     profile: "default",
/// #     knobs: Knobs { size: SizeKnob::Small, ..Knobs::default() },
/// #     seeds: Seeds::all(1, 4),
/// #     seconds: None,
/// #     failures: None,
/// #     per_group: 1,
/// #     require_reach: false,
/// #     jobs: 1,
/// #     commit: Commit::Unknown,
/// #     image: None,
/// #     checks: Checks::Default,
/// #     subject: None,
/// # };
/// let planted = Planted { fate: PlantedFate::Found, group: None };
/// let summary = Summary { seeds: 4, planted, ..Summary::default() };
/// let whole = Whole::of(StartedLine::of(&request), None, Vec::new(), summary);
/// // Nothing is wrong, so nothing is said.
/// assert_eq!(annotations(&whole), "");
/// let silent = Planted { fate: PlantedFate::Silent, group: None };
/// let whole = Whole { summary: Summary { planted: silent, ..whole.summary.clone() }, ..whole };
/// assert!(annotations(&whole).starts_with("::error title=sim the harness is not alive::"));
/// ```
#[must_use]
pub fn annotations(whole: &Whole) -> String {
    let mut text = String::new();
    let summary = &whole.summary;
    for group in &summary.groups {
        let line = whole.line_of(group);
        let sentence = line.map_or("", |line| line.sentence.as_str());
        let level = if group.known { "notice" } else { "error" };
        let (count, again) = (group.count, Again::of_group(&whole.started, group, line));
        let known = group.known_as().map_or(String::new(), |why| format!("known: {why}\n"));
        let seeds = counted(count, "failing seed");
        let told = format!("{sentence}\n{known}{seeds}\n{}", again.command);
        add(&mut text, level, &group.id, &told);
    }
    for id in &summary.known_gone {
        add(&mut text, "warning", id, "this known group did not fail, and its faults were met");
    }
    for failed in &summary.scenarios.failed {
        add(&mut text, "error", &failed.path, &failed.sentence);
    }
    if summary.planted.fate != PlantedFate::Found {
        let told = format!("the planted failure is {}", summary.planted.fate.code());
        add(&mut text, "error", "the harness is not alive", &told);
    }
    for end in summary.parts.iter().filter(|end| end.exit != Exit::Held) {
        add(&mut text, "error", end.part.code(), &format!("it ended with {}", end.exit as u8));
    }
    if let Some(wanted) = summary.cut_by_time {
        add(&mut text, "warning", "cut by time", &format!("{} of {wanted} seeds ran", summary.seeds));
    }
    for shard in &summary.shards_missing {
        add(&mut text, "error", "a shard is missing", &format!("shard {shard}"));
    }
    if whole.started.require_reach {
        for id in &whole.missed {
            add(&mut text, "error", "a goal was missed", id);
        }
    }
    text
}

fn add(text: &mut String, level: &str, title: &str, told: &str) {
    let told = told.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let title = title.replace('%', "%25").replace(':', "%3A").replace(',', "%2C");
    writeln!(text, "::{level} title=sim {title}::{told}").expect("a string takes it");
}
