//! The harness judged: each part shows that the simulator would notice, and takes seconds at most.
//!
//! Promises: a part that fails names what it found; the name of a part is permanent, since planted bugs in
//! the disk and in the oracle die by it (CONTRACTS 9). Leaves out: the core under test, which seeds are for.

mod disk;
mod reach;
mod specimens;

use crate::run::panics::catch;

/// One part of the self-check.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its permanent name.
    pub name: &'static str,
    /// What holds if it passes.
    pub claim: &'static str,
    run: fn() -> Result<String, String>,
}

/// What a part came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartResult {
    /// Which.
    pub name: &'static str,
    /// What it claims.
    pub claim: &'static str,
    /// What was looked at, or what is wrong.
    pub finding: Result<String, String>,
}

/// The parts that judge the simulated disk.
const DISK: [Part; 4] = [
    Part { name: "litmus", claim: "each filesystem allows its outcomes and no other", run: disk::litmus },
    Part { name: "stamps", claim: "what a sync reported stays through crashes", run: disk::stamps },
    Part {
        name: "every-state",
        claim: "what is said to be in every crash state is there in each",
        run: disk::every_state,
    },
    Part { name: "conformance", claim: "the disk answers as a real one", run: disk::conformance },
];

/// The parts that judge seeds.
const SEEDS: [Part; 2] = [
    Part { name: "determinism", claim: "seeds have one digest on any threads", run: reach::determinism },
    Part { name: "reach", claim: "a fixed set of seeds reaches what it must", run: reach::reach },
];

/// Every part, in the order in which they run.
///
/// # Examples
///
/// ```
/// use sim::self_check::parts;
///
/// // A part for each check of the oracle, among others; planted bugs die by these names.
/// let names: Vec<&str> = parts().map(|part| part.name).collect();
/// assert_eq!(names.first(), Some(&"litmus"));
/// assert!(["I05", "conformance", "determinism"].iter().all(|name| names.contains(name)));
/// ```
pub fn parts() -> impl Iterator<Item = Part> {
    DISK.into_iter().chain(specimens::PARTS).chain(SEEDS)
}

impl Part {
    /// Runs the part. A panic in it is a finding like any other.
    ///
    /// # Examples
    ///
    /// ```
    /// use sim::self_check::parts;
    ///
    /// let part = parts().find(|part| part.name == "I09").expect("a part for that check");
    /// let result = part.run();
    /// assert_eq!(result.claim, "a second recovery that does something is seen");
    /// // What was looked at; or what is wrong, as an error.
    /// assert!(result.finding.is_ok());
    /// ```
    pub fn run(&self) -> PartResult {
        let finding = match catch(self.run) {
            Ok(finding) => finding,
            Err(panic) => Err(format!("it panicked: {} at {}", panic.text, panic.place)),
        };
        PartResult { name: self.name, claim: self.claim, finding }
    }
}
