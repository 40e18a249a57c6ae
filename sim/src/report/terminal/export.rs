//! What was exported.

use std::io::{self, Write};

use super::text::{counted, hint, paragraph};
use crate::command::export::ExportReport;

/// Says what was written, and how to try a program on it.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn export(out: &mut dyn Write, report: &ExportReport) -> io::Result<()> {
    let found_by =
        report.step_text.as_deref().map_or_else(|| "the end".to_owned(), |text| format!("`{text}`"));
    let nodes = counted(report.nodes.len() as u64, "node");
    paragraph(out, "Exported", &format!("{nodes} as step {} finds them: {found_by}", report.step))?;
    for (number, node) in report.nodes.iter().enumerate() {
        for frozen in &node.cases {
            let demands = frozen.case.demands();
            let namespace = frozen.case.expectation.namespace;
            let counts = [
                (demands.must_keep.len(), "must be kept"),
                (demands.may_lose.len(), "may be lost"),
                (demands.must_not_serve.len(), "must not be served"),
                (demands.must_refuse.len(), "must be refused"),
            ];
            let told: Vec<String> = counts
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, what)| format!("{} {what}", counted(*count as u64, "batch")))
                .collect();
            let told = if told.is_empty() { "no batch".to_owned() } else { told.join(", ") };
            paragraph(out, "", &format!("node {number}, partition {namespace}: {told}"))?;
            let unreadable = frozen.case.unreadable().len() as u64;
            if unreadable > 0 {
                let text =
                    format!("{} that no read returns; no file can hold that", counted(unreadable, "range"));
                paragraph(out, "", &text)?;
            }
        }
    }
    hint(out, "demands", &format!("{}/EXPECT.json", report.directory))?;
    match report.nodes.iter().flat_map(|node| &node.cases).next() {
        Some(frozen) => {
            let way: Vec<String> = frozen.components.iter().map(ToString::to_string).collect();
            let path = format!("{}/node-0/{}", report.directory, way.join("/"));
            hint(out, "try", &format!("cargo recover check {path}"))
        }
        None => Ok(()),
    }
}
