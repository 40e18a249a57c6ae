//! A start of a partition as the object that `recover --json` prints.

use recovery_core::decide::{Action, Disposition};
use recovery_core::observe::{SegmentFacts, Stop, Unavailable};
use recovery_core::units::Offset;
use serde_json::{Map, Value, json};

use super::VERSION;
use crate::world::BootTold;

/// The object of a start. What a world does not count is null.
pub fn partition(boot: &BootTold) -> Value {
    let verdict = &boot.verdict;
    let messages: u64 = boot.facts.segments.iter().map(|segment| segment.proven.messages).sum();
    let is_known = !matches!(verdict.disposition, Disposition::Unavailable(_));
    let segments = boot.facts.segments.iter().map(|facts| segment(facts, boot)).collect::<Vec<Value>>();
    json!({
        "version": VERSION, "namespace": boot.namespace.to_string(),
        "disposition": verdict.disposition.code(), "reason": reason(&verdict.disposition),
        "next_offset": verdict.next_offset.map(Offset::get), "gap": gap(&verdict.disposition),
        "messages": is_known.then_some(messages),
        "bytes_read": null, "bytes_hashed": null, "bytes_walked": null, "longest_step_bytes": null,
        "segments": is_known.then_some(segments),
    })
}

fn reason(disposition: &Disposition) -> Value {
    match disposition {
        Disposition::Serve | Disposition::ServeFrom { .. } => Value::Null,
        Disposition::Refuse(reason) => {
            let mut object = Map::new();
            object.insert("code".into(), json!(reason.code()));
            object.insert("sentence".into(), json!(reason.to_string()));
            Value::Object(object)
        }
        Disposition::Unavailable(Unavailable::Locked) => {
            json!({ "code": "locked", "sentence": "locked", "call": null, "file": null, "error": null })
        }
        Disposition::Unavailable(Unavailable::Io(error)) => json!({
            "code": "io", "sentence": error.to_string(), "call": error.call.code(),
            "file": error.file.to_string(), "error": error.errno.to_string(),
        }),
    }
}

fn gap(disposition: &Disposition) -> Value {
    match disposition {
        Disposition::ServeFrom { first, last } => {
            json!({ "first_offset": first.get(), "last_offset": last.get() })
        }
        Disposition::Serve | Disposition::Refuse(_) | Disposition::Unavailable(_) => Value::Null,
    }
}

fn segment(facts: &SegmentFacts, boot: &BootTold) -> Value {
    let verdict = boot.verdict.segments.iter().find(|verdict| verdict.start == facts.start);
    let action = verdict.map_or(Action::Keep, |verdict| verdict.action);
    let saved_bytes = match action {
        Action::Keep | Action::RebuildIndex => 0,
        Action::Cut { save, .. } => save.get(),
    };
    let stop = facts.stop.stop();
    let last = facts.proven.next_offset.before().filter(|_| facts.proven.messages > 0);
    json!({
        "start_offset": facts.start.get(), "log_bytes": facts.log_length.get(),
        "proven_bytes": facts.proven.end.get(), "end_offset": last.map(Offset::get),
        "messages": facts.proven.messages, "batches": facts.proven.batches,
        "stop": stop.code(),
        "residue": (stop != Stop::Unreadable).then(|| facts.residue.kind.code()),
        "evidence": facts.evidence.code(), "index": facts.index.state.code(),
        "action": action.code(), "saved_bytes": saved_bytes,
    })
}
