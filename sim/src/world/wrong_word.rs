//! An operator's wrong word on a start's disk: offsets given up that nobody has lost, or not all of those that are.
//!
//! Promises: what is named differs from what is lost, and is not what an earlier word gave up. Leaves out: a word that is
//! right, which schedules bring, and a partition of which no rule tells what is lost.

use recovery_core::decide::{LostRange, losses};
use recovery_core::units::Offset;

use super::again::{Again, Found};
use super::boot::{STEP_BYTES, Sight};
use super::giving_up::{GivenUp, give_up};
use super::look;
use super::varied::Change;
use crate::oracle::invariants::check_wrong_word;
use crate::oracle::sample::Question;

/// One start in so many is asked.
const SHARE: u64 = 8;
/// One start in so many is asked where retention has raised the floor, which it seldom has.
const SHARE_ABOVE_A_FLOOR: u64 = 2;

/// How a word is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    /// It names nothing.
    Nothing,
    /// A range begins one offset too late.
    Late,
    /// A range ends one offset too soon.
    Short,
    /// A range ends one offset too late.
    Long,
    /// All that lies below the floor is named besides, which retention deleted.
    BelowTheFloor,
    /// What comes next is named besides.
    Ahead,
}

impl Again<'_> {
    /// I03, I04: whoever names what is not lost changes nothing.
    pub(super) fn wrong_word(&mut self) -> Vec<Found> {
        let has_floor = self.floor().is_some_and(|floor| floor > Offset::ZERO);
        let (kinds, share) = if has_floor {
            (&[Wrong::BelowTheFloor, Wrong::Nothing, Wrong::Long][..], SHARE_ABOVE_A_FLOOR)
        } else {
            (&[Wrong::Nothing, Wrong::Late, Wrong::Short, Wrong::Long, Wrong::Ahead][..], SHARE)
        };
        let mut found = Vec::new();
        for choice in self.sample.choices(Question::WrongWord, self.nth, kinds.len() as u64 * share) {
            let kind = usize::try_from(choice).expect("there are few kinds");
            if let Some(wrong) = kinds.get(kind)
                && let Some(named) = self.named(*wrong)
            {
                found.extend(self.put(named));
            }
        }
        found
    }

    /// The offset below which retention has deleted all, where it is known.
    fn floor(&self) -> Option<Offset> {
        self.boot.facts.ledger.known().map(|ledger| ledger.newest.floor.offset())
    }

    /// What a word names that is wrong in this way. `None`: there is no such word.
    fn named(&self, wrong: Wrong) -> Option<Vec<LostRange>> {
        let facts = &self.boot.facts;
        let is_served = self.boot.verdict.is_served();
        let lost = match losses(facts) {
            Ok(found) => found.ranges,
            Err(_) if is_served => Vec::new(),
            Err(_) => return None,
        };
        let mut named = lost.clone();
        match wrong {
            Wrong::Nothing => named.clear(),
            Wrong::Late => {
                let range = named.first_mut()?;
                range.first = range.first.checked_add(1)?;
            }
            Wrong::Short => {
                let range = named.last_mut()?;
                range.last = range.last.before()?;
            }
            Wrong::Long => {
                let range = named.last_mut()?;
                range.last = range.last.checked_add(1)?;
            }
            Wrong::BelowTheFloor => {
                named.push(LostRange { first: Offset::ZERO, last: self.floor()?.before()? });
            }
            Wrong::Ahead => {
                let next = facts.segments.last()?.proven.next_offset;
                named.push(LostRange { first: next, last: next.checked_add(1)? });
            }
        }
        let given_up = facts.ledger.known().map_or(&[][..], |ledger| &ledger.given_up);
        let was_given_up = |range: &LostRange| {
            let next = range.last.checked_add(1);
            given_up.iter().any(|gap| gap.first == range.first && Some(gap.next) == next)
        };
        let is_right = lost.iter().all(|range| named.contains(range))
            && named.iter().all(|range| lost.contains(range) || was_given_up(range));
        let is_range = named.iter().all(|range| range.first <= range.last);
        (is_range && !is_right).then_some(named)
    }

    fn put(&mut self, named: Vec<LostRange>) -> Vec<Found> {
        let Some(before) = self.boot.before.as_ref().filter(|_| self.boot.carried.is_none()) else {
            return Vec::new();
        };
        self.node.disk.restore(&self.moments.before);
        let slot = &self.node.slots[self.index];
        let given_up = give_up(&self.node.disk, slot, &named, self.workspace, STEP_BYTES);
        let after = look::image(&self.node.disk, &slot.components);
        let is_refused = given_up == GivenUp::Mistaken;
        let violations = check_wrong_word(is_refused, given_up.code(), before, &after);
        if violations.is_empty() {
            return Vec::new();
        }
        let again = self.start(Sight::NOTHING);
        self.found(&Change::WrongWord { named, answer: given_up.code() }, &again, violations)
    }
}
