//! The answer to a poll: whole batches, and the offsets that nobody holds.

use crate::format::BatchHeader;
use crate::observe::RecordedGap;
use crate::units::{Length, Offset};

/// Offsets below the one asked for, or between two batches, that no batch of the partition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// Retention removed them; what is read starts at `next`.
    Expired {
        /// The offset asked for.
        first: Offset,
        /// The first offset of the partition.
        next: Offset,
    },
    /// A recorded gap: they were given to no message.
    Gap(RecordedGap),
}

/// The answer to a poll. Reused from one to the next, so that its memory is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polled {
    bytes: Vec<u8>,
    batches: Vec<(BatchHeader, usize)>,
    skipped: Vec<Skipped>,
    from: Offset,
    next_offset: Offset,
    messages: u64,
}

impl Polled {
    /// Each batch with its verified bytes, in order. The first holds the offset asked for, or the first
    /// one behind what was skipped.
    pub fn batches(&self) -> impl Iterator<Item = (&BatchHeader, &[u8])> {
        self.batches.iter().map(|(header, from)| {
            let length = usize::try_from(header.batch_length.get()).expect("it is in memory");
            (header, &self.bytes[*from..from + length])
        })
    }

    /// Whether there is no batch: the offset asked for is not acknowledged yet.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// What was skipped on the way, ascending.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Where the next poll goes on.
    pub const fn next_offset(&self) -> Offset {
        self.next_offset
    }

    /// Messages from the offset asked for on, counted one by one.
    pub const fn messages(&self) -> u64 {
        self.messages
    }

    /// Bytes of all batches.
    pub fn length(&self) -> Length {
        Length::new(self.bytes.len() as u64)
    }

    pub(super) fn begin(&mut self, from: Offset) {
        self.bytes.clear();
        self.batches.clear();
        self.skipped.clear();
        (self.from, self.next_offset) = (from, from);
        self.messages = 0;
    }

    /// Goes on behind offsets that nobody holds.
    pub(super) fn skip(&mut self, skipped: Skipped) {
        let next = match skipped {
            Skipped::Expired { next, .. } => next,
            Skipped::Gap(gap) => gap.next,
        };
        assert!(next > self.next_offset, "what is skipped lies ahead");
        self.next_offset = next;
        self.skipped.push(skipped);
    }

    /// The memory that the next batch is read into, behind the others.
    pub(super) const fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Takes the bytes from `from` on as one more batch, which has been verified.
    pub(super) fn accept(&mut self, header: &BatchHeader, from: usize) {
        assert!((self.bytes.len() - from) as u64 == header.batch_length.get(), "a batch is whole");
        let next = header.next_offset().expect("a placed batch leaves a next offset");
        // The first batch may begin before the offset asked for.
        let first = header.base_offset.max(self.from);
        self.messages += next.checked_since(first).expect("a batch that is asked for ends behind it");
        self.next_offset = next;
        self.batches.push((*header, from));
    }
}
