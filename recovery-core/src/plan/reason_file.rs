//! `REASON.toml`: says what lies in a fence, where it was, and why it is there (F86).
//!
//! Promises: no time and no host, so a repeat finds its own entries and adds none; what the file holds
//! already stays as it is, and one that does not begin as ours do is not added to. Leaves out: what a partition was refused for; such a fence is the host's.

use std::fmt::Write;

use super::copies::{Copy, Origin};
use super::fence::Fence;
use super::site::Site;
use crate::format::FileName;
use crate::observe::{Evidence, SegmentFacts};
use crate::storage::{Access, Name, Storage, StorageError, exact};
use crate::units::Namespace;

/// A fence whose `REASON.toml` is longer takes no more copies. It bounds what is held in memory.
const REASON_BYTES_MAX: u64 = 256 * 1024;

/// Whether `name` is that of the file, or of one that was not finished.
pub(super) fn is_reason(name: &Name) -> bool {
    *name == FileName::reason() || *name == FileName::reason_staging()
}

/// Adds an entry for each of `copies` that `fence` does not list yet, and makes the contents durable.
pub(super) fn write<'a, S: Storage>(
    site: Site<'_, S>,
    fence: &Fence<S>,
    copies: impl Iterator<Item = &'a Copy>,
) -> Result<(), StorageError> {
    let Some(mut text) = read(site, fence)? else { return Ok(()) };
    let is_new = text.is_empty();
    let entries: Vec<_> = copies.filter(|copy| !lists(&text, copy)).map(|copy| entry(site, copy)).collect();
    if entries.is_empty() {
        return Ok(());
    }
    if is_new {
        text.extend_from_slice(header(&site.partition.name, site.facts.namespace).as_bytes());
    } else if !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    for entry in &entries {
        text.extend_from_slice(entry.as_bytes());
    }
    let (reason, staging) = (FileName::reason(), FileName::reason_staging());
    let file = site.create_or_empty(&fence.directory, &staging)?;
    let written =
        exact::write_all(site.storage, &file, &staging, 0, &text).and_then(|()| site.storage.sync(&file));
    site.storage.close(file);
    written?;
    site.rename((&fence.directory, &staging), (&fence.directory, &reason))
}

/// Whether entries may be added to the file of `fence`: there is none, or it is one of ours and not too long.
pub(super) fn takes_more<S: Storage>(site: Site<'_, S>, fence: &Fence<S>) -> Result<bool, StorageError> {
    Ok(read(site, fence)?.is_some())
}

/// The file's bytes, none if there is no such file, or `None` if nothing may be added to them.
fn read<S: Storage>(site: Site<'_, S>, fence: &Fence<S>) -> Result<Option<Vec<u8>>, StorageError> {
    let reason = FileName::reason();
    let read = site.with_file(&fence.directory, &reason, Access::Read, |file| {
        let length = exact::uninterrupted(|| site.storage.length(file))?;
        if length > REASON_BYTES_MAX {
            return Ok(None);
        }
        let mut text = vec![0; usize::try_from(length).expect("the length was checked")];
        exact::read_all(site.storage, file, &reason, 0, &mut text)?;
        let head = header(&site.partition.name, site.facts.namespace);
        Ok(Some(text).filter(|text| text.is_empty() || text.starts_with(head.as_bytes())))
    });
    match read {
        Err(error) if error.is_not_found() => Ok(Some(Vec::new())),
        answer => answer,
    }
}

fn lists(text: &[u8], copy: &Copy) -> bool {
    let line = name_line(copy);
    text.split(|byte| *byte == b'\n').any(|found| found == line.as_bytes())
}

fn header(owner: &Name, namespace: Namespace) -> String {
    if *owner == FileName::metadata_log() {
        return "# Bytes that were cut off the metadata log, which lies beside this directory.\n\
                # Each copy is named by its file, the position and length of the bytes in it, and their \
                XXH3-64.\n"
            .to_owned();
    }
    format!(
        "# Bytes that recovery of partition {namespace} set aside. The partition itself lies beside this \
         directory.\n\
         # Each copy is named by its file, the position and length of the bytes in it, and their XXH3-64.\n\
         partition = \"{namespace}\"\n"
    )
}

fn name_line(copy: &Copy) -> String {
    format!("name = {}", quoted(&copy.expect_name().name()))
}

fn entry<S: Storage>(site: Site<'_, S>, copy: &Copy) -> String {
    let name = copy.expect_name();
    let mut text = format!(
        "\n[[copy]]\n{}\nfile = {}\nposition = {}\nlength = {}\nchecksum = \"{}\"\n",
        name_line(copy),
        quoted(&copy.file),
        name.position(),
        name.length(),
        name.checksum(),
    );
    let why = match copy.origin {
        Origin::Residue(segment) => residue_sentence(site.expect_segment(segment)),
        Origin::Index(segment) => index_sentence(site.expect_segment(segment)),
        Origin::Metadata => "the metadata log verifies up to this position, and nothing behind it says that \
                             these bytes were durable"
            .to_owned(),
        Origin::Scratch if copy.file == FileName::ledger() => {
            "this is a ledger that the directory is judged without from here on".to_owned()
        }
        Origin::Scratch => "this is an index without a log, or a file that was never finished".to_owned(),
    };
    writeln!(text, "why = \"{why}\"").expect("text takes any text");
    text
}

fn residue_sentence(facts: &SegmentFacts) -> String {
    format!(
        "segment {} proves {} bytes and stops there ({}); the {} bytes behind them are {}, and by the \
         evidence they lie {}",
        facts.start,
        facts.proven.end,
        facts.stop.stop().code(),
        facts.residue.length,
        facts.residue.kind.code(),
        match facts.evidence {
            Evidence::Unknown => "where nothing is known",
            Evidence::AtOrAbove => "at or above all that was promised",
            Evidence::Below => "below what was promised",
        },
    )
}

fn index_sentence(facts: &SegmentFacts) -> String {
    format!(
        "the index of segment {} is {}, and a new one over {} proven bytes does not hold all of it",
        facts.start,
        facts.index.state.code(),
        facts.proven.end,
    )
}

/// A basic string of TOML. Names print without control characters, so two escapes are enough.
fn quoted(name: &Name) -> String {
    let text = name.to_string().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}
