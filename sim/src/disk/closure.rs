//! Closing a choice of survivors under a filesystem's order: what lacks its prerequisite is dropped.
//!
//! Promises: a choice only ever shrinks here, but for what the device's cache keeps through an OS crash.
//! Leaves out: order inside one file, which `resolve` keeps.

use crate::schedule::{SizeChoice, Survivors};

use super::choice::{FileChoice, SurvivorChoice};
use super::directory::{NameChange, Reach};
use super::file::FileId;
use super::geometry::{index, narrow};
use super::pending::{Change, Pending};
use super::rules::Sequence;
use super::state::Disk;

/// Where the sequences of a filesystem are cut. Changes are numbered from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts {
    /// The first change of names or length that is lost.
    pub(super) metadata: u32,
    /// The first change that takes everything behind it along.
    pub(super) everything: u32,
}

impl Disk {
    /// Puts down for each pending element and name whether it is to survive; returns the cuts.
    pub(super) fn close_choice(&mut self, choice: &SurvivorChoice, keeps_device: bool) -> Cuts {
        self.choose_elements(choice, keeps_device);
        self.choose_names(choice.names, keeps_device);
        let mut cuts = Cuts { metadata: u32::MAX, everything: u32::MAX };
        match self.rules.sequence {
            Sequence::Metadata => cuts.metadata = self.metadata_cut(choice, keeps_device),
            Sequence::Everything => cuts.everything = self.everything_cut(),
            Sequence::Nothing => {}
        }
        if self.rules.overwrites_order_all {
            cuts.everything = self.overwrite_cut();
        }
        let first_lost = cuts.metadata.min(cuts.everything);
        for (change, keeps) in self.state.name_changes.iter().zip(&mut self.scratch.names) {
            let is_exempt = change.is_lied_about || (keeps_device && change.reach == Reach::Device);
            *keeps &= is_exempt || change.sequence < first_lost;
        }
        cuts
    }

    fn choose_elements(&mut self, choice: &SurvivorChoice, keeps_device: bool) {
        let Self { state, scratch, rules, .. } = self;
        scratch.bits.clear();
        scratch.first_elements.clear();
        let mut first = 0;
        for id in state.file_ids() {
            scratch.first_elements.push(first);
            let pending = &state.file(id).pending;
            if pending.is_empty() {
                continue;
            }
            let choice = choice.of_file(id);
            let count: u32 = pending.iter().map(Pending::elements).sum();
            scratch.bits.resize(index(u64::from(first + count).div_ceil(64)), 0);
            let has_old_length =
                rules.sequence == Sequence::Everything && choice.length == Some(SizeChoice::Old);
            let mut element = 0;
            for change in pending {
                let is_forced = change.is_committed || (keeps_device && change.reach == Reach::Device);
                let is_dropped = has_old_length && (change.extends() || change.change == Change::SetLength);
                for _ in 0..change.elements() {
                    let keeps = choice.survive.keeps(element, count);
                    if is_forced || (keeps && !is_dropped) {
                        let bit = first + element;
                        scratch.bits[index(u64::from(bit / 64))] |= 1 << (bit % 64);
                    }
                    element += 1;
                }
            }
            first += count;
        }
    }

    fn choose_names(&mut self, survive: Survivors, keeps_device: bool) {
        let changes = &self.state.name_changes;
        let is_whole = self.rules.groups_are_whole;
        let starts = |at: usize| !is_whole || at == 0 || changes[at - 1].group != changes[at].group;
        let count = narrow((0..changes.len()).filter(|&at| starts(at)).count() as u64);
        self.scratch.names.clear();
        let mut next = 0;
        for (at, change) in changes.iter().enumerate() {
            next += u32::from(starts(at));
            let is_forced = keeps_device && change.reach == Reach::Device;
            self.scratch.names.push(is_forced || survive.keeps(next - 1, count));
        }
    }

    /// The first of the names, cuts and extensions that is lost, where those are one sequence.
    fn metadata_cut(&self, choice: &SurvivorChoice, keeps_device: bool) -> u32 {
        let mut cut = self.first_lost_name();
        for id in self.state.file_ids() {
            cut = cut.min(self.first_lost_length(id, choice.of_file(id), keeps_device));
        }
        if self.rules.rename_waits_for_length {
            for change in &self.state.name_changes {
                let Some(file) = change.replaced_by.filter(|_| change.sequence < cut) else { continue };
                if self.has_lost_before(file, change.sequence, choice.of_file(file)) {
                    cut = cut.min(self.group_start(change));
                }
            }
        }
        cut
    }

