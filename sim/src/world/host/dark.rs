//! What a node shows of each of its partitions behind a step (I03), and whether a promise just made holds (I14).
//!
//! Promises: asking leaves no trace: a partition that is not served answers without a storage call. Leaves out: what
//! served partitions answer, which clients ask.

use recovery_core::host::PartitionState;
use recovery_core::partition::PollRequest;
use recovery_core::units::{Length, Offset};
use recovery_core::wal::Key;

use super::client::reply_of;
use super::run::HostWorld;
use crate::oracle::invariants::{Shown, check_promise_durable, check_shown};
use crate::world::look;
use crate::world::poll::Reply;

impl HostWorld<'_> {
    /// Looks at all that a node shows.
    pub(super) fn look_at_the_dark(&mut self, m: usize) {
        for index in 0..self.members[m].node.slots.len() {
            let member = &mut self.members[m];
            let slot = &member.node.slots[index];
            let namespace = slot.header.namespace;
            let Some(host) = &mut member.host else { return };
            let state = host.state(namespace);
            let is_routed = host.is_routed(namespace);
            let lives = host.keys().filter(|key| key.namespace == namespace).count() as u64;
            if host.registry().is_some() {
                let own = slot.incarnation;
                member.extras[index].is_crowded =
                    host.keys().any(|key| key.namespace == namespace && key.incarnation < own)
                        || (member.extras[index].is_deleted && lives > 0);
            }
            let statistics = host.statistics(namespace);
            let holds = host.holds(namespace).is_some();
            let has_offer = host.offer(namespace).is_some();
            let answer = if state == Some(PartitionState::Served) {
                None
            } else {
                let asked =
                    PollRequest { from: Offset::ZERO, messages_max: 1, bytes_max: Length::new(u64::MAX) };
                let disk = &member.node.disk;
                let answered = host.poll(disk, namespace, &asked, &mut self.workspace, &mut self.polled);
                Some(answered.map_err(|error| match reply_of(&error) {
                    Reply::Error { class, code } => (class, code),
                    Reply::Messages { .. } => unreachable!("an error is no answer"),
                }))
            };
            // What a metadata log holds that was lied to nobody knows, and of one that is not read nothing is said. A
            // creation that a crash cut short may have begun another life.
            let is_own = host.newest(namespace) == Some(Key { namespace, incarnation: slot.incarnation });
            let is_known = is_own && host.registry().is_some() && !member.was_lied_to;
            let shown = Shown {
                state,
                is_deleted: member.extras[index].is_deleted && is_known,
                lives,
                is_routed,
                holds: holds || has_offer,
                answer,
                code: statistics.and_then(|statistics| statistics.code),
                messages: statistics.and_then(|statistics| statistics.messages),
                has_numbers: statistics.is_some_and(|statistics| {
                    statistics.messages.is_some()
                        || statistics.bytes.is_some()
                        || statistics.segments.is_some()
                        || statistics.next_offset.is_some()
                }),
                acknowledged: slot.truth.living_messages(),
                counts: self.counts(m, index),
            };
            if let Some(violation) = check_shown(&shown) {
                self.fail(Some(namespace), violation, "reconcile", None);
            }
        }
    }

    /// Whether messages can be counted against the truth: no step of another kind has left it open.
    fn counts(&self, m: usize, index: usize) -> bool {
        let member = &self.members[m];
        !member.extras[index].was_damaged && !member.was_lied_to && member.is_served(index)
    }

    /// I14: what has just been promised is in every crash state.
    pub(super) fn check_promises(&mut self, m: usize, index: usize, promised: Offset) {
        let member = &self.members[m];
        let slot = &member.node.slots[index];
        if slot.truth.promised_next == promised {
            return;
        }
        let disk = &member.node.disk;
        let Some(directory) = look::directory(disk, &slot.components) else { return };
        let violation = check_promise_durable(&slot.truth, promised, |file, range| {
            disk.is_durable(directory, file, range)
        });
        if let Some(violation) = violation {
            let namespace = slot.header.namespace;
            self.fail(Some(namespace), violation, "flush", None);
        }
    }
}
