//! Why a partition is not served, as an object: `code`, `sentence`, and the fields of each reason.
//!
//! Promises: every field of a reason is there under its own name; words for enums, numbers for numbers.

use recovery_core::decide::{Disposition, FieldValue};
use recovery_core::observe::Unavailable;
use recovery_core::storage::{Call, Errno, Name};
use serde::Serialize;
use serde_json::Value;

use super::fields::Fields;
use crate::mistake::Mistake;

/// The `reason` or `error` field of CONTRACTS 2.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CauseObject {
    code: &'static str,
    sentence: String,
    #[serde(flatten)]
    fields: Fields,
}

impl CauseObject {
    /// The cause of a disposition, or `None` if the partition is served. `directory` names the partition
    /// directory, which is what a lock is held on.
    pub(super) fn of(disposition: &Disposition, directory: &Name) -> Option<Self> {
        match disposition {
            Disposition::Serve | Disposition::ServeFrom { .. } => None,
            Disposition::Refuse(reason) => Some(Self {
                code: reason.code(),
                sentence: reason.to_string(),
                fields: Fields(
                    reason.fields().into_iter().map(|(name, field)| (name, value(field))).collect(),
                ),
            }),
            Disposition::Unavailable(cause) => Some(Self::of_failure(cause, directory)),
        }
    }

    /// A cause that is no reason. A call that failed is told by what it was made on and what it returned.
    pub(super) fn of_failure(cause: &Unavailable, directory: &Name) -> Self {
        let (call, file, errno) = match cause {
            Unavailable::Locked => (Call::Lock, *directory, Errno::WOULD_BLOCK),
            Unavailable::Io(error) => (error.call, error.file, error.errno),
        };
        let fields = vec![
            ("call", call.code().into()),
            ("file", file.to_string().into()),
            ("error", errno.to_string().into()),
        ];
        Self { code: code(cause), sentence: sentence(cause, directory), fields: Fields(fields) }
    }

    /// What is wrong with the command line.
    pub(super) fn of_mistake(mistake: &Mistake) -> Self {
        Self { code: mistake.code(), sentence: mistake.to_string(), fields: Fields::default() }
    }
}

/// The permanent code of a cause that is no reason.
pub(super) const fn code(cause: &Unavailable) -> &'static str {
    match cause {
        Unavailable::Locked => "locked",
        Unavailable::Io(_) => "io",
    }
}

/// One sentence for a cause that is no reason.
pub(super) fn sentence(cause: &Unavailable, directory: &Name) -> String {
    match cause {
        Unavailable::Locked => format!("the directory {directory} is locked by another process"),
        Unavailable::Io(error) => error.to_string(),
    }
}

fn value(field: FieldValue) -> Value {
    match field {
        FieldValue::Number(number) => number.into(),
        FieldValue::Text(text) => text.into(),
        FieldValue::Absent => Value::Null,
    }
}
