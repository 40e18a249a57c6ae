//! The integration tests of `recovery-core`: one binary, one module a surface.

#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    reason = "tests build and look at real directories from outside, and a failed step is a failed test"
)]

mod file_name;
mod findings;
mod fixture;
mod format;
mod format_damage;
mod golden;
mod host_accept_loss;
mod host_accept_loss_empty;
mod host_accept_loss_laws;
mod host_adopt;
mod host_boot;
mod host_delete;
mod host_disposition;
mod host_faults;
mod host_fence_limit;
mod host_install;
mod host_peers;
mod host_sequences;
mod host_superblock;
mod host_world;
mod hostile;
mod image;
mod image_laws;
mod ledger;
mod ledger_lives;
mod ledger_marks;
mod ledger_record;
mod loss_world;
mod memory_storage;
mod metadata_ceiling;
mod metadata_log;
mod named_damage;
mod observe_index;
mod observe_ledger;
mod observe_names;
mod observe_residue;
mod observe_segments;
mod observe_steps;
mod observe_world;
mod operations;
mod partition_admission;
mod partition_flush;
mod partition_open;
mod partition_reader;
mod partition_roll;
mod partition_stop;
mod partition_storm;
mod partition_world;
mod plan_apply;
mod plan_build;
mod plan_carry;
mod plan_fence;
mod plan_run;
mod plan_settle;
mod plan_world;
mod recording_storage;
mod recovery;
mod recovery_run;
mod recovery_threads;
mod storage_exact;
mod storage_os;
mod tidy;
#[cfg(feature = "cli")]
mod tool;
mod track_record;
mod transfer;
mod transfer_hostile;
mod transfer_marker;
mod transfer_world;
mod verifier;
