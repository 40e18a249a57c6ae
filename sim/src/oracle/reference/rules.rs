//! The two tables of DESIGN section 6, read once more.
//!
//! Promises: one disposition and one action a segment, from plain facts.
//! Leaves out: the numbers of a reason and its sentence; only code and segment are compared.

use recovery_core::observe::{Evidence, IndexState, Residue, Stop};

use super::rest::Run;
use super::superblock::Superblock;
use super::testimony::Testimony;

/// Everything found in one partition directory that can be read from end to end.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    pub(super) is_foreign_ledger: bool,
    pub(super) superblock: Superblock,
    pub(super) has_unexpected_file: bool,
    pub(super) testimony: Option<Testimony>,
    /// Segments at or above the floor, ascending.
    pub(super) segments: Vec<SegmentFindings>,
}

/// Everything found about one segment.
#[derive(Clone, Debug)]
pub(super) struct SegmentFindings {
    pub(super) start: u64,
    pub(super) log_bytes: u64,
    pub(super) proven_bytes: u64,
    pub(super) next_offset: u64,
    pub(super) messages: u64,
    pub(super) batches: u64,
    pub(super) stop: Stop,
    pub(super) residue: Residue,
    pub(super) survivors_next_offset: Option<u64>,
    /// Offsets of each survivor: its first, and one behind its last.
    pub(super) survivors: Vec<(u64, u64)>,
    /// Whether a budget for looking at the residue can run out.
    pub(super) has_bait: bool,
    /// What is still to be carried over behind an accepted loss.
    pub(super) carried: Vec<Run>,
    pub(super) evidence: Evidence,
    pub(super) index: IndexState,
}

/// What the first table says about one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ruling {
    Keep,
    Cut,
    Refuse(&'static str),
}

/// What the tables say about a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Served from `next_offset` on.
    Serve {
        /// One behind the last offset of the chain, the start of its last segment if that is empty.
        chain_end: u64,
        /// The next offset.
        next_offset: u64,
        /// One behind the largest offset of a survivor that is cut.
        cut_survivors_next_offset: Option<u64>,
    },
    /// Not served.
    Refuse {
        /// The reason's code.
        code: &'static str,
        /// The segment it names.
        segment: Option<u64>,
    },
}

const fn refuse(code: &'static str, segment: Option<u64>) -> Judgement {
    Judgement::Refuse { code, segment }
}

/// The first table: one segment by itself.
fn rule(segment: &SegmentFindings) -> Ruling {
    let misplaced = |code| match segment.evidence {
        Evidence::Below | Evidence::Unknown => Ruling::Refuse(code),
        Evidence::AtOrAbove => Ruling::Cut,
    };
    match segment.stop {
        Stop::End => match segment.evidence {
            Evidence::Below => Ruling::Refuse("lost-durable"),
            Evidence::Unknown | Evidence::AtOrAbove => Ruling::Keep,
        },
        Stop::Short | Stop::Undecodable | Stop::BadChecksum | Stop::Overrun => match segment.evidence {
            Evidence::Below => Ruling::Refuse("lost-durable"),
            Evidence::AtOrAbove => Ruling::Cut,
            Evidence::Unknown => match segment.residue {
                Residue::Survivor => Ruling::Refuse("interior-damage"),
                Residue::Unproven => Ruling::Refuse("unproven-residue"),
                Residue::None | Residue::Zeros | Residue::Noise | Residue::Stray => Ruling::Cut,
            },
        },
        Stop::Foreign => misplaced("foreign-batch"),
        Stop::Gap | Stop::Regression => misplaced("offset-discontinuity"),
        Stop::Overflow => misplaced("offset-overflow"),
        // Whole, and larger than any door lets in: never cut, whatever the ledger says.
        Stop::Oversize => Ruling::Refuse("record-ceiling"),
        Stop::Conflict => Ruling::Refuse("evidence-conflict"),
        Stop::Unreadable => unreachable!("an image with bytes that cannot be read is not judged"),
    }
}

impl SegmentFindings {
    /// Whether a segment that is served loses its residue.
    pub(super) fn is_cut(&self) -> bool {
        rule(self) == Ruling::Cut
    }

    fn is_empty_or_zeros(&self) -> bool {
        self.log_bytes == 0 || (self.proven_bytes == 0 && self.residue == Residue::Zeros)
    }
}

/// The second table: the partition and its chain, row by row in their order.
pub(super) fn judge(findings: &Findings) -> Judgement {
    if findings.is_foreign_ledger || findings.superblock == Superblock::Foreign {
        return refuse("identity-mismatch", None);
    }
    if findings.superblock == Superblock::Unreadable {
        return refuse("superblock-unreadable", None);
    }
    if findings.has_unexpected_file {
        return refuse("unexpected-file", None);
    }
    let segments = &findings.segments;
    if let Some(segment) = missing_segment(findings) {
        return refuse("missing-segment", Some(segment));
    }
    for segment in segments {
        if let Ruling::Refuse(code) = rule(segment) {
            return refuse(code, Some(segment.start));
        }
    }
    broken_chain(findings).unwrap_or_else(|| serve(findings))
}

