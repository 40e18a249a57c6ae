//! The faults of a schedule one by one, and the same schedule without one of them.
//!
//! Promises: whatever is left out, every other step keeps its place, its time and its meaning, so that two
//! worlds differ by that fault alone. What a crash tore, and the old blocks it let show, count as faults of
//! their own. Leaves out: running anything ([`super::one`]).

use std::fmt;

use recovery_core::units::Namespace;

use crate::disk::Cause;
use crate::schedule::{Action, Crash, Exception, Fill, Interruption, Schedule, Step, Survivors, TornKind};

/// A partition that no schedule has: an eviction of it does nothing.
const NOWHERE: Namespace =
    Namespace { stream: (1 << 20) - 1, topic: (1 << 12) - 1, partition: (1 << 20) - 1 };

/// One fault of a schedule. It is written `kind@step`, or `kind@step.child` inside a step, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Suspect {
    /// The step.
    pub step: usize,
    /// Which of the step's crashes and faults; `None`: the step itself.
    pub child: Option<usize>,
    /// What it is.
    pub kind: SuspectKind,
}

/// What a suspect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SuspectKind {
    /// A fault, by its word.
    Fault(&'static str),
    /// What a crash left of unsynced writes.
    Torn(TornKind),
}

impl SuspectKind {
    /// The permanent word of the fault kind.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Fault(code) => code,
            Self::Torn(kind) => kind.code(),
        }
    }
}

impl fmt::Display for Suspect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.kind.code(), self.step)?;
        match self.child {
            Some(child) => write!(formatter, ".{child}"),
            None => Ok(()),
        }
    }
}

impl Suspect {
    /// Whether `text` names this fault: as it is written, or by its kind or its place alone.
    pub fn is_named(&self, text: &str) -> bool {
        let whole = self.to_string();
        let (kind, place) = whole.split_once('@').expect("a suspect is written with its place");
        [whole.as_str(), kind, place].contains(&text)
    }
}

/// Every fault of a schedule, in order.
pub fn suspects(schedule: &Schedule) -> Vec<Suspect> {
    let mut suspects = Vec::new();
    for (step, at) in schedule.steps.iter().zip(0..) {
        match &step.action {
            Action::Fault { fault, .. } => {
                suspects.push(Suspect { step: at, child: None, kind: SuspectKind::Fault(fault.kind.code()) });
            }
            Action::Crash(crash) => torn(crash, at, None, &mut suspects),
            Action::Plant(_) => {
                suspects.push(Suspect {
                    step: at,
                    child: None,
                    kind: SuspectKind::Fault(Cause::Plant.code()),
                });
            }
            Action::Append(_)
            | Action::Flush(_)
            | Action::Roll(_)
            | Action::Checkpoint(_)
            | Action::Retain(_)
            | Action::Stop
            | Action::Start
            | Action::Poll(_)
            | Action::Evict(_)
            | Action::Create(_)
            | Action::Delete(_)
            | Action::Confirm(_)
            | Action::Reconcile
            | Action::QueueInsert(_)
            | Action::ApplyInserts
            | Action::AcceptLoss(_)
            | Action::Link(_)
            | Action::Transfer { .. }
            | Action::Expect(_)
            | Action::Either(_) => {}
        }
        for (interruption, child) in step.interruptions.iter().zip(0..) {
            match interruption {
                Interruption::Fault(inside) => {
                    let kind = SuspectKind::Fault(inside.fault.kind.code());
                    suspects.push(Suspect { step: at, child: Some(child), kind });
                }
                Interruption::Crash(inside) => torn(&inside.crash, at, Some(child), &mut suspects),
            }
        }
    }
    suspects
}

