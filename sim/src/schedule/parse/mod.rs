//! Reads scenarios and schedules.
//!
//! Promises: everything that is written is read, and what is not of the language is an error that points
//! at its line; printing what was read and reading it again gives the same value. Leaves out: whether what
//! a step names exists; the world says that.

mod compound;
mod crash;
mod error;
mod expect;
mod fault;
mod reader;
mod step;
mod value;
mod world;

use kdl::{KdlDocument, KdlNode};
use miette::SourceSpan;

pub use self::error::{ParseError, ParseFault};

use self::error::{Misfit, Read};
use self::reader::{Reader, unknown_node};
use super::scenario::{Kills, Origin, SCHEMA, Scenario, Schedule};
use super::step::{BatchId, Step};
use super::world::WorldHeader;

const NODES: [&str; 9] =
    ["scenario", "story", "finding", "report", "kills", "kills-none", "origin", "world", "steps"];

/// Reads a scenario. `name` is what errors call the text: its path.
///
/// # Errors
///
/// When the text is no KDL 2, or says anything that the language does not have.
///
/// # Examples
///
/// ```
/// let text = r#"
/// scenario "three messages" version=1
/// world filesystem="xfs" regime="legal" {
///     partition "1/1/0" durability="synced"
/// }
/// steps {
///     append "1/1/0" batch=0 count=3
///     flush "1/1/0"
/// }
/// "#;
/// let scenario = sim::schedule::parse("three.kdl", text).expect("it reads");
/// assert_eq!((scenario.title.as_str(), scenario.schedule.steps.len()), ("three messages", 2));
/// let error = sim::schedule::parse("three.kdl", &text.replace("append", "apend")).expect_err("no such step");
/// assert!(error.to_string().contains("there is no node apend"));
/// ```
pub fn parse(name: &str, text: &str) -> Result<Scenario, ParseError> {
    let document =
        KdlDocument::parse_v2(text).map_err(|error| ParseError::new(syntax(&error), name, text))?;
    scenario(&document).map_err(|misfit| ParseError::new(misfit, name, text))
}

fn syntax(error: &kdl::KdlError) -> Misfit {
    let nowhere = SourceSpan::from(0..0);
    let first = error.diagnostics.first();
    let message = first.and_then(|diagnostic| diagnostic.message.clone());
    Misfit {
        fault: ParseFault::Syntax { message: message.unwrap_or_else(|| "this is no KDL".to_owned()) },
        span: first.map_or(nowhere, |diagnostic| diagnostic.span),
        help: first.and_then(|diagnostic| diagnostic.help.clone()),
    }
}

/// What the nodes of a document say, as far as they were read.
#[derive(Default)]
struct Draft {
    title: Option<String>,
    stories: Vec<String>,
    findings: Vec<String>,
    reports: Vec<String>,
    kills: Option<Kills>,
    origin: Option<Origin>,
    world: Option<WorldHeader>,
    steps: Option<Vec<Step>>,
}

fn scenario(document: &KdlDocument) -> Read<Scenario> {
    let mut draft = Draft::default();
    for node in document.nodes() {
        top_node(&mut draft, node)?;
    }
    let missing = |name| Misfit::at(document.span(), ParseFault::MissingNode { name });
    let Some(title) = draft.title else { return Err(missing("scenario")) };
    let Some(world) = draft.world else { return Err(missing("world")) };
    let Some(steps) = draft.steps else { return Err(missing("steps")) };
    let schedule = Schedule { world, steps };
    if let Some((index, what)) = schedule.first_illegal() {
        return Err(Misfit::at(step_span(document, index), ParseFault::Illegal { what }));
    }
    Ok(Scenario {
        title,
        stories: draft.stories,
        findings: draft.findings,
        reports: draft.reports,
        kills: draft.kills.unwrap_or(Kills::Unsaid),
        origin: draft.origin,
        schedule,
    })
}

/// The line on which each step is written, counted from 1; nothing for a text that is no scenario.
pub fn step_lines(text: &str) -> Vec<usize> {
    let Ok(document) = KdlDocument::parse_v2(text) else { return Vec::new() };
    let steps = document.get("steps").and_then(KdlNode::children).map(KdlDocument::nodes);
    let line = |node: &KdlNode| text[..node.name().span().offset()].matches('\n').count() + 1;
    steps.unwrap_or_default().iter().map(line).collect()
}

/// Where the step of that index is written.
fn step_span(document: &KdlDocument, index: usize) -> SourceSpan {
    let steps = document.get("steps").and_then(KdlNode::children);
    let node = steps.and_then(|steps| steps.nodes().get(index));
    node.expect("a step that was read is written").name().span()
}

fn top_node(draft: &mut Draft, node: &KdlNode) -> Read<()> {
    let mut reader = Reader::new(node)?;
    match reader.name() {
        "scenario" => {
            let title = title(&mut reader)?;
            once(&mut draft.title, title, &reader)?;
        }
        "story" => draft.stories.push(reader.argument("prose")?),
        "finding" => draft.findings.extend(reader.arguments::<String>("a finding")?),
        "report" => draft.reports.extend(reader.arguments::<String>("a report")?),
        "kills" => {
            let kills = Kills::Mutants(reader.arguments("a planted bug")?);
            once(&mut draft.kills, kills, &reader)?;
        }
        "kills-none" => {
            let kills = Kills::None(reader.argument("why")?);
            once(&mut draft.kills, kills, &reader)?;
        }
        "origin" => {
            let (token, check) = (reader.required("token")?, reader.required("check")?);
            let origin = Origin { token, check, is_drawn: reader.property_or("drawn", false)? };
            once(&mut draft.origin, origin, &reader)?;
        }
        "world" => {
            let (world, span) = world::world(reader)?;
            return once_at(&mut draft.world, world, "world", span);
        }
        "steps" => {
            let span = reader.span();
            let steps = steps(reader.finish_entries()?)?;
            return once_at(&mut draft.steps, steps, "steps", span);
        }
        _ => return unknown_node(node, "a scenario", &NODES),
    }
    reader.finish()
}

fn title(reader: &mut Reader<'_>) -> Read<String> {
    let title = reader.argument("a title")?;
    match reader.required("version")? {
        SCHEMA => Ok(title),
        found => reader.misfit(ParseFault::Version { found, known: SCHEMA }),
    }
}

fn once<T>(slot: &mut Option<T>, value: T, reader: &Reader<'_>) -> Read<()> {
    once_at(slot, value, reader.name(), reader.span())
}

fn once_at<T>(slot: &mut Option<T>, value: T, name: &str, span: SourceSpan) -> Read<()> {
    if slot.is_some() {
        return Err(Misfit::at(span, ParseFault::Repeated { name: name.to_owned() }));
    }
    *slot = Some(value);
    Ok(())
}

fn steps(nodes: &[KdlNode]) -> Read<Vec<Step>> {
    let mut steps = Vec::with_capacity(nodes.len());
    let mut made: Vec<(BatchId, BatchId)> = Vec::new();
    for node in nodes {
        let step = step::step(node)?;
        if let Some((first, last)) = step.action.batches() {
            if let Some(&(taken, _)) = made.iter().find(|(from, to)| first <= *to && *from <= last) {
                let batch = first.max(taken).0;
                return Err(Misfit::at(node.name().span(), ParseFault::RepeatedBatch { batch }));
            }
            made.push((first, last));
        }
        steps.push(step);
    }
    Ok(steps)
}
