//! The command line: a mirror of it, and no behaviour.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::explore::Kind;
use crate::kernel;

/// What the exit status says.
const EXITS: &str = "\
Exit status:
  0    all held
  1    a check failed, an expectation did, a planted bug lives, or a verdict moved
  2    the command line, a file or a token is wrong
  3    one schedule gave two digests
  4    nothing ran, or can be tried here; a goal was missed; a shard or a part of a sweep is missing;
       what was to be shrunk does not fail
  70   a bug of the harness itself
  130  interrupted; what was found is kept and reported";

/// Runs the real recovery core through crashes and damage on a simulated disk.
#[derive(Debug, Parser)]
#[command(name = "sim", max_term_width = 100, disable_help_subcommand = true, after_long_help = EXITS)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run seeds: each is one generated schedule, one world.
    Run(Run),
    /// Run one schedule again and show what happened, and why it failed.
    Replay(Replay),
    /// Run scenario files with every check, and compare what they expect.
    Scenarios(Scenarios),
    /// Make a failing schedule as simple as it can be, and keep it as a file.
    Shrink(Shrink),
    /// Run every crash point, error, survivor set and damaged field of a schedule.
    Sweep(Sweep),
    /// Judge the harness itself: would it notice?
    SelfCheck(SelfCheck),
    /// Plant each known bug and see it die by the check that it names.
    Mutants(Mutants),
    /// Write what a start finds as real directories, with what recovery owes them.
    Export(Export),
    /// Show which verdicts have moved in the pinned seeds, as one table.
    Verdicts(Verdicts),
    /// Join the shards of one run.
    Merge(Merge),
    /// Hold the model of a filesystem against a real one that crashes (root and loop devices needed).
    KernelCheck(KernelCheck),
    /// Print a vocabulary: one word a line.
    List(List),
}

/// `sim scenarios`.
#[derive(Debug, clap::Args)]
pub struct Scenarios {
    /// Scenario files, or directories of them.
    #[arg(value_name = "PATH", default_value = "scenarios")]
    pub paths: Vec<PathBuf>,
    /// JSON Lines on stdout, the summary last.
    #[arg(long)]
    pub json: bool,
}

/// `sim run`.
#[derive(Debug, clap::Args)]
pub struct Run {
    /// How many seeds, those of all shards. An explicit limit replaces all limits of the profile.
    #[arg(long, value_name = "N")]
    pub seeds: Option<u64>,
    /// Begin no seed after so many seconds.
    #[arg(long, value_name = "T")]
    pub seconds: Option<u64>,
    /// Stop after so many failing seeds of groups that are not known.
    #[arg(long, value_name = "N")]
    pub failures: Option<u64>,
    /// Show so many failing seeds of each group; as the profile says if not given.
    #[arg(long, value_name = "N")]
    pub per_group: Option<u64>,
    /// A named set of limits (`sim list profiles`).
    #[arg(long, value_name = "NAME", default_value = "default", conflicts_with = "resume")]
    pub profile: String,
    /// The first seed, decimal or 0x; if not given it is drawn and printed, or comes from the commit.
    #[arg(long, value_name = "S", value_parser = seed, conflicts_with = "resume")]
    pub from_seed: Option<u64>,
    /// legal (only what a correct disk and a crash may do), unlimited or mixed.
    #[arg(long, value_name = "REGIME", default_value = "mixed", conflicts_with = "resume")]
    pub regime: String,
    /// A filesystem by name (`sim list filesystems`), or any.
    #[arg(long, value_name = "NAME", default_value = "any", conflicts_with = "resume")]
    pub filesystem: String,
    /// small, medium, large or mixed.
    #[arg(long, value_name = "SIZE", default_value = "mixed", conflicts_with = "resume")]
    pub size: String,
    /// 1, 3 (with the core's host on each node), or mixed: worlds of three, and of one with a host or without.
    /// As the profile says if not given; 1 where that says nothing.
    #[arg(long, value_name = "COUNT", conflicts_with = "resume")]
    pub replicas: Option<String>,
    /// Start every world with this directory: of one partition, or one that holds streams/.
    #[arg(long, value_name = "DIR")]
    pub image: Option<PathBuf>,
    /// default (what each seed draws of what is sampled) or all (everything, everywhere).
    #[arg(long, value_name = "CHECKS", default_value = "default")]
    pub checks: String,
    /// Threads; as many as the machine has cores if not given.
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Run the I-th of N equal parts of the seeds, counted from 1; or `env`, as the scheduler that started
    /// this says.
    #[arg(long, value_name = "I/N", conflicts_with = "resume")]
    pub shard: Option<String>,
    /// Fail with 4 if a fault, a row or a reason was not reached within its budget of worlds.
    #[arg(long)]
    pub require_reach: bool,
    /// Groups that are known to fail: they are counted, and do not fail the run.
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,
    /// Where run.jsonl and failing schedules are written.
    #[arg(long, value_name = "DIR", default_value = "target/sim", conflicts_with = "resume")]
    pub out: PathBuf,
    /// Write what programs of CI read.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write a page that needs no network.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Put every start to another program, too: exec:COMMAND. It is run with a partition directory as its last
    /// argument and prints what `recover apply --json` does; {namespace}, {durability} and {replicas} are filled
    /// in.
    #[arg(long, value_name = "exec:COMMAND", conflicts_with = "resume")]
    pub subject: Option<String>,
    /// Go on with the run in this directory: what was run is not run again.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// JSON Lines on stdout, the summary last.
    #[arg(long)]
    pub json: bool,
}

