//! The fuzz target `image`: every input is a partition directory (`docs/fuzzing.md`).

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| recovery_fuzz::check(input));
