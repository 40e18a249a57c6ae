//! The lines of `sim verdicts`.

use serde_json::{Value, json};

use super::VERSION;
use crate::command::verdicts::VerdictsReport;

/// One line a move, and the summary.
pub fn verdicts(report: &VerdictsReport) -> Vec<Value> {
    let moves = &report.moves;
    let line = |moved: &crate::run::moves::Move| {
        json!({
            "type": "verdict-move", "version": VERSION, "from": moved.from, "to": moved.to,
            "count": moved.count, "tokens": [report.token(moved.seed)],
        })
    };
    let mut lines: Vec<Value> = moves.moves.iter().map(line).collect();
    lines.push(json!({
        "type": "verdicts-summary", "version": VERSION, "against": report.against,
        "compared": moves.compared, "same": moves.same, "moved": moves.moved,
        "missing": moves.missing,
        "not_run": report.not_run, "interrupted": report.not_run > 0,
    }));
    lines
}
