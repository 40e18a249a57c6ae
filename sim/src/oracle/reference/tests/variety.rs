//! Makes partition directories of every shape out of a run of numbers, whole ones and damaged ones.
//!
//! A run that is used up gives zeros, and zero is the plainest choice: an empty run is one small healthy
//! segment, and a shorter failing run is a simpler failing directory.

use recovery_core::units::Durability;

use crate::oracle::specimen::{
    ACCEPTED_LOSS, CLEAN_STOP, Directory, FLOOR, FRONTIER, INCARNATION, OPENED, RECOVERED, RESERVED, Record,
    batch_of, entry, ledger, mark, record, restamp, seal, superblock,
};
use crate::oracle::{Content, FileImage};

/// A run of numbers from which choices are drawn.
pub(super) struct Tape<'a> {
    words: std::slice::Iter<'a, u64>,
}

impl<'a> Tape<'a> {
    pub(super) fn new(words: &'a [u64]) -> Self {
        Self { words: words.iter() }
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        let word = self.words.next().copied().unwrap_or_default();
        usize::try_from((u128::from(word) * limit as u128) >> 64).unwrap()
    }

    /// True once in `times`.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    fn offset_below(&mut self, limit: usize) -> u64 {
        self.below(limit) as u64
    }
}

/// One segment as its writer left it.
struct Written {
    start: u64,
    log: Vec<u8>,
    index: Vec<u8>,
    /// Where its batches end, and the offset behind each.
    boundaries: Vec<(usize, u64)>,
}

/// A directory of any shape.
pub(super) fn directory(tape: &mut Tape<'_>) -> Directory {
    let mut directory = Directory::new();
    directory.durability = Durability::ALL[tape.below(3)];
    let has_ledger = tape.below(3) > 0;
    let segments = written_segments(tape, has_ledger);
    for segment in &segments {
        directory = directory.log(segment.start, segment.log.clone());
        if !tape.once_in(12) {
            directory = directory.index(segment.start, segment.index.clone());
        }
    }
    if has_ledger {
        if tape.once_in(4) {
            directory.incarnation = None;
        }
        let records = records(tape, &segments);
        directory = directory.file("ledger", ledger(&records));
    }
    if tape.once_in(6) {
        let frontier = tape.offset_below(20);
        directory = directory.file("superblock.a", superblock(1, frontier));
    }
    for _ in 0..tape.below(4) {
        damage(tape, &mut directory, &segments);
    }
    directory
}

fn written_segments(tape: &mut Tape<'_>, has_ledger: bool) -> Vec<Written> {
    let mut start = match tape.below(12) {
        10 => 1000,
        11 => u64::MAX - 1 - tape.offset_below(6),
        _ => 0,
    };
    let mut segments = Vec::new();
    for _ in 0..=tape.below(3) {
        let segment = written_segment(tape, start);
        let next = segment.boundaries.last().map_or(start, |(_, next)| *next);
        segments.push(segment);
        let gap = if has_ledger && tape.once_in(6) { 1 + tape.offset_below(9) } else { 0 };
        let Some(next_start) = next.checked_add(gap).filter(|next_start| *next_start > start) else { break };
        start = next_start;
    }
    segments
}

fn written_segment(tape: &mut Tape<'_>, start: u64) -> Written {
    let mut segment = Written { start, log: Vec::new(), index: Vec::new(), boundaries: Vec::new() };
    let mut next = start;
    for _ in 0..tape.below(5) + usize::from(!tape.once_in(10)) {
        let batch = written_batch(tape, next);
        let messages = u64::from(batch[48]);
        let Some(after) = next.checked_add(messages) else { break };
        if segment.log.is_empty() || !tape.once_in(3) {
            segment.index.extend(entry(next, segment.log.len()));
        }
        segment.log.extend(batch);
        next = after;
        segment.boundaries.push((segment.log.len(), next));
    }
    segment
}

fn written_batch(tape: &mut Tape<'_>, base_offset: u64) -> Vec<u8> {
    let messages = if tape.once_in(15) { 0 } else { 1 + tape.below(3) };
    let payloads: Vec<Vec<u8>> = (0..messages)
        .map(|_| {
            if tape.once_in(8) {
                // A log stored in a log.
                let inner = base_offset.checked_add(tape.offset_below(9)).unwrap_or(base_offset);
                batch_of(3, inner, &[&vec![b'i'; tape.below(60)]])
            } else {
                vec![b'x'; tape.below(120)]
            }
        })
        .collect();
    let payloads: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
    batch_of(3, base_offset, &payloads)
}

