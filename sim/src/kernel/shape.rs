//! A few tiny programs, run again and again: how much of what the model allows does the kernel ever show?
//!
//! Promises: each shape is the same program whenever it runs, but for partial writeback at drawn moments, which
//! the model always allows; so its states can be counted on both sides. Leaves out: whether a state that never
//! showed is impossible, which no run can tell.

use std::collections::BTreeSet;

use crate::disk::{Geometry, SimDisk};
use crate::schedule::Filesystem;
use crate::schedule::tape::{Stream, Tape};

use super::driver::{StepError, simulate};
use super::program::{Program, Step};
use super::remains::Remains;
use super::states::all_states;

/// Bytes of a page on the real filesystems.
const PAGE: u64 = 4096;

/// What the bytes of every shape depend on: they must be the same in every run.
const SEED: u64 = 0;

const STREAM: Stream = Stream::Faults;

/// A shape: its permanent name, what is durable before it, and what is not.
#[derive(Clone, Copy, Debug)]
struct Shape {
    name: &'static str,
    durable: &'static [Step],
    steps: &'static [Step],
}

const fn write(name: usize, position: u64, length: u64) -> Step {
    Step::Write { name, position, length }
}

const fn set_length(length: u64) -> Step {
    Step::SetLength { name: A, length }
}

const A: usize = 0;
const B: usize = 1;

const ONE_PAGE: &[Step] = &[Step::Create(A), write(A, 0, PAGE), Step::Sync(A), Step::SyncDirectory];
const TWO_PAGES: &[Step] = &[Step::Create(A), write(A, 0, 2 * PAGE), Step::Sync(A), Step::SyncDirectory];
const PART_OF_PAGE: &[Step] = &[Step::Create(A), write(A, 0, 512), Step::Sync(A), Step::SyncDirectory];
const EMPTY: &[Step] = &[Step::Create(A), Step::Sync(A), Step::SyncDirectory];

const SHAPES: [Shape; 16] = [
    Shape { name: "overwrite", durable: ONE_PAGE, steps: &[write(A, 0, PAGE)] },
    Shape { name: "overwrite-twice", durable: ONE_PAGE, steps: &[write(A, 0, PAGE), write(A, 0, PAGE)] },
    Shape { name: "overwrite-two-pages", durable: TWO_PAGES, steps: &[write(A, 0, 2 * PAGE)] },
    Shape { name: "append-page", durable: EMPTY, steps: &[write(A, 0, PAGE)] },
    Shape { name: "append-two-pages", durable: EMPTY, steps: &[write(A, 0, 2 * PAGE)] },
    Shape {
        name: "append-twice",
        durable: ONE_PAGE,
        steps: &[write(A, PAGE, PAGE), write(A, 2 * PAGE, PAGE)],
    },
    Shape {
        name: "append-in-page",
        durable: PART_OF_PAGE,
        steps: &[write(A, 512, 512), write(A, 1024, 512)],
    },
    Shape { name: "append-across-pages", durable: PART_OF_PAGE, steps: &[write(A, 512, PAGE)] },
    Shape { name: "write-behind-gap", durable: PART_OF_PAGE, steps: &[write(A, 2 * PAGE, PAGE)] },
    Shape { name: "cut", durable: TWO_PAGES, steps: &[set_length(1000)] },
    Shape { name: "cut-then-append", durable: TWO_PAGES, steps: &[set_length(PAGE), write(A, PAGE, PAGE)] },
    Shape { name: "append-then-extend", durable: EMPTY, steps: &[write(A, 0, PAGE), set_length(2 * PAGE)] },
    Shape { name: "create-two", durable: &[], steps: &[Step::Create(A), Step::Create(B)] },
    Shape { name: "append-then-create", durable: EMPTY, steps: &[write(A, 0, PAGE), Step::Create(B)] },
    Shape {
        name: "replace",
        durable: ONE_PAGE,
        steps: &[Step::Create(B), write(B, 0, PAGE), Step::Rename { from: B, to: A }],
    },
    Shape { name: "remove", durable: ONE_PAGE, steps: &[write(A, 0, PAGE), Step::Remove(A)] },
];

/// What a shape has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The shape's permanent name.
    pub name: &'static str,
    /// The states that the model allows.
    pub allowed: BTreeSet<Remains>,
    /// Those of them that the kernel showed.
    pub seen: BTreeSet<Remains>,
}

/// The states of every shape that the model of a filesystem allows; none is seen yet.
///
/// # Errors
///
/// When the model does not take a step of a shape.
pub(super) fn shapes(model: Filesystem) -> Result<Vec<Shown>, StepError> {
    let shown = |shape: &Shape| {
        let disk = SimDisk::new(Geometry::DEFAULT, model);
        simulate(&disk, &Program { seed: SEED, steps: [shape.durable, shape.steps].concat() })?;
        Ok(Shown { name: shape.name, allowed: all_states(&disk), seen: BTreeSet::new() })
    };
    SHAPES.iter().map(shown).collect()
}

/// A run of the shape with a number: the same steps, and writeback at drawn moments.
pub(super) fn program_of(number: usize, tape: &mut Tape) -> Program {
    let shape = &SHAPES[number];
    let mut program = Program { seed: SEED, steps: shape.durable.to_vec() };
    for step in shape.steps {
        program.steps.push(*step);
        if let Step::Write { name, .. } = step
            && tape.chance(STREAM, 600)
        {
            let (first, pages) = (tape.range(STREAM, 0, 2), tape.range(STREAM, 1, 3));
            let waits = tape.chance(STREAM, 500);
            program.steps.push(Step::WriteBack {
                name: *name,
                position: first * PAGE,
                length: pages * PAGE,
                waits,
            });
        }
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(model: Filesystem) -> Vec<(&'static str, usize)> {
        let shapes = shapes(model).expect("every step can be taken");
        shapes.iter().map(|shown| (shown.name, shown.allowed.len())).collect()
    }

    #[test]
    fn the_states_of_each_shape_are_those_that_can_be_counted_by_hand() {
        let of = |model: Filesystem, name: &str| {
            let found = allowed(model).into_iter().find(|(other, _)| *other == name);
            found.expect("it is a shape").1
        };
        for model in [Filesystem::Ext4Ordered, Filesystem::Xfs] {
            // Old and new; old, first and second; each page old or new.
            assert_eq!(of(model, "overwrite"), 2);
            assert_eq!(of(model, "overwrite-twice"), 3);
            assert_eq!(of(model, "overwrite-two-pages"), 4);
            // Neither, the first, both.
            assert_eq!(of(model, "create-two"), 3);
        }
        // Nothing, and the page; nothing, the first, both, the second behind a hole. On ext4 each page may be zeros.
        assert_eq!(of(Filesystem::Xfs, "append-page"), 2);
        assert_eq!(of(Filesystem::Xfs, "append-two-pages"), 4);
        assert_eq!(of(Filesystem::Ext4Ordered, "append-page"), 3);
        // Absent, filled to the end of the old page, and whole; ext4 may have the length without the bytes.
        assert_eq!(of(Filesystem::Xfs, "write-behind-gap"), 3);
        assert_eq!(of(Filesystem::Ext4Ordered, "write-behind-gap"), 4);
    }
}
