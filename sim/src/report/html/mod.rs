//! A run as one page: what was tried, what came of it, what failed and how to see it again.
//!
//! Promises: one file that needs nothing else, no network and no script; charts are SVG within it; it reads
//! in light and in dark, on a desk and on a phone, and without colour. Leaves out: running anything; the
//! worlds that are shown step by step are handed in.

mod chart;
mod failure;
mod heat;
mod kill_table;
mod strip;

use std::fmt::Write;

pub use self::failure::{SCENES, Scene};

use self::chart::{Bar, bars, pace};
use super::terminal::{counted, left_out};
use super::whole::Whole;
use crate::exit::Exit;
use crate::oracle::Check;
use crate::run::part::PartEnd;
use crate::run::planted::{CHECK, PlantedFate};
use crate::run::reach::{Goal, Line as Reached, ReachKind};
use crate::run::session::Summary;
use crate::subject::kill_table::KillTable;

/// How the page looks.
const STYLE: &str = include_str!("style.css");

/// The page.
///
/// # Examples
///
/// ```
/// # use sim::oracle::sample::Checks;
/// # use sim::run::parallel::Seeds;
/// # use sim::run::session::Request;
/// # use sim::schedule::generate::{Knobs, SizeKnob};
/// # use sim::schedule::token::Commit;
/// use sim::report::html::page;
/// use sim::report::lines::StartedLine;
/// use sim::report::whole::Whole;
/// use sim::run::planted::{Planted, PlantedFate};
/// use sim::run::session::Summary;
/// use sim::subject::kill_table::KillTable;
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
/// let page = page(&whole, &[], &KillTable::default());
/// // One document that fetches nothing.
/// assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
/// assert!(!page.contains("<script") && !page.contains("<link"));
/// ```
#[must_use]
pub fn page(whole: &Whole, scenes: &[Scene], kills: &KillTable) -> String {
    let title = title(whole);
    let sections = [
        head(whole, &title),
        failure::section(whole, scenes),
        verdicts(&whole.summary),
        heat::section(whole),
        reach(whole),
        speed(&whole.summary),
        kill_table::section(kills),
    ];
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
        escape(&title),
        sections.concat()
    )
}

/// Text that is no markup.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// A number with a blank between its thousands.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

fn title(whole: &Whole) -> String {
    let summary = &whole.summary;
    match whole.exit {
        Exit::Held => format!("All held in {}", counted(summary.seeds, "world")),
        Exit::Failed => {
            let groups = summary.groups.iter().filter(|group| !group.known).count() as u64;
            match (groups, summary.scenarios.failed.len() as u64) {
                (0, 0) if summary.planted.fate == PlantedFate::Masked => {
                    "The world of the planted failure fails by itself".to_owned()
                }
                (0, 0) => "What ran beside the seeds failed".to_owned(),
                (0, failed) => format!("{} failed", counted(failed, "scenario")),
                (groups, _) => {
                    let worlds = counted(summary.new_failures(), "world");
                    format!("{worlds} failed, in {}", counted(groups, "group"))
                }
            }
        }
        Exit::Usage => "The command line was wrong".to_owned(),
        Exit::Nondeterminism => "One schedule gave two digests".to_owned(),
        Exit::Nothing if summary.seeds == 0 => "No seed ran".to_owned(),
        Exit::Nothing if !summary.shards_missing.is_empty() => "Shards are missing".to_owned(),
        Exit::Nothing => "A goal of reach was missed".to_owned(),
        Exit::Harness => "A bug of the harness itself".to_owned(),
        Exit::Interrupted => "Interrupted; what ran is kept".to_owned(),
    }
}

