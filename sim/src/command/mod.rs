//! The commands of the program, one file each: options in, an exit code out.

pub mod commit;
pub mod export;
pub(crate) mod file;
pub mod interruption;
pub mod kernel_check;
pub mod known;
pub mod list;
pub mod merge;
pub mod mutants;
pub mod outputs;
pub mod replay;
pub mod run;
pub mod scenarios;
pub mod self_check;
pub mod shrink;
pub mod source;
pub mod sweep;
pub mod verdicts;
