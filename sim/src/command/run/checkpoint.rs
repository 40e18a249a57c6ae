//! How far a run has come, kept on disk so that a kill at any moment loses the seeds in flight and no more.
//!
//! Two files are written in turn, in place: while one is being written the other is whole. Each holds a head
//! (number, length, hash) and the lines that would end the run if it ended now. The newest that fits its hash
//! counts. Promises: a checkpoint never counts a failing seed whose line is not in `run.jsonl` already; that
//! is up to whoever writes both. Leaves out: power loss, after which a run may have to begin anew.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a head: two numbers of 20 digits and one of 16, each with what stands behind it.
const HEAD: usize = 59;

/// The two files of a run.
#[derive(Debug)]
pub(super) struct Checkpoint {
    files: [File; 2],
    number: u64,
    /// Kept, so that writing allocates nothing.
    buffer: Vec<u8>,
}

fn paths(directory: &Path) -> [PathBuf; 2] {
    ["checkpoint.0", "checkpoint.1"].map(|name| directory.join(name))
}

impl Checkpoint {
    /// Begins a run that has no checkpoint yet: what another one left is gone.
    pub(super) fn begin(directory: &Path) -> io::Result<Self> {
        let [left, right] = paths(directory);
        Ok(Self { files: [File::create(left)?, File::create(right)?], number: 0, buffer: Vec::new() })
    }

    /// Goes on with a run: its newest checkpoint stays until the next one is whole.
    pub(super) fn go_on(directory: &Path) -> io::Result<Self> {
        let open = |path| OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let [left, right] = paths(directory);
        let number = newest(directory)?.map_or(0, |(number, _)| number);
        Ok(Self { files: [open(left)?, open(right)?], number, buffer: Vec::new() })
    }

    /// Keeps what `lines` writes.
    pub(super) fn keep(&mut self, lines: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
        self.number += 1;
        self.buffer.clear();
        self.buffer.resize(HEAD, b' ');
        lines(&mut self.buffer)?;
        let (length, hash) = (self.buffer.len() - HEAD, xxh3_64(&self.buffer[HEAD..]));
        let head = format!("{:020} {length:020} {hash:016x}\n", self.number);
        self.buffer[..HEAD].copy_from_slice(head.as_bytes());
        let file = &mut self.files[usize::from(self.number.is_multiple_of(2))];
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&self.buffer)
    }
}

/// The lines of the newest checkpoint of a run; `None` if there is no whole one.
pub(super) fn read(directory: &Path) -> io::Result<Option<String>> {
    Ok(newest(directory)?.map(|(_, lines)| lines))
}

fn newest(directory: &Path) -> io::Result<Option<(u64, String)>> {
    let mut newest: Option<(u64, String)> = None;
    for path in paths(directory) {
        let mut bytes = Vec::new();
        match File::open(path) {
            Ok(mut file) => file.read_to_end(&mut bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if let Some((number, lines)) = decode(&bytes)
            && newest.as_ref().is_none_or(|(before, _)| *before < number)
        {
            newest = Some((number, lines.to_owned()));
        }
    }
    Ok(newest)
}

/// The number and the lines of a file that fits its hash.
fn decode(bytes: &[u8]) -> Option<(u64, &str)> {
    let head = std::str::from_utf8(bytes.get(..HEAD)?).ok()?;
    let mut words = head.split_whitespace();
    let (number, length) = (words.next()?.parse().ok()?, words.next()?.parse::<usize>().ok()?);
    let hash = u64::from_str_radix(words.next()?, 16).ok()?;
    let lines = bytes.get(HEAD..HEAD.checked_add(length)?)?;
    if xxh3_64(lines) != hash {
        return None;
    }
    Some((number, std::str::from_utf8(lines).ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn keep(checkpoint: &mut Checkpoint, text: &str) {
        checkpoint.keep(|lines| lines.write_all(text.as_bytes())).expect("it takes a file");
    }

    #[test]
    fn the_newest_whole_one_counts() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path();
        assert_eq!(read(path).expect("it reads"), None);
        let mut checkpoint = Checkpoint::begin(path).expect("it takes files");
        for text in ["first, and long", "second", "third"] {
            keep(&mut checkpoint, text);
            assert_eq!(read(path).expect("it reads").as_deref(), Some(text));
        }
        let mut again = Checkpoint::go_on(path).expect("it takes files");
        keep(&mut again, "fourth");
        assert_eq!(read(path).expect("it reads").as_deref(), Some("fourth"));
    }

    #[test]
    fn a_half_written_one_leaves_the_one_before_it() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path();
        let mut checkpoint = Checkpoint::begin(path).expect("it takes files");
        for text in ["first", "second", "third"] {
            keep(&mut checkpoint, text);
        }
        let newest = path.join("checkpoint.0");
        let whole = fs::read(&newest).expect("it is there");
        for length in 0..whole.len() {
            fs::write(&newest, &whole[..length]).expect("it takes bytes");
            assert_eq!(read(path).expect("it reads").as_deref(), Some("second"), "{length} bytes");
        }
    }
}
