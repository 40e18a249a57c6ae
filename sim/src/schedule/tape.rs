//! The tape: finite runs of words, one a concern, from which every decision is drawn.
//!
//! Promises: the same seed gives the same words on every machine and in every version; a stream's words do
//! not depend on what is drawn from another; a used-up stream gives 0, and 0 is always the simplest choice.
//! Leaves out: what is decided ([`super::generate()`]). This is the only file that knows a random generator.

use arbitrary::{Arbitrary, Unstructured};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::word::words;

words! {
    /// A concern that draws from words of its own. Its number is its place in the list, and permanent.
    Stream, "a stream" {
        /// Which kinds of fault a world has, and how often.
        Swarm = "swarm",
        /// What clients do.
        Workload = "workload",
        /// What goes wrong.
        Faults = "faults",
        /// When and how nodes go down.
        Crashes = "crashes",
        /// What hosts and operators do.
        Host = "host",
        /// Which sampled checks run. They cannot change what happens.
        Checks = "checks",
        /// What goes wrong with bytes between nodes.
        Wire = "wire",
        /// What happens too seldom to be left to chance.
        Rare = "rare",
        /// Which chains of steps befall a world, and what they draw.
        Motifs = "motifs",
    }
}

/// Most words that one stream of a seed has. A large schedule draws some thousands.
pub const SEED_WORDS_MAX: u32 = 1 << 16;

/// Finite runs of words, one a [`Stream`].
#[derive(Clone, Debug)]
pub struct Tape {
    runs: [Run; Stream::ALL.len()],
}

#[derive(Clone, Debug)]
enum Run {
    /// Words of a seed, not touched yet.
    Untouched { seed: u64 },
    /// Words of a seed.
    Seeded { generator: ChaCha8Rng, left: u32 },
    /// Given words; the next one is the last.
    Given { reversed: Vec<u64> },
}

impl Tape {
    /// The words of a seed: `ChaCha8` under the seed as 8 little-endian bytes and 24 zero bytes, one
    /// stream of the generator a concern (CONTRACTS 6).
    ///
    /// # Examples
    ///
    /// ```
    /// use sim::schedule::{Stream, Tape};
    ///
    /// let (mut one, mut two) = (Tape::from_seed(7), Tape::from_seed(7));
    /// // What one concern draws moves nothing of what another one draws.
    /// one.word(Stream::Checks);
    /// assert_eq!(one.range(Stream::Faults, 1, 6), two.range(Stream::Faults, 1, 6));
    /// ```
    pub fn from_seed(seed: u64) -> Self {
        Self { runs: std::array::from_fn(|_| Run::Untouched { seed }) }
    }

    /// Given words, for each stream in the order of [`Stream::ALL`].
    pub fn from_words(words: [Vec<u64>; Stream::ALL.len()]) -> Self {
        Self {
            runs: words.map(|mut reversed| {
                reversed.reverse();
                Run::Given { reversed }
            }),
        }
    }

    /// The words that a fuzzer's bytes spell: for each stream two bytes with the length of its run, then
    /// that many bytes, 8 little-endian ones a word; a last word that is cut short is filled with zeros.
    /// What bytes do not reach is a used-up stream.
    pub fn from_bytes(bytes: &mut Unstructured<'_>) -> Self {
        Self::from_words(std::array::from_fn(|_| words_of_run(bytes)))
    }

    /// The next word of a stream.
    #[inline]
    pub fn word(&mut self, stream: Stream) -> u64 {
        match &mut self.runs[stream as usize] {
            Run::Seeded { generator, left } => match left.checked_sub(1) {
                Some(rest) => {
                    *left = rest;
                    generator.next_u64()
                }
                None => 0,
            },
            Run::Given { reversed } => reversed.pop().unwrap_or(0),
            Run::Untouched { .. } => self.first_word(stream),
        }
    }