fn head(whole: &Whole, title: &str) -> String {
    let Whole { started, summary, .. } = whole;
    let tally = &summary.tally;
    let injected: u64 = tally.faults.values().map(|fault| fault.injected).sum();
    let class = if whole.exit == Exit::Held { "good" } else { "bad" };
    let world = &started.world;
    let about = format!(
        "commit {}, profile {}, from seed {:#x}; regime {}, filesystem {}, size {}; run digest {:016x}",
        started.commit,
        started.profile,
        started.from_seed,
        world.regime,
        world.filesystem,
        world.size,
        summary.digest.get()
    );
    let tiles = [
        (summary.seeds, "worlds"),
        (tally.crashes, "crashes"),
        (injected, "faults injected"),
        (tally.batches, "batches appended"),
        (tally.boots, "starts judged"),
        (tally.counterfactuals, "worlds short of one fault"),
        (summary.reruns, "worlds run twice"),
        (summary.scenarios.passed, "scenarios passed"),
    ];
    let mut boxes = String::new();
    for (count, what) in tiles.into_iter().filter(|(count, _)| *count > 0) {
        let count = grouped(count);
        writeln!(boxes, "<div class=\"tile\"><b>{count}</b><span>{what}</span></div>")
            .expect("a string takes it");
    }
    format!(
        "<h1 class=\"{class}\">{}</h1>\n<p class=\"quiet\">{}</p>\n{}\n<div class=\"tiles\">\n{boxes}</div>\n",
        escape(title),
        escape(&about),
        alive(summary)
    )
}

/// Whether the harness heard of the failure that was planted.
fn alive(summary: &Summary) -> String {
    let check = CHECK.code();
    let (class, text) = match summary.planted.fate {
        PlantedFate::Found => {
            ("good", format!("Alive: the planted failure was found by {check} and is in every output."))
        }
        PlantedFate::Silent => {
            ("bad", format!("Not alive: the planted failure was lost; {check} or an output is blind."))
        }
        PlantedFate::Masked => ("bad", "The world of the planted failure fails without it.".to_owned()),
        PlantedFate::NotRun => ("warn", "No failure was planted.".to_owned()),
    };
    let missing: Vec<String> = summary.shards_missing.iter().map(u64::to_string).collect();
    let missing = if missing.is_empty() {
        String::new()
    } else {
        format!("<p class=\"bad\">Missing shards: {}.</p>", missing.join(", "))
    };
    let cut = summary.cut_by_time.map_or(String::new(), |wanted| {
        format!(
            "<p class=\"warn\">Cut by time: {} of {} seeds ran.</p>",
            grouped(summary.seeds),
            grouped(wanted)
        )
    });
    let left = left_out(&summary.not_run)
        .map_or(String::new(), |left| format!("<p class=\"warn\">Interrupted: {left} were not run.</p>"));
    format!("<p class=\"{class}\">{text}</p>{missing}{cut}{left}{}", parts(summary))
}

/// How what ran beside the seeds ended.
fn parts(summary: &Summary) -> String {
    let one = |end: &PartEnd| {
        let class = if end.exit == Exit::Held { "good" } else { "bad" };
        let (part, exit, seconds) = (end.part.code(), end.exit as u8, end.elapsed.as_secs_f64());
        format!("<p class=\"{class}\">Beside the seeds: {part}, exit {exit}, in {seconds:.1} s.</p>")
    };
    summary.parts.iter().map(one).collect()
}

