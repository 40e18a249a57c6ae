//! Whether two moments of a partition are the same to the byte: names, kinds, lengths, contents.

use recovery_core::storage::Name;
use recovery_core::units::Length;

use crate::oracle::{Check, Content, FileImage, Image, PartitionImage, Value, Violation};

/// The first difference, in the partition directory and then in its fences.
pub fn first_difference(check: Check, before: &PartitionImage, after: &PartitionImage) -> Option<Violation> {
    first_difference_of_images(check, &before.directory, &after.directory).or_else(|| {
        let names = |image: &PartitionImage| -> Vec<Name> {
            let mut names: Vec<Name> = image.fences.iter().map(|fence| fence.name).collect();
            names.sort_unstable();
            names
        };
        let (earlier, later) = (names(before), names(after));
        if earlier != later {
            let count = |names: Vec<Name>| Value::Number(names.len() as u64);
            return Some(Violation::new(check, "fences", count(earlier), count(later)));
        }
        before.fences.iter().find_map(|fence| {
            let later = after.fences.iter().find(|later| later.name == fence.name)?;
            first_difference_of_images(check, &fence.image, &later.image)
        })
    })
}

fn first_difference_of_images(check: Check, before: &Image, after: &Image) -> Option<Violation> {
    let appeared = after.entries.iter().find(|entry| before.find(entry.name.as_bytes()).is_none());
    if let Some(entry) = appeared {
        let kind = Value::Code(kind(&entry.content));
        return Some(Violation::new(check, "kind", Value::None, kind).in_file(entry.name));
    }
    before.entries.iter().find_map(|entry| {
        let later = after.find(entry.name.as_bytes());
        difference(check, &entry.content, later).map(|violation| violation.in_file(entry.name))
    })
}

fn difference(check: Check, before: &Content, after: Option<&Content>) -> Option<Violation> {
    let kinds = (kind(before), after.map(kind));
    if Some(kinds.0) != kinds.1 {
        let actual = kinds.1.map_or(Value::None, Value::Code);
        return Some(Violation::new(check, "kind", Value::Code(kinds.0), actual));
    }
    match (before, after) {
        (Content::File(before), Some(Content::File(after))) => difference_of_files(check, before, after),
        (Content::File(_) | Content::Unopenable | Content::Directory | Content::Other, _) => None,
    }
}

fn difference_of_files(check: Check, before: &FileImage, after: &FileImage) -> Option<Violation> {
    if before.bytes == after.bytes {
        return None;
    }
    let length = |file: &FileImage| Value::from(Length::new(file.bytes.len() as u64));
    if before.bytes.len() != after.bytes.len() {
        return Some(Violation::new(check, "length", length(before), length(after)));
    }
    let differing = before.bytes.iter().zip(&after.bytes).position(|(before, after)| before != after);
    let at = differing.expect("files of one length that are not the same differ somewhere");
    let byte = |file: &FileImage| Value::Number(u64::from(file.bytes[at]));
    Some(Violation::new(check, "byte", byte(before), byte(after)).at(at as u64..at as u64 + 1))
}

/// What a name leads to. Whether a file can be opened is no property of its bytes.
const fn kind(content: &Content) -> &'static str {
    match content {
        Content::File(_) | Content::Unopenable => "file",
        Content::Directory => "directory",
        Content::Other => "other",
    }
}
