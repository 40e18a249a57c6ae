//! The `sim` program: parse, dispatch, exit code.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;
use sim::cli::{Cli, Command};
use sim::command;
use sim::exit::Exit;

/// Worlds are made of many small pieces of memory, and let go of as many.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let ended = match &cli.command {
        Command::Run(options) => command::run::run(options, &mut out, &mut err),
        // Its colours are taken out where nobody sees them.
        Command::Replay(options) => command::replay::replay(options, &mut anstream::stdout(), &mut err),
        Command::Scenarios(options) => command::scenarios::scenarios(options, &mut out, &mut err),
        Command::Shrink(options) => command::shrink::shrink(options, &mut out, &mut err),
        Command::Sweep(options) => command::sweep::sweep(options, &mut out, &mut err),
        Command::SelfCheck(options) => command::self_check::self_check(options, &mut out),
        Command::Mutants(options) => command::mutants::mutants(options, &mut out, &mut err),
        Command::Export(options) => command::export::export(options, &mut out, &mut err),
        Command::Verdicts(options) => command::verdicts::verdicts(options, &mut out, &mut err),
        Command::Merge(options) => command::merge::merge(options, &mut out, &mut err),
        Command::KernelCheck(options) => command::kernel_check::kernel_check(options, &mut out, &mut err),
        Command::List(options) => command::list::list(options, &mut out, &mut err),
    };
    match ended {
        Ok(exit) => exit.into(),
        // Whoever reads has gone: nobody is left to be told.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Held.into(),
        // A full disk, a folder that may not be written to: the message of the system says which.
        Err(error) => {
            anstream::eprintln!("error: what the program shows or keeps could not be written: {error}");
            Exit::Usage.into()
        }
    }
}
