//! Which of the checks that are sampled a world runs (CONTRACTS 6, `--checks`).
//!
//! Promises: drawn from a stream of its own, so it cannot change a schedule; a pure function of the draw,
//! so a token replays it. Checks that are not sampled run on every boot whatever is drawn. Leaves out: what
//! the checks do.

use std::ops::Range;

use crate::schedule::tape::{Stream, Tape};
use crate::schedule::word::words;

/// One world in so many is run twice.
const RERUN_SHARE: u64 = 64;
/// One world in so many is compared with itself short of each of its faults.
const COMPARED_SHARE: u64 = 16;

words! {
    /// How much of what is sampled a run does.
    Checks, "a set of checks" {
        /// What each seed draws.
        Default = "default",
        /// Everything, everywhere.
        All = "all",
    }
}

impl Checks {
    /// What the world of a tape runs.
    pub fn of(self, tape: &mut Tape) -> Sample {
        match self {
            Self::Default => Sample::draw(tape),
            Self::All => Sample::EVERYTHING,
        }
    }
}

/// A world's sampled checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample(Extent);

/// How much is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Everything,
    Drawn(Draw),
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Draw {
    rerun: u64,
    compared: u64,
    boots: u64,
}

/// What a boot has several of, of which one is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// At which storage call a recovery is interrupted (I10).
    InterruptedCall,
    /// What is changed that must not change the verdict (I18), or damaged so that no more is served (I22).
    Relation,
    /// Which of its reads goes wrong, and how (I18).
    Misread,
    /// How far its reads come short (I17, I18).
    ShortReads,
    /// Which of its calls signals interrupt (I18).
    Signals,
    /// Whether bait is laid for it (I03, I17, twin).
    Bait,
    /// How an operator's word about it is wrong (I03, I04).
    WrongWord,
    /// What is laid behind the newest log (reference, I18).
    Laid,
    /// Which of the calls fails that it asks with (I18).
    FailedCall,
    /// Whether bait and a whole batch are laid behind the newest log (reference, I18).
    LaidBehindBait,
}

impl Sample {
    /// Everything, everywhere: `--checks all`, and whatever is replayed from a file.
    pub const EVERYTHING: Self = Self(Extent::Everything);

    /// Nothing, and no start of a world of one node is judged either: such a world is run for how it ends.
    pub const NOTHING: Self = Self(Extent::Nothing);

    /// What the tape says.
    pub fn draw(tape: &mut Tape) -> Self {
        let mut word = || tape.word(Stream::Checks);
        Self(Extent::Drawn(Draw { rerun: word(), compared: word(), boots: word() }))
    }

    /// Whether the world is run twice (I24).
    pub fn is_rerun(self) -> bool {
        self.is_among(RERUN_SHARE, |draw| draw.rerun)
    }

    /// Whether the world is compared with itself short of each of its faults.
    pub fn is_compared(self) -> bool {
        self.is_among(COMPARED_SHARE, |draw| draw.compared)
    }

    /// Whether the oracle judges starts.
    pub fn judges_starts(self) -> bool {
        self.0 != Extent::Nothing
    }

    fn is_among(self, share: u64, word: impl Fn(Draw) -> u64) -> bool {
        match self.0 {
            Extent::Everything => true,
            Extent::Drawn(draw) => word(draw).is_multiple_of(share),
            Extent::Nothing => false,
        }
    }

    /// A word of the `boot`-th boot, for a place in it.
    pub fn place(self, boot: u64) -> u64 {
        let boots = match self.0 {
            Extent::Drawn(draw) => draw.boots,
            Extent::Everything | Extent::Nothing => 0,
        };
        mix(boots ^ mix(boot << 8 | 0xff))
    }

    /// Which of `count` choices the `boot`-th boot of a world takes: one, or with `--checks all` each.
    pub fn choices(self, question: Question, boot: u64, count: u64) -> Range<u64> {
        let draw = match self.0 {
            Extent::Everything => return 0..count,
            Extent::Drawn(draw) if count > 0 => draw,
            Extent::Drawn(_) | Extent::Nothing => return 0..0,
        };
        // A word a boot and question: neighbours must not draw the same.
        let word = mix(draw.boots ^ mix(boot << 8 | question as u64));
        let choice = u64::try_from((u128::from(word) * u128::from(count)) >> 64).expect("a share of a word");
        choice..choice + 1
    }
}

/// Spreads a word over all bits; every step can be undone, so unlike words stay unlike.
const fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let word = (word ^ word >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    word ^ word >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_drawn_for_some_boot() {
        let sample = Sample::draw(&mut Tape::from_seed(7));
        let questions = [
            Question::InterruptedCall,
            Question::Relation,
            Question::Misread,
            Question::ShortReads,
            Question::Signals,
            Question::Bait,
            Question::WrongWord,
        ];
        for question in questions {
            let mut drawn = [false; 6];
            for boot in 0..200 {
                let choices = sample.choices(question, boot, 6);
                assert_eq!(choices.end, choices.start + 1);
                drawn[usize::try_from(choices.start).expect("below 6")] = true;
            }
            assert_eq!(drawn, [true; 6]);
            assert_eq!(sample.choices(question, 3, 0), 0..0);
        }
    }

    #[test]
    fn everything_leaves_no_choice_out() {
        assert_eq!(Sample::EVERYTHING.choices(Question::Relation, 9, 4), 0..4);
        assert!(Sample::EVERYTHING.is_rerun() && Sample::EVERYTHING.is_compared());
        assert!(Sample::EVERYTHING.judges_starts());
    }

    #[test]
    fn nothing_asks_nothing() {
        assert_eq!(Sample::NOTHING.choices(Question::Relation, 9, 4), 0..0);
        assert!(!Sample::NOTHING.is_rerun() && !Sample::NOTHING.is_compared());
        assert!(!Sample::NOTHING.judges_starts());
    }

    #[test]
    fn shares_are_those_of_the_contract() {
        let samples = (0..6400).map(|seed| Sample::draw(&mut Tape::from_seed(seed)));
        let (reruns, compared) = samples.fold((0_u32, 0_u32), |(reruns, compared), sample| {
            (reruns + u32::from(sample.is_rerun()), compared + u32::from(sample.is_compared()))
        });
        assert!((60..=140).contains(&reruns) && (320..=480).contains(&compared), "{reruns} {compared}");
    }
}
