//! Every sequence of a few events on a host, from a healthy, a refused and a rebuilding start, equal states once.
//!
//! Promises: each event is a step of a schedule, and the world behind it is held to all checks of a host, so no
//! sequence routes, serves or shows as empty what is a tombstone; a state that was met before is not gone on with, since
//! what follows it is the same; how many sequences, worlds and states that took is part of the result. Leaves out: the
//! peers of the rebuilding start, which hear nothing.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::oracle::sample::Sample;
use crate::run::one::report_of;
use crate::schedule::{Schedule, parse};
use crate::world::{Arena, Failure, Watch};

/// The events, as steps.
pub const EVENTS: [&str; 9] = [
    "create \"1/1/0\"",
    "delete \"1/1/0\"",
    "confirm \"1/1/0\"",
    "reconcile",
    "queue-insert \"1/1/0\"",
    "apply-inserts",
    "crash \"process\"\nstart",
    "poll \"1/1/0\" from=0 count=100",
    "fault \"bit-flip\" \"1/1/0\" batch=0 field=\"frame.0.payload\" bit=3",
];

/// Where sequences start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostStart {
    /// A lone partition that is served.
    Healthy,
    /// A lone one that is a tombstone.
    Refused,
    /// One that waits for peers, which hear nothing.
    Rebuilding,
}

impl HostStart {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::Healthy, Self::Refused, Self::Rebuilding];

    /// The word for it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Refused => "refused",
            Self::Rebuilding => "rebuilding",
        }
    }

    /// States that are met within six events, as they were counted when the events or the host last changed.
    pub const fn states_within_six(self) -> u64 {
        match self {
            Self::Healthy => 306,
            Self::Refused | Self::Rebuilding => 169,
        }
    }

    fn text(self, events: &[usize]) -> String {
        let nodes = if self == Self::Rebuilding { 3 } else { 1 };
        let damage = "crash \"process\"\nfault \"bit-flip\" \"1/1/0\" batch=0 field=\"frame.0.payload\" bit=3\nstart\n";
        let links = "link state=\"down\" node=1\nlink state=\"down\" node=2\n";
        let mut text = format!(
            "scenario \"a sequence of events\" version=1\nworld filesystem=\"ext4-ordered\" regime=\"unlimited\" \
             nodes={nodes} {{\n    partition \"1/1/0\" durability=\"proven\"\n}}\nsteps {{\n\
             append \"1/1/0\" batch=0 count=3\nflush \"1/1/0\"\nreconcile\n"
        );
        if nodes > 1 {
            text.push_str(links);
        }
        if self != Self::Healthy {
            text.push_str(damage);
        }
        for event in events {
            text.extend([EVENTS[*event], "\n"]);
        }
        text.push_str("}\n");
        text
    }

    fn schedule(self, events: &[usize]) -> Schedule {
        parse("sequence.kdl", &self.text(events)).expect("the events are steps").schedule
    }
}

/// What an exploration came to.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    /// Sequences that were covered: those of every length that was gone through to its end.
    pub sequences: u64,
    /// Worlds that were run.
    pub runs: u64,
    /// States that were met.
    pub states: u64,
    /// Whether somebody ended it: the numbers are those of what was gone through by then.
    pub is_cut_short: bool,
    /// Sequences that failed, with their first failure.
    pub failures: Vec<(String, Failure)>,
}

/// Goes through every sequence of up to `length` events from a start. Each new state is also let come to its end, so
/// that what must follow does. Once `interrupted` is set no sequence is begun.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::AtomicBool;
///
/// use sim::explore::{EVENTS, HostStart, explore_host};
///
/// // Every single event behind the start of a host that refuses its partition.
/// let explored = explore_host(HostStart::Refused, 1, &AtomicBool::new(false));
/// assert_eq!(explored.sequences, EVENTS.len() as u64);
/// assert!(explored.failures.is_empty() && explored.states <= explored.sequences);
/// ```
pub fn explore_host(start: HostStart, length: u32, interrupted: &AtomicBool) -> Explored {
    explore(start, length, true, interrupted)
}

/// The same, and where equal states are not merged every sequence is run to its end.
fn explore(start: HostStart, length: u32, merges: bool, interrupted: &AtomicBool) -> Explored {
    let mut arena = Arena::new();
    let mut found = Explored::default();
    let mut met = BTreeSet::new();
    let mut frontier = vec![Vec::new()];
    'lengths: for depth in 1..=length {
        let mut next = Vec::new();
        for events in &frontier {
            if interrupted.load(Ordering::Relaxed) {
                found.is_cut_short = true;
                break 'lengths;
            }
            for event in 0..EVENTS.len() {
                let events: Vec<usize> = events.iter().copied().chain([event]).collect();
                let schedule = start.schedule(&events);
                let last = u32::try_from(schedule.steps.len() - 1).expect("a sequence is short");
                let watch = Watch { until: Some(last), ..Watch::of(Sample::EVERYTHING) };
                found.runs += 1;
                let report = report_of(&mut arena, &schedule, watch).expect("no event ends a world");
                let state = report.moment.map(|moment| moment.state);
                let failed = report.failures.into_iter().next();
                let is_new = state.is_none_or(|state| met.insert(state)) || !merges;
                let failed = if is_new && failed.is_none() {
                    found.runs += 1;
                    let whole = report_of(&mut arena, &schedule, Watch::of(Sample::EVERYTHING));
                    whole.expect("no event ends a world").failures.into_iter().next()
                } else {
                    failed
                };
                if let Some(failure) = failed {
                    found.failures.push((start.text(&events), failure));
                }
                if is_new {
                    next.push(events);
                }
            }
        }
        found.sequences += (EVENTS.len() as u64).pow(depth);
        frontier = next;
    }
    found.states = met.len() as u64;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_of_three_events_holds_from_every_start() {
        let never = AtomicBool::new(false);
        for start in HostStart::ALL {
            let found = explore_host(start, 3, &never);
            let failures: Vec<String> = found
                .failures
                .iter()
                .map(|(text, failure)| format!("{} in\n{text}", failure.violation))
                .collect();
            assert_eq!(failures.first(), None, "{} of {} worlds", failures.len(), found.runs);
            assert_eq!(found.sequences, 9 + 81 + 729);
            let all = explore(start, 3, false, &never);
            assert_eq!(all.runs, 2 * found.sequences, "each of them, up to its last event and to its end");
            assert!(all.failures.is_empty(), "equal states were not equal: {:?}", all.failures.first());
            assert_eq!(all.states, found.states, "what follows from equal states is the same");
        }
    }
}
