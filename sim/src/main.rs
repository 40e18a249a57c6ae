//! The `sim` program.

fn main() {}
