//! The reference on hand-made images: a directory in, its verdict as text out.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod image_storage;
mod variety;

mod agreement;
mod chain;
mod differential;
mod evidence;
mod format;
mod ledger;
mod real;
mod repair;
mod segment;

use std::fmt::Write as _;

use super::{Disposition, Reference};
use crate::oracle::specimen::Directory;

/// The whole verdict as text: one line for the partition, one for each segment.
fn render(reference: &Reference) -> String {
    let mut text = match reference.disposition {
        Disposition::Serve => "serve".to_owned(),
        Disposition::ServeFrom { first, last } => format!("serve-from gap={first}..{last}"),
        Disposition::Refuse { code, segment: Some(segment) } => format!("refuse {code} in {segment}"),
        Disposition::Refuse { code, segment: None } => format!("refuse {code}"),
        Disposition::Unavailable => "unavailable".to_owned(),
    };
    for (name, offset) in [("next", reference.next_offset), ("reserve", reference.reserve)] {
        if let Some(offset) = offset {
            write!(text, " {name}={offset}").unwrap();
        }
    }
    for start in &reference.expired {
        write!(text, "\n{start} expired").unwrap();
    }
    for segment in &reference.segments {
        write!(
            text,
            "\n{} {}/{} next={} messages={} batches={} {} {} {} {} {} saved={}",
            segment.start,
            segment.proven_bytes,
            segment.log_bytes,
            segment.next_offset,
            segment.messages,
            segment.batches,
            segment.stop.code(),
            segment.residue.code(),
            segment.evidence.code(),
            segment.index.code(),
            segment.action.code(),
            segment.saved_bytes,
        )
        .unwrap();
    }
    text
}

/// The one check: a directory is judged so, and so it is in any order of its entries.
#[track_caller]
fn check(directory: Directory, expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(render(&directory.recover()), expected.join("\n"));
    let mut reversed = directory;
    reversed.image.entries.reverse();
    assert_eq!(render(&reversed.recover()), expected.join("\n"), "in another order of entries");
}
