//! Damage that no crash explains, as places: which bytes of which file, until a recovery has dealt with it.
//!
//! Promises: only what the damage can explain is excused by it. In a log that is a broken promise from the
//! first damaged byte on, never one before it, and never one in another log; in a log, a ledger or a name
//! it is a refusal; in an index it is nothing, since an index is derived data. Leaves out: what damage does
//! to bytes, which images show.

use std::ops::Range;

use recovery_core::storage::Name;

/// Where damage is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// These bytes of a file.
    Bytes {
        /// The file.
        file: Name,
        /// Its bytes.
        range: Range<u64>,
    },
    /// These bytes of a file cannot be read, and no read that they are a part of returns any.
    Unreadable {
        /// The file.
        file: Name,
        /// Its bytes.
        range: Range<u64>,
    },
    /// A file as a whole: its name, its length, or all its bytes.
    File(Name),
    /// Not known.
    Anywhere,
}

impl Place {
    fn file(&self) -> Option<&Name> {
        match self {
            Self::Bytes { file, .. } | Self::Unreadable { file, .. } | Self::File(file) => Some(file),
            Self::Anywhere => None,
        }
    }
}

/// The damage of one partition that is still there.
#[derive(Clone, Debug, Default, Hash)]
pub struct Damages {
    places: Vec<Place>,
    /// Whether anything in the fences is damaged.
    are_fences_hit: bool,
}

impl Damages {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.places.clear();
        self.are_fences_hit = false;
    }

    /// Adds a place.
    pub fn add(&mut self, place: Place) {
        let is_derived = place.file().is_some_and(is_index);
        if !is_derived && !self.places.contains(&place) {
            self.places.push(place);
        }
    }

    /// Adds what was set aside in the fences: it explains nothing of the partition itself, and stays, since no
    /// recovery makes a copy anew.
    pub fn add_to_fences(&mut self) {
        self.are_fences_hit = true;
    }

    /// Whether it explains that copies in fences are gone.
    pub fn explains_lost_copies(&self) -> bool {
        self.are_fences_hit || !self.places.is_empty()
    }

    /// Whether there is any in the partition itself.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether it explains that bytes of a log before `end` are gone: damage before it; or any that nobody can read, where
    /// no ledger tells any more what that read would have shown.
    pub fn explains_loss(&self, log: &Name, end: u64) -> bool {
        self.places.iter().any(|place| match place {
            Place::Bytes { file, range } => file == log && range.start < end,
            Place::Unreadable { file, range } => {
                file == log && (range.start < end || self.explains_forgotten_offsets())
            }
            Place::File(file) => file == log,
            Place::Anywhere => true,
        })
    }

    /// Whether it explains that bytes of a log are not on the medium as reads see them.
    pub fn explains_divergence(&self, log: &Name, bytes: &Range<u64>) -> bool {
        self.places.iter().any(|place| match place {
            Place::Bytes { file, range } | Place::Unreadable { file, range } => {
                file == log && range.start < bytes.end && bytes.start < range.end
            }
            Place::File(file) => file == log,
            Place::Anywhere => true,
        })
    }

    /// Whether it explains a refusal, with a reason that the reference agrees with.
    pub fn explains_refusal(&self) -> bool {
        !self.places.is_empty()
    }

    /// Whether records of the ledger may be gone, so that offsets they reserved are free again.
    pub fn explains_forgotten_offsets(&self) -> bool {
        self.places.iter().any(|place| place.file().is_none_or(is_ledger))
    }

    /// Whether only bytes of logs are damaged: names and the ledger were left alone.
    pub fn are_bytes_of_logs(&self) -> bool {
        self.places.iter().all(|place| match place {
            Place::Bytes { file, .. } | Place::Unreadable { file, .. } => !is_ledger(file),
            Place::File(_) | Place::Anywhere => false,
        })
    }

    /// Whether only bytes of files are damaged at which `mark` looks, each at or above the mark of its file.
    pub fn lie_at_or_above(&self, mark: impl Fn(&Name) -> Option<u64>) -> bool {
        self.places.iter().all(|place| match place {
            Place::Bytes { file, range } => mark(file).is_some_and(|mark| range.start >= mark),
            Place::Unreadable { .. } | Place::File(_) | Place::Anywhere => false,
        })
    }

    /// A recovery serves the partition. What it read and proved, or cut, is damaged no more, as long as the
    /// medium holds what it read: `is_durable` says so of a file, and of all of them where there is no
    /// name. Records of a ledger that do not verify stay.
    pub fn end_where(&mut self, is_durable: impl Fn(Option<&Name>) -> bool) {
        for place in &mut self.places {
            if *place == Place::Anywhere && is_durable(None) {
                *place = Place::File(recovery_core::format::FileName::ledger());
            }
        }
        self.places.retain(|place| place.file().is_none_or(is_ledger) || !is_durable(place.file()));
    }
}

