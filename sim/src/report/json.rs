//! JSON Lines (CONTRACTS 4): one object a line, each with `type` and `version`, the summary last.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::exit::Exit;
use crate::oracle::Check;
use crate::run::group::fault_kinds;
use crate::run::session::{FailedSeed, Request, Summary};
use crate::schedule::generate::GENERATOR;
use crate::schedule::token::Commit;
use crate::schedule::{FaultKind, SCHEMA};
use crate::world::{Failure, Report};

const VERSION: u32 = 1;

/// The first line of a run.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn run_started(out: &mut dyn Write, request: &Request) -> io::Result<()> {
    let is_dirty = matches!(request.commit, Commit::Known { is_dirty: true, .. });
    let knobs = request.knobs;
    line(
        out,
        &json!({
            "type": "run-started", "version": VERSION,
            "commit": request.commit.to_string(), "dirty": is_dirty,
            "generator": GENERATOR, "schema": SCHEMA,
            "from_seed": request.seeds.from, "profile": "default",
            "limits": {
                "seeds": (request.seeds.count < u64::MAX).then_some(request.seeds.count),
                "seconds": request.seconds, "failures": request.failures, "per_group": request.per_group,
            },
            "world": {
                "regime": knobs.regime.code(), "filesystem": knobs.filesystem.code(),
                "size": knobs.size.code(), "replicas": knobs.replicas.code(), "image": null,
            },
            "checks": "default", "jobs": request.jobs,
            "shard": { "index": request.seeds.shard, "count": request.seeds.shards },
        }),
    )
}

/// A failing seed.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn failure(out: &mut dyn Write, failed: &FailedSeed<'_>, file: &Path) -> io::Result<()> {
    let mut object = failure_object(failed.failure);
    object.insert("token".into(), json!(failed.token.to_string()));
    object.insert("seed".into(), json!(failed.token.seed));
    object.insert("digest".into(), json!(format!("{:016x}", failed.digest)));
    object.insert("group".into(), json!(failed.group));
    object.insert("known".into(), json!(false));
    object.insert("faults".into(), json!(fault_kinds(failed.schedule, failed.failure.step)));
    object.insert("file".into(), json!(file.display().to_string()));
    line(out, &Value::Object(object))
}

fn failure_object(failure: &Failure) -> Map<String, Value> {
    let violation = &failure.violation;
    let Value::Object(object) = json!({
        "type": "failure", "version": VERSION,
        "check": violation.check.code(), "step": failure.step, "recovery_step": failure.recovery_step,
        "node": 0, "partition": failure.partition.map(|namespace| namespace.to_string()),
        "segment": violation.segment.map(recovery_core::units::SegmentStart::get),
        "range": violation.range.as_ref().map(|range| [range.start, range.end]),
        "expected": violation.expected.to_string(), "actual": violation.actual.to_string(),
        "sentence": violation.to_string(), "remark": failure.remark,
    }) else {
        unreachable!("an object was written")
    };
    object
}

/// The last line of a run, behind one `reach` line a fault kind.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn run_summary(out: &mut dyn Write, request: &Request, summary: &Summary, exit: Exit) -> io::Result<()> {
    for kind in FaultKind::ALL {
        let reached = summary.tally.faults.get(kind.code()).copied().unwrap_or_default();
        line(
            out,
            &json!({
                "type": "reach", "version": VERSION, "kind": "fault", "id": kind.code(),
                "injected": reached.injected, "read": reached.read, "decisive": reached.decisive,
                "hits": null, "goal": null,
            }),
        )?;
    }
    let violations: Map<String, Value> = Check::ALL
        .iter()
        .map(|check| {
            let count = summary.tally.violations.get(check).copied().unwrap_or_default();
            (check.code().to_owned(), json!(count))
        })
        .collect();
    let groups: Vec<Value> = summary
        .groups
        .iter()
        .map(|group| {
            json!({
                "id": group.id, "check": group.check.code(), "recovery_step": group.recovery_step,
                "faults": group.id.rsplit('.').next(), "count": group.count, "known": false,
                "token": group.token.to_string(),
            })
        })
        .collect();
    line(
        out,
        &json!({
            "type": "run-summary", "version": VERSION,
            "seeds": summary.seeds, "failures": summary.failures, "known_failures": 0,
            "groups": groups, "digest": format!("{:016x}", summary.digest.get()),
            "seconds": summary.elapsed.as_secs_f64(), "seeds_per_second": summary.rate(),
            "jobs": request.jobs, "from_seed": request.seeds.from,
            "violations_by_invariant": violations, "verdicts": summary.tally.verdicts,
            "determinism": { "rerun": summary.reruns, "mismatched": summary.mismatches },
            "reach_missed": [], "interrupted": false, "exit": exit as u8,
        }),
    )
}

/// What a replay came to.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn replay(
    out: &mut dyn Write,
    token: Option<&str>,
    file: Option<&str>,
    report: &Report,
) -> io::Result<()> {
    let failures: Vec<Map<String, Value>> = report.failures.iter().map(failure_object).collect();
    line(
        out,
        &json!({
            "type": "replay", "version": VERSION, "token": token, "file": file,
            "digest": format!("{:016x}", report.digest), "expected_digest": null,
            "reproduced": if report.failures.is_empty() { "no" } else { "yes" },
            "failures": failures,
        }),
    )
}

fn line(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    writeln!(out, "{value}")
}
