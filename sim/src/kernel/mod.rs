//! The model of each filesystem held against a real kernel: what a crash of a real filesystem leaves must be
//! something that the simulated disk can leave.
//!
//! Promises: what the kernel shows and the model forbids is reported with the program that led there; where
//! nothing can be tried, that is said. Leaves out: what a power cut does inside the device (sectors torn, its
//! cache lost), since a filesystem that is shut down leaves the device alone; and filesystems other than ext4
//! and XFS.

mod crashed;
mod cycle;
mod driver;
mod explanation;
mod mount;
mod partition;
mod program;
mod remains;
mod session;
mod shape;
mod states;
#[cfg(test)]
mod tests;

pub use crashed::Wronged;
pub use cycle::CycleError;
pub use driver::{StepError, simulate};
pub use explanation::explain;
pub use mount::{Kind, Missing, Mount, MountError, look_for};
pub use partition::PartitionError;
pub use program::{Program, Step};
pub use remains::Remains;
pub use session::{Found, Session, Strange};
pub use shape::Shown;
