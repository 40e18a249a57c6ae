//! The deterministic simulator that tries to break `recovery-core`.

pub mod schedule;
