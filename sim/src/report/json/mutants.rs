//! The lines of planted bugs.

use serde_json::{Value, json};

use super::VERSION;
use crate::command::mutants::{Judged, Numbers};
use crate::subject::kill::{Fate, Kill};

/// What became of one.
pub fn mutant(judged: &Judged<'_>) -> Value {
    let Judged { mutant, fate, scenarios, seconds } = judged;
    let (by, how, seeds, from_each, token) = match fate {
        Fate::Killed(Kill { by, how, seeds, from_each, token }) => {
            (Some(by), Some(*how), *seeds, &from_each[..], token.as_deref())
        }
        Fate::WrongCheck { by } => (Some(by), None, None, &[][..], None),
        Fate::Survived | Fate::Stale { .. } | Fate::Unbuildable { .. } | Fate::Hung => {
            (None, None, None, &[][..], None)
        }
    };
    json!({
        "type": "mutant", "version": VERSION, "id": mutant.id, "target": mutant.target.code(),
        "findings": mutant.findings, "status": fate.code(), "killed_by": by, "how": how, "seeds": seeds,
        "seeds_from_each_start": from_each, "scenarios": scenarios, "token": token, "seconds": seconds,
    })
}

/// The last line.
pub fn mutants_summary(numbers: &Numbers, not_run: &[&str]) -> Value {
    let [killed, survived, wrong_check, stale, unbuildable, hung] = numbers.fates;
    json!({
        "type": "mutants-summary", "version": VERSION, "planted": numbers.planted, "killed": killed,
        "survived": survived, "wrong_check": wrong_check, "stale": stale, "unbuildable": unbuildable,
        "hung": hung, "missing": numbers.missing, "total": numbers.total,
        "not_run": not_run, "interrupted": !not_run.is_empty(),
        "seeds_median": numbers.seeds_median, "seeds_median_of_worst": numbers.seeds_median_of_worst,
        "seeds_max": numbers.seeds_max, "seconds": numbers.seconds,
    })
}
