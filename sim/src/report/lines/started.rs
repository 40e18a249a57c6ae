//! How a run begins, as a line: which worlds, which limits, whose build.

use serde::{Deserialize, Serialize};

use super::VERSION;
use crate::run::session::Request;
use crate::schedule::SCHEMA;
use crate::schedule::generate::{FilesystemKnob, GENERATOR, Knobs, RegimeKnob, ReplicasKnob, SizeKnob};
use crate::schedule::token::Commit;
use crate::schedule::word::Word;

/// `run-started`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedLine {
    /// Of the line.
    pub version: u32,
    /// The commit of the tree.
    pub commit: String,
    /// Whether its files had changed.
    pub dirty: bool,
    /// Hash of the program that runs; null where it cannot read itself.
    #[serde(default)]
    pub program: Option<String>,
    /// Number of the generator of schedules.
    pub generator: u32,
    /// Version of the scenario language.
    pub schema: u32,
    /// The first seed.
    pub from_seed: u64,
    /// The profile whose limits hold where none is given.
    pub profile: String,
    /// When the run ends.
    pub limits: LimitsLine,
    /// Which worlds.
    pub world: WorldLine,
    /// The directory that worlds start with, as it was found there.
    #[serde(default)]
    pub image_directory: Option<String>,
    /// How much of what is sampled is done: default or all.
    pub checks: String,
    /// Another program, which every start is put to, too.
    #[serde(default)]
    pub subject: Option<String>,
    /// Whether a goal missed fails the run.
    #[serde(default)]
    pub require_reach: bool,
    /// Threads.
    pub jobs: usize,
    /// Which part of the seeds.
    pub shard: ShardLine,
}

/// When a run ends; null: no such limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitsLine {
    /// Seeds, those of all shards.
    pub seeds: Option<u64>,
    /// Seconds after which no seed is begun.
    pub seconds: Option<u64>,
    /// Failing seeds of groups that were not known.
    pub failures: Option<u64>,
    /// Failing seeds of a group that are shown.
    pub per_group: u64,
}

/// Which worlds a run has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldLine {
    /// legal, unlimited or mixed.
    pub regime: String,
    /// A filesystem or any.
    pub filesystem: String,
    /// A size or mixed.
    pub size: String,
    /// 1, 3 or mixed.
    pub replicas: String,
    /// Hash of the directory that worlds start with.
    pub image: Option<String>,
}

/// Which part of the seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardLine {
    /// From 1.
    pub index: u64,
    /// How many parts there are.
    pub count: u64,
}

impl StartedLine {
    /// The first line of a run.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        let Knobs { regime, filesystem, size, replicas } = request.knobs;
        Self {
            version: VERSION,
            commit: request.commit.to_string(),
            dirty: matches!(request.commit, Commit::Known { is_dirty: true, .. }),
            program: None,
            generator: GENERATOR,
            schema: SCHEMA,
            from_seed: request.seeds.from,
            profile: request.profile.to_owned(),
            limits: LimitsLine {
                seeds: (request.seeds.count < u64::MAX).then_some(request.seeds.count),
                seconds: request.seconds,
                failures: request.failures,
                per_group: request.per_group,
            },
            world: WorldLine {
                regime: regime.code().to_owned(),
                filesystem: filesystem.code().to_owned(),
                size: size.code().to_owned(),
                replicas: replicas.code().to_owned(),
                image: request.image.map(|image| format!("{:08x}", image.hash())),
            },
            image_directory: request.image.map(|image| image.shape().directory.clone()),
            checks: request.checks.code().to_owned(),
            subject: request.subject.map(|program| program.text().to_owned()),
            require_reach: request.require_reach,
            jobs: request.jobs,
            shard: ShardLine { index: request.seeds.shard, count: request.seeds.shards },
        }
    }

    /// Whether its commit says all of what was built.
    #[must_use]
    pub fn has_commit(&self) -> bool {
        self.commit != Commit::Unknown.to_string() && !self.dirty
    }

    /// Which worlds, as a run asks for them; `None` if a word is not known here.
    #[must_use]
    pub fn knobs(&self) -> Option<Knobs> {
        Some(Knobs {
            regime: RegimeKnob::from_word(&self.world.regime)?,
            filesystem: FilesystemKnob::from_word(&self.world.filesystem)?,
            size: SizeKnob::from_word(&self.world.size)?,
            replicas: ReplicasKnob::from_word(&self.world.replicas)?,
        })
    }

    /// The place of a seed among those of this shard, counted from 0; `None` if it belongs to another one.
    #[must_use]
    pub fn place_of(&self, seed: u64) -> Option<u64> {
        let place = seed.wrapping_sub(self.from_seed).checked_sub(self.shard.index - 1)?;
        place.is_multiple_of(self.shard.count).then(|| place / self.shard.count)
    }
}
