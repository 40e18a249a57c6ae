//! What lay on a partition's disk at the moments that matter.
//!
//! Promises: a moment inside a step, right before a crash, is that of the same world in which the process
//! alone ends there: what reads saw then, reads still see. Leaves out: moments of other nodes.

use recovery_core::format::{FileName, partition_components};
use recovery_core::storage::Name;
use recovery_core::units::SegmentStart;

use super::Place;
use crate::oracle::boot_view::bytes_of;
use crate::oracle::truth::{Life, Truth};
use crate::oracle::{Content, FileImage, Image, ImageEntry, PartitionImage};
use crate::run::one::run_watched;
use crate::run::replay::Replayed;
use crate::schedule::{Action, Crash, Interruption, Schedule, Step};
use crate::world::{Arena, ContentLeft, Failure, NodeLeft, PartitionLeft, Watch};

/// A log at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Which moment it is, in words.
    pub when: String,
    /// The log's bytes; `None` where there is no such file.
    pub log: Option<Vec<u8>>,
    /// Batches that belong there: as they were written, and where.
    pub batches: Vec<Batch>,
    /// Files in the fences beside the partition, with their lengths.
    pub fenced: Vec<(String, u64)>,
}

/// A batch as it was written to a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Position of its first byte.
    pub position: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it was promised.
    pub is_promised: bool,
}

/// The failing partition at each moment.
pub(super) struct Around {
    moments: Vec<(String, u32, PartitionLeft)>,
    before_start: Option<PartitionLeft>,
}

impl Around {
    /// What lay there when the start that matters began.
    pub(super) fn before_start(&self) -> Option<&PartitionLeft> {
        self.before_start.as_ref()
    }

    /// What lies there in the end.
    pub(super) fn last(&self) -> Option<&PartitionLeft> {
        self.moments.last().map(|(_, _, left)| left)
    }

    /// What lies there in the end, and when that is, in words.
    pub(super) fn last_with_words(&self) -> Option<(&str, &PartitionLeft)> {
        self.moments.last().map(|(when, _, left)| (when.as_str(), left))
    }

    /// The log of a place at each moment. What a start has given up is still drawn where it was.
    pub(super) fn of(&self, place: &Place) -> Vec<Moment> {
        let Some(segment) = place.segment else { return Vec::new() };
        let first = self.moments.first().map(|(_, _, left)| batches(&left.truth, segment));
        let first = first.unwrap_or_default();
        let moments = self.moments.iter().map(|(when, _, left)| {
            let mut batches = batches(&left.truth, segment);
            let is_new = |old: &&Batch| !batches.iter().any(|new| new.position == old.position);
            let given_up: Vec<Batch> = first.iter().filter(is_new).cloned().collect();
            batches.extend(given_up);
            batches.sort_by_key(|batch| batch.position);
            let log = bytes_of(&left.image.directory, &FileName::log(segment)).map(<[u8]>::to_vec);
            Moment { when: when.clone(), log, batches, fenced: fenced(left) }
        });
        moments.collect()
    }
}

/// Every log of a partition that is there, or that holds a batch that lives.
pub fn logs(left: &PartitionLeft) -> Vec<(SegmentStart, Moment)> {
    let names =
        left.image.directory.entries.iter().filter_map(|entry| match FileName::classify(&entry.name) {
            FileName::Log(start) => Some(start),
            FileName::Index(_)
            | FileName::Ledger
            | FileName::Superblock(_)
            | FileName::Staging
            | FileName::StrayLog
            | FileName::StrayIndex
            | FileName::Other => None,
        });
    let mut starts: Vec<SegmentStart> = names.collect();
    starts.extend(left.truth.writes().iter().filter(|write| lives(write.life)).map(|write| write.segment));
    starts.sort_unstable();
    starts.dedup();
    let log = |start: SegmentStart| {
        let log = bytes_of(&left.image.directory, &FileName::log(start)).map(<[u8]>::to_vec);
        let batches = batches(&left.truth, start);
        (start, Moment { when: String::new(), log, batches, fenced: Vec::new() })
    };
    starts.into_iter().map(log).collect()
}

