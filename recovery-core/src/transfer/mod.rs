//! Takes partitions over from peers (DESIGN section 8, "Replace").
//!
//! Promises: only proven bytes are offered, and each batch that comes in is verified by the walk that recovery
//! itself makes, so what one accepts is never refused by another (F40, I19); a live directory is never edited; a
//! crash anywhere leaves the old directory or the new one. Leaves out: how bytes come from one node to another
//! ([`Source`]), and who asks whom.

mod carry_over;
mod completion;
mod error;
mod held_here;
mod install;
mod offer;
mod rebuild_plan;
mod replaced_fence;
mod segment_build;
mod source;
mod swap;

pub use completion::{Finished, finish_install};
pub use error::{InstallError, OfferFault};
pub use install::{Install, InstallOptions};
pub use offer::Offer;
pub use rebuild_plan::{Piece, PieceSource, RebuildPlan};
pub use source::{Source, SourceError, StorageSource};
