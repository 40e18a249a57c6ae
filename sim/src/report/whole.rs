//! A run that is over, or shards that were merged, as every output wants it: how it began, what failed, what
//! it came to and with which exit status.

use super::lines::{FailureLine, Line, StartedLine, SummaryLine, reach_lines};
use crate::exit::Exit;
use crate::run::planted::PlantedFate;
use crate::run::reach::{self, Line as Reached};
use crate::run::session::{Group, Summary};

/// A run that is over.
#[derive(Clone, Debug)]
pub struct Whole {
    /// How it began.
    pub started: StartedLine,
    /// The planted failure, as its group shows it.
    pub planted: Option<FailureLine>,
    /// The failing seeds that are shown.
    pub failures: Vec<FailureLine>,
    /// What it came to.
    pub summary: Summary,
    /// How far it came, word by word.
    pub reach: Vec<Reached>,
    /// Goals that were due and missed.
    pub missed: Vec<String>,
    /// How it ended.
    pub exit: Exit,
}

impl Whole {
    /// Draws the conclusions from what a run came to.
    #[must_use]
    pub fn of(
        started: StartedLine,
        planted: Option<FailureLine>,
        failures: Vec<FailureLine>,
        summary: Summary,
    ) -> Self {
        let reach = reach::lines(&summary.tally);
        let missed: Vec<String> =
            reach.iter().filter(|line| line.is_missed(summary.seeds)).map(Reached::name).collect();
        let exit = exit_of(&summary, started.require_reach && !missed.is_empty());
        Self { started, planted, failures, summary, reach, missed, exit }
    }

    /// The line of the first failing seed of a group, if it is kept.
    #[must_use]
    pub fn line_of(&self, group: &Group) -> Option<&FailureLine> {
        self.failures.iter().find(|line| line.group.as_ref() == Some(&group.id))
    }

    /// The last lines: one a word that can be reached, and the summary.
    #[must_use]
    pub fn last_lines(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = reach_lines(&self.reach).map(Line::Reach).collect();
        lines.push(Line::RunSummary(SummaryLine::of(&self.started, &self.summary, &self.missed, self.exit)));
        lines
    }
}

fn exit_of(summary: &Summary, is_reach_missed: bool) -> Exit {
    let is_short = summary.seeds == 0 || is_reach_missed || !summary.shards_missing.is_empty();
    let fate = summary.planted.fate;
    let parts = summary.parts.iter().map(|end| (true, end.exit));
    let has_failed =
        summary.new_failures() > 0 || !summary.scenarios.failed.is_empty() || fate == PlantedFate::Masked;
    [
        (is_short, Exit::Nothing),
        (summary.is_interrupted, Exit::Interrupted),
        (has_failed, Exit::Failed),
        (summary.mismatches > 0, Exit::Nondeterminism),
        (summary.is_harness_bug || fate == PlantedFate::Silent, Exit::Harness),
    ]
    .into_iter()
    .chain(parts)
    .filter(|(is_so, _)| *is_so)
    .fold(Exit::Held, |worst, (_, exit)| worst.worst(exit))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::run::part::{Part, PartEnd};
    use crate::run::planted::Planted;
    use crate::run::session::{FailedScenario, ScenariosRun};

    fn group(id: &str, count: u64, known: bool) -> Group {
        Group {
            id: id.to_owned(),
            check: "I06".to_owned(),
            recovery_step: "decide".to_owned(),
            count,
            known,
            ..Group::default()
        }
    }

    fn held() -> Summary {
        let planted = Planted { fate: PlantedFate::Found, group: None };
        Summary { seeds: 10, planted, ..Summary::default() }
    }

    #[track_caller]
    fn check(summary: &Summary, expected: Exit) {
        assert_eq!(exit_of(summary, false), expected);
    }

    #[test]
    fn only_causes_that_were_not_known_fail_a_run() {
        check(&held(), Exit::Held);
        let known = Summary { failures: 3, groups: vec![group("a", 3, true)], ..held() };
        check(&known, Exit::Held);
        let groups = vec![group("a", 3, true), group("b", 1, false)];
        check(&Summary { failures: 4, groups, ..held() }, Exit::Failed);
        let part = |exit| Summary {
            parts: vec![PartEnd { part: Part::Sweeps, exit, elapsed: Duration::ZERO }],
            ..held()
        };
        check(&part(Exit::Held), Exit::Held);
        check(&part(Exit::Failed), Exit::Failed);
        let failed = vec![FailedScenario { path: "a.kdl".to_owned(), sentence: String::new() }];
        check(&Summary { scenarios: ScenariosRun { passed: 9, failed }, ..held() }, Exit::Failed);
    }

    #[test]
    fn what_ends_a_run_in_several_ways_ends_it_in_the_worst() {
        check(&Summary { seeds: 0, ..held() }, Exit::Nothing);
        check(&Summary { shards_missing: vec![2], ..held() }, Exit::Nothing);
        assert_eq!(exit_of(&held(), true), Exit::Nothing);
        check(&Summary { is_interrupted: true, seeds: 0, ..held() }, Exit::Interrupted);
        check(&Summary { mismatches: 1, is_interrupted: true, ..held() }, Exit::Nondeterminism);
        check(&Summary { mismatches: 1, is_harness_bug: true, ..held() }, Exit::Harness);
    }

    #[test]
    fn a_planted_failure_that_nobody_hears_of_is_a_bug_of_the_harness() {
        let fate = |fate| Summary { planted: Planted { fate, group: None }, ..held() };
        check(&fate(PlantedFate::Silent), Exit::Harness);
        check(&fate(PlantedFate::Masked), Exit::Failed);
    }
}
