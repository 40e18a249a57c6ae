//! Tests of the simulated disk beyond conformance and litmus.

#![expect(clippy::unwrap_used, reason = "a test that unwraps an error has failed")]

mod calls;
mod chaos;
mod damage;
mod durable;
mod moments;
mod names;
