//! The loops over short and interrupted transfers.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use recovery_core::storage::{Access, Call, EntryKind, Errno, LockMode, Name, Storage, StorageError, exact};

/// What the next transfer does: so many bytes at most, or this error. Without a script, all of it.
type Script = VecDeque<Result<usize, Errno>>;

/// One file in memory whose transfers follow a script.
struct Scripted {
    bytes: RefCell<Vec<u8>>,
    script: RefCell<Script>,
    calls: Cell<u32>,
}

impl Scripted {
    fn new(bytes: &[u8], script: &[Result<usize, Errno>]) -> Self {
        Self {
            bytes: RefCell::new(bytes.to_vec()),
            script: RefCell::new(script.iter().copied().collect()),
            calls: Cell::new(0),
        }
    }

    fn allowed(&self, call: Call, asked: usize) -> Result<usize, StorageError> {
        self.calls.set(self.calls.get() + 1);
        match self.script.borrow_mut().pop_front() {
            None => Ok(asked),
            Some(Ok(most)) => Ok(asked.min(most)),
            Some(Err(errno)) => Err(StorageError { call, file: file_name(), errno }),
        }
    }
}

fn file_name() -> Name {
    Name::new(b"file").unwrap()
}

impl Storage for Scripted {
    type Directory = ();
    type File = ();

    fn read(&self, (): &(), position: u64, buffer: &mut [u8]) -> Result<usize, StorageError> {
        let bytes = self.bytes.borrow();
        let rest = &bytes[bytes.len().min(usize::try_from(position).unwrap())..];
        let count = self.allowed(Call::Read, buffer.len())?.min(rest.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write(&self, (): &(), position: u64, written: &[u8]) -> Result<usize, StorageError> {
        let count = self.allowed(Call::Write, written.len())?;
        let mut bytes = self.bytes.borrow_mut();
        assert_eq!(bytes.len() as u64, position, "each write goes on where the last one ended");
        bytes.extend_from_slice(&written[..count]);
        Ok(count)
    }

    fn root(&self) -> Result<(), StorageError> {
        unreachable!()
    }
    fn open_directory(&self, (): &(), _: &Name) -> Result<(), StorageError> {
        unreachable!()
    }
    fn make_directory(&self, (): &(), _: &Name) -> Result<(), StorageError> {
        unreachable!()
    }
    fn sync_directory(&self, (): &()) -> Result<(), StorageError> {
        unreachable!()
    }
    fn list(&self, (): &(), _: &mut dyn FnMut(&Name, EntryKind)) -> Result<(), StorageError> {
        unreachable!()
    }
    fn lock(&self, (): &(), _: LockMode) -> Result<(), StorageError> {
        unreachable!()
    }
    fn open(&self, (): &(), _: &Name, _: Access) -> Result<(), StorageError> {
        unreachable!()
    }
    fn create(&self, (): &(), _: &Name) -> Result<(), StorageError> {
        unreachable!()
    }
    fn length(&self, (): &()) -> Result<u64, StorageError> {
        unreachable!()
    }
    fn set_length(&self, (): &(), _: u64) -> Result<(), StorageError> {
        unreachable!()
    }
    fn sync(&self, (): &()) -> Result<(), StorageError> {
        unreachable!()
    }
    fn drop_cache(&self, (): &()) -> Result<(), StorageError> {
        unreachable!()
    }
    fn rename(&self, (): &(), _: &Name, (): &(), _: &Name) -> Result<(), StorageError> {
        unreachable!()
    }
    fn remove(&self, (): &(), _: &Name, _: EntryKind) -> Result<(), StorageError> {
        unreachable!()
    }
    fn close(&self, (): ()) {}
    fn close_directory(&self, (): ()) {}
}

/// Reads 8 bytes at position 2 of a file of ten under `script`; shows the answer, bytes and calls.
fn check_read(script: &[Result<usize, Errno>], expected: &str) {
    let storage = Scripted::new(b"0123456789", script);
    let mut buffer = *b"--------";
    let answer = match exact::read(&storage, &(), 2, &mut buffer) {
        Ok(count) => count.to_string(),
        Err(error) => error.to_string(),
    };
    let text = String::from_utf8(buffer.to_vec()).unwrap();
    assert_eq!(format!("{answer}; {text}; {} calls", storage.calls.get()), expected);
}

/// Writes 6 bytes behind a file of two under `script`; shows the answer, the file and the calls.
fn check_write(script: &[Result<usize, Errno>], expected: &str) {
    let storage = Scripted::new(b"ab", script);
    let answer = match exact::write_all(&storage, &(), &file_name(), 2, b"cdefgh") {
        Ok(()) => "ok".to_owned(),
        Err(error) => error.to_string(),
    };
    let text = String::from_utf8(storage.bytes.borrow().clone()).unwrap();
    assert_eq!(format!("{answer}; {text}; {} calls", storage.calls.get()), expected);
}

const INTERRUPTED: Result<usize, Errno> = Err(Errno::INTERRUPTED);

#[test]
fn a_read_goes_on_after_short_and_interrupted_calls() {
    check_read(&[], "8; 23456789; 1 calls");
    check_read(&[Ok(3), Ok(1)], "8; 23456789; 3 calls");
    check_read(&[INTERRUPTED, Ok(3), INTERRUPTED, INTERRUPTED], "8; 23456789; 5 calls");
}

#[test]
fn a_read_ends_with_the_file_or_the_first_error() {
    check_read(&[Ok(3), Ok(0)], "3; 234-----; 2 calls");
    check_read(&[Ok(3), Err(Errno::IO)], "read of file failed with EIO; 234-----; 2 calls");
}

#[test]
fn a_read_of_all_says_that_the_file_was_shorter_than_known() {
    let storage = Scripted::new(b"0123", &[Ok(1)]);
    let mut buffer = [0; 4];
    assert_eq!(exact::read_all(&storage, &(), &file_name(), 0, &mut buffer), Ok(()));
    let error = exact::read_all(&storage, &(), &file_name(), 1, &mut buffer).unwrap_err();
    assert_eq!(error.to_string(), "read of file failed with ESTALE");
}

#[test]
fn a_write_goes_on_after_short_and_interrupted_calls() {
    check_write(&[], "ok; abcdefgh; 1 calls");
    check_write(&[Ok(1), INTERRUPTED, Ok(2)], "ok; abcdefgh; 4 calls");
}

#[test]
fn a_write_that_takes_nothing_is_a_full_device_and_an_error_ends_it() {
    check_write(&[Ok(4), Ok(0)], "write of file failed with ENOSPC; abcdef; 2 calls");
    check_write(&[Ok(4), Err(Errno::IO)], "write of file failed with EIO; abcdef; 2 calls");
}

/// F79.
#[test]
fn endless_interruption_is_an_answer_in_the_end() {
    let most = usize::try_from(exact::ATTEMPTS_MAX).unwrap();
    check_read(&vec![INTERRUPTED; most - 1], "8; 23456789; 1024 calls");
    check_read(&vec![INTERRUPTED; most], "read of file failed with EINTR; --------; 1024 calls");
}
