//! Which shard of a run this is: as the command line says, or as the scheduler that started it does.
//!
//! Promises: nothing is taken from the environment unless `--shard env` asks for it, and a scheduler whose
//! variables are half there is an error, never shard 1 of 1. Leaves out: asking the environment, which the
//! caller does.

/// How a scheduler tells its tasks apart.
struct Scheduler {
    name: &'static str,
    /// The variable that holds this task's number.
    index: &'static str,
    /// The variable that holds how many there are.
    count: &'static str,
    /// The variable that holds the first number; `None`: `base`.
    first: Option<&'static str>,
    /// The variable that holds how far two numbers are apart; `None`, or not set: 1.
    apart: Option<&'static str>,
    /// The first number, where no variable holds it.
    base: u64,
}

/// In the order in which they are asked: what a person sets by hand comes first.
const SCHEDULERS: [Scheduler; 5] = [
    Scheduler {
        name: "SIM_SHARD_INDEX",
        index: "SIM_SHARD_INDEX",
        count: "SIM_SHARD_COUNT",
        first: None,
        apart: None,
        base: 1,
    },
    Scheduler {
        name: "Slurm",
        index: "SLURM_ARRAY_TASK_ID",
        count: "SLURM_ARRAY_TASK_COUNT",
        first: Some("SLURM_ARRAY_TASK_MIN"),
        apart: Some("SLURM_ARRAY_TASK_STEP"),
        base: 0,
    },
    // Kubernetes says which task it is and not how many there are: the Job hands that over itself.
    Scheduler {
        name: "Kubernetes",
        index: "JOB_COMPLETION_INDEX",
        count: "JOB_COMPLETIONS",
        first: None,
        apart: None,
        base: 0,
    },
    Scheduler {
        name: "Buildkite",
        index: "BUILDKITE_PARALLEL_JOB",
        count: "BUILDKITE_PARALLEL_JOB_COUNT",
        first: None,
        apart: None,
        base: 0,
    },
    Scheduler {
        name: "GitLab",
        index: "CI_NODE_INDEX",
        count: "CI_NODE_TOTAL",
        first: None,
        apart: None,
        base: 1,
    },
];

/// Which shard, from 1, of how many.
///
/// # Errors
///
/// When the text is no shard, or is `env` and the surroundings do not say; the text is for a person.
pub(super) fn settle(
    text: Option<&str>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(u64, u64), String> {
    match text {
        None => Ok((1, 1)),
        Some("env") => from_surroundings(variable),
        Some(text) => from_text(text),
    }
}

fn from_text(text: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("{text} is no shard: it reads I/N with I from 1 to N, or env");
    let (index, count) = text.split_once('/').ok_or_else(wrong)?;
    let (index, count) = (index.parse().map_err(|_| wrong())?, count.parse().map_err(|_| wrong())?);
    if index == 0 || index > count { Err(wrong()) } else { Ok((index, count)) }
}

fn from_surroundings(variable: &dyn Fn(&str) -> Option<String>) -> Result<(u64, u64), String> {
    let Some(scheduler) = SCHEDULERS.iter().find(|scheduler| variable(scheduler.index).is_some()) else {
        let known: Vec<&str> = SCHEDULERS.iter().map(|scheduler| scheduler.index).collect();
        return Err(format!(
            "no scheduler says which shard this is\nhint: none of {} is set",
            known.join(", ")
        ));
    };
    let number = |name: &str| {
        let text = variable(name).ok_or_else(|| {
            format!("{} is set and {name} is not, so nobody says how many shards there are", scheduler.index)
        })?;
        text.parse::<u64>().map_err(|_| format!("{name} is {text}, which is no number"))
    };
    let (index, count) = (number(scheduler.index)?, number(scheduler.count)?);
    let first = scheduler.first.map_or(Ok(scheduler.base), number)?;
    let apart = scheduler.apart.filter(|name| variable(name).is_some()).map_or(Ok(1), number)?;
    let name = scheduler.name;
    let place = index.checked_sub(first).filter(|place| place.is_multiple_of(apart));
    match place.map(|place| place / apart.max(1)) {
        Some(place) if place < count => Ok((place + 1, count)),
        Some(_) | None => {
            Err(format!("{name} says task {index} of {count} tasks from {first} on, which there is not"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: Option<&str>, variables: &[(&str, &str)], expected: Result<(u64, u64), &str>) {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let found = settle(text, &variable);
        let found = found.as_ref().map(|shard| *shard).map_err(|error| error.lines().next().expect("a line"));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_shard_is_written_from_one() {
        check(None, &[("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "3")], Ok((1, 1)));
        check(Some("3/8"), &[], Ok((3, 8)));
        let wrong = |text| format!("{text} is no shard: it reads I/N with I from 1 to N, or env");
        for text in ["0/8", "9/8", "8", "a/b"] {
            check(Some(text), &[], Err(&wrong(text)));
        }
    }

    #[test]
    fn the_schedulers_that_people_use_are_understood() {
        let env = Some("env");
        let kubernetes = [("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETIONS", "8")];
        check(env, &kubernetes, Ok((1, 8)));
        let slurm =
            [("SLURM_ARRAY_TASK_ID", "12"), ("SLURM_ARRAY_TASK_COUNT", "8"), ("SLURM_ARRAY_TASK_MIN", "5")];
        check(env, &slurm, Ok((8, 8)));
        let every_second = |index| {
            let (count, first) = (("SLURM_ARRAY_TASK_COUNT", "8"), ("SLURM_ARRAY_TASK_MIN", "0"));
            [("SLURM_ARRAY_TASK_ID", index), count, first, ("SLURM_ARRAY_TASK_STEP", "2")]
        };
        check(env, &every_second("14"), Ok((8, 8)));
        let odd = "Slurm says task 13 of 8 tasks from 0 on, which there is not";
        check(env, &every_second("13"), Err(odd));
        check(env, &[("CI_NODE_INDEX", "3"), ("CI_NODE_TOTAL", "3")], Ok((3, 3)));
        let buildkite = [("BUILDKITE_PARALLEL_JOB", "3"), ("BUILDKITE_PARALLEL_JOB_COUNT", "8")];
        check(env, &buildkite, Ok((4, 8)));
        check(env, &[("SIM_SHARD_INDEX", "4"), ("SIM_SHARD_COUNT", "4")], Ok((4, 4)));
    }

    #[test]
    fn surroundings_that_say_half_of_it_are_an_error() {
        let env = Some("env");
        check(env, &[], Err("no scheduler says which shard this is"));
        let half = "JOB_COMPLETION_INDEX is set and JOB_COMPLETIONS is not, so nobody says how many shards \
                    there are";
        check(env, &[("JOB_COMPLETION_INDEX", "0")], Err(half));
        let past = [("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "3")];
        check(env, &past, Err("GitLab says task 0 of 3 tasks from 1 on, which there is not"));
        let odd = [("CI_NODE_INDEX", "one"), ("CI_NODE_TOTAL", "3")];
        check(env, &odd, Err("CI_NODE_INDEX is one, which is no number"));
    }
}
