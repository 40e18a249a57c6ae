//! I23: what a host says of a partition is what lies on its disk.
//!
//! Asked of the last thing said of each partition in a step, behind that step. Does not claim anything about words.

use crate::oracle::{Check, Value, Violation};

/// What a host says.
#[derive(Clone, Copy, Debug)]
pub enum Said {
    /// It is served.
    Served {
        /// The offset of the next message, as it is said and as it is.
        next: (u64, u64),
        /// Messages, as they are said and as they were counted.
        messages: (u64, u64),
        /// Bytes cut off, zeros included.
        cut: u64,
        /// Copies that lie in fences.
        copies: u64,
    },
    /// It is refused, and its files stay; or there are none.
    Refused {
        /// Whether nothing is there, and nothing is created.
        is_missing: bool,
    },
    /// Its directory is durable.
    Made,
    /// A copy from a peer is in its place, and what was there lies in a fence.
    Installed,
    /// Nothing of it is left.
    Deleted,
}

/// What lies there.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Whether the partition has its directory.
    pub has_directory: bool,
    /// Whether there is a copy half installed.
    pub has_sibling: bool,
    /// Files in its fences, reason files not counted.
    pub copies: u64,
    /// Fences without a reason file that were there before the step.
    pub unexplained: u64,
    /// Fences without a reason file that the step has made.
    pub unexplained_new: u64,
    /// Fences.
    pub fences: u64,
}

/// What may have become of a partition by anything but its node's own doing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Excuses {
    /// Whether how many messages there are may have changed: it was damaged, or its disk has lied.
    pub messages: bool,
    /// Whether what is to be saved may have changed behind a start that was cut short: it was damaged, its disk has
    /// lied, or a sync has failed.
    pub copies: bool,
}

/// Where the two differ, if they do. Gives up, where there is an excuse: the count of messages; and of fences that
/// were there before the step, whether they say why.
pub fn check_said(said: &Said, place: &Place, excuses: Excuses) -> Option<Violation> {
    let differ = |subject, expected, actual| Some(Violation::new(Check::I23, subject, expected, actual));
    let there = |is_there: bool| Value::Code(if is_there { "there" } else { "gone" });
    let has_directory = match said {
        Said::Served { .. } | Said::Made | Said::Installed => true,
        Said::Refused { is_missing } => !is_missing,
        Said::Deleted => false,
    };
    if place.has_directory != has_directory {
        return differ("the directory", there(has_directory), there(place.has_directory));
    }
    // A fence that a crash left half-made is gone on with, unless there is something else to save, or nothing.
    let half_made = if excuses.copies { 0 } else { place.unexplained };
    let unexplained = half_made + place.unexplained_new;
    if unexplained > 0 {
        return differ("fences without a reason", Value::Number(0), Value::Number(unexplained));
    }
    match *said {
        Said::Served { next: (said, is), .. } if said != is => {
            differ("the next offset", Value::Number(said), Value::Number(is))
        }
        Said::Served { messages: (said, counted), .. } if said != counted && !excuses.messages => {
            differ("messages served", Value::Number(said), Value::Number(counted))
        }
        Said::Served { copies, .. } if copies > place.copies => {
            differ("copies in fences", Value::Number(copies), Value::Number(place.copies))
        }
        Said::Deleted if place.has_sibling || place.fences > 0 => {
            differ("what is left of a partition", Value::Number(0), Value::Number(place.fences.max(1)))
        }
        Said::Installed if place.has_sibling => differ("a copy half installed", there(false), there(true)),
        Said::Served { .. } | Said::Refused { .. } | Said::Made | Said::Installed | Said::Deleted => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place {
        has_directory: true,
        has_sibling: false,
        copies: 1,
        unexplained: 0,
        unexplained_new: 0,
        fences: 1,
    };
    const GONE: Place = Place { has_directory: false, copies: 0, fences: 0, ..PLACE };
    const SERVED: Said = Said::Served { next: (4, 4), messages: (3, 3), cut: 7, copies: 1 };

    #[track_caller]
    fn check(said: Said, place: Place, expected: Option<&str>) {
        let found = check_said(&said, &place, Excuses::default());
        assert_eq!(found.map(|violation| violation.subject), expected);
    }

    #[test]
    fn no_excuse_holds_for_a_fence_that_was_just_made() {
        let excuses = Excuses { messages: true, copies: true };
        let check = |place| check_said(&SERVED, &place, excuses).map(|violation| violation.subject);
        assert_eq!(check(Place { unexplained: 1, ..PLACE }), None);
        assert_eq!(check(Place { unexplained_new: 1, ..PLACE }), Some("fences without a reason"));
    }

    #[test]
    fn what_is_said_and_is_so_passes() {
        check(SERVED, PLACE, None);
        check(Said::Refused { is_missing: false }, PLACE, None);
        check(Said::Refused { is_missing: true }, GONE, None);
        check(Said::Installed, PLACE, None);
        check(Said::Deleted, GONE, None);
        check(Said::Made, PLACE, None);
    }

    #[test]
    fn what_is_said_and_is_not_so_is_a_violation() {
        check(SERVED, GONE, Some("the directory"));
        check(Said::Refused { is_missing: false }, GONE, Some("the directory"));
        check(Said::Refused { is_missing: true }, PLACE, Some("the directory"));
        check(SERVED, Place { copies: 0, ..PLACE }, Some("copies in fences"));
        check(SERVED, Place { unexplained: 1, ..PLACE }, Some("fences without a reason"));
        check(SERVED, Place { unexplained_new: 1, ..PLACE }, Some("fences without a reason"));
        let other = |next, messages| Said::Served { next, messages, cut: 0, copies: 0 };
        check(other((4, 5), (3, 3)), PLACE, Some("the next offset"));
        check(other((4, 4), (3, 2)), PLACE, Some("messages served"));
        check(Said::Deleted, Place { fences: 1, ..GONE }, Some("what is left of a partition"));
        check(Said::Installed, Place { has_sibling: true, ..PLACE }, Some("a copy half installed"));
    }
}
