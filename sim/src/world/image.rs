//! A real directory that worlds start with: read once, shared by all of them, and written by none.
//!
//! Promises: the same names, lengths and bytes give the same worlds, whatever the order of a listing. What
//! verifies in a log is taken for the truth, adopted and durable. Leaves out: what lies in a file that is no
//! log, which is laid on the disk and not looked into.

use std::fs;
use std::path::{Path, PathBuf};

use recovery_core::format::{FileName, partition_components};
use recovery_core::storage::Name;
use recovery_core::units::{Namespace, Offset, SegmentStart};
use xxhash_rust::xxh3::Xxh3Default;

use crate::disk::{Geometry, Image as Laid};
use crate::oracle::reference::{VerifiedBatch, verified_prefix};
use crate::oracle::truth::{Life, Truth};
use crate::schedule::{BatchId, ImageBatch, ImagePartition, ImageSegment, ImageShape, PartitionHeader};

/// A path of the tree, and a file's bytes; `None` for a directory.
type Entry = (String, Option<Vec<u8>>);

/// A directory as worlds start with it.
#[derive(Debug)]
pub struct WorldImage {
    tree: Vec<Entry>,
    laid: Laid,
    shape: ImageShape,
    hash: u32,
}

impl WorldImage {
    /// Reads a data directory, which holds `streams`, or the directory of one partition.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or holds no segment; the text is for a person.
    ///
    /// # Examples
    ///
    /// ```
    /// use sim::world::WorldImage;
    ///
    /// # use recovery_core::format::{BatchBuilder, Message};
    /// # let directory = tempfile::tempdir()?;
    /// # let mut batch = Vec::new();
    /// # let mut builder = BatchBuilder::begin(&mut batch, 1);
    /// # builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// # builder.finish();
    /// # std::fs::write(directory.path().join("00000000000000000000.log"), &batch)?;
    /// // A partition directory with one log, which holds one batch of one message.
    /// let image = WorldImage::read(directory.path())?;
    /// let partition = &image.shape().partitions[0];
    /// assert_eq!((partition.segments[0].batches.len(), partition.next_offset), (1, 1));
    /// // One without a segment is no partition.
    /// let empty = tempfile::tempdir()?;
    /// assert!(WorldImage::read(empty.path()).unwrap_err().ends_with("holds no partition with a segment"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(directory: &Path) -> Result<Self, String> {
        let shown = directory.display();
        let directory = fs::canonicalize(directory).map_err(|error| format!("{shown}: {error}"))?;
        let mut tree = Vec::new();
        read_below(&directory, "", &mut tree).map_err(|error| format!("{shown} cannot be read: {error}"))?;
        tree.sort();
        let hash = hash_of(&tree);
        if !tree.iter().any(|(path, _)| path == "streams") {
            tree = under_a_partition(tree);
        }
        let name = directory.to_string_lossy().into_owned();
        let shape = ImageShape { directory: name, partitions: partitions(&tree) };
        if shape.partitions.is_empty() {
            return Err(format!("{shown} holds no partition with a segment"));
        }
        let entries = tree.iter().map(|(path, bytes)| (path.as_str(), bytes.as_deref()));
        let laid = Laid::new(Geometry::DEFAULT, entries);
        let laid = laid.ok_or_else(|| format!("{shown} holds a name that is too long"))?;
        Ok(Self { tree, laid, shape, hash })
    }

    /// The directory as the generator sees it.
    pub const fn shape(&self) -> &ImageShape {
        &self.shape
    }

    /// What tokens name it by.
    pub const fn hash(&self) -> u32 {
        self.hash
    }

    /// What disks of that geometry are laid over.
    pub(super) fn laid(&self, geometry: Geometry) -> Laid {
        if geometry == self.laid.geometry() {
            return self.laid.clone();
        }
        let entries = self.tree.iter().map(|(path, bytes)| (path.as_str(), bytes.as_deref()));
        Laid::new(geometry, entries).expect("its names were good before")
    }

    /// Tells the truth of a partition what verifies in its logs. Batches have ids from 0, partition by
    /// partition, as the generator counts them.
    pub(super) fn tell(&self, namespace: Namespace, truth: &mut Truth) {
        let mut next_id = 0;
        for partition in &self.shape.partitions {
            let is_it = partition.header.namespace == namespace;
            for segment in &partition.segments {
                if is_it {
                    self.tell_segment(namespace, segment.start, next_id, truth);
                }
                next_id += u32::try_from(segment.batches.len()).expect("an image has few batches");
            }
        }
        let next = truth.living_next();
        truth.promise(next);
    }

    fn tell_segment(&self, namespace: Namespace, start: SegmentStart, first_id: u32, truth: &mut Truth) {
        let path = format!("{}/{}", path_of(namespace), FileName::log(start));
        let log = self.tree.iter().find(|(other, _)| *other == path).and_then(|(_, bytes)| bytes.as_deref());
        let Some(log) = log else { return };
        for (id, batch) in (first_id..).zip(verified_prefix(log)) {
            let VerifiedBatch { range, base, next, .. } = batch;
            let offsets = (Offset::new(base), Offset::new(next));
            let place = (start, range.start as u64);
            truth.append(Some(BatchId(id)), offsets, place, &log[range], Life::Adopted);
        }
    }
}

fn read_below(directory: &Path, prefix: &str, tree: &mut Vec<Entry>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        let below: PathBuf = entry.path();
        if kind.is_dir() {
            read_below(&below, &format!("{path}/"), tree)?;
            tree.push((path, None));
        } else if kind.is_file() {
            tree.push((path, Some(fs::read(&below)?)));
        }
    }
    Ok(())
}

