//! One start after the other, put to a recovery program: its directory written, the program run on it, what it
//! said and left judged, and the program run once more.
//!
//! Promises: each start is tried by itself, as the linked core finds it, whatever the program made of earlier
//! ones. Leaves out: starts with bytes that no read returns, which no directory can be made to hold.

use std::fs;
use std::path::Path;

use recovery_core::storage::Name;
use serde_json::Value as Json;
use tempfile::TempDir;

use super::answer::Answer;
use super::directory;
use super::judge::judge;
use super::program::{Program, ProgramFault};
use crate::oracle::case::Case;
use crate::oracle::invariants::first_difference;
use crate::oracle::sample::Sample;
use crate::oracle::{Check, PartitionImage, Value, Violation};
use crate::schedule::parse;
use crate::world::{Arena, FrozenPartition, Watch, freeze};

/// A partition that any program serves: written, acknowledged and stopped cleanly.
const HEALTHY: &str = r#"
scenario "a healthy partition" version=1
world filesystem="ext4-ordered" regime="legal" {
    partition "1/1/0" durability="synced"
}
steps {
    append "1/1/0" batch=0 count=3
    flush "1/1/0"
    stop
    start
}
"#;

/// Runs a program on a healthy partition, to see whether it gives a verdict at all.
///
/// # Errors
///
/// When it does not.
///
/// # Panics
///
/// If there is no temporary directory to try it in.
///
/// # Examples
///
/// ```
/// use sim::subject::program::Program;
/// use sim::subject::trial::probe;
///
/// // A program that refuses whatever it is given, says so, and ends with the status of a refusal: that is a verdict.
/// let program: Program = r#"exec:sh -c 'echo "$0"; exit 20' '{"disposition": "refuse"}'"#.parse()?;
/// probe(&program)?;
/// // One that says nothing gives none.
/// let silent: Program = "exec:true".parse()?;
/// assert_eq!(probe(&silent).unwrap_err().code(), "no-verdict");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn probe(program: &Program) -> Result<(), ProgramFault> {
    let schedule = parse("healthy.kdl", HEALTHY).expect("the text reads").schedule;
    let last = u32::try_from(schedule.steps.len()).expect("a schedule is short") - 1;
    let nodes = freeze(&schedule, &mut Arena::new(), last, Watch::of(Sample::EVERYTHING));
    let FrozenPartition { components, case } = &nodes[0].cases[0];
    let trial = Trial::new(program.clone()).expect("a temporary directory can be made");
    let root = trial.scratch.path().join("data");
    let partition =
        directory::write(&root, components, &case.before).expect("the directory takes a partition");
    trial.run(case, &partition).map(drop)
}

/// How a program did in one start.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// What is wrong, and what the program said.
    pub violations: Vec<(Violation, Option<String>)>,
    /// Where it differs from the linked core, if it does.
    pub difference: Option<String>,
}

/// A program, and a directory of its own to try it in.
#[derive(Debug)]
pub struct Trial {
    program: Program,
    scratch: TempDir,
}

impl Trial {
    /// A bench for a program.
    ///
    /// # Errors
    ///
    /// When no temporary directory can be made.
    ///
    /// # Examples
    ///
    /// ```
    /// use sim::subject::trial::Trial;
    ///
    /// // The command is run with a partition directory as its last argument, and what is in braces is filled in.
    /// let trial = Trial::new("exec:recover apply --json --durability {durability}".parse()?)?;
    /// assert!(trial.program().is_told_durability());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(program: Program) -> std::io::Result<Self> {
        Ok(Self { program, scratch: tempfile::tempdir()? })
    }

    /// The program.
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// Tries the program on one start of the partition that `components` lead to. `linked` is what the linked
    /// core says and leaves, as the object that a program prints.
    ///
    /// # Panics
    ///
    /// If the temporary directory takes no file.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::json;
    /// use sim::oracle::Check;
    /// use sim::oracle::sample::Sample;
    /// use sim::schedule::parse;
    /// use sim::subject::trial::Trial;
    /// use sim::world::{Arena, FrozenPartition, Watch, freeze};
    ///
    /// let text = r#"
    /// scenario "a start behind a crash" version=1
    /// world filesystem="ext4-ordered" regime="legal" {
    ///     partition "1/1/0" durability="synced"
    /// }
    /// steps {
    ///     append "1/1/0" batch=0 count=3
    ///     flush "1/1/0"
    ///     crash "process"
    ///     start
    /// }
    /// "#;
    /// let schedule = parse("crash.kdl", text)?.schedule;
    /// // What the start finds, which is step 3, counted from 0, and what is owed it.
    /// let nodes = freeze(&schedule, &mut Arena::new(), 3, Watch::of(Sample::EVERYTHING));
    /// let FrozenPartition { components, case } = &nodes[0].cases[0];
    ///
    /// // A program that refuses everything, beside a core that serves and changes nothing.
    /// let trial = Trial::new(r#"exec:sh -c 'echo "$0"; exit 20' '{"disposition": "refuse"}'"#.parse()?)?;
    /// let linked = (json!({"disposition": "serve", "reason": null}), case.before.clone());
    /// let tried = trial.start(case, components, &linked);
    /// // Nothing but a crash happened to a partition with a ledger: to refuse it is wrong.
    /// let (violation, said) = &tried.violations[0];
    /// assert_eq!((violation.check, said.as_deref()), (Check::I13, Some("refuse")));
    /// assert_eq!(tried.difference.as_deref(), Some(r#"disposition is "refuse", and "serve" by the linked core"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start(&self, case: &Case, components: &[Name; 6], linked: &(Json, PartitionImage)) -> Tried {
        let root = self.scratch.path().join("data");
        clear(&root);
        let partition = directory::write(&root, components, &case.before)
            .expect("the temporary directory takes a partition");
        let mut tried = Tried { violations: Vec::new(), difference: None };
        let first = match self.run(case, &partition) {
            Ok(first) => first,
            Err(fault) => {
                tried.violations.push(failed(&fault));
                tried.difference = Some(fault.to_string());
                return tried;
            }
        };
        let (answer, after) = first;
        let said = said(&answer);
        let violations = judge(case, &answer, &after);
        tried.violations.extend(violations.into_iter().map(|violation| (violation, Some(said.clone()))));
        tried.difference = difference(&answer, &after, linked);
        match self.run(case, &partition) {
            Ok(second) => {
                let violation = unlike(&(answer, after), &second);
                tried.violations.extend(violation.map(|violation| (violation, Some(said))));
            }
            Err(fault) => tried.violations.push(failed(&fault)),
        }
        tried
    }

    fn run(&self, case: &Case, partition: &Path) -> Result<(Answer, PartitionImage), ProgramFault> {
        let ran = self.program.run(&case.expectation, partition, self.scratch.path())?;
        let answer = Answer::read(&ran)?;
        let after = directory::read(partition).map_err(|error| ProgramFault::NoVerdict {
            why: format!("what it left cannot be read: {error}"),
            stderr: ran.stderr,
        })?;
        Ok((answer, after))
    }
}

