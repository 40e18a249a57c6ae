//! Walks, probes and verifications over one log in memory, whose reads are listed and may lie.

mod checking;
mod driving;
mod placing;
mod probing;
mod walking;

use std::cell::RefCell;

use super::window::{Source, in_buffer};
use crate::format::{BatchBuilder, Message, stamp};
use crate::storage::{Access, EntryKind, LockMode, Name, Storage, StorageError};
use crate::units::{Incarnation, Namespace, Offset, PartitionId};

const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
const INCARNATION: Incarnation = Incarnation::new(7);

/// A log. Each read of it is listed.
struct Log {
    bytes: Vec<u8>,
    name: Name,
    /// Numbers of reads, from 1, and the byte of the log that each of them shows wrongly, if it shows it.
    lies: Vec<(usize, u64)>,
    reads: RefCell<Vec<(u64, usize)>>,
}

impl Log {
    fn new(bytes: Vec<u8>) -> Self {
        Self::lying(bytes, &[])
    }

    fn lying(bytes: Vec<u8>, lies: &[(usize, u64)]) -> Self {
        let name = Name::new(b"log").expect("a name is one component");
        Self { bytes, name, lies: lies.to_vec(), reads: RefCell::default() }
    }

    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn source(&self) -> Source<'_, Self> {
        Source { storage: self, file: &(), name: &self.name, length: self.length() }
    }

    /// Where each read began, and what it returned.
    fn reads(&self) -> Vec<(u64, usize)> {
        self.reads.borrow().clone()
    }
}

/// A batch of this partition, with one message for each length of a payload.
fn batch(offset: u64, payloads: &[usize]) -> Vec<u8> {
    batch_of(NAMESPACE.partition_id(), offset, payloads)
}

fn batch_of(partition: PartitionId, offset: u64, payloads: &[usize]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut builder = BatchBuilder::begin(&mut bytes, 1);
    for payload in payloads {
        let payload = vec![0xee; *payload];
        builder.push(&Message { payload: &payload, ..Message::default() }).expect("it is a small message");
    }
    builder.finish();
    stamp(&mut bytes, partition, Offset::new(offset), 2).expect("what was built is a batch");
    bytes
}

/// Whoever looks at a log that is open only reads.
impl Storage for Log {
    type Directory = ();
    type File = ();

    fn read(&self, (): &(), position: u64, buffer: &mut [u8]) -> Result<usize, StorageError> {
        let from = in_buffer(position).min(self.bytes.len());
        let count = buffer.len().min(self.bytes.len() - from);
        buffer[..count].copy_from_slice(&self.bytes[from..from + count]);
        self.reads.borrow_mut().push((position, count));
        let number = self.reads.borrow().len();
        for (_, at) in self.lies.iter().filter(|(read, _)| *read == number) {
            let shown = at.checked_sub(position).map(in_buffer);
            if let Some(byte) = shown.and_then(|at| buffer[..count].get_mut(at)) {
                *byte ^= 0x55;
            }
        }
        Ok(count)
    }

    fn root(&self) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn open_directory(&self, (): &(), _: &Name) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn make_directory(&self, (): &(), _: &Name) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn sync_directory(&self, (): &()) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn list(&self, (): &(), _: &mut dyn FnMut(&Name, EntryKind)) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn lock(&self, (): &(), _: LockMode) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn open(&self, (): &(), _: &Name, _: Access) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn create(&self, (): &(), _: &Name) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn write(&self, (): &(), _: u64, _: &[u8]) -> Result<usize, StorageError> {
        unreachable!("only reads")
    }

    fn length(&self, (): &()) -> Result<u64, StorageError> {
        unreachable!("only reads")
    }

    fn set_length(&self, (): &(), _: u64) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn sync(&self, (): &()) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn drop_cache(&self, (): &()) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn rename(&self, (): &(), _: &Name, (): &(), _: &Name) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn remove(&self, (): &(), _: &Name, _: EntryKind) -> Result<(), StorageError> {
        unreachable!("only reads")
    }

    fn close(&self, (): ()) {
        unreachable!("only reads")
    }

    fn close_directory(&self, (): ()) {
        unreachable!("only reads")
    }
}
