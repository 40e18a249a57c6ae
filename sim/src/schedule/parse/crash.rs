//! Reads crashes and what survives them.

use kdl::KdlNode;
use recovery_core::storage::Call;
use recovery_core::units::SegmentStart;

use super::error::{ParseFault, Read};
use super::reader::{Reader, unknown_node};
use super::value::Positive;
use crate::schedule::crash::{
    CallPoint, Crash, CrashInside, Exception, Fill, Restart, Survival, Survivors, SurvivorsWord,
};
use crate::schedule::target::{FileRole, FileWord, Slot};

pub(super) fn crash(mut reader: Reader<'_>) -> Read<Crash> {
    let restart = reader.argument("a kind of crash")?;
    finish(reader, restart)
}

pub(super) fn crash_inside(mut reader: Reader<'_>) -> Read<CrashInside> {
    let restart = reader.argument("a kind of crash")?;
    let at = call_point(&mut reader)?;
    let inside = reader.property("inside")?;
    Ok(CrashInside { at, inside, crash: finish(reader, restart)? })
}

pub(super) fn call_point(reader: &mut Reader<'_>) -> Read<CallPoint> {
    let on = reader.property::<Call>("on")?;
    Ok(CallPoint { on, call: reader.required::<Positive>("call")?.0 })
}

/// Reads what survives. A crash of the process alone loses nothing, so it has no such properties.
fn finish(mut reader: Reader<'_>, restart: Restart) -> Read<Crash> {
    match restart {
        Restart::Process => reader.finish().map(|()| Crash::Process),
        Restart::Os | Restart::Power => {
            let survive = survivors(&mut reader)?.unwrap_or(Survivors::None);
            let fill = reader.property_or("fill", Fill::Zeros)?;
            let size = reader.property("size")?;
            let exceptions = reader.finish_entries()?.iter().map(exception).collect::<Read<_>>()?;
            let survival = Survival { survive, fill, size, exceptions };
            Ok(if restart == Restart::Os { Crash::Os(survival) } else { Crash::Power(survival) })
        }
    }
}

fn survivors(reader: &mut Reader<'_>) -> Read<Option<Survivors>> {
    let Some(word) = reader.property::<SurvivorsWord>("survive")? else { return Ok(None) };
    let survivors = match word {
        SurvivorsWord::None => Survivors::None,
        SurvivorsWord::All => Survivors::All,
        SurvivorsWord::Prefix => Survivors::Prefix { n: reader.required("n")? },
        SurvivorsWord::Suffix => Survivors::Suffix { n: reader.required("n")? },
        SurvivorsWord::Subset => Survivors::Subset { mask: reader.required("mask")? },
        SurvivorsWord::Window => {
            Survivors::Window { from: reader.required("from")?, n: reader.required("n")? }
        }
    };
    Ok(Some(survivors))
}

fn exception(node: &KdlNode) -> Read<Exception> {
    let mut reader = Reader::new(node)?;
    match reader.name() {
        "file" => {
            let partition = reader.argument("a partition")?;
            let file = file_role(&mut reader)?;
            let survive = survivors(&mut reader)?;
            let exception = Exception::File {
                partition,
                file,
                survive,
                fill: reader.property("fill")?,
                size: reader.property("size")?,
            };
            reader.finish()?;
            Ok(exception)
        }
        "names" => {
            let Some(survive) = survivors(&mut reader)? else {
                let node = reader.name().to_owned();
                return reader.misfit(ParseFault::MissingProperty { node, name: "survive" });
            };
            reader.finish()?;
            Ok(Exception::Names { survive })
        }
        _ => unknown_node(node, "crash", &["file", "names"]),
    }
}

/// Reads `segment=` and `file=`.
pub(super) fn file_role(reader: &mut Reader<'_>) -> Read<FileRole> {
    let word: FileWord = reader.required("file")?;
    let mut in_segment = |role: fn(SegmentStart) -> FileRole| reader.required("segment").map(role);
    match word {
        FileWord::Log => in_segment(FileRole::Log),
        FileWord::Index => in_segment(FileRole::Index),
        FileWord::IndexStaging => in_segment(FileRole::IndexStaging),
        FileWord::Ledger => Ok(FileRole::Ledger),
        FileWord::LedgerStaging => Ok(FileRole::LedgerStaging),
        FileWord::SuperblockA => Ok(FileRole::Superblock(Slot::A)),
        FileWord::SuperblockB => Ok(FileRole::Superblock(Slot::B)),
        FileWord::CopyLog => in_segment(FileRole::CopyLog),
        FileWord::CopyLedger => Ok(FileRole::CopyLedger),
        FileWord::Complete => Ok(FileRole::Complete),
        FileWord::Fenced => Ok(FileRole::Fenced),
        FileWord::MetadataLog => Ok(FileRole::MetadataLog),
        FileWord::Directory => Ok(FileRole::Directory),
    }
}