/// The first 8 hex digits of the XXH3-64 over sorted names, lengths and bytes.
fn hash_of(tree: &[Entry]) -> u32 {
    let mut hash = Xxh3Default::new();
    for (path, bytes) in tree {
        hash.update(path.as_bytes());
        hash.update(&[0]);
        if let Some(bytes) = bytes {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
    }
    u32::try_from(hash.digest() >> 32).expect("the upper half of 64 bits")
}

fn path_of(namespace: Namespace) -> String {
    let components: Vec<String> = partition_components(namespace).iter().map(Name::to_string).collect();
    components.join("/")
}

/// Puts the files of one partition where a data directory has them. Its number is that of its first batch;
/// stream and topic are nowhere in its bytes, and are 1.
fn under_a_partition(tree: Vec<Entry>) -> Vec<Entry> {
    let is_log = |path: &str| {
        Name::new(path.as_bytes()).is_some_and(|name| matches!(FileName::classify(&name), FileName::Log(_)))
    };
    let mut logs = tree.iter().filter(|(path, _)| is_log(path));
    let id =
        logs.find_map(|(_, bytes)| verified_prefix(bytes.as_deref()?).next().map(|batch| batch.partition_id));
    let partition = id.and_then(|id| u32::try_from(id).ok()).unwrap_or_default();
    let path = path_of(Namespace { stream: 1, topic: 1, partition });
    let mut moved: Vec<Entry> =
        tree.into_iter().map(|(below, bytes)| (format!("{path}/{below}"), bytes)).collect();
    moved.push((path, None));
    moved
}

/// The partitions of a data directory, each with its segments, ascending.
fn partitions(tree: &[Entry]) -> Vec<ImagePartition> {
    let mut found: Vec<(Namespace, Vec<ImageSegment>)> = Vec::new();
    for (path, bytes) in tree {
        let Some((namespace, start)) = segment_of(path) else { continue };
        let Some(log) = bytes else { continue };
        let batches = verified_prefix(log).map(|batch| ImageBatch {
            position: batch.range.start as u64,
            messages: batch.messages,
            payload_bytes: batch.smallest_payload,
        });
        let segment = ImageSegment { start, log_bytes: log.len() as u64, batches: batches.collect() };
        match found.iter_mut().find(|(other, _)| *other == namespace) {
            Some((_, segments)) => segments.push(segment),
            None => found.push((namespace, vec![segment])),
        }
    }
    found.sort_by_key(|(namespace, _)| (namespace.stream, namespace.topic, namespace.partition));
    found.into_iter().map(|(namespace, segments)| image_partition(namespace, segments)).collect()
}

fn image_partition(namespace: Namespace, mut segments: Vec<ImageSegment>) -> ImagePartition {
    segments.sort_by_key(|segment| segment.start);
    let next = |segment: &ImageSegment| {
        let messages: u64 = segment.batches.iter().map(|batch| u64::from(batch.messages)).sum();
        segment.start.get().saturating_add(messages)
    };
    let next_offset = segments.last().map_or(0, next);
    let first_offset = segments.first().map_or(Offset::ZERO, |segment| segment.start.offset());
    let header = PartitionHeader { first_offset, ..PartitionHeader::new(namespace) };
    ImagePartition { header, segments, next_offset }
}

/// Which segment's log a path is, and of which partition.
fn segment_of(path: &str) -> Option<(Namespace, SegmentStart)> {
    let parts: Vec<&str> = path.split('/').collect();
    let [_, stream, _, topic, _, partition, file] = parts[..] else { return None };
    let namespace = Namespace {
        stream: stream.parse().ok()?,
        topic: topic.parse().ok()?,
        partition: partition.parse().ok()?,
    };
    let is_right = path.strip_prefix(&path_of(namespace)).is_some_and(|rest| rest.starts_with('/'));
    match FileName::classify(&Name::new(file.as_bytes())?) {
        FileName::Log(start) if is_right => Some((namespace, start)),
        FileName::Log(_)
        | FileName::Index(_)
        | FileName::StrayLog
        | FileName::StrayIndex
        | FileName::Staging
        | FileName::Ledger
        | FileName::Superblock(_)
        | FileName::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real() -> WorldImage {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../recovery-core/tests/data/iggy-real");
        WorldImage::read(&data.join("headers/partition-0")).expect("the real partition can be read")
    }

    #[test]
    fn a_real_partition_is_known_by_its_batches() {
        let image = real();
        let [partition] = &image.shape().partitions[..] else { panic!("it is one partition") };
        assert_eq!(partition.header.namespace, Namespace { stream: 1, topic: 1, partition: 0 });
        assert_eq!((partition.next_offset, partition.segments.len()), (180, 1));
        assert_eq!(partition.segments[0].batches.len(), 30);
        assert_eq!(image.hash(), real().hash());
    }

    #[test]
    fn its_truth_is_what_verifies() {
        let mut truth = Truth::default();
        truth.reset(Offset::ZERO);
        real().tell(Namespace { stream: 1, topic: 1, partition: 0 }, &mut truth);
        assert_eq!(truth.writes().len(), 30);
        assert_eq!(truth.promised_next, Offset::new(180));
        assert_eq!(truth.find(BatchId(29)).map(|write| write.next), Some(Offset::new(180)));
    }

    #[test]
    fn what_holds_no_partition_is_no_image() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/world");
        let error = WorldImage::read(&here).expect_err("sources are no partition");
        assert!(error.ends_with("holds no partition with a segment"), "{error}");
    }
}
