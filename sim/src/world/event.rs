//! Everything that happens in a world, as 32-byte records, and the digest over them (CONTRACTS 7).
//!
//! Promises: nothing enters that depends on wording, threads, addresses, build profile, time or map order.
//! Codes are permanent: a new kind of event takes the next number. Leaves out: what a checker saw.

use std::collections::BTreeMap;

use recovery_core::plan::Plan;

use crate::disk::{Event as Called, Strike, Touched};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum EventCode {
    /// A step begins: a = its kind.
    Step = 1,
    /// A storage call that succeeded: a = call and object, b = position, c = length.
    Call = 2,
    /// A storage call that failed: a = call and object, b = position, c = errno.
    CallFailed = 3,
    /// A batch got offsets: a = batch id, b = base offset, c = next offset.
    Appended = 4,
    /// Offsets were acknowledged: a = partition, b = next offset.
    Acknowledged = 5,
    /// A writer's call failed: a = partition, b = hash of the error's code.
    WriterFailed = 6,
    /// The node went down: a = restart kind, b = digest of the survivors, c = kept and lost.
    Crashed = 7,
    /// A partition was judged: a = partition, b = disposition and reason, c = next offset.
    Verdict = 8,
    /// One segment's action: a = segment, b = action, c = cut position.
    Action = 9,
    /// A step of a plan: a = its kind, b = hash of the name of the file that it is about, or 0.
    Planned = 10,
    /// A poll was answered: a = partition, b = hash of the answer, c = messages.
    Polled = 11,
    /// A fault was done as a step, or a batch planted: a = its kind, b = the batch.
    Fault = 12,
    /// A step or target that is not there: a = step kind.
    Missed = 13,
    /// A clean stop: a = partition, b = 1 if it succeeded.
    Stopped = 14,
    /// A host told something: a = partition, b = hash of its word, c = by the word.
    Told = 15,
    /// The bytes that the call before read or wrote: a = their XXH3-64.
    Bytes = 16,
    /// A fault hit a call of the step: a = its kind, b = call and what it touched first, c = position.
    Hit = 17,
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What it is about.
    pub code: EventCode,
    /// On which node.
    pub node: u8,
    /// In which step, counted from 0.
    pub step: u32,
    /// By code.
    pub a: u64,
    /// By code.
    pub b: u64,
    /// By code.
    pub c: u64,
}

/// Bytes of an encoded record.
pub const EVENT_BYTES: usize = 32;

/// So many bytes of events are hashed at once.
const PENDING_BYTES: usize = 64 * EVENT_BYTES;

impl Event {
    /// Encodes the record, little-endian.
    pub fn encode(&self) -> [u8; EVENT_BYTES] {
        let mut bytes = [0; EVENT_BYTES];
        bytes[0..2].copy_from_slice(&(self.code as u16).to_le_bytes());
        bytes[2..4].copy_from_slice(&u16::from(self.node).to_le_bytes());
        bytes[4..8].copy_from_slice(&self.step.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.a.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.b.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.c.to_le_bytes());
        bytes
    }
}

/// Takes records, keeps their digest, and the records themselves if asked to.
pub struct Recorder {
    hasher: Xxh3Default,
    /// Bytes of events that are still to be hashed: many at once cost less than each alone.
    pending: Vec<u8>,
    count: u64,
    kept: Option<Kept>,
    node: u8,
    step: u32,
}

/// The records themselves, for whoever tells what happened.
#[derive(Default)]
struct Kept {
    events: Vec<Event>,
    /// When each happened, among those of its node: even between two calls, odd with one.
    times: Vec<u64>,
    /// Calls so far, by node.
    calls: BTreeMap<u8, u64>,
}

