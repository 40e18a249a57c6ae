//! Why a walk stopped, in words.

use recovery_core::observe::{BadChecksum, StopDetail, Undecodable};
use recovery_core::storage::Errno;
use recovery_core::units::Offset;

/// What a stop found, where `expected` would continue the chain.
pub(crate) fn sentence(stop: &StopDetail, expected: Offset) -> String {
    match stop {
        StopDetail::End => "the file ends behind a whole batch".to_owned(),
        StopDetail::Short { needed, available } => {
            format!("{needed} bytes are needed and {available} are left")
        }
        StopDetail::Undecodable(cause) => undecodable(cause),
        StopDetail::BadChecksum(cause) => bad_checksum(cause),
        StopDetail::Overrun { sealed } => format!("the segment was sealed at {sealed} bytes"),
        StopDetail::Foreign { found } => format!("a whole batch of partition {found}"),
        StopDetail::Gap { found } | StopDetail::Regression { found } => {
            format!("a whole batch with base offset {found}, and {expected} would continue the chain")
        }
        StopDetail::Overflow { base_offset, message_count } => {
            format!(
                "a whole batch of {message_count} messages from offset {base_offset} leaves no next offset"
            )
        }
        StopDetail::Oversize { batch_length } => {
            format!("a whole batch of {batch_length} bytes is above the ceiling")
        }
        StopDetail::Conflict { agrees, differs } => format!(
            "the ledger's mark at byte {} differs; the last that agrees is at byte {}",
            differs.position,
            agrees.map_or(0, |mark| mark.position.get())
        ),
        StopDetail::Unreadable { errno, position } if *errno == Errno::STALE => {
            format!("two reads at byte {position} differ")
        }
        StopDetail::Unreadable { errno, position } => {
            format!("reading at byte {position} gave {errno} twice")
        }
    }
}

fn undecodable(cause: &Undecodable) -> String {
    match cause {
        Undecodable::Header(damage) => damage.to_string(),
        Undecodable::Count { claimed } => {
            format!("the header counts {claimed} messages, which do not fit its length")
        }
        Undecodable::Frame { index } => {
            format!("frame {index} does not fit its batch, or its reserved field is not zero")
        }
        Undecodable::Tiling { claimed, found } => {
            format!(
                "the header counts {claimed} messages, and its frames do not fill the batch ({found} fit)"
            )
        }
    }
}

fn bad_checksum(cause: &BadChecksum) -> String {
    match cause {
        BadChecksum::Message { index, stored, actual } => {
            format!("message {index} hashes to {actual}, and {stored} is stored")
        }
        BadChecksum::Batch { stored, actual } => {
            format!("the batch hashes to {actual}, and {stored} is stored")
        }
    }
}
