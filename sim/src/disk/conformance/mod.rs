//! The simulated disk beside a real one: without faults they must answer alike.
//!
//! Each program, drawn from a seed, is driven through [`SimDisk`] and through [`OsStorage`] in a directory,
//! and every answer is compared: bytes, lengths, listings and error numbers. Between the calls the simulated
//! node restarts, with everything surviving, and its cache is dropped: neither may show. The same programs,
//! with crashes that lose something, hold the disk to its stamps.

mod driver;
mod program;

use std::fs;
use std::io;
use std::path::Path;

use recovery_core::storage::os::OsStorage;

use super::{Geometry, SimDisk, StampBroken, SurvivorChoice};
use crate::schedule::tape::{Stream, Tape};
use crate::schedule::{Filesystem, Survivors};
use driver::{Answer, Driver};
use program::{Step, program, survivors};

/// How the simulated disk and a real one differ.
#[derive(Debug, thiserror::Error)]
pub enum Difference {
    /// The real one could not be made.
    #[error("no directory for the real disk: {0}")]
    Directory(io::Error),
    /// They answered one call in two ways.
    #[error(
        "step {step} of program {program:#x} on {filesystem}: {call} gave {simulated}, and really {real}"
    )]
    Answer {
        /// The seed of the program.
        program: u64,
        /// The filesystem that was simulated.
        filesystem: &'static str,
        /// Which step, counted from 0.
        step: usize,
        /// What was called.
        call: String,
        /// What the simulated disk answered.
        simulated: String,
        /// What the real one answered.
        real: String,
    },
}

/// Compares the simulated disk with the real one that holds `directory`, over the program of a seed. The
/// directory is emptied first.
///
/// # Errors
///
/// The first difference.
///
/// # Examples
///
/// ```
/// use sim::disk::conformance::compare;
///
/// let directory = tempfile::tempdir()?;
/// // One program, drawn from seed 7, on both disks.
/// compare(directory.path(), 7)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compare(directory: &Path, seed: u64) -> Result<(), Difference> {
    let mut tape = Tape::from_seed(seed);
    compare_tape(directory, seed, &mut tape)
}

fn compare_tape(directory: &Path, seed: u64, tape: &mut Tape) -> Result<(), Difference> {
    empty(directory).map_err(Difference::Directory)?;
    let (filesystem, geometry) = disk_of(tape);
    let real = OsStorage::open(directory)
        .map_err(|error| Difference::Directory(io::Error::from_raw_os_error(error.errno.raw())))?;
    let simulated = SimDisk::new(geometry, filesystem);
    simulated.turn_stamps_on();
    let mut on_real = Driver::<OsStorage>::new(&real);
    let mut on_simulated = Driver::<SimDisk>::new(&simulated);
    for (at, step) in program(tape).iter().enumerate() {
        if let Step::Restart { restart } = step {
            // Everything survives, so the restart must not show but in the handles. A file without a name
            // dies with them on both.
            simulated.crash(*restart, &SurvivorChoice::of(Survivors::All));
            on_simulated.close_all(&simulated);
            on_real.close_all(&real);
            continue;
        }
        let expected = on_real.run(&real, step);
        let actual = on_simulated.run(&simulated, step);
        if actual != expected {
            return Err(difference(seed, filesystem, at, step, &actual, &expected));
        }
    }
    Ok(())
}

fn difference(
    program: u64,
    filesystem: Filesystem,
    step: usize,
    call: &Step,
    simulated: &Answer,
    real: &Answer,
) -> Difference {
    Difference::Answer {
        program,
        filesystem: filesystem.code(),
        step,
        call: format!("{call:?}"),
        simulated: format!("{simulated:?}"),
        real: format!("{real:?}"),
    }
}

fn disk_of(tape: &mut Tape) -> (Filesystem, Geometry) {
    let filesystem = tape.pick(Stream::Swarm, &Filesystem::ALL);
    (filesystem, tape.pick(Stream::Swarm, &[Geometry::DEFAULT, Geometry::SMALL]))
}

fn empty(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    fs::create_dir_all(directory)
}

/// Runs the program of a seed on a simulated disk alone, with crashes that lose whatever they may, and holds
/// it to what its syncs reported. Returns how many crashes there were.
///
/// # Errors
///
/// The first sector that was reported durable and then changed.
pub fn hold_to_stamps(seed: u64) -> Result<u32, StampBroken> {
    let mut tape = Tape::from_seed(seed);
    let (filesystem, geometry) = disk_of(&mut tape);
    let disk = SimDisk::new(geometry, filesystem);
    disk.turn_stamps_on();
    let mut driver = Driver::<SimDisk>::new(&disk);
    let mut crashes = 0;
    for step in program(&mut tape) {
        if let Step::Restart { restart } = step {
            disk.crash(restart, &SurvivorChoice::of(survivors(&mut tape)));
            disk.check_stamps()?;
            driver.close_all(&disk);
            crashes += 1;
        } else {
            driver.run(&disk, &step);
        }
    }
    Ok(crashes)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_call_is_answered_as_a_real_filesystem_answers_it(
            swarm in vec(any::<u64>(), 2),
            workload in vec(any::<u64>(), 1..1200),
        ) {
            let directory = tempfile::tempdir().expect("a temporary directory can be made");
            let words = Stream::ALL.map(|stream| match stream {
                Stream::Swarm => swarm.clone(),
                Stream::Workload => workload.clone(),
                Stream::Faults
                | Stream::Crashes
                | Stream::Host
                | Stream::Checks
                | Stream::Wire
                | Stream::Rare
                | Stream::Motifs => Vec::new(),
            });
            let compared = compare_tape(directory.path(), 0, &mut Tape::from_words(words));
            prop_assert!(compared.is_ok(), "{}", compared.expect_err("it differs"));
        }
    }

    #[test]
    fn what_was_reported_durable_stays_through_every_crash() {
        let crashes: u32 = (0..500).map(|seed| hold_to_stamps(seed).expect("it stays")).sum();
        assert!(crashes > 200, "{crashes} crashes");
    }

    #[test]
    fn two_disks_that_differ_are_told_apart() {
        let error = difference(
            7,
            Filesystem::Xfs,
            3,
            &Step::Length { file: 1 },
            &Answer::Number(4),
            &Answer::Number(5),
        );
        let text = "step 3 of program 0x7 on xfs: Length { file: 1 } gave Number(4), and really Number(5)";
        assert_eq!(error.to_string(), text);
    }
}
