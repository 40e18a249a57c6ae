//! The operator's tool: `recover check|plan|apply|accept-loss|adopt DIR` and `recover inspect FILE[@POSITION]`.
//!
//! Promises: `check`, `plan` and `inspect` change nothing; standard output holds the answer and nothing else. Leaves out:
//! every judgement, which is the library's.

mod arguments;
mod console;
mod exit;
mod inspect;
mod mistake;
mod palette;
mod paragraph;
mod progress;
mod report;
mod session;
mod strip;
mod target;
#[cfg(test)]
mod tests;

use clap::Parser;
use recovery_core::observe::{Expectation, Unavailable};
use recovery_core::storage::os::OsStorage;

use arguments::{AcceptLoss, Arguments, Command, Inspection, Partition};
use console::Console;
use exit::Exit;
use inspect::{Blocked, Place};
use mistake::Mistake;
use recovery_core::decide::LostRange;
use recovery_core::units::{Incarnation, Offset};
use report::{ErrorObject, Mode, PartitionObject, Report};
use session::Found;
use target::Target;

/// The life that a new ledger names where nobody says which one it is.
const UNKNOWN_LIFE: u64 = 0;

#[expect(clippy::disallowed_methods, reason = "a program reads its command line")]
fn main() -> Exit {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return console::parser_says(&error, std::env::args_os().any(|word| word == "--json")),
    };
    let console = Console { json: arguments.json, color: arguments.color };
    match &arguments.command {
        Command::Check(partition) => recover(console, partition, Mode::Check),
        Command::Plan(partition) => recover(console, partition, Mode::Plan),
        Command::Apply(partition) => recover(console, partition, Mode::Apply),
        Command::AcceptLoss(accepted) => accept_loss(console, accepted),
        Command::Adopt(partition) => run(console, partition, Mode::Adopt, session::adopt),
        Command::Inspect(inspection) => inspect(console, inspection),
    }
}

fn recover(console: Console, partition: &Partition, mode: Mode) -> Exit {
    run(console, partition, mode, |storage, target, expectation| {
        Ok(session::run(storage, &target.components, expectation, mode))
    })
}

fn accept_loss(console: Console, accepted: &AcceptLoss) -> Exit {
    let named: Vec<LostRange> = accepted
        .ranges
        .iter()
        .map(|(first, last)| LostRange { first: Offset::new(*first), last: Offset::new(*last) })
        .collect();
    let new_ledger = Incarnation::new(accepted.partition.incarnation.unwrap_or(UNKNOWN_LIFE));
    run(console, &accepted.partition, Mode::AcceptLoss, |storage, target, expectation| {
        session::accept_loss(storage, target, expectation, &named, new_ledger)
    })
}

/// Finds the partition, does `work` with it, and answers.
fn run(
    console: Console,
    partition: &Partition,
    mode: Mode,
    work: impl FnOnce(&OsStorage, &Target, Expectation) -> Result<Found, Mistake>,
) -> Exit {
    let target = match Target::find(&partition.directory, partition.namespace) {
        Ok(target) => target,
        Err(mistake) => return console.refuse(&mistake),
    };
    let expectation = Expectation {
        durability: partition.durability.into(),
        incarnation: partition.incarnation.map(Incarnation::new),
        ..Expectation::of(target.namespace)
    };
    let opened = match mode {
        Mode::Check | Mode::Plan => OsStorage::open_read_only(&target.root),
        Mode::Apply | Mode::AcceptLoss | Mode::Adopt => OsStorage::open(&target.root),
    };
    let found = match opened {
        Ok(storage) => match work(&storage, &target, expectation) {
            Ok(found) => found,
            Err(mistake) => return console.refuse(&mistake),
        },
        Err(error) => Found::unavailable(&Unavailable::Io(error)),
    };
    let report = Report { mode, target: &target, replicas: partition.replicas, found: &found };
    console.answer(&report::text(&report), &PartitionObject::of(&report), report.exit())
}

fn inspect(console: Console, inspection: &Inspection) -> Exit {
    let looked = Place::find(&inspection.place).map_err(Blocked::from).and_then(|place| {
        let storage = OsStorage::open_read_only(&place.directory)?;
        let sheet = inspect::look(&storage, &place)?;
        Ok((place, sheet))
    });
    match looked {
        Ok((place, sheet)) => {
            console.answer(&sheet.text(&place.path.display().to_string()), &sheet.object(), Exit::Clean)
        }
        Err(Blocked::Mistake(mistake)) => console.refuse(&mistake),
        Err(Blocked::Storage(error)) => {
            console.fail(&error.to_string(), None, &ErrorObject::of_failure(&error), Exit::Unavailable)
        }
    }
}
