//! The file `COMPLETE`, damaged after a crash between the two renames of an installation.

use recovery_core::storage::Storage;
use recovery_core::transfer::{Finished, finish_install};

use crate::loss_world::{BATCH, DIRECTORY, change, look, written};
use crate::memory_storage::{Fault, MemoryStorage, name};
use crate::transfer_world::{install, logs, open_parent, start};

/// A node on which a crash came `behind` calls after the old directory got the name of a fence, and a peer.
fn between_renames(behind: u64) -> (MemoryStorage, MemoryStorage) {
    let peer = written(true);
    let old = written(true);
    change(&old, "00000000000000000010.log", |log| log.truncate(BATCH));
    // An earlier fence has a reason of its own.
    old.put(&format!("{DIRECTORY}.fenced.0/REASON.toml"), b"why = \"an older story\"\n");
    let facts = look(&old).0;
    let probe = old.clone();
    probe.start(None);
    install(&probe, Some(&facts), &peer).unwrap();
    let is_swap = |call: &String| call.starts_with("rename") && call.ends_with(".fenced.1");
    let swap = probe.calls().iter().position(is_swap).unwrap() as u64 + 1;
    old.start(Some(Fault::CrashAfter(swap + behind)));
    assert!(install(&old, Some(&facts), &peer).is_err());
    old.start(None);
    (old, peer)
}

/// I20, B22: the copy proves itself by its own ledger, so whatever the file says, the installation comes to its end,
/// the old directory is in its fence with a reason, and no other reason is written over.
#[test]
fn a_damaged_file_never_keeps_a_complete_copy_from_its_place() {
    let marker = format!("{DIRECTORY}.rebuild/COMPLETE");
    let mut damaged = 0;
    for behind in 0..12 {
        let (storage, peer) = between_renames(behind);
        let files = storage.files();
        let Some(text) = files.get(&marker) else { break };
        let flipped = (0..text.len()).map(|at| {
            let mut text = text.clone();
            text[at] ^= 1;
            text
        });
        for text in flipped.chain([Vec::new(), vec![0; text.len()], text[..100].to_vec()]) {
            let storage = storage.clone();
            storage.put(&marker, &text);
            let parent = open_parent(&storage).unwrap();
            let finished = finish_install(&storage, &parent, &name("3")).unwrap();
            storage.close_directory(parent);
            assert_eq!(finished, Finished::Installed);
            start(&storage);
            assert!(logs(&storage) == logs(&peer), "the copy is served");
            let after = storage.files();
            assert_eq!(after[&format!("{DIRECTORY}.fenced.0/REASON.toml")], b"why = \"an older story\"\n");
            assert!(after.contains_key(&format!("{DIRECTORY}.fenced.1/REASON.toml")));
            let old = |path: &&String| path.contains(".fenced.1/") && !path.contains("REASON.toml");
            for path in files.keys().filter(old) {
                assert!(after[path] == files[path], "{path} is as it was");
            }
            damaged += 1;
        }
    }
    assert!(damaged > 500, "{damaged} damaged files were tried");
}
