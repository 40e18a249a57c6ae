//! What is true about a world, kept by the harness itself, and what follows from it.
//!
//! Promises: nothing here asks `recovery-core` what is right; it shares only the words that name results.
//! Leaves out: making worlds and disks, and saying what happened to a person.
//!
//! In reading order: [`image`] and [`partition_image`] (what lies on a disk), [`fence_copy`] (what was set
//! aside), [`truth`] (who put it there, and what was promised), [`damage`] (what went wrong with it since),
//! [`obligation`] (what is owed), [`case`] (all of that of one image), [`mod@reference`] (what recovery must
//! conclude), [`invariants`] (what must hold whatever it concludes), [`sample`] (which of them a world is
//! asked), [`check`] and [`violation`] (what did not).

pub mod answer;
pub mod boot_view;
pub mod case;
pub mod check;
mod copied_truth;
pub mod damage;
pub mod fence_copy;
pub mod image;
pub mod invariants;
pub mod judge;
pub mod obligation;
pub mod partition_image;
pub mod reference;
pub mod sample;
pub mod served_log;
#[cfg(test)]
mod specimen;
pub mod truth;
pub mod violation;

pub use check::Check;
pub use image::{Content, FileImage, Image, ImageEntry};
pub use partition_image::{Fence, Forgotten, PartitionImage};
pub use violation::{Value, Violation};
