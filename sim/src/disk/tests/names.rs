//! Names that come and go behind the core's back, and the operator's hand.

use recovery_core::storage::{EntryKind, Errno, Storage};

use crate::disk::litmus::explore::is_there;
use crate::disk::litmus::hand::{Hand, PAGE, name};
use crate::disk::{Cause, DirectoryId, Node, Stray, SurvivorChoice, View};
use crate::schedule::{FaultKind, Filesystem, Restart, Survivors};

const ROOT: DirectoryId = DirectoryId::ROOT;

fn cause(kind: FaultKind) -> Cause {
    Cause::Fault(kind)
}

#[test]
fn a_name_that_is_taken_away_is_gone_for_good_and_its_open_file_is_not() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    let file = hand.durable("f", b'a', 10);
    let fault = hand.disk.take_name(ROOT, &name("f"), cause(FaultKind::LostDirectoryEntry)).unwrap();
    assert!(!hand.disk.is_fault_read(fault));
    assert_eq!(hand.read(&file), vec![b'a'; 10]);
    let root = hand.disk.root().unwrap();
    let error = hand.disk.open(&root, &name("f"), recovery_core::storage::Access::Read).unwrap_err();
    assert!(error.is_not_found());
    assert!(hand.disk.is_fault_read(fault), "somebody looked for it");
    hand.disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::All));
    assert!(!is_there(&hand, "f"));
    assert_eq!(hand.disk.take_name(ROOT, &name("f"), cause(FaultKind::LostDirectoryEntry)), None);
}

#[test]
fn a_removed_file_comes_back_whole() {
    let hand = Hand::new(Filesystem::Xfs);
    hand.durable("f", b'a', PAGE);
    hand.remove("f");
    hand.sync_root();
    hand.durable("f", b'b', 10);
    hand.disk.undo_unlink(ROOT, &name("f"), cause(FaultKind::UndoneUnlink)).unwrap();
    assert_eq!(hand.look("f").unwrap(), vec![b'a'; 256]);
    hand.disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::None));
    assert_eq!(hand.look("f").unwrap(), vec![b'a'; 256]);
    assert_eq!(hand.disk.undo_unlink(ROOT, &name("g"), cause(FaultKind::UndoneUnlink)), None);
}

#[test]
fn a_rename_is_undone_with_what_it_replaced() {
    let hand = Hand::new(Filesystem::Adversarial);
    hand.durable("from", b'n', 10);
    hand.durable("to", b'o', 10);
    hand.rename("from", "to");
    hand.sync_root();
    hand.disk.undo_rename(ROOT, &name("to"), cause(FaultKind::UndoneRename)).unwrap();
    assert_eq!((hand.look("from").unwrap()[0], hand.look("to").unwrap()[0]), (b'n', b'o'));
    assert_eq!(hand.disk.undo_rename(ROOT, &name("to"), cause(FaultKind::UndoneRename)), None);
}

#[test]
fn the_operator_puts_back_what_was_there_when_the_node_went_down() {
    let mut hand = Hand::new(Filesystem::Ext4Ordered);
    hand.durable("f", b'a', PAGE);
    hand.disk.crash(Restart::Process, &SurvivorChoice::of(Survivors::All));
    hand.come_back();
    let put_back =
        |hand: &Hand| hand.disk.put_back(ROOT, &name("f"), cause(FaultKind::OperatorRestoresFile)).is_some();
    assert!(!put_back(&hand), "it is the same still");
    let file = hand.open("f");
    hand.write(&file, 0, b'b', 2 * PAGE);
    assert!(put_back(&hand));
    assert_eq!(hand.look("f").unwrap(), vec![b'a'; 256]);
    assert_eq!(hand.read(&file), vec![b'b'; 512], "whoever has it open keeps the file it opened");
}

