//! What each filesystem promises about unsynced work: FAULT_MODEL 2.5 as data.
//!
//! Promises: one row a filesystem; the code that resolves a crash asks these fields and never the
//! filesystem's name. Leaves out: failed syncs, which are in `failure`.

use crate::schedule::{Filesystem, Fill};

/// What is one sequence, of which a crash keeps a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    /// Nothing.
    Nothing,
    /// Names and cuts: a journal of metadata. A length that grows joins it when its data is written back.
    Metadata,
    /// Everything, data included.
    Everything,
}

/// In which order parts of appends become visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AppendOrder {
    /// In none.
    Nothing,
    /// A later append shows only if the earlier ones do, each page of them.
    Pages,
    /// A later append shows only if the earlier ones do; inside one append pages may be missing.
    Calls,
}

/// What may show where a length survived and its bytes did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fills {
    /// Zeros.
    Zeros,
    /// Zeros or a freed block.
    Stale,
    /// Anything.
    Any,
}

impl Fills {
    /// The fill that the filesystem lets show when `fill` was asked for.
    pub(super) fn allow(self, fill: Fill) -> Fill {
        match (self, fill) {
            (Self::Any, _) | (Self::Stale, Fill::StaleSame | Fill::StaleForeign) => fill,
            (Self::Zeros, _) | (Self::Stale, Fill::Zeros | Fill::Noise) => Fill::Zeros,
        }
    }
}

/// Which names the sync of a file makes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamesSynced {
    /// None.
    Nothing,
    /// Its own, and those of the directories on the way to it.
    Own,
    /// All that were changed before the file last changed anything in the journal, with such cuts: the journal
    /// is committed up to there, and further only if nobody else had it committed meanwhile.
    Earlier,
    /// All that are pending, with all pending cuts: the journal is committed.
    All,
}

/// What a filesystem does with a data page that cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailedData {
    /// The cache keeps the new bytes; length and block become durable later, the bytes never.
    LengthStays,
    /// The same at once, and the sync that hit it succeeds; the next one fails.
    LengthStaysReportedLate,
    /// The cache keeps the new bytes; the medium's length does not grow over them unless something is
    /// appended behind.
    LengthDropped,
    /// The cache goes back to what the medium holds, and so does the length.
    Reverted,
}

/// What a filesystem does when its journal or log cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailedJournal {
    /// It goes read-only.
    ReadOnly,
    /// Every call fails from here on.
    Shutdown,
    /// The sync fails, and no more.
    SyncFails,
}

/// One filesystem's row.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one cell of FAULT_MODEL 2.5")]
pub(super) struct Rules {
    pub(super) sequence: Sequence,
    /// A rename survives whole or not at all.
    pub(super) groups_are_whole: bool,
    /// An overwrite survives before anything that was issued after it.
    pub(super) overwrites_order_all: bool,
    /// A page that is new on the medium shows only with all its sectors.
    pub(super) new_pages_are_whole: bool,
    /// A page that is overwritten changes with all its sectors or not at all.
    pub(super) old_pages_are_whole: bool,
    pub(super) append_order: AppendOrder,
    /// A length that grows by a page that is new on the medium waits for that page's bytes. Where it does not, the
    /// page has a block that reads as zeros until its bytes are down.
    pub(super) length_waits_in_new_page: bool,
    /// A length that grows inside a page that the medium has waits for that page's bytes.
    pub(super) length_waits_in_old_page: bool,
    /// A page that comes down takes the length on the medium with it, whichever change made the file longer for those who
    /// read: the old last page when something is written far behind it, and a page that was passed over and filled in.
    pub(super) lengths_follow_pages: bool,
    /// A length may end at each sector of a write, not only at each page.
    pub(super) lengths_end_at_sectors: bool,
    pub(super) fills: Fills,
    /// A fill shows in pages the medium had too, behind the old end.
    pub(super) fills_old_pages: bool,
    /// Renaming over a file waits for the blocks and the length of the new one, not for its bytes. Means something
    /// where names are a sequence.
    pub(super) rename_waits_for_length: bool,
    /// A cut waits for the zeros behind the new end. Means something where cuts are a sequence.
    pub(super) cut_waits_for_zeros: bool,
    /// Bytes written behind a cut go to new blocks: without the cut they do not show.
    pub(super) blocks_are_new_after_cut: bool,
    /// Data that never landed leaves an unwritten extent.
    pub(super) leaves_unwritten: bool,
    /// Data is checksummed: damage on the medium reads as EIO.
    pub(super) checks_data: bool,
    pub(super) file_sync_names: NamesSynced,
    pub(super) directory_sync_names: NamesSynced,
    pub(super) failed_data: FailedData,
    pub(super) failed_journal: FailedJournal,
}

