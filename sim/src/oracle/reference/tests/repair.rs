//! What the reference would repair is whole afterwards, by its own account.

use proptest::collection::vec;
use proptest::prelude::*;

use super::render;
use super::variety::{Tape, directory};
use crate::oracle::Content;
use crate::oracle::reference::rules::SegmentFindings;
use crate::oracle::reference::{Action, Disposition, Reference};
use crate::oracle::specimen::{Directory, entry};

/// Carries out the actions of a verdict on a copy.
fn repaired(directory: &Directory, reference: &Reference) -> Directory {
    let mut repaired = directory.clone();
    for segment in &reference.segments {
        let start = segment.start.get();
        let name = format!("{start:020}.log");
        let Some(Content::File(file)) = directory.image.find(name.as_bytes()) else { unreachable!() };
        let log = &file.bytes[..usize::try_from(segment.proven_bytes.get()).unwrap()];
        match segment.action {
            Action::Keep => {}
            Action::Cut | Action::RebuildIndex => {
                let first = if segment.batches > 0 { entry(start, 0) } else { Vec::new() };
                // The specimen's timestamps are not the edited ones: the batch itself says what it is.
                let mut index = first;
                if segment.batches > 0 {
                    index[8..16].copy_from_slice(&log[16..24]);
                }
                repaired = repaired.log(start, log).index(start, index);
            }
        }
    }
    repaired
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn what_is_served_is_kept_after_its_repair(words in vec(any::<u64>(), 0..160)) {
        let directory = directory(&mut Tape::new(&words));
        let before = directory.recover();
        // What is carried over first is no part of a verdict's actions.
        let is_carried = |segment: &SegmentFindings| !segment.carried.is_empty();
        let findings = before.findings.iter().flat_map(|findings| &findings.segments);
        if before.next_offset.is_none() || findings.into_iter().any(is_carried) {
            return Ok(());
        }
        let after = repaired(&directory, &before).recover();
        let text = || format!("before: {}\nafter: {}", render(&before), render(&after));
        prop_assert!(matches!(after.disposition, Disposition::Serve | Disposition::ServeFrom { .. }), "{}", text());
        for (before, after) in before.segments.iter().zip(&after.segments) {
            prop_assert_eq!(after.action, Action::Keep, "{}", text());
            prop_assert_eq!(before.proven_bytes, after.log_bytes, "{}", text());
            prop_assert_eq!(before.messages, after.messages, "{}", text());
        }
        if before.reserve.is_none() {
            prop_assert_eq!(before.next_offset, after.next_offset, "{}", text());
        }
    }
}
