//! The simulated disk judged: litmus tests, stamps, and a real disk beside it.

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

use recovery_core::storage::{Name, Storage};

use crate::disk::conformance::{compare, hold_to_stamps};
use crate::disk::litmus::every_state::hold_to_every_state;
use crate::disk::litmus::{LitmusResult, LitmusVerdict, run_litmus_tests};
use crate::disk::{Geometry, SimDisk, View};
use crate::schedule::Filesystem;

/// Programs that a real disk is compared over.
const COMPARED_PROGRAMS: u64 = 400;

/// Programs that the stamps are held to.
const STAMPED_PROGRAMS: u64 = 3000;

/// Programs over whose crash states the query "in every crash state" is held.
const ENUMERATED_PROGRAMS: u64 = 120;

/// Each cell of the fault model's tables, on each filesystem.
pub(super) fn litmus() -> Result<String, String> {
    let results = run_litmus_tests();
    let mut seen = 0;
    for LitmusResult { name, filesystem, verdict } in &results {
        let filesystem = filesystem.code();
        match verdict {
            LitmusVerdict::Holds { states } => seen += states,
            LitmusVerdict::ForbiddenSeen { outcome } => {
                return Err(format!("{name} on {filesystem}: {outcome} was seen, and is forbidden"));
            }
            LitmusVerdict::AllowedNeverSeen { outcome } => {
                return Err(format!("{name} on {filesystem}: {outcome} is allowed, and was never seen"));
            }
        }
    }
    Ok(format!("{} cells, {seen} crash states", results.len()))
}

/// Sectors that a sync reported, over many crashes; and one that is changed on purpose.
pub(super) fn stamps() -> Result<String, String> {
    let mut crashes = 0;
    for seed in 0..STAMPED_PROGRAMS {
        crashes += hold_to_stamps(seed).map_err(|broken| format!("program {seed:#x}: {broken}"))?;
    }
    for filesystem in Filesystem::ALL {
        if !is_tampering_found(filesystem) {
            return Err(format!("a durable sector was changed on {}, and nobody saw it", filesystem.code()));
        }
    }
    Ok(format!("{STAMPED_PROGRAMS} programs, {crashes} crashes"))
}

/// The query for what every crash state holds, against all crash states.
pub(super) fn every_state() -> Result<String, String> {
    let mut states = 0;
    for seed in 0..ENUMERATED_PROGRAMS {
        states += hold_to_every_state(seed).map_err(|wrong| format!("program {seed:#x}: {wrong}"))?;
    }
    Ok(format!("{ENUMERATED_PROGRAMS} programs, {states} crash states"))
}

/// Whether a stamped sector that changes on the medium is found.
fn is_tampering_found(filesystem: Filesystem) -> bool {
    let disk = SimDisk::new(Geometry::DEFAULT, filesystem);
    disk.turn_stamps_on();
    let root = disk.root().expect("an empty disk has a root");
    let name = Name::new(b"log").expect("a short word is a name");
    let file = disk.create(&root, &name).expect("an empty disk takes a file");
    disk.write(&file, 0, &[7; 700]).expect("an empty disk takes bytes");
    disk.sync(&file).expect("nothing fails here");
    let mut found = None;
    disk.walk(View::Visible, &mut |_, node| {
        if let crate::disk::Node::File(id) = node {
            found = Some(id);
        }
    });
    disk.check_stamps().expect("nothing was changed yet");
    disk.tamper(found.expect("the file is there"), 600);
    disk.check_stamps().is_err()
}

/// Names that are tried for a directory of our own.
const SCRATCH_NAMES: u32 = 1000;

/// A directory of this process alone, gone when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> io::Result<Self> {
        let names = (0..SCRATCH_NAMES).map(|number| env::temp_dir().join(format!("sim-self-check-{number}")));
        for path in names {
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("every name for a directory of temporary files is taken"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed lies among temporary files, where somebody else will.
        let _left_behind = fs::remove_dir_all(&self.0);
    }
}

/// A real disk beside the simulated one.
pub(super) fn conformance() -> Result<String, String> {
    let scratch = Scratch::make().map_err(|error| error.to_string())?;
    let directory = scratch.0.join("data");
    for seed in 0..COMPARED_PROGRAMS {
        compare(&directory, seed).map_err(|difference| difference.to_string())?;
    }
    Ok(format!("{COMPARED_PROGRAMS} programs"))
}
