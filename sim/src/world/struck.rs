//! Where faults that hit calls have done damage, as the oracle takes it, and what a start was told by them.
//!
//! Promises: a fault inside a step that hit nothing excuses nothing; one that did excuses the files and bytes
//! that it touched. A read that was wrong once leaves nothing behind. Leaves out: faults that act at once
//! ([`super::places`]).

use super::look;
use super::node::Node;
use crate::disk::{DirectoryId, FileId, Node as Target, SimDisk, Strike, Touched, View};
use crate::oracle::damage::Place;

/// What the strikes in a run of calls do that calls do not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Struck {
    /// How many reads returned what does not lie there.
    pub(super) misleading: usize,
    /// Whether writes or syncs succeeded that did not.
    pub(super) pretends: bool,
}

impl Struck {
    /// What these strikes do.
    pub(super) fn by(strikes: &[Strike]) -> Self {
        Self {
            misleading: strikes.iter().filter(|strike| strike.misleads()).count(),
            pretends: strikes.iter().any(Strike::pretends),
        }
    }

    /// Whether looking twice does not help: what is shown twice is as good as what lies there, and whoever
    /// looks must act on it.
    pub(super) const fn lasts(self) -> bool {
        self.misleading > 1
    }
}

/// Marks what strikes have touched. Reads that were wrong count where they last.
pub(super) fn mark(node: &mut Node, strikes: &[Strike]) {
    let lasts = Struck::by(strikes).lasts();
    for strike in strikes.iter().filter(|strike| strike.pretends() || lasts) {
        for touched in &strike.touched {
            mark_touched(node, touched);
        }
    }
}

fn mark_touched(node: &mut Node, touched: &Touched) {
    let mut is_found = false;
    for at in 0..node.slots.len() {
        let components = &node.slots[at].components;
        let directory = look::directory(&node.disk, components);
        let places = directory.map_or(Vec::new(), |directory| places_in(&node.disk, directory, touched));
        let fences = look::fence_directories(&node.disk, components);
        let is_fenced = fences.iter().any(|fence| is_about(&node.disk, *fence, touched))
            || matches!(touched, Touched::Name { name, .. } if look::is_fence_of(components, name));
        is_found |= is_fenced || !places.is_empty();
        let damages = &mut node.slots[at].truth.damages;
        for place in places {
            damages.add(place);
        }
        if is_fenced {
            damages.add_to_fences();
        }
    }
    if !is_found {
        for slot in &mut node.slots {
            slot.truth.damages.add(Place::Anywhere);
        }
    }
}

/// The places in a directory that are touched: by the name that a file has now, and by its first one, to
/// which a crash may bring it back.
fn places_in(disk: &SimDisk, directory: DirectoryId, touched: &Touched) -> Vec<Place> {
    match touched {
        Touched::Name { directory: of, name } if *of == directory => vec![Place::File(*name)],
        Touched::Name { .. } => Vec::new(),
        Touched::Bytes { file, made_as: (home, first_name), range } => {
            let mut names = names_of(disk, directory, *file);
            if *home == directory && !names.contains(first_name) {
                names.push(*first_name);
            }
            let place = |file| Place::Bytes { file, range: range.clone() };
            names.into_iter().map(place).collect()
        }
    }
}

/// Whether something in a directory is touched.
fn is_about(disk: &SimDisk, directory: DirectoryId, touched: &Touched) -> bool {
    !places_in(disk, directory, touched).is_empty()
}

fn names_of(disk: &SimDisk, directory: DirectoryId, file: FileId) -> Vec<recovery_core::storage::Name> {
    let entries = disk.entries(directory, View::Visible).into_iter();
    entries.filter(|(_, node)| *node == Target::File(file)).map(|(name, _)| name).collect()
}
