//! Liveness: once faults have stopped and links are up, within a stated number of passes each partition is served
//! whole, or not for a reason that is true (I05, I20); and what was deleted is gone (I03).
//!
//! The map of legal faults: of a partition with peers any number of replicas may be damaged in any way, lose their
//! files, or be away, as long as one that nothing hit is served: then all of them are whole in the end. Where none
//! was hit all are whole, too; where every replica was hit, or what is left of one waits for offsets that only those
//! had, nothing is claimed but that what is not served says so. Of a lone one, only damage that no crash
//! explains may keep it dark.

use recovery_core::host::PartitionState;

use crate::oracle::{Check, Value, Violation};

/// One replica in the end.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "plain facts, each with its own name")]
pub struct Replica {
    /// Its state; `None` if the node knows of no such partition.
    pub state: Option<PartitionState>,
    /// Whether damage that no crash explains has hit it at any time.
    pub was_damaged: bool,
    /// Whether a call of its node ever said that it did what it did not.
    pub was_lied_to: bool,
    /// Whether it holds, up to the end of the sequence, what the sequence gives.
    pub is_whole: bool,
    /// Whether anything of it lies on the disk.
    pub has_files: bool,
    /// Whether some of what lies there cannot be read.
    pub is_unreadable: bool,
    /// Whether whole batches verify there that lie behind all that any peer offers.
    pub holds_more: bool,
}

impl Replica {
    const fn was_hit(self) -> bool {
        self.was_damaged || self.was_lied_to
    }
}

/// What is wrong with one of the `replicas` of a partition, with its place; `is_meant` says whether the
/// partition is meant to be there.
pub fn check_settled(replicas: &[Replica], is_meant: bool) -> Option<(usize, Violation)> {
    let is_intact = |replica: &Replica| !replica.was_hit() && replica.state == Some(PartitionState::Served);
    let has_intact = replicas.iter().any(is_intact);
    let is_hit = replicas.iter().any(|replica| replica.was_hit());
    replicas.iter().enumerate().find_map(|(at, replica)| {
        let violation = if is_meant {
            check_meant(*replica, replicas.len() > 1, has_intact || !is_hit)
        } else {
            check_gone(*replica)
        };
        violation.map(|violation| (at, violation))
    })
}

fn check_meant(replica: Replica, has_peers: bool, has_intact: bool) -> Option<Violation> {
    // Of a node whose disk lied nothing is owed: its metadata may be gone.
    if replica.was_lied_to {
        return None;
    }
    let may_be_dark = if has_peers { !has_intact } else { replica.was_damaged };
    let actual = replica.state.map_or("gone", PartitionState::code);
    let dark = |check| {
        let violation =
            Violation::new(check, "a partition in the end", Value::Code("served"), Value::Code(actual));
        (!may_be_dark).then_some(violation)
    };
    match replica.state {
        Some(PartitionState::Served) if replica.is_whole || (has_peers && !has_intact) => None,
        // What damage made of it cannot be told from what it was; a peer's copy is not asked for.
        Some(PartitionState::Served) if replica.was_damaged => None,
        Some(PartitionState::Served) => {
            let (whole, part) = (Value::Code("whole"), Value::Code("in part"));
            Some(Violation::new(Check::I05, "a partition in the end", whole, part))
        }
        // No copy is taken that ends before what verifies here: an operator is asked.
        Some(PartitionState::Rebuilding) if replica.holds_more && replica.was_damaged => None,
        // What cannot be read of anything but a log is no range that peers could be asked for.
        Some(PartitionState::Unavailable) if replica.is_unreadable => None,
        Some(PartitionState::Refused | PartitionState::Rebuilding) => dark(Check::I05),
        Some(
            PartitionState::Unavailable
            | PartitionState::Created
            | PartitionState::Recovering
            | PartitionState::Deleting,
        )
        | None => dark(Check::I20),
    }
}

fn check_gone(replica: Replica) -> Option<Violation> {
    if replica.was_lied_to || (replica.state.is_none() && !replica.has_files) {
        return None;
    }
    let actual = replica.state.map_or("files", PartitionState::code);
    Some(Violation::new(Check::I03, "a partition that was deleted", Value::Code("gone"), Value::Code(actual)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVED: Replica = Replica {
        state: Some(PartitionState::Served),
        was_damaged: false,
        was_lied_to: false,
        is_whole: true,
        has_files: true,
        holds_more: false,
        is_unreadable: false,
    };
    const REFUSED: Replica =
        Replica { state: Some(PartitionState::Refused), was_damaged: true, is_whole: false, ..SERVED };
    const WAITING: Replica = Replica { state: Some(PartitionState::Rebuilding), ..REFUSED };

    #[track_caller]
    fn check(replicas: &[Replica], is_meant: bool, expected: Option<(usize, Check)>) {
        let found = check_settled(replicas, is_meant);
        assert_eq!(found.map(|(at, violation)| (at, violation.check)), expected);
    }

    #[test]
    fn a_lone_partition_is_dark_only_by_damage() {
        check(&[SERVED], true, None);
        check(&[REFUSED], true, None);
        check(&[Replica { was_damaged: false, ..REFUSED }], true, Some((0, Check::I05)));
        let stuck = Replica { state: Some(PartitionState::Unavailable), ..SERVED };
        check(&[stuck], true, Some((0, Check::I20)));
        check(&[Replica { is_unreadable: true, ..stuck }], true, None);
        check(&[Replica { is_whole: false, ..SERVED }], true, Some((0, Check::I05)));
    }

    #[test]
    fn one_intact_replica_makes_all_of_them_whole() {
        check(&[SERVED, WAITING, WAITING], true, Some((1, Check::I05)));
        check(&[WAITING, WAITING, WAITING], true, None);
        check(&[SERVED, SERVED, Replica { holds_more: true, ..WAITING }], true, None);
        check(&[SERVED, SERVED, Replica { is_whole: false, ..SERVED }], true, Some((2, Check::I05)));
    }

    #[test]
    fn what_was_deleted_is_gone() {
        let gone = Replica { state: None, has_files: false, ..SERVED };
        check(&[gone], false, None);
        check(&[Replica { has_files: true, ..gone }], false, Some((0, Check::I03)));
        check(&[SERVED], false, Some((0, Check::I03)));
    }
}