/// Verdicts, and among them reasons to refuse.
fn verdicts(summary: &Summary) -> String {
    const SERVED: [&str; 3] = ["serve", "serve-from", "unavailable"];
    let count = |code: &str| summary.tally.verdicts.get(code).copied().unwrap_or_default();
    let refused = || summary.tally.verdicts.iter().filter(|(code, _)| !SERVED.contains(code));
    let mut verdicts: Vec<Bar> = SERVED.iter().map(|code| Bar::plain(code, count(code))).collect();
    verdicts.insert(2, Bar::plain("refuse", refused().map(|(_, count)| count).sum()));
    let mut reasons: Vec<Bar> = refused().map(|(code, count)| Bar::plain(code, *count)).collect();
    reasons.sort_by_key(|bar| std::cmp::Reverse(bar.count));
    let checks: Vec<Bar> = Check::ALL
        .iter()
        .filter_map(|check| {
            let count = summary.tally.violations.get(check).copied()?;
            Some(Bar { is_bad: true, ..Bar::plain(check.code(), count) })
        })
        .collect();
    let violated = if checks.is_empty() {
        String::new()
    } else {
        format!("<h3>Checks that were violated, in worlds</h3>{}", bars(&checks))
    };
    format!(
        "<div class=\"two\">\n<section>\n<h2>Verdicts</h2>\n<p class=\"quiet\">Starts of a partition. Bars are \
         on a logarithmic scale.</p>\n{}{violated}</section>\n<section>\n<h2>Reasons to refuse</h2>\n\
         <p class=\"quiet\">Each refusal leaves every byte as it was.</p>\n{}</section>\n</div>\n",
        bars(&verdicts),
        bars(&reasons)
    )
}

/// How much of each vocabulary was reached, and what was not.
fn reach(whole: &Whole) -> String {
    let mut rows = String::new();
    for kind in ReachKind::ALL {
        let lines = || whole.reach.iter().filter(|line| line.kind == kind);
        let wanted: Vec<&Reached> = lines().filter(|line| line.budget().is_some()).collect();
        let hit = wanted.iter().filter(|line| line.reached() > 0).count();
        let holes: Vec<String> = lines().filter_map(|line| hole(line, whole.summary.seeds)).collect();
        let holes = if holes.is_empty() { "none".to_owned() } else { holes.join(", ") };
        let (word, wanted) = (kind.code(), wanted.len());
        writeln!(
            rows,
            "<tr><td>{word}</td><td class=\"n\">{hit} of {wanted}</td><td class=\"w\">{holes}</td></tr>"
        )
        .expect("a string takes it");
    }
    format!(
        "<section>\n<h2>Reach</h2>\n<p class=\"quiet\">A word counts once it was reached; a fault once it was \
         decisive: the same world without it ended differently. What is not due yet has a budget of more \
         worlds than ran.</p>\n<table>\n<tr><th>vocabulary</th><th>reached</th><th>holes</th></tr>\n{rows}\
         </table>\n</section>\n"
    )
}

fn hole(line: &Reached, worlds: u64) -> Option<String> {
    match (&line.goal, line.is_missed(worlds)) {
        (Goal::Never(_), true) => Some(format!("<span class=\"bad\">{} (never may be)</span>", line.id)),
        (Goal::Never(_), false) => None,
        (Goal::Within(_) | Goal::ReadWithin(_), true) => {
            Some(format!("<span class=\"bad\">{} (missed)</span>", line.id))
        }
        (Goal::Within(_) | Goal::ReadWithin(_), false) => {
            (line.reached() == 0).then(|| format!("{} (not due)", line.id))
        }
    }
}

/// How fast it went.
fn speed(summary: &Summary) -> String {
    let (rate, seconds) = (summary.rate(), summary.elapsed.as_secs_f64());
    let about = format!("{} in {seconds:.1} s: {rate:.0} a second", counted(summary.seeds, "world"));
    let chart = if summary.shards.is_empty() {
        pace(summary.pace.moments())
    } else {
        let bar = |shard: &crate::run::pace::ShardPace| {
            let (index, seconds) = (shard.index, shard.seconds);
            Bar::plain(&format!("shard {index}, {seconds:.1} s"), shard.seeds)
        };
        bars(&summary.shards.iter().map(bar).collect::<Vec<Bar>>())
    };
    format!("<section>\n<h2>Worlds a second</h2>\n<p class=\"quiet\">{about}.</p>\n{chart}</section>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup_and_thousands_are_apart() {
        assert_eq!(escape("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!((grouped(0).as_str(), grouped(999).as_str()), ("0", "999"));
    }
}