    fn first_word(&mut self, stream: Stream) -> u64 {
        let run = &mut self.runs[stream as usize];
        let Run::Untouched { seed } = run else { unreachable!("the caller found the stream untouched") };
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(stream as u64);
        *run = Run::Seeded { generator, left: SEED_WORDS_MAX };
        self.word(stream)
    }

    /// A number from `least` to `most`, both inclusive. Takes one word, whatever the range.
    ///
    /// # Panics
    ///
    /// If `least` is above `most`.
    #[inline]
    pub fn range(&mut self, stream: Stream, least: u64, most: u64) -> u64 {
        assert!(least <= most, "a range holds at least one number");
        let word = self.word(stream);
        let span = u128::from(most - least) + 1;
        let within = u64::try_from((u128::from(word) * span) >> 64).expect("a share of a word is below it");
        let number = least + within;
        assert!(number <= most, "a draw lies in its range");
        number
    }

    /// Whether something that happens `share` times in 1000 does. A used-up stream says no.
    #[inline]
    pub fn chance(&mut self, stream: Stream, share: u32) -> bool {
        assert!(share <= 1000, "a share is out of 1000");
        self.range(stream, 1, 1000) > u64::from(1000 - share)
    }

    /// One of `choices`. A used-up stream picks the first.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[inline]
    pub fn pick<T: Copy>(&mut self, stream: Stream, choices: &[T]) -> T {
        choices[self.index(stream, choices.len())]
    }

    /// A place in a list of `count`. A used-up stream picks the first.
    ///
    /// # Panics
    ///
    /// If `count` is 0.
    #[inline]
    pub fn index(&mut self, stream: Stream, count: usize) -> usize {
        assert!(count > 0, "there is something to pick from");
        usize::try_from(self.range(stream, 0, count as u64 - 1)).expect("a place in a list is an index")
    }

    /// One of `choices`, each as often as its weight says. A used-up stream picks the first that has any.
    ///
    /// # Panics
    ///
    /// If no choice has a weight.
    #[inline]
    pub fn weighted<T: Copy>(&mut self, stream: Stream, choices: &[(u32, T)]) -> T {
        let total: u64 = choices.iter().map(|(weight, _)| u64::from(*weight)).sum();
        assert!(total > 0, "there is something to pick from");
        let mut left = self.range(stream, 0, total - 1);
        for (weight, choice) in choices {
            match left.checked_sub(u64::from(*weight)) {
                Some(rest) => left = rest,
                None => return *choice,
            }
        }
        unreachable!("a draw below the total weight falls on a choice")
    }
}

impl<'a> Arbitrary<'a> for Tape {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self::from_bytes(bytes))
    }
}

fn words_of_run(bytes: &mut Unstructured<'_>) -> Vec<u64> {
    let prefix = taken(bytes, 2);
    let length = prefix.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
    let word = |part: &[u8]| part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    taken(bytes, length).chunks(8).map(word).collect()
}

