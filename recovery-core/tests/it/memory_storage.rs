//! A small storage in memory that counts and lists its calls, and fails or stops at the one a test names.
//!
//! Promises: what is visible and what is durable are kept apart, per file and per directory. Contents
//! become durable by a sync of the file, names by a sync of their directory; a cut is durable at once,
//! which is the worst that a disk may do to a copy made too late. Leaves out: caches that lie, torn
//! writes, every order in between; that is the simulator's disk.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use recovery_core::storage::{Access, Call, EntryKind, Errno, LockMode, Name, Storage, StorageError};

/// Makes a name of a literal.
pub(crate) fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).expect("a test name is one component")
}

/// What goes wrong, and when. Calls are counted from 1, over the calls that `counts` picks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// That call fails, without effect, and no other.
    Once(u64, Errno),
    /// That call and the next one fail, without effect, and no other.
    Twice(u64, Errno),
    /// That call has its effect, and the process never gets to another one.
    CrashAfter(u64),
    /// That call, if it is a read, returns other bytes than lie there, and no other does.
    Misread(u64),
}

#[derive(Clone)]
enum Node {
    File { visible: Vec<u8>, durable: Vec<u8> },
    Directory { visible: BTreeMap<Name, usize>, durable: BTreeMap<Name, usize> },
}

/// An open file or directory.
pub(crate) struct Handle {
    node: usize,
    path: String,
    access: Access,
}

/// The storage. Its root is node 0.
#[derive(Clone)]
pub(crate) struct MemoryStorage {
    nodes: RefCell<Vec<Node>>,
    calls: RefCell<Vec<(Call, String)>>,
    fault: Cell<Option<Fault>>,
    seen: Cell<u64>,
    open: Cell<i64>,
    transfer_max: Cell<usize>,
    rotten: RefCell<Option<String>>,
    unreadable: RefCell<Option<String>>,
    bytes_read: Cell<u64>,
    is_listing: Cell<bool>,
}

impl MemoryStorage {
    pub(crate) fn new() -> Self {
        let root = Node::Directory { visible: BTreeMap::new(), durable: BTreeMap::new() };
        Self {
            nodes: RefCell::new(vec![root]),
            calls: RefCell::default(),
            fault: Cell::new(None),
            seen: Cell::new(0),
            open: Cell::new(0),
            transfer_max: Cell::new(usize::MAX),
            rotten: RefCell::default(),
            unreadable: RefCell::default(),
            bytes_read: Cell::new(0),
            is_listing: Cell::new(true),
        }
    }

