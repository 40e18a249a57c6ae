//! One batch of a log: each field of its header, then its frames, every checksum computed again.
//!
//! Promises: the checks are those of IGGY_FORMAT section 4, each shown where it belongs, none hidden by an
//! earlier one that fails. Leaves out: whether the batch continues its partition.

use recovery_core::format::{
    BATCH_BYTES_MAX, BATCH_HEADER_BYTES, BatchHeader, Checksum, FRAME_HASHED_FROM, FRAME_HEADER_BYTES,
    FrameDamage, FrameHeader, Hasher, HeaderDamage,
};
use recovery_core::observe::StopDetail;
use recovery_core::storage::{Storage, StorageError};

use super::acceptor;
use super::sheet::{Row, Sheet, SheetKind};
use super::source::Source;
use crate::paragraph::counted;
use crate::report::stop_text;

/// Right frames that are shown; wrong ones are shown up to as many again.
const FRAMES_SHOWN_MAX: u64 = 32;

/// Shows the batch at `position`.
///
/// # Errors
///
/// When the file cannot be read.
pub(super) fn sheet<S: Storage>(source: &mut Source<'_, S>, position: u64) -> Result<Sheet, StorageError> {
    let mut sheet = Sheet {
        kind: SheetKind::Batch,
        file: source.name,
        file_bytes: source.length,
        position,
        rows: Vec::new(),
        unshown: 0,
        next: None,
    };
    let left = source.left(position);
    if left < BATCH_HEADER_BYTES as u64 {
        let wrong = format!("a header takes {BATCH_HEADER_BYTES} bytes");
        sheet.rows.push(
            Row::new(position, "header", format!("{} left", counted(left, "byte"))).checked(Some(wrong)),
        );
        return Ok(sheet);
    }
    let bytes: [u8; BATCH_HEADER_BYTES] = source.array(position)?;
    let header = BatchHeader::read(&bytes);
    let frames = Frames::walk(source, position, &header)?;
    sheet.rows = header_rows(position, &header, BatchHeader::decode(&bytes), &frames, left);
    sheet.rows.extend(frames.rows);
    sheet.rows.push(verdict_row(position, &header, acceptor::fault(source, position)?));
    sheet.unshown = frames.unshown;
    let end = position.checked_add(header.batch_length.get());
    let is_claimed_by_file = length_damage(&header, left).is_none();
    sheet.next = end.filter(|end| is_claimed_by_file && *end < source.length);
    Ok(sheet)
}

fn header_rows(
    at: u64,
    header: &BatchHeader,
    decoded: Result<BatchHeader, HeaderDamage>,
    frames: &Frames,
    left: u64,
) -> Vec<Row> {
    let reserved = match decoded {
        Err(HeaderDamage::Reserved { at: byte, value }) => {
            Row::new(at + byte as u64, "reserved", format!("{value:#04x}"))
                .checked(Some("every reserved byte is zero".to_owned()))
        }
        // A length that is wrong is found first, and hides the reserved bytes from the decoder alone.
        Err(HeaderDamage::Length { .. }) => Row::new(at + 52, "reserved", "not judged"),
        Ok(_) => Row::new(at + 52, "reserved", "zero").checked(None),
    };
    vec![
        Row::new(at, "partition-id", header.partition_id),
        Row::new(at + 8, "base-offset", header.base_offset),
        Row::new(at + 16, "base-timestamp", header.base_timestamp),
        Row::new(at + 24, "origin-timestamp", header.origin_timestamp),
        Row::new(at + 32, "batch-length", header.batch_length).checked(length_damage(header, left)),
        frames.checksum_row(at + 40, header),
        Row::new(at + 48, "message-count", header.message_count).checked(frames.count_damage(header)),
        reserved,
    ]
}

/// What recovery makes of the batch, whatever it is beside.
fn verdict_row(at: u64, header: &BatchHeader, fault: Option<StopDetail>) -> Row {
    match fault {
        None => Row::new(at, "verdict", "verifies").checked(None),
        Some(fault) => {
            let sentence = stop_text::sentence(&fault, header.base_offset);
            Row::new(at, "verdict", fault.stop().code()).checked(Some(sentence))
        }
    }
}

/// What is wrong with the claimed length.
fn length_damage(header: &BatchHeader, left: u64) -> Option<String> {
    let claimed = header.batch_length.get();
    if claimed < BATCH_HEADER_BYTES as u64 {
        Some(format!("a header alone takes {BATCH_HEADER_BYTES} bytes"))
    } else if claimed > left {
        Some(format!("{left} bytes are left in the file"))
    } else if header.batch_length > BATCH_BYTES_MAX {
        Some(format!("the ceiling is {BATCH_BYTES_MAX} bytes"))
    } else {
        None
    }
}

