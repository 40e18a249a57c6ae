//! The deterministic simulator that tries to break `recovery-core`.

pub mod oracle;
pub mod schedule;
