//! The law, over one image: looked at, repaired, repaired again, and repaired over a crash.
//!
//! Promises: everything is judged from outside, by the files before and after and by what storage gave;
//! where the core counts something itself, its count is compared. Leaves out: which verdict is right.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use allocation_counter::measure;
use recovery_core::decide::{Action, Disposition};
use recovery_core::format::partition_components;
use recovery_core::observe::{Find, IndexState, Progress, SUPERBLOCK_STEP_BYTES, Stop, Workspace};
use recovery_core::recovery::{Mode, Recovered, Recovery};
use recovery_core::storage::{PartitionDirectory, Storage};
use recovery_core::units::Offset;

use super::{DIRECTORY, Image, NAMESPACE};
use crate::memory_storage::{Fault, MemoryStorage};
use crate::recovery_run::{Files, check_nothing_is_lost};

/// Most bytes read, and most bytes hashed or walked over, for each byte of an image.
const WORK_PER_BYTE: u64 = 24;

/// The same for each file, however small: a header is read to learn that it is none.
const WORK_PER_FILE: u64 = 2048;

/// Most bytes of memory beside the windows.
const MEMORY_BYTES: u64 = 128 * 1024;

/// Calls that open the partition directory, before recovery begins.
const OPENING_CALLS: u64 = 7;

/// Most steps of a recovery, so that one without end is noticed.
const STEPS_MAX: u64 = 200_000;

/// Holds the image to the law; returns what was seen on the way, in words.
pub(crate) fn check(image: &Image) -> BTreeSet<String> {
    let before = image.storage().files();
    let looked = look(image, &before);
    let storage = image.storage();
    storage.start(None);
    let repaired = recover(&storage, image, Mode::Repair);
    check_verdicts(&looked, &repaired);
    let after = storage.files();
    let calls = storage.call_count();
    if repaired.verdict.is_served() {
        assert!(repaired.stopped_at.is_none(), "no call fails, and a step did");
        check_nothing_is_lost(NAMESPACE, &before, &after);
        check_again(image, &storage, &repaired, &after);
        check_crash(image, calls, &repaired, &after);
    } else {
        assert_eq!(after, before, "what is not served is untouched");
    }
    seen(&looked)
}

/// Settling changes no verdict. Where batches are carried over, the partition is judged once more behind that:
/// its segments are others then, and what it serves and the offset it mints next are not. But what no budget
/// covers is bounded by its length: behind carrying over there is less residue to earn a budget from, and less
/// that may hold offsets. So a bound may rise or fall, and is still all that is reserved.
fn check_verdicts(looked: &Recovered<MemoryStorage>, repaired: &Recovered<MemoryStorage>) {
    if !looked.plan.carries() {
        assert_eq!(repaired.verdict, looked.verdict, "settling changes no verdict");
        return;
    }
    let (was, is) = (looked.verdict.next_offset, repaired.verdict.next_offset);
    let bound = reserved(repaired);
    if bound > was {
        assert!(repaired.verdict.is_served(), "carrying over still serves");
        assert_eq!(is, bound, "what no budget covered is all that moves an offset");
    } else if is_bounded(looked) {
        assert!(repaired.verdict.is_served(), "carrying over still serves");
        assert!(
            bound <= is && is <= was,
            "{is:?} of {was:?}: less is left that may hold offsets, and it is reserved"
        );
    } else {
        assert_eq!(repaired.verdict.disposition, looked.verdict.disposition, "carrying over serves the same");
        assert_eq!(is, was, "carrying over mints the same");
    }
}

/// The offset below which everything may be held by what a residue shows, or hides.
fn reserved(recovered: &Recovered<MemoryStorage>) -> Option<Offset> {
    recovered.facts.segments.iter().filter_map(|segment| segment.residue.survivors_next_offset).max()
}

/// Whether the next offset is such a bound, and no batch that was found ends there.
fn is_bounded(looked: &Recovered<MemoryStorage>) -> bool {
    let reserved = reserved(looked);
    let mut finds = looked.facts.segments.iter().flat_map(|segment| &segment.residue.survivors);
    let end = |find: &Find| find.base_offset.get() + u64::from(find.message_count);
    reserved == looked.verdict.next_offset && !finds.any(|find| reserved == Some(Offset::new(end(find))))
}

/// Looks, without changing anything, within bounds of work and memory.
fn look(image: &Image, before: &Files) -> Recovered<MemoryStorage> {
    let storage = image.storage();
    storage.start(None);
    storage.stop_listing();
    let (looked, memory) = measured(|| recover(&storage, image, Mode::Look));
    assert_eq!(storage.files(), *before, "looking changes nothing");

    let windows = 3 * image.window as u64;
    assert!(memory <= windows + MEMORY_BYTES, "{memory} bytes of memory for windows of {windows}");
    let work = looked.facts.work;
    assert_eq!(work.bytes_read, storage.bytes_read(), "what was read is what is said to have been");
    let longest = image.limit + SUPERBLOCK_STEP_BYTES;
    assert!(work.longest_step_bytes <= longest, "a step goes up to its limit: {work:?}");
    let most = WORK_PER_BYTE * image.bytes() + WORK_PER_FILE * before.len() as u64;
    let hashed_or_walked = work.bytes_hashed + work.bytes_walked;
    assert!(work.bytes_read <= most, "{work:?} for {} bytes", image.bytes());
    assert!(hashed_or_walked <= most, "{work:?} for {} bytes", image.bytes());
    looked
}