/// Up to `count` bytes, as many as there are.
fn taken<'a>(bytes: &mut Unstructured<'a>, count: usize) -> &'a [u8] {
    bytes.bytes(count.min(bytes.len())).expect("no more is asked for than there is")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(tape: &mut Tape, stream: Stream) -> [u64; 3] {
        std::array::from_fn(|_| tape.word(stream))
    }

    /// The raw words are the cipher's own, so these numbers hold for ever.
    #[test]
    fn the_first_words_of_a_seed_are_pinned() {
        let mut tape = Tape::from_seed(0x5eed);
        let first: Vec<[u64; 3]> = Stream::ALL.iter().map(|stream| words(&mut tape, *stream)).collect();
        assert_eq!(first, PINNED);
    }

    const PINNED: [[u64; 3]; 9] = [
        [0xe5e9_a31b_0c0d_5574, 0x8743_a916_d634_d37c, 0xbb11_b945_2aed_60e7],
        [0x0846_dec1_f3e2_180d, 0x15c6_2b81_f497_19e4, 0x53da_6c4a_6e13_3099],
        [0x8d2a_5b53_21ae_22c5, 0x9486_550d_0269_16e2, 0x1b91_aeca_5a07_1929],
        [0x976b_7051_68db_f755, 0xbf2b_7304_2e87_0483, 0x42e5_6cf9_28d6_f99b],
        [0x1784_42f1_6489_3f18, 0x363b_453d_d4c0_5caf, 0xe22b_6707_3ac7_893c],
        [0xc547_3f79_d96f_c26b, 0x5db7_c474_c9fe_1e0b, 0xb27b_9330_5c6c_d1e9],
        [0x9959_892e_1fcb_33ac, 0x2fbc_fa8a_9452_8080, 0x1995_cc78_d4eb_7665],
        [0xf098_8afd_dd8a_061f, 0xabcb_ecc9_e060_0290, 0x940c_c4f7_1b78_489f],
        [0x82e9_59f7_ed79_712c, 0x1270_5e78_737c_dc5c, 0x26ec_c341_32e3_fa7b],
    ];

    #[test]
    fn a_stream_does_not_depend_on_what_is_drawn_from_another() {
        let (mut busy, mut quiet) = (Tape::from_seed(7), Tape::from_seed(7));
        for _ in 0..1000 {
            busy.word(Stream::Swarm);
        }
        assert_eq!(words(&mut busy, Stream::Faults), words(&mut quiet, Stream::Faults));
    }

    #[test]
    fn a_used_up_stream_gives_the_simplest_choice() {
        let mut tape = Tape::from_words(std::array::from_fn(|_| vec![u64::MAX]));
        assert_eq!(tape.range(Stream::Swarm, 3, 9), 9);
        assert_eq!(tape.range(Stream::Swarm, 3, 9), 3);
        assert!(tape.chance(Stream::Workload, 1));
        assert!(!tape.chance(Stream::Workload, 999));
        assert_eq!(tape.weighted(Stream::Faults, &[(0, 'a'), (1, 'b'), (1, 'c')]), 'c');
        assert_eq!(tape.weighted(Stream::Faults, &[(0, 'a'), (1, 'b'), (1, 'c')]), 'b');
        assert_eq!(tape.pick(Stream::Crashes, &[1, 2]), 2);
        assert_eq!(tape.pick(Stream::Crashes, &[1, 2]), 1);
    }

    #[test]
    fn a_seed_is_used_up_after_its_words() {
        let mut tape = Tape::from_seed(1);
        let nonzero = (0..SEED_WORDS_MAX).filter(|_| tape.word(Stream::Host) != 0).count();
        assert_eq!(nonzero, SEED_WORDS_MAX as usize);
        assert_eq!(words(&mut tape, Stream::Host), [0; 3]);
    }

    #[test]
    fn the_whole_range_of_words_takes_the_word_itself() {
        let mut tape = Tape::from_words(std::array::from_fn(|_| vec![0x0123_4567_89ab_cdef]));
        assert_eq!(tape.range(Stream::Host, 0, u64::MAX), 0x0123_4567_89ab_cdef);
    }

    #[test]
    fn a_certain_chance_needs_no_luck() {
        let mut tape = Tape::from_words(Default::default());
        assert!(tape.chance(Stream::Swarm, 1000));
        assert!(!tape.chance(Stream::Swarm, 0));
    }

    #[test]
    fn bytes_are_cut_into_one_run_a_stream() {
        let bytes = [9, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 255, 255, 7];
        let mut tape = Tape::from_bytes(&mut Unstructured::new(&bytes));
        assert_eq!(words(&mut tape, Stream::Swarm), [1, 5, 0]);
        assert_eq!(words(&mut tape, Stream::Workload), [0; 3]);
        assert_eq!(words(&mut tape, Stream::Faults), [7, 0, 0]);
        assert_eq!(words(&mut tape, Stream::Crashes), [0; 3]);
    }
}
