//! Steps that say less.

use super::{Extent, Simpler, lower};
use crate::schedule::crash::Crash;
use crate::schedule::step::{
    AcceptLoss, Action, Append, Interruption, MESSAGES_DEFAULT, PAYLOAD_BYTES_DEFAULT, Place, Plant, Poll,
    Retain, Step,
};
use recovery_core::units::Offset;

impl Simpler for Step {
    fn extent(&self) -> Extent {
        let own = u64::from(!self.is_expectation());
        let (batches, bytes) = written(&self.action);
        let calls = self.interruptions.iter().map(|interruption| match interruption {
            Interruption::Crash(inside) => u64::from(inside.at.call),
            Interruption::Fault(_) => 0,
        });
        let inside =
            self.interruptions.iter().filter(|found| matches!(found, Interruption::Fault(_))).count();
        Extent {
            steps: own + self.interruptions.len() as u64,
            batches,
            bytes,
            lateness: calls.sum(),
            faults: inside as u64 + u64::from(matches!(self.action, Action::Fault { .. })),
        }
    }

    fn is_crash(&self) -> bool {
        self.crashes().next().is_some()
    }

    fn simpler(&self) -> Vec<Self> {
        // The node goes down all the same, and what it was doing is not done.
        let down = |crash: &Crash| Self { node: self.node, ..Self::new(Action::Crash(crash.clone())) };
        let mut found: Vec<Self> = self.crashes().map(down).filter(|other| other != self).collect();
        if self.interruptions.len() > 1 {
            found.push(Self { interruptions: Vec::new(), ..self.clone() });
        }
        for at in (0..self.interruptions.len()).rev() {
            let mut fewer = self.clone();
            fewer.interruptions.remove(at);
            found.push(fewer);
        }
        found.extend(action(&self.action).into_iter().map(|action| Self { action, ..self.clone() }));
        for (at, interruption) in self.interruptions.iter().enumerate() {
            found.extend(interruption.simpler().into_iter().map(|interruption| {
                let mut other = self.clone();
                other.interruptions[at] = interruption;
                other
            }));
        }
        found
    }
}

/// Batches that an action writes, and the bytes of their payloads.
fn written(action: &Action) -> (u64, u64) {
    let payload = |messages: u32, bytes: u32| {
        u64::from(messages.max(MESSAGES_DEFAULT)) * u64::from(bytes.max(PAYLOAD_BYTES_DEFAULT))
    };
    match action {
        Action::Append(append) => {
            let count = u64::from(append.count);
            (count, count * payload(append.messages, append.payload_bytes))
        }
        Action::Plant(plant) => (1, payload(plant.messages, plant.payload_bytes)),
        Action::Flush(_)
        | Action::Roll(_)
        | Action::Checkpoint(_)
        | Action::Retain(_)
        | Action::Stop
        | Action::Start
        | Action::Poll(_)
        | Action::Crash(_)
        | Action::Fault { .. }
        | Action::Evict(_)
        | Action::Create(_)
        | Action::Delete(_)
        | Action::Confirm(_)
        | Action::Reconcile
        | Action::QueueInsert(_)
        | Action::ApplyInserts
        | Action::AcceptLoss(_)
        | Action::Link(_)
        | Action::Transfer { .. }
        | Action::Expect(_)
        | Action::Either(_) => (0, 0),
    }
}

fn action(action: &Action) -> Vec<Action> {
    match action {
        Action::Append(value) => append(*value).into_iter().map(Action::Append).collect(),
        Action::Plant(value) => plant(*value).into_iter().map(Action::Plant).collect(),
        Action::Retain(retain) => {
            let below = lower(retain.below.get(), 0).into_iter().map(Offset::new);
            below.map(|below| Action::Retain(Retain { below, ..*retain })).collect()
        }
        Action::Poll(poll) => {
            let from = lower(poll.from.get(), 0).into_iter().map(Offset::new);
            let from = from.map(|from| Poll { from, ..*poll });
            let count = lower(poll.count, 1).into_iter().map(|count| Poll { count, ..*poll });
            from.chain(count).map(Action::Poll).collect()
        }
        Action::Crash(crash) => crash.simpler().into_iter().map(Action::Crash).collect(),
        Action::Fault { fault, cached } => {
            let uncached = cached.then(|| Action::Fault { fault: fault.clone(), cached: false });
            let faults = fault.simpler().into_iter();
            uncached.into_iter().chain(faults.map(|fault| Action::Fault { fault, cached: *cached })).collect()
        }
        Action::Evict(Some(_)) => vec![Action::Evict(None)],
        Action::AcceptLoss(AcceptLoss { partition, range: Some(_) }) => {
            vec![Action::AcceptLoss(AcceptLoss { partition: *partition, range: None })]
        }
        Action::Flush(_)
        | Action::Roll(_)
        | Action::Checkpoint(_)
        | Action::Stop
        | Action::Start
        | Action::Evict(None)
        | Action::Create(_)
        | Action::Delete(_)
        | Action::Confirm(_)
        | Action::Reconcile
        | Action::QueueInsert(_)
        | Action::ApplyInserts
        | Action::AcceptLoss(AcceptLoss { range: None, .. })
        | Action::Link(_)
        | Action::Transfer { .. }
        | Action::Expect(_)
        | Action::Either(_) => Vec::new(),
    }
}

/// Fewer batches, of which the first or the last stay, then smaller ones.
fn append(append: Append) -> Vec<Append> {
    let mut found = Vec::new();
    for count in lower(append.count, 1) {
        found.push(Append { count, ..append });
        let batch = append.batch.checked_add(append.count - count).expect("it is one of the append's own");
        found.push(Append { batch, count, ..append });
    }
    found.extend(messages(append.messages).into_iter().map(|messages| Append { messages, ..append }));
    let payloads = payloads(append.payload_bytes).into_iter();
    found.extend(payloads.map(|payload_bytes| Append { payload_bytes, ..append }));
    if append.content != 0 {
        found.push(Append { content: 0, ..append });
    }
    found
}

fn plant(plant: Plant) -> Vec<Plant> {
    let mut found = vec![
        Plant { like: None, ..plant },
        Plant { partition_id: None, ..plant },
        Plant { base_offset: None, ..plant },
    ];
    found.extend(lower(plant.nested, 0).into_iter().map(|nested| Plant { nested, ..plant }));
    found.extend(messages(plant.messages).into_iter().map(|messages| Plant { messages, ..plant }));
    let payloads = payloads(plant.payload_bytes).into_iter();
    found.extend(payloads.map(|payload_bytes| Plant { payload_bytes, ..plant }));
    let bases = plant.base_offset.map(|base| lower(base.get(), 0)).unwrap_or_default();
    found.extend(bases.into_iter().map(|base| Plant { base_offset: Some(Offset::new(base)), ..plant }));
    if let Place::Position { segment, position } = plant.place {
        let at = |segment, position| Plant { place: Place::Position { segment, position }, ..plant };
        found.push(at(None, position));
        found.extend(lower(position, 0).into_iter().map(|position| at(segment, position)));
    }
    found
}

fn messages(messages: u32) -> Vec<u32> {
    let default = (messages < MESSAGES_DEFAULT).then_some(MESSAGES_DEFAULT);
    default.into_iter().chain(lower(messages, u64::from(MESSAGES_DEFAULT))).collect()
}

fn payloads(bytes: u32) -> Vec<u32> {
    let default = (bytes < PAYLOAD_BYTES_DEFAULT).then_some(PAYLOAD_BYTES_DEFAULT);
    default.into_iter().chain(lower(bytes, u64::from(PAYLOAD_BYTES_DEFAULT))).collect()
}