/// What the bytes behind a header hold, as far as they can be walked.
struct Frames {
    rows: Vec<Row>,
    unshown: u64,
    found: u64,
    /// Where the walk ended.
    end: u64,
    /// Where the batch claims to end.
    claimed_end: Option<u64>,
    /// The batch checksum over the frames found.
    checksum: Checksum,
}

impl Frames {
    fn walk<S: Storage>(
        source: &mut Source<'_, S>,
        position: u64,
        header: &BatchHeader,
    ) -> Result<Self, StorageError> {
        let claimed_end = position.checked_add(header.batch_length.get());
        let end = claimed_end.map_or(source.length, |end| end.min(source.length));
        let mut hasher = Hasher::new();
        hasher.update(&header.hashed_fields());
        let mut frames = Self {
            rows: Vec::new(),
            unshown: 0,
            found: 0,
            end: position + BATCH_HEADER_BYTES as u64,
            claimed_end,
            checksum: Checksum::default(),
        };
        // Each frame takes 48 bytes or more, so the file's length bounds the loop.
        while frames.end < end && u32::try_from(frames.found).is_ok() {
            let Some(header) = frames.step(source, end)? else { break };
            hasher.update(&header.checksum.get().to_le_bytes());
        }
        frames.checksum = hasher.finish();
        Ok(frames)
    }

    /// Shows the next frame; `None` if there is none that fits.
    fn step<S: Storage>(
        &mut self,
        source: &mut Source<'_, S>,
        end: u64,
    ) -> Result<Option<FrameHeader>, StorageError> {
        let at = self.end;
        let name = format!("frame {}", self.found);
        let left = end - at;
        if left < FRAME_HEADER_BYTES as u64 {
            let wrong = format!("a frame takes at least {FRAME_HEADER_BYTES} bytes");
            self.rows
                .push(Row::new(at, name, format!("{} left", counted(left, "byte"))).checked(Some(wrong)));
            return Ok(None);
        }
        let bytes: [u8; FRAME_HEADER_BYTES] = source.array(at)?;
        let frame = FrameHeader::read(&bytes);
        let length = frame.frame_length().get();
        let value = format!(
            "delta {}, payload {}, headers {}",
            frame.offset_delta, frame.payload_length, frame.user_headers_length
        );
        let row = Row::new(at, name, value);
        if length > left {
            let wrong = format!("it takes {length} bytes, and {left} are left");
            self.rows.push(row.checked(Some(wrong)));
            return Ok(None);
        }
        if let Err(FrameDamage { value }) = FrameHeader::decode(&bytes) {
            self.rows.push(row.checked(Some(format!("its reserved field is {value:#018x}"))));
            return Ok(None);
        }
        let mut hasher = Hasher::new();
        source.hash(at + FRAME_HASHED_FROM as u64, at + length, &mut hasher)?;
        let actual = hasher.finish();
        let wrong = (actual != frame.checksum)
            .then(|| format!("it hashes to {actual}, and {} is stored", frame.checksum));
        let row = row.checked(wrong);
        let is_counted = u64::from(frame.offset_delta) == self.found;
        // Recovery counts messages and believes no delta, so this is no damage.
        self.show(if is_counted || row.note.is_some() {
            row
        } else {
            row.noted(format!("its place is {}", self.found))
        });
        self.found += 1;
        self.end = at + length;
        Ok(Some(frame))
    }

    fn show(&mut self, row: Row) {
        let shown = self.rows.iter().filter(|shown| shown.check == row.check).count() as u64;
        if shown < FRAMES_SHOWN_MAX {
            self.rows.push(row);
        } else {
            self.unshown += 1;
        }
    }

    fn count_damage(&self, header: &BatchHeader) -> Option<String> {
        let is_filled = self.claimed_end == Some(self.end);
        if is_filled && self.found == u64::from(header.message_count) {
            return None;
        }
        let found = counted(self.found, "whole frame");
        if is_filled {
            Some(format!("{found} up to the end of the batch"))
        } else {
            Some(format!("{found} up to byte {}, which is not the end of the batch", self.end))
        }
    }

    /// The batch checksum covers the header and the stored checksum of every frame, so it can be computed
    /// only from all of them.
    fn checksum_row(&self, at: u64, header: &BatchHeader) -> Row {
        let row = Row::new(at, "batch-checksum", header.batch_checksum);
        if self.checksum == header.batch_checksum {
            row.checked(None)
        } else if self.count_damage(header).is_some() {
            row.noted("not computed: not every frame is there")
        } else {
            row.checked(Some(format!("the batch hashes to {}", self.checksum)))
        }
    }
}
