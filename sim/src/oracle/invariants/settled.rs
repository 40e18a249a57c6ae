//! Liveness: once faults have stopped and links are up, within a stated number of passes each partition is served
//! whole, or not for a reason that is true (I05, I20); and what was deleted is gone (I03). The number is
//! [`PASSES_MAX`], of each node.
//!
//! # The map of legal faults
//!
//! What may be damaged, on how many replicas at once, so that the answer must still be complete. A replica is *hit* if
//! damage that no crash explains was done to this life of it at any time, or a call of its node ever said that it did
//! what it did not, or a crash left an old block of somebody else's in it: just where the chain goes on, and in it the one
//! batch that nobody can tell from what was written there (I06), or behind that, with offsets that were never given here.
//! All other crashes, calls that fail, links that are slow or down, and all else
//! that the legal regime has, hit nothing. *Whole* is a replica that serves every batch of the sequence, byte for byte,
//! from its first offset on.
//!
//! | replicas | hit | in the end |
//! | --- | --- | --- |
//! | 1 | none | it is served |
//! | 1 | it | it is served, or dark and says why |
//! | 3 | none | all are whole |
//! | 3 | one or two, in any way at once: damage in any file, files gone, directory gone | all are whole |
//! | 3 | all | what is not served says so |
//!
//! In the fourth row six things are given up, and no others. An intact replica may wait for offsets that only those had
//! that were hit; then nothing is claimed of the others either. And of a replica that was hit:
//! - One of a node whose disk has lied may not be known there, not be made, be on its way out, or not get the place that
//!   it is to be made in: what the metadata log holds nobody knows. What waits or is refused there is not given up.
//! - One that holds, by the reference, what ends behind all that any peer can give, or holds a batch that none can give:
//!   no copy is taken that ends before what was durable here or leaves out what verifies here, so it waits for an
//!   operator.
//! - One of which a file cannot be read that is no log, if only an index, or of the copy that has only not got its place
//!   yet: no range of offsets could be asked for
//!   instead, and a copy would be taken without knowing what it must not end before, so it stays unavailable.
//! - One into whose directory somebody has put a file before it was made: nothing is made over it, so it stays
//!   unavailable, and says `occupied`.
//! - One that is served: what damage has made of it with checksums that fit cannot be told from what was written.

use recovery_core::host::PartitionState;

use crate::oracle::{Check, Value, Violation};

/// Passes of each node within which all is to be well: one to judge and make, three because a range must be unreadable
/// at three tries before a peer is asked for it, one for the copy, one to follow.
pub const PASSES_MAX: u32 = 6;

/// One replica in the end.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "plain facts, each with its own name")]
pub struct Replica {
    /// Its state; `None` if the node knows of no such partition.
    pub state: Option<PartitionState>,
    /// Whether damage that no crash explains has hit it at any time.
    pub was_damaged: bool,
    /// Whether a start of it served a batch that nobody wrote here and nobody could tell from one that was, or took the
    /// offsets of one for given away.
    pub has_stranger: bool,
    /// Whether a call of its node ever said that it did what it did not.
    pub was_lied_to: bool,
    /// Whether it serves all that the sequence gives, from its first offset on.
    pub is_whole: bool,
    /// Whether anything of it lies on the disk.
    pub has_files: bool,
    /// Whether a file of it that is no log cannot be read, or one of a complete copy that only lacks its name.
    pub is_unreadable: bool,
    /// Whether somebody has put something into its directory before it was made.
    pub is_occupied: bool,
    /// Whether what lies there ends, by the reference, behind all that any peer can give, or holds a batch that none can.
    pub holds_more: bool,
}

impl Replica {
    const fn was_hit(self) -> bool {
        self.was_damaged || self.was_lied_to || self.has_stranger
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
    // What only those had that were hit, one that was not may wait for.
    let is_waiting = replica.state == Some(PartitionState::Rebuilding);
    let may_be_dark =
        if has_peers { !has_intact && (replica.was_hit() || is_waiting) } else { replica.was_hit() };
    let actual = replica.state.map_or("gone", PartitionState::code);
    let dark = |check| {
        let violation =
            Violation::new(check, "a partition in the end", Value::Code("served"), Value::Code(actual));
        (!may_be_dark).then_some(violation)
    };
    match replica.state {
        Some(PartitionState::Served) if replica.is_whole || replica.was_hit() => None,
        Some(PartitionState::Served) => {
            let (whole, part) = (Value::Code("whole"), Value::Code("in part"));
            Some(Violation::new(Check::I05, "a partition in the end", whole, part))
        }
        Some(PartitionState::Rebuilding) if replica.holds_more && replica.was_hit() => None,
        Some(PartitionState::Unavailable) if replica.is_unreadable || replica.is_occupied => None,
        Some(PartitionState::Refused | PartitionState::Rebuilding) => dark(Check::I05),
        Some(PartitionState::Recovering) => dark(Check::I20),
        Some(PartitionState::Unavailable | PartitionState::Created | PartitionState::Deleting) | None
            if replica.was_lied_to =>
        {
            None
        }
        Some(PartitionState::Unavailable | PartitionState::Created | PartitionState::Deleting) | None => {
            dark(Check::I20)
        }
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
        has_stranger: false,
        was_lied_to: false,
        is_whole: true,
        has_files: true,
        holds_more: false,
        is_unreadable: false,
        is_occupied: false,
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
        check(&[Replica { is_occupied: true, ..stuck }], true, None);
        check(
            &[Replica { state: Some(PartitionState::Rebuilding), is_occupied: true, ..SERVED }],
            true,
            Some((0, Check::I05)),
        );
        check(&[Replica { is_whole: false, ..SERVED }], true, Some((0, Check::I05)));
    }

    #[test]
    fn one_intact_replica_makes_all_of_them_whole() {
        check(&[SERVED, WAITING, WAITING], true, Some((1, Check::I05)));
        check(&[WAITING, WAITING, WAITING], true, None);
        check(&[SERVED, SERVED, Replica { holds_more: true, ..WAITING }], true, None);
        let intact = Replica { was_damaged: false, ..WAITING };
        check(&[intact, WAITING, WAITING], true, None);
        let stuck = Replica { state: Some(PartitionState::Unavailable), ..intact };
        check(&[stuck, WAITING, WAITING], true, Some((0, Check::I20)));
        check(&[SERVED, SERVED, Replica { is_whole: false, ..SERVED }], true, Some((2, Check::I05)));
        let estranged = Replica { has_stranger: true, is_whole: false, ..SERVED };
        check(&[SERVED, SERVED, estranged], true, None);
        let lied_to = Replica { was_damaged: false, was_lied_to: true, ..WAITING };
        check(&[SERVED, SERVED, lied_to], true, Some((2, Check::I05)));
        check(&[SERVED, SERVED, Replica { state: None, ..lied_to }], true, None);
        check(&[SERVED, SERVED, Replica { state: None, ..WAITING }], true, Some((2, Check::I20)));
    }

    #[test]
    fn what_was_deleted_is_gone() {
        let gone = Replica { state: None, has_files: false, ..SERVED };
        check(&[gone], false, None);
        check(&[Replica { has_files: true, ..gone }], false, Some((0, Check::I03)));
        check(&[SERVED], false, Some((0, Check::I03)));
    }
}
