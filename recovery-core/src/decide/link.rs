//! The link table: what two neighbouring segments are to each other (DESIGN section 6).
//!
//! Promises: a total function over a domain of 16 cells; the proven ends are compared, so a log that is
//! about to be cut counts as it will be. Leaves out: which fault of a partition is named first
//! ([`super::Fault`]).

use super::Row;

/// Where a segment starts, relative to the proven end of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// At an offset that the one before it holds.
    Inside,
    /// Exactly where the one before it ends.
    Adjacent,
    /// Further on, and records of the ledger say of just the offsets between that nobody holds them.
    RecordedAbove,
    /// Further on, and no record says why.
    Above,
}

impl Place {
    /// Every place, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Inside, Self::Adjacent, Self::RecordedAbove, Self::Above];

    /// The word for this place.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Inside => "inside",
            Self::Adjacent => "adjacent",
            Self::RecordedAbove => "recorded-above",
            Self::Above => "above",
        }
    }
}

/// What the earlier segment proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Content {
    /// At least one batch.
    Batches,
    /// No batch, and a seal says that it never held one.
    SealedEmpty,
    /// No batch.
    Nothing,
    /// No batch, and every log of the chain is of 0 bytes or zeros.
    NothingAnywhere,
}

impl Content {
    /// Every content, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Batches, Self::SealedEmpty, Self::Nothing, Self::NothingAnywhere];

    /// The word for this content.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Batches => "batches",
            Self::SealedEmpty => "sealed-empty",
            Self::Nothing => "nothing",
            Self::NothingAnywhere => "nothing-anywhere",
        }
    }
}

/// What two neighbouring segments are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Link {
    /// The later one continues the earlier one.
    Meets,
    /// Nobody holds the offsets between them, and that is recorded.
    RecordedGap,
    /// Nothing was ever written to either.
    AllEmpty,
    /// Both claim an offset.
    Overlap,
    /// The earlier one holds nothing, and nothing says that this is right.
    EmptyBefore,
    /// Offsets between them are gone.
    Hole,
}

impl Link {
    /// Every link.
    pub const ALL: [Self; 6] =
        [Self::Meets, Self::RecordedGap, Self::AllEmpty, Self::Overlap, Self::EmptyBefore, Self::Hole];

    /// The row of this link.
    pub const fn row(self) -> Row {
        match self {
            Self::Meets => Row::LinkMeets,
            Self::RecordedGap => Row::LinkRecordedGap,
            Self::AllEmpty => Row::LinkAllEmpty,
            Self::Overlap => Row::LinkOverlap,
            Self::EmptyBefore => Row::LinkEmptyBefore,
            Self::Hole => Row::LinkHole,
        }
    }
}

/// The table. A segment that proves no batch ends where it starts, so nothing can start inside of it or
/// directly behind it: those six cells stand here because a table has no blanks.
///
/// * A **recorded gap** is a seal that says where the next segment starts, or a loss that the operator
///   accepted. It also explains why a segment is empty: what it had is accounted for.
/// * **All empty** is a partition to which nothing durable was ever written, or of which a crash kept only
///   names: no byte speaks against serving it empty.
/// * An **overlap** is an old file put back, or two writers; no rule tells which of them is right.
/// * An **empty segment before another** lost what it held, for the writer that made the later one did so
///   behind messages; a **hole** lost its end, or the file between.
///
/// # Examples
///
/// ```
/// use recovery_core::decide::{Content, Link, Place, link};
///
/// assert_eq!(link(Place::Adjacent, Content::Batches), Link::Meets);
/// assert_eq!(link(Place::Above, Content::Batches), Link::Hole);
/// ```
#[rustfmt::skip]
pub const fn link(place: Place, content: Content) -> Link {
    use {Content as C, Place as P};
    match (place, content) {
        (P::Inside,        C::Batches | C::SealedEmpty | C::Nothing | C::NothingAnywhere) => Link::Overlap,
        (P::Adjacent,      C::Batches | C::SealedEmpty | C::Nothing | C::NothingAnywhere) => Link::Meets,
        (P::RecordedAbove, C::Batches | C::SealedEmpty | C::Nothing | C::NothingAnywhere) => Link::RecordedGap,
        (P::Above,         C::Batches | C::SealedEmpty)                                   => Link::Hole,
        (P::Above,         C::Nothing)                                                    => Link::EmptyBefore,
        (P::Above,         C::NothingAnywhere)                                            => Link::AllEmpty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// N32.
    #[test]
    fn the_domain_has_16_cells_and_reaches_every_link() {
        let links: Vec<Link> = Place::ALL
            .into_iter()
            .flat_map(|place| Content::ALL.map(|content| link(place, content)))
            .collect();
        assert_eq!(links.len(), 16);
        for wanted in Link::ALL {
            assert!(links.contains(&wanted), "{}", wanted.row().code());
        }
    }
}
