//! A title that says what broke, and behind what.

use crate::disk::Cause;
use crate::run::counterfactual::suspects;
use crate::run::ending::FailureClass;
use crate::schedule::{Restart, Schedule, Step};

/// What broke, and what went wrong before: "a promised batch is not served, after a power cut and bit-flip".
pub fn title(class: FailureClass, schedule: &Schedule) -> String {
    let mut causes: Vec<&str> = Vec::new();
    let mut add = |word: &'static str| {
        if !causes.contains(&word) {
            causes.push(word);
        }
    };
    schedule.steps.iter().flat_map(Step::crashes).for_each(|crash| add(word(crash.restart())));
    for suspect in suspects(schedule) {
        let code = suspect.kind.code();
        add(if code == Cause::Plant.code() { "a planted batch" } else { code });
    }
    let broken = class
        .expectation
        .map_or_else(|| class.broken().to_owned(), |subject| format!("{subject} is not what is expected"));
    match causes.split_last() {
        None => broken,
        Some((last, [])) => format!("{broken}, after {last}"),
        Some((last, others)) => format!("{broken}, after {} and {last}", others.join(", ")),
    }
}

const fn word(restart: Restart) -> &'static str {
    match restart {
        Restart::Process => "a process crash",
        Restart::Os => "a kernel crash",
        Restart::Power => "a power cut",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Check;
    use crate::schedule::parse;

    fn check(steps: &str, expected: &str) {
        let text = format!(
            "scenario \"\" version=1\nworld filesystem=\"xfs\" regime=\"unlimited\" {{\n    partition \"1/1/0\"\n}}\n\
             steps {{\n{steps}\n}}\n"
        );
        let schedule = parse("title.kdl", &text).expect("the text reads").schedule;
        let class = FailureClass { check: Check::I05, recovery_step: "decide", expectation: None };
        assert_eq!(title(class, &schedule), expected);
        let expectation = Some("the next offset");
        let expected =
            expected.replace("a promised batch is not served", "the next offset is not what is expected");
        assert_eq!(title(FailureClass { check: Check::Expect, expectation, ..class }, &schedule), expected);
    }

    #[test]
    fn what_a_host_makes_of_a_partition_is_not_what_damage_does_to_its_neighbour() {
        let class = |recovery_step| FailureClass { check: Check::I21, recovery_step, expectation: None };
        assert_eq!(class("decide").broken(), "damage in one partition changes another");
        let host = "what a host makes of a partition is not what its start alone comes to";
        assert_eq!(class("boot").broken(), host);
    }

    #[test]
    fn a_title_says_what_broke_and_behind_what() {
        check("start", "a promised batch is not served");
        check("start { crash \"process\" call=3; }", "a promised batch is not served, after a process crash");
        check(
            "crash \"power\" survive=\"prefix\" n=1\ncrash \"power\" survive=\"none\"",
            "a promised batch is not served, after a power cut and torn-prefix",
        );
        check(
            "crash \"os\" survive=\"all\"\nfault \"noise\" \"1/1/0\" batch=0\nfault \"zeroed\" \"1/1/0\" batch=1",
            "a promised batch is not served, after a kernel crash, noise and zeroed",
        );
    }
}
