//! The segment strip: a log as a line of letters, at one moment below the other.
//!
//! Promises: one scale for all moments, so that what is below was below; a cell says the worst that lies in
//! it. Leaves out: exact positions, which the other parts list.

use std::io::{self, Write};

use anstyle::Style;

use super::palette::{BAD, DIM, GOOD, NONE, PLAIN, STRAY, TORN, paint};
use crate::oracle::Check;
use crate::report::terminal::{counted, paragraph};
use crate::run::explain::{Explanation, Moment};
use crate::world::PartitionLeft;

/// Letters of a strip.
const CELLS: usize = 34;

/// What the letters say.
pub const LEGEND: &str = "P promised, W written, T torn, Z zeros, X of nobody, . gone";

/// What a cell shows, in rising order of what a person must see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Nothing,
    Promised,
    Written,
    Zeros,
    Stray,
    Gone,
    Torn,
}

impl Kind {
    const fn letter(self) -> char {
        match self {
            Self::Nothing => ' ',
            Self::Promised => 'P',
            Self::Written => 'W',
            Self::Zeros => 'Z',
            Self::Stray => 'X',
            Self::Gone => '.',
            Self::Torn => 'T',
        }
    }

    const fn style(self) -> Style {
        match self {
            Self::Nothing => NONE,
            Self::Promised => GOOD,
            Self::Written => PLAIN,
            Self::Zeros => DIM,
            Self::Stray => STRAY,
            Self::Gone => BAD,
            Self::Torn => TORN,
        }
    }
}

/// A log at one moment, drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    cells: Vec<Kind>,
    /// Bytes of the log; `None` where there is none.
    pub log_bytes: Option<u64>,
}

impl Strip {
    /// Its letters.
    pub fn letters(&self) -> String {
        self.cells.iter().map(|kind| kind.letter()).collect()
    }

    fn painted(&self) -> String {
        self.cells
            .chunk_by(|left, right| left == right)
            .map(|run| paint(run[0].style(), &String::from(run[0].letter()).repeat(run.len())))
            .collect()
    }
}

/// Draws a log on a scale of `most` bytes.
pub fn strip(moment: &Moment, most: u64) -> Strip {
    let log = moment.log.as_deref().unwrap_or_default();
    let mut kinds = vec![Kind::Nothing; usize::try_from(most).expect("a simulated log fits memory")];
    for (at, kind) in kinds.iter_mut().enumerate() {
        *kind = match log.get(at) {
            None => Kind::Nothing,
            Some(0) => Kind::Zeros,
            Some(_) => Kind::Stray,
        };
    }
    for batch in &moment.batches {
        let from = usize::try_from(batch.position).expect("a simulated log fits memory");
        let range = from..from + batch.bytes.len();
        let there = log.get(from..range.end);
        let is_whole = there == Some(&batch.bytes[..]);
        for at in range {
            let wrong = match log.get(at) {
                None => Kind::Gone,
                Some(0) => Kind::Zeros,
                Some(_) => Kind::Torn,
            };
            let is_right = log.get(at) == Some(&batch.bytes[at - from]);
            kinds[at] = match (is_whole && batch.is_promised, is_right) {
                (true, _) => Kind::Promised,
                // Of a batch that is not whole, what is right is of no use, but it is not what is wrong.
                (false, true) => Kind::Written,
                (false, false) => wrong,
            };
        }
    }
    let count = kinds.len();
    let cells = (0..CELLS.min(count)).map(|cell| {
        let width = CELLS.min(count);
        let here = &kinds[cell * count / width..(cell + 1) * count / width];
        here.iter().copied().max().unwrap_or(Kind::Nothing)
    });
    Strip { cells: cells.collect(), log_bytes: moment.log.as_ref().map(|log| log.len() as u64) }
}

/// Bytes of the longest log, or of what belongs into one.
pub fn most(moments: &[Moment]) -> u64 {
    let logs = moments.iter().filter_map(|moment| moment.log.as_ref()).map(|log| log.len() as u64);
    let batches = moments.iter().flat_map(|moment| &moment.batches);
    logs.chain(batches.map(|batch| batch.position + batch.bytes.len() as u64)).max().unwrap_or_default()
}

