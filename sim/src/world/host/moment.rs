//! Where a world with hosts stands behind a step, as one number.

use std::hash::Hash;

use recovery_core::partition::Writer;
use xxhash_rust::xxh3::Xxh3Default;

use super::run::HostWorld;
use crate::world::moment::{Moment, Pending};

impl HostWorld<'_> {
    /// All that the future of this world can depend on, as far as anybody can see it.
    pub(super) fn moment_of(&self, pending: Option<Pending>) -> Moment {
        let mut hash = Xxh3Default::new();
        for member in &self.members {
            member.node.disk.fingerprint().hash(&mut hash);
            (member.node.is_up, member.link as u8).hash(&mut hash);
            (self.cluster.len() - member.taken, member.was_lied_to).hash(&mut hash);
            (member.has_sync_failed, member.had_failed_sync, member.node.is_waiting).hash(&mut hash);
            for (slot, extra) in member.node.slots.iter().zip(&member.extras) {
                slot.truth.hash(&mut hash);
                slot.incarnation.hash(&mut hash);
                (extra.is_deleted, extra.was_damaged, extra.is_made, extra.is_crowded).hash(&mut hash);
                (extra.had_fault, extra.gap_settled, extra.tries).hash(&mut hash);
                (extra.installing.is_some(), extra.accepting.is_some()).hash(&mut hash);
            }
            let Some(host) = &member.host else { continue };
            for key in host.keys() {
                key.hash(&mut hash);
                host.state_of(&key).hash(&mut hash);
                host.memory_of(&key).hash(&mut hash);
                let statistics = host.statistics(key.namespace);
                statistics.and_then(|statistics| statistics.code).hash(&mut hash);
                host.writer(key.namespace).map(Writer::next_offset).hash(&mut hash);
            }
            host.is_passing().hash(&mut hash);
            for key in host.inserts() {
                key.hash(&mut hash);
            }
            if let Some(registry) = host.registry() {
                for (key, entry) in registry.entries() {
                    (key, entry.stage).hash(&mut hash);
                }
            }
        }
        let first = Moment::of(&self.members[0].node, pending);
        Moment { state: hash.digest(), ..first }
    }
}
