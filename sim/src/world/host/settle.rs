//! What must follow once everything is well again: faults end, links come up, nodes start, and every partition is
//! served whole, or not for a reason that is true.
//!
//! Promises: at most [`PASSES_MAX`] passes of each node, with all checks of a step; what is claimed of the end stands
//! with [`check_settled`]. Leaves out: worlds that end behind a step that somebody asked for.

use recovery_core::host::PartitionState;
use recovery_core::units::Offset;

use super::run::HostWorld;
use crate::oracle::invariants::{PASSES_MAX, check_settled};
use crate::run::tally::Tally;
use crate::schedule::{Action, LinkState, NodeId, Step};
use crate::world::node::Lies;

impl HostWorld<'_> {
    pub(super) fn settle(&mut self, tally: &mut Tally) {
        self.step = u32::try_from(self.schedule.steps.len()).expect("a schedule is short");
        self.forget_injections();
        for member in &mut self.members {
            member.node.disk.disarm();
            member.node.disk.set_read_only(false);
            (member.node.is_waiting, member.node.lies) = (false, Lies::default());
            member.link = LinkState::Up;
        }
        for m in 0..self.members.len() {
            if self.members[m].node.is_up {
                self.do_on(m, Action::Crash(crate::schedule::Crash::Process), tally);
            }
            self.do_on(m, Action::Start, tally);
        }
        for _ in 0..PASSES_MAX {
            for m in 0..self.members.len() {
                self.do_on(m, Action::Reconcile, tally);
                self.ask_peers(m, tally);
            }
            if self.is_settled() {
                break;
            }
            self.leave_gaps(tally);
        }
        self.check_all_settled();
    }

    fn do_on(&mut self, m: usize, action: Action, tally: &mut Tally) {
        let node = NodeId(u8::try_from(m).expect("a world has few nodes"));
        self.do_step(&Step { node, ..Step::new(action) }, tally);
    }

    /// Asks peers, one after the other, for what a node waits for.
    fn ask_peers(&mut self, m: usize, tally: &mut Tally) {
        for index in 0..self.members[m].node.slots.len() {
            let partition = self.members[m].node.slots[index].header.namespace;
            for peer in 0..self.members.len() {
                let is_waiting = self.members[m].host.as_ref().and_then(|host| host.state(partition))
                    == Some(PartitionState::Rebuilding);
                let offers =
                    self.members[peer].host.as_ref().is_some_and(|host| host.offer(partition).is_some());
                if is_waiting && offers && peer != m {
                    let from = NodeId(u8::try_from(peer).expect("a world has few nodes"));
                    self.do_on(m, Action::Transfer { partition, from }, tally);
                }
            }
        }
    }

    /// Where no node that serves a partition has a message of it, since nobody serves it or retention has removed all that
    /// there was, and some wait for offsets that nobody holds, the one that holds most goes on without them, behind all
    /// that any has promised away, if who is served ends there, too. A peer without a message gives no copy to who still
    /// holds one (N21), so nothing else would end that wait.
    fn leave_gaps(&mut self, tally: &mut Tally) {
        for index in 0..self.schedule.world.partitions.len() {
            let namespace = self.schedule.world.partitions[index].namespace;
            let Some(key) = self.cluster.target(namespace) else { continue };
            let Some(ends) = self.ends_without_a_message(index) else { continue };
            let gap_of = |m: &usize| {
                let host = self.members[*m].host.as_ref()?;
                let statistics =
                    host.statistics(namespace).filter(|statistics| statistics.code == Some("gap"))?;
                assert!(statistics.state == PartitionState::Rebuilding, "only who waits lacks a gap");
                host.wanted(namespace).first().and_then(|gap| Some((gap.first, gap.next?)))
            };
            let gaps: Vec<_> = (0..self.members.len()).filter_map(|m| Some((gap_of(&m)?, m))).collect();
            let next = gaps.iter().map(|((_, next), _)| *next).chain(ends.iter().copied()).max();
            let (Some(((first, _), m)), Some(next)) = (gaps.into_iter().max(), next) else { continue };
            // Who is served already goes on where it is: one that ends before the gap does would be given its offsets.
            if ends.iter().any(|end| *end < next) {
                continue;
            }
            self.cluster.leave_gap(key, first, next);
            let member = &mut self.members[m];
            let host = member.host.as_mut().expect("it waits");
            host.nobody_holds_gap(&member.node.disk, namespace, next).expect("it waits for a gap");
            member.extras[index].gap_settled = Some(next);
            self.do_on(m, Action::Reconcile, tally);
        }
    }

    /// Where each replica that is served ends; `None` if one of them has a message, or nobody knows whether it has.
    fn ends_without_a_message(&self, index: usize) -> Option<Vec<Offset>> {
        let served = self.members.iter().filter(|member| member.is_served(index));
        let ends = served.map(|member| {
            let namespace = member.node.slots[index].header.namespace;
            let offer = member.host.as_ref()?.offer(namespace)?;
            (offer.bytes() == 0).then_some(offer.next_offset)
        });
        ends.collect()
    }

    fn is_settled(&self) -> bool {
        self.partitions().all(|(namespace, replicas)| {
            let is_meant = self.cluster.target(namespace).is_some();
            replicas.iter().all(|replica| match replica.state {
                Some(PartitionState::Served) => is_meant && replica.is_whole,
                None => !is_meant && !replica.has_files,
                Some(_) => false,
            })
        })
    }

    fn check_all_settled(&mut self) {
        let found: Vec<_> = self
            .partitions()
            .filter_map(|(namespace, replicas)| {
                let is_meant = self.cluster.target(namespace).is_some();
                check_settled(&replicas, is_meant).map(|(at, violation)| (namespace, at, violation))
            })
            .collect();
        for (namespace, at, violation) in found {
            let code = self.members[at].host.as_ref().and_then(|host| host.statistics(namespace));
            let code = code.and_then(|statistics| statistics.code).unwrap_or("none");
            let remark = Some(format!("in the end, on node {at}, with code {code}"));
            self.recorder.at(u8::try_from(at).expect("a world has few nodes"), self.step);
            self.fail(Some(namespace), violation, "reconcile", remark);
        }
    }
}
