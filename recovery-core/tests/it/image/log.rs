//! A log and its index, drawn: whole batches, and everything that a log may hold instead of them.

use recovery_core::format::{
    BATCH_HEADER_BYTES, BatchBuilder, BatchHeader, ChainHash, Checksum, FRAME_HEADER_BYTES, FrameHeader,
    IndexEntry, Mark, Message, stamp,
};
use recovery_core::units::{Length, Offset, PartitionId, Position, SegmentStart};

use super::draw::Draw;
use super::{INCARNATION, NAMESPACE};

/// Most bytes of one log, about.
const LOG_BYTES_MAX: usize = 24 * 1024;

/// A log under way.
pub(super) struct Log {
    pub(super) start: SegmentStart,
    pub(super) bytes: Vec<u8>,
    /// The offset behind the last batch that was written where it belongs.
    pub(super) next: Offset,
    entries: Vec<IndexEntry>,
    /// True marks at the boundaries behind those batches, while nothing else lies between them.
    pub(super) marks: Vec<Mark>,
}

impl Log {
    pub(super) fn draw(draw: &mut Draw<'_>, start: SegmentStart) -> Self {
        let chain_hash = ChainHash::start(NAMESPACE, INCARNATION, start);
        let mark = Mark { segment: start, position: Position::ZERO, next_offset: start.offset(), chain_hash };
        let mut log =
            Self { start, bytes: Vec::new(), next: start.offset(), entries: Vec::new(), marks: vec![mark] };
        for _ in 0..draw.below(9) {
            if log.bytes.len() < LOG_BYTES_MAX {
                log.part(draw);
            }
        }
        for _ in 0..draw.below(3) {
            draw.edit(&mut log.bytes);
        }
        if draw.one_in(4) {
            let length = draw.below(log.bytes.len() + 1);
            log.bytes.truncate(length);
        }
        log
    }

    fn part(&mut self, draw: &mut Draw<'_>) {
        match draw.below(13) {
            0..=4 => self.in_place(draw),
            5 => {
                let (partition, offset) = (draw.pick(&[3, 4, 0]), self.offset_near(draw));
                self.bytes.extend(stamped(draw, partition, offset, &[]));
            }
            6 => self.bytes.extend(draw.run(300)),
            7 => {
                let length = self.bytes.len() + draw.below(700);
                self.bytes.resize(length, 0);
            }
            8 => {
                // Something that was written before, once more.
                let from = draw.below(self.bytes.len() + 1);
                let count = draw.below(self.bytes.len() - from + 1).min(2048);
                self.bytes.extend_from_within(from..from + count);
            }
            9 => self.bait(draw),
            10 => self.nested(draw),
            11 => self.stepping_stones(draw),
            _ => {
                let mut batch = stamped(draw, NAMESPACE.partition, self.next.get(), &[]);
                batch.truncate(draw.below(batch.len() + 1));
                self.bytes.extend(batch);
            }
        }
    }

    /// A batch that continues the chain, as far as the log does.
    fn in_place(&mut self, draw: &mut Draw<'_>) {
        let position = Position::new(self.bytes.len() as u64);
        let batch = stamped(draw, NAMESPACE.partition, self.next.get(), &[]);
        let header = BatchHeader::decode(batch.first_chunk().unwrap()).unwrap();
        let Some(next) = header.next_offset() else { return };
        let last = self.marks.last().expect("there is always the first mark");
        if last.position == position {
            let mark = Mark {
                segment: self.start,
                position: position.checked_add(header.batch_length).unwrap(),
                next_offset: next,
                chain_hash: last.chain_hash.after(header.batch_checksum),
            };
            self.marks.push(mark);
        }
        let timestamp = header.base_timestamp;
        self.entries.push(IndexEntry { offset: header.base_offset, timestamp, position });
        self.bytes.extend(batch);
        self.next = next;
    }

    /// A batch in the payload of another one, and so on, damaged around all of them or inside of all.
    fn nested(&mut self, draw: &mut Draw<'_>) {
        let offset = self.offset_near(draw);
        let mut batch = stamped(draw, NAMESPACE.partition, offset, &[]);
        // Each batch around it stands before it with a header and a frame.
        let mut last_byte = batch.len() - 1;
        for _ in 0..draw.pick(&[1, 2, 24]) {
            last_byte += BATCH_HEADER_BYTES + FRAME_HEADER_BYTES;
            batch = stamped(draw, NAMESPACE.partition, self.next.get(), &batch);
        }
        match draw.below(3) {
            0 => {}
            1 => draw.edit(&mut batch[..BATCH_HEADER_BYTES + FRAME_HEADER_BYTES]),
            // Every skeleton stays whole, and every body is damaged.
            _ => batch[last_byte] ^= 1,
        }
        self.bytes.extend(batch);
    }

