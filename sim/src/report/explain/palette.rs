//! The colours of an explanation: those of `recover`, where it draws the same things.

use anstyle::{AnsiColor, Style};

/// Right, as it was written.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// Written, and promised to nobody.
pub(super) const PLAIN: Style = AnsiColor::Cyan.on_default();
/// Damaged.
pub(super) const TORN: Style = AnsiColor::Yellow.on_default().bold();
/// Wrong, or missing.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Of nobody here.
pub(super) const STRAY: Style = AnsiColor::Blue.on_default().bold();
/// Less important.
pub(super) const DIM: Style = Style::new().dimmed();
/// Nothing special.
pub(super) const NONE: Style = Style::new();

/// `text` in `style`.
pub(super) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
