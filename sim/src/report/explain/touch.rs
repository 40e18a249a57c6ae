//! Whether an event has to do with what broke.
//!
//! Promises: what another partition did or suffered touches nothing of this one. Leaves out: which rows are shown
//! ([`super::timeline`]).

use std::ops::Range;

use recovery_core::format::{FileName, partition_components};
use recovery_core::storage::Call;
use recovery_core::units::Namespace;

use super::timeline::RowKind;
use crate::report::timeline::is_detail;
use crate::run::explain::{Explanation, Place};
use crate::world::event::{Event, EventCode};

/// What an event is to what broke, behind the verdict of the partition `judged`; `None`: it does not touch it.
pub(super) fn touches(
    event: &Event,
    subject: Option<&str>,
    judged: Option<u64>,
    explanation: &Explanation,
) -> Option<RowKind> {
    let place = explanation.place.as_ref()?;
    let own = place.namespace.packed();
    let is_own = event.a == own;
    let is_shown = match event.code {
        EventCode::Call | EventCode::CallFailed => return call_touches(event, subject?, explanation, place),
        EventCode::Hit => {
            let is_elsewhere = subject.is_some_and(|path| is_of_another(path, place.namespace));
            return (!is_elsewhere).then_some(RowKind::Failed);
        }
        EventCode::Crashed | EventCode::Missed => true,
        EventCode::Acknowledged => return is_own.then_some(RowKind::Acknowledged),
        EventCode::WriterFailed
        | EventCode::Verdict
        | EventCode::Polled
        | EventCode::Stopped
        | EventCode::Told => is_own,
        EventCode::Action => {
            judged == Some(own) && place.segment.is_some_and(|segment| segment.get() == event.a)
        }
        EventCode::Step | EventCode::Bytes | EventCode::Planned | EventCode::Appended | EventCode::Fault => {
            false
        }
    };
    is_shown.then_some(RowKind::Event)
}

/// The path of a partition's directory, from the data directory.
fn directory_of(namespace: Namespace) -> String {
    let directory: Vec<String> = partition_components(namespace).iter().map(ToString::to_string).collect();
    directory.join("/")
}

/// Whether a path lies in or beside the directory of another partition.
fn is_of_another(path: &str, own: Namespace) -> bool {
    let own = directory_of(own);
    let is_own = path.strip_prefix(&own).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']));
    !is_own && path.split('/').count() >= own.split('/').count()
}

/// Whether a storage call changes, secures or fails on the file that broke, at its bytes, or on the ledger that says
/// what of them was promised; or on the log that says which partitions there are, where it is a whole one that broke.
fn call_touches(event: &Event, path: &str, explanation: &Explanation, place: &Place) -> Option<RowKind> {
    let directory = directory_of(place.namespace);
    let call = Call::ALL.into_iter().find(|call| *call as u64 == event.a & 0xff);
    let Some(below) = path.strip_prefix(&format!("{directory}/")) else {
        // Names beside the partition: fences, and the partition's own directory.
        let is_change =
            matches!(call, Some(Call::Rename | Call::Remove | Call::MakeDirectory | Call::SyncDirectory));
        let is_beside = path == directory || path.starts_with(&format!("{directory}."));
        // What is made and removed stands in the metadata log, and of a whole partition that is what matters.
        let is_metadata = path.as_bytes() == FileName::metadata_log().as_bytes()
            && place.segment.is_none()
            && place.file.is_none();
        let is_written = matches!(call, Some(Call::Write | Call::Sync));
        return (is_change && is_beside || is_written && is_metadata).then_some(RowKind::Event);
    };
    let log = place.segment.map(|segment| FileName::log(segment).to_string());
    let is_log = log.as_deref() == Some(below);
    let is_named = place.file.as_ref().map_or(is_log, |file| file.as_bytes() == below.as_bytes());
    let is_ledger = [FileName::ledger(), FileName::ledger_staging()]
        .iter()
        .any(|name| name.as_bytes() == below.as_bytes());
    // A definite answer about a name is no failure.
    let failed = event.code == EventCode::CallFailed && !is_detail(event);
    let is_shown = match call {
        Some(Call::Write) => {
            let (from, to) = (event.b, event.b.saturating_add(event.c));
            let overlaps = |range: &Range<u64>| from < range.end && range.start < to;
            let is_of_named = is_named && place.range.as_ref().is_none_or(overlaps);
            if is_of_named && focus(explanation, place, is_log).as_ref().is_none_or(overlaps) {
                return Some(RowKind::Wrote);
            }
            failed || is_of_named || !is_named
        }
        Some(Call::SetLength | Call::Sync | Call::Create | Call::Rename | Call::Remove) => true,
        Some(Call::Read | Call::Length | Call::Open) => failed,
        Some(Call::SyncDirectory | Call::List | Call::MakeDirectory | Call::Lock | Call::DropCache)
        | None => false,
    };
    let kind = match call {
        _ if failed => RowKind::Failed,
        Some(Call::SetLength) => RowKind::Cut,
        Some(_) | None => RowKind::Event,
    };
    ((is_named || is_log || is_ledger) && is_shown).then_some(kind)
}

/// The bytes that the check names, or else those of the batch that is shown of the log.
fn focus(explanation: &Explanation, place: &Place, is_log: bool) -> Option<Range<u64>> {
    let shown = explanation.window.as_ref().filter(|window| is_log && window.written.is_some());
    place.range.clone().or_else(|| shown.map(|window| window.position..window.position + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_belongs_to_the_partition_in_or_beside_whose_directory_it_lies() {
        let own = Namespace { stream: 1, topic: 1, partition: 1 };
        for (path, expected) in [
            ("metadata.log", false),
            ("streams/1/topics", false),
            ("streams/1/topics/1/partitions/1/ledger", false),
            ("streams/1/topics/1/partitions/1.fenced.0/REASON.toml", false),
            ("streams/1/topics/1/partitions/10/ledger", true),
            ("streams/1/topics/2/partitions/1/00000000000000000000.log", true),
        ] {
            assert_eq!(is_of_another(path, own), expected, "{path}");
        }
    }
}
