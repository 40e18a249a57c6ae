//! Tells of a run as it goes: on one stream in one form, and in `run.jsonl`; saves failing schedules and how
//! far the run has come.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::checkpoint::Checkpoint;
use crate::command::file;
use crate::exit::Exit;
use crate::report::lines::{FailureLine, Line, StartedLine, SummaryLine, reach_lines, read_sections};
use crate::report::merged::shown;
use crate::report::progress::Progress;
use crate::report::terminal;
use crate::report::whole::Whole;
use crate::run::planted::{Planted, PlantedWorld};
use crate::run::reach;
use crate::run::session::{FailedSeed, Listener, Summary};
use crate::schedule::{Origin, Scenario, parse, print};

/// The name of the file of lines.
pub(super) const LINES: &str = "run.jsonl";

/// Where failing schedules are saved.
const FAILURES: &str = "failures";

/// Where the schedule of the planted failure is saved.
const PLANTED: &str = "planted";

/// Whoever tells of a run.
pub(super) struct Reporting<'a> {
    is_json: bool,
    directory: PathBuf,
    lines: BufWriter<File>,
    checkpoint: Checkpoint,
    progress: &'a Progress,
    out: &'a mut dyn Write,
    started: StartedLine,
    /// Keeps other runs out of the directory.
    _held: File,
    planted: Option<FailureLine>,
    failures: Vec<FailureLine>,
    trouble: Option<io::Error>,
}

impl<'a> Reporting<'a> {
    /// Begins a run, or goes on with one whose failing seeds were `failures`.
    pub(super) fn begin(
        directory: &Path,
        started: StartedLine,
        resumed: Option<Vec<FailureLine>>,
        is_json: bool,
        progress: &'a Progress,
        out: &'a mut dyn Write,
    ) -> io::Result<Self> {
        file::make_folder(directory)?;
        let held = file::hold(directory)?;
        let checkpoint = match resumed {
            Some(_) => Checkpoint::go_on(directory)?,
            None => Checkpoint::begin(directory)?,
        };
        // The file of a run that goes on is replaced as a whole: at no moment are its failures gone.
        let (begun, path) = (directory.join("run.jsonl.new"), directory.join(LINES));
        let mut text = format!("{}\n", Line::RunStarted(started.clone()).text());
        for failure in resumed.iter().flatten() {
            text.push_str(&Line::Failure(failure.clone()).text());
            text.push('\n');
        }
        fs::write(&begun, text)?;
        fs::rename(&begun, &path)?;
        let lines = BufWriter::new(OpenOptions::new().append(true).open(path)?);
        let mut reporting = Self {
            is_json,
            directory: directory.to_owned(),
            lines,
            checkpoint,
            progress,
            out,
            started,
            _held: held,
            planted: None,
            failures: Vec::new(),
            trouble: None,
        };
        let line = Line::RunStarted(reporting.started.clone());
        let started = reporting.started.clone();
        reporting.show(&line, |out| terminal::run_started(out, &started))?;
        let per_group = reporting.started.limits.per_group;
        for failure in shown(&resumed.unwrap_or_default(), per_group) {
            reporting
                .show(&Line::Failure(failure.clone()), |out| terminal::failure(out, &started, &failure))?;
            reporting.failures.push(failure);
        }
        Ok(reporting)
    }

    /// Shows a line on the stream, in the form that is asked for.
    fn show(&mut self, line: &Line, text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let (out, is_json) = (&mut *self.out, self.is_json);
        self.progress.aside(|| if is_json { writeln!(out, "{}", line.text()) } else { text(out) })
    }

    /// Keeps a line, and shows it.
    fn say(&mut self, line: &Line, text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        writeln!(self.lines, "{}", line.text())?;
        self.show(line, text)
    }

    /// Shows something that only its own form has.
    pub(super) fn aside(&mut self, tell: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let out = &mut *self.out;
        self.progress.aside(|| tell(out))
    }

    /// Takes the planted failure the way of every other one, and sees whether it arrives.
    pub(super) fn plant(&mut self) -> io::Result<Planted> {
        let world = PlantedWorld::run();
        let (Some(group), Some(failure)) = (world.group(), world.outcome.failures.first()) else {
            return Ok(world.fate(false));
        };
        let failed = FailedSeed {
            token: None,
            schedule: &world.schedule,
            digest: world.outcome.digest,
            failure,
            group: &group,
            is_known: false,
            is_shown: true,
            faults: &world.outcome.culprits,
            difference: None,
        };
        let line = self.save(PLANTED, &failed)?;
        let kept = Line::Planted(line.clone());
        let is_kept = has_arrived(&line, &failed)?;
        self.say(&kept, |_| Ok(()))?;
        self.lines.flush()?;
        let text = fs::read_to_string(self.directory.join(LINES))?;
        let sections = read_sections(&text).unwrap_or_default();
        let is_written = sections.last().is_some_and(|section| section.planted.as_ref() == Some(&line));
        self.planted = Some(line);
        Ok(world.fate(is_kept && is_written))
    }

