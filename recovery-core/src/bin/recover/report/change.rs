//! What a plan comes to, in one line.

use recovery_core::plan::Step;

use crate::paragraph::counted;

/// Whether the steps are still to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tense {
    /// They were taken.
    Past,
    /// They would be.
    Future,
}

/// How often a plan does what.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    bytes_copied: u64,
    logs_cut: u64,
    files_set_aside: u64,
    indexes_written: u64,
    records_added: u64,
    segments_made: u64,
}

impl Tally {
    fn of(steps: &[Step]) -> Self {
        let mut tally = Self::default();
        for step in steps {
            match step {
                Step::SaveResidue { length, .. } | Step::SaveIndex { length, .. } => {
                    tally.bytes_copied += length.get();
                }
                Step::CutLog { .. } => tally.logs_cut += 1,
                Step::SetAside { .. } => tally.files_set_aside += 1,
                Step::InstallIndex { .. } => tally.indexes_written += 1,
                Step::InstallRun { .. } => tally.segments_made += 1,
                Step::RecordSealed { .. }
                | Step::RecordFrontier { .. }
                | Step::ReserveOffset { .. }
                | Step::RecordRecovered { .. }
                | Step::RecordCleanStop { .. } => {
                    tally.records_added += 1;
                }
                Step::StageRun { .. }
                | Step::Identify { .. }
                | Step::MakeFence
                | Step::CheckZeros { .. }
                | Step::WriteReason
                | Step::SyncFence
                | Step::StageIndex { .. }
                | Step::SyncDirectory => {}
            }
        }
        tally
    }
}

/// The steps by what they change.
pub(super) fn summary(steps: &[Step], tense: Tense) -> String {
    let tally = Tally::of(steps);
    let verb = |future: &'static str, past: &'static str| match tense {
        Tense::Future => future,
        Tense::Past => past,
    };
    let parts = [
        (tally.segments_made, verb("carry batches over into", "carried batches over into"), "segment", ""),
        (tally.bytes_copied, verb("copy", "copied"), "byte", " aside"),
        (tally.logs_cut, "cut", "log", ""),
        (tally.files_set_aside, verb("move", "moved"), "file", " aside"),
        (tally.indexes_written, verb("write", "wrote"), "index", " anew"),
        (tally.records_added, verb("add", "added"), "record", " to the ledger"),
    ];
    let told: Vec<String> = parts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, verb, noun, rest)| format!("{verb} {}{rest}", counted(count, noun)))
        .collect();
    told.join(", ")
}
