//! A scenario as it went, for a reviewer: each step, and behind it what lay in the logs, what a start concluded,
//! what clients were told, what failed.
//!
//! Promises: nothing that a changed read pattern would change. Leaves out: storage calls.

mod strips;

use std::fmt::Write;

use recovery_core::decide::Action as SegmentAction;
use recovery_core::plan::Step as PlanStep;

use self::strips::Strips;
use crate::run::explain::Around;
use crate::schedule::{Action, Expectation, Scenario, Step, print_step};
use crate::world::{AnswerTold, BootTold, Reply, Report};

/// The story of a scenario; `course` is what lay in its logs around each step.
pub fn story(scenario: &Scenario, report: &Report, course: &[Option<Around>]) -> String {
    let mut text = format!("{}\n\n", scenario.title);
    let mut strips = Strips::new(course, scenario.schedule.world.partitions.len());
    for (index, (step, around)) in scenario.schedule.steps.iter().zip(course).enumerate() {
        let number = u32::try_from(index).expect("a scenario is short");
        add_step(&mut text, number, step, report);
        if let Some(around) = around {
            strips.add(&mut text, step, around);
        }
        add_failures(&mut text, number, report);
    }
    strips.legend(&mut text);
    text
}

fn add_step(text: &mut String, number: u32, step: &Step, report: &Report) {
    if let Action::Expect(Expectation::Status { partition, state }) = &step.action {
        let node = if step.node.0 > 0 { format!(" on node {}", step.node.0) } else { String::new() };
        line(text, 1, &format!("{partition}{node} stands as {}", state.code()));
    } else if !step.is_expectation() {
        line(text, 0, print_step(step).trim());
    }
    if let Some(told) = &report.told {
        told.errors.iter().filter(|(at, _)| *at == number).for_each(|(_, code)| {
            line(text, 1, &format!("fails: {code}"));
        });
        told.boots.iter().filter(|boot| boot.step == number).for_each(|boot| add_boot(text, boot));
        told.answers
            .iter()
            .filter(|answer| answer.step == number)
            .for_each(|answer| add_answer(text, answer));
    }
}

fn add_failures(text: &mut String, number: u32, report: &Report) {
    for failure in report.failures.iter().filter(|failure| failure.step == number) {
        line(text, 1, &format!("VIOLATED {}", failure.violation));
    }
}

fn add_boot(text: &mut String, boot: &BootTold) {
    let verdict = &boot.verdict;
    let next = verdict.next_offset.map_or_else(String::new, |next| format!(", next offset {next}"));
    line(text, 1, &format!("{} {}{next}", boot.namespace, verdict.disposition.code()));
    if let Some(remark) = &boot.remark {
        line(text, 2, remark);
    }
    for (facts, verdict) in boot.facts.segments.iter().zip(&verdict.segments) {
        let action = match verdict.action {
            SegmentAction::Keep | SegmentAction::RebuildIndex => verdict.action.code().to_owned(),
            SegmentAction::Cut { at, save } => format!("cut at {at}, {save} bytes saved"),
        };
        let (proven, length) = (facts.proven.end, facts.log_length);
        let words = [
            facts.stop.stop().code(),
            facts.residue.kind.code(),
            facts.evidence.code(),
            facts.index.state.code(),
        ];
        let words = words.join(" ");
        line(text, 2, &format!("segment {}: {proven} of {length} bytes, {words}: {action}", facts.start));
    }
    if !boot.plan.is_empty() {
        let steps: Vec<&str> = boot.plan.steps.iter().map(PlanStep::code).collect();
        line(text, 2, &format!("plan: {}", steps.join(" ")));
    }
}

fn add_answer(text: &mut String, answer: &AnswerTold) {
    let AnswerTold { namespace, from, reply, .. } = answer;
    let told = match reply {
        Reply::Messages { count, next, .. } => format!("{count} messages, then {next}"),
        Reply::Error { class, code } => format!("{} error, {code}", class.code()),
    };
    line(text, 1, &format!("{namespace} from {from}: {told}"));
}

fn line(text: &mut String, depth: usize, words: &str) {
    writeln!(text, "{:width$}{words}", "", width = depth * 4).expect("a string takes it");
}
