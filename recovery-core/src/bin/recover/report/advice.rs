//! What a person may do next: lines of their own, so that facts stay facts.
//!
//! Promises: a hint names nothing that this build cannot do.

use recovery_core::decide::{Disposition, LostRange, Reason};
use recovery_core::observe::Unavailable;

use super::{Mode, Report};
use crate::exit::Exit;

/// Advice, each a sentence of its own.
pub(super) fn hints(report: &Report<'_>) -> Vec<String> {
    let mut hints = Vec::new();
    let directory = quoted(&report.target.given.display().to_string());
    if let Some(spelt) = report.target.overruled {
        hints.push(format!("the path spells partition {spelt}, and --namespace overrules it"));
    }
    match &report.found.verdict.disposition {
        Disposition::Serve | Disposition::ServeFrom { .. } => match report.mode {
            Mode::Check | Mode::Adopt if report.exit() == Exit::Repair => {
                hints.push(format!("recover plan {directory} lists the steps"));
            }
            Mode::Plan if report.exit() == Exit::Repair => {
                hints.push(format!("recover apply {directory} takes these steps"));
            }
            Mode::Check | Mode::Plan | Mode::Apply | Mode::AcceptLoss | Mode::Adopt => {}
        },
        Disposition::Refuse(reason) => {
            hints.extend(for_reason(reason, report.replicas));
            hints.extend(report.lost().map(|lost| accepting(&directory, &lost.ranges)));
        }
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

/// A path as a shell takes it: in quotes where it holds anything that a shell would read otherwise.
fn quoted(path: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "/._-+,:@%".contains(character);
    if !path.is_empty() && path.chars().all(is_plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

/// How to serve what is left, if nothing else helps.
fn accepting(directory: &str, ranges: &[LostRange]) -> String {
    let flags: Vec<String> =
        ranges.iter().map(|range| format!(" --range {}-{}", range.first, range.last)).collect();
    let flags = flags.concat();
    if ranges.is_empty() {
        return format!("recover accept-loss {directory} serves the rest; no offset is lost by it");
    }
    format!(
        "if they are nowhere else, recover accept-loss {directory}{flags} gives them up and serves the rest"
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_where_a_shell_would_read_it_otherwise() {
        assert_eq!(quoted("data/streams/1/topics/2/partitions/3"), "data/streams/1/topics/2/partitions/3");
        assert_eq!(quoted("my data/3"), "'my data/3'");
        assert_eq!(quoted("it's/$3"), r"'it'\''s/$3'");
    }
}
