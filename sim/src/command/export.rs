//! `sim export`: what a start finds, as real directories, beside a file that says what recovery owes them.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;

use crate::cli::Export;
use crate::command::source::Source;
use crate::exit::Exit;
use crate::oracle::sample::Checks;
use crate::report::{json, terminal};
use crate::run::panics::{catch, remember_panics};
use crate::schedule::{Action, Schedule, Step};
use crate::subject::directory::{path_below, write_content};
use crate::world::{Arena, FrozenNode, Watch, freeze};

/// The file that says what is owed.
const EXPECT: &str = "EXPECT.json";

/// What was exported.
#[derive(Debug)]
pub struct ExportReport {
    /// What was exported: a token or a file.
    pub subject: String,
    /// The directory that was written.
    pub directory: String,
    /// The step that finds it so; as many as there are: the end.
    pub step: u32,
    /// That step, printed; `None` at the end.
    pub step_text: Option<String>,
    /// The nodes.
    pub nodes: Vec<FrozenNode>,
}

/// Exports a token or a file.
///
/// # Errors
///
/// When a stream or the directory cannot be written.
pub fn export(options: &Export, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let read = Source::read(&options.subject, options.image.as_deref(), Checks::Default).and_then(|source| {
        let step = step_of(&source.scenario.schedule, options.at)?;
        is_free(&options.directory)?;
        Ok((source, step))
    });
    let (source, step) = match read {
        Ok(read) => read,
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            return Ok(Exit::Usage);
        }
    };
    if let Some(remark) = &source.remark {
        writeln!(err, "warning: {remark}")?;
    }
    remember_panics();
    let schedule = &source.scenario.schedule;
    let mut arena = Arena::on(source.image);
    let nodes = match catch(|| freeze(schedule, &mut arena, step, Watch::of(source.sample))) {
        Ok(nodes) => nodes,
        Err(panic) => {
            writeln!(err, "error: the world ends before step {step}: {} at {}", panic.text, panic.place)?;
            return Ok(if panic.is_harness_bug() { Exit::Harness } else { Exit::Failed });
        }
    };
    let report = ExportReport {
        subject: options.subject.clone(),
        directory: options.directory.display().to_string(),
        step,
        step_text: schedule
            .steps
            .get(step as usize)
            .map(|step| crate::schedule::print_step(step).trim().to_owned()),
        nodes,
    };
    let expect = json::expect(&report);
    write_nodes(&options.directory, &report.nodes, &expect)?;
    if options.json {
        json::write(out, &json::export(&report))?;
    } else {
        terminal::export(out, &report)?;
    }
    Ok(Exit::Held)
}

/// The step whose disks are written: the one asked for, or the last start, or else the end.
fn step_of(schedule: &Schedule, at: Option<u32>) -> Result<u32, String> {
    let count = u32::try_from(schedule.steps.len()).expect("a schedule is short");
    let is_start = |step: &Step| matches!(step.action, Action::Start);
    let last_start = schedule.steps.iter().rposition(is_start);
    match at {
        Some(at) if at <= count => Ok(at),
        Some(at) => {
            Err(format!("the schedule has no step {at}\nhint: it has 0 to {count}, the last its end"))
        }
        None => Ok(last_start.map_or(count, |step| u32::try_from(step).expect("a schedule is short"))),
    }
}

/// Whether a directory can be written: nothing is written over.
fn is_free(directory: &Path) -> Result<(), String> {
    let shown = directory.display();
    match fs::read_dir(directory) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(format!("{shown} is not empty, and nothing is written over")),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("{shown} cannot be written: {error}")),
    }
}

fn write_nodes(directory: &Path, nodes: &[FrozenNode], expect: &Value) -> io::Result<()> {
    for (number, node) in nodes.iter().enumerate() {
        let root = directory.join(format!("node-{number}"));
        fs::create_dir_all(&root)?;
        for (way, content) in &node.tree {
            write_content(&path_below(&root, way), content)?;
        }
    }
    fs::write(directory.join(EXPECT), format!("{expect:#}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::directory;

    const STORY: &str = r#"
scenario "a bit below a mark" version=1
world filesystem="ext4-ordered" regime="unlimited" {
    partition "1/1/0" durability="proven"
}
steps {
    append "1/1/0" batch=0 count=3
    flush "1/1/0"
    crash "process"
    start
    append "1/1/0" batch=3 count=2
    crash "process"
    fault "bit-flip" "1/1/0" batch=1 field="frame.0.payload" bit=3
    start
}
"#;

    /// Exports the story to a directory of its own.
    fn exported(at: Option<u32>) -> (tempfile::TempDir, Exit, String) {
        let scratch = tempfile::tempdir().expect("a temporary directory can be made");
        let story = scratch.path().join("story.kdl");
        fs::write(&story, STORY).expect("it takes a file");
        let options = Export {
            subject: story.display().to_string(),
            directory: scratch.path().join("out"),
            image: None,
            at,
            json: false,
        };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let exit = export(&options, &mut out, &mut err).expect("memory and the directory take it");
        let text = String::from_utf8([out, err].concat()).expect("text");
        (scratch, exit, text)
    }

    fn expect_file(scratch: &tempfile::TempDir) -> Value {
        let text = fs::read_to_string(scratch.path().join("out/EXPECT.json")).expect("it was written");
        serde_json::from_str(&text).expect("it is JSON")
    }

    #[test]
    fn the_last_start_is_exported_with_what_is_owed() {
        let (scratch, exit, text) = exported(None);
        assert_eq!(exit, Exit::Held, "{text}");
        let expect = expect_file(&scratch);
        assert_eq!(
            (&expect["version"], &expect["step"], &expect["found_by"]),
            (&1.into(), &7.into(), &"start".into())
        );
        let partition = &expect["partitions"][0];
        assert_eq!(partition["path"], "node-0/streams/1/topics/1/partitions/0");
        let count = |list: &str| partition[list].as_array().map(Vec::len);
        assert_eq!(
            (count("must_keep"), count("must_refuse"), count("must_not_serve")),
            (Some(1), Some(1), Some(0))
        );
        assert_eq!(partition["must_refuse"][0]["first_offset"], 1);
        let accept = partition["accept"].as_array().expect("a list");
        assert_eq!((accept.len(), &accept[0]["disposition"]), (1, &"refuse".into()));
        let path = scratch.path().join("out").join(partition["path"].as_str().expect("a path"));
        let image = directory::read(&path).expect("it reads");
        assert!(image.directory.find(b"00000000000000000000.log").is_some());
    }

    #[test]
    fn an_earlier_step_finds_what_lay_there_then() {
        let (scratch, exit, text) = exported(Some(3));
        assert_eq!(exit, Exit::Held, "{text}");
        let partition = &expect_file(&scratch)["partitions"][0];
        assert_eq!(partition["must_keep"].as_array().map(Vec::len), Some(3));
        assert_eq!(partition["accept"][0]["disposition"], "serve");
        assert_eq!(partition["accept"][0]["next_offset_min"], 3);
    }

    #[test]
    fn what_cannot_be_exported_is_a_mistake_of_the_command_line() {
        let (_, exit, text) = exported(Some(9));
        assert_eq!(exit, Exit::Usage);
        assert_eq!(text, "error: the schedule has no step 9\nhint: it has 0 to 8, the last its end\n");
        let full = tempfile::tempdir().expect("a temporary directory can be made");
        fs::write(full.path().join("file"), []).expect("it takes a file");
        let error = is_free(full.path()).expect_err("something lies there");
        assert!(error.ends_with("is not empty, and nothing is written over"), "{error}");
    }
}
