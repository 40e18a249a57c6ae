//! A schedule, and a scenario: a schedule with a title, a source and expectations.
//!
//! Promises: both are one document (CONTRACTS 8), so a stored failure becomes a scenario by giving it a
//! title and saying what is expected. Leaves out: text ([`super::parse()`], [`super::print()`]).

use super::step::{Interruption, Step};
use super::world::{Regime, WorldHeader};

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
