//! A data directory in memory that records every call, fails the calls a test names, and can lose power.
//!
//! Promises: a file's contents are durable as of its last sync, a directory's names as of its last
//! directory sync, and a power cut keeps that, or that and part of the rest; what a failed sync lost stays
//! lost. Leaves out: stale blocks, lies and rot, which are the simulated disk's part.

use std::cell::RefCell;
use std::collections::BTreeMap;

use recovery_core::storage::{
    Access, Call, EntryKind, Errno, LockMode, Name, PartitionDirectory, Storage, StorageError,
};

/// What happens to one call instead of its work.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// It fails without effect.
    Error(Errno),
    /// It writes so many bytes and says so.
    Short(usize),
}

#[derive(Clone)]
enum Node {
    File(Contents),
    Directory { entries: BTreeMap<Name, usize>, durable: BTreeMap<Name, usize> },
}

/// The bytes of one file.
#[derive(Clone, Default)]
struct Contents {
    /// What reads see.
    bytes: Vec<u8>,
    /// What a power cut leaves.
    durable: Vec<u8>,
    /// What a failed sync left clean in the cache though it never reached the medium. No later sync
    /// writes it, and a dropped cache forgets it (FAULT_MODEL 2.6).
    lost: Vec<u8>,
}

impl Contents {
    fn on_medium(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), durable: bytes.to_vec(), lost: Vec::new() }
    }

    /// What the medium has once all that is dirty was written.
    fn written_back(&self) -> Vec<u8> {
        let mut medium = self.bytes.clone();
        for (at, byte) in medium.iter_mut().enumerate() {
            if self.lost.get(at) == Some(byte) {
                *byte = self.durable.get(at).copied().unwrap_or(0);
            }
        }
        medium
    }

    fn sync(&mut self) {
        self.durable = self.written_back();
    }

    fn fail_sync(&mut self) {
        self.lost.clone_from(&self.bytes);
    }

    fn drop_cache(&mut self) {
        self.bytes = self.written_back();
        self.lost.clear();
    }

    /// Leaves what is durable, all that could have been written back, or a prefix of that which has what
    /// is durable.
    fn tear(&mut self, pick: &mut dyn FnMut(u64) -> u64) {
        let mut medium = self.written_back();
        match pick(3) {
            0 => medium.clone_from(&self.durable),
            1 => {}
            _ => {
                let least = self.durable.len().min(medium.len());
                let more = pick((medium.len() - least) as u64 + 1);
                medium.truncate(least + usize::try_from(more).unwrap());
            }
        }
        *self = Self::on_medium(&medium);
    }
}

#[derive(Clone, Default)]
struct State {
    nodes: Vec<Node>,
    calls: Vec<String>,
    counted: u64,
    faults: BTreeMap<u64, Fault>,
    open: u64,
}

/// The data directory.
pub(crate) struct RecordingStorage(RefCell<State>);

/// An open file or directory.
pub(crate) struct Handle {
    node: usize,
    name: Name,
}

impl RecordingStorage {
    /// An empty data directory.
    pub(crate) fn new() -> Self {
        let root = Node::Directory { entries: BTreeMap::new(), durable: BTreeMap::new() };
        Self(RefCell::new(State { nodes: vec![root], ..State::default() }))
    }

    /// Fails call `k`, counted from 1 from now on, with each of `faults` for it and its successors.
    pub(crate) fn arm(&self, k: u64, faults: &[Fault]) {
        let mut state = self.0.borrow_mut();
        state.counted = 0;
        state.faults = (k..).zip(faults.iter().copied()).collect();
    }

    /// Fails one more call, counted as [`RecordingStorage::arm`] counts.
    pub(crate) fn arm_also(&self, k: u64, fault: Fault) {
        self.0.borrow_mut().faults.insert(k, fault);
    }

    /// Lets every call through again; says whether an armed fault was never reached.
    pub(crate) fn disarm(&self) -> bool {
        let mut state = self.0.borrow_mut();
        !std::mem::take(&mut state.faults).is_empty()
    }

    /// The calls since this was last asked, one a line.
    pub(crate) fn take_calls(&self) -> String {
        let mut calls = std::mem::take(&mut self.0.borrow_mut().calls).join("\n");
        calls.push('\n');
        calls
    }

