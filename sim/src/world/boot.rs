//! A start of one partition: lock, recovery by the real core, then its writer.
//!
//! Promises: what the core was given (the image behind settling) and what it left are both kept for the
//! checks. Leaves out: judging either.

use std::ops::Range;

use recovery_core::decide::{Disposition, Verdict};
use recovery_core::format::partition_components;
use recovery_core::observe::{Expectation, PartitionFacts, Progress, Unavailable, Workspace};
use recovery_core::partition::{Adopted, Writer};
use recovery_core::plan::{Plan, PlanOptions, Step as PlanStep};
use recovery_core::recovery::{Mode, Recovered, Recovery, RecoveryStep};
use recovery_core::storage::{Call, Errno, LockMode, Name, PartitionDirectory, StorageError};

use super::again::changes;
use super::look;
use super::meter::{Meter, Phase};
use super::node::{Service, Slot};
use super::patience::Patience;
use crate::disk::{Event, SimDisk};
use crate::oracle::invariants::Cursor;
use crate::oracle::{Forgotten, PartitionImage};

/// Bytes that one step of a recovery may read and hash.
pub const STEP_BYTES: u64 = 64 * 1024;

/// `ETIMEDOUT` (errno(3)).
const TIMED_OUT: Errno = Errno::from_raw(110);

/// What a start of one partition came to.
pub struct Boot {
    /// What lay on the medium when the core looked, if it came so far.
    pub before: Option<PartitionImage>,
    /// What lay there when it looked for the last time, if it looked again because batches were carried over.
    pub carried: Option<PartitionImage>,
    /// What lies there now.
    pub after: PartitionImage,
    /// Files whose bytes the medium did not all hold before, by their numbers.
    unsettled: Vec<(u32, Forgotten)>,
    /// Those of them whose sync failed.
    pub forgotten: Vec<Forgotten>,
    /// The facts; incomplete when the verdict is unavailable.
    pub facts: PartitionFacts,
    /// The verdict.
    pub verdict: Verdict,
    /// The plan, carried out unless something failed.
    pub plan: Plan,
    /// Why no writer could be opened on what recovery left.
    pub open_error: Option<String>,
    /// Where the writer appends next that was opened on it.
    pub cursor: Option<Cursor>,
    /// Whether a step of the plan failed.
    pub failed_to_act: bool,
    /// Where the core was last; if it came to no verdict, where that was.
    pub reached: RecoveryStep,
    /// The last step of a plan that it came to.
    pub acted: Option<PlanStep>,
    /// Calls that change names, lengths or contents, made before the core looked.
    pub settling_changes: u64,
    /// Steps that recovery took, or had taken when nobody waited any longer.
    pub steps: u64,
    /// Which of its storage calls it made while it looked for the first time, counted from 0.
    pub looked: Range<usize>,
}

impl Boot {
    /// A start that came to nothing.
    fn of_nothing(after: PartitionImage, expectation: Expectation, cause: Unavailable) -> Self {
        Self {
            before: None,
            carried: None,
            after,
            unsettled: Vec::new(),
            forgotten: Vec::new(),
            facts: PartitionFacts::of_nothing(expectation),
            verdict: Verdict::unavailable(cause, &[]),
            plan: Plan::default(),
            open_error: None,
            cursor: None,
            failed_to_act: false,
            reached: RecoveryStep::Settle,
            acted: None,
            settling_changes: 0,
            steps: 0,
            looked: 0..0,
        }
    }

    /// Keeps the files of which a sync failed in `calls`.
    pub(super) fn keep_forgotten(&mut self, calls: &[Event]) {
        let has_failed = |number: u32| {
            let mut syncs = calls.iter().filter(|call| call.call == Call::Sync && call.errno.is_some());
            syncs.any(|call| call.object == number)
        };
        let unsettled = std::mem::take(&mut self.unsettled).into_iter();
        let forgotten = unsettled.filter(|(number, _)| has_failed(*number));
        self.forgotten = forgotten.map(|(_, forgotten)| forgotten).collect();
    }

    /// What the core says about it, in its own words.
    pub fn remark(&self) -> Option<String> {
        match &self.verdict.disposition {
            Disposition::Refuse(reason) => Some(reason.to_string()),
            Disposition::Unavailable(Unavailable::Io(error)) => Some(self.told(error)),
            Disposition::Unavailable(Unavailable::Locked) => Some("locked".to_owned()),
            Disposition::Serve | Disposition::ServeFrom { .. } => self.open_error.clone(),
        }
    }

    /// An error; of the partition's own directory, which an error knows by its last component, with all of its name.
    fn told(&self, error: &StorageError) -> String {
        let StorageError { call, file, errno } = error;
        let namespace = self.facts.namespace;
        if partition_components(namespace).last() == Some(file) {
            return format!("{} of the directory of {namespace} failed with {errno}", call.code());
        }
        error.to_string()
    }

