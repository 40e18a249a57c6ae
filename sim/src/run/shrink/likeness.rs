//! What makes another failure the same one.

use crate::oracle::{Check, Value};
use crate::run::ending::FailureClass;
use crate::run::one::Outcome;
use crate::world::Failure;

/// How a failure must be to count as the one that is shrunk: of its class, and where a class says nothing of
/// the cause, the same in words. Whatever is dropped breaks some expectation, so what is found in its place
/// must be the same; and panics have no class but their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Likeness {
    class: FailureClass,
    /// Whether it is the first failure of its world.
    is_first: bool,
    /// What was expected, and found.
    expectation: Option<(Value, Value)>,
    /// The words of a panic.
    panic: Option<String>,
}

impl Likeness {
    /// That of the first failure of a class in a world, or of nothing.
    pub fn of(class: FailureClass, outcome: &Outcome) -> Self {
        let found = outcome.failures.iter().find(|failure| FailureClass::of(failure) == class);
        let expectation = found.filter(|_| class.check == Check::Expect).map(|failure| {
            let violation = &failure.violation;
            (violation.expected.clone(), violation.actual.clone())
        });
        let panic = found.filter(|_| class.check == Check::Panic).and_then(|failure| failure.remark.clone());
        Self { class, is_first: FailureClass::first(outcome) == Some(class), expectation, panic }
    }

    /// The class.
    pub const fn class(&self) -> FailureClass {
        self.class
    }

    /// The failure of a world that is like it.
    pub fn find<'a>(&self, outcome: &'a Outcome) -> Option<&'a Failure> {
        let considered = if self.is_first { 1 } else { outcome.failures.len() };
        outcome.failures.iter().take(considered).find(|failure| self.is_like(failure))
    }

    fn is_like(&self, failure: &Failure) -> bool {
        let violation = &failure.violation;
        let is_expected = self
            .expectation
            .as_ref()
            .is_none_or(|(expected, actual)| (expected, actual) == (&violation.expected, &violation.actual));
        let is_said = self.panic.as_ref().is_none_or(|words| failure.remark.as_ref() == Some(words));
        FailureClass::of(failure) == self.class && is_expected && is_said
    }
}
