//! What a person may do next: lines of their own, so that facts stay facts.
//!
//! Promises: a hint names nothing that this build cannot do.

use recovery_core::decide::{Disposition, Reason};
use recovery_core::observe::Unavailable;

use super::{Mode, Report};
use crate::exit::Exit;

/// Advice, each a sentence of its own.
pub(super) fn hints(report: &Report<'_>) -> Vec<String> {
    let mut hints = Vec::new();
    let directory = report.target.given.display();
    if let Some(spelt) = report.target.overruled {
        hints.push(format!("the path spells partition {spelt}, and --namespace overrules it"));
    }
    match &report.found.verdict.disposition {
        Disposition::Serve | Disposition::ServeFrom { .. } => match report.mode {
            Mode::Check if report.exit() == Exit::Repair => {
                hints.push(format!("recover plan {directory} lists the steps"));
            }
            Mode::Plan if report.exit() == Exit::Repair => {
                hints.push(format!("recover apply {directory} takes these steps"));
            }
            Mode::Check | Mode::Plan | Mode::Apply => {}
        },
        Disposition::Refuse(reason) => hints.extend(for_reason(reason, report.replicas)),
        Disposition::Unavailable(Unavailable::Locked) => {
            hints.push("a server or another recover has the partition open; stop it first".to_owned());
        }
        Disposition::Unavailable(Unavailable::Io(_)) if report.found.failed.is_some() => {
            hints.push(
                "once the error clears, apply again: it finds what is done and does the rest".to_owned(),
            );
        }
        Disposition::Unavailable(Unavailable::Io(_)) => {
            hints.push(
                "an error says nothing about the bytes; once it clears, run the command again".to_owned(),
            );
        }
    }
    hints
}

fn for_reason(reason: &Reason, replicas: u8) -> Option<String> {
    match reason {
        Reason::UnexpectedFile { .. } => {
            Some("move the entry out of the directory if it does not belong to the log".to_owned())
        }
        Reason::IdentityMismatch { .. } | Reason::ForeignBatch { .. } => {
            Some("see that the directory lies where it belongs, and that the namespace is right".to_owned())
        }
        Reason::LostDurable { .. }
        | Reason::InteriorDamage { .. }
        | Reason::UnprovenResidue { .. }
        | Reason::OffsetDiscontinuity { .. }
        | Reason::OffsetOverflow { .. }
        | Reason::RecordCeiling { .. }
        | Reason::Hole { .. }
        | Reason::Overlap { .. }
        | Reason::EmptyNonTailSegment { .. }
        | Reason::MissingSegment { .. }
        | Reason::SuperblockUnreadable { .. }
        | Reason::EvidenceConflict { .. }
        | Reason::MissingPartition { .. } => (replicas > 1)
            .then(|| "the other replicas may hold what is missing here; compare them first".to_owned()),
    }
}