    /// Whether the partition is served from now on.
    pub fn is_serving(&self) -> bool {
        self.verdict.is_served() && self.open_error.is_none()
    }
}

/// How a start ends for which nobody waits any longer.
fn given_up() -> Unavailable {
    let file = Name::new(b"partition").expect("a short word is a name");
    Unavailable::Io(StorageError { call: Call::Read, file, errno: TIMED_OUT })
}

/// What is known of a partition before it is looked at.
pub(super) fn expectation(slot: &Slot) -> Expectation {
    Expectation {
        incarnation: slot.header.ledger.then_some(slot.incarnation),
        durability: slot.header.durability,
        // Whose superblocks a directory from elsewhere holds nobody has told the world.
        superblock: slot.header.superblock_frontier.map(|_| look::OWN_SUPERBLOCK),
        ..Expectation::of(slot.header.namespace)
    }
}

/// Which images of a start are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sight {
    before: bool,
    after: bool,
    medium: bool,
}

impl Sight {
    /// What lies there before it and behind it.
    pub(super) const ALL: Self = Self { before: true, after: true, medium: false };
    /// And what the medium held before it.
    pub(super) const MEDIUM: Self = Self { before: true, after: true, medium: true };
    /// What lies there behind it.
    pub(super) const AFTER: Self = Self { before: false, after: true, medium: false };
    /// The verdict alone.
    pub(super) const NOTHING: Self = Self { before: false, after: false, medium: false };

    fn after(self, disk: &SimDisk, slot: &Slot) -> PartitionImage {
        if self.after { look::image(disk, &slot.components) } else { PartitionImage::default() }
    }
}

/// Starts one partition, for good.
pub(super) fn boot(
    disk: &SimDisk,
    slot: &mut Slot,
    workspace: &mut Workspace,
    meter: &mut Meter,
    sight: Sight,
) -> Boot {
    let (boot, service) = start(disk, slot, workspace, meter, sight);
    slot.service = service;
    slot.failed_sync = None;
    boot
}

/// What a start may use.
pub(super) struct Means<'a> {
    /// Memory.
    pub(super) workspace: &'a mut Workspace,
    /// Bytes of a step.
    pub(super) step_bytes: u64,
}

/// Starts one partition, and says what its node does with it from then on.
pub(super) fn start(
    disk: &SimDisk,
    slot: &Slot,
    workspace: &mut Workspace,
    meter: &mut Meter,
    sight: Sight,
) -> (Boot, Service) {
    start_by(disk, slot, &mut Means { workspace, step_bytes: STEP_BYTES }, meter, sight)
}

/// As [`start`], by other means than a node's.
pub(super) fn start_by(
    disk: &SimDisk,
    slot: &Slot,
    means: &mut Means<'_>,
    meter: &mut Meter,
    sight: Sight,
) -> (Boot, Service) {
    match open(disk, slot) {
        Ok(partition) => recover(disk, slot, partition, means, meter, sight),
        Err(cause) => {
            let boot = Boot::of_nothing(sight.after(disk, slot), expectation(slot), cause);
            (boot, Service::Unavailable)
        }
    }
}

fn open(disk: &SimDisk, slot: &Slot) -> Result<PartitionDirectory<SimDisk>, Unavailable> {
    let partition = PartitionDirectory::open(disk, &slot.components).map_err(Unavailable::Io)?;
    match partition.lock(disk, LockMode::Exclusive) {
        Ok(()) => Ok(partition),
        Err(cause) => {
            partition.close(disk);
            Err(cause)
        }
    }
}

/// The way that a recovery took.
struct Course {
    before: Option<PartitionImage>,
    carried: Option<PartitionImage>,
    unsettled: Vec<(u32, Forgotten)>,
    reached: RecoveryStep,
    /// What its last step was about.
    last: RecoveryStep,
    acted: Option<PlanStep>,
    settling_changes: u64,
    steps: u64,
    looked: Range<usize>,
    has_ended: bool,
}

impl Course {
    /// The start that went this way and came to nothing.
    fn told(self, boot: Boot) -> Boot {
        let Self {
            before, carried, unsettled, last: reached, acted, settling_changes, steps, looked, ..
        } = self;
        Boot { before, carried, unsettled, reached, acted, settling_changes, steps, looked, ..boot }
    }

    /// Notes calls made while recovery looked: those of its first look follow each other.
    fn note_looking(&mut self, calls: Range<usize>) {
        if self.looked.is_empty() {
            self.looked = calls;
        } else if self.looked.end == calls.start {
            self.looked.end = calls.end;
        }
    }

    /// Keeps what lies there when recovery begins to look.
    fn keep(&mut self, disk: &SimDisk, slot: &Slot, sight: Sight) {
        let image = look::image(disk, &slot.components);
        if self.before.is_some() {
            self.carried = Some(image);
            return;
        }
        self.before = Some(image);
        if sight.medium {
            self.unsettled = look::unsettled(disk, &slot.components);
        }
    }
}

