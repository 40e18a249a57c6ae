//! Takes a partition over from another node: what one offers another installs, through the hosts of both.
//!
//! Promises: the bytes are read from the peer's own disk, and only as long as it is up and can be reached; over a
//! slow link one slice comes a step, so either end may go down half-way. Leaves out: messages.

use recovery_core::host::HostError;
use recovery_core::observe::Progress;
use recovery_core::partition::Writer;
use recovery_core::storage::PartitionDirectory;
use recovery_core::transfer::{InstallError, Offer, Source, SourceError, StorageSource};
use recovery_core::units::{Position, SegmentStart};

use super::holding::given;
use super::member::{Installing, Member};
use super::run::HostWorld;
use super::slices::{SLICES_MAX, slice_bytes};
use super::wire::Wired;
use crate::disk::SimDisk;
use crate::oracle::damage::Damages;
use crate::schedule::{LinkState, NodeId};
use crate::world::look;
use crate::world::serve::Answer;

/// The bytes of a peer, or nobody.
enum Peer<'a> {
    There(Wired<'a, StorageSource<'a, SimDisk>>),
    Gone,
}

impl Source for Peer<'_> {
    fn read(
        &mut self,
        segment: SegmentStart,
        position: Position,
        buffer: &mut [u8],
    ) -> Result<usize, SourceError> {
        match self {
            Self::There(source) => source.read(segment, position, buffer),
            Self::Gone => Err(SourceError::Gone),
        }
    }
}

impl HostWorld<'_> {
    /// Asks a peer for a partition, and takes what comes.
    pub(super) fn transfer(&mut self, m: usize, index: usize, from: NodeId) -> Answer {
        let peer = usize::from(from.0);
        if peer == m || peer >= self.members.len() {
            return Answer::Missed;
        }
        if !self.reaches(m, peer) {
            return Answer::Failed("link-down");
        }
        let namespace = self.members[m].node.slots[index].header.namespace;
        let Some(offer) = self.members[peer].host.as_ref().and_then(|host| host.offer(namespace)) else {
            return Answer::Failed("no-offer");
        };
        let given = given(&offer);
        let begun = self.begin_install(m, index, from, offer);
        if let Err(error) = begun {
            return Answer::Failed(error.code());
        }
        self.check_begun(m, index, &given);
        self.install(m, index)
    }

    fn reaches(&self, m: usize, peer: usize) -> bool {
        let (here, there) = (&self.members[m], &self.members[peer]);
        here.link != LinkState::Down && there.link != LinkState::Down && there.node.is_up
    }

    fn begin_install(&mut self, m: usize, index: usize, from: NodeId, offer: Offer) -> Result<(), HostError> {
        let peer = &self.members[usize::from(from.0)];
        let truth = peer.node.slots[index].truth.clone();
        let was_lied_to = peer.was_lied_to;
        let was_damaged = peer.extras[index].was_damaged || was_lied_to;
        let member = &mut self.members[m];
        let slot = &member.node.slots[index];
        let host = member.host.as_mut().expect("the node is up");
        host.begin_install(&member.node.disk, slot.header.namespace, offer)?;
        let (disk, components) = (&member.node.disk, &slot.components);
        let mut replaces = look::directory(disk, components);
        let extra = &mut member.extras[index];
        if extra.installing.is_some() && replaces.is_none() {
            // An earlier copy that is complete gets its place before another one comes.
            replaces = look::complete_sibling(disk, components);
            extra.served_from = replaces.or(extra.served_from);
        }
        extra.is_copy_damaged = false;
        member.extras[index].installing =
            Some(Installing { from, truth, replaces, was_damaged, was_lied_to, damages: Damages::default() });
        Ok(())
    }

    /// Goes on with an installation: to its end, or over a slow link by one slice.
    fn install(&mut self, m: usize, index: usize) -> Answer {
        let Some(installing) = &self.members[m].extras[index].installing else { return Answer::Missed };
        let peer = usize::from(installing.from.0);
        let namespace = self.members[m].node.slots[index].header.namespace;
        let is_slow = [m, peer].into_iter().any(|node| self.members[node].link == LinkState::Slow);
        // A slice brings at least a byte, of what is begun anew at most once a segment.
        let offered = self.members[peer].host.as_ref().and_then(|host| host.offer(namespace));
        let bytes = offered.map_or(0, |offer| offer.bytes());
        let longest = u128::from(SLICES_MAX) + 2 * bytes;
        let slices = if is_slow { 1 } else { longest };
        for _ in 0..slices {
            match self.install_slice(m, peer, index) {
                Ok(Progress::More) => {}
                Ok(Progress::Done) => {
                    self.judge_pending(m);
                    return Answer::Done;
                }
                Err(error) => {
                    // What failed on this disk may have failed between two renames, and is judged anew.
                    if matches!(error, InstallError::Io(_)) {
                        self.judge_pending(m);
                    } else {
                        self.check_came(m, index, &error);
                        self.members[m].extras[index].installing = None;
                    }
                    return Answer::Failed(error.code());
                }
            }
        }
        if !is_slow {
            self.fail_endless("transfer-install");
        }
        Answer::Done
    }

    fn install_slice(&mut self, m: usize, peer: usize, index: usize) -> Result<Progress, InstallError> {
        let is_reached = self.reaches(m, peer);
        let limit = slice_bytes(self.schedule);
        let namespace = self.members[m].node.slots[index].header.namespace;
        let (here, there) = two(&mut self.members, m, peer);
        let host = here.host.as_mut().expect("the node is up");
        let writer = there.host.as_ref().and_then(|host| host.writer(namespace)).filter(|_| is_reached);
        let offer = there.host.as_ref().and_then(|host| host.offer(namespace));
        let directory: Option<&PartitionDirectory<SimDisk>> = writer.map(Writer::directory);
        let mut source = match (directory, &offer) {
            (Some(directory), Some(offer)) => {
                let (source, disk) =
                    (StorageSource::new(&there.node.disk, directory, offer), &there.node.disk);
                Peer::There(Wired { source, disk, wire: &mut self.wire })
            }
            (Some(_) | None, _) => Peer::Gone,
        };
        let progress = host.install(&here.node.disk, namespace, &mut source, &mut self.workspace, limit);
        if let Peer::There(wired) = source {
            wired.source.close();
        }
        progress
    }

    /// Over a slow link a copy goes on behind each step.
    pub(super) fn go_on_installing(&mut self, m: usize) {
        for index in 0..self.members[m].extras.len() {
            let namespace = self.members[m].node.slots[index].header.namespace;
            let is_under_way =
                self.members[m].host.as_ref().is_some_and(|host| host.is_installing(namespace));
            if self.members[m].extras[index].installing.is_some() && is_under_way {
                self.install(m, index);
            }
        }
    }
}

fn two(members: &mut [Member], m: usize, peer: usize) -> (&mut Member, &Member) {
    assert!(m != peer, "a node takes nothing over from itself");
    if m < peer {
        let (left, right) = members.split_at_mut(peer);
        (&mut left[m], &right[0])
    } else {
        let (left, right) = members.split_at_mut(m);
        (&mut right[0], &left[peer])
    }
}