/// A segment that has a mark and no file, or what lies between the floor and the first file.
fn missing_segment(findings: &Findings) -> Option<u64> {
    let testimony = findings.testimony.as_ref()?;
    let is_present = |start: u64| findings.segments.iter().any(|segment| segment.start == start);
    let marked = testimony.marks.iter().map(|mark| mark.segment).filter(|start| !is_present(*start)).min();
    let first = findings.segments.first().filter(|first| first.start > testimony.floor);
    marked.or(first.map(|_| testimony.floor))
}

/// One segment of the chain as it will be once everything is carried over.
#[derive(Clone, Copy)]
struct Part {
    start: u64,
    next_offset: u64,
    batches: u64,
}

fn parts(findings: &Findings) -> Vec<Part> {
    let mut parts = Vec::new();
    for segment in &findings.segments {
        let &SegmentFindings { start, next_offset, batches, proven_bytes, .. } = segment;
        let mut own = Part { start, next_offset, batches };
        let mut carried = segment.carried.iter().peekable();
        let is_own = |run: &&&Run| {
            run.first == start || (run.first == next_offset && run.position as u64 == proven_bytes)
        };
        if let Some(run) = carried.peek().filter(is_own) {
            own = Part { next_offset: run.next, batches: batches + 1, ..own };
            carried.next();
        }
        parts.push(own);
        parts.extend(carried.map(|run| Part { start: run.first, next_offset: run.next, batches: 1 }));
    }
    parts
}

fn broken_chain(findings: &Findings) -> Option<Judgement> {
    let parts = parts(findings);
    let neighbours = || parts.iter().zip(parts.iter().skip(1));
    let explains = |first, next| {
        findings.testimony.as_ref().is_some_and(|testimony| testimony.explains_gap(first, next))
    };
    if let Some((earlier, _)) = neighbours().find(|(earlier, later)| later.start < earlier.next_offset) {
        return Some(refuse("overlap", Some(earlier.start)));
    }
    if is_served_empty(findings) {
        return None;
    }
    let is_sealed_empty = |segment: &Part| {
        let seal = findings.testimony.as_ref().and_then(|testimony| testimony.seal(segment.start));
        seal.is_some_and(|seal| seal.length == 0)
    };
    // What an accepted loss explains was empty for a reason: a crash after that record must repeat it.
    let is_unexplained = |earlier: &Part, later: &Part| {
        later.start > earlier.next_offset && !explains(earlier.next_offset, later.start)
    };
    let is_empty = |segment: &Part| segment.batches == 0 && !is_sealed_empty(segment);
    if let Some((earlier, _)) =
        neighbours().find(|(earlier, later)| is_empty(earlier) && is_unexplained(earlier, later))
    {
        return Some(refuse("empty-non-tail-segment", Some(earlier.start)));
    }
    if let Some((earlier, _)) = neighbours().find(|(earlier, later)| is_unexplained(earlier, later)) {
        return Some(refuse("hole", Some(earlier.start)));
    }
    None
}

/// Whether there is nothing at all: every log is without bytes or zeros, and no mark says otherwise.
fn is_served_empty(findings: &Findings) -> bool {
    let has_marked_bytes = findings
        .testimony
        .as_ref()
        .is_some_and(|testimony| testimony.marks.iter().any(|mark| mark.position > 0));
    !has_marked_bytes && findings.segments.iter().all(SegmentFindings::is_empty_or_zeros)
}

fn serve(findings: &Findings) -> Judgement {
    let testimony = findings.testimony.as_ref();
    let floor = testimony.map_or(0, |testimony| testimony.floor);
    let chain_end = parts(findings).last().map_or(floor, |last| last.next_offset);
    let cut_survivors_next_offset = findings
        .segments
        .iter()
        .filter(|segment| segment.is_cut())
        .filter_map(|segment| segment.survivors_next_offset)
        .max();
    let seals = testimony.map_or(&[][..], |testimony| &testimony.seals);
    let gaps = testimony.map_or(Vec::new(), Testimony::gaps);
    let superblock_frontier = match findings.superblock {
        Superblock::Frontier(frontier) => frontier,
        Superblock::Foreign | Superblock::Unreadable => {
            unreachable!("a partition whose superblock is not its own is not served")
        }
    };
    let lower_bounds =
        [chain_end, floor, superblock_frontier, testimony.map_or(0, |testimony| testimony.reserved_offset)];
    let next_offset = lower_bounds
        .into_iter()
        .chain(seals.iter().map(|seal| seal.next_start))
        .chain(gaps.iter().map(|(_, next)| *next))
        .chain(cut_survivors_next_offset)
        .max()
        .expect("there are always lower bounds");
    Judgement::Serve { chain_end, next_offset, cut_survivors_next_offset }
}