    /// How many handles are open.
    pub(crate) fn open_handles(&self) -> u64 {
        self.0.borrow().open
    }

    /// What a start after a power cut finds: contents as of the last sync, names as of the last directory
    /// sync.
    pub(crate) fn after_power_cut(&self) -> Self {
        let mut state = self.0.borrow().clone();
        for node in &mut state.nodes {
            match node {
                Node::File(contents) => *contents = Contents::on_medium(&contents.durable),
                Node::Directory { entries, durable } => entries.clone_from(durable),
            }
        }
        (state.calls, state.faults, state.open) = (Vec::new(), BTreeMap::new(), 0);
        Self(RefCell::new(state))
    }

    /// What a start after a power cut may find as well: of each file's contents and of each name, `pick`
    /// says how much of what no sync has covered is there. It is asked for a number below the one given.
    pub(crate) fn after_torn_power_cut(&self, pick: &mut dyn FnMut(u64) -> u64) -> Self {
        let mut state = self.0.borrow().clone();
        for node in &mut state.nodes {
            match node {
                Node::File(contents) => contents.tear(pick),
                Node::Directory { entries, durable } => tear_names(entries, durable, pick),
            }
        }
        (state.calls, state.faults, state.open) = (Vec::new(), BTreeMap::new(), 0);
        Self(RefCell::new(state))
    }

    /// Makes a partition directory `1/1/1` spelt as one component, durably.
    pub(crate) fn partition(&self) -> PartitionDirectory<Self> {
        let name = name("partition");
        let root = self.root().unwrap();
        match self.make_directory(&root, &name) {
            Ok(()) => self.sync_directory(&root).unwrap(),
            Err(error) => assert_eq!(error.errno, Errno::EXISTS),
        }
        self.close_directory(root);
        PartitionDirectory::open(self, &[name]).unwrap()
    }

    /// The names in the partition directory, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let state = self.0.borrow();
        state.entries(state.partition_node()).keys().map(short).collect()
    }

    /// The bytes of a file in the partition directory.
    pub(crate) fn bytes(&self, file: &Name) -> Option<Vec<u8>> {
        let state = self.0.borrow();
        let node = *state.entries(state.partition_node()).get(file)?;
        match &state.nodes[node] {
            Node::File(contents) => Some(contents.bytes.clone()),
            Node::Directory { .. } => panic!("{file} is a directory"),
        }
    }

    /// Puts a file into the partition directory by hand, durably.
    pub(crate) fn put(&self, file: &Name, contents: &[u8]) {
        let mut state = self.0.borrow_mut();
        let node = state.nodes.len();
        state.nodes.push(Node::File(Contents::on_medium(contents)));
        let directory = state.partition_node();
        let Node::Directory { entries, durable } = &mut state.nodes[directory] else {
            panic!("the partition is a directory")
        };
        entries.insert(*file, node);
        durable.insert(*file, node);
    }

    fn begin(&self, call: Call, file: &Name, text: &str) -> Result<Option<usize>, StorageError> {
        let mut state = self.0.borrow_mut();
        let shown = format!("{} {}{text}", call.code(), short(file));
        state.counted += 1;
        let count = state.counted;
        match state.faults.remove(&count) {
            Some(Fault::Error(errno)) => {
                state.calls.push(format!("{shown}: {errno}"));
                Err(StorageError { call, file: *file, errno })
            }
            Some(Fault::Short(bytes)) if call == Call::Write => {
                state.calls.push(format!("{shown}: {bytes} taken"));
                Ok(Some(bytes))
            }
            Some(Fault::Short(_)) | None => {
                state.calls.push(shown);
                Ok(None)
            }
        }
    }

    /// A call through a handle, shown with the name that its file has now.
    fn begin_open(&self, call: Call, file: &Handle, text: &str) -> Result<Option<usize>, StorageError> {
        let state = self.0.borrow();
        let named = |node: &Node| match node {
            Node::File(_) => None,
            Node::Directory { entries, .. } => {
                entries.iter().find(|(_, node)| **node == file.node).map(|(name, _)| *name)
            }
        };
        let name = state.nodes.iter().find_map(named).unwrap_or(file.name);
        drop(state);
        self.begin(call, &name, text)
    }

    fn find(&self, call: Call, directory: &Handle, file: &Name) -> Result<usize, StorageError> {
        let state = self.0.borrow();
        state.entries(directory.node).get(file).copied().ok_or(StorageError {
            call,
            file: *file,
            errno: Errno::NOT_FOUND,
        })
    }

    fn handle(&self, node: usize, name: Name) -> Handle {
        self.0.borrow_mut().open += 1;
        Handle { node, name }
    }

    fn add(&self, call: Call, parent: &Handle, file: &Name, node: Node) -> Result<usize, StorageError> {
        let mut state = self.0.borrow_mut();
        let index = state.nodes.len();
        let entries = state.entries_mut(parent.node);
        if entries.contains_key(file) {
            return Err(StorageError { call, file: *file, errno: Errno::EXISTS });
        }
        entries.insert(*file, index);
        state.nodes.push(node);
        Ok(index)
    }

    fn with_file<T>(&self, file: &Handle, work: impl FnOnce(&mut Contents) -> T) -> T {
        match &mut self.0.borrow_mut().nodes[file.node] {
            Node::File(contents) => work(contents),
            Node::Directory { .. } => panic!("{} is a directory", file.name),
        }
    }
}

