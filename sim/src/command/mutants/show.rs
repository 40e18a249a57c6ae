//! What a person is told of planted bugs: a row each, and a line at the end.

use std::io::{self, Write};

use super::Judged;
use super::tally::Numbers;
use crate::subject::kill::{Fate, Kill};

/// One bug: its fate, its name, what killed it, worlds to the first kill, seconds.
///
/// # Errors
///
/// When the stream cannot be written.
pub(super) fn row(out: &mut dyn Write, judged: &Judged<'_>) -> io::Result<()> {
    let Judged { mutant, fate, seconds, scenarios } = judged;
    let said = match fate {
        Fate::Killed(Kill { by, seeds: Some(seeds), .. }) => format!("by {by} at seed {seeds}"),
        Fate::Killed(Kill { by, how, seeds: None, .. }) => format!("by {by}, {how}"),
        Fate::WrongCheck { by } => format!("by {by} and not by {}", mutant.killed_by.join(", ")),
        Fate::Survived => format!("{} seeds", mutant.seeds),
        Fate::Stale { sentence } | Fate::Unbuildable { sentence } => sentence.clone(),
        Fate::Hung => "silent for minutes".to_owned(),
    };
    let kills = match scenarios.len() {
        0 => String::new(),
        1 => ", 1 scenario".to_owned(),
        count => format!(", {count} scenarios"),
    };
    writeln!(
        out,
        "{:<11}  {:<6}  {:<44}  {said}{kills}, {seconds:.0} s",
        fate.code(),
        mutant.target.code(),
        mutant.id
    )
}

/// The last line.
///
/// # Errors
///
/// When the stream cannot be written.
pub(super) fn summary(out: &mut dyn Write, numbers: &Numbers) -> io::Result<()> {
    let Numbers { planted, missing, total, seconds, .. } = numbers;
    let [killed, survived, wrong_check, stale, unbuildable, hung] = numbers.fates;
    let shown = |seeds: Option<u64>| seeds.map_or_else(|| "none".to_owned(), |seeds| seeds.to_string());
    writeln!(
        out,
        "{planted} of {total} planted: {killed} killed, {survived} survived, {wrong_check} by another check, \
         {stale} stale, {unbuildable} unbuildable, {hung} hung; {missing} of the table missing; seeds to kill: \
         median {} (from the worst of three starts {}), most {}; {seconds:.0} s",
        shown(numbers.seeds_median),
        shown(numbers.seeds_median_of_worst),
        shown(numbers.seeds_max)
    )
}