fn fenced(left: &PartitionLeft) -> Vec<(String, u64)> {
    let mut files: Vec<(String, u64)> = Vec::new();
    for fence in &left.image.fences {
        for entry in &fence.image.entries {
            if let Content::File(file) = &entry.content {
                files.push((format!("{}/{}", fence.name, entry.name), file.bytes.len() as u64));
            }
        }
    }
    files.sort();
    files
}

const fn lives(life: Life) -> bool {
    matches!(life, Life::Buffered | Life::Acknowledged | Life::Adopted)
}

/// The batches of a segment that live, by what is true.
fn batches(truth: &Truth, segment: SegmentStart) -> Vec<Batch> {
    let here = truth.writes().iter().filter(|write| write.segment == segment && lives(write.life));
    let mut found: Vec<Batch> = here
        .map(|write| Batch {
            position: write.position,
            bytes: truth.bytes_of(write).to_vec(),
            is_promised: write.is_promised,
        })
        .collect();
    found.sort_by_key(|batch| batch.position);
    found
}

/// One moment that is wanted: in words, the step behind which it lies, and the world in which it does.
struct Wanted {
    when: String,
    step: usize,
    schedule: Option<Schedule>,
}

/// The moments around a failure: before and after the last crash that comes before it, after the damage
/// behind that, after the start, and at the failure; and before the start that matters, which came in step `boot`.
pub(super) fn around(arena: &mut Arena, replayed: &Replayed, failure: &Failure, boot: Option<u32>) -> Around {
    let schedule = &replayed.schedule;
    let number = |step: usize| u32::try_from(step).expect("a schedule is short");
    let Acts { crash, damage, start, last } = Acts::before(schedule, failure);
    // What breaks while nothing goes down is about what would be left if something did.
    let is_about_medium = start != Some(last) && crash != Some(last);
    let mut moments = Vec::new();
    for Wanted { when, step, schedule: other } in wanted(schedule, Acts { crash, damage, start, last }) {
        // A world with hosts goes on behind its last step.
        let until = (step < schedule.steps.len()).then(|| number(step));
        let Some((node, found)) = behind(arena, other.as_ref().unwrap_or(schedule), until, failure) else {
            continue;
        };
        let medium = on_medium(&node, &found);
        moments.push((when, number(step), found));
        if is_about_medium && step == last {
            moments.push(("and on the medium".to_owned(), number(step), medium));
        }
    }
    let before_start = boot
        .and_then(|boot| boot.checked_sub(1))
        .and_then(|before| behind(arena, schedule, Some(before), failure));
    Around { moments, before_start: before_start.map(|(_, found)| found) }
}

/// The node of a failure behind a step, and the partition of it that failed.
fn behind(
    arena: &mut Arena,
    schedule: &Schedule,
    until: Option<u32>,
    failure: &Failure,
) -> Option<(NodeLeft, PartitionLeft)> {
    let node = partitions_behind(arena, schedule, until).into_iter().nth(failure.node.into())?;
    let own = |partition: &&PartitionLeft| Some(partition.namespace) == failure.partition;
    let found = node.partitions.iter().find(own).cloned()?;
    Some((node, found))
}

/// The steps of the failing node that matter, up to the failure.
#[derive(Clone, Copy)]
struct Acts {
    /// The last crash before the start, or before the failure.
    crash: Option<usize>,
    /// The last damage between the two.
    damage: Option<usize>,
    /// The last start.
    start: Option<usize>,
    /// The step of the failure; one behind the last if it came then.
    last: usize,
}

