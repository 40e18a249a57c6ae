//! The token: one word to copy, which names a generated schedule (CONTRACTS 5).
//!
//! Promises: everything that decides the schedule is in it, and nothing else but the commit that printed
//! it; a token has one spelling. Leaves out: replaying it.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::generate::{FilesystemKnob, GENERATOR, Knobs, RegimeKnob, ReplicasKnob, SizeKnob};

const SCHEMA: &str = "tm1";

/// Names a generated schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// The seed.
    pub seed: u64,
    /// What the run chose about its worlds.
    pub knobs: Knobs,
    /// The upper half of the XXH3-64 over the image's sorted names, lengths and bytes; `None` without an
    /// image.
    pub image: Option<u32>,
    /// The generator that makes the schedule.
    pub generator: u32,
    /// The commit that printed the token.
    pub commit: Commit,
}

/// The commit that a build was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Commit {
    /// Outside git.
    Unknown,
    /// Inside.
    Known {
        /// The first 8 hexadecimal digits of its id.
        id: u32,
        /// Whether the tree differed from it.
        is_dirty: bool,
    },
}

/// Why a text is no token, or not one for this build.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    /// It does not have five parts, or does not begin as tokens do.
    #[error("{text} is no token: a token reads tm1-<seed>-<world>-g<generator>-<commit>")]
    Shape {
        /// The text.
        text: String,
    },
    /// The seed.
    #[error("{found} is no seed: a seed is lower-case hexadecimal without a leading zero")]
    Seed {
        /// What is written.
        found: String,
    },
    /// One of the pairs that say which worlds.
    #[error("{found} is no pair of a token: {wanted} belongs there")]
    Pair {
        /// What is written.
        found: String,
        /// What belongs there.
        wanted: &'static str,
    },
    /// The generator.
    #[error("{found} is no generator: it reads g and a number")]
    Generator {
        /// What is written.
        found: String,
    },
    /// The commit.
    #[error("{found} is no commit: it is 8 hexadecimal digits, a + behind them if dirty, or unknown")]
    Commit {
        /// What is written.
        found: String,
    },
    /// A token of another generator.
    #[error(
        "the token is of generator {found}, and this build has generator {known}, under which the seed is \
         another schedule; the saved schedule file replays on every version"
    )]
    OtherGenerator {
        /// The token's.
        found: u32,
        /// This build's.
        known: u32,
    },
    /// A token of a run with an image, and no image given, or another one.
    #[error("the token is of a run with {}, and {} is given", image_words(*.wanted), image_words(*.given))]
    OtherImage {
        /// The token's.
        wanted: Option<u32>,
        /// The one that is given.
        given: Option<u32>,
    },
}

impl TokenError {
    /// The permanent code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Shape { .. } => "token-shape",
            Self::Seed { .. } => "token-seed",
            Self::Pair { .. } => "token-pair",
            Self::Generator { .. } => "token-generator",
            Self::Commit { .. } => "token-commit",
            Self::OtherGenerator { .. } => "other-generator",
            Self::OtherImage { .. } => "other-image",
        }
    }
}

fn image_words(image: Option<u32>) -> String {
    image.map_or_else(|| "no image".to_owned(), |hash| format!("image {hash:08x}"))
}

impl Token {
    /// The token of a schedule that this build generates.
    pub const fn of(seed: u64, knobs: Knobs, image: Option<u32>, commit: Commit) -> Self {
        Self { seed, knobs, image, generator: GENERATOR, commit }
    }

    /// Checks that this build, with that image, generates the schedule the token names.
    ///
    /// # Errors
    ///
    /// When the token is of another generator or another image.
    pub fn check(&self, image: Option<u32>) -> Result<(), TokenError> {
        if self.generator != GENERATOR {
            return Err(TokenError::OtherGenerator { found: self.generator, known: GENERATOR });
        }
        if self.image != image {
            return Err(TokenError::OtherImage { wanted: self.image, given: image });
        }
        Ok(())
    }
}

impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Knobs { regime, filesystem, size, replicas } = self.knobs;
        let (regime, filesystem) = (regime.letter(), filesystem.letter());
        let (size, replicas) = (size.letter(), replicas.letter());
        write!(formatter, "{SCHEMA}-{:x}-r{regime}f{filesystem}s{size}n{replicas}", self.seed)?;
        if let Some(image) = self.image {
            write!(formatter, "i{image:08x}")?;
        }
        write!(formatter, "-g{}-{}", self.generator, self.commit)
    }
}

impl fmt::Display for Commit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => formatter.write_str("unknown"),
            Self::Known { id, is_dirty } => write!(formatter, "{id:08x}{}", if *is_dirty { "+" } else { "" }),
        }
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let shape = || TokenError::Shape { text: text.to_owned() };
        let parts: Vec<&str> = text.split('-').collect();
        let [SCHEMA, seed, world, generator, commit] = parts.as_slice() else { return Err(shape()) };
        let (knobs, image) = world_of(world)?;
        Ok(Self {
            seed: seed_of(seed)?,
            knobs,
            image,
            generator: generator_of(generator)?,
            commit: commit.parse()?,
        })
    }
}

fn seed_of(text: &str) -> Result<u64, TokenError> {
    let seed = u64::from_str_radix(text, 16).ok().filter(|seed| format!("{seed:x}") == text);
    seed.ok_or_else(|| TokenError::Seed { found: text.to_owned() })
}

fn generator_of(text: &str) -> Result<u32, TokenError> {
    let number = text.strip_prefix('g').and_then(|digits| digits.parse().ok());
    let generator = number.filter(|number: &u32| format!("g{number}") == text);
    generator.ok_or_else(|| TokenError::Generator { found: text.to_owned() })
}

/// Exactly 8 lower-case hexadecimal digits.
fn hash_of(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 16).ok().filter(|hash| format!("{hash:08x}") == text)
}

fn world_of(text: &str) -> Result<(Knobs, Option<u32>), TokenError> {
    let mut letters = text.chars();
    let knobs = Knobs {
        regime: pair(&mut letters, 'r', "r with m, l or u", &RegimeKnob::ALL, RegimeKnob::letter)?,
        filesystem: pair(
            &mut letters,
            'f',
            "f with a, o, w, j, x, b or p",
            &FilesystemKnob::ALL,
            FilesystemKnob::letter,
        )?,
        size: pair(&mut letters, 's', "s with m, s, d or l", &SizeKnob::ALL, SizeKnob::letter)?,
        replicas: pair(&mut letters, 'n', "n with m, 1 or 3", &ReplicasKnob::ALL, ReplicasKnob::letter)?,
    };
    let rest = letters.as_str();
    if rest.is_empty() {
        return Ok((knobs, None));
    }
    let wanted = "i with 8 hexadecimal digits, or nothing";
    let image = rest.strip_prefix('i').and_then(hash_of);
    let image = image.ok_or_else(|| TokenError::Pair { found: rest.to_owned(), wanted })?;
    Ok((knobs, Some(image)))
}

fn pair<T: Copy>(
    letters: &mut std::str::Chars<'_>,
    name: char,
    wanted: &'static str,
    values: &[T],
    letter: fn(T) -> char,
) -> Result<T, TokenError> {
    let found: String = letters.by_ref().take(2).collect();
    let value = found
        .strip_prefix(name)
        .and_then(|given| values.iter().copied().find(|value| given.chars().eq([letter(*value)])));
    value.ok_or(TokenError::Pair { found, wanted })
}

