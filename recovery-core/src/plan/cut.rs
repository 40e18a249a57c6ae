//! Cuts a log back to its proven end.

use super::site::{Site, changed};
use crate::format::FileName;
use crate::storage::{Access, Call, Storage, StorageError, exact};
use crate::units::{Length, Position, SegmentStart};

/// Cuts the log of `segment` from the length that was judged, and makes that durable.
///
/// # Errors
///
/// [`crate::storage::Errno::STALE`] if the log has another length now; then nothing is cut.
pub(super) fn cut<S: Storage>(
    site: Site<'_, S>,
    segment: SegmentStart,
    from: Length,
    to: Position,
) -> Result<(), StorageError> {
    assert!(to.as_length() < from, "a cut never extends a file");
    let log = FileName::log(segment);
    site.with_file(&site.partition.directory, &log, Access::ReadWrite, |file| {
        let length = exact::uninterrupted(|| site.storage.length(file))?;
        if length != from.get() {
            return Err(changed(Call::Length, &log));
        }
        exact::uninterrupted(|| site.storage.set_length(file, to.get()))?;
        site.storage.sync(file)
    })
}
