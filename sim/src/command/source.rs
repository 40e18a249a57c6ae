//! What a command is to run again: a token or a schedule file, and what is known of it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::commit;
use crate::oracle::sample::{Checks, Sample};
use crate::run::one::{sample_of, schedule_of};
use crate::run::replay::Expected;
use crate::schedule::token::{Commit, Token};
use crate::schedule::{Scenario, Word, parse};
use crate::world::WorldImage;

/// Where `sim run` saves failing schedules if nobody says otherwise.
const FAILURES: &str = "target/sim/failures";

/// A schedule with its source.
#[derive(Debug)]
pub struct Source {
    /// The schedule, with the title it was saved under.
    pub scenario: Scenario,
    /// The sampled checks that its seed drew; a schedule without a seed gets all of them.
    pub sample: Sample,
    /// Its token, if it is known.
    pub token: Option<String>,
    /// The commit of the token, if there is one.
    pub commit: Option<Commit>,
    /// Its file, if it came from one.
    pub file: Option<String>,
    /// What is known of its world.
    pub expected: Expected,
    /// The directory that its world starts with, if it names one.
    pub image: Option<&'static WorldImage>,
    /// A remark on where it came from, if there is one to make.
    pub remark: Option<String>,
}

impl Source {
    /// Reads a token or a file.
    ///
    /// # Errors
    ///
    /// When it is neither, when the file is no schedule, or when the token is of another generator; the text
    /// is for a person.
    pub fn read(text: &str, directory: Option<&Path>, checks: Checks) -> Result<Self, String> {
        let start = directory.map(image).transpose()?;
        if Path::new(text).exists() {
            Self::from_file(text, start, checks)
        } else {
            Self::from_token(text, start, checks)
        }
    }

    fn from_token(text: &str, image: Option<&'static WorldImage>, checks: Checks) -> Result<Self, String> {
        let token: Token =
            text.parse().map_err(|error| format!("{error}, and there is no file of that name"))?;
        let saved = saved_failure(text);
        token.check(image.map(WorldImage::hash)).map_err(|error| match &saved {
            Some(file) => format!("{error}\nhint: cargo sim replay {}", file.with_extension("kdl").display()),
            None => format!("{error}\nhint: replay the file that the run saved under {FAILURES}"),
        })?;
        let here = commit::current();
        let is_other = token.commit != here && token.commit != Commit::Unknown;
        Ok(Self {
            scenario: Scenario::untold(
                format!("seed {:#x}", token.seed),
                schedule_of(token.seed, token.knobs, image),
            ),
            sample: sample_of(token.seed, checks),
            token: Some(text.to_owned()),
            commit: Some(token.commit),
            file: None,
            image,
            expected: saved.map(|file| recorded(&file)).unwrap_or_default(),
            remark: is_other.then(|| format!("the token is of commit {}, and this is {here}", token.commit)),
        })
    }

    fn from_file(path: &str, given: Option<&'static WorldImage>, checks: Checks) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"))?;
        let scenario = parse(path, &text).map_err(|error| format!("{:?}", miette::Report::new(error)))?;
        if let Some((property, why)) = scenario.schedule.first_unhosted() {
            return Err(format!("{path}: {property} means nothing in this world, which has hosts: {why}"));
        }
        let start = match (given, scenario.schedule.world.images.first()) {
            (None, Some(named)) => {
                let beside = Path::new(path).parent().unwrap_or(Path::new(""));
                Some(image(&beside.join(&named.directory))?)
            }
            (given, _) => given,
        };
        let token: Option<Token> = scenario.origin.as_ref().and_then(|origin| origin.token.parse().ok());
        let mut expected = recorded(&Path::new(path).with_extension("json"));
        if let (None, Some(origin)) = (&expected.check, &scenario.origin) {
            expected.check = Some(origin.check.clone());
        }
        // What a run has saved of a seed has its record beside it, and runs under what the seed draws, whatever
        // this generator would make of it. What was changed since is no longer the seed's.
        let is_drawn = scenario.origin.as_ref().is_some_and(|origin| origin.is_drawn);
        let of_seed = token.as_ref().filter(|_| is_drawn || expected.digest.is_some());
        Ok(Self {
            sample: of_seed.map_or(Sample::EVERYTHING, |token| sample_of(token.seed, checks)),
            token: scenario.origin.as_ref().map(|origin| origin.token.clone()),
            commit: token.map(|token| token.commit),
            scenario,
            image: start,
            file: Some(path.to_owned()),
            expected,
            remark: None,
        })
    }
}

/// Reads a directory that worlds start with. It is read once and stays for as long as the program runs.
///
/// # Errors
///
/// When it cannot be read; the text is for a person.
pub fn image(directory: &Path) -> Result<&'static WorldImage, String> {
    WorldImage::read(directory).map(|image| &*Box::leak(Box::new(image)))
}

/// Reads a word of a vocabulary.
///
/// # Errors
///
/// When it is none of them; the text is for a person.
pub fn word<W: Word>(text: &str) -> Result<W, String> {
    W::from_word(text).ok_or_else(|| {
        let words: Vec<&str> = W::WORDS.iter().map(|word| word.word()).collect();
        format!("{text} is not {}\nhint: one of {}", W::KIND, words.join(", "))
    })
}

/// The record of a failure that a run has saved under a token, wherever its group is.
fn saved_failure(token: &str) -> Option<PathBuf> {
    let groups = fs::read_dir(FAILURES).ok()?;
    let mut files = groups.flatten().map(|group| group.path().join(format!("{token}.json")));
    files.find(|file| file.is_file())
}

/// What a saved record says of its failure; nothing where there is none.
fn recorded(file: &Path) -> Expected {
    let Ok(text) = fs::read_to_string(file) else { return Expected::default() };
    let Ok(line) = serde_json::from_str::<Value>(&text) else { return Expected::default() };
    let field = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
    Expected {
        digest: field("digest").and_then(|digits| u64::from_str_radix(&digits, 16).ok()),
        check: field("check"),
        recovery_step: field("recovery_step"),
    }
}