/// `sim replay`.
#[derive(Debug, clap::Args)]
pub struct Replay {
    /// A token, or a schedule file.
    #[arg(value_name = "TOKEN|FILE")]
    pub subject: String,
    /// The directory that the token's world starts with: of one partition, or one that holds streams/.
    #[arg(long, value_name = "DIR")]
    pub image: Option<PathBuf>,
    /// default (what the token's seed draws of what is sampled; a file without a token has no seed) or all (everything, everywhere).
    #[arg(long, value_name = "CHECKS", default_value = "default")]
    pub checks: String,
    /// Stop behind this step, counted from 0.
    #[arg(long, value_name = "STEP")]
    pub until: Option<u32>,
    /// Leave a fault out: by kind, by place (7, or 7.0 inside step 7), or by both (bit-flip@7).
    #[arg(long, value_name = "FAULT")]
    pub without: Vec<String>,
    /// One step after the other, with what lies in every log behind it; on a terminal it waits in between.
    #[arg(long, conflicts_with_all = ["full", "json"])]
    pub step: bool,
    /// Every step and every storage call, whether they touch what broke or not.
    #[arg(long)]
    pub full: bool,
    /// Write every disk as it is where the replay ends: DIR/node-N/visible and DIR/node-N/durable.
    #[arg(long, value_name = "DIR")]
    pub dump: Option<PathBuf>,
    /// JSON Lines on stdout.
    #[arg(long)]
    pub json: bool,
}

/// `sim shrink`.
#[derive(Debug, clap::Args)]
pub struct Shrink {
    /// A token, or a schedule file.
    #[arg(value_name = "TOKEN|FILE")]
    pub subject: String,
    /// The directory that its world starts with: of one partition, or one that holds streams/.
    #[arg(long, value_name = "DIR")]
    pub image: Option<PathBuf>,
    /// default (what the token's seed draws of what is sampled; a file without a token has no seed) or all (everything, everywhere).
    #[arg(long, value_name = "CHECKS", default_value = "default")]
    pub checks: String,
    /// The file to write.
    #[arg(short, long = "output", value_name = "FILE.kdl")]
    pub out: PathBuf,
    /// Run no world after so many seconds.
    #[arg(long, value_name = "T", default_value_t = 10)]
    pub seconds: u64,
    /// Run at most so many worlds.
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub runs: u64,
    /// JSON Lines on stdout.
    #[arg(long)]
    pub json: bool,
}

/// `sim sweep`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Sweep {
    /// A token, or a schedule file.
    #[arg(value_name = "TOKEN|FILE")]
    pub subject: Option<String>,
    /// All of scenarios/.
    #[arg(long)]
    pub all: bool,
    /// Every sequence of up to six events on a host, from three starts.
    #[arg(long, conflicts_with_all = ["subject", "all", "kinds", "runs", "keep_equal"])]
    pub host: bool,
    /// Crashes one after the other: 2 adds one in the recovery that follows the first.
    #[arg(long, value_name = "1|2", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=2))]
    pub depth: u32,
    /// What is varied: crash, error, survivors or fields; all of them if not given.
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_parser = kind)]
    pub kinds: Vec<Kind>,
    /// Run at most so many worlds; a sweep that would need more ends with 4.
    #[arg(long, value_name = "N")]
    pub runs: Option<u64>,
    /// Threads; as many as the machine has cores if not given.
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Go on from states that were met before, too.
    #[arg(long)]
    pub keep_equal: bool,
    /// Where failing variants are saved.
    #[arg(long, value_name = "DIR", default_value = "target/sim/sweep")]
    pub out: PathBuf,
    /// One JSON object on stdout.
    #[arg(long)]
    pub json: bool,
}

