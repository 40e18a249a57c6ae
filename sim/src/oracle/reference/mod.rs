//! A second, slow and simple reading of DESIGN sections 3 to 6: the reference recoverer.
//!
//! It looks at one image of a partition directory with whole files in memory and says what recovery must
//! conclude. It shares no code with the core's walker, probe, ledger reader, table or formats, only the
//! words that name results, so that where the two agree, two readings of the design agree.
//!
//! Promises: a verdict on every image, a pure function of it; no panic on any bytes.
//! Leaves out: budgets (it has none, so a residue is never "unproven" to it), plans, and anything that
//! comes and goes. Positions are `usize` within, since every file is a slice in memory.

mod agreement;
mod batch;
mod file_names;
mod heard;
mod index;
mod known_end;
mod ledger_record;
mod little_endian;
mod relation;
mod rest;
mod rules;
mod superblock;
mod testimony;
#[cfg(test)]
mod tests;
mod verified;
mod walk;

use recovery_core::observe::{Evidence, Expectation, IndexState, Residue, Stop};
use recovery_core::units::{Incarnation, Length, Offset, SegmentStart};

pub use agreement::{agrees, looks_at_all, serves_alike};
pub use heard::Heard;
pub(in crate::oracle) use verified::verified_batches;
pub use verified::{VerifiedBatch, is_whole_batch, verified_prefix};

use self::rules::{Findings, Judgement, SegmentFindings, judge};
use self::testimony::{Ledger, Testimony};
use super::{Content, Image};

/// What recovery must conclude about one image.
#[derive(Clone, Debug)]
pub struct Reference {
    /// What happens to the partition.
    pub disposition: Disposition,
    /// The offset that the next message gets; `None` when it is not served.
    pub next_offset: Option<Offset>,
    /// One behind the largest offset of a survivor that is cut; `None` if none is.
    pub reserve: Option<Offset>,
    /// Segments at or above the floor, ascending; none when unavailable.
    pub segments: Vec<ReferenceSegment>,
    /// Segments below the floor, ascending.
    pub expired: Vec<SegmentStart>,
    findings: Option<Findings>,
}

/// What happens to the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Served, without a gap behind the last offset of the chain.
    Serve,
    /// Served, with a gap.
    ServeFrom {
        /// First offset of the gap.
        first: Offset,
        /// Last offset of the gap, inclusive.
        last: Offset,
    },
    /// Not served, and not touched.
    Refuse {
        /// The reason's permanent code.
        code: &'static str,
        /// The segment that the reason names, if it names one.
        segment: Option<SegmentStart>,
    },
    /// Something cannot be read.
    Unavailable,
}

impl Disposition {
    /// Serving from `next`, where the chain ends before `chain_end`.
    fn serve_from(chain_end: Offset, next: Offset) -> Self {
        match next.before() {
            Some(last) if last >= chain_end => Self::ServeFrom { first: chain_end, last },
            Some(_) | None => Self::Serve,
        }
    }

    /// The permanent word for this disposition.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Serve => "serve",
            Self::ServeFrom { .. } => "serve-from",
            Self::Refuse { .. } => "refuse",
            Self::Unavailable => "unavailable",
        }
    }
}

/// What happens to one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Keep,
    /// Its index is written anew.
    RebuildIndex,
    /// Its log ends at the proven end from now on.
    Cut,
}

impl Action {
    /// The permanent word for this action.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::RebuildIndex => "rebuild-index",
            Self::Cut => "cut",
        }
    }
}

/// What is true of one segment, and what happens to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each field is the field of the same name in `recover --json`")]
pub struct ReferenceSegment {
    pub start: SegmentStart,
    pub log_bytes: Length,
    pub proven_bytes: Length,
    /// One behind the last proven offset; the segment's start if it holds no message.
    pub next_offset: Offset,
    pub messages: u64,
    pub batches: u64,
    pub stop: Stop,
    pub residue: Residue,
    pub evidence: Evidence,
    pub index: IndexState,
    pub action: Action,
    pub saved_bytes: Length,
}

