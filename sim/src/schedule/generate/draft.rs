//! A schedule under construction: the life of a world, phase by phase.
//!
//! Every life has the same form: write, go down, perhaps suffer, start, look, and again.

use super::book::Book;
use super::header;
use super::image::ImageShape;
use super::knobs::Knobs;
use super::shape::Shape;
use super::swarm::{Habit, Swarm};
use crate::schedule::crash::Crash;
use crate::schedule::scenario::Schedule;
use crate::schedule::step::{Action, Interruption, NodeId, Step};
use crate::schedule::tape::{Stream, Tape};
use crate::schedule::world::{Regime, WorldHeader};

/// Steps for which room is made at once; a small schedule seldom has more.
const STEPS_EXPECTED: usize = 48;

/// A schedule under construction.
pub(super) struct Draft<'a> {
    pub(super) tape: &'a mut Tape,
    pub(super) world: WorldHeader,
    pub(super) shape: Shape,
    pub(super) swarm: Swarm,
    pub(super) books: Vec<Book>,
    pub(super) steps: Vec<Step>,
    /// The id of the next batch.
    pub(super) next_batch: u32,
    /// One behind the last id that the world may use.
    pub(super) batches_end: u32,
    /// Whether the node that is down has kept its page cache.
    pub(super) has_page_cache: bool,
    /// The node that steps are on.
    pub(super) node: NodeId,
    /// Whether nodes keep their partitions by the core's host.
    pub(super) has_hosts: bool,
}

impl<'a> Draft<'a> {
    /// A world that starts with an empty disk.
    pub(super) fn begin(tape: &'a mut Tape, knobs: Knobs) -> Self {
        let (mut world, shape, swarm) = header::draw(tape, knobs);
        let has_hosts = header::draw_hosts(tape, knobs, &mut world);
        let books = world.partitions.iter().map(|header| Book::new(*header, shape.segments)).collect();
        Self { has_hosts, ..Self::new(tape, (world, shape, swarm), books, 0) }
    }

    /// A world that starts with a directory. Its partitions take the place of those that are drawn.
    pub(super) fn begin_on(tape: &'a mut Tape, knobs: Knobs, image: &ImageShape) -> Self {
        let (mut world, shape, swarm) = header::draw(tape, knobs);
        world.partitions.clear();
        world.partitions.extend(image.partitions.iter().map(|partition| partition.header));
        world.images.push(image.image());
        let books = image.books(shape.segments);
        Self::new(tape, (world, shape, swarm), books, image.batch_count())
    }

    fn new(
        tape: &'a mut Tape,
        (world, shape, swarm): (WorldHeader, Shape, Swarm),
        books: Vec<Book>,
        next_batch: u32,
    ) -> Self {
        assert!(!books.is_empty(), "a world has a partition");
        Self {
            tape,
            world,
            shape,
            swarm,
            books,
            steps: Vec::with_capacity(STEPS_EXPECTED),
            next_batch,
            batches_end: next_batch + shape.batches,
            has_page_cache: false,
            node: NodeId(0),
            has_hosts: false,
        }
    }

    pub(super) fn finish(self) -> Schedule {
        assert!(self.next_batch <= self.batches_end, "a schedule keeps to its size");
        Schedule { world: self.world, steps: self.steps }
    }

    /// The whole life of a world that starts with an empty disk.
    pub(super) fn live(&mut self) {
        let downs = self.draw_downs();
        // A world that begins with its one down goes on to the end from there.
        let taken = self.birth();
        self.live_through(downs.max(taken) - taken);
    }

    /// The whole life of a world whose node is down at first, with a directory that somebody else left.
    pub(super) fn live_on(&mut self) {
        let mut downs = self.draw_downs();
        self.come_up(&mut downs);
        self.look();
        // Coming up for the first time took one of the downs, if crashes inside it did not take them all.
        self.live_through(downs.max(1) - 1);
    }

    pub(super) fn draw_downs(&mut self) -> u32 {
        let most = self.shape.downs;
        self.tape.weighted(Stream::Crashes, &[(1, 1), (2, most - 1), (9, most)])
    }

    fn live_through(&mut self, mut downs: u32) {
        while downs > 0 {
            self.write_phase(downs);
            let taken = match self.motif(downs) {
                0 => self.ordeal(downs),
                taken => taken,
            };
            downs -= taken;
            if taken == 0 {
                self.go_down();
                downs -= 1;
                self.come_up(&mut downs);
            }
            self.look();
        }
        self.write_phase(0);
        self.look();
    }

    /// Starts, perhaps with crashes inside, until a start goes through.
    fn come_up(&mut self, downs: &mut u32) {
        self.suffer();
        if self.world.regime == Regime::Unlimited {
            self.befall();
        }
        while *downs > 0 && self.swarm.has(Habit::CrashInRecovery) && self.tape.chance(Stream::Crashes, 400) {
            self.crash_in_recovery();
            *downs -= 1;
            if self.tape.chance(Stream::Crashes, 300) {
                self.suffer();
            }
        }
        let errors = self.start_errors();
        let is_disturbed = !errors.is_empty();
        self.push_inside(Action::Start, errors);
        if is_disturbed && self.tape.chance(Stream::Crashes, 700) {
            // Whatever the error did to that start, the next one has none.
            self.push(Action::Crash(Crash::Process));
            self.push(Action::Start);
        }
    }

    /// What happens to a node that is down.
    fn suffer(&mut self) {
        self.crash_deeper();
        if self.world.regime == Regime::Unlimited {
            self.damage();
            self.operate();
        }
        if self.swarm.has(Habit::Evict) && self.tape.chance(Stream::Workload, 300) {
            self.push(Action::Evict(None));
        }
    }

    pub(super) fn push(&mut self, action: Action) {
        self.steps.push(Step { node: self.node, ..Step::new(action) });
    }

    pub(super) fn push_inside(&mut self, action: Action, interruptions: Vec<Interruption>) {
        self.steps.push(Step { node: self.node, action, interruptions });
    }
}
