//! One pass over what is to be and what is to go: removals first, then new directories.
//!
//! Promises: a name that is tombstoned, waits for peers or cannot be read is skipped before anything else is
//! asked (F19); what is to go is removed and confirmed, also if nothing of it was ever mounted (F62), and
//! a failure is tried again by the next pass; a new life waits for the older ones. What is to be judged, as
//! what the pass has made, is judged. Leaves out: trying again what is unavailable ([`Host::retry`]).

use super::slot::SlotState;
use super::{Host, HostEvent, PartitionState};
use crate::observe::{Progress, Workspace};
use crate::storage::Storage;
use crate::wal::{Key, Stage};

/// A pass under way.
pub(super) struct Pass {
    /// What is left, the first one last.
    left: Vec<Key>,
}

impl<S: Storage> Host<S> {
    /// Goes on with a pass for about `limit` bytes, or begins one. What comes up during a pass is for the
    /// next one. Without a metadata log there is nothing to do.
    pub fn reconcile(&mut self, storage: &S, workspace: &mut Workspace, limit: u64) -> Progress {
        if self.metadata.registry().is_none() {
            self.pass = None;
            return Progress::Done;
        }
        if self.pass.is_none() {
            let mut left: Vec<Key> = self.keys().collect();
            left.reverse();
            self.pass = Some(Pass { left });
        }
        let Some(key) = self.pass.as_ref().and_then(|pass| pass.left.last().copied()) else {
            self.pass = None;
            return Progress::Done;
        };
        if self.reconcile_key(storage, &key, workspace, limit) == Progress::Done
            && let Some(pass) = &mut self.pass
        {
            pass.left.pop();
        }
        Progress::More
    }

    fn reconcile_key(&mut self, storage: &S, key: &Key, workspace: &mut Workspace, limit: u64) -> Progress {
        let Some(slot) = self.slots.get_mut(key) else { return Progress::Done };
        match (&mut slot.state, slot.entry.stage) {
            (SlotState::Deleting(teardown), _) => match teardown.step(storage, key.namespace, limit) {
                Ok(Progress::More) => Progress::More,
                Ok(Progress::Done) => {
                    self.confirm_removal(storage, key);
                    Progress::Done
                }
                Err(error) => {
                    self.events.push(HostEvent::DeleteFailed { key: *key, error });
                    Progress::Done
                }
            },
            (SlotState::Created | SlotState::Unavailable(_), Stage::Created) => {
                if self.has_predecessor(key) {
                    return Progress::Done;
                }
                self.make(storage, key);
                if self.state_of(key) == Some(PartitionState::Recovering) {
                    Progress::More
                } else {
                    Progress::Done
                }
            }
            (SlotState::Waiting | SlotState::Recovering(_), _) => {
                self.step_key(storage, key, workspace, limit)
            }
            (
                SlotState::Created
                | SlotState::Served(_)
                | SlotState::Refused(_)
                | SlotState::Unavailable(_)
                | SlotState::Rebuilding(_),
                _,
            ) => Progress::Done,
        }
    }

    /// Nothing is left of it: that is looked up once more, and recorded.
    fn confirm_removal(&mut self, storage: &S, key: &Key) {
        // What came back in between is met by the next pass.
        if let Err(error) = self.confirm(storage, key.namespace)
            && let Some(cause) = error.cause()
        {
            self.events.push(HostEvent::DeleteFailed { key: *key, error: *cause });
        }
    }
}