/// `sim self-check`.
#[derive(Debug, clap::Args)]
pub struct SelfCheck {
    /// JSON Lines on stdout, the summary last.
    #[arg(long)]
    pub json: bool,
}

/// `sim mutants`.
#[derive(Debug, clap::Args)]
pub struct Mutants {
    /// Only this bug; may be given more than once.
    #[arg(long, value_name = "ID")]
    pub only: Vec<String>,
    /// Only so many, drawn by the commit: one of each target first.
    #[arg(long, value_name = "N", conflicts_with = "only")]
    pub sample: Option<usize>,
    /// Leave each program that was built at DIR/ID/sim.
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// So many at once, each with a copy of the sources and builds of its own; if not given one for every 16 bugs, at
    /// most as many as the machine has cores.
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Write what came of them into snapshots/kill-table.tsv instead of comparing with it.
    #[arg(long)]
    pub accept: bool,
    /// JSON Lines on stdout, the summary last.
    #[arg(long)]
    pub json: bool,
}

/// `sim kernel-check`.
#[derive(Debug, clap::Args)]
pub struct KernelCheck {
    /// ext4 or xfs.
    #[arg(long, value_name = "NAME", value_parser = real_filesystem)]
    pub filesystem: kernel::Kind,
    /// How many programs: each is one seed.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub runs: u64,
    /// The first seed, decimal or 0x; if not given it is drawn and printed.
    #[arg(long, value_name = "S", value_parser = seed)]
    pub from_seed: Option<u64>,
    /// JSON Lines on stdout, the summary last.
    #[arg(long)]
    pub json: bool,
}

/// `sim export`.
#[derive(Debug, clap::Args)]
pub struct Export {
    /// A token, or a schedule file.
    #[arg(value_name = "TOKEN|FILE")]
    pub subject: String,
    /// The directory to write; it must not be there, or be empty.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The directory that its world starts with: of one partition, or one that holds streams/.
    #[arg(long, value_name = "DIR")]
    pub image: Option<PathBuf>,
    /// What this step finds, counted from 0; what the last start finds if not given.
    #[arg(long, value_name = "STEP")]
    pub at: Option<u32>,
    /// One JSON object on stdout.
    #[arg(long)]
    pub json: bool,
}

/// `sim verdicts`.
#[derive(Debug, clap::Args)]
pub struct Verdicts {
    /// What to compare with: a file as snapshots/seeds.snap is, or a revision of git that has one;
    /// snapshots/seeds.snap if not given.
    #[arg(long, value_name = "FILE|REVISION")]
    pub against: Option<String>,
    /// JSON Lines on stdout, the summary last.
    #[arg(long)]
    pub json: bool,
}

/// `sim merge`.
#[derive(Debug, clap::Args)]
pub struct Merge {
    /// Files of lines, or directories with `.jsonl` files somewhere below.
    #[arg(value_name = "DIR|FILE", required = true)]
    pub paths: Vec<PathBuf>,
    /// Write the lines of the whole run, failures first, the summary last.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write a page that needs no network.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write what programs of CI read.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// JSON Lines on stdout, the summary last.
    #[arg(long)]
    pub json: bool,
}

/// `sim list`.
#[derive(Debug, clap::Args)]
pub struct List {
    /// scenarios, faults, checks, reasons, rows, mutants, filesystems or profiles.
    #[arg(value_name = "WHAT")]
    pub what: Option<String>,
}

/// Reads a kind of sweep.
fn kind(text: &str) -> Result<Kind, String> {
    let found = Kind::ALL.into_iter().find(|kind| kind.code() == text);
    found.ok_or_else(|| format!("{text} is no kind: there are crash, error, survivors and fields"))
}

/// Reads the name of a filesystem that there is a real one of.
fn real_filesystem(text: &str) -> Result<kernel::Kind, String> {
    let found = kernel::Kind::ALL.into_iter().find(|kind| kind.code() == text);
    found.ok_or_else(|| format!("{text} cannot be tried: there are ext4 and xfs"))
}

/// Reads a seed: decimal, or hexadecimal behind `0x`.
fn seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| format!("a seed is decimal or 0x and hexadecimal: {error}"))
}
