//! Programs of many seeds on a real filesystem, each held against the model.
//!
//! Promises: the programs are those of their seeds, in order. Leaves out: what the kernel does with them,
//! which no seed decides.

use crate::disk::{Geometry, SimDisk};
use crate::schedule::tape::Tape;

use super::crashed::Wronged;
use super::cycle::{CycleError, crash_in, crash_partitions};
use super::driver::simulate;
use super::explanation::explain;
use super::mount::{Kind, Mount};
use super::program::Program;
use super::remains::Remains;
use super::shape::{Shown, program_of, shapes};

/// Programs that one crash interrupts, at most.
const PROGRAMS_A_CRASH: u64 = 16;

/// Crashes behind each of which partitions are written, crashed and recovered.
const CRASHES_A_ROUND: u64 = 8;

/// Partitions that one crash interrupts.
const PARTITIONS_A_CRASH: u64 = 4;

/// What a program left that the model does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strange {
    /// The program.
    pub program: Program,
    /// What the kernel left of it.
    pub found: Remains,
    /// What reads saw before the crash.
    pub before: Remains,
}

/// What programs came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Programs that ran.
    pub programs: u64,
    /// Times that the filesystem crashed.
    pub crashes: u64,
    /// Programs of which the crash took nothing.
    pub whole: u64,
    /// Those whose remains the model does not allow.
    pub strange: Vec<Strange>,
    /// What the kernel showed of the states of a few programs that are run again and again.
    pub shown: Vec<Shown>,
    /// Runs of those, not counted among the programs.
    pub shape_runs: u64,
    /// Partitions that were recovered.
    pub partitions: u64,
    /// Those of which something is wrong.
    pub wronged: Vec<Wronged>,
}

/// A real filesystem under test.
#[derive(Debug)]
pub struct Session {
    kind: Kind,
    mount: Mount,
    found: Found,
}

impl Session {
    /// Makes a filesystem.
    ///
    /// # Errors
    ///
    /// What the machine lacks, or what failed.
    pub fn begin(kind: Kind) -> Result<Self, CycleError> {
        let mount = Mount::make(kind)?;
        let wrong = |error| CycleError::Step { seed: 0, program: "a shape".to_owned(), error };
        let shown = shapes(kind.model()).map_err(wrong)?;
        Ok(Self { kind, mount, found: Found { shown, ..Found::default() } })
    }

    /// What was found so far.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// Runs the programs of some seeds, as many as one crash takes, and returns how many that were.
    ///
    /// # Errors
    ///
    /// What failed.
    pub fn run(&mut self, from_seed: u64, count: u64) -> Result<u64, CycleError> {
        let count = count.min(PROGRAMS_A_CRASH);
        let seeds = (0..count).map(|at| from_seed.wrapping_add(at));
        let mut programs: Vec<Program> =
            seeds.map(|seed| Program::from_seed(seed, Geometry::DEFAULT)).collect();
        let mut tape = Tape::from_seed(from_seed);
        programs.extend((0..self.found.shown.len()).map(|number| program_of(number, &mut tape)));
        let mut remains = crash_in(&mut self.mount, &programs, &mut tape)?;
        self.found.crashes += 1;
        let of_shapes = remains.split_off(programs.len() - self.found.shown.len());
        for (number, found) in of_shapes.into_iter().enumerate() {
            self.judge_shape(number, found, &programs[remains.len() + number])?;
        }
        for (program, found) in programs.into_iter().zip(remains) {
            self.found.programs += 1;
            self.judge(program, found)?;
        }
        if self.found.crashes % CRASHES_A_ROUND == 1 {
            self.recover_partitions(from_seed)?;
        }
        Ok(count)
    }

    /// Writes partitions, crashes and recovers them. Their seeds are their own.
    fn recover_partitions(&mut self, from_seed: u64) -> Result<(), CycleError> {
        let seeds: Vec<u64> = (0..PARTITIONS_A_CRASH).map(|at| from_seed.wrapping_add(at)).collect();
        let wronged = crash_partitions(&mut self.mount, &seeds, &mut Tape::from_seed(from_seed))?;
        self.found.partitions += PARTITIONS_A_CRASH;
        self.found.wronged.extend(wronged);
        Ok(())
    }

    /// Counts the state of a shape, and holds it against the model like any other if it is none of its own.
    fn judge_shape(&mut self, number: usize, found: Remains, program: &Program) -> Result<(), CycleError> {
        self.found.shape_runs += 1;
        let shown = &mut self.found.shown[number];
        if shown.allowed.contains(&found) {
            shown.seen.insert(found);
            return Ok(());
        }
        self.judge(program.clone(), found)
    }

    /// Holds what a program left against the model.
    fn judge(&mut self, program: Program, found: Remains) -> Result<(), CycleError> {
        let disk = SimDisk::new(Geometry::DEFAULT, self.kind.model());
        simulate(&disk, &program).map_err(|error| CycleError::Step {
            seed: program.seed,
            program: program.to_string(),
            error,
        })?;
        let before = Remains::of_disk(&disk);
        if before == found {
            self.found.whole += 1;
        }
        if explain(&disk, &found).is_none() {
            self.found.strange.push(Strange { program, found, before });
        }
        Ok(())
    }
}
