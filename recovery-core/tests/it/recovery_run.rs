//! One whole recovery as a server or the tool does it: settle, observe, decide, plan, apply. And the law it
//! is held to, judged from outside: from all files before and after, never from what recovery says.

use std::collections::BTreeMap;

use recovery_core::decide::{Disposition, Verdict, decide};
use recovery_core::format::{Checksum, CopyName, partition_components};
use recovery_core::observe::{Expectation, Observation, Progress, Unavailable, Workspace};
use recovery_core::plan::{Applying, Plan, PlanOptions, Settling, build};
use recovery_core::storage::{Name, PartitionDirectory, Storage, StorageError};
use recovery_core::units::Namespace;

/// Every file below the data directory by its path.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// What one start came to.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) verdict: Verdict,
    pub(crate) plan: Plan,
    pub(crate) fenced: Vec<String>,
}

/// Starts on what lies in `storage`.
///
/// A storage call that fails ends the start; whatever was open is closed.
pub(crate) fn start<S: Storage>(
    storage: &S,
    expectation: Expectation,
    options: PlanOptions,
    workspace: &mut Workspace,
    limit: u64,
) -> Result<Start, StorageError> {
    let partition = PartitionDirectory::open(storage, &partition_components(expectation.namespace))?;
    let started = start_in(storage, &partition, expectation, options, workspace, limit);
    partition.close(storage);
    started
}

fn start_in<S: Storage>(
    storage: &S,
    partition: &PartitionDirectory<S>,
    expectation: Expectation,
    options: PlanOptions,
    workspace: &mut Workspace,
    limit: u64,
) -> Result<Start, StorageError> {
    let mut settling = Settling::new(expectation, options.sync_indexes, workspace);
    while settling.step(storage, partition, workspace, limit)? == Progress::More {}
    let mut observation = Observation::new(expectation, workspace);
    while observation.step(storage, partition, workspace, limit) == Progress::More {}
    let observed = observation.finish();
    match observed.failure {
        None => {}
        Some(Unavailable::Io(error)) => return Err(error),
        Some(Unavailable::Locked) => panic!("nobody else is there"),
    }
    let facts = observed.facts;
    let verdict = decide(&facts);
    if let Disposition::Unavailable(Unavailable::Io(error)) = verdict.disposition {
        return Err(error);
    }
    let plan = build(&facts, &verdict, options);
    let mut applying = Applying::new(plan.clone());
    while applying.step(storage, partition, &facts, workspace, limit)? == Progress::More {}
    let applied = applying.finish(storage);
    if let Some(ledger) = applied.ledger {
        ledger.close(storage);
    }
    let fenced = applied.fenced.iter().map(ToString::to_string).collect();
    Ok(Start { verdict, plan, fenced })
}

/// Every file below `path`; what is neither a file nor a directory by what it is.
pub(crate) fn files_below(path: &std::path::Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![(String::new(), path.to_owned())];
    while let Some((prefix, folder)) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().into_string().unwrap());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push((format!("{name}/"), entry.path()));
            } else if kind.is_file() {
                files.insert(name, std::fs::read(entry.path()).unwrap());
            } else {
                // Reading a FIFO would wait for its other end, and a link is not followed.
                files.insert(name, format!("{kind:?}").into_bytes());
            }
        }
    }
    files
}

/// Every byte of `before` that is not zero is still there: in its place, or in a fence.
pub(crate) fn check_nothing_is_lost(namespace: Namespace, before: &Files, after: &Files) {
    let partition = partition_components(namespace).map(|name| name.to_string()).join("/");
    let fence = format!("{partition}.fenced.");
    // What stands in a file from some place on, as far as it is not zeros, is all of a copy.
    let is_saved_from = |old: &[u8], kept: usize| {
        let zeros = old.iter().rev().take_while(|byte| **byte == 0).count();
        let copies = after.iter().filter(|(path, _)| path.starts_with(&fence)).map(|(_, copy)| copy);
        zeros + kept >= old.len()
            || copies.into_iter().any(|copy| copy.len() + kept >= old.len() && old.ends_with(copy))
    };
    // What recovery has not finished in a fence is its own, and stands where it came from too.
    let is_own = |path: &str| path.starts_with(&fence) && path.ends_with(".staging");
    // A copy in a fence that is not what its own name says is made anew from what the name is of.
    let is_renewed = |path: &str, new: &[u8]| {
        let name = path.strip_prefix(&fence).and_then(|inside| inside.split_once('/'));
        let copy = name.and_then(|(_, name)| CopyName::parse(&Name::new(name.as_bytes())?));
        copy.is_some_and(|copy| {
            copy.length().get() == new.len() as u64 && copy.checksum() == Checksum::of(new)
        })
    };
    for (path, old) in before.iter().filter(|(path, _)| !is_own(path)) {
        let new = after.get(path).map_or(&[][..], Vec::as_slice);
        let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        // In its place up to there, and in a fence from no later place on.
        let is_kept = old.len() == same || is_saved_from(old, same);
        let is_excepted = is_half_made(path, old, after) || is_renewed(path, new);
        assert!(is_kept || is_excepted, "{path} lost bytes from {same} on");
    }
}

/// Whether `path` is a staged index that the index installed since holds all of.
fn is_half_made(path: &str, old: &[u8], after: &Files) -> bool {
    let installed = path.strip_suffix(".index.staging").and_then(|stem| after.get(&format!("{stem}.index")));
    installed
        .is_some_and(|new| old.iter().enumerate().all(|(at, byte)| *byte == 0 || new.get(at) == Some(byte)))
}