impl State {
    fn partition_node(&self) -> usize {
        *self.entries(0).values().next().expect("the partition directory was made")
    }

    fn entries(&self, node: usize) -> &BTreeMap<Name, usize> {
        match &self.nodes[node] {
            Node::Directory { entries, .. } => entries,
            Node::File(_) => panic!("a file has no entries"),
        }
    }

    fn entries_mut(&mut self, node: usize) -> &mut BTreeMap<Name, usize> {
        match &mut self.nodes[node] {
            Node::Directory { entries, .. } => entries,
            Node::File(_) => panic!("a file has no entries"),
        }
    }
}

fn tear_names(
    entries: &mut BTreeMap<Name, usize>,
    durable: &mut BTreeMap<Name, usize>,
    pick: &mut dyn FnMut(u64) -> u64,
) {
    let names: Vec<Name> = entries.keys().chain(durable.keys()).copied().collect();
    for name in names {
        let is_kept = entries.get(&name) == durable.get(&name) || pick(2) == 0;
        if is_kept {
            continue;
        }
        match durable.get(&name) {
            Some(node) => entries.insert(name, *node),
            None => entries.remove(&name),
        };
    }
    durable.clone_from(entries);
}

/// A name that a test spells.
pub(crate) fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).unwrap()
}

/// A segment's name without its leading zeros: `0.log`.
fn short(name: &Name) -> String {
    let text = name.to_string();
    match text.split_once('.') {
        Some((stem, suffix)) if stem.len() == 20 => {
            format!("{}.{suffix}", stem.parse::<u64>().unwrap())
        }
        Some(_) | None => text,
    }
}

impl Storage for RecordingStorage {
    type Directory = Handle;
    type File = Handle;

    fn root(&self) -> Result<Handle, StorageError> {
        let root = name("root");
        self.begin(Call::Open, &root, "")?;
        Ok(self.handle(0, root))
    }

    fn open_directory(&self, parent: &Handle, name: &Name) -> Result<Handle, StorageError> {
        self.begin(Call::Open, name, "")?;
        let node = self.find(Call::Open, parent, name)?;
        Ok(self.handle(node, *name))
    }

    fn make_directory(&self, parent: &Handle, name: &Name) -> Result<(), StorageError> {
        self.begin(Call::MakeDirectory, name, "")?;
        let node = Node::Directory { entries: BTreeMap::new(), durable: BTreeMap::new() };
        self.add(Call::MakeDirectory, parent, name, node).map(|_| ())
    }

    fn sync_directory(&self, directory: &Handle) -> Result<(), StorageError> {
        self.begin_open(Call::SyncDirectory, directory, "")?;
        match &mut self.0.borrow_mut().nodes[directory.node] {
            Node::Directory { entries, durable } => durable.clone_from(entries),
            Node::File(_) => panic!("{} is a file", directory.name),
        }
        Ok(())
    }

