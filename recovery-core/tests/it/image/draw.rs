//! Numbers and bytes out of a fuzzer's input, in the order in which they are asked for.
//!
//! Promises: an input that is used up gives zeros and empty runs, and zero is always the plainest choice.

use arbitrary::Unstructured;

/// What is left of an input.
pub(super) struct Draw<'a>(Unstructured<'a>);

impl<'a> Draw<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        Self(Unstructured::new(input))
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0.int_in_range(0..=bound - 1).unwrap_or(0)
    }

    /// Yes, in one case of `cases`.
    pub(super) fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == cases - 1
    }

    /// One of a few.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A number of any size: mostly small, now and then at an edge of what fits.
    pub(super) fn number(&mut self) -> u64 {
        match self.below(8) {
            0..=4 => self.below(64) as u64,
            5 => u64::MAX - self.below(64) as u64,
            6 => (1 << 63) - 32 + self.below(64) as u64,
            _ => self.0.arbitrary().unwrap_or(0),
        }
    }

    /// At most `most` bytes as they stand in the input.
    pub(super) fn run(&mut self, most: usize) -> Vec<u8> {
        let count = self.below(most + 1).min(self.0.len());
        self.0.bytes(count).unwrap_or(&[]).to_vec()
    }

    /// Changes a byte or a few at a place of `bytes`, if there are any.
    pub(super) fn edit(&mut self, bytes: &mut [u8]) {
        if bytes.is_empty() {
            return;
        }
        let at = self.below(bytes.len());
        match self.below(3) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.pick(&[0, 0xff, 1, 0x80]),
            _ => {
                let number = self.number().to_le_bytes();
                let count = number.len().min(bytes.len() - at);
                bytes[at..at + count].copy_from_slice(&number[..count]);
            }
        }
    }
}
