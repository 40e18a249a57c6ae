//! What a recovery owes each batch that was put into a log.
//!
//! Promises: each batch has exactly one obligation, from what was promised of it and what went wrong since.
//! Leaves out: batches that a fault put where they do not belong: nobody is owed them.

use super::truth::{Life, Truth, Write};
use recovery_core::format::FileName;

/// What is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obligation {
    /// Promised, and nothing but crashes happened to it: it is served, or the partition is refused for
    /// another cause with these bytes untouched.
    MustKeep,
    /// Not promised: a crash explains its absence, and it may as well be there.
    MayLose,
    /// Damaged, and no mark on the medium says that it was durable: it may be cut, and is never served.
    MustNotServe,
    /// Damaged below a mark that is on the medium: this is loss, and the partition is refused.
    MustRefuse,
}

impl Obligation {
    /// Every obligation.
    pub const ALL: [Self; 4] = [Self::MustKeep, Self::MayLose, Self::MustNotServe, Self::MustRefuse];

    /// The permanent word for this obligation.
    pub const fn code(self) -> &'static str {
        match self {
            Self::MustKeep => "must-keep",
            Self::MayLose => "may-lose",
            Self::MustNotServe => "must-not-serve",
            Self::MustRefuse => "must-refuse",
        }
    }
}

impl Truth {
    /// What is owed a batch, where `is_intact` says whether its bytes are still in their place; `None` if
    /// nobody is owed it any more.
    pub fn owed(&self, write: &Write, is_intact: bool) -> Option<Obligation> {
        if matches!(write.life, Life::Lost | Life::Retained) {
            return None;
        }
        let log = FileName::log(write.segment);
        // Whole bytes can only have been taken along by damage before them.
        let end = if is_intact { write.position } else { write.position + u64::from(write.length) };
        let is_explained = self.damages.explains_loss(&log, end);
        Some(match (write.is_promised, is_explained, is_intact) {
            (true, false, _) => Obligation::MustKeep,
            (false, _, true) | (false, false, false) | (true, true, true) => Obligation::MayLose,
            (_, true, false) if write.is_marked && !self.damages.explains_forgotten_offsets() => {
                Obligation::MustRefuse
            }
            (_, true, false) => Obligation::MustNotServe,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

    use recovery_core::units::{Offset, SegmentStart};

    use super::*;
    use crate::oracle::damage::Place;

    /// Three batches of 100 bytes in segment 0: the first below a mark, the second promised, the third not.
    fn truth() -> Truth {
        let mut truth = Truth::default();
        truth.reset(Offset::ZERO);
        for at in 0..3 {
            let offsets = (Offset::new(at), Offset::new(at + 1));
            truth.append(None, offsets, (SegmentStart::new(0), at * 100), &[1; 100], Life::Buffered);
        }
        truth.acknowledge(Offset::new(2));
        truth.promise(Offset::new(2));
        truth.mark(Offset::new(1));
        truth
    }

    fn owed(truth: &Truth, is_intact: [bool; 3]) -> Vec<&'static str> {
        let writes = truth.writes().iter().zip(is_intact);
        writes
            .map(|(write, is_intact)| truth.owed(write, is_intact).map_or("nothing", Obligation::code))
            .collect()
    }

    fn damaged_at(position: u64) -> Truth {
        let mut truth = truth();
        let file = FileName::log(SegmentStart::new(0));
        truth.damages.add(Place::Bytes { file, range: position..position + 1 });
        truth
    }

    #[test]
    fn a_crash_explains_only_what_was_not_promised() {
        assert_eq!(owed(&truth(), [true; 3]), ["must-keep", "must-keep", "may-lose"]);
        assert_eq!(owed(&truth(), [false; 3]), ["must-keep", "must-keep", "may-lose"]);
    }

    #[test]
    fn damage_is_loss_below_a_mark_and_takes_along_what_lies_behind_it() {
        assert_eq!(owed(&damaged_at(0), [false, true, true]), ["must-refuse", "may-lose", "may-lose"]);
        assert_eq!(owed(&damaged_at(150), [true, false, true]), ["must-keep", "must-not-serve", "may-lose"]);
        assert_eq!(owed(&damaged_at(250), [true, true, false]), ["must-keep", "must-keep", "must-not-serve"]);
        // Bytes that are gone before the damage are not gone by it.
        assert_eq!(
            owed(&damaged_at(250), [true, false, false]),
            ["must-keep", "must-keep", "must-not-serve"]
        );
    }

    #[test]
    fn a_damaged_ledger_proves_no_loss() {
        let mut truth = damaged_at(0);
        truth.damages.add(Place::File(FileName::ledger()));
        assert_eq!(owed(&truth, [false, true, true]), ["must-not-serve", "may-lose", "may-lose"]);
    }

    #[test]
    fn nobody_is_owed_what_retention_deleted() {
        let mut truth = truth();
        truth.retain(Offset::new(9));
        assert_eq!(owed(&truth, [true; 3]), ["nothing"; 3]);
    }
}