#[test]
fn strays_are_what_they_are() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    for (text, stray, errno) in [
        ("link", Stray::Link, Errno::SYMLINK),
        ("fifo", Stray::Special, Errno::NOT_SUPPORTED),
        ("directory", Stray::Directory, Errno::IS_A_DIRECTORY),
    ] {
        hand.disk.put_stray(ROOT, &name(text), stray, cause(FaultKind::StrayFile)).unwrap();
        assert_eq!(hand.disk.put_stray(ROOT, &name(text), stray, cause(FaultKind::StrayFile)), None, "taken");
        let root = hand.disk.root().unwrap();
        let error = hand.disk.open(&root, &name(text), recovery_core::storage::Access::Read).unwrap_err();
        assert_eq!(error.errno, errno);
    }
    hand.disk.put_stray(ROOT, &name("file"), Stray::File(b"bytes"), cause(FaultKind::StrayFile)).unwrap();
    assert_eq!(hand.look("file").unwrap(), b"bytes");
    let mut kinds = Vec::new();
    let root = hand.disk.root().unwrap();
    hand.disk.list(&root, &mut |name, kind| kinds.push((name.to_string(), kind))).unwrap();
    kinds.sort();
    let expected = [
        ("directory", EntryKind::Directory),
        ("fifo", EntryKind::Other),
        ("file", EntryKind::File),
        ("link", EntryKind::Other),
    ];
    assert_eq!(kinds, expected.map(|(name, kind)| (name.to_owned(), kind)));
}

#[test]
fn listings_come_in_the_order_that_was_picked() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    for text in ["a", "b", "c", "d", "e"] {
        hand.create(text);
    }
    let listed = || {
        let mut names = String::new();
        let root = hand.disk.root().unwrap();
        hand.disk.list(&root, &mut |name, _| names.push_str(&name.to_string())).unwrap();
        names
    };
    assert_eq!(listed(), "abcde");
    let orders: std::collections::BTreeSet<String> = (1..40)
        .map(|order| {
            hand.disk.set_listing_order(order, cause(FaultKind::ListingOrder));
            assert_eq!(listed(), listed(), "it stays the same");
            listed()
        })
        .collect();
    assert!(orders.len() > 20, "{} orders", orders.len());
}

#[test]
fn a_freed_file_feeds_the_pool_of_stale_blocks() {
    let hand = Hand::new(Filesystem::Ext4Writeback);
    let old = hand.durable("old", b'o', PAGE);
    hand.remove("old");
    hand.sync_root();
    let stale = |hand: &Hand, file_name: &str| {
        let file = hand.durable(file_name, b'x', 0);
        hand.write(&file, 0, b'n', PAGE);
        let choice = SurvivorChoice {
            everything: crate::disk::FileChoice {
                length: Some(crate::schedule::SizeChoice::New),
                fill: crate::schedule::Fill::StaleSame,
                ..crate::disk::FileChoice::of(Survivors::None)
            },
            names: Survivors::All,
            files: Vec::new(),
        };
        hand.disk.crash(Restart::Power, &choice);
        hand.look(file_name).unwrap()[0]
    };
    // As long as somebody has it open its blocks are not free.
    let mut snapshot = crate::disk::Snapshot::default();
    hand.disk.snapshot(&mut snapshot);
    assert_eq!(stale(&hand, "f"), 0);
    hand.disk.restore(&snapshot);
    hand.disk.close(old);
    assert_eq!(stale(&hand, "f"), b'o');
    assert!(
        hand.disk.fault_tally().injected[Cause::Torn(crate::schedule::TornKind::StaleBlockFill).index()] > 0
    );
}

#[test]
fn denied_things_cannot_be_opened() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    hand.durable("f", b'a', 10);
    let node = hand.disk.node_at("f", View::Visible).unwrap();
    assert!(matches!(node, Node::File(_)));
    hand.disk.deny(node, true);
    let root = hand.disk.root().unwrap();
    let open = || hand.disk.open(&root, &name("f"), recovery_core::storage::Access::Read).map(|_| ());
    assert_eq!(open().unwrap_err().errno, Errno::PERMISSION_DENIED);
    hand.disk.deny(node, false);
    assert!(open().is_ok());
}