/// What recovery must conclude about `image`.
///
/// The rules are DESIGN sections 3 to 6.
///
/// # Examples
///
/// ```
/// use recovery_core::format::FileName;
/// use recovery_core::observe::Expectation;
/// use recovery_core::units::{Length, Namespace, Offset, SegmentStart};
/// use sim::oracle::reference::{Action, Disposition, recover};
/// use sim::oracle::{Content, FileImage, Image, ImageEntry};
///
/// // A partition whose only log is 300 bytes of noise, and no ledger.
/// let noise = FileImage::readable(vec![0x5a; 300]);
/// let log = ImageEntry { name: FileName::log(SegmentStart::ZERO), content: Content::File(noise) };
/// let image = Image { entries: vec![log], is_listable: true };
/// let reference = recover(&image, &Expectation::of(Namespace { stream: 1, topic: 1, partition: 0 }));
/// // Nobody was promised anything: all of it is set aside and cut.
/// assert_eq!((reference.disposition, reference.next_offset), (Disposition::Serve, Some(Offset::ZERO)));
/// let segment = reference.segments[0];
/// assert_eq!((segment.action, segment.saved_bytes), (Action::Cut, Length::new(300)));
/// ```
pub fn recover(image: &Image, expected: &Expectation) -> Reference {
    let Some((findings, expired)) = find(image, expected) else {
        return Reference {
            disposition: Disposition::Unavailable,
            next_offset: None,
            reserve: None,
            segments: Vec::new(),
            expired: Vec::new(),
            findings: None,
        };
    };
    conclude(findings, expired)
}

/// The contents of a regular file. What has its name and is none is no file, and refuses by its name.
#[derive(Clone, Copy, Debug)]
enum Contents<'a> {
    Missing,
    Unreadable,
    Bytes(&'a [u8]),
}

fn contents<'a>(image: &'a Image, name: &[u8]) -> Contents<'a> {
    match image.find(name) {
        None | Some(Content::Directory | Content::Other) => Contents::Missing,
        Some(Content::File(file)) if file.is_readable() => Contents::Bytes(&file.bytes),
        Some(Content::File(_) | Content::Unopenable) => Contents::Unreadable,
    }
}

/// The bytes of a file for which a missing one counts as an empty one; `None` if it cannot be read.
fn bytes_or_empty<'a>(image: &'a Image, name: &[u8]) -> Option<&'a [u8]> {
    match contents(image, name) {
        Contents::Missing => Some(&[]),
        Contents::Unreadable => None,
        Contents::Bytes(bytes) => Some(bytes),
    }
}

/// Everything there is to know, and the expired segments; `None` if something that must be read cannot be.
fn find(image: &Image, expected: &Expectation) -> Option<(Findings, Vec<SegmentStart>)> {
    if !image.is_listable {
        return None;
    }
    let ledger_bytes = testimony::bytes(image)?;
    let incarnation = expected.incarnation.map(Incarnation::get);
    let (testimony, is_foreign_ledger) =
        match testimony::hear(ledger_bytes, expected.namespace.packed(), incarnation) {
            Ledger::None => (None, false),
            Ledger::Foreign => (None, true),
            Ledger::Own(testimony) => (Some(testimony), false),
        };
    let superblock = superblock::read_pair(
        bytes_or_empty(image, b"superblock.a")?,
        bytes_or_empty(image, b"superblock.b")?,
        expected.superblock,
    );
    let (names, has_unexpected_file) = segments_by_name(image);
    let floor = testimony.as_ref().map_or(0, |testimony| testimony.floor);
    let mut segments = Vec::new();
    let mut expired = Vec::new();
    let starts: Vec<u64> = names.iter().map(|(start, _)| *start).collect();
    for (start, content) in names {
        if start < floor {
            expired.push(SegmentStart::new(start));
        } else {
            let next_start = starts.iter().copied().find(|next| *next > start);
            let testimony = testimony.as_ref();
            segments.push(find_segment(image, expected, testimony, (start, next_start), content)?);
        }
    }
    let findings = Findings { is_foreign_ledger, superblock, has_unexpected_file, testimony, segments };
    Some((findings, expired))
}

/// The logs that are segments, ascending, and whether there is a name that should not be: of a log that is
/// none, or of a file that recovery needs on what is no regular file.
fn segments_by_name(image: &Image) -> (Vec<(u64, &Content)>, bool) {
    let mut segments = Vec::new();
    let mut has_unexpected_file = false;
    for entry in &image.entries {
        if !file_names::is_log(entry.name.as_bytes()) {
            let is_file = matches!(entry.content, Content::File(_) | Content::Unopenable);
            has_unexpected_file |= !is_file && is_needed(image, entry.name.as_bytes());
            continue;
        }
        match (file_names::segment_of_log(entry.name.as_bytes()), &entry.content) {
            (Some(start), content @ (Content::File(_) | Content::Unopenable)) => {
                segments.push((start, content));
            }
            (Some(_), Content::Directory | Content::Other) | (None, _) => has_unexpected_file = true,
        }
    }
    segments.sort_unstable_by_key(|(start, _)| *start);
    (segments, has_unexpected_file)
}

