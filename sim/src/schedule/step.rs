//! The steps of a schedule, one explicit decision each.
//!
//! Promises: plain data; a step names what it touches by partition and batch id, so that leaving one out
//! changes the meaning of no other. Leaves out: what a step does (the world), and whether its target
//! exists: a target that does not is *missed*, which is for the world to count.

use recovery_core::units::{Namespace, Offset, SegmentStart};

use super::crash::{Crash, CrashInside};
use super::expect::Expectation;
use super::fault::{Fault, FaultInside};
use super::word::words;

/// The number of a node, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u8);

/// A batch as the schedule names it. Ids are chosen by the schedule and unique in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub u32);

impl BatchId {
    /// The id `count` further on, or `None` if there is none.
    pub const fn checked_add(self, count: u32) -> Option<Self> {
        match self.0.checked_add(count) {
            Some(id) => Some(Self(id)),
            None => None,
        }
    }
}

/// One step: something is done on one node, and may be cut short or disturbed on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where.
    pub node: NodeId,
    /// What.
    pub action: Action,
    /// Crashes and faults inside the step, in the order they are written.
    pub interruptions: Vec<Interruption>,
}

impl Step {
    /// A step on node 0 that nothing interrupts.
    pub const fn new(action: Action) -> Self {
        Self { node: NodeId(0), action, interruptions: Vec::new() }
    }

    /// Every way in which the node goes down in the step.
    pub fn crashes(&self) -> impl Iterator<Item = &Crash> {
        let own = if let Action::Crash(crash) = &self.action { Some(crash) } else { None };
        let inside = self.interruptions.iter().filter_map(|interruption| match interruption {
            Interruption::Crash(inside) => Some(&inside.crash),
            Interruption::Fault(_) => None,
        });
        own.into_iter().chain(inside)
    }

    /// Whether the step only looks: `expect`, its siblings, and `either`. Such steps are not counted
    /// when schedules are compared by length.
    pub const fn is_expectation(&self) -> bool {
        matches!(self.action, Action::Expect(_) | Action::Either(_))
    }
}

impl Step {
    /// What in the step the legal regime does not have, if anything.
    pub(super) fn illegal_part(&self) -> Option<&'static str> {
        let of_fault = |fault: &Fault| (!fault.kind.is_legal()).then(|| fault.kind.code());
        if let Action::Plant(_) = self.action {
            return Some("plant");
        }
        if let Action::Fault { fault, .. } = &self.action
            && let Some(kind) = of_fault(fault)
        {
            return Some(kind);
        }
        self.interruptions.iter().find_map(|interruption| match interruption {
            Interruption::Crash(_) => None,
            Interruption::Fault(inside) => of_fault(&inside.fault),
        })
    }
}

/// What happens inside a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// The node goes down before one of the step's storage calls.
    Crash(CrashInside),
    /// One of the step's storage calls goes wrong.
    Fault(FaultInside),
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Gives batches to the partition's writer. They are not acknowledged before a flush.
    Append(Append),
    /// Puts one whole, checksummed batch into a log by hand.
    Plant(Plant),
    /// Flushes the partition's writer and waits for the acknowledgement.
    Flush(Namespace),
    /// Seals the segment and opens the next one.
    Roll(Namespace),
    /// Makes everything written so far durable, and marks it.
    Checkpoint(Namespace),
    /// Lets go of the segments that end below an offset.
    Retain(Retain),
    /// Stops the node cleanly.
    Stop,
    /// Boots the node: recovery of all its partitions, then serving.
    Start,
    /// Reads as a client does.
    Poll(Poll),
    /// The node goes down now.
    Crash(Crash),
    /// Something is damaged now, on the medium.
    Fault {
        /// What.
        fault: Fault,
        /// Whether the page cache keeps what it holds: rot under the cache.
        cached: bool,
    },
    /// Drops clean pages from the cache, of one partition or of the whole node.
    Evict(Option<Namespace>),
    /// Makes a partition.
    Create(Namespace),
    /// Deletes a partition.
    Delete(Namespace),
    /// Confirms that a partition which is being deleted is gone.
    Confirm(Namespace),
    /// One pass of the reconciler over what metadata says and what lies on the disk.
    Reconcile,
    /// Queues the insertion of a partition, to be applied later.
    QueueInsert(Namespace),
    /// Applies the queued insertions.
    ApplyInserts,
    /// The operator accepts a loss.
    AcceptLoss(AcceptLoss),
    /// The state of the network link of the step's node.
    Link(LinkState),
    /// Takes a partition over from another node.
    Transfer {
        /// Which.
        partition: Namespace,
        /// From whom.
        from: NodeId,
    },
    /// Compares with the outcome of the last `start`, or with an answer.
    Expect(Expectation),
    /// At least one of these holds.
    Either(Vec<Expectation>),
}

