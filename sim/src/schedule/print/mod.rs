//! Prints scenarios and schedules, canonically.
//!
//! Promises: the order of CONTRACTS 8; defaults are left out, but for what a reader wants to see (file
//! system, regime, durability, what survives, which call); one step a line; reading it back gives the same
//! value. Leaves out: comments.

mod expect;
mod fault;
mod node;
mod step;

use recovery_core::units::Offset;

use self::node::Node;
use super::scenario::{Kills, Origin, SCHEMA, Scenario, Schedule};
use super::step::{NodeId, Step};
use super::world::{
    Image, PAGE_BYTES_DEFAULT, PartitionHeader, SECTOR_BYTES_DEFAULT, SEGMENT_BYTES_DEFAULT,
    WINDOW_BYTES_DEFAULT, WorldHeader,
};

/// The scenario as a KDL document.
///
/// # Examples
///
/// What is printed reads as the same scenario, on every later version too.
///
/// ```
/// use sim::schedule::generate::{Knobs, generate};
/// use sim::schedule::{Scenario, Tape, parse, print};
///
/// let schedule = generate(&mut Tape::from_seed(7), Knobs::default());
/// let text = print(&Scenario::untold("seed 7".to_owned(), schedule.clone()));
/// assert_eq!(parse("seven.kdl", &text).expect("it reads").schedule, schedule);
/// ```
pub fn print(scenario: &Scenario) -> String {
    let mut nodes = vec![Node::new("scenario").text(&scenario.title).set("version", SCHEMA)];
    nodes.extend(scenario.stories.iter().map(|story| Node::new("story").text(story)));
    nodes.extend(some_texts("finding", &scenario.findings));
    nodes.extend(some_texts("report", &scenario.reports));
    nodes.extend(match &scenario.kills {
        Kills::Unsaid => None,
        Kills::Mutants(mutants) => Some(Node::new("kills").texts(mutants)),
        Kills::None(why) => Some(Node::new("kills-none").text(why)),
    });
    nodes.extend(scenario.origin.as_ref().map(origin));
    finish(nodes, &scenario.schedule)
}

/// A schedule as the document that a failure is stored as.
pub fn print_schedule(title: &str, found_by: Option<&Origin>, schedule: &Schedule) -> String {
    let mut nodes = vec![Node::new("scenario").text(title).set("version", SCHEMA)];
    nodes.extend(found_by.map(origin));
    finish(nodes, schedule)
}

/// One step on one line, as timelines show it.
pub fn print_step(step: &Step) -> String {
    step::step(step).line()
}

fn finish(nodes: Vec<Node>, schedule: &Schedule) -> String {
    let steps = Node::block("steps").children(schedule.steps.iter().map(step::step));
    let mut out = String::new();
    for node in nodes.into_iter().chain([world(&schedule.world), steps]) {
        node.render(0, &mut out);
    }
    out
}

fn some_texts(name: &str, texts: &[String]) -> Option<Node> {
    (!texts.is_empty()).then(|| Node::new(name).texts(texts))
}

fn origin(origin: &Origin) -> Node {
    let node = Node::new("origin").set_text("token", &origin.token).set_text("check", &origin.check);
    if origin.is_drawn { node.set_flag("drawn", true) } else { node }
}

fn world(world: &WorldHeader) -> Node {
    Node::block("world")
        .set_word("filesystem", world.filesystem)
        .set_word("regime", world.regime)
        .set_unless("nodes", world.nodes, 1_u64)
        .set_unless("sector", world.sector_bytes, SECTOR_BYTES_DEFAULT)
        .set_unless("page", world.page_bytes, PAGE_BYTES_DEFAULT)
        .set_unless("window", world.window_bytes, WINDOW_BYTES_DEFAULT)
        .children(world.partitions.iter().map(partition))
        .children(world.images.iter().map(image))
}

fn partition(partition: &PartitionHeader) -> Node {
    let node =
        Node::new("partition").partition(partition.namespace).set_word("durability", partition.durability);
    let node = if partition.ledger { node } else { node.set_flag("ledger", false) };
    node.set_unless("first-offset", partition.first_offset.get(), 0_u64)
        .set_unless("segment-bytes", partition.segment_bytes, SEGMENT_BYTES_DEFAULT)
        .set_some("superblock-frontier", partition.superblock_frontier.map(Offset::get))
}

fn image(image: &Image) -> Node {
    on_node(Node::new("image").text(&image.directory), image.node)
}

fn on_node(node: Node, id: NodeId) -> Node {
    node.set_unless("node", id.0, 0_u64)
}
