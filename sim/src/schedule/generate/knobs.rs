//! What a run may choose about its worlds. Everything here is in the token; nothing else decides a
//! schedule.

use crate::schedule::word::words;
use crate::schedule::world::{Filesystem, Regime};

words! {
    /// Which regimes the worlds of a run have.
    RegimeKnob, "a regime" {
        /// One of the two, drawn for each seed.
        Mixed = "mixed",
        /// See [`Regime::Legal`].
        Legal = "legal",
        /// See [`Regime::Unlimited`].
        Unlimited = "unlimited",
    }
}

words! {
    /// Which filesystems the worlds of a run have.
    FilesystemKnob, "a filesystem" {
        /// One of all, drawn for each seed.
        Any = "any",
        /// See [`Filesystem::Ext4Ordered`].
        Ext4Ordered = "ext4-ordered",
        /// See [`Filesystem::Ext4Writeback`].
        Ext4Writeback = "ext4-writeback",
        /// See [`Filesystem::Ext4Journal`].
        Ext4Journal = "ext4-journal",
        /// See [`Filesystem::Xfs`].
        Xfs = "xfs",
        /// See [`Filesystem::Btrfs`].
        Btrfs = "btrfs",
        /// See [`Filesystem::Adversarial`].
        Adversarial = "adversarial",
    }
}

words! {
    /// How large the worlds of a run are (CONTRACTS 6).
    SizeKnob, "a size" {
        /// 80 per cent small, 18 medium, 2 large.
        Mixed = "mixed",
        /// See [`super::Size::Small`].
        Small = "small",
        /// See [`super::Size::Medium`].
        Medium = "medium",
        /// See [`super::Size::Large`].
        Large = "large",
    }
}

words! {
    /// How many replicas the worlds of a run have.
    ReplicasKnob, "a number of replicas" {
        /// One or three, with the core's host on each node or, of those with one, without; drawn for each seed.
        Mixed = "mixed",
        /// One.
        One = "1",
        /// Three.
        Three = "3",
    }
}

/// What a run may choose about its worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Knobs {
    /// Which regimes.
    pub regime: RegimeKnob,
    /// Which filesystems.
    pub filesystem: FilesystemKnob,
    /// How large.
    pub size: SizeKnob,
    /// How many replicas.
    pub replicas: ReplicasKnob,
}

impl Default for Knobs {
    /// What `sim run` takes without flags.
    fn default() -> Self {
        Self {
            regime: RegimeKnob::Mixed,
            filesystem: FilesystemKnob::Any,
            size: SizeKnob::Mixed,
            replicas: ReplicasKnob::One,
        }
    }
}

impl RegimeKnob {
    /// The letter in a token.
    pub const fn letter(self) -> char {
        match self {
            Self::Mixed => 'm',
            Self::Legal => 'l',
            Self::Unlimited => 'u',
        }
    }

    /// The one regime that it leaves, if it leaves one.
    pub const fn fixed(self) -> Option<Regime> {
        match self {
            Self::Mixed => None,
            Self::Legal => Some(Regime::Legal),
            Self::Unlimited => Some(Regime::Unlimited),
        }
    }
}

impl FilesystemKnob {
    /// The letter in a token.
    pub const fn letter(self) -> char {
        match self {
            Self::Any => 'a',
            Self::Ext4Ordered => 'o',
            Self::Ext4Writeback => 'w',
            Self::Ext4Journal => 'j',
            Self::Xfs => 'x',
            Self::Btrfs => 'b',
            Self::Adversarial => 'p',
        }
    }

    /// The one filesystem that it leaves, if it leaves one.
    pub const fn fixed(self) -> Option<Filesystem> {
        match self {
            Self::Any => None,
            Self::Ext4Ordered => Some(Filesystem::Ext4Ordered),
            Self::Ext4Writeback => Some(Filesystem::Ext4Writeback),
            Self::Ext4Journal => Some(Filesystem::Ext4Journal),
            Self::Xfs => Some(Filesystem::Xfs),
            Self::Btrfs => Some(Filesystem::Btrfs),
            Self::Adversarial => Some(Filesystem::Adversarial),
        }
    }
}

impl SizeKnob {
    /// The letter in a token.
    pub const fn letter(self) -> char {
        match self {
            Self::Mixed => 'm',
            Self::Small => 's',
            Self::Medium => 'd',
            Self::Large => 'l',
        }
    }
}

impl ReplicasKnob {
    /// The letter in a token.
    pub const fn letter(self) -> char {
        match self {
            Self::Mixed => 'm',
            Self::One => '1',
            Self::Three => '3',
        }
    }
}