    /// Puts a file there, durably, with the directories above it. No call is counted.
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        let (above, file) = path.rsplit_once('/').unwrap_or(("", path));
        let parent = self.put_directory(above);
        let node = self.add(Node::File { visible: bytes.to_vec(), durable: bytes.to_vec() });
        self.link(parent, file, node);
    }

    /// Puts a directory there, durably, with those above it.
    pub(crate) fn put_directory(&self, path: &str) -> usize {
        path.split('/').filter(|component| !component.is_empty()).fold(0, |parent, component| {
            let found = match &self.nodes.borrow()[parent] {
                Node::Directory { visible, .. } => visible.get(&name(component)).copied(),
                Node::File { .. } => panic!("{path} leads through a file"),
            };
            found.unwrap_or_else(|| {
                let empty = Node::Directory { visible: BTreeMap::new(), durable: BTreeMap::new() };
                let node = self.add(empty);
                self.link(parent, component, node);
                node
            })
        })
    }

    fn add(&self, node: Node) -> usize {
        self.nodes.borrow_mut().push(node);
        self.nodes.borrow().len() - 1
    }

    fn link(&self, parent: usize, component: &str, node: usize) {
        match &mut self.nodes.borrow_mut()[parent] {
            Node::Directory { visible, durable } => {
                visible.insert(name(component), node);
                durable.insert(name(component), node);
            }
            Node::File { .. } => panic!("{component} lies in a file"),
        }
    }

    /// Takes an entry away, durably. No call is counted.
    pub(crate) fn take_away(&self, path: &str) {
        let (above, entry) = path.rsplit_once('/').unwrap_or(("", path));
        let parent = self.put_directory(above);
        match &mut self.nodes.borrow_mut()[parent] {
            Node::Directory { visible, durable } => {
                assert!(visible.remove(&name(entry)).is_some(), "{path} is there");
                durable.remove(&name(entry));
            }
            Node::File { .. } => panic!("{path} leads through a file"),
        }
    }

    /// Every visible file by its path.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let nodes = self.nodes.borrow();
        let mut files = BTreeMap::new();
        let mut left = vec![(String::new(), 0)];
        while let Some((path, node)) = left.pop() {
            match &nodes[node] {
                Node::File { visible, .. } => {
                    files.insert(path, visible.clone());
                }
                Node::Directory { visible, .. } => {
                    let slash = if path.is_empty() { "" } else { "/" };
                    left.extend(visible.iter().map(|(name, node)| (format!("{path}{slash}{name}"), *node)));
                }
            }
        }
        files
    }

    /// Takes a file away, durably. No call is counted.
    pub(crate) fn take(&self, path: &str) {
        let (above, file) = path.rsplit_once('/').unwrap_or(("", path));
        let parent = self.put_directory(above);
        match &mut self.nodes.borrow_mut()[parent] {
            Node::Directory { visible, durable } => {
                visible.remove(&name(file));
                durable.remove(&name(file));
            }
            Node::File { .. } => panic!("{file} lies in a file"),
        }
    }

    /// Lets a file that is there hold other bytes, none of them durable.
    pub(crate) fn write_unsynced(&self, path: &str, bytes: &[u8]) {
        self.put(path, bytes);
        match self.nodes.borrow_mut().last_mut() {
            Some(Node::File { durable, .. }) => durable.clear(),
            Some(Node::Directory { .. }) | None => panic!("{path} was put there last"),
        }
    }

    /// Every call since the last [`MemoryStorage::start`], one a line.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = self.calls.borrow();
        calls.iter().map(|(call, path)| format!("{} {path}", call.code())).collect()
    }

    /// The changing calls since the last [`MemoryStorage::start`], one a line.
    pub(crate) fn changes(&self) -> Vec<String> {
        let calls = self.calls.borrow();
        let changing = calls.iter().filter(|(call, _)| call.is_mutating());
        changing.map(|(call, path)| format!("{} {path}", call.code())).collect()
    }

    /// How many calls were made since the last [`MemoryStorage::start`].
    pub(crate) fn call_count(&self) -> u64 {
        self.calls.borrow().len() as u64
    }

    /// How many calls were asked for since then, whatever became of them.
    pub(crate) fn attempts(&self) -> u64 {
        self.seen.get()
    }

    /// How many bytes reads returned since the last [`MemoryStorage::start`].
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read.get()
    }

    /// Lists no calls from now on, so that they take no memory; they are still counted for a fault.
    pub(crate) fn stop_listing(&self) {
        self.is_listing.set(false);
    }

    /// How many handles are open.
    pub(crate) fn open_handles(&self) -> i64 {
        self.open.get()
    }

    /// Starts a new process: forgets its calls and handles, and arms `fault`.
    pub(crate) fn start(&self, fault: Option<Fault>) {
        self.calls.borrow_mut().clear();
        self.seen.set(0);
        self.bytes_read.set(0);
        self.open.set(0);
        self.fault.set(fault);
    }

    /// Forgets the calls so far and arms `fault`; what is open stays open.
    pub(crate) fn start_again(&self, fault: Option<Fault>) {
        let open = self.open.get();
        self.start(fault);
        self.open.set(open);
    }

    /// Lets no read or write move more than `bytes` at once.
    pub(crate) fn limit_transfers(&self, bytes: usize) {
        self.transfer_max.set(bytes);
    }

    /// Lets the medium hold another last byte than the cache, in every file whose path ends so: reads see
    /// it once the cache is dropped.
    pub(crate) fn rot_under_the_cache(&self, ending: &str) {
        self.rotten.replace(Some(ending.to_owned()));
    }

    /// Lets every read of the file at `path` fail, or of none.
    pub(crate) fn make_unreadable(&self, path: Option<&str>) {
        self.unreadable.replace(path.map(str::to_owned));
    }

    /// Takes the power away: only what is durable is left.
    pub(crate) fn lose_power(&self) {
        for node in self.nodes.borrow_mut().iter_mut() {
            match node {
                Node::File { visible, durable } => visible.clone_from(durable),
                Node::Directory { visible, durable } => visible.clone_from(durable),
            }
        }
    }

    /// Counts a call that is about to be made.
    fn enter(&self, call: Call, path: &str) -> Result<(), StorageError> {
        let file = path.rsplit(['/', ' ']).next().filter(|last| !last.is_empty()).unwrap_or("root");
        let fail = |errno| Err(StorageError { call, file: name(file), errno });
        self.seen.set(self.seen.get() + 1);
        match self.fault.get() {
            Some(Fault::Once(at, errno)) if at == self.seen.get() => return fail(errno),
            Some(Fault::Twice(at, errno)) if (at..=at + 1).contains(&self.seen.get()) => return fail(errno),
            Some(Fault::CrashAfter(at)) if at < self.seen.get() => return fail(Errno::IO),
            Some(Fault::Once(..) | Fault::Twice(..) | Fault::CrashAfter(..) | Fault::Misread(_)) | None => {}
        }
        if self.is_listing.get() {
            self.calls.borrow_mut().push((call, path.to_owned()));
        }
        Ok(())
    }

    fn handle(&self, node: usize, path: String, access: Access) -> Handle {
        self.open.set(self.open.get() + 1);
        Handle { node, path, access }
    }

    fn look_up(&self, call: Call, parent: &Handle, file: &Name) -> Result<usize, StorageError> {
        match &self.nodes.borrow()[parent.node] {
            Node::Directory { visible, .. } => {
                visible.get(file).copied().ok_or(StorageError { call, file: *file, errno: Errno::NOT_FOUND })
            }
            Node::File { .. } => panic!("{} is no directory", parent.path),
        }
    }

    fn is_directory(&self, node: usize) -> bool {
        matches!(self.nodes.borrow()[node], Node::Directory { .. })
    }

    fn entries<T>(&self, directory: &Handle, change: impl FnOnce(&mut BTreeMap<Name, usize>) -> T) -> T {
        match &mut self.nodes.borrow_mut()[directory.node] {
            Node::Directory { visible, .. } => change(visible),
            Node::File { .. } => panic!("{} is no directory", directory.path),
        }
    }

    fn contents<T>(&self, file: &Handle, change: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>) -> T) -> T {
        match &mut self.nodes.borrow_mut()[file.node] {
            Node::File { visible, durable } => change(visible, durable),
            Node::Directory { .. } => panic!("{} is a directory", file.path),
        }
    }
}

