//! The gate that every storage call passes: counted, and disturbed if the step says so.
//!
//! Promises: a call that finds the node down, shut down or read-only has no effect; a call is counted before
//! anything can go wrong with it. Leaves out: what the call does.

use recovery_core::storage::{Call, Errno, Name, StorageError};

use crate::schedule::{Fill, Restart, SyncStage};

use super::SimDisk;
use super::directory::{DirectoryId, Node};
use super::event::Event;
use super::fault::FaultId;
use super::file::FileId;
use super::injection::{Disturbance, Injection, Scope, Standing, StepOutcome, SyncPart};
use super::place::View;
use super::state::Disk;

/// A disturbance of the call that is going on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) disturbance: Disturbance,
    /// The fault as it is counted; `None` for a crash.
    pub(super) fault: Option<FaultId>,
}

impl SimDisk {
    /// Starts a step with what is to go wrong in it. Calls are counted from 1 again.
    pub fn begin_step(&self, injections: &[Injection]) {
        self.disk.borrow_mut().begin_step(injections);
    }

    /// Ends a step: nothing but standing faults goes wrong in the calls that follow. If the node went down
    /// in it, [`SimDisk::crash`] is next.
    pub fn end_step(&self) -> StepOutcome {
        self.disk.borrow_mut().end_step()
    }

    /// Arms a fault that hits calls on a target from now on, until the node goes down.
    ///
    /// # Panics
    ///
    /// If it is a crash, which belongs to a step.
    pub fn arm(&self, standing: Standing) {
        let is_crash = matches!(standing.disturbance, Disturbance::Crash { .. });
        assert!(!is_crash, "a crash belongs to a step");
        self.disk.borrow_mut().state.step.arm(standing);
    }

    /// Ends every standing fault, as a node that goes down does. What hit nothing is counted as missed.
    pub fn disarm(&self) {
        self.disk.borrow_mut().disarm();
    }
}

impl Disk {
    /// Starts a step with what is to go wrong in it.
    pub(super) fn begin_step(&mut self, injections: &[Injection]) {
        self.state.step.begin(injections);
    }

    /// Ends a step: nothing goes wrong in the calls that follow. What hit nothing is counted as missed.
    pub(super) fn end_step(&mut self) -> StepOutcome {
        let mut missed = 0;
        for injection in self.state.step.unused() {
            missed += 1;
            if let Some(cause) = injection.cause {
                self.state.faults.miss(cause);
            }
        }
        let calls = self.state.step.calls();
        self.state.step.reset();
        let crashed = self.state.health.frozen.map(|(restart, _)| restart);
        StepOutcome { calls, crashed, missed }
    }

    /// Ends every standing fault. What hit nothing is counted as missed.
    pub(super) fn disarm(&mut self) {
        for cause in self.state.step.disarm() {
            self.state.faults.miss(cause);
        }
    }

    /// Lets a call in, with what is to disturb it.
    #[inline]
    pub(super) fn enter(&mut self, call: Call, subject: Subject<'_>) -> Result<Option<Hit>, Errno> {
        if self.state.health.frozen.is_some() {
            return Err(Errno::IO);
        }
        self.state.step.count(call);
        let health = self.state.health;
        if self.state.step.is_quiet() && !health.is_read_only && !health.is_shut_down {
            return Ok(None);
        }
        self.enter_disturbed(call, subject)
    }

    fn enter_disturbed(&mut self, call: Call, subject: Subject<'_>) -> Result<Option<Hit>, Errno> {
        if self.state.health.is_shut_down {
            return Err(Errno::IO);
        }
        if let Some((at, injection)) = self.state.step.hit(call) {
            self.state.step.note(at);
            if let Disturbance::Crash { restart, inside } = injection.disturbance {
                return self.go_down(call, restart, inside);
            }
            let fault = injection.cause.map(|cause| {
                self.strike(cause, call, injection.disturbance);
                self.state.faults.apply(cause)
            });
            return self.disturb(call, injection.disturbance, fault);
        }
        let scope = self.scope_of(subject);
        let is_on = |wanted| match wanted {
            Scope::Disk => true,
            Scope::Directory(directory) => scope.0 == directory,
            Scope::File(file) => scope.1 == Some(file),
        };
        let Some(at) = self.state.step.hit_standing(call, is_on) else { return self.admit(call) };
        let (standing, counted) = self.state.step.standing(at);
        let fault = counted.unwrap_or_else(|| self.state.faults.apply(standing.cause));
        self.state.step.count_standing(at, fault);
        self.strike(standing.cause, call, standing.disturbance);
        self.disturb(call, standing.disturbance, Some(fault))
    }

