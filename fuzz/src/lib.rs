//! Any partition directory and any schedule whatsoever, held to the law: what the fuzz targets run.
//!
//! Promises: the same files that the tests of `recovery-core` use, so that whatever the fuzzer finds is a
//! test there once its input lies in the corpus. Leaves out: choosing inputs.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "the storage and the law are shared with tests, which use more of them"
)]

#[path = "../../recovery-core/tests/it/image/mod.rs"]
mod image;
#[path = "../../recovery-core/tests/it/memory_storage.rs"]
mod memory_storage;
#[path = "../../recovery-core/tests/it/recovery_run.rs"]
mod recovery_run;

/// Takes `input` as a partition directory, and panics if recovery breaks the law on it.
pub fn check(input: &[u8]) {
    image::check::check(&image::Image::of(input));
}

/// Takes `input` as a schedule, and panics if a check fails in its world.
pub fn check_schedule(input: &[u8]) {
    sim::run::fuzzed::check_bytes(input);
}