    /// Headers without the bodies that they claim, one overlapping the next.
    fn bait(&mut self, draw: &mut Draw<'_>) {
        let header = BatchHeader {
            partition_id: PartitionId::new(draw.pick(&[3, 0])),
            base_offset: Offset::new(self.offset_near(draw)),
            base_timestamp: 0,
            origin_timestamp: 0,
            batch_length: Length::new(draw.pick(&[256, 304, 1000, 6 << 20, u64::MAX])),
            batch_checksum: Checksum::new(draw.number()),
            message_count: draw.pick(&[0, 1, 2, 1000, u32::MAX]),
        };
        let pitch = draw.pick(&[248, 256, 304, 52]);
        for _ in 0..draw.below(24) {
            let bytes = header.encode();
            let count = pitch.min(bytes.len());
            self.bytes.extend_from_slice(&bytes[..count]);
            self.bytes.resize(self.bytes.len() + pitch - count, 0);
        }
    }

    /// Headers, each with frames that lead from one to the next but one, or further: nothing that is read
    /// for the one is of use for the other.
    fn stepping_stones(&mut self, draw: &mut Draw<'_>) {
        let (reach, frames) = (draw.pick(&[1, 2, 5, 17]), draw.pick(&[2, 3, 9]));
        let stone = stepping_stone(NAMESPACE.partition_id(), self.next, reach, frames);
        for _ in 0..draw.pick(&[4, 16, 60]) {
            self.bytes.extend_from_slice(&stone);
        }
    }

    fn offset_near(&self, draw: &mut Draw<'_>) -> u64 {
        match draw.below(4) {
            0 => self.next.get(),
            1 => self.next.checked_add(draw.below(5) as u64).map_or(u64::MAX, Offset::get),
            2 => self.next.get() / 2,
            _ => draw.number(),
        }
    }

    /// The index, or none.
    pub(super) fn draw_index(&self, draw: &mut Draw<'_>) -> Option<Vec<u8>> {
        let whole: Vec<u8> = self.entries.iter().flat_map(IndexEntry::encode).collect();
        match draw.below(8) {
            0..=2 => Some(whole),
            3 => Some(self.entries.iter().step_by(2).flat_map(IndexEntry::encode).collect()),
            4 => None,
            5 => {
                let mut cut = whole;
                cut.truncate(draw.below(cut.len() + 1));
                Some(cut)
            }
            6 => {
                let mut edited = whole;
                draw.edit(&mut edited);
                Some(edited)
            }
            _ => {
                // An entry of a batch that is not there, behind those that are, and any bytes.
                let mut longer = whole;
                let position = Position::new(self.bytes.len() as u64 + draw.number() / 2);
                let offset = Offset::new(self.offset_near(draw));
                longer.extend(IndexEntry { offset, timestamp: 5, position }.encode());
                longer.extend(draw.run(40));
                Some(longer)
            }
        }
    }
}

/// A header and its first frame's, which claim `frames` frames, each as long as `reach` of these.
pub(crate) fn stepping_stone(
    partition_id: PartitionId,
    base_offset: Offset,
    reach: u32,
    frames: u32,
) -> Vec<u8> {
    let stone = BATCH_HEADER_BYTES + FRAME_HEADER_BYTES;
    let frame_length = u32::try_from(stone).unwrap() * reach;
    let header = BatchHeader {
        partition_id,
        base_offset,
        base_timestamp: 0,
        origin_timestamp: 0,
        batch_length: Length::new(BATCH_HEADER_BYTES as u64 + u64::from(frame_length * frames)),
        batch_checksum: Checksum::new(9),
        message_count: frames,
    };
    let frame = FrameHeader {
        checksum: Checksum::new(9),
        id: 0,
        offset_delta: 0,
        timestamp_delta: 0,
        user_headers_length: 0,
        payload_length: frame_length - u32::try_from(FRAME_HEADER_BYTES).unwrap(),
    };
    [&header.encode()[..], &frame.encode()].concat()
}

/// A batch as a server stamps it, of a few messages; the first one's payload is `payload` if that is not
/// empty.
fn stamped(draw: &mut Draw<'_>, partition: u32, offset: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut builder = BatchBuilder::begin(&mut bytes, 1);
    let count = if payload.is_empty() { draw.pick(&[1, 2, 1, 4, 0]) } else { 1 };
    for id in 0..count {
        let drawn;
        let payload = if payload.is_empty() {
            let (fill, length) = (draw.below(256), draw.pick(&[8, 0, 64, 700]));
            drawn = vec![fill.to_le_bytes()[0]; length];
            &drawn
        } else {
            payload
        };
        let headers = draw.pick(&[&[][..], b"key"]);
        builder.push(&Message { id, timestamp_delta: 0, payload, user_headers: headers }).unwrap();
    }
    builder.finish();
    stamp(&mut bytes, PartitionId::new(u64::from(partition)), Offset::new(offset), 5).unwrap();
    bytes
}