    /// The directory and the file that a call is on.
    fn scope_of(&self, subject: Subject<'_>) -> (DirectoryId, Option<FileId>) {
        match subject {
            Subject::File(file) => (self.state.file(file).home, Some(file)),
            Subject::Directory(directory) => (directory, None),
            Subject::Name(directory, name) => {
                let file = match self.entry(directory, name.as_bytes(), View::Visible) {
                    Some(Node::File(file)) => Some(file),
                    Some(Node::Directory(_) | Node::Link | Node::Special) | None => None,
                };
                (directory, file)
            }
        }
    }

    /// The node goes down before a call, or inside it if it is a sync.
    fn go_down(
        &mut self,
        call: Call,
        restart: Restart,
        inside: Option<SyncStage>,
    ) -> Result<Option<Hit>, Errno> {
        if inside.is_none() {
            self.state.health.frozen = Some((restart, None));
            return Err(Errno::IO);
        }
        self.admit(call)?;
        // The sync itself goes as far as its stage; the node is down when it returns.
        self.state.health.frozen = Some((restart, inside));
        Ok(Some(Hit { disturbance: Disturbance::Crash { restart, inside }, fault: None }))
    }

    /// Lets a call in that a fault hits, or fails it at once.
    fn disturb(
        &mut self,
        call: Call,
        disturbance: Disturbance,
        fault: Option<FaultId>,
    ) -> Result<Option<Hit>, Errno> {
        if let Some(fault) = fault.filter(|_| is_seen_at_once(disturbance)) {
            self.state.faults.read(fault);
        }
        match disturbance {
            Disturbance::GoReadOnly => self.state.health.is_read_only = true,
            Disturbance::ListInOrder { order } => self.state.listing_order = order,
            Disturbance::Crash { .. }
            | Disturbance::Fail { .. }
            | Disturbance::Short { .. }
            | Disturbance::LieAboutFlush
            | Disturbance::LoseWrite
            | Disturbance::ShearWrite { .. }
            | Disturbance::MisdirectWrite { .. }
            | Disturbance::MisdirectRead { .. }
            | Disturbance::CorruptRead { .. }
            | Disturbance::FailSync { .. }
            | Disturbance::DeferSyncError
            | Disturbance::SwallowSyncError => {}
        }
        self.admit(call)?;
        let is_sync = matches!(call, Call::Sync | Call::SyncDirectory);
        let Disturbance::Fail { errno } = disturbance else { return Ok(Some(Hit { disturbance, fault })) };
        if !is_sync || errno == Errno::INTERRUPTED {
            return Err(errno);
        }
        let disturbance =
            Disturbance::FailSync { part: SyncPart::Data, errno, pages: u64::MAX, fill: Fill::Zeros };
        Ok(Some(Hit { disturbance, fault }))
    }

    fn admit(&self, call: Call) -> Result<Option<Hit>, Errno> {
        if self.state.health.is_read_only && call.is_mutating() {
            return Err(Errno::READ_ONLY);
        }
        Ok(None)
    }

    /// Notes the call if events are recorded, and gives its error a name.
    #[inline]
    pub(super) fn answer<T>(
        &mut self,
        call: Call,
        about: About,
        answer: Result<T, Errno>,
        moved: impl FnOnce(&T) -> u64,
        name: impl FnOnce(&Self) -> Name,
    ) -> Result<T, StorageError> {
        if self.is_recording {
            let (errno, length) = match &answer {
                Ok(value) => (None, moved(value)),
                Err(errno) => (Some(*errno), about.asked),
            };
            let About { object, position, content, .. } = about;
            self.events.push(Event { call, errno, object, position, length, content });
        }
        answer.map_err(|errno| StorageError { call, file: name(self), errno })
    }

    /// The name that errors give a directory.
    pub(super) fn directory_name(&self, id: DirectoryId) -> Name {
        self.state.names.name_of(self.state.directory(id).name)
    }
}

/// What a call is on, as it was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject<'a> {
    /// An open file.
    File(FileId),
    /// An open directory.
    Directory(DirectoryId),
    /// A name in an open directory.
    Name(DirectoryId, &'a Name),
}

/// What a call is about, for its event.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    pub(super) object: u32,
    pub(super) position: u64,
    /// What was asked for, in case it fails.
    pub(super) asked: u64,
    /// XXH3-64 of the bytes that it moved.
    pub(super) content: Option<u64>,
}

/// Whether the call that a disturbance hits shows it: it fails, or returns something else.
fn is_seen_at_once(disturbance: Disturbance) -> bool {
    match disturbance {
        Disturbance::Fail { .. }
        | Disturbance::Short { .. }
        | Disturbance::MisdirectRead { .. }
        | Disturbance::CorruptRead { .. }
        | Disturbance::FailSync { .. }
        | Disturbance::GoReadOnly
        | Disturbance::ListInOrder { .. } => true,
        Disturbance::Crash { .. }
        | Disturbance::LieAboutFlush
        | Disturbance::LoseWrite
        | Disturbance::ShearWrite { .. }
        | Disturbance::MisdirectWrite { .. }
        | Disturbance::DeferSyncError
        | Disturbance::SwallowSyncError => false,
    }
}
