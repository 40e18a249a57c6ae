//! Fault by verdict: in how many worlds a fault was met and a start came to a verdict, with the holes marked.
//!
//! Promises: a pair that never came together is an empty cell, a fault that never decided anything and a
//! verdict that never came about are hatched, and a hole whose budget is used up says so.

use std::fmt::Write;

use super::chart::share;
use super::escape;
use crate::report::terminal::short;
use crate::report::whole::Whole;
use crate::run::reach::{Goal, Line as Reached, ReachKind};

/// Height of a row, width of a column, height of the names above and width of those to the left.
const ROW: usize = 19;
const COLUMN: usize = 33;
const ABOVE: usize = 158;
const LEFT: usize = 172;

/// One column.
struct Verdict {
    code: &'static str,
    is_hole: bool,
}

/// The map, with what it shows.
pub(super) fn section(whole: &Whole) -> String {
    let faults: Vec<&Reached> = whole.reach.iter().filter(|line| line.kind == ReachKind::Fault).collect();
    let verdicts = verdicts(whole);
    let height = ABOVE + faults.len() * ROW + 2;
    let width = verdicts.len() * COLUMN + 2;
    let names = names(&faults, whole.summary.seeds);
    let cells = cells(whole, &faults, &verdicts);
    format!(
        "<section>\n<h2>Fault by verdict</h2>\n<p class=\"quiet\">Worlds in which a fault was met by a storage \
         call and a start came to a verdict. Empty: never together. <span class=\"bad\">Hatched</span>: a \
         hole; the fault never decided anything, or the verdict never came about. A star: its budget of \
         worlds is used up.</p>\n<div class=\"heat\">\n<svg class=\"names\" width=\"{LEFT}\" \
         height=\"{height}\" role=\"img\" aria-label=\"fault kinds\">{names}</svg>\n<div class=\"cells\">\
         <svg width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"fault by verdict\"><defs>\
         <pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><line class=\"hatch-line\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/>\
         </pattern></defs>{cells}</svg></div>\n</div>\n</section>\n"
    )
}

/// Dispositions, then the reasons that can be reached at all.
fn verdicts(whole: &Whole) -> Vec<Verdict> {
    let counts = &whole.summary.tally.verdicts;
    let of = |code: &'static str| Verdict { code, is_hole: !counts.contains_key(code) };
    let mut verdicts: Vec<Verdict> = ["serve", "serve-from", "unavailable"].map(of).into();
    let reasons = whole.reach.iter().filter(|line| line.kind == ReachKind::Reason);
    let can_be = |line: &&Reached| !matches!(line.goal, Goal::Never(_)) || line.reached() > 0;
    verdicts.extend(reasons.filter(can_be).map(|line| of(line.id)));
    verdicts
}

/// Whether a fault has not done what is wanted of it.
fn is_hole(fault: &Reached) -> bool {
    !matches!(fault.goal, Goal::Never(_)) && fault.reached() == 0
}

fn names(faults: &[&Reached], worlds: u64) -> String {
    let mut text = String::new();
    for (row, fault) in faults.iter().enumerate() {
        let y = ABOVE + row * ROW + 13;
        let class = if is_hole(fault) { "hole" } else { "" };
        let star = if fault.is_missed(worlds) { " *" } else { "" };
        write!(text, "<text class=\"{class}\" x=\"0\" y=\"{y}\">{}{star}</text>", fault.id)
            .expect("a string takes it");
    }
    text
}

fn cells(whole: &Whole, faults: &[&Reached], verdicts: &[Verdict]) -> String {
    let pairs = &whole.summary.tally.fault_verdicts;
    let most = pairs.values().copied().max().unwrap_or_default();
    let mut text = String::new();
    for (column, verdict) in verdicts.iter().enumerate() {
        let x = column * COLUMN + COLUMN / 2 + 4;
        let y = ABOVE - 6;
        let class = if verdict.is_hole { "hole" } else { "" };
        write!(
            text,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" transform=\"rotate(-90 {x} {y})\">{}</text>",
            verdict.code
        )
        .expect("a string takes it");
    }
    for (row, fault) in faults.iter().enumerate() {
        for (column, verdict) in verdicts.iter().enumerate() {
            let worlds = pairs.get(&(fault.id, verdict.code)).copied().unwrap_or_default();
            let is_hatched = worlds == 0 && (is_hole(fault) || verdict.is_hole);
            cell(&mut text, (row, column), worlds, share(worlds, most), is_hatched);
            let title = format!("{} and {}: {worlds} worlds", fault.id, verdict.code);
            write!(text, "<title>{}</title></g>", escape(&title)).expect("a string takes it");
        }
    }
    text
}

/// A cell, whose group is left open for its title.
fn cell(text: &mut String, (row, column): (usize, usize), worlds: u64, share: f64, is_hatched: bool) {
    let (x, y) = (column * COLUMN + 1, ABOVE + row * ROW + 1);
    let (width, height) = (COLUMN - 2, ROW - 2);
    let (class, opacity) = match (worlds, is_hatched) {
        (0, true) => ("hatch", 1.0),
        (0, false) => ("none", 1.0),
        // Numbers stand on it in the page's own ink, so it never gets as dark as that.
        _ => ("cell", 0.08 + 0.5 * share),
    };
    write!(
        text,
        "<g><rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
         opacity=\"{opacity:.2}\"/>"
    )
    .expect("a string takes it");
    if worlds > 0 {
        let (x, y) = (x + width / 2, y + 12);
        write!(text, "<text class=\"c\" x=\"{x}\" y=\"{y}\">{}</text>", short(worlds))
            .expect("a string takes it");
    }
}