    /// Writes the failing schedule as a scenario file that replays on every later version, and its line
    /// beside it.
    fn save(&self, kind: &str, failed: &FailedSeed<'_>) -> io::Result<FailureLine> {
        let folder = self.directory.join(kind).join(failed.group);
        fs::create_dir_all(&folder)?;
        let name = failed.token.map_or_else(|| kind.to_owned(), |token| token.to_string());
        let file = folder.join(format!("{name}.kdl"));
        let violation = &failed.failure.violation;
        let check = violation.check.code().to_owned();
        let origin = failed.token.map(|token| Origin { token: token.to_string(), check, is_drawn: false });
        let scenario =
            Scenario { origin, ..Scenario::untold(violation.to_string(), failed.schedule.clone()) };
        fs::write(&file, print(&scenario))?;
        let path = file.to_string_lossy().replace('\\', "/");
        let line = FailureLine { file: Some(path), ..FailureLine::of_seed(failed) };
        fs::write(file.with_extension("json"), format!("{}\n", Line::Failure(line.clone()).text()))?;
        Ok(line)
    }

    /// Ends the run: its last lines, and what there is to say of it.
    pub(super) fn end(mut self, summary: Summary) -> io::Result<Whole> {
        if let Some(trouble) = self.trouble {
            return Err(trouble);
        }
        let (started, planted) = (self.started.clone(), self.planted.take());
        let whole = Whole::of(started, planted, std::mem::take(&mut self.failures), summary);
        for line in whole.last_lines() {
            match line {
                Line::RunSummary(_) => self.say(&line, |out| terminal::run_summary(out, &whole))?,
                Line::RunStarted(_) | Line::Planted(_) | Line::Failure(_) | Line::Reach(_) => {
                    self.say(&line, |_| Ok(()))?;
                }
            }
        }
        self.lines.flush()?;
        Ok(whole)
    }

    fn keep(&mut self, summary: &Summary) -> io::Result<()> {
        self.lines.flush()?;
        let started = &self.started;
        self.checkpoint.keep(|lines| {
            for line in reach_lines(&reach::lines(&summary.tally)) {
                writeln!(lines, "{}", Line::Reach(line).text())?;
            }
            let last = SummaryLine::of(started, summary, &[], Exit::Held);
            writeln!(lines, "{}", Line::RunSummary(last).text())
        })
    }
}

/// Whether the saved schedule reads as the one that failed, and its line as what was found.
fn has_arrived(line: &FailureLine, failed: &FailedSeed<'_>) -> io::Result<bool> {
    let Some(file) = &line.file else { return Ok(false) };
    let is_schedule =
        parse(file, &fs::read_to_string(file)?).is_ok_and(|scenario| scenario.schedule == *failed.schedule);
    let text = fs::read_to_string(Path::new(file).with_extension("json"))?;
    let is_line = serde_json::from_str::<Line>(&text).is_ok_and(|read| read == Line::Failure(line.clone()));
    Ok(is_schedule && is_line)
}

impl Listener for Reporting<'_> {
    fn failed(&mut self, failed: &FailedSeed<'_>) {
        let started = self.started.clone();
        if !failed.is_shown {
            // Its token is kept: all of a group can be replayed.
            let line = Line::Failure(FailureLine::of_seed(failed));
            if let Err(trouble) = writeln!(self.lines, "{}", line.text()) {
                self.trouble.get_or_insert(trouble);
            }
            return;
        }
        let reported = self.save(FAILURES, failed).and_then(|line| {
            self.say(&Line::Failure(line.clone()), |out| terminal::failure(out, &started, &line))?;
            self.lines.flush()?;
            self.failures.push(line);
            Ok(())
        });
        if let Err(trouble) = reported {
            self.trouble.get_or_insert(trouble);
        }
    }

    fn progress(&mut self, summary: &Summary) {
        self.progress.show(summary);
        if let Err(trouble) = self.keep(summary) {
            self.trouble.get_or_insert(trouble);
        }
    }
}