/// Every log of a partition, drawn each on its own scale, with the start of its segment.
pub fn strips_of(left: &PartitionLeft) -> Vec<(u64, Strip)> {
    crate::run::explain::logs(left)
        .into_iter()
        .map(|(segment, moment)| (segment.get(), strip(&moment, most(std::slice::from_ref(&moment)))))
        .collect()
}

pub(super) fn write(out: &mut dyn Write, explanation: &Explanation) -> io::Result<()> {
    let most = most(&explanation.moments);
    let place = explanation.place.as_ref().filter(|place| place.segment.is_some());
    let Some(segment) = place.and_then(|place| place.segment) else { return Ok(()) };
    let is_log = |file: &recovery_core::storage::Name| *file == recovery_core::format::FileName::log(segment);
    let of = super::not_varied(explanation);
    let node = place
        .filter(|_| explanation.has_nodes)
        .map_or(String::new(), |place| format!(" on node {}", place.node));
    let named = place.and_then(|place| place.file.as_ref()).filter(|file| !is_log(file));
    let named = named.map_or(String::new(), |file| format!("; the check names {file}, which has no strip"));
    paragraph(
        out,
        "Strip",
        &format!("the log of segment {segment}{node}, {most} bytes from end to end{of}{named}"),
    )?;
    for moment in &explanation.moments {
        let strip = strip(moment, most);
        let bytes = strip.log_bytes.map_or("no file".to_owned(), |bytes| bytes.to_string());
        let when = &moment.when;
        writeln!(out, "{:10}{when:<28}[{}] {bytes}", "", strip.painted())?;
    }
    let range =
        place.filter(|place| place.file.as_ref().is_none_or(is_log)).and_then(|place| place.range.as_ref());
    if let Some(range) = range.filter(|range| range.start < most) {
        let width = (CELLS as u64).min(most);
        let from = usize::try_from(range.start * width / most).expect("a cell");
        let to = usize::try_from(range.end.min(most) * width / most).expect("a cell").max(from + 1);
        writeln!(
            out,
            "{:10}{:<28} {}{}",
            "",
            "what the check names",
            " ".repeat(from),
            "^".repeat(to - from)
        )?;
    }
    paragraph(out, "", LEGEND)?;
    let last = explanation.moments.last().map(|moment| moment.fenced.as_slice()).unwrap_or_default();
    match last {
        [] if asks_for_copies(explanation.failure.violation.check) => {
            paragraph(out, "", "nothing lies in a fence beside it")
        }
        files => files.iter().try_for_each(|(file, bytes)| {
            paragraph(out, "", &format!("in a fence: {file}, {}", counted(*bytes, "byte")))
        }),
    }
}

/// Whether a check asks where bytes went.
fn asks_for_copies(check: Check) -> bool {
    matches!(check, Check::I01 | Check::I02 | Check::I10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::explain::Batch;

    #[track_caller]
    fn check(log: &[u8], expected: &str) {
        let batch = |position, byte, is_promised| Batch { position, bytes: vec![byte; 4], is_promised };
        let moment = Moment {
            when: String::new(),
            log: Some(log.to_vec()),
            batches: vec![batch(0, 1, true), batch(4, 2, false), batch(8, 3, true)],
            fenced: Vec::new(),
        };
        assert_eq!(strip(&moment, 14).letters(), expected);
    }

    #[test]
    fn a_strip_shows_what_became_of_every_byte() {
        check(&[1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3], "PPPPWWWWPPPP  ");
        check(&[1, 1, 1, 1, 2, 2, 2, 2, 3, 3], "PPPPWWWWWW..  ");
        check(&[1, 9, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 7, 0], "WTWWWWWWZZZZXZ");
        check(&[], "............  ");
    }

    #[test]
    fn a_cell_shows_the_worst_that_lies_in_it() {
        let bytes = vec![1; 10 * CELLS];
        let batch = Batch { position: 0, bytes: bytes.clone(), is_promised: true };
        let mut log = bytes;
        log[15] = 9;
        let moment = Moment { when: String::new(), log: Some(log), batches: vec![batch], fenced: Vec::new() };
        let letters = strip(&moment, 10 * CELLS as u64).letters();
        assert_eq!(letters, format!("WT{}", "W".repeat(CELLS - 2)));
    }
}