impl Acts {
    fn before(schedule: &Schedule, failure: &Failure) -> Self {
        let last = failure.step as usize;
        let steps = || {
            let steps = schedule.steps.iter().enumerate().take(last + 1).rev();
            steps.filter(|(_, step)| step.node.0 == failure.node)
        };
        let start = steps().find(|(_, step)| matches!(step.action, Action::Start)).map(|(at, _)| at);
        let until = start.unwrap_or(last);
        let crash = steps().find(|(at, step)| *at <= until && step.crashes().next().is_some());
        let crash = crash.map(|(at, _)| at);
        let damage = steps().find(|(at, step)| {
            let is_damage = matches!(step.action, Action::Fault { .. } | Action::Plant(_));
            is_damage && *at < until && Some(*at) > crash
        });
        Self { crash, damage: damage.map(|(at, _)| at), start, last }
    }
}

fn wanted(schedule: &Schedule, acts: Acts) -> Vec<Wanted> {
    let Acts { crash, damage, start, last } = acts;
    let at = |when: String, step: usize| Wanted { when, step, schedule: None };
    let mut wanted = Vec::new();
    match (crash, damage.or(start)) {
        (Some(crash), _) => {
            let gently = Some(ended_gently(schedule, crash));
            wanted
                .push(Wanted { schedule: gently, ..at(format!("before the crash in step {crash}"), crash) });
            wanted.push(at(format!("after the crash in step {crash}"), crash));
        }
        (None, Some(first)) => {
            wanted.extend(first.checked_sub(1).map(|before| at(format!("behind step {before}"), before)));
        }
        (None, None) => {}
    }
    wanted.extend(damage.map(|damage| at(format!("after the damage in step {damage}"), damage)));
    wanted.extend(
        start
            .filter(|start| Some(*start) != crash)
            .map(|start| at(format!("after recovery in step {start}"), start)),
    );
    let is_look = schedule.steps.get(last).is_some_and(Step::is_expectation);
    // What only looks finds what was there before it.
    let is_shown = is_look && (start.is_some() || crash.is_some());
    if start != Some(last) && crash != Some(last) && !is_shown {
        let is_end = last >= schedule.steps.len();
        wanted.push(at(if is_end { "in the end".to_owned() } else { format!("behind step {last}") }, last));
    }
    wanted
}

/// The same partition, as it lies on the medium.
fn on_medium(node: &NodeLeft, left: &PartitionLeft) -> PartitionLeft {
    let components: Vec<String> =
        partition_components(left.namespace).iter().map(ToString::to_string).collect();
    let directory = components.join("/") + "/";
    let entries = node.durable.iter().filter_map(|file| {
        let name = Name::new(file.path.strip_prefix(&directory)?.as_bytes())?;
        let content = match &file.content {
            ContentLeft::File(bytes) => Content::File(FileImage::readable(bytes.clone())),
            ContentLeft::Directory => Content::Directory,
            ContentLeft::Other => Content::Other,
        };
        Some(ImageEntry { name, content })
    });
    let directory = Image { entries: entries.collect(), is_listable: true };
    PartitionLeft { image: PartitionImage { directory, fences: Vec::new() }, ..left.clone() }
}

/// What each node holds behind a step, or in the end.
pub fn partitions_behind(arena: &mut Arena, schedule: &Schedule, until: Option<u32>) -> Vec<NodeLeft> {
    let watch = Watch { until, keeps_disks: true, ..Watch::of(crate::oracle::sample::Sample::EVERYTHING) };
    arena.left.clear();
    run_watched(arena, schedule, watch);
    std::mem::take(&mut arena.left)
}

/// The same schedule in which nothing is lost where a step's crash comes.
pub(super) fn ended_gently(schedule: &Schedule, step: usize) -> Schedule {
    let mut schedule = schedule.clone();
    let step = &mut schedule.steps[step];
    if let Action::Crash(crash) = &mut step.action {
        *crash = Crash::Process;
    }
    for interruption in &mut step.interruptions {
        if let Interruption::Crash(inside) = interruption {
            inside.crash = Crash::Process;
        }
    }
    schedule
}