fn join(parent: &Handle, name: &Name) -> String {
    if parent.path.is_empty() { name.to_string() } else { format!("{}/{name}", parent.path) }
}

impl Storage for MemoryStorage {
    type Directory = Handle;
    type File = Handle;

    fn root(&self) -> Result<Handle, StorageError> {
        self.enter(Call::Open, "")?;
        Ok(self.handle(0, String::new(), Access::Read))
    }

    fn open_directory(&self, parent: &Handle, name: &Name) -> Result<Handle, StorageError> {
        self.enter(Call::Open, &join(parent, name))?;
        let node = self.look_up(Call::Open, parent, name)?;
        if !self.is_directory(node) {
            return Err(StorageError { call: Call::Open, file: *name, errno: Errno::NOT_A_DIRECTORY });
        }
        Ok(self.handle(node, join(parent, name), Access::Read))
    }

    fn make_directory(&self, parent: &Handle, name: &Name) -> Result<(), StorageError> {
        self.enter(Call::MakeDirectory, &join(parent, name))?;
        if self.look_up(Call::MakeDirectory, parent, name).is_ok() {
            return Err(StorageError { call: Call::MakeDirectory, file: *name, errno: Errno::EXISTS });
        }
        let node = self.add(Node::Directory { visible: BTreeMap::new(), durable: BTreeMap::new() });
        self.entries(parent, |entries| entries.insert(*name, node));
        Ok(())
    }

    fn sync_directory(&self, directory: &Handle) -> Result<(), StorageError> {
        self.enter(Call::SyncDirectory, &directory.path)?;
        match &mut self.nodes.borrow_mut()[directory.node] {
            Node::Directory { visible, durable } => durable.clone_from(visible),
            Node::File { .. } => panic!("{} is no directory", directory.path),
        }
        Ok(())
    }

    fn list(&self, directory: &Handle, visit: &mut dyn FnMut(&Name, EntryKind)) -> Result<(), StorageError> {
        self.enter(Call::List, &directory.path)?;
        let entries = self.entries(directory, |entries| entries.clone());
        // Backwards, since no caller may rely on an order.
        for (name, node) in entries.iter().rev() {
            visit(name, if self.is_directory(*node) { EntryKind::Directory } else { EntryKind::File });
        }
        Ok(())
    }

    fn lock(&self, directory: &Handle, _mode: LockMode) -> Result<(), StorageError> {
        self.enter(Call::Lock, &directory.path)
    }

    fn open(&self, directory: &Handle, name: &Name, access: Access) -> Result<Handle, StorageError> {
        self.enter(Call::Open, &join(directory, name))?;
        let node = self.look_up(Call::Open, directory, name)?;
        if self.is_directory(node) {
            return Err(StorageError { call: Call::Open, file: *name, errno: Errno::IS_A_DIRECTORY });
        }
        Ok(self.handle(node, join(directory, name), access))
    }