/// Takes away what an earlier start has left.
fn clear(root: &Path) {
    match fs::remove_dir_all(root) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => panic!("the temporary directory cannot be cleared: {error}"),
    }
}

/// A program that gave no verdict, as a violation.
fn failed(fault: &ProgramFault) -> (Violation, Option<String>) {
    let check = match fault {
        ProgramFault::Signal { .. } | ProgramFault::Status { .. } => Check::Panic,
        ProgramFault::NotStarted { .. } | ProgramFault::Hung { .. } | ProgramFault::NoVerdict { .. } => {
            Check::I20
        }
    };
    let (verdict, actual) = (Value::Code("a verdict"), Value::Code(fault.code()));
    (Violation::new(check, "what the program ends with", verdict, actual), Some(fault.to_string()))
}

/// A verdict in a few words.
fn said(answer: &Answer) -> String {
    let reason = answer.reason().map_or(String::new(), |reason| format!("/{reason}"));
    let next = answer.next_offset.map_or(String::new(), |next| format!(", next offset {next}"));
    format!("{}{reason}{next}", answer.said.code())
}

/// How a second run of the program differs from no run at all (I09).
fn unlike(first: &(Answer, PartitionImage), second: &(Answer, PartitionImage)) -> Option<Violation> {
    let words = |answer: &Answer| Value::Text(said(answer).into());
    if said(&first.0) != said(&second.0) {
        let (expected, actual) = (words(&first.0), words(&second.0));
        return Some(Violation::new(Check::I09, "the verdict of a second run", expected, actual));
    }
    first_difference(Check::I09, &first.1, &second.1)
}

/// Where a program differs from the linked core: in a field that both print, or in what is left.
fn difference(answer: &Answer, after: &PartitionImage, linked: &(Json, PartitionImage)) -> Option<String> {
    let (object, left) = linked;
    let fields = ["disposition", "next_offset", "gap", "messages"];
    let mut found = fields.iter().find_map(|field| unlike_field(field, &answer.object, object));
    found = found.or_else(|| {
        let code = |object: &Json| object["reason"]["code"].clone();
        unlike_value("reason", Some(&code(&answer.object)), &code(object))
    });
    found = found.or_else(|| unlike_segments(&answer.object, object));
    found.or_else(|| first_difference(Check::Reference, left, after).map(|violation| violation.to_string()))
}

fn unlike_field(field: &str, program: &Json, linked: &Json) -> Option<String> {
    unlike_value(field, program.get(field), &linked[field])
}

/// What a program does not print is not compared.
fn unlike_value(field: &str, program: Option<&Json>, linked: &Json) -> Option<String> {
    let program = program?;
    (program != linked).then(|| format!("{field} is {program}, and {linked} by the linked core"))
}

fn unlike_segments(program: &Json, linked: &Json) -> Option<String> {
    let none = Vec::new();
    let list = |object: &Json| object["segments"].as_array().cloned().unwrap_or_default();
    let (program, linked) = (list(program), linked["segments"].as_array().unwrap_or(&none));
    if program.is_empty() && linked.is_empty() {
        return None;
    }
    if program.len() != linked.len() {
        return Some(format!(
            "there are {} segments, and {} by the linked core",
            program.len(),
            linked.len()
        ));
    }
    program.iter().zip(linked).find_map(|(program, linked)| {
        let fields = linked.as_object()?;
        let start = &linked["start_offset"];
        let unlike = fields.keys().find_map(|field| unlike_field(field, program, linked))?;
        Some(format!("segment {start}: {unlike}"))
    })
}
