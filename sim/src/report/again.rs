//! The commands that show a run or a failure again, for every output alike.
//!
//! Promises: `again` is printed only for a run that one command repeats, and what it repeats is what ran; a failure of
//! another program is never shown by a replay, which runs the linked core alone.

use super::lines::{FailureLine, StartedLine};
use crate::oracle::sample::Checks;
use crate::run::parallel::share;
use crate::run::session::{Group, Summary};

/// A command, and the word for what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// `replay` or `export`.
    pub word: &'static str,
    /// The command.
    pub command: String,
}

impl Again {
    /// What shows a failing seed again: its world, or the directory on which another program failed.
    fn of(started: &StartedLine, token: &str, step: Option<u32>) -> Self {
        let image = image_flag(started);
        if started.subject.is_none() {
            let command = format!("cargo sim replay {token}{image}{}", checks_flag(started));
            return Self { word: "replay", command };
        }
        let at = step.map(|step| format!(" --at {step}")).unwrap_or_default();
        Self { word: "export", command: format!("cargo sim export {token} DIR{at}{image}") }
    }

    /// What shows a failing seed again; `None` of a world that no seed made.
    #[must_use]
    pub fn of_failure(started: &StartedLine, line: &FailureLine) -> Option<Self> {
        line.token.as_ref().map(|token| Self::of(started, token, Some(line.step)))
    }

    /// What shows the first failing seed of a group again. `line` is that seed's, where it is kept.
    #[must_use]
    pub fn of_group(started: &StartedLine, group: &Group, line: Option<&FailureLine>) -> Self {
        let is_of_it = |line: &&FailureLine| line.token.as_ref() == Some(&group.token);
        Self::of(started, &group.token, line.filter(is_of_it).map(|line| line.step))
    }
}

/// The command that runs the same worlds once more; `None` if they are no prefix of the seeds, as of shards that time
/// ended after unequal work.
#[must_use]
pub fn run_again(started: &StartedLine, summary: &Summary) -> Option<String> {
    let (shard, world) = (&started.shard, &started.world);
    let count = if summary.shards.is_empty() {
        count_of_shard(started, summary.seeds)
    } else {
        count_of_shards(summary)?
    };
    let mut command = format!("cargo sim run --from-seed {:#x} --seeds {count}", started.from_seed);
    if shard.count > 1 {
        let (index, count) = (shard.index.to_string(), shard.count.to_string());
        command.extend([" --shard ", &index, "/", &count]);
    }
    for (flag, word, usual) in [
        ("regime", &world.regime, "mixed"),
        ("filesystem", &world.filesystem, "any"),
        ("size", &world.size, "mixed"),
        ("replicas", &world.replicas, "1"),
    ] {
        if word != usual {
            command.extend([" --", flag, " ", word]);
        }
    }
    if let Some(subject) = &started.subject {
        command.extend([" --subject ", &quoted(subject)]);
    }
    Some(command + &image_flag(started) + &checks_flag(started))
}

/// Seeds of all shards of which this one ran `seeds`: those that were asked for if all of them ran.
fn count_of_shard(started: &StartedLine, seeds: u64) -> u64 {
    let shard = started.shard;
    let asked = started.limits.seeds.filter(|count| share(*count, shard.index, shard.count) == seeds);
    asked.unwrap_or_else(|| (seeds.saturating_sub(1)).saturating_mul(shard.count).saturating_add(shard.index))
}

/// Seeds of all shards that were merged; `None` if a run of so many deals them out otherwise.
fn count_of_shards(summary: &Summary) -> Option<u64> {
    let shards = (summary.shards.len() + summary.shards_missing.len()) as u64;
    let is_even = summary.shards.iter().all(|shard| share(summary.seeds, shard.index, shards) == shard.seeds)
        && summary.shards_missing.iter().all(|index| share(summary.seeds, *index, shards) == 0);
    is_even.then_some(summary.seeds)
}

/// The directory that the worlds start with, which no token holds.
fn image_flag(started: &StartedLine) -> String {
    let image = started.image_directory.as_ref();
    image.map(|image| format!(" --image {}", quoted(image))).unwrap_or_default()
}

/// How much is checked, which no token holds.
fn checks_flag(started: &StartedLine) -> String {
    let is_usual = started.checks == Checks::Default.code();
    if is_usual { String::new() } else { format!(" --checks {}", started.checks) }
}

/// A path as a shell takes it for one word.
fn quoted(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+=:,@".contains(&byte);
    if path.bytes().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::pace::ShardPace;
    use crate::run::parallel::Seeds;
    use crate::run::session::Request;
    use crate::schedule::generate::Knobs;
    use crate::schedule::token::Commit;

    fn started(seeds: Seeds) -> StartedLine {
        StartedLine::of(&Request {
            profile: "default",
            knobs: Knobs::default(),
            seeds,
            seconds: Some(1),
            failures: None,
            per_group: 1,
            require_reach: false,
            jobs: 1,
            commit: Commit::Unknown,
            image: None,
            checks: Checks::Default,
            subject: None,
        })
    }

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        assert_eq!(quoted("/data/one-1.0"), "/data/one-1.0");
        assert_eq!(quoted("/my data"), "'/my data'");
        assert_eq!(quoted("/it's"), r"'/it'\''s'");
    }

    #[test]
    fn what_is_run_again_is_what_ran() {
        let check = |started: &StartedLine, seeds, expected: &str| {
            let summary = Summary { seeds, ..Summary::default() };
            assert_eq!(run_again(started, &summary).as_deref(), Some(expected));
        };
        let whole = started(Seeds::all(16, 100));
        check(&whole, 100, "cargo sim run --from-seed 0x10 --seeds 100");
        check(&whole, 40, "cargo sim run --from-seed 0x10 --seeds 40");
        let shard = started(Seeds { from: 16, count: 100, shard: 2, shards: 3, done: 0 });
        check(&shard, 33, "cargo sim run --from-seed 0x10 --seeds 100 --shard 2/3");
        // Of 11 seeds the second of three shards has four: places 1, 4, 7 and 10.
        check(&shard, 4, "cargo sim run --from-seed 0x10 --seeds 11 --shard 2/3");
        assert_eq!(share(11, 2, 3), 4);
    }

    #[test]
    fn shards_that_time_ended_unevenly_are_run_again_by_no_command() {
        let merged = |seeds: [u64; 2], shards_missing: Vec<u64>| {
            let pace = |(index, seeds)| ShardPace { index, seeds, seconds: 1.0, digest: String::new() };
            let shards = [1, 2].into_iter().zip(seeds).filter(|(index, _)| !shards_missing.contains(index));
            let summary = Summary {
                seeds: seeds.iter().sum(),
                shards: shards.map(pace).collect(),
                shards_missing: shards_missing.clone(),
                ..Summary::default()
            };
            run_again(&started(Seeds::all(16, u64::MAX)), &summary)
        };
        let even = Some("cargo sim run --from-seed 0x10 --seeds 21".to_owned());
        assert_eq!(merged([11, 10], Vec::new()), even);
        assert_eq!(merged([10, 11], Vec::new()), None);
        assert_eq!(merged([10, 20], Vec::new()), None);
        assert_eq!(merged([10, 0], vec![2]), None);
    }
}
