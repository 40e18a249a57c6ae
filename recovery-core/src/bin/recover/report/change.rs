//! What a plan comes to, in one line.

use recovery_core::plan::Step;

use crate::paragraph::counted;

/// The steps by what they change, as what somebody would do.
pub(super) fn summary(steps: &[Step]) -> String {
    let (mut cuts, mut saved, mut indexes, mut set_aside, mut records) = (0, 0, 0, 0, 0);
    for step in steps {
        match step {
            Step::CutLog { .. } => cuts += 1,
            Step::SaveResidue { length, .. } | Step::SaveIndex { length, .. } => saved += length.get(),
            Step::InstallIndex { .. } => indexes += 1,
            Step::SetAside { .. } => set_aside += 1,
            Step::ReserveOffset { .. } | Step::RecordRecovered { .. } | Step::RecordCleanStop { .. } => {
                records += 1;
            }
            Step::Identify { .. }
            | Step::MakeFence
            | Step::CheckZeros { .. }
            | Step::WriteReason
            | Step::SyncFence
            | Step::StageIndex { .. }
            | Step::SyncDirectory => {}
        }
    }
    let parts = [
        (saved, format!("copy {} aside", counted(saved, "byte"))),
        (cuts, format!("cut {}", counted(cuts, "log"))),
        (set_aside, format!("set {} aside", counted(set_aside, "file"))),
        (indexes, format!("write {} anew", counted(indexes, "index"))),
        (records, format!("add {} to the ledger", counted(records, "record"))),
    ];
    let told: Vec<String> = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part).collect();
    told.join(", ")
}
