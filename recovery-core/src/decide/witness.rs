//! Which file says that bytes were durable.

/// What a loss is proven by (DESIGN section 4, "the relation").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Witness {
    /// A mark of the ledger.
    Ledger,
    /// An entry of the index, where there is no ledger and the caller vouches for the writer's syncs.
    Index,
}

impl Witness {
    /// Both witnesses.
    pub const ALL: [Self; 2] = [Self::Ledger, Self::Index];

    /// The permanent word for this witness.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Ledger => "ledger",
            Self::Index => "index",
        }
    }

    /// The witness as a sentence about a segment names it.
    pub(super) const fn phrase(self) -> &'static str {
        match self {
            Self::Ledger => "the ledger",
            Self::Index => "its index",
        }
    }
}