/// Whether recovery needs this name for a regular file, beside the logs.
fn is_needed(image: &Image, name: &[u8]) -> bool {
    let fixed: [&[u8]; 4] = [b"ledger", b"ledger.staging", b"superblock.a", b"superblock.b"];
    fixed.contains(&name)
        || file_names::log_beside(name)
            .and_then(|log| image.find(&log))
            .is_some_and(|log| matches!(log, Content::File(_) | Content::Unopenable))
}

fn find_segment(
    image: &Image,
    expected: &Expectation,
    testimony: Option<&Testimony>,
    (start, next_start): (u64, Option<u64>),
    content: &Content,
) -> Option<SegmentFindings> {
    let Content::File(file) = content else { return None };
    if !file.is_readable() {
        return None;
    }
    let log = &file.bytes[..];
    let index_bytes = match contents(image, &file_names::index_name(start)) {
        Contents::Missing => None,
        Contents::Unreadable => return None,
        Contents::Bytes(bytes) => Some(bytes),
    };
    let place = walk::Place {
        namespace: expected.namespace.packed(),
        partition_id: expected.namespace.partition_id().get(),
        segment: start,
        testimony,
    };
    let walk = walk::walk(log, place);
    let mut barred = testimony.map_or(Vec::new(), Testimony::gaps);
    barred.extend(next_start.map(|next| (next, u64::MAX)));
    let chain = rest::Chain { partition_id: place.partition_id, next_offset: walk.next_offset, barred };
    let rest = rest::look(log, walk.end, &chain);
    let is_accepting = testimony.is_some_and(|testimony| testimony.accepting.contains(&start));
    let carried = if is_accepting { rest.runs } else { Vec::new() };
    let evidence =
        relation::evidence(start, &walk, testimony, expected.durability, index_bytes.unwrap_or(&[]));
    Some(SegmentFindings {
        start,
        log_bytes: log.len() as u64,
        proven_bytes: walk.end as u64,
        next_offset: walk.next_offset,
        messages: walk.messages,
        batches: walk.batches.len() as u64,
        stop: walk.stop,
        residue: rest.kind,
        survivors_next_offset: rest.survivors.iter().map(|(_, next)| *next).max(),
        survivors: rest.survivors,
        has_bait: rest.has_bait,
        carried,
        evidence,
        index: index::state(index_bytes, &walk.batches),
    })
}

fn conclude(findings: Findings, expired: Vec<SegmentStart>) -> Reference {
    let (disposition, next_offset, reserve) = match judge(&findings) {
        Judgement::Serve { chain_end, next_offset, cut_survivors_next_offset } => {
            let next_offset = Offset::new(next_offset);
            let disposition = Disposition::serve_from(Offset::new(chain_end), next_offset);
            (disposition, Some(next_offset), cut_survivors_next_offset.map(Offset::new))
        }
        Judgement::Refuse { code, segment } => {
            (Disposition::Refuse { code, segment: segment.map(SegmentStart::new) }, None, None)
        }
    };
    let is_served = next_offset.is_some();
    let segments = findings.segments.iter().map(|segment| described(segment, is_served)).collect();
    Reference { disposition, next_offset, reserve, segments, expired, findings: Some(findings) }
}

fn described(segment: &SegmentFindings, is_served: bool) -> ReferenceSegment {
    let action = if !is_served {
        Action::Keep
    } else if segment.is_cut() {
        Action::Cut
    } else if segment.index == IndexState::Good {
        Action::Keep
    } else {
        Action::RebuildIndex
    };
    let rest_bytes = segment.log_bytes.checked_sub(segment.proven_bytes).expect("a prefix is no longer");
    let is_saved = action == Action::Cut && segment.residue != Residue::Zeros;
    ReferenceSegment {
        start: SegmentStart::new(segment.start),
        log_bytes: Length::new(segment.log_bytes),
        proven_bytes: Length::new(segment.proven_bytes),
        next_offset: Offset::new(segment.next_offset),
        messages: segment.messages,
        batches: segment.batches,
        stop: segment.stop,
        residue: segment.residue,
        evidence: segment.evidence,
        index: segment.index,
        action,
        saved_bytes: Length::new(if is_saved { rest_bytes } else { 0 }),
    }
}
