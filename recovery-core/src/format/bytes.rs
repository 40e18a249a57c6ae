//! Little-endian fields at fixed places of a fixed-size structure.

/// Reads a u64 at `at`.
#[inline]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut field = [0; 8];
    field.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(field)
}

/// Reads a u32 at `at`.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut field = [0; 4];
    field.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(field)
}

/// Reads a u128 at `at`.
#[inline]
pub(crate) fn u128_at(bytes: &[u8], at: usize) -> u128 {
    let mut field = [0; 16];
    field.copy_from_slice(&bytes[at..at + 16]);
    u128::from_le_bytes(field)
}

/// Writes a u64 at `at`.
#[inline]
pub(crate) fn put_u64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// Writes a u32 at `at`.
#[inline]
pub(crate) fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Writes a u128 at `at`.
#[inline]
pub(crate) fn put_u128(bytes: &mut [u8], at: usize, value: u128) {
    bytes[at..at + 16].copy_from_slice(&value.to_le_bytes());
}
