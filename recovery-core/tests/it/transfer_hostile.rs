//! Sources and offers that are not what they say: nothing of them is installed, and what is there stays.

use recovery_core::format::{BATCH_BYTES_MAX, BATCH_HEADER_BYTES, BatchHeader, ChainHash, FileName, Mark};
use recovery_core::observe::{Progress, WINDOW_BYTES_MIN, Workspace};
use recovery_core::storage::os::OsStorage;
use recovery_core::storage::{Call, Errno, Storage, StorageError};
use recovery_core::transfer::{Install, InstallError, InstallOptions, Offer, Source, SourceError};
use recovery_core::units::{Incarnation, Namespace, Offset, Position, SegmentStart};

use crate::hostile;
use crate::image::check::measured;
use crate::loss_world::{BATCH, INCARNATION, NAMESPACE, path, written};
use crate::memory_storage::name;
use crate::observe_world;
use crate::recovery_run::Files;
use crate::transfer::other_batch;
use crate::transfer_world::{check_same, install, install_from, offer, options, start};

/// A source that is not what it says.
struct Hostile<'a> {
    files: &'a Files,
    offer: &'a Offer,
    kind: usize,
    reads: usize,
}

impl Source for Hostile<'_> {
    fn read(
        &mut self,
        segment: SegmentStart,
        position: Position,
        buffer: &mut [u8],
    ) -> Result<usize, SourceError> {
        self.reads += 1;
        let log = &self.files[&path(&FileName::log(segment).to_string())];
        let at = usize::try_from(position.get()).unwrap();
        let mut count = buffer.len().min(log.len().saturating_sub(at));
        buffer[..count].copy_from_slice(&log[at..at + count]);
        let is_last = self.offer.segments.last().is_some_and(|last| last.segment == segment);
        match self.kind {
            // One byte is another one.
            kind @ 0..=12 if is_last => {
                let wrong = kind * 75;
                if (at..at + count).contains(&wrong) {
                    buffer[wrong - at] ^= 1;
                }
            }
            // A failed read, an end too soon.
            13 if self.reads == 3 => {
                let error = StorageError { call: Call::Read, file: name("x"), errno: Errno::IO };
                return Err(SourceError::Io(error));
            }
            14 if self.reads == 3 => return Ok(0),
            // Another partition's batches.
            15 if is_last && at == 0 => buffer[0] ^= 7,
            // Short reads are no harm.
            16 => count = count.min(7),
            _ => {}
        }
        Ok(count)
    }
}

/// N20: the walk of an installation compares partition and namespace like any other.
#[test]
fn a_hostile_source_is_never_installed() {
    let peer = written(true);
    let (files, offer) = (peer.files(), offer(&peer));
    for kind in 0..=17 {
        let storage = written(true);
        let before = storage.files();
        let mut source = Hostile { files: &files, offer: &offer, kind, reads: 0 };
        let done = install_from(&storage, None, &offer, &mut source, (WINDOW_BYTES_MIN, 512));
        assert_eq!(done.is_ok(), kind >= 16, "kind {kind}: {done:?}");
        if done.is_err() {
            let mut after = storage.files();
            after.retain(|path, _| !path.contains(".rebuild/"));
            assert!(after == before, "kind {kind}: the directory that is there is untouched");
            // A good source later.
            install(&storage, None, &peer).unwrap();
        }
        start(&storage);
        check_same(&peer, &storage);
    }
}

/// G31: a copy is verified from its first batch on, with a chain hash that begins where the log does. A whole batch of
/// this partition that is another one than the first is found out, however well the rest fits.
#[test]
fn g31_a_copy_that_begins_with_another_whole_batch_is_not_installed() {
    let peer = written(true);
    let offer = offer(&peer);
    for kind in ["000", "005", "010"] {
        let first: u64 = kind.parse().unwrap();
        let mut files = peer.files();
        let log = files.get_mut(&path(&format!("00000000000000000{kind}.log"))).unwrap();
        log[..BATCH].copy_from_slice(&other_batch(first));
        let storage = written(true);
        let before = storage.files();
        let mut source = Hostile { files: &files, offer: &offer, kind: 17, reads: 0 };
        let done = install_from(&storage, None, &offer, &mut source, (WINDOW_BYTES_MIN, 512));
        assert_eq!(done.err(), Some(InstallError::NotAsOffered { segment: SegmentStart::new(first) }));
        let mut after = storage.files();
        after.retain(|path, _| !path.contains(".rebuild/"));
        assert!(after == before, "the directory that is there is untouched");
    }
}

