//! Where the time of a world goes, by phase.
//!
//! Promises: costs a comparison where nobody measures; changes nothing that happens. Leaves out: a clock.
//! Whoever measures brings one, since nothing else in a world may know the time.

/// What a world spends time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// From the seed to the schedule.
    Generate,
    /// Clients: append, flush, roll, poll, and what the writer and the disk do for them.
    Write,
    /// Crashes and faults.
    Crash,
    /// The core's recovery, and opening a writer on what it leaves.
    Recover,
    /// Images for the checks, and every check but the reference.
    Oracle,
    /// Checks that start the partition again: snapshots, recoveries, and the comparison.
    Again,
    /// The reference recoverer.
    Reference,
    /// Events and outcome into their digests.
    Digest,
}

impl Phase {
    /// Every phase, in the order of a world.
    pub const ALL: [Self; 8] = [
        Self::Generate,
        Self::Write,
        Self::Crash,
        Self::Recover,
        Self::Oracle,
        Self::Again,
        Self::Reference,
        Self::Digest,
    ];

    /// The permanent word for this phase.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Generate => "generate",
            Self::Write => "write",
            Self::Crash => "crash",
            Self::Recover => "recover",
            Self::Oracle => "oracle",
            Self::Again => "again",
            Self::Reference => "reference",
            Self::Digest => "digest",
        }
    }
}

/// Adds up the time of each phase, by a clock that is given to it.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    clock: Option<fn() -> u64>,
    phase: Phase,
    since: u64,
    spent: [u64; Phase::ALL.len()],
}

impl Meter {
    /// A meter that measures nothing.
    pub const OFF: Self =
        Self { clock: None, phase: Phase::Generate, since: 0, spent: [0; Phase::ALL.len()] };

    /// A meter by `clock`, which goes in any unit and never back. It begins in [`Phase::Generate`].
    pub fn on(clock: fn() -> u64) -> Self {
        Self { clock: Some(clock), since: clock(), ..Self::OFF }
    }

    /// From now on time is spent on `phase`; returns what it was spent on before, for whoever comes back.
    #[inline]
    pub fn enter(&mut self, phase: Phase) -> Phase {
        let before = self.phase;
        if let Some(clock) = self.clock {
            let now = clock();
            self.spent[before as usize] += now - self.since;
            self.since = now;
            self.phase = phase;
        }
        before
    }

    /// What a phase has cost so far, in the clock's unit.
    pub const fn spent(&self, phase: Phase) -> u64 {
        self.spent[phase as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Goes one further each time it is looked at.
    fn ticks() -> u64 {
        static TICKS: AtomicU64 = AtomicU64::new(0);
        TICKS.fetch_add(1, Ordering::Relaxed)
    }

    #[test]
    fn time_is_spent_on_the_phase_that_was_entered_last() {
        let mut meter = Meter::on(ticks);
        assert_eq!(meter.enter(Phase::Recover), Phase::Generate);
        let before = meter.enter(Phase::Oracle);
        let _oracle = meter.enter(before);
        meter.enter(Phase::Digest);
        let spent = Phase::ALL.map(|phase| meter.spent(phase));
        assert_eq!(spent, [1, 0, 0, 2, 1, 0, 0, 0]);
    }

    #[test]
    fn a_meter_that_is_off_counts_nothing() {
        let mut meter = Meter::OFF;
        meter.enter(Phase::Recover);
        meter.enter(Phase::Digest);
        assert_eq!(Phase::ALL.map(|phase| meter.spent(phase)), [0; 8]);
    }
}
