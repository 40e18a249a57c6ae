//! The command line, mirrored and nothing else: names, defaults and help of `recover`.
//!
//! Promises: what parses here is well formed, and the help says what the build does. Leaves out: whether
//! anything named here exists ([`crate::target`]). The snapshot tests include this file by its path, so it
//! names nothing of the program around it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use recovery_core::units::{Durability, Namespace};

/// Says what a partition's bytes prove, and repairs what a crash left behind.
///
/// A partition directory holds segments (`<20 digits>.log` with an `.index` each). `recover` verifies every
/// batch in them, says where the proven bytes end and why, and what a repair would do. Nothing is ever
/// thrown away: what a repair cuts off is first copied into `<DIR>.fenced.N` beside the directory.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "recover",
    version,
    term_width = 80,
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = EXIT_HELP
)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Print one JSON object on one line to standard output
    ///
    /// Text for people and progress go to standard error then.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// When to colour text; `auto` does on a terminal unless `NO_COLOR` is set
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorWhen::Auto)]
    pub(crate) color: ColorWhen,
}

const EXIT_HELP: &str = "\
Exit status:
   0  served, and nothing to repair
  10  served after a repair: one is due (check, plan, adopt) or was made (apply,
      accept-loss)
  20  refused: not one byte is changed (`adopt` has moved the ledger by then)
  30  unavailable: an error while reading or writing, or the directory is locked
   2  the command line is wrong: no such directory, no namespace to be had,
      other offsets than those that are lost, no ledger to set aside
  inspect ends with 0 once it has shown the bytes, whatever they are worth.";

/// One of the things that `recover` does.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// Verify a partition and say what was found; changes nothing
    ///
    /// Reads every byte of every segment, through the page cache, under a shared lock.
    Check(Partition),
    /// Like check, and list the steps of the repair in order; changes nothing
    Plan(Partition),
    /// Repair a partition, or leave it untouched where that is refused
    ///
    /// Takes the directory's lock alone, writes back and drops what the page cache holds of it, verifies
    /// every byte, then takes the steps that `plan` lists. A crash at any point is repaired by `apply`.
    Apply(Partition),
    /// Give up what a refused partition has lost, and serve the rest
    ///
    /// Writes to the ledger which offsets are given up, making one if there is none, carries whole batches
    /// behind the damage over into segments of their own, then repairs as `apply` does. A copy of all that is
    /// cut off is kept. A crash at any point is gone on with by the same command, or by `apply`.
    AcceptLoss(AcceptLoss),
    /// Set the ledger aside, where another program has changed the directory since
    ///
    /// Moves the ledger into the fence; from then on the partition is judged without one, as `check` says.
    Adopt(Partition),
    /// Decode the bytes of one file and show each check; changes nothing
    ///
    /// A log shows the batch at the position with its messages, an index its entries, a ledger its records,
    /// a superblock its fields. What a copy in a fence holds is told by its name, anything else by its
    /// bytes.
    Inspect(Inspection),
}

/// Which partition, and what is known about how it was written.
#[derive(Args, Clone, Debug)]
pub(crate) struct Partition {
    /// The partition directory, such as `data/streams/1/topics/0/partitions/0`
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,

    /// Stream, topic and partition number, where the path does not say them
    #[arg(long, value_name = "S/T/P", value_parser = parse_namespace)]
    pub(crate) namespace: Option<Namespace>,

    /// What the writer did before it acknowledged; counts only where there is no ledger
    ///
    /// With `synced` or `proven` the index is evidence of what was durable, and damage below that is
    /// refused as loss.
    #[arg(long, value_name = "MODE", value_enum, default_value_t = DurabilityMode::Buffered)]
    pub(crate) durability: DurabilityMode,

    /// How many replicas the partition has, this one included; changes the advice, never the verdict
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) replicas: u8,

    /// Which life of the partition the directory is, as the server's metadata says
    ///
    /// Without it the ledger's records say so; a ledger with records of two lives is then refused, since one of
    /// them is stale and nobody can tell which.
    #[arg(long, value_name = "N")]
    pub(crate) incarnation: Option<u64>,
}

/// Which partition, and what is given up.
#[derive(Args, Clone, Debug)]
pub(crate) struct AcceptLoss {
    /// The partition.
    #[command(flatten)]
    pub(crate) partition: Partition,

    /// The offsets to give up, both inclusive, just as `check` says that they are lost; once for each range
    ///
    /// Without it nothing is done unless no offset is lost.
    #[arg(long = "range", value_name = "FIRST-LAST", value_parser = parse_range)]
    pub(crate) ranges: Vec<(u64, u64)>,
}

/// Which bytes to show.
#[derive(Args, Clone, Debug)]
pub(crate) struct Inspection {
    /// A file, and the byte position to start at, as `FILE@4096` or `FILE@0x1000` (default 0)
    #[arg(value_name = "FILE[@POSITION]")]
    pub(crate) place: PathBuf,
}

/// When text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    #[value(help = None)]
    Auto,
    /// Always.
    #[value(help = None)]
    Always,
    /// Never.
    #[value(help = None)]
    Never,
}

/// What a writer did before it acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DurabilityMode {
    /// The write alone
    Buffered,
    /// A sync of the log
    Synced,
    /// A sync of the log and of the ledger's mark
    Proven,
}

impl From<DurabilityMode> for Durability {
    fn from(mode: DurabilityMode) -> Self {
        match mode {
            DurabilityMode::Buffered => Self::Buffered,
            DurabilityMode::Synced => Self::Synced,
            DurabilityMode::Proven => Self::Proven,
        }
    }
}

/// Reads `FIRST-LAST`.
///
/// # Errors
///
/// A sentence, when it is not two decimal numbers that ascend.
pub(crate) fn parse_range(text: &str) -> Result<(u64, u64), String> {
    let number = |part: &str| {
        let is_plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain { part.parse().map_err(|_| ()) } else { Err(()) }
    };
    let Some((Ok(first), Ok(last))) = text.split_once('-').map(|(first, last)| (number(first), number(last)))
    else {
        return Err("a range is two offsets, both inclusive, as in 5-7".to_owned());
    };
    if first > last {
        return Err(format!("the range {text} ends before it begins"));
    }
    Ok((first, last))
}

/// Reads `S/T/P`.
///
/// # Errors
///
/// A sentence, when it is not three plain decimal numbers that fit 20, 12 and 20 bits.
pub(crate) fn parse_namespace(text: &str) -> Result<Namespace, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let [stream, topic, partition] = parts[..] else {
        return Err("a namespace is three numbers, as in 1/0/0".to_owned());
    };
    let number = |what: &str, part: &str| {
        parse_number(part).ok_or_else(|| format!("the {what} {part:?} is not a plain decimal number"))
    };
    let namespace = Namespace {
        stream: number("stream", stream)?,
        topic: number("topic", topic)?,
        partition: number("partition", partition)?,
    };
    if namespace.is_packable() {
        Ok(namespace)
    } else {
        Err("a stream or partition number has 20 bits, a topic number 12".to_owned())
    }
}

/// Reads a number as directories spell it: decimal digits, not padded.
pub(crate) fn parse_number(text: &str) -> Option<u32> {
    let is_padded = text.len() > 1 && text.starts_with('0');
    if text.is_empty() || is_padded || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // All digits, so the only failure left is a number that is too large.
    text.parse().ok()
}
