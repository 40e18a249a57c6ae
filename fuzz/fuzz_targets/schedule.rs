//! The fuzz target `schedule`: every input is a schedule, and its world is held to every check
//! (`docs/fuzzing.md`).

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| recovery_fuzz::check_schedule(input));
