//! A schedule, and a scenario: a schedule with a title, a source and expectations.
//!
//! Promises: both are one document (CONTRACTS 8), so a stored failure becomes a scenario by giving it a
//! title and saying what is expected. Leaves out: text ([`super::parse()`], [`super::print()`]).

use recovery_core::units::Offset;

use super::step::{Interruption, Step};
use super::world::{PartitionHeader, Regime, WorldHeader};

/// The version of the language that this build prints, and the newest that it reads.
pub const SCHEMA: u32 = 1;

/// What a world runs: where it starts, and every step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Where it starts.
    pub world: WorldHeader,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

impl Schedule {
    /// How long the schedule is when two are compared: its steps, but for expectations (CONTRACTS 4).
    pub fn step_count(&self) -> usize {
        self.steps.iter().filter(|step| !step.is_expectation()).count()
    }

    /// How many crashes and faults happen inside steps. Those that are steps count as steps.
    pub fn interruption_count(&self) -> usize {
        self.steps.iter().map(|step| step.interruptions.len()).sum()
    }

    /// Crashes and faults wherever they stand, with the index of their step.
    pub fn interruptions(&self) -> impl Iterator<Item = (usize, &Interruption)> {
        self.steps
            .iter()
            .enumerate()
            .flat_map(|(index, step)| step.interruptions.iter().map(move |found| (index, found)))
    }

    /// The first step that holds something which its regime does not have, and what: the legal regime has
    /// neither silent damage nor plants.
    pub fn first_illegal(&self) -> Option<(usize, &'static str)> {
        match self.world.regime {
            Regime::Unlimited => None,
            Regime::Legal => {
                let illegal = |(index, step): (usize, &Step)| Some((index, step.illegal_part()?));
                self.steps.iter().enumerate().find_map(illegal)
            }
        }
    }

    /// What a partition's header says that no host can bring about before the first step, and why.
    pub fn first_unhosted(&self) -> Option<(&'static str, &'static str)> {
        let is_moved = self.world.partitions.iter().any(|partition| partition.first_offset > Offset::ZERO);
        let has_frontier = |partition: &PartitionHeader| {
            partition.superblock_frontier.is_some_and(|frontier| frontier > Offset::ZERO)
        };
        if !self.needs_host() {
            None
        } else if is_moved {
            Some(("first-offset", "a host makes a partition that begins at offset 0"))
        } else if self.world.nodes > 1 && self.world.partitions.iter().any(has_frontier) {
            Some(("superblock-frontier", "each replica would wait for what none of them has"))
        } else {
            None
        }
    }

    /// Whether only a host can run it.
    pub fn needs_host(&self) -> bool {
        self.world.nodes > 1 || self.steps.iter().any(|step| step.action.is_host())
    }
}

/// A schedule as it is kept in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// One line: what it shows.
    pub title: String,
    /// Prose.
    pub stories: Vec<String>,
    /// Findings that it is about, such as `F29`.
    pub findings: Vec<String>,
    /// Public reports that it is about, such as `B02`.
    pub reports: Vec<String>,
    /// Which planted bugs it kills.
    pub kills: Kills,
    /// The run that found it; only in stored failures and regressions.
    pub origin: Option<Origin>,
    /// What runs.
    pub schedule: Schedule,
}

impl Scenario {
    /// A schedule with a title and nothing else.
    pub fn untold(title: impl Into<String>, schedule: Schedule) -> Self {
        Self {
            title: title.into(),
            stories: Vec::new(),
            findings: Vec::new(),
            reports: Vec::new(),
            kills: Kills::Unsaid,
            origin: None,
            schedule,
        }
    }
}

/// Which planted bugs a scenario kills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kills {
    /// Nothing is said: a stored failure.
    Unsaid,
    /// These, at least one.
    Mutants(Vec<String>),
    /// None, and why.
    None(String),
}

/// The run that found a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its token, as it was printed. It may be of another generator, so it is kept as text.
    pub token: String,
    /// The check that failed.
    pub check: String,
    /// Whether it fails only under what the token's seed draws of the sampled checks, and not under all.
    pub is_drawn: bool,
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[track_caller]
    fn check(nodes: u8, property: &str, step: &str, expected: Option<&str>) {
        let text = format!(
            "scenario \"x\" version=1\nworld filesystem=\"xfs\" regime=\"legal\" nodes={nodes} {{\n    \
             partition \"1/1/0\" {property}=7\n}}\nsteps {{\n    {step}\n}}\n"
        );
        let schedule = parse("x.kdl", &text).expect("it reads").schedule;
        assert_eq!(schedule.first_unhosted().map(|(property, _)| property), expected, "{text}");
    }

    #[test]
    fn a_header_is_refused_that_no_host_can_bring_about() {
        let (append, delete) = ("append \"1/1/0\" batch=0", "delete \"1/1/0\"");
        for property in ["first-offset", "superblock-frontier"] {
            check(3, property, append, Some(property));
            check(1, property, append, None);
        }
        check(1, "first-offset", delete, Some("first-offset"));
        check(1, "superblock-frontier", delete, None);
    }
}