    fn first_lost_name(&self) -> u32 {
        let lost = self.state.name_changes.iter().zip(&self.scratch.names);
        lost.filter(|(change, keeps)| !**keeps && !change.is_lied_about)
            .map(|(change, _)| self.group_start(change))
            .min()
            .unwrap_or(u32::MAX)
    }

    fn group_start(&self, change: &NameChange) -> u32 {
        if !self.rules.groups_are_whole {
            return change.sequence;
        }
        let group = self.state.name_changes.iter().filter(|other| other.group == change.group);
        group.map(|other| other.sequence).min().expect("a change is of its own group")
    }

    fn first_lost_length(&self, id: FileId, own: FileChoice, keeps_device: bool) -> u32 {
        let first = self.scratch.first_elements[id.slot()];
        let mut element = first;
        let mut zeros_landed = true;
        for change in &self.state.file(id).pending {
            let count = change.elements();
            let is_exempt = change.is_lied_about
                || change.is_committed
                || (keeps_device && change.length_reach == Reach::Device);
            match change.change {
                Change::Write => zeros_landed = true,
                Change::TailZeros => zeros_landed = self.keeps_all(element, count),
                Change::SetLength => {
                    let is_chosen = match own.length {
                        Some(SizeChoice::New) => {
                            own.old_lengths_from.is_none_or(|from| element - first < from)
                        }
                        Some(SizeChoice::Old) => false,
                        None => self.keeps_all(element, 1),
                    };
                    let waits = self.rules.cut_waits_for_zeros && !zeros_landed;
                    if !is_exempt && (!is_chosen || waits) {
                        return change.sequence;
                    }
                }
            }
            element += count;
        }
        u32::MAX
    }

    /// Whether a length that a file was given by writing, before a change, is lost.
    fn has_lost_before(&self, id: FileId, sequence: u32, own: FileChoice) -> bool {
        let first = self.scratch.first_elements[id.slot()];
        let needs_bytes = self.rules.length_waits_in_new_page || self.rules.length_waits_in_old_page;
        let mut element = first;
        self.state.file(id).pending.iter().any(|change| {
            let count = change.elements();
            let behind = element + count;
            element = behind;
            if !change.extends() || change.sequence >= sequence {
                return false;
            }
            let last = count.min(change.sectors_of_last_page(self.geometry));
            let is_kept = own.old_lengths_from.is_none_or(|from| behind - last - first < from)
                && match own.length {
                    Some(SizeChoice::Old) => false,
                    Some(SizeChoice::New) | None if needs_bytes => self.keeps_all(behind - last, last),
                    Some(SizeChoice::New) => true,
                    None => self.keeps_any(behind - last, last),
                };
            !is_kept
        })
    }

    /// The first change that is not wholly kept, where everything is one sequence.
    fn everything_cut(&self) -> u32 {
        let mut cut = self.first_lost_name();
        for id in self.state.file_ids() {
            let mut element = self.scratch.first_elements[id.slot()];
            for change in &self.state.file(id).pending {
                let count = change.elements();
                if !change.is_lied_about && !self.keeps_all(element, count) {
                    cut = cut.min(change.sequence);
                }
                element += count;
            }
        }
        cut
    }

    /// The first overwrite that is not wholly kept: nothing behind it survives.
    fn overwrite_cut(&self) -> u32 {
        let mut cut = u32::MAX;
        for id in self.state.file_ids() {
            let file = self.state.file(id);
            let mut element = self.scratch.first_elements[id.slot()];
            let mut mapped_below = u64::MAX;
            for change in &file.pending {
                let count = change.elements();
                if change.cuts() {
                    mapped_below = mapped_below.min(change.length_after);
                }
                let is_overwrite = change.change == Change::Write
                    && change.position < change.length_before.min(mapped_below)
                    && self.is_mapped(id, change);
                if is_overwrite && !change.is_lied_about && !self.keeps_all(element, count) {
                    cut = cut.min(change.sequence);
                }
                element += count;
            }
        }
        cut
    }

    /// Whether the medium has a block for some page that a change overwrites.
    fn is_mapped(&self, id: FileId, change: &Pending) -> bool {
        let end = change.end.min(change.length_before);
        let pages = self.geometry.page_of(change.position)..self.geometry.page_count(end);
        self.state.file(id).pages.iter().take(pages.end).skip(pages.start).any(|slot| slot.medium.is_stored())
    }

    /// Whether any of some elements is to survive.
    fn keeps_any(&self, first: u32, count: u32) -> bool {
        (first..first + count).any(|bit| self.keeps_all(bit, 1))
    }

    /// Whether all of some elements are to survive.
    pub(super) fn keeps_all(&self, first: u32, count: u32) -> bool {
        (first..first + count).all(|bit| self.scratch.bits[index(u64::from(bit / 64))] >> (bit % 64) & 1 == 1)
    }
}
