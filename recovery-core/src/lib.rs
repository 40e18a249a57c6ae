//! Decides after every start which bytes of a segmented, partitioned log are proven, and what may be
//! done with the rest.
//!
//! Data flows one way, and each arrow is a plain value: [`observe`] states facts, [`decide`] turns them
//! into a verdict, [`plan`] turns that into steps and carries them out, [`partition`] serves. [`host`] does
//! that for many partitions, which the metadata log names ([`wal`]). The only door to a disk is
//! [`storage::Storage`].
//!
//! A server holds a [`host::Host`], and `examples/server_loop.rs` is a whole one. Whoever has a single directory, and
//! wants to know what may be done with it, looks at it as here:
//!
//! ```
//! use recovery_core::format::partition_components;
//! use recovery_core::observe::{Expectation, Progress, Workspace};
//! use recovery_core::plan::PlanOptions;
//! use recovery_core::recovery::{Mode, Recovery};
//! use recovery_core::storage::PartitionDirectory;
//! use recovery_core::storage::os::OsStorage;
//! use recovery_core::units::Namespace;
//!
//! # let data = tempfile::tempdir()?;
//! # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
//! let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
//! let storage = OsStorage::open_read_only(data.path())?;
//! let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
//! # std::fs::write(data.path().join("streams/1/topics/1/partitions/0/00000000000000000000.log"), [0x5a; 300])?;
//!
//! let mut workspace = Workspace::new(64 * 1024);
//! let (expectation, options) = (Expectation::of(namespace), PlanOptions::default());
//! let mut recovery = Recovery::new(expectation, Mode::Look, options, &mut workspace);
//! while recovery.step(&storage, &partition, &mut workspace, 1024 * 1024) == Progress::More {}
//! let recovered = recovery.finish();
//!
//! // 300 bytes of noise, and nobody was promised anything: they would be set aside, and then cut.
//! assert!(recovered.verdict.is_served());
//! for step in &recovered.plan.steps {
//!     println!("{step:?}");
//! }
//! # assert!(!recovered.plan.is_empty());
//! partition.close(&storage);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Entry points
//!
//! An entry point is what a program that embeds this crate begins with: a function that needs nothing of the crate but
//! what anybody can write down, or what another entry point gives. Each has an example of its own:
//!
//! - a node: [`host::Host::new`], [`host::Host::start`], [`host::Host::step`], [`host::Host::create`],
//!   [`host::Host::delete`], [`host::Host::poll`], [`host::Host::queue_insert`]
//! - one partition: [`recovery::Recovery::new`], [`partition::Writer::open`], [`partition::Writer::flush`],
//!   [`partition::Writer::roll`], [`partition::Reader::new`], [`partition::Reader::poll`]
//! - its recovery, stage by stage: [`plan::Settling::new`], [`observe::Observation::new`], [`decide::decide`],
//!   [`decide::decide_telling`], [`plan::build`], [`plan::Applying::new`]
//! - for an operator: [`decide::losses`], [`host::AcceptingLoss::new`], [`host::Adopting::begin`],
//!   [`host::FenceTrim::new`]
//! - peers: [`host::Host::offer`], [`transfer::Offer::of`], [`transfer::StorageSource::new`],
//!   [`transfer::Install::new`], [`transfer::finish_install`]
//! - what is remembered: [`ledger::LedgerWriter::create`], [`ledger::LedgerWriter::open`],
//!   [`host::SuperblockWriter::open`], [`wal::Opening::step`], [`wal::MetadataLog::append`], [`wal::Registry::apply`]
//! - bytes: [`format::BatchBuilder::begin`], [`format::stamp`], [`format::BatchHeader::decode`],
//!   [`format::BatchHeader::read`], [`format::FrameHeader::decode`], [`format::FrameHeader::read`],
//!   [`observe::Verifier::new`], [`observe::misplacement`], [`format::LedgerRecord::decode`],
//!   [`format::Superblock::decode`], [`format::IndexEntry::decode`]
//! - a disk: [`storage::os::OsStorage::open`], [`storage::os::OsStorage::open_read_only`],
//!   [`storage::PartitionDirectory::open`], [`storage::exact::read`], [`storage::exact::read_all`],
//!   [`storage::exact::write_all`]

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