impl Action {
    /// The partition that the action names first, if it names one.
    pub fn partition(&self) -> Option<Namespace> {
        match self {
            Self::Append(append) => Some(append.partition),
            Self::Plant(plant) => Some(plant.partition),
            Self::Retain(retain) => Some(retain.partition),
            Self::Poll(poll) => Some(poll.partition),
            Self::AcceptLoss(loss) => Some(loss.partition),
            Self::Flush(partition)
            | Self::Roll(partition)
            | Self::Checkpoint(partition)
            | Self::Create(partition)
            | Self::Delete(partition)
            | Self::Confirm(partition)
            | Self::QueueInsert(partition)
            | Self::Transfer { partition, .. } => Some(*partition),
            Self::Evict(partition) => *partition,
            Self::Fault { fault, .. } => fault.target.partition(),
            Self::Expect(expectation) => Some(expectation.partition()),
            Self::Stop
            | Self::Start
            | Self::Crash(_)
            | Self::Reconcile
            | Self::ApplyInserts
            | Self::Link(_)
            | Self::Either(_) => None,
        }
    }

    /// The word of the action in the language of schedules.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Append(_) => "append",
            Self::Plant(_) => "plant",
            Self::Flush(_) => "flush",
            Self::Roll(_) => "roll",
            Self::Checkpoint(_) => "checkpoint",
            Self::Retain(_) => "retain",
            Self::Stop => "stop",
            Self::Start => "start",
            Self::Poll(_) => "poll",
            Self::Crash(_) => "crash",
            Self::Fault { .. } => "fault",
            Self::Evict(_) => "evict",
            Self::Create(_) => "create",
            Self::Delete(_) => "delete",
            Self::Confirm(_) => "confirm",
            Self::Reconcile => "reconcile",
            Self::QueueInsert(_) => "queue-insert",
            Self::ApplyInserts => "apply-inserts",
            Self::AcceptLoss(_) => "accept-loss",
            Self::Link(_) => "link",
            Self::Transfer { .. } => "transfer",
            Self::Expect(_) => "expect",
            Self::Either(_) => "either",
        }
    }

    /// The first and the last batch that the action makes, if it makes any.
    pub fn batches(&self) -> Option<(BatchId, BatchId)> {
        match self {
            Self::Append(append) => Some((append.batch, append.last_batch())),
            Self::Plant(plant) => Some((plant.batch, plant.batch)),
            Self::Flush(_)
            | Self::Roll(_)
            | Self::Checkpoint(_)
            | Self::Retain(_)
            | Self::Stop
            | Self::Start
            | Self::Poll(_)
            | Self::Crash(_)
            | Self::Fault { .. }
            | Self::Evict(_)
            | Self::Create(_)
            | Self::Delete(_)
            | Self::Confirm(_)
            | Self::Reconcile
            | Self::QueueInsert(_)
            | Self::ApplyInserts
            | Self::AcceptLoss(_)
            | Self::Link(_)
            | Self::Transfer { .. }
            | Self::Expect(_)
            | Self::Either(_) => None,
        }
    }

    /// Whether only a host can do it: many partitions, metadata, peers (DESIGN section 8).
    pub const fn is_host(&self) -> bool {
        match self {
            Self::Create(_)
            | Self::Delete(_)
            | Self::Confirm(_)
            | Self::Reconcile
            | Self::QueueInsert(_)
            | Self::ApplyInserts
            | Self::AcceptLoss(_)
            | Self::Link(_)
            | Self::Transfer { .. } => true,
            Self::Append(_)
            | Self::Plant(_)
            | Self::Flush(_)
            | Self::Roll(_)
            | Self::Checkpoint(_)
            | Self::Retain(_)
            | Self::Stop
            | Self::Start
            | Self::Poll(_)
            | Self::Crash(_)
            | Self::Fault { .. }
            | Self::Evict(_)
            | Self::Expect(_)
            | Self::Either(_) => false,
        }
    }
}