/// What a writer, and the ones before it, may have told the ledger.
fn records(tape: &mut Tape<'_>, segments: &[Written]) -> Vec<Record> {
    let first = segments[0].start;
    let mut records = vec![record(OPENED)];
    for (segment, later) in segments.iter().zip(segments.iter().skip(1).map(Some).chain([None])) {
        records.push(mark(FRONTIER, segment.start, &[]));
        for (end, _) in &segment.boundaries {
            if tape.once_in(2) {
                let kind = if tape.once_in(5) { RECOVERED } else { FRONTIER };
                records.push(mark(kind, segment.start, &segment.log[..*end]));
            }
        }
        if let Some(later) = later {
            records.push(seal(segment.start, &segment.log, later.start));
        }
    }
    let last = segments.last().unwrap();
    match tape.below(8) {
        0..3 => {}
        3 => records.push(mark(CLEAN_STOP, last.start, &last.log)),
        4 => {
            records.push(seal(last.start, &last.log, last.boundaries.last().map_or(last.start, |end| end.1)));
        }
        5 => records.push(record(RESERVED)),
        6 => {
            let segment = &segments[tape.below(segments.len())];
            let kept = tape.below(segment.boundaries.len() + 1);
            let (end, next) = segment.boundaries[..kept].last().copied().unwrap_or((0, segment.start));
            let lost_last = next.checked_add(tape.offset_below(6)).unwrap_or(next);
            let loss = mark(ACCEPTED_LOSS, segment.start, &segment.log[..end]);
            records.push(Record { numbers: [next, lost_last], ..loss });
        }
        _ => {
            let unneeded = tape.below(records.len());
            records.remove(unneeded);
            records.push(record(OPENED));
        }
    }
    let floor = if tape.once_in(6) { segments[tape.below(segments.len())].start } else { first };
    let reserved =
        if tape.once_in(5) { floor.checked_add(tape.offset_below(30)).unwrap_or(floor) } else { 0 };
    if tape.once_in(8) {
        records.push(record(FLOOR));
    }
    for record in &mut records {
        (record.floor, record.reserved) = (floor, reserved);
    }
    if tape.once_in(8) {
        let changed = tape.below(records.len());
        distort(tape, &mut records[changed]);
    }
    records
}

/// Changes a record whose checksum will match all the same.
fn distort(tape: &mut Tape<'_>, record: &mut Record) {
    match tape.below(8) {
        0 => record.epoch += 1,
        1 => record.slot = Some(tape.offset_below(4)),
        2 => record.incarnation = INCARNATION + 1,
        3 => record.namespace += 1,
        4 => record.mark[tape.below(4)] ^= 1,
        5 => record.floor = tape.offset_below(9),
        6 => record.mark[1] = tape.offset_below(1500),
        _ => record.numbers[0] ^= 1,
    }
}

/// One thing that goes wrong.
fn damage(tape: &mut Tape<'_>, directory: &mut Directory, segments: &[Written]) {
    let segment = &segments[tape.below(segments.len())];
    let extra = foreign_bytes(tape, segment);
    if directory.image.entries.is_empty() {
        return;
    }
    let chosen = tape.below(directory.image.entries.len());
    let is_name_damage = tape.once_in(5);
    if is_name_damage {
        return damage_names(tape, directory, chosen, segment);
    }
    let Content::File(file) = &mut directory.image.entries[chosen].content else { return };
    damage_bytes(tape, file, &extra);
}

/// A batch, or not, that could turn up where it does not belong.
fn foreign_bytes(tape: &mut Tape<'_>, segment: &Written) -> Vec<u8> {
    let next = segment.boundaries.last().map_or(segment.start, |(_, next)| *next);
    let near = next.wrapping_add(tape.offset_below(12)).wrapping_sub(3);
    let payload = vec![b'f'; tape.below(80)];
    match tape.below(6) {
        0 => batch_of(3, near, &[&payload]),
        1 => batch_of(2, near, &[&payload]),
        2 => batch_of(3, near, &[&payload, &payload, &payload]),
        3 => vec![0; tape.below(700)],
        4 => (0..tape.below(400)).map(|at| u8::try_from(at * 37 % 251).unwrap()).collect(),
        _ => segment.log.clone(),
    }
}

fn damage_bytes(tape: &mut Tape<'_>, file: &mut FileImage, extra: &[u8]) {
    let length = file.bytes.len();
    let at = tape.below(length + 1);
    let end = (at + tape.below(700)).min(length);
    match tape.below(11) {
        0 if at < length => file.bytes[at] ^= 1 << tape.below(8),
        1 => file.bytes[at..end].fill(0),
        2 => file.bytes[at..end].fill(0xa5),
        3 => file.bytes.truncate(at),
        4 | 5 => file.bytes.extend_from_slice(extra),
        6 => drop(file.bytes.splice(at..end, extra.iter().copied())),
        7 => drop(file.bytes.splice(at..at, extra.iter().copied())),
        8 => file.unreadable.push(at as u64..end as u64 + 1),
        9 => edit_header(tape, &mut file.bytes),
        _ => {
            let moved = file.bytes[at..end].to_vec();
            let to = tape.below(length + 1 - moved.len());
            file.bytes[to..to + moved.len()].copy_from_slice(&moved);
        }
    }
}

/// Edits a field of the first header and makes the checksum fit, if the bytes begin with a batch.
fn edit_header(tape: &mut Tape<'_>, bytes: &mut [u8]) {
    let claims = bytes.get(32..40).map(|length| u64::from_le_bytes(length.try_into().unwrap()));
    let Some(length) = claims.and_then(|length| usize::try_from(length).ok()) else { return };
    if length < 256 || length > bytes.len() {
        return;
    }
    bytes[[0, 8, 16, 24][tape.below(4)]] ^= 1 << tape.below(8);
    restamp(&mut bytes[..length]);
}

fn damage_names(tape: &mut Tape<'_>, directory: &mut Directory, chosen: usize, segment: &Written) {
    let stray = segment.start.wrapping_add(tape.offset_below(9));
    let taken = std::mem::take(directory);
    *directory = match tape.below(7) {
        0 | 1 => {
            let mut without = taken;
            without.image.entries.remove(chosen);
            without
        }
        2 => taken.log(stray, segment.log.clone()),
        3 => taken.log(stray, vec![0; tape.below(600)]),
        4 => taken.file("7.log", []),
        5 => taken.index(stray, segment.index.clone()),
        _ => {
            let mut changed = taken;
            let entry = &mut changed.image.entries[chosen];
            entry.content = [Content::Unopenable, Content::Directory, Content::Other][tape.below(3)].clone();
            changed
        }
    };
}
