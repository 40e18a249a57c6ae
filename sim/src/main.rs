//! The `sim` program: parse, dispatch, exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;
use sim::cli::{Cli, Command};
use sim::command;
use sim::command::interruption;
use sim::exit::Exit;

/// Worlds are made of many small pieces of memory, and let go of as many.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let (mut out, mut err) = (io::stdout(), io::stderr());
    match run(&cli.command, &mut out, &mut err) {
        Ok(exit) => exit.into(),
        // Whoever reads has gone: nobody is left to be told, and nothing was brought to its end.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Interrupted.into(),
        // A full disk, a folder that may not be written to: the message of the system says which.
        Err(error) => {
            // This stream may be the one that takes nothing; the status says it all the same.
            let _untold =
                writeln!(err, "error: what the program shows or keeps could not be written: {error}");
            Exit::Usage.into()
        }
    }
}

/// Runs a command. Those with more than one unit of work hear of it when somebody asks the program to end.
fn run(command: &Command, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let asked = interruption::listen;
    match command {
        Command::Run(options) => command::run::run(options, &*asked()?, out, err),
        Command::Scenarios(options) => command::scenarios::scenarios(options, &*asked()?, out, err),
        Command::Shrink(options) => command::shrink::shrink(options, &*asked()?, out, err),
        Command::Sweep(options) => command::sweep::sweep(options, &*asked()?, out, err),
        Command::SelfCheck(options) => command::self_check::self_check(options, &*asked()?, out),
        Command::Mutants(options) => command::mutants::mutants(options, &*asked()?, out, err),
        Command::Verdicts(options) => command::verdicts::verdicts(options, &*asked()?, out, err),
        Command::KernelCheck(options) => command::kernel_check::kernel_check(options, &*asked()?, out, err),
        // Its colours are taken out where nobody sees them.
        Command::Replay(options) => {
            at_once(|| command::replay::replay(options, &mut anstream::stdout(), err))
        }
        Command::Export(options) => at_once(|| command::export::export(options, out, err)),
        Command::Merge(options) => at_once(|| command::merge::merge(options, out, err)),
        Command::List(options) => at_once(|| command::list::list(options, out, err)),
    }
}

/// Runs a command that is one unit of work: what it has done by half nobody wants to keep.
fn at_once(run: impl FnOnce() -> io::Result<Exit>) -> io::Result<Exit> {
    interruption::end_at_once()?;
    run()
}
