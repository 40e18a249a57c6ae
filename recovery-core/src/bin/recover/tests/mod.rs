//! What the tool makes of hand-made facts, command lines and files. The built program itself is run by
//! `tests/it/tool/`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    reason = "tests build real directories from outside, and a failed step is a failed test"
)]

mod arguments;
mod inspect;
mod object;
mod pages;
mod sample;
mod sentences;
mod strip;
mod target;
mod text;