fn is_index(name: &Name) -> bool {
    name.as_bytes().ends_with(b".index") || name.as_bytes().ends_with(b".index.staging")
}

fn is_ledger(name: &Name) -> bool {
    name.as_bytes().starts_with(b"ledger")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text.as_bytes()).unwrap()
    }

    fn damages(places: &[Place]) -> Damages {
        let mut damages = Damages::default();
        for place in places {
            damages.add(place.clone());
        }
        damages
    }

    fn bytes(file: &str, range: Range<u64>) -> Place {
        Place::Bytes { file: name(file), range }
    }

    #[test]
    fn damage_explains_what_lies_behind_it_in_its_own_log() {
        let (log, other) = (name("00000000000000000000.log"), name("00000000000000000009.log"));
        let damages = damages(&[bytes("00000000000000000000.log", 300..310)]);
        assert!(damages.explains_loss(&log, 301) && damages.explains_loss(&log, 900));
        assert!(!damages.explains_loss(&log, 300), "what lies before it is not touched");
        assert!(!damages.explains_loss(&other, 900));
        assert!(damages.explains_divergence(&log, &(309..400)));
        assert!(!damages.explains_divergence(&log, &(310..400)));
        assert!(damages.explains_refusal() && !damages.explains_forgotten_offsets());
    }

    #[test]
    fn damage_lies_above_a_mark_where_no_byte_of_it_lies_below_one() {
        let log = "00000000000000000000.log";
        let mark = |name: &Name| (name.as_bytes() == log.as_bytes()).then_some(300);
        assert!(damages(&[bytes(log, 300..310), bytes(log, 900..901)]).lie_at_or_above(mark));
        assert!(!damages(&[bytes(log, 300..310), bytes(log, 299..301)]).lie_at_or_above(mark));
        assert!(
            !damages(&[bytes("00000000000000000009.log", 300..310)]).lie_at_or_above(mark),
            "it has no mark"
        );
        assert!(!damages(&[Place::File(name(log))]).lie_at_or_above(mark));
        assert!(!damages(&[bytes("ledger", 300..310)]).lie_at_or_above(mark));
    }

    #[test]
    fn damage_to_a_fence_explains_nothing_but_copies() {
        let mut damages = Damages::default();
        assert!(!damages.explains_lost_copies());
        damages.add_to_fences();
        damages.end_where(|_| true);
        assert!(damages.explains_lost_copies() && damages.is_empty() && !damages.explains_refusal());
        damages.clear();
        assert!(!damages.explains_lost_copies());
    }

    #[test]
    fn an_index_explains_nothing_and_a_ledger_no_loss() {
        assert!(damages(&[bytes("00000000000000000000.index", 0..24)]).is_empty());
        let ledger = damages(&[bytes("ledger", 0..128)]);
        assert!(!ledger.explains_loss(&name("00000000000000000000.log"), 900));
        assert!(ledger.explains_refusal() && ledger.explains_forgotten_offsets());
        assert!(!ledger.are_bytes_of_logs());
    }

    #[test]
    fn damage_ends_when_what_was_read_is_on_the_medium() {
        let log = "00000000000000000000.log";
        let mut damages =
            damages(&[bytes(log, 0..1), Place::File(name(log)), bytes("ledger", 0..1), Place::Anywhere]);
        damages.end_where(|_| false);
        assert_eq!(damages.places.len(), 4);
        damages.end_where(|file| file == Some(&name(log)));
        assert_eq!(damages.places, [bytes("ledger", 0..1), Place::Anywhere]);
        damages.end_where(|_| true);
        assert_eq!(damages.places, [bytes("ledger", 0..1), Place::File(name("ledger"))]);
    }
}
