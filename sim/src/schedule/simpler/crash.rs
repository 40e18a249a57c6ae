//! Crashes that lose less, or that come earlier.

use recovery_core::storage::Call;

use super::lower;
use crate::schedule::crash::{CallPoint, Crash, CrashInside, Exception, Fill, Survival, Survivors};

/// How far a crash before some call of one kind is looked for: stories say "before the second write".
const CALLS_OF_A_KIND: u32 = 3;

impl Crash {
    /// Crashes in which less is lost, or in fewer ways.
    pub(super) fn simpler(&self) -> Vec<Self> {
        let (survival, same): (_, fn(Survival) -> Self) = match self {
            Self::Process => return Vec::new(),
            Self::Os(survival) => (survival, Self::Os),
            Self::Power(survival) => (survival, Self::Power),
        };
        let mut found = vec![Self::Process];
        found.extend(survival.simpler().into_iter().map(same));
        if let Self::Power(_) = self {
            found.push(Self::Os(survival.clone()));
        }
        found
    }
}

impl Survival {
    fn simpler(&self) -> Vec<Self> {
        let mut found = Vec::new();
        if self.exceptions.len() > 1 {
            found.push(Self { exceptions: Vec::new(), ..self.clone() });
        }
        for at in 0..self.exceptions.len() {
            let mut fewer = self.clone();
            fewer.exceptions.remove(at);
            found.push(fewer);
        }
        found.extend(self.survive.simpler().into_iter().map(|survive| Self { survive, ..self.clone() }));
        if self.fill != Fill::Zeros {
            found.push(Self { fill: Fill::Zeros, ..self.clone() });
        }
        if self.size.is_some() {
            found.push(Self { size: None, ..self.clone() });
        }
        for (at, exception) in self.exceptions.iter().enumerate() {
            found.extend(exception.simpler().into_iter().map(|exception| {
                let mut other = self.clone();
                other.exceptions[at] = exception;
                other
            }));
        }
        found
    }
}

impl Exception {
    fn simpler(&self) -> Vec<Self> {
        match self {
            Self::Names { survive } => {
                survive.simpler().into_iter().map(|survive| Self::Names { survive }).collect()
            }
            Self::File { partition, file, survive, fill, size } => {
                let with = |survive, fill, size| Self::File {
                    partition: *partition,
                    file: *file,
                    survive,
                    fill,
                    size,
                };
                let mut found =
                    vec![with(None, *fill, *size), with(*survive, None, *size), with(*survive, *fill, None)];
                let others = survive.map(Survivors::simpler).unwrap_or_default();
                found.extend(others.into_iter().map(|survive| with(Some(survive), *fill, *size)));
                found
            }
        }
    }
}

impl Survivors {
    fn simpler(self) -> Vec<Self> {
        let ends = || {
            let few = [1, 2].into_iter();
            few.clone().map(|n| Self::Prefix { n }).chain(few.map(|n| Self::Suffix { n }))
        };
        let numbers: Vec<Self> = match self {
            Self::None => return Vec::new(),
            Self::All => return vec![Self::None],
            Self::Prefix { n } => lower(n, 1).into_iter().map(|n| Self::Prefix { n }).collect(),
            Self::Suffix { n } => lower(n, 1).into_iter().map(|n| Self::Suffix { n }).collect(),
            Self::Window { from, n } => {
                let earlier = lower(from, 0).into_iter().map(|from| Self::Window { from, n });
                let fewer = lower(n, 1).into_iter();
                let n = fewer.flat_map(|n| [Self::Window { from: 0, n }, Self::Window { from, n }]);
                ends().chain(n).chain(earlier).collect()
            }
            Self::Subset { mask } => {
                let low = [1_u32, 2, 4, 8, 16, 32].into_iter().map(|bits| mask & ((1 << bits) - 1));
                let without = (0..u64::BITS).rev().map(|bit| mask & !(1 << bit));
                let masks = low.chain(without).filter(|other| *other != mask);
                ends().chain(masks.map(|mask| Self::Subset { mask })).collect()
            }
        };
        [Self::None, Self::All].into_iter().chain(numbers).collect()
    }
}

impl CrashInside {
    /// Crashes before an earlier call, or the first ones of some kind of call, or in fewer ways.
    pub(super) fn simpler(&self) -> Vec<Self> {
        let mut found: Vec<Self> =
            self.crash.simpler().into_iter().map(|crash| Self { crash, ..self.clone() }).collect();
        if self.inside.is_some() {
            found.push(Self { inside: None, ..self.clone() });
        }
        let at = self.at;
        let kinds = (1..=CALLS_OF_A_KIND.min(at.call.saturating_sub(1)))
            .flat_map(|call| Call::ALL.into_iter().map(move |kind| CallPoint { on: Some(kind), call }));
        let kinds = kinds.filter(|_| self.inside.is_none());
        found.extend(at.lower().chain(kinds).map(|at| Self { at, ..self.clone() }));
        found
    }
}

impl CallPoint {
    /// Earlier calls, counted in the same way.
    pub(super) fn lower(self) -> impl Iterator<Item = Self> {
        lower(self.call, 1).into_iter().map(move |call| Self { call, ..self })
    }
}