#[track_caller]
fn check_offer(change: impl FnOnce(&mut Offer), expected: &str) {
    let peer = written(true);
    let mut bad = offer(&peer);
    change(&mut bad);
    let storage = written(true);
    let before = storage.files();
    let files = peer.files();
    let mut source = Hostile { files: &files, offer: &bad, kind: 17, reads: 0 };
    let error = install_from(&storage, None, &bad, &mut source, (512, 512)).unwrap_err();
    assert_eq!(error.to_string(), expected);
    let mut after = storage.files();
    after.retain(|path, _| !path.contains(".rebuild/"));
    assert!(after == before, "the directory that is there is untouched");
}

#[test]
fn an_offer_that_does_not_hold_together_is_not_taken() {
    check_offer(
        |offer| offer.namespace = Namespace { stream: 9, ..NAMESPACE },
        "the offer is not taken: partition 9/2/3 (incarnation 7) is offered, and 1/2/3 (incarnation 7) is wanted",
    );
    check_offer(
        |offer| offer.incarnation = Incarnation::new(8),
        "the offer is not taken: partition 1/2/3 (incarnation 8) is offered, and 1/2/3 (incarnation 7) is wanted",
    );
    check_offer(
        |offer| {
            offer.segments.remove(1);
        },
        "the offer is not taken: offsets 5 to 9 are in no segment that is offered",
    );
    check_offer(
        |offer| offer.segments.swap(0, 1),
        "the offer is not taken: segment 5 is offered with offsets up to 10, and 0 behind it",
    );
    check_offer(
        |offer| offer.segments[0].next_offset = Offset::new(6),
        "the offer is not taken: segment 0 is offered with offsets up to 6, and 5 behind it",
    );
    check_offer(
        |offer| offer.floor = SegmentStart::new(1),
        "the offer is not taken: the offer says that its chain goes from 1 to 13, and its segments do not",
    );
    check_offer(
        |offer| offer.next_offset = Offset::new(12),
        "the offer is not taken: the offer says that its chain goes from 0 to 12, and its segments do not",
    );
    // More than the peer has.
    check_offer(
        |offer| offer.segments[2].position = Position::new(973),
        "the bytes did not come: the peer is gone",
    );
    check_offer(
        |offer| offer.segments[2].next_offset = Offset::new(12),
        "segment 10 did not come as it was offered",
    );
}

/// One segment in memory.
struct Bytes<'a>(&'a [u8]);

impl Source for Bytes<'_> {
    fn read(&mut self, _: SegmentStart, position: Position, buffer: &mut [u8]) -> Result<usize, SourceError> {
        let rest = &self.0[usize::try_from(position.get()).unwrap()..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// F76.
/// The ceiling binds this door too, in the memory of the windows.
#[test]
fn a_batch_at_the_ceiling_is_installed_and_one_above_it_is_not() {
    for above in [0, 1] {
        let length = BATCH_BYTES_MAX.get() + above;
        let log = hostile::batch_of(length);
        let header = BatchHeader::decode(log.first_chunk::<BATCH_HEADER_BYTES>().unwrap()).unwrap();
        let segment = SegmentStart::ZERO;
        let namespace = observe_world::NAMESPACE;
        let end = Mark {
            segment,
            position: Position::new(length),
            next_offset: Offset::new(1),
            chain_hash: ChainHash::start(namespace, INCARNATION, segment).after(header.batch_checksum),
        };
        let offer = Offer {
            namespace,
            incarnation: INCARNATION,
            generation: 0,
            floor: segment,
            next_offset: Offset::new(1),
            segments: vec![end],
            gaps: Vec::new(),
        };
        let root = tempfile::tempdir().unwrap();
        let storage = OsStorage::open(root.path()).unwrap();
        let parent = storage.root().unwrap();
        let options = InstallOptions { namespace, ..options() };
        let mut workspace = Workspace::new(1 << 20);
        let mut install = Install::new(offer, None, options);
        let (done, memory) = measured(|| {
            loop {
                let step =
                    install.step(&storage, &parent, &name("3"), &mut Bytes(&log), &mut workspace, 1 << 22);
                match step {
                    Ok(Progress::More) => {}
                    Ok(Progress::Done) => break Ok(()),
                    Err(error) => break Err(error),
                }
            }
        });
        assert!(memory <= 64 * 1024, "{memory} bytes besides the windows");
        let expected = if above == 0 { Ok(()) } else { Err(InstallError::NotAsOffered { segment }) };
        assert_eq!(done, expected);
        storage.close_directory(parent);
    }
}
