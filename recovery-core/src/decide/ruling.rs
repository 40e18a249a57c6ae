//! What one cell of the segment table rules.

use super::ReasonCode;

/// What happens to one segment, by its facts alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "an unread ruling hides discarded bytes"]
pub enum Ruling {
    /// The log is kept as it is.
    Keep,
    /// The log ends at the proven prefix from now on; what follows is copied aside first.
    Cut,
    /// The partition is refused, and not one byte of it is touched.
    Refuse(ReasonCode),
    /// Nothing is said of the partition.
    Unavailable,
    /// No bytes have these facts: two readings of one place differ.
    Impossible,
}

impl Ruling {
    /// The word for this ruling in the rendered table; a refusal is named by its reason.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Cut => "cut",
            Self::Refuse(reason) => reason.code(),
            Self::Unavailable => "unavailable",
            Self::Impossible => "impossible",
        }
    }
}
