//! The header of the batch where it broke, as it lies there and as it was written.

use recovery_core::format::{BATCH_HEADER_BYTES, FileName};

use super::facts::whole_end;
use super::moments::Around;
use super::place::Place;
use crate::oracle::boot_view::bytes_of;
use crate::schedule::{HeaderField, Word};
use crate::world::{BootTold, PartitionLeft};

/// Bytes of a header that hold anything; the rest is zero.
const SHOWN_BYTES: usize = 64;

/// A stretch of a log around a batch header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The moment it is from, in words.
    pub when: &'static str,
    /// The log.
    pub file: String,
    /// Position of its first byte.
    pub position: u64,
    /// What lies there: fewer bytes where the file ends.
    pub found: Vec<u8>,
    /// What was written there; `None` where nobody wrote a batch.
    pub written: Option<Vec<u8>>,
    /// The fields that the bytes hold whole.
    pub fields: Vec<FieldRow>,
    /// The first byte behind the header that is not as it was written, as a position in the file.
    pub first_wrong_behind: Option<u64>,
}

/// One field of the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRow {
    /// Its name.
    pub field: &'static str,
    /// What it holds.
    pub found: u64,
    /// What was written.
    pub written: Option<u64>,
}

pub(super) fn window(place: &Place, boot: Option<&BootTold>, around: &Around) -> Option<Window> {
    let segment = place.segment?;
    let (when, left) = match around.before_start() {
        Some(left) => ("as recovery found it", left),
        None => ("as it lies there in the end", around.last()?),
    };
    let file = FileName::log(segment);
    let log = bytes_of(&left.image.directory, &file).unwrap_or_default();
    let is_log = place.file.is_none_or(|named| named == file);
    let proven = boot.and_then(|boot| {
        let facts = boot.facts.segments.iter().find(|facts| facts.start == segment)?;
        Some(facts.proven.end.get())
    });
    let whole = whole_end(left, segment);
    let named = place.range.as_ref().filter(|_| is_log).map(|range| range.start);
    let focus = named.unwrap_or_else(|| proven.map_or(whole, |proven| proven.min(whole)));
    let batch = batch_at(left, place, focus);
    let position = batch.map_or(focus, |(position, _)| position);
    let from = usize::try_from(position).ok()?;
    let found = log.get(from..).unwrap_or_default();
    let written = batch.map(|(_, bytes)| bytes);
    if found.is_empty() && written.is_none() {
        return None;
    }
    let header = |bytes: &[u8]| bytes[..bytes.len().min(SHOWN_BYTES)].to_vec();
    let wrong = written.and_then(|written| {
        let differing = (BATCH_HEADER_BYTES..written.len()).find(|at| found.get(*at) != Some(&written[*at]));
        differing.map(|at| position + at as u64)
    });
    Some(Window {
        when,
        file: file.to_string(),
        position,
        fields: fields(found, written),
        found: header(found),
        written: written.map(header),
        first_wrong_behind: wrong,
    })
}

/// The newest batch written over a byte of a log.
fn batch_at<'a>(left: &'a PartitionLeft, place: &Place, at: u64) -> Option<(u64, &'a [u8])> {
    let covers = |write: &&crate::oracle::truth::Write| {
        let range = write.position..write.position + u64::from(write.length);
        Some(write.segment) == place.segment && range.contains(&at)
    };
    let write = left.truth.writes().iter().rev().find(covers)?;
    Some((write.position, left.truth.bytes_of(write)))
}

fn fields(found: &[u8], written: Option<&[u8]>) -> Vec<FieldRow> {
    let decoded =
        HeaderField::WORDS.iter().filter(|field| **field != HeaderField::Reserved).filter_map(|field| {
            let found = number(found, *field)?;
            Some(FieldRow {
                field: field.code(),
                found,
                written: written.and_then(|bytes| number(bytes, *field)),
            })
        });
    decoded.collect()
}

fn number(bytes: &[u8], field: HeaderField) -> Option<u64> {
    let span = field.span();
    let (at, width) = (span.at as usize, span.width_bytes as usize);
    let mut value = [0; 8];
    value[..width].copy_from_slice(bytes.get(at..at + width)?);
    Some(u64::from_le_bytes(value))
}
