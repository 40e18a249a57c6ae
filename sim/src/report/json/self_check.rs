//! The lines of a self-check.

use serde_json::{Value, json};

use super::VERSION;
use crate::exit::Exit;
use crate::self_check::PartResult;

/// What a part came to.
pub fn self_check(result: &PartResult) -> Value {
    let (Ok(sentence) | Err(sentence)) = &result.finding;
    json!({
        "type": "self-check", "version": VERSION, "name": result.name, "claim": result.claim,
        "passed": result.finding.is_ok(), "sentence": sentence,
    })
}

/// The last line.
pub fn self_check_summary(parts: u64, failed: &[&str], seconds: f64, exit: Exit) -> Value {
    json!({
        "type": "self-check-summary", "version": VERSION, "parts": parts, "failed": failed,
        "seconds": seconds, "exit": exit as u8,
    })
}
