//! How a world begins and ends: what it takes from an arena, and what it gives back.
//!
//! Promises: nothing that another world left behind can be seen in this one. Leaves out: the steps in between
//! ([`super::run`]).

use recovery_core::observe::Workspace;

use super::arena::Arena;
use super::boot;
use super::image::WorldImage;
use super::left::NodeLeft;
use super::meter::Phase;
use super::node::{Lies, Node, Service, Slot};
use super::outcome::Outcome;
use super::report::Report;
use super::run::World;
use super::told::Told;
use super::watch::Watch;
use crate::disk::{Geometry, SimDisk};
use crate::oracle::judge;
use crate::run::tally::Tally;
use crate::schedule::{Schedule, Step};

impl<'a> World<'a> {
    pub(super) fn begin(schedule: &'a Schedule, arena: &mut Arena, watch: Watch) -> Self {
        let header = &schedule.world;
        let geometry =
            Geometry::new(header.sector_bytes, header.page_bytes).expect("a schedule's geometry was checked");
        let disk = match arena.disk.take() {
            Some(disk) => {
                disk.reset(geometry, header.filesystem);
                disk
            }
            None => SimDisk::new(geometry, header.filesystem),
        };
        let workspace = match arena.workspace.take() {
            Some((bytes, workspace)) if bytes == header.window_bytes => workspace,
            Some(_) | None => Workspace::new(header.window_bytes as usize),
        };
        let mut recorder = std::mem::take(&mut arena.recorder);
        recorder.reset(watch.keeps_events);
        let mut truth = || arena.truths.pop().unwrap_or_default();
        let slots = header.partitions.iter().map(|partition| Slot::telling(*partition, truth())).collect();
        let mut world = Self {
            schedule,
            node: Node { disk, slots, is_up: true, is_waiting: false, lies: Lies::default() },
            workspace,
            recorder,
            scratch: std::mem::take(&mut arena.scratch),
            reading: std::mem::take(&mut arena.reading),
            injections: std::mem::take(&mut arena.injections),
            calls: std::mem::take(&mut arena.calls),
            strikes: std::mem::take(&mut arena.strikes),
            outcome: Outcome::new(),
            failures: Vec::new(),
            expects: schedule.steps.iter().any(Step::is_expectation),
            meter: arena.meter,
            has_sync_failed: false,
            step: 0,
            told: watch.keeps_events.then(Told::default),
            pending: None,
            until: watch.until,
            moment: None,
            sample: watch.sample,
            plants_promise: watch.plants_promise,
            moments: std::mem::take(&mut arena.moments),
            boots: 0,
            trial: arena.trial.clone(),
        };
        world.meter.enter(Phase::Write);
        match arena.image.filter(|_| !header.images.is_empty()) {
            Some(image) => world.lay(image, geometry),
            None => world.create_partitions(),
        }
        world
    }

    /// Before the first step the node is down, and its disk holds what a directory holds.
    fn lay(&mut self, image: &WorldImage, geometry: Geometry) {
        self.node.disk.load(&image.laid(geometry));
        for slot in &mut self.node.slots {
            image.tell(slot.header.namespace, &mut slot.truth);
        }
        self.node.is_up = false;
        self.node.disk.record(true);
        self.node.disk.record_contents(true);
    }

    /// Before the first step every partition of the header is made and open.
    fn create_partitions(&mut self) {
        self.node.disk.begin_step(&[]);
        for slot in &mut self.node.slots {
            let boot = boot::create(&self.node.disk, slot, &mut self.workspace, &mut self.meter)
                .expect("a partition is made on a disk without faults");
            assert!(boot.open_error.is_none(), "a new partition opens");
            assert!(boot.verdict.is_served(), "a new partition is served");
        }
        self.node.disk.end_step();
        self.node.disk.record(true);
        self.node.disk.record_contents(true);
    }

    pub(super) fn end(mut self, arena: &mut Arena, tally: &mut Tally, keeps_disks: bool) -> Report {
        self.meter.enter(Phase::Digest);
        self.outcome.disk(&self.node.disk);
        tally.worlds += 1;
        *tally.filesystems.entry(self.schedule.world.filesystem).or_default() += 1;
        judge::count_faults(&self.node.disk.fault_tally(), tally);
        let (events, times) = self.recorder.take_kept();
        let report = Report {
            digest: self.recorder.digest(),
            outcome: self.outcome.finish(),
            failures: self.failures,
            events,
            told: self.told.map(|told| told.at(times)),
            moment: self.moment,
        };
        for slot in &mut self.node.slots {
            slot.service = Service::Down;
        }
        if keeps_disks {
            arena.left = vec![NodeLeft::of(&self.node)];
        }
        arena.truths.extend(self.node.slots.into_iter().map(|slot| slot.truth));
        self.meter.enter(Phase::Generate);
        arena.meter = self.meter;
        arena.disk = Some(self.node.disk);
        arena.workspace = Some((self.schedule.world.window_bytes, self.workspace));
        arena.recorder = self.recorder;
        arena.scratch = self.scratch;
        arena.reading = self.reading;
        arena.injections = self.injections;
        arena.calls = self.calls;
        arena.strikes = self.strikes;
        arena.moments = self.moments;
        arena.rest();
        report
    }
}
