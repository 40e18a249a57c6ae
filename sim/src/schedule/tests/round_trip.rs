//! Printing and reading back is the identity on values, and on canonical texts.

use proptest::prelude::*;

use super::arbitrary::scenario;
use crate::schedule::{Scenario, parse, print, print_step};

fn check(scenario: &Scenario) {
    let text = print(scenario);
    let read = parse("printed.kdl", &text)
        .unwrap_or_else(|error| panic!("{:?}\n{text}", miette::Report::new(error)));
    assert_eq!(&read, scenario, "{text}");
    assert_eq!(print(&read), text);
    for step in &scenario.schedule.steps {
        assert!(!print_step(step).contains('\n'), "a step is one line where a timeline shows it");
    }
}

proptest! {
    #[test]
    fn printing_and_reading_back_is_the_identity(scenario in scenario()) {
        check(&scenario);
    }
}
