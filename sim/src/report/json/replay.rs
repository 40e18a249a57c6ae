//! The line of a replay.

use serde_json::{Value, json};

use super::partition::partition;
use super::{VERSION, digest, failure_fields};
use crate::command::source::Source;
use crate::report::explain::{VerdictRow, headline, most, place_words, strip, timeline_rows, verdict_rows};
use crate::report::lines::DifferenceLine;
use crate::report::timeline::{code_word, sentence};
use crate::run::ending::FailureClass;
use crate::run::explain::Explanation;
use crate::run::group::group_id;
use crate::run::one::Counterfactual;
use crate::run::replay::Replayed;
use crate::schedule::token::Commit;
use crate::world::{BootTold, Failure, Report, Told};

/// What a replay came to.
pub fn replay(source: &Source, built_from: Commit, replayed: &Replayed) -> Value {
    let report = &replayed.report;
    let failures: Vec<Value> =
        report.failures.iter().map(|failure| replayed_failure(failure, source, replayed)).collect();
    json!({
        "type": "replay", "version": VERSION, "token": source.token, "file": source.file,
        "commit": source.commit.map(|commit| commit.to_string()), "built_from": built_from.to_string(),
        "digest": digest(report.digest), "outcome": digest(report.outcome),
        "expected_digest": source.expected.digest.map(digest),
        "reproduced": replayed.reproduced(&source.expected).code(),
        "failures": failures, "boots": boots(report), "timeline": timeline(report),
        "counterfactuals": replayed.counterfactuals.iter().map(counterfactual).collect::<Vec<Value>>(),
        "explanation": replayed.explanation.as_ref().map(|found| explanation(found, replayed)),
        "difference": replayed.difference.map(DifferenceLine::from),
    })
}

/// A failure, in the world that was replayed. What it needs is known of those that failed as the one that is explained.
fn replayed_failure(failure: &Failure, source: &Source, replayed: &Replayed) -> Value {
    let class = FailureClass::of(failure);
    let explained = replayed.explanation.as_ref().map(|explained| FailureClass::of(&explained.failure));
    let culprits = if explained == Some(class) { replayed.culprits() } else { Vec::new() };
    let mut fields = failure_fields(failure);
    fields.insert("token".to_owned(), json!(source.token));
    fields.insert("digest".to_owned(), json!(digest(replayed.report.digest)));
    if explained == Some(class) {
        fields.insert("group".to_owned(), json!(group_id(class, &culprits)));
        fields.insert("faults".to_owned(), json!(culprits));
    }
    Value::Object(fields)
}

/// Why it failed.
fn explanation(explanation: &Explanation, replayed: &Replayed) -> Value {
    let rows = timeline_rows(explanation, replayed);
    let timeline = rows.iter().map(|row| json!({ "step": row.step, "sentence": row.text }));
    let most = most(&explanation.moments);
    let strips = explanation.moments.iter().map(|moment| {
        let drawn = strip(moment, most);
        json!({ "when": moment.when, "log_bytes": drawn.log_bytes, "letters": drawn.letters() })
    });
    let facts = explanation.facts.iter().map(|row| {
        json!({
            "segment": row.segment.map(recovery_core::units::SegmentStart::get), "what": row.what, "recovery": row.recovery, "truth": row.truth, "differs": row.differs,
        })
    });
    let index = explanation.index.as_ref().map(|index| {
        let entries = index.entries.iter().map(|entry| {
            json!({
                "offset": entry.offset, "timestamp": entry.timestamp, "position": entry.position,
                "wrong": entry.is_wrong(),
            })
        });
        entries.collect::<Vec<Value>>()
    });
    let fields = explanation.window.iter().flat_map(|window| &window.fields);
    let fields = fields.map(|row| json!({ "field": row.field, "found": row.found, "written": row.written }));
    json!({
        "headline": headline(explanation),
        "varied": explanation.failure.varied.as_ref().map(ToString::to_string), "place": explanation.place.as_ref().map(place_words),
        "timeline": timeline.collect::<Vec<Value>>(), "strips": strips.collect::<Vec<Value>>(),
        "facts": facts.collect::<Vec<Value>>(),
        "header_position": explanation.window.as_ref().map(|window| window.position),
        "header": fields.collect::<Vec<Value>>(), "index": index,
        "without": verdict_rows(explanation, replayed).iter().map(without).collect::<Vec<Value>>(),
    })
}

fn without(row: &VerdictRow) -> Value {
    json!({
        "left_out": row.left_out, "verdict": row.verdict, "decisive": row.is_decisive,
        "needed": row.is_needed,
    })
}

/// One object a start of a node.
fn boots(report: &Report) -> Vec<Value> {
    let told: &[BootTold] = report.told.as_ref().map_or(&[], |told| told.boots.as_slice());
    told.chunk_by(|left, right| (left.step, left.node) == (right.step, right.node)).map(boot).collect()
}

fn boot(partitions: &[BootTold]) -> Value {
    let plan: Vec<Value> = partitions
        .iter()
        .flat_map(|boot| boot.plan.steps.iter().map(|step| (boot.namespace, step)))
        .map(|(namespace, step)| {
            json!({
                "namespace": namespace.to_string(), "step": step.code(),
                "file": step.file().map(|file| file.to_string()),
            })
        })
        .collect();
    json!({
        "node": partitions[0].node, "step": partitions[0].step,
        "partitions": partitions.iter().map(partition).collect::<Vec<Value>>(), "plan": plan,
    })
}

fn timeline(report: &Report) -> Vec<Value> {
    let subject = |told: &Told, at: u64| told.subjects.get(&at).cloned();
    report
        .in_order()
        .into_iter()
        .map(|(at, event)| {
            let about = report.told.as_ref().and_then(|told| subject(told, at));
            json!({
                "step": event.step, "event": code_word(event.code),
                "sentence": sentence(event, about.as_deref()),
            })
        })
        .collect()
}

fn counterfactual(counterfactual: &Counterfactual) -> Value {
    json!({
        "fault": counterfactual.suspect.to_string(),
        "outcome_without": digest(counterfactual.ending.outcome),
        "decisive": counterfactual.is_decisive,
        "needed": counterfactual.is_culprit,
    })
}
