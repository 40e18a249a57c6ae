//! What became of what was looked at in front of a step: bytes that must still be there, and what a host made of a
//! partition beside its neighbours.
//!
//! Promises: what lay there is there, in place or in a fence; a directory goes into a fence only once what replaces it
//! is durable; where nothing goes wrong the host makes of a partition what a start of it alone does (I21). Leaves out:
//! looking in front of the step ([`super::sight`]).

use std::collections::BTreeSet;

use recovery_core::decide::Disposition;
use recovery_core::format::FileName;
use recovery_core::host::PartitionState;
use recovery_core::storage::Name;

use super::run::HostWorld;
use super::sight::{Look, Sight};
use crate::disk::{DirectoryId, SimDisk, View};
use crate::oracle::invariants::{
    Alone, Replaced, check_alone_alike, check_complete, check_nonzero_bytes, check_refused_untouched,
    check_replaced, check_verified_bytes,
};
use crate::oracle::{Forgotten, PartitionImage, Violation};
use crate::world::boot::Boot;
use crate::world::look;
use crate::world::meter::Phase;
use crate::world::start::is_an_answer;

impl HostWorld<'_> {
    /// Looks at what became of partitions for which a copy is under way, and perhaps has come.
    pub(super) fn look_behind_copies(&mut self, m: usize, sight: &Sight, judged: &BTreeSet<usize>) {
        let phase = self.meter.enter(Phase::Oracle);
        for (index, look) in sight.looks.iter().enumerate() {
            if let Some(look) = look.as_ref().filter(|look| look.key == self.members[m].key(index)) {
                self.look_at_bytes(m, index, false, look, judged.contains(&index));
                self.look_at_complete(m, index, look);
            }
        }
        self.meter.enter(phase);
    }

    /// I01, I02, I04: what lay there is there, in place or in a fence; and what stays dark is untouched, unless an
    /// operator gives something of it up.
    pub(super) fn look_at_bytes(
        &mut self,
        m: usize,
        index: usize,
        is_given_up: bool,
        look: &Look,
        was_judged: bool,
    ) {
        let member = &self.members[m];
        let slot = &member.node.slots[index];
        let key = member.key(index);
        let was_removed = member.extras[index].is_deleted || self.cluster.is_deleted(key);
        // What was not settled may be dropped by the next who settles it.
        let may_be_dropped = !look.unsettled.is_empty() || member.was_lied_to || member.had_failed_sync;
        let was_settled = look.alone.as_ref().is_some_and(|(boot, _)| boot.before.is_some());
        let is_shown = !may_be_dropped || (was_judged && was_settled);
        let may_lie = self.has_liars(m) || (self.is_disturbed(m) && member.was_lied_to);
        if was_removed || may_lie || look.is_half_installed {
            return;
        }
        if look.directory.is_some() && look::directory(&member.node.disk, &slot.components) != look.directory
        {
            self.look_at_replaced(m, index, look, is_shown);
            return;
        }
        if !is_shown {
            return;
        }
        let after = look::image(&member.node.disk, &slot.components);
        let failed = |number: u32| {
            self.calls.iter().any(|call| {
                call.call == recovery_core::storage::Call::Sync
                    && call.errno.is_some()
                    && call.object == number
            })
        };
        let forgotten: Vec<Forgotten> = look
            .unsettled
            .iter()
            .filter(|(number, _)| failed(*number))
            .map(|(_, forgotten)| forgotten.clone())
            .collect();
        let state = member.host.as_ref().and_then(|host| host.state_of(&key));
        let is_dark = |state| matches!(state, Some(PartitionState::Refused | PartitionState::Rebuilding));
        // One that would be served alone waits for a peer's offsets, and has been repaired.
        let is_repaired = look.alone.as_ref().is_some_and(|(boot, _)| boot.verdict.is_served());
        let was_dark = look.state.is_none() || is_dark(look.state);
        // Of one that was judged behind a copy that failed, nobody has looked at what it is alone.
        let is_known = !was_judged || look.alone.is_some();
        let stays_dark = is_dark(state) && !is_given_up && was_dark && !is_repaired && is_known;
        let against = |before: &PartitionImage| {
            let mut violations = Vec::new();
            if !is_given_up {
                if forgotten.is_empty() {
                    violations.extend(check_verified_bytes(before, &after));
                }
                let destroyed = check_nonzero_bytes(before, &after, &forgotten).into_iter();
                let begun_anew = Some(FileName::ledger_staging()).filter(|_| !look.is_made);
                violations.extend(
                    destroyed.filter(|violation| begun_anew.is_none() || violation.file != begun_anew),
                );
            }
            if stays_dark && forgotten.is_empty() {
                violations.extend(check_refused_untouched(before, &after));
            }
            violations
        };
        let mut violations = against(look.settled());
        // A start that something cut short may not have come to settle some files, or any: what was seen of those is there.
        if !violations.is_empty() {
            let of_seen = against(&look.seen);
            let names = |violation: &Violation| (violation.check, violation.file, violation.segment);
            violations.retain(|violation| of_seen.iter().any(|other| names(other) == names(violation)));
        }
        for violation in violations {
            self.fail(Some(key.namespace), violation, "fence", None);
        }
    }

    /// I02, I04, I11: another directory is in the place of one that was there.
    fn look_at_replaced(&mut self, m: usize, index: usize, look: &Look, is_shown: bool) {
        let member = &self.members[m];
        let (disk, slot) = (&member.node.disk, &member.node.slots[index]);
        let components = &slot.components;
        let mut fences = look::fence_directories(disk, components).into_iter();
        let fence =
            fences.find(|fence| Some(*fence) == look.directory).map(|fence| look::image_of(disk, fence));
        let replacement =
            look::directory(disk, components).or_else(|| look::complete_sibling(disk, components));
        // What was written to it since it has its place is as durable as any other start leaves it.
        // As long as it says that it is complete, a start takes it under either of its names.
        let has_two_names = look::file(disk, components, &FileName::complete()).is_some();
        let may_lie = member.was_lied_to || member.had_failed_sync;
        let is_told = self.may_be_durable(m) && !may_lie && !has_two_names;
        let exposed = replacement.filter(|_| is_told);
        let exposed = exposed.and_then(|replacement| exposed_log(disk, replacement));
        let replaced = Replaced {
            before: Some(look.settled()).filter(|_| is_shown),
            fence: fence.as_ref(),
            has_replacement: replacement.is_some(),
            exposed,
        };
        if let Some(violation) = check_replaced(&replaced) {
            self.fail(Some(slot.header.namespace), violation, "transfer-install", None);
        }
    }

    /// I11: what has begun to say that it is a complete copy would survive a power loss whole, its ledger included.
    pub(super) fn look_at_complete(&mut self, m: usize, index: usize, look: &Look) {
        let member = &self.members[m];
        let (disk, slot) = (&member.node.disk, &member.node.slots[index]);
        let may_lie = self.has_liars(m) || member.was_lied_to || member.had_failed_sync;
        if look.has_complete || may_lie || !self.may_be_durable(m) {
            return;
        }
        let Some(sibling) = look::complete_sibling(disk, &slot.components) else { return };
        let ledger = Some(FileName::ledger())
            .filter(|ledger| slot.header.ledger && disk.is_file_durable(sibling, ledger).is_err());
        let exposed = exposed_log(disk, sibling).or(ledger);
        if let Some(violation) = check_complete(exposed) {
            self.fail(Some(slot.header.namespace), violation, "transfer-install", None);
        }
    }

    /// Whether what the step made durable can be told: no call failed, or only those behind the crash that ended it.
    fn may_be_durable(&self, m: usize) -> bool {
        self.only_goes_down(m)
            || !self.calls.iter().any(|call| call.errno.is_some_and(|errno| !is_an_answer(errno)))
    }

    /// I21: beside its neighbours it is what it is alone.
    pub(super) fn compare(&mut self, m: usize, index: usize, look: &Look) {
        let Some((boot, _)) = &look.alone else { return };
        let member = &self.members[m];
        let key = member.key(index);
        let Some(host) = &member.host else { return };
        let (Some(state), Some(statistics)) =
            (host.state_of(&key), host.statistics(key.namespace).filter(|statistics| statistics.key == key))
        else {
            return;
        };
        let after = look::image(&member.node.disk, &member.node.slots[index].components);
        let is_served = boot.is_serving();
        let reason = match &boot.verdict.disposition {
            Disposition::Refuse(reason) => Some(reason.code()),
            Disposition::Serve | Disposition::ServeFrom { .. } | Disposition::Unavailable(_) => None,
        };
        let gap_settled = member.extras[index].gap_settled;
        let leaves_gap = matches!(boot.verdict.disposition, Disposition::ServeFrom { .. });
        let alone = Alone {
            is_served,
            leaves_gap,
            is_gap_settled: gap_settled.is_some() || has_recorded_gap(boot),
            tries: look.tries,
            reason,
            has_peers: self.members.len() > 1,
            next_offset: boot.verdict.next_offset.max(gap_settled.filter(|_| leaves_gap)),
        };
        let violation = check_alone_alike(&alone, state, statistics.code, statistics.next_offset)
            .or_else(|| crate::oracle::invariants::check_bytes_alike(&boot.after, &after));
        if let Some(violation) = violation {
            self.fail(Some(key.namespace), violation, "boot", boot.remark());
        }
    }
}

/// A log in a directory that a power loss may take, or may leave shorter.
fn exposed_log(disk: &SimDisk, directory: DirectoryId) -> Option<Name> {
    let names = disk.entries(directory, View::Visible).into_iter().map(|(name, _)| name);
    let mut logs = names.filter(|name| matches!(FileName::classify(name), FileName::Log(_)));
    logs.find(|name| disk.is_file_durable(directory, name).is_err())
}

/// Whether the ledger says already that nobody holds the offsets of the gap that a start leaves. Several records may do so
/// together, but none that reaches out of the gap: it was written for another one.
fn has_recorded_gap(boot: &Boot) -> bool {
    let Disposition::ServeFrom { first, last } = boot.verdict.disposition else { return false };
    let Some(next) = last.checked_add(1) else { return false };
    let gaps = boot.facts.ledger.known().map_or(&[][..], |ledger| &ledger.gaps);
    let inside = || gaps.iter().filter(|gap| first <= gap.first && gap.next <= next);
    let mut recorded_to = first;
    while let Some(gap) = inside().find(|gap| gap.first <= recorded_to && recorded_to < gap.next) {
        recorded_to = gap.next;
    }
    recorded_to == next
}