    fn list(&self, directory: &Handle, visit: &mut dyn FnMut(&Name, EntryKind)) -> Result<(), StorageError> {
        self.begin_open(Call::List, directory, "")?;
        let state = self.0.borrow();
        for (name, node) in state.entries(directory.node) {
            match &state.nodes[*node] {
                Node::File(_) => visit(name, EntryKind::File),
                Node::Directory { .. } => visit(name, EntryKind::Directory),
            }
        }
        Ok(())
    }

    fn lock(&self, directory: &Handle, _mode: LockMode) -> Result<(), StorageError> {
        self.begin_open(Call::Lock, directory, "").map(|_| ())
    }

    fn open(&self, directory: &Handle, name: &Name, _access: Access) -> Result<Handle, StorageError> {
        self.begin(Call::Open, name, "")?;
        let node = self.find(Call::Open, directory, name)?;
        Ok(self.handle(node, *name))
    }

    fn create(&self, directory: &Handle, name: &Name) -> Result<Handle, StorageError> {
        self.begin(Call::Create, name, "")?;
        let node = Node::File(Contents::default());
        let node = self.add(Call::Create, directory, name, node)?;
        Ok(self.handle(node, *name))
    }

    fn read(&self, file: &Handle, position: u64, buffer: &mut [u8]) -> Result<usize, StorageError> {
        self.begin_open(Call::Read, file, "")?;
        self.with_file(file, |Contents { bytes, .. }| {
            let rest = bytes.get(usize::try_from(position).unwrap()..).unwrap_or(&[]);
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        })
    }

    fn write(&self, file: &Handle, position: u64, bytes: &[u8]) -> Result<usize, StorageError> {
        let short = self.begin_open(Call::Write, file, &format!(" at {position} +{}", bytes.len()))?;
        let count = short.map_or(bytes.len(), |count| count.min(bytes.len()));
        let from = usize::try_from(position).unwrap();
        self.with_file(file, |Contents { bytes: contents, .. }| {
            if contents.len() < from + count {
                contents.resize(from + count, 0);
            }
            contents[from..from + count].copy_from_slice(&bytes[..count]);
        });
        Ok(count)
    }

    fn length(&self, file: &Handle) -> Result<u64, StorageError> {
        self.begin_open(Call::Length, file, "")?;
        Ok(self.with_file(file, |contents| contents.bytes.len() as u64))
    }

    fn set_length(&self, file: &Handle, length: u64) -> Result<(), StorageError> {
        self.begin_open(Call::SetLength, file, &format!(" {length}"))?;
        self.with_file(file, |contents| contents.bytes.resize(usize::try_from(length).unwrap(), 0));
        Ok(())
    }

    fn sync(&self, file: &Handle) -> Result<(), StorageError> {
        let begun = self.begin_open(Call::Sync, file, "");
        self.with_file(file, |contents| match begun {
            Ok(_) => contents.sync(),
            Err(_) => contents.fail_sync(),
        });
        begun.map(|_| ())
    }

    fn drop_cache(&self, file: &Handle) -> Result<(), StorageError> {
        self.begin_open(Call::DropCache, file, "")?;
        self.with_file(file, Contents::drop_cache);
        Ok(())
    }

    fn rename(
        &self,
        from_directory: &Handle,
        from: &Name,
        to_directory: &Handle,
        to: &Name,
    ) -> Result<(), StorageError> {
        self.begin(Call::Rename, from, &format!(" to {to}"))?;
        let node = self.find(Call::Rename, from_directory, from)?;
        let mut state = self.0.borrow_mut();
        state.entries_mut(from_directory.node).remove(from);
        state.entries_mut(to_directory.node).insert(*to, node);
        Ok(())
    }

    fn remove(&self, directory: &Handle, name: &Name, _kind: EntryKind) -> Result<(), StorageError> {
        self.begin(Call::Remove, name, "")?;
        self.find(Call::Remove, directory, name)?;
        self.0.borrow_mut().entries_mut(directory.node).remove(name);
        Ok(())
    }

    fn close(&self, _file: Handle) {
        self.0.borrow_mut().open -= 1;
    }

    fn close_directory(&self, _directory: Handle) {
        self.0.borrow_mut().open -= 1;
    }
}
