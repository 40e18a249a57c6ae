//! What the ledger in an image says, for whoever judges what was served.
//!
//! Promises: the reference's own reading, never the core's facts. Leaves out: what follows for a verdict.

use recovery_core::observe::Expectation;
use recovery_core::units::{Incarnation, Offset, Position, SegmentStart};

use super::testimony::{Ledger, Testimony, hear};
use super::{Contents, contents};
use crate::oracle::Image;

/// What the ledger says of its partition; of another's, or of none, that is nothing.
#[derive(Clone, Debug)]
pub struct Heard(Option<Testimony>);

impl Heard {
    /// Hears the ledger in `image`; `None` if it cannot be read.
    pub fn of(image: &Image, expected: &Expectation) -> Option<Self> {
        let bytes = match contents(image, b"ledger") {
            Contents::Missing => return Some(Self(None)),
            Contents::Unreadable => return None,
            Contents::Bytes(bytes) => bytes,
        };
        match hear(bytes, expected.namespace.packed(), expected.incarnation.map(Incarnation::get)) {
            Ledger::None | Ledger::Foreign => Some(Self(None)),
            Ledger::Own(testimony) => Some(Self(Some(testimony))),
        }
    }

    /// Whether there is a ledger of the partition, and its writer may have gone on behind the last record: past a clean
    /// stop it has not, and no crash leaves anything there.
    pub fn is_under_way(&self) -> bool {
        self.0.as_ref().is_some_and(|testimony| !testimony.is_clean_stop)
    }

    /// Where the newest mark of a segment stands.
    pub fn mark(&self, segment: SegmentStart) -> Option<Position> {
        let mark = self.0.as_ref()?.newest_mark(segment.get())?;
        Some(Position::new(mark.position))
    }

    /// Where a segment was closed.
    pub fn sealed(&self, segment: SegmentStart) -> Option<Position> {
        let seals = &self.0.as_ref()?.seals;
        let newest = seals.iter().rfind(|seal| seal.segment == segment.get())?;
        Some(Position::new(newest.length))
    }

    /// Whether records explain that just the offsets from `first` to before `next` are missing.
    pub fn explains_gap(&self, first: Offset, next: Offset) -> bool {
        self.0.as_ref().is_some_and(|testimony| testimony.explains_gap(first.get(), next.get()))
    }
}