/// Messages of a batch when a step names no count.
pub const MESSAGES_DEFAULT: u32 = 1;

/// Payload bytes of each message when a step names none.
pub const PAYLOAD_BYTES_DEFAULT: u32 = 100;

/// Batches through the core's writer: ids `batch` to `batch + count - 1`, all of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Append {
    /// Where.
    pub partition: Namespace,
    /// Id of the first batch.
    pub batch: BatchId,
    /// How many batches, at least 1.
    pub count: u32,
    /// Messages of each batch.
    pub messages: u32,
    /// Payload bytes of each message.
    pub payload_bytes: u32,
    /// What the payloads are made from, together with batch id and place in the batch.
    pub content: u64,
}

impl Append {
    /// One batch of one message of 100 bytes.
    pub const fn new(partition: Namespace, batch: BatchId) -> Self {
        Self {
            partition,
            batch,
            count: 1,
            messages: MESSAGES_DEFAULT,
            payload_bytes: PAYLOAD_BYTES_DEFAULT,
            content: 0,
        }
    }

    /// The id of its last batch.
    ///
    /// # Panics
    ///
    /// If it has no batch, or its ids run past the largest one; the parser refuses both.
    pub fn last_batch(&self) -> BatchId {
        assert!(self.count > 0, "an append has at least one batch");
        self.batch.checked_add(self.count - 1).expect("the ids of an append exist")
    }
}

/// A batch that no writer of this world wrote, with checksums that fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plant {
    /// Whose log it is put into.
    pub partition: Namespace,
    /// Its own id.
    pub batch: BatchId,
    /// Where in the log.
    pub place: Place,
    /// Made as that partition's writer would make it; `None` for the log's own.
    pub like: Option<Namespace>,
    /// The partition id in its header, when it is not that of `like`.
    pub partition_id: Option<u64>,
    /// Its base offset; `None` for the one that continues what lies before its place.
    pub base_offset: Option<Offset>,
    /// Its messages.
    pub messages: u32,
    /// Payload bytes of each message.
    pub payload_bytes: u32,
    /// How many times it is put into a batch of one message, each the whole payload of the next.
    pub nested: u8,
}

impl Plant {
    /// A batch of one message of 100 bytes at the end of the log, exactly as the writer would go on.
    pub const fn new(partition: Namespace, batch: BatchId) -> Self {
        Self {
            partition,
            batch,
            place: Place::End,
            like: None,
            partition_id: None,
            base_offset: None,
            messages: MESSAGES_DEFAULT,
            payload_bytes: PAYLOAD_BYTES_DEFAULT,
            nested: 0,
        }
    }
}

/// Where a planted batch lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the end of the newest segment's log.
    End,
    /// Over the bytes of another batch, from its first byte on.
    Batch(BatchId),
    /// Inside the first payload of another batch, whose checksums are made to fit: bait.
    Inside(BatchId),
    /// At a byte position of a segment's log; `None` for the newest segment.
    Position {
        /// Which segment.
        segment: Option<SegmentStart>,
        /// First byte.
        position: u64,
    },
}

/// Retention: segments that end below an offset go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retain {
    /// Where.
    pub partition: Namespace,
    /// The first offset that must stay.
    pub below: Offset,
}

/// A client's read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poll {
    /// Where.
    pub partition: Namespace,
    /// First offset asked for.
    pub from: Offset,
    /// Most messages wanted.
    pub count: u32,
}

/// The operator gives offsets up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptLoss {
    /// Where.
    pub partition: Namespace,
    /// Which; `None` where no offset is lost.
    pub range: Option<OffsetRange>,
}

/// Offsets from `first` to `last`, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OffsetRange {
    /// The first.
    pub first: Offset,
    /// The last, not below the first.
    pub last: Offset,
}

words! {
    /// How a node's network link is.
    LinkState, "a state of a link" {
        /// It carries everything at once.
        Up = "up",
        /// It carries everything, late.
        Slow = "slow",
        /// It carries nothing.
        Down = "down",
    }
}
