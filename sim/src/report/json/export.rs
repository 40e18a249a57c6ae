//! What was exported, and what recovery owes it.

use recovery_core::storage::Name;
use serde_json::{Value, json};

use super::VERSION;
use crate::command::export::ExportReport;
use crate::oracle::case::{Accepted, Extent};
use crate::world::FrozenPartition;

/// What binds every program, whatever the lists say (`docs/other-programs.md`).
const RULES: [&str; 3] = [
    "no byte that is not zero is destroyed: what is cut lies in a directory <P>.fenced.N beside the partition's, under \
     the name that says what it is",
    "a partition that is refused is left as it was, to the byte",
    "run again on what it left, a program says the same and changes nothing",
];

/// `EXPECT.json`.
pub fn expect(report: &ExportReport) -> Value {
    let nodes = report.nodes.iter().enumerate();
    let partitions: Vec<Value> =
        nodes.flat_map(|(number, node)| node.cases.iter().map(move |case| partition(number, case))).collect();
    json!({
        "version": VERSION, "subject": report.subject, "step": report.step, "found_by": report.step_text,
        "rules": RULES, "partitions": partitions,
    })
}

/// The line of the export itself.
pub fn export(report: &ExportReport) -> Value {
    let partitions: usize = report.nodes.iter().map(|node| node.cases.len()).sum();
    json!({
        "type": "export", "version": VERSION, "subject": report.subject, "step": report.step,
        "directory": report.directory, "nodes": report.nodes.len(), "partitions": partitions,
    })
}

fn partition(node: usize, frozen: &FrozenPartition) -> Value {
    let case = &frozen.case;
    let below: Vec<String> = frozen.components.iter().map(Name::to_string).collect();
    let path = format!("node-{node}/{}", below.join("/"));
    let demands = case.demands();
    let list = |extents: &[Extent]| extents.iter().map(extent).collect::<Vec<Value>>();
    let unreadable = case.unreadable();
    json!({
        "node": node, "namespace": case.expectation.namespace.to_string(), "path": path,
        "durability": case.expectation.durability.code(), "ledger": case.has_ledger,
        "must_keep": list(&demands.must_keep), "may_lose": list(&demands.may_lose),
        "must_not_serve": list(&demands.must_not_serve), "must_refuse": list(&demands.must_refuse),
        "accept": case.accepted().iter().map(accepted).collect::<Vec<Value>>(),
        "unreadable": unreadable.iter().map(|(file, range)| json!({
            "file": file.to_string(), "position": range.start, "length": range.end - range.start,
        })).collect::<Vec<Value>>(),
    })
}

fn extent(extent: &Extent) -> Value {
    // A batch without messages has no last offset.
    let last = extent.next.before().filter(|last| *last >= extent.first);
    json!({
        "file": extent.file.to_string(), "position": extent.position, "length": extent.length,
        "first_offset": extent.first.get(), "last_offset": last.map(recovery_core::units::Offset::get),
    })
}

fn accepted(accepted: &Accepted) -> Value {
    let (least, most) = accepted.next_offset.unzip();
    json!({
        "disposition": accepted.disposition, "reason": null,
        "next_offset_min": least.map(recovery_core::units::Offset::get),
        "next_offset_max": most.map(recovery_core::units::Offset::get),
    })
}
