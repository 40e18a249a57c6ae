//! What is true about a world, kept by the harness itself, and what follows from it.
//!
//! Promises: nothing here asks `recovery-core` what is right; it shares only the words that name results.
//! Leaves out: making worlds and disks, and saying what happened to a person.

pub mod image;
pub mod reference;
