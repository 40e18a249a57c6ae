//! Charts that stretch with the page: bars with their numbers beside them, and a line over time.

use std::fmt::Write;

use super::{escape, grouped};
use crate::run::pace::Moment;

/// One bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) count: u64,
    pub(super) is_bad: bool,
}

impl Bar {
    pub(super) fn plain(label: &str, count: u64) -> Self {
        Self { label: label.to_owned(), count, is_bad: false }
    }
}

/// Bars on a logarithmic scale: 1 is a tenth of the width of 10 billion, and 0 is nothing.
pub(super) fn bars(bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or_default();
    let mut text = String::new();
    for bar in bars {
        let width = 100.0 * share(bar.count, most);
        let class = if bar.is_bad { "fill bad" } else { "fill" };
        writeln!(
            text,
            "<div class=\"bar\"><span class=\"l\">{}</span><svg viewBox=\"0 0 100 12\" \
             preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"rail\" width=\"100\" \
             height=\"12\"/><rect class=\"{class}\" width=\"{width:.2}\" height=\"12\"/></svg>\
             <span class=\"n\">{}</span></div>",
            escape(&bar.label),
            grouped(bar.count)
        )
        .expect("a string takes it");
    }
    if bars.is_empty() { "<p class=\"quiet\">None.</p>\n".to_owned() } else { text }
}

/// How far a count is from 0 to the most, on a logarithmic scale.
#[expect(clippy::cast_precision_loss, reason = "a share is drawn to a hundredth")]
pub(super) fn share(count: u64, most: u64) -> f64 {
    if count == 0 { 0.0 } else { ((count as f64).ln() + 1.0) / ((most as f64).ln() + 1.0) }
}

/// Worlds a second between moments, as a line from 0 to the fastest.
#[expect(clippy::cast_precision_loss, reason = "a rate is drawn to a tenth")]
pub(super) fn pace(moments: &[Moment]) -> String {
    let (Some(last), true) = (moments.last(), moments.len() > 2) else {
        return "<p class=\"quiet\">Too short a run for a line.</p>\n".to_owned();
    };
    let mut before = Moment { seconds: 0.0, seeds: 0 };
    let mut points: Vec<(f64, f64)> = Vec::new();
    for moment in moments {
        let seconds = (moment.seconds - before.seconds).max(0.001);
        let rate = moment.seeds.saturating_sub(before.seeds) as f64 / seconds;
        points.push((before.seconds, rate));
        points.push((moment.seconds, rate));
        before = *moment;
    }
    let most = points.iter().map(|(_, rate)| *rate).fold(1.0, f64::max);
    let mut path = String::new();
    for (index, (seconds, rate)) in points.iter().enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        let (x, y) = (1000.0 * seconds / last.seconds.max(0.001), 100.0 - 96.0 * rate / most);
        write!(path, "{letter}{x:.1} {y:.1}").expect("a string takes it");
    }
    format!(
        "<svg class=\"pace\" viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"worlds a second over time\"><path d=\"{path}\"/></svg>\n<div class=\"axis\">\
         <span>0 s</span><span>fastest {most:.0} a second</span><span>{:.1} s</span></div>\n",
        last.seconds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_count_is_many_digits() {
        assert!(share(0, 100) < f64::EPSILON && (share(100, 100) - 1.0).abs() < f64::EPSILON);
        assert!(share(1, 100) > 0.1 && share(1, 100) < share(10, 100));
        let text = bars(&[Bar::plain("a<b", 1_000)]);
        assert!(
            text.contains("a&lt;b") && text.contains("1\u{202f}000") && text.contains("width=\"100.00\"")
        );
        assert!(bars(&[]).contains("None."));
    }

    #[test]
    fn a_line_needs_time() {
        let moment = |seconds, seeds| Moment { seconds, seeds };
        assert!(pace(&[moment(1.0, 5)]).contains("Too short"));
        let text = pace(&[moment(1.0, 5), moment(2.0, 15), moment(3.0, 20)]);
        assert!(text.contains("fastest 10 a second") && text.contains("<span>3.0 s</span>"));
        assert!(text.contains("M0.0 52.0L333.3 52.0L333.3 4.0L666.7 4.0"));
    }
}
