//! The steps of a plan in both forms: an object with its own fields, and a line for people.
//!
//! Promises: the order of the plan; a step that is not done yet is told as what it would do.

use recovery_core::format::Mark;
use recovery_core::plan::Step;
use recovery_core::units::Length;
use serde::Serialize;
use serde_json::Value;

use super::fields::Fields;
use crate::paragraph::{counted, paragraph};

/// One of `steps[]`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StepObject {
    step: &'static str,
    file: Option<String>,
    #[serde(flatten)]
    fields: Fields,
}

impl StepObject {
    /// The object of a step.
    pub(super) fn of(step: &Step) -> Self {
        Self { step: step.code(), file: step.file().map(|file| file.to_string()), fields: fields(step) }
    }
}

fn fields(step: &Step) -> Fields {
    Fields(match step {
        Step::Identify { position, length, .. } => {
            vec![("position", position.get().into()), ("length", length.map(Length::get).into())]
        }
        Step::CheckZeros { position, length, .. } | Step::StageRun { position, length, .. } => {
            vec![("position", position.get().into()), ("length", length.get().into())]
        }
        Step::SaveResidue { position, length, checksum, .. } => vec![
            ("position", position.get().into()),
            ("length", length.get().into()),
            ("checksum", checksum.map(|checksum| checksum.to_string()).into()),
        ],
        Step::SaveIndex { length, checksum, .. } => {
            vec![("length", length.get().into()), ("checksum", checksum.to_string().into())]
        }
        Step::ReserveOffset { offset } => vec![("offset", offset.get().into())],
        Step::CutLog { from, to, .. } => vec![("from", from.get().into()), ("to", to.get().into())],
        Step::StageIndex { entries, sync, .. } => {
            vec![("entries", (*entries).into()), ("sync", (*sync).into())]
        }
        Step::RecordSealed { mark, next_start } => {
            let mut fields = mark_fields(mark);
            fields.push(("next_start", next_start.get().into()));
            fields
        }
        Step::RecordRecovered { mark } | Step::RecordFrontier { mark } => mark_fields(mark),
        Step::RecordCleanStop { mark, next_offset } => {
            let mut fields = mark_fields(mark);
            fields.push(("reserved_offset", next_offset.get().into()));
            fields
        }
        Step::MakeFence
        | Step::WriteReason
        | Step::SyncFence
        | Step::SetAside { .. }
        | Step::InstallIndex { .. }
        | Step::InstallRun { .. }
        | Step::SyncDirectory => Vec::new(),
    })
}

fn mark_fields(mark: &Mark) -> Vec<(&'static str, Value)> {
    vec![
        ("segment", mark.segment.get().into()),
        ("position", mark.position.get().into()),
        ("next_offset", mark.next_offset.get().into()),
        ("chain_hash", format!("{:016x}", mark.chain_hash.get()).into()),
    ]
}

/// All steps, numbered.
pub(super) fn text(steps: &[Step]) -> String {
    let mut text = String::new();
    for (index, step) in steps.iter().enumerate() {
        let lead = format!("  {:>4}  {:<18}", index + 1, step.code());
        text.push_str(&paragraph(&lead, &sentence(step)));
    }
    text
}

/// What a step does.
pub(super) fn sentence(step: &Step) -> String {
    let file = step.file().map_or_else(String::new, |file| file.to_string());
    match step {
        Step::StageRun { segment, position, length, .. } => format!(
            "write {file}, synced, with {} of segment {segment} from byte {position}",
            counted(length.get(), "byte")
        ),
        Step::InstallRun { .. } => format!("rename the new segment to {file}"),
        Step::RecordSealed { mark, next_start } => {
            format!(
                "record in the {file} that segment {} is sealed, and the next starts at {next_start}",
                mark.segment
            )
        }
        Step::RecordFrontier { mark } => {
            format!("record in the {file} that segment {} is proven below {}", mark.segment, mark.next_offset)
        }
        Step::Identify { position, length: Some(length), .. } => {
            format!(
                "read {} of {file} from byte {position}, to name their copy",
                counted(length.get(), "byte")
            )
        }
        Step::Identify { length: None, .. } => format!("read {file}, to name its copy"),
        Step::MakeFence => "look for copies of an earlier run, else make a fence".to_owned(),
        Step::CheckZeros { position, length, .. } => {
            format!("read {} of {file} from byte {position} again: all zero", counted(length.get(), "byte"))
        }
        Step::SaveResidue { position, length, .. } => {
            format!("copy {} of {file} from byte {position} into the fence", counted(length.get(), "byte"))
        }
        Step::SaveIndex { length, .. } => {
            format!("copy {} of {file} into the fence", counted(length.get(), "byte"))
        }
        Step::WriteReason => "write into the fence's REASON.toml what each copy is".to_owned(),
        Step::SyncFence => "make the names in the fence durable".to_owned(),
        Step::ReserveOffset { offset } => {
            format!("record in the {file} that no offset below {offset} is minted")
        }
        Step::CutLog { from, to, .. } => format!("cut {file} from {from} to {to} bytes"),
        Step::SetAside { .. } => format!("move {file} into the fence"),
        Step::StageIndex { entries, sync, .. } => {
            let synced = if *sync { ", synced" } else { "" };
            format!("write {file} with {}{synced}", counted(*entries, "entry"))
        }
        Step::InstallIndex { .. } => format!("rename the new index to {file}"),
        Step::SyncDirectory => "make the names in the partition directory durable".to_owned(),
        Step::RecordRecovered { mark } => {
            format!("record in the {file} that recovery adopted offsets below {}", mark.next_offset)
        }
        Step::RecordCleanStop { next_offset, .. } => {
            format!("record in the {file} a clean stop with next offset {next_offset}")
        }
    }
}
