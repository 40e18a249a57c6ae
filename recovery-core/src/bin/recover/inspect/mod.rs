//! `recover inspect`: the bytes of one file, decoded, with every check shown.
//!
//! Promises: opens for reading only, takes no lock, and shows damaged structures as far as they go. What a
//! file is said to be by its name is believed first, its bytes only if the name says nothing.

mod acceptor;
mod batch;
mod bytes;
mod index;
mod ledger;
mod place;
mod sheet;
mod source;
mod superblock;

pub(crate) use place::Place;
pub(crate) use sheet::Sheet;

use recovery_core::format::{
    BATCH_HEADER_BYTES, BatchHeader, CopyName, FileName, Hasher, LEDGER_RECORD_BYTES, LedgerRecord,
    SUPERBLOCK_BYTES_MAX, Superblock,
};
use recovery_core::storage::{Access, Name, Storage, StorageError};
use recovery_core::units::SegmentStart;

use self::sheet::Row;
use self::source::Source;
use crate::mistake::Mistake;

/// Why nothing is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Blocked {
    /// The place is not there.
    Mistake(Mistake),
    /// The file cannot be read.
    Storage(StorageError),
}

impl From<Mistake> for Blocked {
    fn from(mistake: Mistake) -> Self {
        Self::Mistake(mistake)
    }
}

impl From<StorageError> for Blocked {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Log,
    Index(Option<SegmentStart>),
    Ledger,
    Superblock,
    Unknown,
}

/// Shows what lies at a place. `storage` is rooted at the directory that holds the file.
///
/// # Errors
///
/// When the position lies outside the file, or a file cannot be read.
pub(crate) fn look<S: Storage>(storage: &S, place: &Place) -> Result<Sheet, Blocked> {
    let directory = storage.root()?;
    let opened = storage.open(&directory, &place.name, Access::Read);
    let sheet = match opened {
        Ok(file) => {
            let sheet = look_into(storage, &directory, &file, place);
            storage.close(file);
            sheet
        }
        Err(error) => Err(error.into()),
    };
    storage.close_directory(directory);
    sheet
}

fn look_into<S: Storage>(
    storage: &S,
    directory: &S::Directory,
    file: &S::File,
    place: &Place,
) -> Result<Sheet, Blocked> {
    let mut source = Source::new(storage, file, place.name)?;
    let position = place.start();
    if position > 0 && position >= source.length {
        let (path, file_bytes) = (place.path.clone(), source.length);
        return Err(Mistake::PastEnd { path, file_bytes, position }.into());
    }
    let copy = copy_row(&mut source)?;
    let mut sheet = match content(&mut source)? {
        Content::Log => batch::sheet(&mut source, position)?,
        Content::Index(start) => index_sheet(storage, directory, &mut source, start, position)?,
        Content::Ledger => ledger::sheet(&mut source, place.position)?,
        Content::Superblock => superblock::sheet(&mut source)?,
        Content::Unknown => bytes::sheet(&mut source, position)?,
    };
    if let Some(row) = copy {
        sheet.rows.insert(0, row);
    }
    Ok(sheet)
}

/// Shows an index beside its log, if the log can be opened.
fn index_sheet<S: Storage>(
    storage: &S,
    directory: &S::Directory,
    source: &mut Source<'_, S>,
    start: Option<SegmentStart>,
    position: u64,
) -> Result<Sheet, StorageError> {
    let log_name = start.map(FileName::log);
    let log_file = match &log_name {
        Some(name) => match storage.open(directory, name, Access::Read) {
            Ok(file) => Some(file),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error),
        },
        None => None,
    };
    let sheet = match (&log_file, &log_name) {
        (Some(file), Some(name)) => Source::new(storage, file, *name)
            .and_then(|mut log| index::sheet(source, Some(&mut log), start, position)),
        (Some(_) | None, _) => index::sheet(source, None, start, position),
    };
    if let Some(file) = log_file {
        storage.close(file);
    }
    sheet
}

/// What the file's name says it is; its first bytes, if the name says nothing.
fn content<S: Storage>(source: &mut Source<'_, S>) -> Result<Content, StorageError> {
    match by_name(&source.name) {
        Content::Unknown => by_bytes(source),
        known @ (Content::Log | Content::Index(_) | Content::Ledger | Content::Superblock) => Ok(known),
    }
}

fn by_name(name: &Name) -> Content {
    match FileName::classify(name) {
        FileName::Log(_) | FileName::StrayLog => Content::Log,
        FileName::Index(start) => Content::Index(Some(start)),
        FileName::StrayIndex => Content::Index(None),
        FileName::Ledger => Content::Ledger,
        FileName::Superblock(_) => Content::Superblock,
        FileName::Staging => match name.as_bytes().strip_suffix(b".staging").and_then(Name::new) {
            Some(name) => by_name_aside(&name),
            None => Content::Unknown,
        },
        FileName::Other => by_name_aside(name),
    }
}

/// What a file set aside holds: a half-made one, or a copy in a fence. Its neighbours are not its own.
fn by_name_aside(name: &Name) -> Content {
    let file = CopyName::parse(name).map_or(*name, |copy| copy.file());
    match FileName::classify(&file) {
        FileName::Log(_) => Content::Log,
        FileName::Index(_) | FileName::StrayIndex => Content::Index(None),
        FileName::Ledger => Content::Ledger,
        FileName::Other if file.as_bytes().ends_with(b".ledger") => Content::Ledger,
        FileName::Other | FileName::StrayLog | FileName::Staging | FileName::Superblock(_) => {
            Content::Unknown
        }
    }
}

/// Compares a copy in a fence with what its name says of it.
fn copy_row<S: Storage>(source: &mut Source<'_, S>) -> Result<Option<Row>, StorageError> {
    let Some(copy) = CopyName::parse(&source.name) else { return Ok(None) };
    let mut hasher = Hasher::new();
    source.hash(0, source.length, &mut hasher)?;
    let actual = hasher.finish();
    let is_named = source.length == copy.length().get() && actual == copy.checksum();
    let wrong = (!is_named).then(|| format!("the file has {} bytes that hash to {actual}", source.length));
    let value = format!("{} bytes of {} from byte {}", copy.length(), copy.file(), copy.position());
    Ok(Some(Row::new(0, "copy", value).checked(wrong)))
}

fn by_bytes<S: Storage>(source: &mut Source<'_, S>) -> Result<Content, StorageError> {
    let count = source.length.min(SUPERBLOCK_BYTES_MAX as u64);
    let bytes = source.slice(0, usize::try_from(count).expect("a few thousand bytes"))?;
    if Superblock::decode(bytes).is_ok() {
        return Ok(Content::Superblock);
    }
    if let Some(record) = bytes.first_chunk::<LEDGER_RECORD_BYTES>()
        && LedgerRecord::decode(record).is_ok()
    {
        return Ok(Content::Ledger);
    }
    if let Some(header) = bytes.first_chunk::<BATCH_HEADER_BYTES>()
        && BatchHeader::decode(header).is_ok_and(|header| header.count_fits_blob())
    {
        return Ok(Content::Log);
    }
    Ok(Content::Unknown)
}
