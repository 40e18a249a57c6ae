//! The schedule: one explicit list of typed steps, generated, printed, parsed, replayed.
//!
//! Promises: a schedule holds every decision of a world, so that the same schedule is the same world;
//! printing and parsing it is the identity; a seed, a run of fuzzer bytes and a file are three doors to
//! the same values. Leaves out: disks, the core and oracles: nothing here runs anything.
//!
//! In reading order: [`scenario`] (the document), [`world`] (where it starts), [`step`] (what happens),
//! [`crash`] and [`fault`] (what goes wrong) with [`target`] and [`field`] (where), [`expect`] (what must
//! come of it).

pub mod crash;
pub mod expect;
pub mod fault;
pub mod field;
pub mod generate;
mod parse;
mod print;
mod rename;
pub mod scenario;
pub mod simpler;
pub mod step;
pub mod tape;
pub mod target;
#[cfg(test)]
mod tests;
pub mod token;
pub mod word;
pub mod world;

pub use crash::{
    CallPoint, Crash, CrashInside, Exception, Fill, Restart, SizeChoice, Survival, Survivors, SurvivorsWord,
    SyncStage,
};
pub use expect::{
    ActionWord, DispositionWord, ErrorClass, ExpectAnswer, ExpectPartition, ExpectPoll, ExpectSegment,
    Expectation, ReasonWord, StatusWord,
};
pub use fault::{AsStep, Edit, Fault, FaultInside, FaultKind, StrayEntry, Times, TornKind};
pub use field::{BatchField, FieldSpan, FrameField, HeaderField, IndexField, LedgerField, SuperblockField};
pub use generate::{
    FilesystemKnob, GENERATOR, ImageBatch, ImagePartition, ImageSegment, ImageShape, Knobs, RegimeKnob,
    ReplicasKnob, Size, SizeKnob, generate, generate_on, generate_seed,
};
pub use parse::{ParseError, ParseFault, parse, step_lines};
pub use print::{print, print_schedule, print_step};
pub use rename::renamed;
pub use scenario::{Kills, Origin, SCHEMA, Scenario, Schedule};
pub use simpler::{Extent, Simpler};
pub use step::{
    AcceptLoss, Action, Append, BatchId, Interruption, LinkState, NodeId, OffsetRange, Place, Plant, Poll,
    Retain, Step,
};
pub use tape::{Stream, Tape};
pub use target::{Destination, FileRole, FileWord, Slot, Target};
pub use token::{Commit, Token, TokenError};
pub use word::Word;
pub use world::{Filesystem, Image, PartitionHeader, Regime, WorldHeader};
