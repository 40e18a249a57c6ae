//! Reads little-endian numbers out of byte slices.

/// The two bytes at `at` as a number.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().expect("the slice has two bytes"))
}

/// The four bytes at `at` as a number.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("the slice has four bytes"))
}

/// The eight bytes at `at` as a number.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("the slice has eight bytes"))
}

/// Whether every byte is zero.
pub(super) fn is_all_zero(bytes: &[u8]) -> bool {
    // Folding without an early exit is what compilers turn into wide compares.
    bytes.chunks(256).all(|chunk| chunk.iter().fold(0, |seen, byte| seen | byte) == 0)
}
