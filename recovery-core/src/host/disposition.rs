//! What the host does about a verdict: a pure, total function (DESIGN section 8).
//!
//! Promises: whether a partition is dark or asks others depends on how many replicas it has, and on nothing
//! that recovery has not decided. There is no list of reasons that may be served all the same (F65): a
//! chain in which every planned segment is proven empty is served by the decision table itself, so a refusal
//! over one is about something else, and is a refusal. Leaves out: doing it.

use crate::decide::Disposition;

/// How many nodes hold the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replication {
    /// This one alone.
    Lone,
    /// Others too.
    Peers,
}

impl Replication {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Lone, Self::Peers];

    /// From a number of replicas.
    pub const fn of(replicas: u8) -> Self {
        if replicas > 1 { Self::Peers } else { Self::Lone }
    }

    /// The word for it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Lone => "lone",
            Self::Peers => "peers",
        }
    }
}

/// What was found of a partition, without the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// See [`Disposition::Serve`].
    Serve,
    /// See [`Disposition::ServeFrom`].
    ServeFrom,
    /// See [`Disposition::Refuse`].
    Refuse,
    /// See [`Disposition::Unavailable`].
    Unavailable,
    /// The same, because a range of a log could not be read, and that at every try.
    Unreadable,
    /// It was made, and its directory is gone.
    Missing,
}

impl Finding {
    /// Every finding.
    pub const ALL: [Self; 6] =
        [Self::Serve, Self::ServeFrom, Self::Refuse, Self::Unavailable, Self::Unreadable, Self::Missing];

    /// What a verdict found.
    pub const fn of(disposition: &Disposition) -> Self {
        match disposition {
            Disposition::Serve => Self::Serve,
            Disposition::ServeFrom { .. } => Self::ServeFrom,
            Disposition::Refuse(_) => Self::Refuse,
            Disposition::Unavailable(_) => Self::Unavailable,
        }
    }

    /// The word for it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Serve => "serve",
            Self::ServeFrom => "serve-from",
            Self::Refuse => "refuse",
            Self::Unavailable => "unavailable",
            Self::Unreadable => "unreadable",
            Self::Missing => "missing",
        }
    }
}

/// What the host does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Serves; what lies past a cut is claimed only once it is there again.
    Serve,
    /// Serves, and records the gap at the first append.
    ServeWithGap,
    /// Asks peers for the offsets of the gap, and leaves one only if nobody ever held them.
    AskForGap,
    /// Leaves every file where it is, and serves nothing: a tombstone.
    Tombstone,
    /// Keeps the verified local batches where they are, unserved, and asks peers for the rest.
    RebuildAround,
    /// Asks peers for everything.
    RebuildWhole,
    /// Serves nothing now, and tries again later.
    Retry,
}

impl Deed {
    /// The word for it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Serve => "serve",
            Self::ServeWithGap => "serve-with-gap",
            Self::AskForGap => "ask-for-gap",
            Self::Tombstone => "tombstone",
            Self::RebuildAround => "rebuild-around",
            Self::RebuildWhole => "rebuild-whole",
            Self::Retry => "retry",
        }
    }
}

/// What the host does about `finding`. `is_proven_empty` says that no planned segment holds a verified batch.
///
/// # Examples
///
/// ```
/// use recovery_core::host::{Deed, Finding, Replication, deed};
///
/// // Nobody else has what a lone node has lost; a replica asks its peers.
/// assert_eq!(deed(Finding::Refuse, Replication::Lone, false), Deed::Tombstone);
/// assert_eq!(deed(Finding::Refuse, Replication::Peers, false), Deed::RebuildAround);
/// ```
pub const fn deed(finding: Finding, replication: Replication, is_proven_empty: bool) -> Deed {
    match (finding, replication) {
        (Finding::Serve, Replication::Lone | Replication::Peers) => Deed::Serve,
        (Finding::ServeFrom, Replication::Lone) => Deed::ServeWithGap,
        (Finding::ServeFrom, Replication::Peers) => Deed::AskForGap,
        (Finding::Refuse | Finding::Missing, Replication::Lone) => Deed::Tombstone,
        (Finding::Refuse | Finding::Unreadable, Replication::Peers) if is_proven_empty => Deed::RebuildWhole,
        (Finding::Refuse | Finding::Unreadable, Replication::Peers) => Deed::RebuildAround,
        (Finding::Missing, Replication::Peers) => Deed::RebuildWhole,
        (Finding::Unavailable, Replication::Lone | Replication::Peers)
        | (Finding::Unreadable, Replication::Lone) => Deed::Retry,
    }
}
