//! The deterministic simulator that tries to break `recovery-core`.

pub mod disk;
pub mod oracle;
pub mod schedule;
