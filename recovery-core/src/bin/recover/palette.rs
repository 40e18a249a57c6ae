//! The colours of the text for people, and when they are shown.
//!
//! Promises: text is always written with its colours, and the stream takes them out where none are wanted,
//! so a text reads the same with and without. Colour never says anything that a word or letter does not.

use std::io::{Stderr, Stdout, stderr, stdout};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::arguments::ColorWhen;

/// Proven, served, right.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Repaired, or to be repaired.
pub(crate) const REPAIR: Style = AnsiColor::Yellow.on_default().bold();
/// Refused, lost, wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Not known.
pub(crate) const UNKNOWN: Style = AnsiColor::Magenta.on_default().bold();
/// Set aside: in a fence.
pub(crate) const FENCED: Style = AnsiColor::Cyan.on_default();
/// Whole, and not of this place.
pub(crate) const STRAY: Style = AnsiColor::Blue.on_default().bold();
/// Less important.
pub(crate) const DIM: Style = Style::new().dimmed();
/// A heading.
pub(crate) const HEADING: Style = Style::new().bold();

/// `text` in `style`.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Standard output, with colours or without.
pub(crate) fn output(when: ColorWhen) -> AutoStream<Stdout> {
    AutoStream::new(stdout(), choice(when))
}

/// Standard error, with colours or without.
pub(crate) fn errors(when: ColorWhen) -> AutoStream<Stderr> {
    AutoStream::new(stderr(), choice(when))
}

const fn choice(when: ColorWhen) -> ColorChoice {
    match when {
        ColorWhen::Auto => ColorChoice::Auto,
        ColorWhen::Always => ColorChoice::Always,
        ColorWhen::Never => ColorChoice::Never,
    }
}
