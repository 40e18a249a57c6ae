//! One segment for people: one line if nothing is wrong with it, a block with its strip if something is.

use recovery_core::decide::Action;
use recovery_core::format::INDEX_ENTRY_BYTES;
use recovery_core::observe::{Evidence, IndexState, Residue, SegmentFacts, Stop};
use recovery_core::units::{Length, Position};

use super::Outcome;
use super::object::last_offset;
use super::stop_text;
use crate::palette::{BAD, DIM, GOOD, REPAIR, UNKNOWN, paint};
use crate::paragraph::{counted, paragraph};
use crate::strip::{Region, RegionKind, draw, legend, regions};

/// Regions listed one by one below a strip.
const REGIONS_LISTED_MAX: usize = 12;

/// Whether one line says all there is to say.
pub(super) fn is_whole(facts: &SegmentFacts, action: Action) -> bool {
    is_log_whole(facts) && facts.index.state == IndexState::Good && action == Action::Keep
}

/// Whether the log ends behind a whole batch, and nothing says that it went on.
fn is_log_whole(facts: &SegmentFacts) -> bool {
    facts.stop.stop() == Stop::End && facts.evidence != Evidence::Below
}

/// The line of a segment that has nothing wrong with it.
pub(super) fn whole_line(facts: &SegmentFacts) -> String {
    format!(
        "  {:020}  {}  {} bytes, {}\n",
        facts.start.get(),
        paint(GOOD, "whole"),
        facts.log_length,
        held(facts)
    )
}

/// The block of a segment that has something wrong with it.
pub(super) fn block(facts: &SegmentFacts, action: Action, outcome: Outcome) -> String {
    let share = if facts.proven.end == facts.log_length.as_position() {
        "all proven".to_owned()
    } else {
        format!("{} of them proven", facts.proven.end)
    };
    let mut text = format!(
        "  {:020}  {}  {} bytes, {share}\n",
        facts.start.get(),
        headline(facts, action),
        facts.log_length,
    );
    let mut line = |name: &str, sentence: &str| {
        text.push_str(&paragraph(&format!("    {name:<9}"), sentence));
    };
    line("proven", &proven(facts));
    line("stop", &stop(facts));
    if facts.residue.kind != Residue::None {
        line("residue", &residue(facts));
    }
    line("evidence", &evidence(facts));
    line("index", &index(facts));
    let is_applied = outcome == Outcome::Applied;
    if outcome != Outcome::Stopped {
        line("action", &action_sentence(action, is_applied));
    }
    let regions = regions(facts, is_applied && matches!(action, Action::Cut { .. }));
    if regions.iter().any(|region| region.kind != RegionKind::Proven) {
        text.push_str(&["    ", &draw(&regions), "\n", &region_list(&regions)].concat());
    }
    text
}

fn headline(facts: &SegmentFacts, action: Action) -> String {
    match (action, facts.stop.stop()) {
        // In what is not served every action is to keep, and the index may be bad all the same.
        (Action::Keep | Action::RebuildIndex, Stop::End) if is_log_whole(facts) => paint(REPAIR, "index"),
        (_, Stop::Unreadable) => paint(UNKNOWN, "unreadable"),
        (Action::Cut { .. }, _) => paint(REPAIR, "torn"),
        (Action::Keep | Action::RebuildIndex, _) => paint(BAD, "damaged"),
    }
}

/// Batches, messages and offsets of the proven prefix.
fn held(facts: &SegmentFacts) -> String {
    match last_offset(facts) {
        Some(last) => {
            format!("{}, offsets {} to {last}", counted(facts.proven.messages, "message"), facts.start)
        }
        None => "no message".to_owned(),
    }
}

fn proven(facts: &SegmentFacts) -> String {
    let held = format!("{}, {}", counted(facts.proven.batches, "batch"), held(facts));
    match facts.proven.delta_mismatches {
        0 => held,
        count => {
            format!("{held}; {} with a stored delta that is not its place", counted(count, "message"))
        }
    }
}

fn stop(facts: &SegmentFacts) -> String {
    let code = facts.stop.stop().code();
    format!(
        "{code} at byte {}: {}",
        facts.proven.end,
        stop_text::sentence(&facts.stop, facts.proven.next_offset)
    )
}

