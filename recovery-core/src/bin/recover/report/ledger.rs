//! What the ledger came to, in both forms: without it or without some of its records, evidence is missing.
//!
//! Promises: a ledger that is whole, or that was never there, gets no line. Leaves out: the records one by
//! one, which `inspect` shows.

use recovery_core::observe::{LedgerState, PartitionFacts};
use recovery_core::units::Length;
use serde::Serialize;

use crate::paragraph::{counted, paragraph};

/// The ledger as an object.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct LedgerObject {
    /// `known`, `absent`, `invalid` (bytes, and not one record among them) or `mismatch` (another's).
    state: &'static str,
    /// Valid records; null where none is this partition's.
    records: Option<u64>,
    /// Slots whose bytes do not verify; null where that was not counted.
    skipped: Option<u64>,
    /// Kind of the newest record.
    newest: Option<&'static str>,
    /// No smaller offset will be minted, says the newest record.
    reserved_offset: Option<u64>,
}

impl LedgerObject {
    /// The object of what was found.
    pub(crate) fn of(facts: &PartitionFacts) -> Self {
        let unheard =
            |state| Self { state, records: None, skipped: None, newest: None, reserved_offset: None };
        match &facts.ledger {
            LedgerState::Known(ledger) => Self {
                state: "known",
                records: Some(ledger.valid),
                skipped: Some(ledger.skipped),
                newest: Some(ledger.newest.kind.code()),
                reserved_offset: Some(ledger.newest.reserved_offset.get()),
            },
            LedgerState::None { length: None | Some(Length::ZERO) } => unheard("absent"),
            LedgerState::None { length: Some(_) } => unheard("invalid"),
            LedgerState::Mismatch { .. } => unheard("mismatch"),
        }
    }
}

/// The line for people: empty where nothing is missing.
pub(super) fn line(facts: &PartitionFacts) -> String {
    match &facts.ledger {
        LedgerState::Known(ledger) if ledger.skipped > 0 => paragraph(
            "ledger: ",
            &format!(
                "{} of {} do not count: damaged, or of another life or place",
                ledger.skipped,
                counted(ledger.valid + ledger.skipped, "record")
            ),
        ),
        LedgerState::None { length: Some(length) } if *length > Length::ZERO => paragraph(
            "ledger: ",
            &format!("{} and not one record among them, so it counts as none", counted(length.get(), "byte")),
        ),
        // Another partition's ledger is the reason of a refusal, which says so.
        LedgerState::Known(_) | LedgerState::None { .. } | LedgerState::Mismatch { .. } => String::new(),
    }
}