/// What `work` gives, and the most bytes of memory that it held at once.
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let mut outcome = None;
    // The count must end however the work does: a panic is passed on behind it.
    let held = measure(|| outcome = Some(catch_unwind(AssertUnwindSafe(work)))).bytes_max;
    match outcome.expect("the work was done") {
        Ok(outcome) => (outcome, held),
        Err(panic) => resume_unwind(panic),
    }
}

/// A second recovery has nothing to do, and finds everything as the first one said.
fn check_again(image: &Image, storage: &MemoryStorage, first: &Recovered<MemoryStorage>, end: &Files) {
    storage.start(None);
    let again = recover(storage, image, Mode::Repair);
    assert!(again.plan.is_empty(), "the second recovery plans {:?}", again.plan);
    assert_eq!(storage.files(), *end, "the second recovery changes nothing");
    assert_eq!(again.verdict.next_offset, first.verdict.next_offset, "the next offset stays");
    for segment in &again.facts.segments {
        assert_eq!(segment.stop.stop(), Stop::End, "a recovered log is whole");
        assert_eq!(segment.index.state, IndexState::Good, "a recovered index is good");
    }
}

/// Recovery that ends after some call, and recovery of what that left.
fn check_crash(image: &Image, calls: u64, undisturbed: &Recovered<MemoryStorage>, end: &Files) {
    if undisturbed.plan.is_empty() {
        return;
    }
    let call = OPENING_CALLS + (calls - OPENING_CALLS) * image.crash_at / 256;
    let storage = image.storage();
    let before = storage.files();
    storage.start(Some(Fault::CrashAfter(call)));
    recover(&storage, image, Mode::Repair);
    let powerless = storage.clone();
    powerless.lose_power();
    for (storage, is_power_cut) in [(storage, false), (powerless, true)] {
        storage.start(None);
        let again = recover(&storage, image, Mode::Repair);
        assert_eq!(again.verdict.next_offset, undisturbed.verdict.next_offset, "the next offset stays");
        let after = storage.files();
        check_nothing_is_lost(NAMESPACE, &before, &after);
        let (after, end) = without_half_made(after, end.clone());
        assert_eq!(without_ledger(after), without_ledger(end), "power cut: {is_power_cut}");
    }
}

/// What a crash cuts short of batches that are carried over is our own half-made file, which the next
/// recovery sets aside like any other: one copy more, and one entry more in the reason of its fence.
fn without_half_made(mut after: Files, mut end: Files) -> (Files, Files) {
    let is_half_made = |path: &str| path.contains(".fenced.") && path.contains(".log.staging.");
    let more: Vec<String> =
        after.keys().filter(|path| is_half_made(path) && !end.contains_key(*path)).cloned().collect();
    for path in more {
        let (fence, _) = path.rsplit_once('/').expect("a copy lies in a fence");
        let reason = format!("{fence}/REASON.toml");
        after.remove(&path);
        after.remove(&reason);
        end.remove(&reason);
    }
    (after, end)
}

/// After a crash the ledger may hold another number of records.
fn without_ledger(mut files: Files) -> Files {
    files.remove(&format!("{DIRECTORY}/ledger"));
    files
}

/// The whole line, with everything closed in the end.
pub(crate) fn recover(storage: &MemoryStorage, image: &Image, mode: Mode) -> Recovered<MemoryStorage> {
    let mut workspace = Workspace::new(image.window);
    let recovered = recover_in(&mut workspace, image.limit, storage, image, mode);
    assert_eq!(storage.open_handles(), 0, "every handle is closed");
    recovered
}

/// The same on any disk, with the caller's windows and steps instead of the image's.
pub(crate) fn recover_in<S: Storage>(
    workspace: &mut Workspace,
    limit: u64,
    storage: &S,
    image: &Image,
    mode: Mode,
) -> Recovered<S> {
    let components = partition_components(NAMESPACE);
    let partition = match PartitionDirectory::open(storage, &components) {
        Ok(partition) => partition,
        Err(error) => panic!("no call fails that early: {error}"),
    };
    let mut recovery = Recovery::new(image.expectation, mode, image.options, workspace);
    let mut steps = 0;
    while recovery.step(storage, &partition, workspace, limit) == Progress::More {
        steps += 1;
        assert!(steps < STEPS_MAX, "recovery comes to an end");
    }
    let mut recovered = recovery.finish();
    if let Some(ledger) = recovered.ledger.take() {
        ledger.close(storage);
    }
    partition.close(storage);
    recovered
}

/// What an image shows: the disposition, and for each segment what was found and what follows.
fn seen(looked: &Recovered<MemoryStorage>) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let disposition = match &looked.verdict.disposition {
        Disposition::Refuse(reason) => format!("refuse {}", reason.code()),
        other @ (Disposition::Serve | Disposition::ServeFrom { .. } | Disposition::Unavailable(_)) => {
            other.code().to_owned()
        }
    };
    seen.insert(disposition);
    if looked.plan.carries() {
        seen.insert("carries over".to_owned());
    }
    for (facts, verdict) in looked.facts.segments.iter().zip(&looked.verdict.segments) {
        let (stop, residue) = (facts.stop.stop().code(), facts.residue.kind.code());
        seen.insert(format!("stop {stop}"));
        seen.insert(format!("residue {residue}"));
        seen.insert(format!("row {stop} {} {residue}", facts.evidence.code()));
        seen.insert(format!("index {}", facts.index.state.code()));
        let is_served = looked.verdict.is_served();
        if is_served && !matches!(verdict.action, Action::Keep) {
            seen.insert(format!("action {}", verdict.action.code()));
        }
    }
    seen
}