/// Takes a recovery to its end, as far as anybody waits for it.
fn follow(
    disk: &SimDisk,
    slot: &Slot,
    recovery: &mut Recovery<SimDisk>,
    partition: &PartitionDirectory<SimDisk>,
    means: &mut Means<'_>,
    meter: &mut Meter,
    sight: Sight,
) -> Course {
    let mut course = Course {
        before: None,
        carried: None,
        unsettled: Vec::new(),
        reached: RecoveryStep::Settle,
        last: RecoveryStep::Settle,
        acted: None,
        settling_changes: 0,
        steps: 0,
        looked: 0..0,
        has_ended: false,
    };
    let mut patience = Patience::new();
    let (mut was_looking, mut has_looked) = (false, false);
    while !course.has_ended && patience.waits_for_more(|| look::image(disk, &slot.components)) {
        let at = recovery.reached();
        let is_looking = at == RecoveryStep::Observe;
        if sight.before && is_looking && !was_looking {
            let phase = meter.enter(Phase::Oracle);
            course.keep(disk, slot, sight);
            meter.enter(phase);
        }
        (was_looking, has_looked) = (is_looking, has_looked || is_looking);
        let from = disk.recorded();
        if let Some(acting) = recovery.acting() {
            course.acted = Some(acting);
        }
        course.last = at;
        course.has_ended =
            recovery.step(disk, partition, means.workspace, means.step_bytes) == Progress::Done;
        if at == RecoveryStep::Settle && !has_looked {
            course.settling_changes += disk.count_recorded(from, changes);
        }
        if is_looking {
            course.note_looking(from..disk.recorded());
        }
        course.reached = course.reached.max(recovery.reached());
    }
    course.steps = patience.steps();
    course
}

fn recover(
    disk: &SimDisk,
    slot: &Slot,
    partition: PartitionDirectory<SimDisk>,
    means: &mut Means<'_>,
    meter: &mut Meter,
    sight: Sight,
) -> (Boot, Service) {
    let expectation = expectation(slot);
    let options = PlanOptions { makes_ledger: slot.header.ledger, ..PlanOptions::default() };
    let mut recovery = Recovery::new(expectation, Mode::Repair, options, means.workspace);
    let course = follow(disk, slot, &mut recovery, &partition, means, meter, sight);
    if !course.has_ended {
        recovery.close(disk);
        partition.close(disk);
        let boot = Boot::of_nothing(sight.after(disk, slot), expectation, given_up());
        return (course.told(boot), Service::Unavailable);
    }
    let Recovered { facts, verdict, plan, ledger, stopped_at, .. } = recovery.finish();
    let phase = meter.enter(Phase::Oracle);
    let after = sight.after(disk, slot);
    meter.enter(phase);
    let (mut open_error, mut cursor) = (None, None);
    let service = match (&verdict.disposition, Adopted::of(&facts, &verdict, &plan)) {
        (Disposition::Serve | Disposition::ServeFrom { .. }, Some(adopted)) => {
            match Writer::open(disk, partition, adopted, ledger, slot.options()) {
                Ok(writer) => {
                    let last = writer.chain().segments().last();
                    cursor = last.map(|last| Cursor { segment: last.start, position: last.end });
                    Service::Serving(Box::new(writer))
                }
                Err(error) => {
                    open_error = Some(error.to_string());
                    Service::Unavailable
                }
            }
        }
        (Disposition::Refuse(reason), _) => {
            partition.close(disk);
            Service::Refused(reason.reason_code())
        }
        (Disposition::Serve | Disposition::ServeFrom { .. } | Disposition::Unavailable(_), _) => {
            partition.close(disk);
            Service::Unavailable
        }
    };
    let Course { before, carried, unsettled, acted, settling_changes, steps, looked, .. } = course;
    let is_unknown = matches!(verdict.disposition, Disposition::Unavailable(_));
    let boot = Boot {
        before,
        carried,
        after,
        unsettled,
        forgotten: Vec::new(),
        facts,
        verdict,
        plan,
        open_error,
        cursor,
        failed_to_act: stopped_at.is_some(),
        reached: if is_unknown { course.last } else { course.reached },
        acted,
        settling_changes,
        steps,
        looked,
    };
    (boot, service)
}

/// Makes the directories of a partition and opens its writer, as a server does for a new topic.
pub(super) fn create(
    disk: &SimDisk,
    slot: &mut Slot,
    workspace: &mut Workspace,
    meter: &mut Meter,
) -> Result<Boot, StorageError> {
    look::make_directories(disk, &slot.components)?;
    if slot.header.first_offset.get() > 0 {
        look::lay_first_segment(disk, &slot.components, slot.header.first_offset)?;
    }
    if let Some(frontier) = slot.header.superblock_frontier {
        look::lay_superblock(disk, &slot.components, frontier)?;
    }
    Ok(boot(disk, slot, workspace, meter, Sight::NOTHING))
}