impl FromStr for Commit {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        if text == "unknown" {
            return Ok(Self::Unknown);
        }
        let (digits, is_dirty) = match text.strip_suffix('+') {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        let id = hash_of(digits).ok_or_else(|| TokenError::Commit { found: text.to_owned() })?;
        Ok(Self::Known { id, is_dirty })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a token, demands that it prints as it was, and returns it.
    fn check(text: &str) -> Token {
        let token: Token = text.parse().expect("the token reads");
        assert_eq!(token.to_string(), text);
        token
    }

    fn check_refused(text: &str, code: &str) {
        let error = text.parse::<Token>().expect_err("the text is no token");
        assert_eq!(error.code(), code, "{text}: {error}");
    }

    #[test]
    fn a_token_reads_and_prints_as_it_was() {
        let token = check("tm1-5eed-rmfasmn1-g3-9f3c2a1b");
        assert_eq!((token.seed, token.knobs, token.generator), (0x5eed, Knobs::default(), 3));
        assert_eq!(token.commit, Commit::Known { id: 0x9f3c_2a1b, is_dirty: false });
        check("tm1-0-rlfpsln3i00c0ffee-g1-00000001+");
        assert_eq!(check("tm1-ffffffffffffffff-rufosdnm-g4294967295-unknown").seed, u64::MAX);
    }

    #[test]
    fn every_knob_has_a_letter_of_its_own() {
        for regime in RegimeKnob::ALL {
            for filesystem in FilesystemKnob::ALL {
                for size in SizeKnob::ALL {
                    for replicas in ReplicasKnob::ALL {
                        let knobs = Knobs { regime, filesystem, size, replicas };
                        let token = Token::of(1, knobs, None, Commit::Unknown);
                        assert_eq!(check(&token.to_string()), token);
                    }
                }
            }
        }
    }

    #[test]
    fn what_has_another_spelling_is_refused() {
        check_refused("", "token-shape");
        check_refused("tm2-5eed-rmfasmn1-g3-9f3c2a1b", "token-shape");
        check_refused("tm1-5eed-rmfasmn1-g3", "token-shape");
        check_refused("tm1-05eed-rmfasmn1-g3-9f3c2a1b", "token-seed");
        check_refused("tm1-5EED-rmfasmn1-g3-9f3c2a1b", "token-seed");
        check_refused("tm1-+5-rmfasmn1-g3-9f3c2a1b", "token-seed");
        check_refused("tm1--rmfasmn1-g3-9f3c2a1b", "token-seed");
        check_refused("tm1-10000000000000000-rmfasmn1-g3-9f3c2a1b", "token-seed");
        check_refused("tm1-5eed-fmrasmn1-g3-9f3c2a1b", "token-pair");
        check_refused("tm1-5eed-rxfasmn1-g3-9f3c2a1b", "token-pair");
        check_refused("tm1-5eed-rmfasm-g3-9f3c2a1b", "token-pair");
        check_refused("tm1-5eed-rmfasmn1i12-g3-9f3c2a1b", "token-pair");
        check_refused("tm1-5eed-rmfasmn1z-g3-9f3c2a1b", "token-pair");
        check_refused("tm1-5eed-rmfasmn1-3-9f3c2a1b", "token-generator");
        check_refused("tm1-5eed-rmfasmn1-g03-9f3c2a1b", "token-generator");
        check_refused("tm1-5eed-rmfasmn1-g3-9f3c2a1", "token-commit");
        check_refused("tm1-5eed-rmfasmn1-g3-9F3C2A1B", "token-commit");
        check_refused("tm1-5eed-rmfasmn1-g3-unknown+", "token-commit");
    }

    #[test]
    fn a_token_of_another_generator_or_image_is_not_for_this_build() {
        let token = Token::of(1, Knobs::default(), Some(7), Commit::Unknown);
        assert_eq!(token.check(Some(7)), Ok(()));
        let error = token.check(None).expect_err("the image is missing");
        assert_eq!(error.to_string(), "the token is of a run with image 00000007, and no image is given");
        let old = Token { generator: GENERATOR + 1, ..token };
        assert_eq!(old.check(Some(7)).expect_err("another generator").code(), "other-generator");
    }
}