const EXT4_ORDERED: Rules = Rules {
    sequence: Sequence::Metadata,
    groups_are_whole: true,
    overwrites_order_all: false,
    new_pages_are_whole: true,
    old_pages_are_whole: false,
    // Writeback may begin anywhere in a file, and a page that it passes over is a hole: note (b).
    append_order: AppendOrder::Nothing,
    // Writeback gives new pages blocks that are unwritten until the bytes are down, and the length with them; no
    // commit waits for that (`dioread_nolock`, the default).
    length_waits_in_new_page: false,
    // The length of an append inside the last block is committed without its bytes: note (a).
    length_waits_in_old_page: false,
    // The length on the medium goes with the blocks that are mapped.
    lengths_follow_pages: true,
    lengths_end_at_sectors: false,
    fills: Fills::Zeros,
    fills_old_pages: false,
    rename_waits_for_length: true,
    cut_waits_for_zeros: true,
    blocks_are_new_after_cut: true,
    leaves_unwritten: false,
    checks_data: false,
    file_sync_names: NamesSynced::Earlier,
    directory_sync_names: NamesSynced::Earlier,
    failed_data: FailedData::LengthStays,
    failed_journal: FailedJournal::ReadOnly,
};

const EXT4_WRITEBACK: Rules = Rules {
    new_pages_are_whole: false,
    fills: Fills::Stale,
    rename_waits_for_length: false,
    cut_waits_for_zeros: false,
    ..EXT4_ORDERED
};

const EXT4_JOURNAL: Rules = Rules {
    sequence: Sequence::Everything,
    old_pages_are_whole: true,
    length_waits_in_new_page: true,
    length_waits_in_old_page: true,
    lengths_follow_pages: false,
    // A file whose data is in the journal has all of it committed.
    file_sync_names: NamesSynced::All,
    directory_sync_names: NamesSynced::All,
    failed_data: FailedData::LengthStaysReportedLate,
    ..EXT4_ORDERED
};

const XFS: Rules = Rules {
    length_waits_in_new_page: true,
    // The zeros behind a new end are in the cache; nothing waits for them.
    cut_waits_for_zeros: false,
    length_waits_in_old_page: true,
    rename_waits_for_length: false,
    leaves_unwritten: true,
    failed_data: FailedData::LengthDropped,
    failed_journal: FailedJournal::Shutdown,
    ..EXT4_ORDERED
};

const BTRFS: Rules = Rules {
    sequence: Sequence::Nothing,
    groups_are_whole: true,
    overwrites_order_all: true,
    new_pages_are_whole: true,
    old_pages_are_whole: true,
    // A length may pass a hole inside one append: note (c).
    append_order: AppendOrder::Calls,
    length_waits_in_new_page: true,
    length_waits_in_old_page: true,
    lengths_follow_pages: false,
    lengths_end_at_sectors: false,
    fills: Fills::Zeros,
    fills_old_pages: false,
    rename_waits_for_length: false,
    cut_waits_for_zeros: false,
    blocks_are_new_after_cut: true,
    leaves_unwritten: false,
    checks_data: true,
    file_sync_names: NamesSynced::Own,
    directory_sync_names: NamesSynced::Own,
    failed_data: FailedData::Reverted,
    failed_journal: FailedJournal::SyncFails,
};

const ADVERSARIAL: Rules = Rules {
    sequence: Sequence::Nothing,
    groups_are_whole: false,
    overwrites_order_all: false,
    new_pages_are_whole: false,
    old_pages_are_whole: false,
    append_order: AppendOrder::Nothing,
    length_waits_in_new_page: false,
    length_waits_in_old_page: false,
    lengths_follow_pages: true,
    lengths_end_at_sectors: true,
    fills: Fills::Any,
    fills_old_pages: true,
    rename_waits_for_length: false,
    cut_waits_for_zeros: false,
    blocks_are_new_after_cut: false,
    leaves_unwritten: false,
    checks_data: false,
    file_sync_names: NamesSynced::Nothing,
    directory_sync_names: NamesSynced::Own,
    failed_data: FailedData::LengthStays,
    failed_journal: FailedJournal::SyncFails,
};

/// The row of a filesystem.
pub(super) const fn rules_of(filesystem: Filesystem) -> &'static Rules {
    match filesystem {
        Filesystem::Ext4Ordered => &EXT4_ORDERED,
        Filesystem::Ext4Writeback => &EXT4_WRITEBACK,
        Filesystem::Ext4Journal => &EXT4_JOURNAL,
        Filesystem::Xfs => &XFS,
        Filesystem::Btrfs => &BTRFS,
        Filesystem::Adversarial => &ADVERSARIAL,
    }
}

/// How a lie of the device orders what it lied about: not at all. Blocks show what they held.
pub(super) const LIED: Rules = Rules { fills: Fills::Zeros, fills_old_pages: false, ..ADVERSARIAL };