impl Kept {
    /// Keeps a record of what comes behind all calls that are recorded.
    fn push(&mut self, event: Event) {
        let calls = self.calls.entry(event.node).or_default();
        let time = match event.code {
            EventCode::Call | EventCode::CallFailed => {
                *calls += 1;
                2 * *calls - 1
            }
            EventCode::Bytes => 2 * *calls - 1,
            EventCode::Step
            | EventCode::Appended
            | EventCode::Acknowledged
            | EventCode::WriterFailed
            | EventCode::Crashed
            | EventCode::Verdict
            | EventCode::Action
            | EventCode::Planned
            | EventCode::Polled
            | EventCode::Fault
            | EventCode::Missed
            | EventCode::Stopped
            | EventCode::Told
            | EventCode::Hit => 2 * *calls,
        };
        self.events.push(event);
        self.times.push(time);
    }
}

impl Recorder {
    /// A recorder that keeps nothing but the digest.
    pub fn new() -> Self {
        Self { hasher: Xxh3Default::new(), pending: Vec::new(), count: 0, kept: None, node: 0, step: 0 }
    }

    /// Begins a new world.
    pub fn reset(&mut self, keep: bool) {
        self.hasher.reset();
        self.pending.clear();
        self.count = 0;
        self.kept = keep.then(Kept::default);
        self.node = 0;
        self.step = 0;
    }

    /// Says where the next records belong.
    pub fn at(&mut self, node: u8, step: u32) {
        self.node = node;
        self.step = step;
    }

    /// Takes a record.
    #[inline]
    pub fn note(&mut self, code: EventCode, a: u64, b: u64, c: u64) {
        let event = Event { code, node: self.node, step: self.step, a, b, c };
        self.pending.extend_from_slice(&event.encode());
        if self.pending.len() >= PENDING_BYTES {
            self.hasher.update(&self.pending);
            self.pending.clear();
        }
        self.count += 1;
        if let Some(kept) = &mut self.kept {
            kept.push(event);
        }
    }

    /// Takes a record of what came behind `pending` calls that are not recorded yet.
    pub fn note_behind(&mut self, pending: usize, code: EventCode, (a, b, c): (u64, u64, u64)) {
        self.note(code, a, b, c);
        if let Some(time) = self.last_time() {
            *time += 2 * pending as u64;
        }
    }

    fn last_time(&mut self) -> Option<&mut u64> {
        self.kept.as_mut().and_then(|kept| kept.times.last_mut())
    }

    /// Takes a storage call that succeeded, and the hash of the bytes that it moved, if it moved any.
    #[inline]
    pub fn call(&mut self, call: &Called) {
        self.note(EventCode::Call, call.subject(), call.position, call.length);
        if let Some(content) = call.content {
            self.note(EventCode::Bytes, content, 0, 0);
        }
    }

    /// Takes the steps of a plan.
    pub fn plan(&mut self, plan: &Plan) {
        for step in &plan.steps {
            let file = step.file().map_or(0, |file| xxh3_64(file.as_bytes()));
            self.note(EventCode::Planned, word(step.code()), file, 0);
        }
    }

    /// Takes a fault that hit one of the last `calls` calls.
    pub fn strike(&mut self, strike: &Strike, calls: usize) {
        let (file, position) = match strike.touched.first() {
            Some(Touched::Bytes { file, range, .. }) => (u64::from(file.number()), range.start),
            Some(Touched::Name { directory, .. }) => (u64::from(directory.number()), 0),
            None => (0, 0),
        };
        self.note(EventCode::Hit, word(strike.cause.code()), file << 8 | strike.call as u64, position);
        if let Some(time) = self.last_time() {
            *time -= 2 * (calls - strike.at) as u64;
        }
    }

    /// The node that records belong to.
    pub fn node(&self) -> u8 {
        self.node
    }

    /// The digest so far.
    pub fn digest(&self) -> u64 {
        let mut hasher = self.hasher.clone();
        hasher.update(&self.pending);
        hasher.digest()
    }

    /// How many records there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The records, if they were kept, and when each happened.
    pub fn take_kept(&mut self) -> (Vec<Event>, Vec<u64>) {
        let Kept { events, times, .. } = self.kept.take().unwrap_or_default();
        (events, times)
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

/// A word of a fixed vocabulary as a number for a record.
pub fn word(code: &str) -> u64 {
    xxh3_64(code.as_bytes())
}
