//! The lines of a run.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{VERSION, difference, digest, failure_fields};
use crate::exit::Exit;
use crate::oracle::Check;
use crate::run::reach::Line;
use crate::run::session::{FailedSeed, Group, Request, Summary};
use crate::schedule::SCHEMA;
use crate::schedule::generate::GENERATOR;
use crate::schedule::token::Commit;

/// The first line of a run.
pub fn run_started(request: &Request) -> Value {
    let is_dirty = matches!(request.commit, Commit::Known { is_dirty: true, .. });
    let knobs = request.knobs;
    json!({
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
            "size": knobs.size.code(), "replicas": knobs.replicas.code(), "image": request.image.map(|image| format!("{:08x}", image.hash())),
        },
        "checks": "default", "jobs": request.jobs,
        "shard": { "index": request.seeds.shard, "count": request.seeds.shards },
    })
}

/// A failing seed, and where its schedule is saved.
pub fn failure(failed: &FailedSeed<'_>, file: &Path) -> Value {
    let mut object = failure_fields(failed.failure);
    object.insert("token".into(), json!(failed.token.to_string()));
    object.insert("seed".into(), json!(failed.token.seed));
    object.insert("digest".into(), json!(digest(failed.digest)));
    object.insert("group".into(), json!(failed.group));
    object.insert("faults".into(), json!(failed.faults));
    object.insert("difference".into(), json!(failed.difference.map(difference)));
    object.insert("file".into(), json!(file.display().to_string()));
    Value::Object(object)
}

/// How far a run came with one word. A goal is the worlds within which it must be reached; 0: never.
pub fn reach(line: &Line) -> Value {
    json!({
        "type": "reach", "version": VERSION, "kind": line.kind.code(), "id": line.id,
        "injected": line.fault.map(|fault| fault.injected),
        "read": line.fault.map(|fault| fault.read),
        "decisive": line.fault.map(|fault| fault.decisive),
        "hits": line.hits,
        "goal": line.budget().unwrap_or(0),
    })
}

/// The last line of a run.
pub fn run_summary(request: &Request, summary: &Summary, missed: &[String], exit: Exit) -> Value {
    let tally = &summary.tally;
    let violations: Map<String, Value> = Check::ALL
        .iter()
        .map(|check| {
            let count = tally.violations.get(check).copied().unwrap_or_default();
            (check.code().to_owned(), json!(count))
        })
        .collect();
    json!({
        "type": "run-summary", "version": VERSION,
        "seeds": summary.seeds, "failures": summary.failures, "known_failures": 0,
        "groups": summary.groups.iter().map(group).collect::<Vec<Value>>(),
        "digest": digest(summary.digest.get()),
        "seconds": summary.elapsed.as_secs_f64(), "seeds_per_second": summary.rate(),
        "jobs": request.jobs, "from_seed": request.seeds.from,
        "violations_by_invariant": violations, "verdicts": tally.verdicts,
        "determinism": { "rerun": summary.reruns, "mismatched": summary.mismatches },
        "reach_missed": missed, "interrupted": summary.is_interrupted, "exit": exit as u8,
    })
}

fn group(group: &Group) -> Value {
    json!({
        "id": group.id, "check": group.class.check.code(), "recovery_step": group.class.recovery_step,
        "faults": group.faults, "count": group.count, "known": false, "token": group.token.to_string(),
    })
}