    fn create(&self, directory: &Handle, name: &Name) -> Result<Handle, StorageError> {
        self.enter(Call::Create, &join(directory, name))?;
        if self.look_up(Call::Create, directory, name).is_ok() {
            return Err(StorageError { call: Call::Create, file: *name, errno: Errno::EXISTS });
        }
        let node = self.add(Node::File { visible: Vec::new(), durable: Vec::new() });
        self.entries(directory, |entries| entries.insert(*name, node));
        Ok(self.handle(node, join(directory, name), Access::ReadWrite))
    }

    fn read(&self, file: &Handle, position: u64, buffer: &mut [u8]) -> Result<usize, StorageError> {
        self.enter(Call::Read, &file.path)?;
        if self.unreadable.borrow().as_ref() == Some(&file.path) {
            let last = file.path.rsplit('/').next().unwrap_or_default();
            return Err(StorageError { call: Call::Read, file: name(last), errno: Errno::IO });
        }
        Ok(self.contents(file, |visible, _| {
            let from = visible.len().min(usize::try_from(position).expect("small files"));
            let count = buffer.len().min(visible.len() - from).min(self.transfer_max.get());
            buffer[..count].copy_from_slice(&visible[from..from + count]);
            if self.fault.get() == Some(Fault::Misread(self.seen.get())) {
                buffer[..count].iter_mut().for_each(|byte| *byte ^= 0x55);
            }
            self.bytes_read.set(self.bytes_read.get() + count as u64);
            count
        }))
    }

    fn write(&self, file: &Handle, position: u64, bytes: &[u8]) -> Result<usize, StorageError> {
        assert_eq!(file.access, Access::ReadWrite, "{} is open for reading only", file.path);
        self.enter(Call::Write, &file.path)?;
        Ok(self.contents(file, |visible, _| {
            let from = usize::try_from(position).expect("small files");
            let count = bytes.len().min(self.transfer_max.get());
            if visible.len() < from + count {
                visible.resize(from + count, 0);
            }
            visible[from..from + count].copy_from_slice(&bytes[..count]);
            count
        }))
    }

    fn length(&self, file: &Handle) -> Result<u64, StorageError> {
        self.enter(Call::Length, &file.path)?;
        Ok(self.contents(file, |visible, _| visible.len() as u64))
    }

    fn set_length(&self, file: &Handle, length: u64) -> Result<(), StorageError> {
        assert_eq!(file.access, Access::ReadWrite, "{} is open for reading only", file.path);
        self.enter(Call::SetLength, &file.path)?;
        self.contents(file, |visible, durable| {
            let length = usize::try_from(length).expect("small files");
            visible.resize(length, 0);
            durable.truncate(length);
        });
        Ok(())
    }

    fn sync(&self, file: &Handle) -> Result<(), StorageError> {
        self.enter(Call::Sync, &file.path)?;
        self.contents(file, |visible, durable| durable.clone_from(visible));
        Ok(())
    }

    fn drop_cache(&self, file: &Handle) -> Result<(), StorageError> {
        self.enter(Call::DropCache, &file.path)?;
        if self.rotten.borrow().as_ref().is_some_and(|ending| file.path.ends_with(ending)) {
            self.contents(file, |visible, _| *visible.last_mut().expect("a file to rot") ^= 1);
        }
        Ok(())
    }

    fn rename(
        &self,
        from_directory: &Handle,
        from: &Name,
        to_directory: &Handle,
        to: &Name,
    ) -> Result<(), StorageError> {
        let (source, target) = (join(from_directory, from), join(to_directory, to));
        self.enter(Call::Rename, &format!("{source} -> {target}"))?;
        let node = self.look_up(Call::Rename, from_directory, from)?;
        self.entries(from_directory, |entries| entries.remove(from));
        self.entries(to_directory, |entries| entries.insert(*to, node));
        Ok(())
    }

    fn remove(&self, directory: &Handle, name: &Name, _kind: EntryKind) -> Result<(), StorageError> {
        self.enter(Call::Remove, &join(directory, name))?;
        self.look_up(Call::Remove, directory, name)?;
        self.entries(directory, |entries| entries.remove(name));
        Ok(())
    }

    fn close(&self, _file: Handle) {
        self.open.set(self.open.get() - 1);
    }

    fn close_directory(&self, _directory: Handle) {
        self.open.set(self.open.get() - 1);
    }
}