fn torn(crash: &Crash, step: usize, child: Option<usize>, suspects: &mut Vec<Suspect>) {
    let Some(survival) = crash.survival() else { return };
    let mut kinds: Vec<TornKind> = Vec::new();
    kinds.extend(survival.survive.torn_kind());
    kinds.extend(survival.fill.torn_kind());
    for exception in &survival.exceptions {
        if let Exception::File { survive, fill, .. } = exception {
            kinds.extend(survive.and_then(Survivors::torn_kind));
            kinds.extend(fill.and_then(Fill::torn_kind));
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    suspects.extend(kinds.into_iter().map(|kind| Suspect { step, child, kind: SuspectKind::Torn(kind) }));
}

/// Whether a step stands where a fault or a plant was left out.
pub fn is_left_out(step: &Step) -> bool {
    step.action == Action::Evict(Some(NOWHERE))
}

/// The same schedule without some of its faults: a fault or a plant as a step becomes one that does nothing, one
/// inside a step is gone, a torn write survives whole, and zeros show instead of old blocks.
#[must_use]
pub fn without(schedule: &Schedule, left_out: &[Suspect]) -> Schedule {
    let mut schedule = schedule.clone();
    for (step, at) in schedule.steps.iter_mut().zip(0..) {
        let here: Vec<&Suspect> = left_out.iter().filter(|suspect| suspect.step == at).collect();
        if !here.is_empty() {
            mend(step, &here);
        }
    }
    schedule
}

fn mend(step: &mut Step, here: &[&Suspect]) {
    for suspect in here.iter().filter(|suspect| suspect.child.is_none()) {
        match suspect.kind {
            SuspectKind::Fault(_) => step.action = Action::Evict(Some(NOWHERE)),
            SuspectKind::Torn(kind) => {
                if let Action::Crash(crash) = &mut step.action {
                    untear(crash, kind);
                }
            }
        }
    }
    let is_gone = |at: usize| {
        here.iter().any(|suspect| suspect.child == Some(at) && matches!(suspect.kind, SuspectKind::Fault(_)))
    };
    for suspect in here {
        if let (Some(child), SuspectKind::Torn(kind)) = (suspect.child, suspect.kind)
            && let Some(Interruption::Crash(inside)) = step.interruptions.get_mut(child)
        {
            untear(&mut inside.crash, kind);
        }
    }
    let mut at = 0;
    step.interruptions.retain(|_| {
        at += 1;
        !is_gone(at - 1)
    });
}

fn untear(crash: &mut Crash, kind: TornKind) {
    let (Crash::Os(survival) | Crash::Power(survival)) = crash else { return };
    let whole = |survive: &mut Survivors| {
        if survive.torn_kind() == Some(kind) {
            *survive = Survivors::All;
        }
    };
    let zeros = |fill: &mut Fill| {
        if fill.torn_kind() == Some(kind) {
            *fill = Fill::Zeros;
        }
    };
    whole(&mut survival.survive);
    zeros(&mut survival.fill);
    for exception in &mut survival.exceptions {
        if let Exception::File { survive, fill, .. } = exception {
            survive.iter_mut().for_each(whole);
            fill.iter_mut().for_each(zeros);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{parse, print_step};

    const TEXT: &str = r#"
scenario "faults of every kind" version=1
world filesystem="ext4-writeback" regime="unlimited" {
    partition "1/1/0" durability="buffered"
}
steps {
    append "1/1/0" batch=0 count=3
    flush "1/1/0" {
        fault "short-write" call=1
        crash "power" on="sync" call=1 survive="prefix" n=1 fill="stale-same"
    }
    fault "bit-flip" "1/1/0" batch=1 field="header.base-offset" bit=2
    crash "os" survive="all" {
        file "1/1/0" segment=0 file="log" survive="subset" mask=5
    }
    start
}
"#;

    fn schedule() -> Schedule {
        parse("faults.kdl", TEXT).expect("the text reads").schedule
    }

    fn printed(schedule: &Schedule) -> String {
        schedule.steps.iter().map(print_step).map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    #[test]
    fn every_fault_and_every_tear_is_named_by_kind_and_place() {
        let names: Vec<String> = suspects(&schedule()).iter().map(Suspect::to_string).collect();
        let expected =
            ["short-write@1.0", "torn-prefix@1.1", "stale-block-fill@1.1", "bit-flip@2", "torn-subset@3"];
        assert_eq!(names, expected);
        let flip = suspects(&schedule())[3];
        assert!(flip.is_named("bit-flip") && flip.is_named("2") && flip.is_named("bit-flip@2"));
        assert!(!flip.is_named("bit-flip@3") && !flip.is_named("1.1"));
    }

    #[test]
    fn one_fault_is_left_out_and_the_rest_stays() {
        let whole = schedule();
        let check = |name: &str, from: &str, to: &str| {
            let suspect = suspects(&whole).into_iter().find(|suspect| suspect.to_string() == name);
            let mended = without(&whole, &[suspect.expect("it is there")]);
            assert_eq!(mended.steps.len(), whole.steps.len());
            assert!(printed(&whole).contains(from), "{}", printed(&whole));
            assert_eq!(printed(&mended), printed(&whole).replacen(from, to, 1));
        };
        check("short-write@1.0", "fault \"short-write\" call=1; ", "");
        check("torn-prefix@1.1", "survive=\"prefix\" n=1", "survive=\"all\"");
        check("stale-block-fill@1.1", " fill=\"stale-same\"", "");
        check("torn-subset@3", "survive=\"subset\" mask=0x0000000000000005", "survive=\"all\"");
        let flip = suspects(&whole)[3];
        let left_out: Vec<bool> = without(&whole, &[flip]).steps.iter().map(is_left_out).collect();
        assert_eq!(left_out, [false, false, true, false, false]);
    }

    #[test]
    fn without_all_of_them_no_suspect_is_left() {
        let whole = schedule();
        assert_eq!(suspects(&without(&whole, &suspects(&whole))), []);
        assert_eq!(without(&whole, &[]), whole);
    }
}
