//! The cause of a failure, by which failures are grouped: `<check>.<recovery step>.<fault kinds>`.

use super::ending::FailureClass;

/// The id of the group that failures of a class with these decisive fault kinds belong to.
pub fn group_id(class: FailureClass, culprits: &[&str]) -> String {
    let faults = if culprits.is_empty() { "none".to_owned() } else { culprits.join("+") };
    format!("{}.{}.{faults}", class.check.code(), class.recovery_step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Check;

    #[test]
    fn a_group_is_named_by_check_step_and_fault_kinds() {
        let class = FailureClass { check: Check::I06, recovery_step: "decide", expectation: None };
        assert_eq!(group_id(class, &[]), "I06.decide.none");
        assert_eq!(group_id(class, &["bit-flip", "noise"]), "I06.decide.bit-flip+noise");
    }
}
