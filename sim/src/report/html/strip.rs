//! The segment strip: each log of a partition as a bar, as a start found it and as it left it.

use std::fmt::Write;

use recovery_core::decide::Action;
use recovery_core::observe::{Residue, SegmentFacts};

use crate::world::BootTold;

/// The strips of one start. `broken` is where a check says something is wrong: segment and bytes.
pub(super) fn strips(boot: &BootTold, broken: Option<(u64, Option<[u64; 2]>)>) -> String {
    let lengths = boot.facts.segments.iter().map(|facts| facts.log_length.get());
    let ends = broken.and_then(|(_, range)| range).map(|range| range[1]);
    let most = lengths.chain(ends).max().unwrap_or_default().max(1);
    let mut text = String::new();
    for facts in &boot.facts.segments {
        let start = facts.start.get();
        let at = broken.filter(|(segment, _)| *segment == start).and_then(|(_, range)| range);
        text.push_str(&strip(boot, facts, most, at));
    }
    if text.is_empty() { "<p class=\"quiet\">The start saw no segment.</p>\n".to_owned() } else { text }
}

fn strip(boot: &BootTold, facts: &SegmentFacts, most: u64, broken: Option<[u64; 2]>) -> String {
    let found = boot.verdict.segments.iter().find(|verdict| verdict.start == facts.start);
    let action = found.map_or(Action::Keep, |verdict| verdict.action);
    let (proven, length) = (facts.proven.end.get(), facts.log_length.get());
    let x = |bytes: u64| scaled(bytes, most);
    let residue = residue_class(facts.residue.kind);
    let mut before = bar("proven", x(0), x(proven)) + &bar(residue, x(proven), x(length));
    if let Some(mark) = facts.mark {
        before.push_str(&tick("tick", x(mark.position.get())));
    }
    let kept = match action {
        Action::Cut { at, .. } => at.get(),
        Action::Keep | Action::RebuildIndex => length,
    };
    let mut after = bar("proven", x(0), x(proven.min(kept)));
    after.push_str(&bar(residue, x(proven.min(kept)), x(kept)));
    after.push_str(&bar("gone", x(kept), x(length)));
    if let Some([first, end]) = broken {
        for strip in [&mut before, &mut after] {
            strip.push_str(&tick("at", x(first)));
            strip.push_str(&tick("at", x(end)));
        }
    }
    let saved = match action {
        Action::Cut { at, save } => format!("cut at byte {at}, {save} bytes saved"),
        Action::Keep | Action::RebuildIndex => action.code().to_owned(),
    };
    let words = [
        facts.stop.stop().code(),
        facts.residue.kind.code(),
        facts.evidence.code(),
        facts.index.state.code(),
    ];
    let [stop, residue, evidence, index] = words;
    let mut text = format!(
        "<div class=\"strip\"><p class=\"quiet\">segment {}: {proven} of {length} bytes proven, stop {stop}, \
         residue {residue}, evidence {evidence}, index {index}: {saved}</p>\n",
        facts.start
    );
    for (word, strip) in [("found", before), ("left", after)] {
        writeln!(
            text,
            "<div class=\"row\"><span>{word}</span><svg viewBox=\"0 0 1000 16\" preserveAspectRatio=\"none\" \
             role=\"img\" aria-label=\"segment {} as it was {word}\">{strip}</svg></div>",
            facts.start
        )
        .expect("a string takes it");
    }
    text + "</div>\n"
}

/// Places of a log on a bar of a thousand units.
#[expect(clippy::cast_precision_loss, reason = "a place is drawn to a thousandth")]
fn scaled(bytes: u64, most: u64) -> f64 {
    1000.0 * bytes as f64 / most as f64
}

fn bar(class: &str, from: f64, to: f64) -> String {
    if to <= from {
        return String::new();
    }
    format!("<rect class=\"{class}\" x=\"{from:.1}\" y=\"1\" width=\"{:.1}\" height=\"14\"/>", to - from)
}

fn tick(class: &str, at: f64) -> String {
    format!("<line class=\"{class}\" x1=\"{at:.1}\" y1=\"0\" x2=\"{at:.1}\" y2=\"16\"/>")
}

/// What the strips' colours say, in words.
pub(super) fn legend() -> String {
    let words = [
        ("proven", "proven"),
        ("zeros", "zeros"),
        ("noise", "noise, stray"),
        ("survivor", "survivor"),
        ("unproven", "not proven within the budget"),
        ("gone", "cut"),
    ];
    let mut text = "<p class=\"legend\">".to_owned();
    for (class, word) in words {
        write!(
            text,
            "<span><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect class=\"{class}\" width=\"12\" \
             height=\"12\"/></svg>{word}</span>"
        )
        .expect("a string takes it");
    }
    text + "<span>line across: the ledger's mark</span><span>red lines: what is wrong</span></p>\n"
}

const fn residue_class(residue: Residue) -> &'static str {
    match residue {
        Residue::None => "proven",
        Residue::Zeros => "zeros",
        Residue::Noise | Residue::Stray => "noise",
        Residue::Survivor => "survivor",
        Residue::Unproven => "unproven",
    }
}
