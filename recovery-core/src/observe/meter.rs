//! Counts what observation costs, and says when a step has done enough.

use super::Work;

/// The account of one observation: bytes left in this step, and totals over all steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    limit: u64,
    spent: u64,
    /// Read and hashed in this step beside what its limit bounds.
    spent_outside: u64,
    work: Work,
}

impl Meter {
    /// Opens a step that may read plus hash `limit` bytes.
    pub(crate) fn begin_step(&mut self, limit: u64) {
        self.limit = limit;
        self.spent = 0;
        self.spent_outside = 0;
    }

    /// Bytes that this step may still read or hash.
    #[inline]
    pub(crate) fn left(&self) -> u64 {
        assert!(self.spent <= self.limit, "a step never spends more than its limit");
        self.limit - self.spent
    }

    /// Notes `count` bytes that storage returned.
    #[inline]
    pub(crate) fn read(&mut self, count: u64) {
        self.spend(count);
        self.work.bytes_read += count;
    }

    /// Notes `count` bytes given to a hash.
    #[inline]
    pub(crate) fn hash(&mut self, count: u64) {
        self.spend(count);
        self.work.bytes_hashed += count;
    }

    /// Notes `count` frame bytes stepped over. They take no step budget of their own: each was read.
    #[inline]
    pub(crate) fn walk(&mut self, count: u64) {
        self.work.bytes_walked += count;
    }

    /// Notes bytes of a structure that is small and read at once, whatever the step's limit: they make the
    /// step longer, and what is left of its limit no less.
    pub(crate) fn note_outside_limit(&mut self, read: u64, hashed: u64) {
        self.work.bytes_read += read;
        self.work.bytes_hashed += hashed;
        self.spent_outside += read + hashed;
        self.note_length();
    }

    /// Totals so far.
    pub(crate) fn work(&self) -> Work {
        self.work
    }

    fn spend(&mut self, count: u64) {
        assert!(count <= self.left(), "bytes are charged before they are spent");
        self.spent += count;
        self.note_length();
    }

    fn note_length(&mut self) {
        let spent = self.spent + self.spent_outside;
        self.work.longest_step_bytes = self.work.longest_step_bytes.max(spent);
    }
}
