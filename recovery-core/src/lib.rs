//! Decides after every start which bytes of a segmented, partitioned log are proven, and what may be
//! done with the rest.
//!
//! Data flows one way, and each arrow is a plain value: [`observe`] states facts, [`decide`] turns them
//! into a verdict, [`plan`] turns that into steps and carries them out, [`partition`] serves. [`host`] does
//! that for many partitions, which the metadata log names ([`wal`]). The only door to a disk is
//! [`storage::Storage`].

pub mod decide;
pub mod format;
pub mod host;
pub mod ledger;
pub mod observe;
pub mod partition;
pub mod plan;
pub mod recovery;
pub mod storage;
pub mod transfer;
pub mod units;
pub mod wal;
