//! `--step`: one step after the other, each with what lies in every log behind it.
//!
//! Promises: waits only where a person sits at both ends. Leaves out: going back.

use std::io::{self, IsTerminal, Write};

use crate::command::source::Source;
use crate::report::explain::{LEGEND, strips_of};
use crate::report::terminal;
use crate::run::explain::partitions_behind;
use crate::run::replay::Replayed;
use crate::world::{Arena, NodeLeft};

/// Columns of the lead of a strip.
const LEAD: usize = 36;

/// Walks through a replay.
///
/// # Errors
///
/// When a stream cannot be written or read.
pub(super) fn walk(out: &mut dyn Write, source: &Source, replayed: &Replayed) -> io::Result<()> {
    let waits = io::stdin().is_terminal() && io::stdout().is_terminal();
    let steps = replayed.schedule.steps.len();
    let last = replayed.until.map_or(steps, |until| until as usize + 1);
    let last = last + usize::from(replayed.has_rest());
    let mut arena = Arena::on(source.image);
    terminal::paragraph(out, "Letters", LEGEND)?;
    for step in 0..u32::try_from(last).expect("a schedule is short") {
        terminal::replay_step(out, replayed, step, false)?;
        let until = Some(step).filter(|step| (*step as usize) < steps);
        for (number, node) in partitions_behind(&mut arena, &replayed.schedule, until).iter().enumerate() {
            logs(out, number, node)?;
        }
        if waits && has_ended(out)? {
            break;
        }
    }
    Ok(())
}

fn logs(out: &mut dyn Write, number: usize, node: &NodeLeft) -> io::Result<()> {
    for partition in &node.partitions {
        for (segment, strip) in strips_of(partition) {
            let lead = format!("node {number} {} segment {segment}", partition.namespace);
            let bytes = strip.log_bytes.map_or("no file".to_owned(), |bytes| bytes.to_string());
            writeln!(out, "{:10}{lead:<width$} [{}] {bytes}", "", strip.letters(), width = LEAD - 10)?;
        }
    }
    Ok(())
}

/// Waits for a line; says whether it asks to end.
fn has_ended(out: &mut dyn Write) -> io::Result<bool> {
    write!(out, "{:10}Enter: the next step, q: end ", "")?;
    out.flush()?;
    let mut line = String::new();
    let bytes = io::stdin().read_line(&mut line)?;
    Ok(bytes == 0 || line.trim() == "q")
}