fn residue(facts: &SegmentFacts) -> String {
    let residue = &facts.residue;
    let bytes = counted(residue.length.get(), "byte");
    let first = |finds: &[recovery_core::observe::Find]| match finds.first() {
        Some(find) => format!(
            ", the first at byte {} with base offset {} of partition {}",
            find.position, find.base_offset, find.partition_id
        ),
        None => String::new(),
    };
    let strays = if residue.stray_count > 0 && residue.kind != Residue::Stray {
        format!("; also {}", counted(residue.stray_count, "stray"))
    } else {
        String::new()
    };
    let sentence = match residue.kind {
        Residue::None => "nothing".to_owned(),
        Residue::Zeros => format!("{bytes}, all zero"),
        Residue::Noise => format!("{bytes} in which no batch verifies"),
        Residue::Survivor => format!(
            "{bytes} with {} that would continue this partition{}",
            counted(residue.survivor_count, "whole batch"),
            first(&residue.survivors)
        ),
        Residue::Stray => format!(
            "{bytes} with {} that {} not continue this partition{}",
            counted(residue.stray_count, "whole batch"),
            if residue.stray_count == 1 { "does" } else { "do" },
            first(&residue.strays)
        ),
        Residue::Unproven => format!(
            "{bytes}, not all judged within the budget ({} looked at)",
            counted(residue.candidates, "candidate")
        ),
    };
    format!("{sentence}{strays}")
}

fn evidence(facts: &SegmentFacts) -> String {
    let mark = match facts.mark {
        Some(mark) => {
            format!("; durable up to byte {}, offset {} exclusive", mark.position, mark.next_offset)
        }
        None => String::new(),
    };
    let relation = match facts.evidence {
        Evidence::Unknown => "unknown: no record says what was durable here",
        Evidence::Below => "below: bytes behind the stop were made durable",
        Evidence::AtOrAbove => "at or above: nothing behind the stop is known to have been durable",
    };
    format!("{relation}{mark}")
}

fn index(facts: &SegmentFacts) -> String {
    let index = &facts.index;
    let entries = counted(index.entries, "entry");
    match (index.state, index.length) {
        (IndexState::Good | IndexState::PartialTail | IndexState::Wrong, _)
            if facts.stop.stop() == Stop::Unreadable =>
        {
            format!("not judged beside what cannot be read, {entries}")
        }
        (IndexState::Good, _) => format!("good, {entries}"),
        (IndexState::Absent, None) => "absent".to_owned(),
        (IndexState::Absent, Some(length)) => format!("absent: the file has {length} bytes and no entry"),
        (IndexState::PartialTail, length) => {
            let odd = length.map_or(0, |length| length.get() % INDEX_ENTRY_BYTES as u64);
            let none = if odd == 1 { "that is none" } else { "that are none" };
            format!("partial tail: {entries}, then {} {none}", counted(odd, "byte"))
        }
        (IndexState::Wrong, _) => format!("wrong: of {entries}, not all name a proven batch in order"),
    }
}

fn action_sentence(action: Action, is_applied: bool) -> String {
    let cut = |at: Position| {
        if is_applied {
            format!("the log ends at byte {at} now")
        } else {
            format!("apply would end the log at byte {at}")
        }
    };
    match action {
        Action::Keep => "keep: not touched".to_owned(),
        Action::RebuildIndex if is_applied => "rebuild-index: written anew".to_owned(),
        Action::RebuildIndex => "rebuild-index: apply would write it anew".to_owned(),
        Action::Cut { at, save } if save == Length::ZERO => {
            format!("cut: {}; zeros are not copied aside", cut(at))
        }
        Action::Cut { at, save } => format!("cut: {}, {save} bytes copied aside first", cut(at)),
    }
}

/// The regions with their positions; of many, the first ones and a legend.
fn region_list(regions: &[Region]) -> String {
    let runs: Vec<&[Region]> = regions.chunk_by(|left, right| left.kind == right.kind).collect();
    let mut lines: Vec<String> = runs.iter().take(REGIONS_LISTED_MAX).map(|run| region_line(run)).collect();
    if runs.len() > REGIONS_LISTED_MAX {
        let more = counted((runs.len() - REGIONS_LISTED_MAX) as u64, "more region");
        let kinds: Vec<_> = regions.iter().map(|region| region.kind).collect();
        lines.push(format!("     {}\n", paint(DIM, &format!("and {more}"))));
        lines.push(format!("     {}\n", legend(&kinds)));
    }
    lines.concat()
}

/// Neighbours of one kind, on one line.
fn region_line(run: &[Region]) -> String {
    let (first, last) = (run[0], run[run.len() - 1]);
    let letter = paint(first.kind.style(), &first.kind.letter().to_string());
    let word = match run.len() {
        1 => first.kind.word().to_owned(),
        count => counted(count as u64, first.kind.word()),
    };
    format!("     {letter} {} to {}  {word}\n", first.from, last.to)
}
