//! Golden bytes: the structures of a real server's files, byte for byte.
//!
//! The bytes were made by another program than this one and are typed in, so a wrong field, order or
//! checksum cannot agree with itself.

use recovery_core::format::{
    BATCH_HEADER_BYTES, BatchBuilder, BatchHeader, Checksum, FRAME_HASHED_FROM, FrameHeader, Hasher,
    HeaderDamage, INDEX_ENTRY_BYTES, IndexEntry, LayoutDamage, Message, Superblock, SuperblockDamage, stamp,
};
use recovery_core::units::{Length, Offset, PartitionId, Position};

use crate::golden::hex;

/// The bytes i mod 251.
fn pattern() -> Vec<u8> {
    (0..1000_u32).map(|index| u8::try_from(index % 251).unwrap()).collect()
}

const FRAME_0: &str = "8e5ca59edbbdbfb9 01000000000000000000000000000000 00000000 00000000 00000000 05000000 \
     0000000000000000 68656c6c6f";

const USER_HEADERS_1: &str = "02 04000000 6b696e64 02 07000000 66697874757265 \
     02 03000000 736571 0c 08000000 0000000000000000";

const FRAME_1: &str = "b93662fc5db93ef6 100f0e0d0c0b0a090807060504030201 01000000 fa000000 2a000000 06000000 \
     0000000000000000 776f726c6421";

/// Batch B with a header of these 52 bytes.
fn batch(header: &str) -> Vec<u8> {
    let mut bytes = hex(header);
    assert_eq!(bytes.len(), 52);
    bytes.resize(BATCH_HEADER_BYTES, 0);
    bytes.extend(hex(FRAME_0));
    bytes.extend(hex(FRAME_1));
    bytes.extend(hex(USER_HEADERS_1));
    bytes
}

const BATCH_AT_100: &str = "0700000000000000 6400000000000000 00401e18240a0600 183c1e18240a0600 \
     9501000000000000 9ae47ded61c41574 02000000";

const BATCH_AT_101: &str = "0700000000000000 6500000000000000 00401e18240a0600 183c1e18240a0600 \
     9501000000000000 a47286658cacc97e 02000000";

const BATCH_OF_PRODUCER: &str = "0000000000000000 0000000000000000 0000000000000000 183c1e18240a0600 \
     9501000000000000 7b95ef8c893cb884 02000000";

/// Builds batch B as a producer does, behind `prefix`.
fn built(prefix: &[u8]) -> (Vec<u8>, BatchHeader) {
    let user_headers = hex(USER_HEADERS_1);
    let mut bytes = prefix.to_vec();
    let mut builder = BatchBuilder::begin(&mut bytes, 1_699_999_999_999_000);
    builder.push(&Message { id: 1, timestamp_delta: 0, payload: b"hello", user_headers: b"" }).unwrap();
    let id = 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10;
    let second = Message { id, timestamp_delta: 250, payload: b"world!", user_headers: &user_headers };
    builder.push(&second).unwrap();
    let header = builder.finish();
    (bytes, header)
}

fn header_of(bytes: &[u8]) -> BatchHeader {
    BatchHeader::decode(bytes.first_chunk().unwrap()).unwrap()
}

#[test]
fn the_checksum_is_xxh3_whether_bytes_come_at_once_or_in_pieces() {
    for (bytes, expected) in [
        (Vec::new(), "2d06800538d394c2"),
        (b"abc".to_vec(), "78af5f94892f3950"),
        (pattern(), "33ef703fb2b20ed1"),
    ] {
        assert_eq!(Checksum::of(&bytes).to_string(), expected);
        let mut hasher = Hasher::new();
        hasher.update(b"forgotten");
        hasher.reset();
        for piece in bytes.chunks(7) {
            hasher.update(piece);
        }
        assert_eq!(hasher.finish().to_string(), expected);
    }
}

#[test]
fn frames_of_the_real_layout_decode_encode_and_hash_to_their_checksum() {
    let mut frame_2 = FrameHeader {
        checksum: Checksum::default(),
        id: 5,
        offset_delta: 0,
        timestamp_delta: 0,
        user_headers_length: 0,
        payload_length: 1000,
    };
    frame_2.checksum = Checksum::new(0xd108_8763_67b8_18ac);
    let second = [frame_2.encode().to_vec(), pattern()].concat();
    for (bytes, length, id, offset_delta, timestamp_delta, headers, payload, checksum) in [
        (hex(FRAME_0), 53, 1, 0, 0, 0, 5, "b9bfbddb9ea55c8e"),
        (
            hex(&format!("{FRAME_1} {USER_HEADERS_1}")),
            96,
            0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10,
            1,
            250,
            42,
            6,
            "f63eb95dfc6236b9",
        ),
        (second, 1048, 5, 0, 0, 0, 1000, "d108876367b818ac"),
    ] {
        let header = FrameHeader::decode(bytes.first_chunk().unwrap()).unwrap();
        let expected = FrameHeader {
            checksum: header.checksum,
            id,
            offset_delta,
            timestamp_delta,
            user_headers_length: headers,
            payload_length: payload,
        };
        assert_eq!(header, expected);
        assert_eq!(header.encode()[..], bytes[..48]);
        assert_eq!(header.frame_length(), Length::new(length));
        assert_eq!(bytes.len() as u64, length);
        assert_eq!(header.checksum.to_string(), checksum);
        assert_eq!(Checksum::of(&bytes[FRAME_HASHED_FROM..]).to_string(), checksum);
    }
}

#[test]
fn a_frame_with_a_reserved_byte_set_is_none() {
    for at in 40..48 {
        let mut bytes = hex(FRAME_0);
        bytes[at] = 1;
        let error = FrameHeader::decode(bytes.first_chunk().unwrap()).unwrap_err();
        assert_eq!(error.value, 1 << (8 * (at - 40)));
    }
}

#[test]
fn a_batch_header_of_the_real_layout_decodes_and_encodes() {
    let bytes = batch(BATCH_AT_100);
    let header = header_of(&bytes);
    assert_eq!(
        header,
        BatchHeader {
            partition_id: PartitionId::new(7),
            base_offset: Offset::new(100),
            base_timestamp: 1_700_000_000_000_000,
            origin_timestamp: 1_699_999_999_999_000,
            batch_length: Length::new(405),
            batch_checksum: Checksum::new(0x7415_c461_ed7d_e49a),
            message_count: 2,
        }
    );
    assert_eq!(header.encode()[..], bytes[..BATCH_HEADER_BYTES]);
    assert_eq!(header.blob_length(), Length::new(149));
    assert_eq!(header.next_offset(), Some(Offset::new(102)));
    let hashed = hex("0700000000000000 6400000000000000 00401e18240a0600 183c1e18240a0600 9501000000000000 \
         02000000 8e5ca59edbbdbfb9 b93662fc5db93ef6");
    assert_eq!(header.hashed_fields()[..], hashed[..44]);
    assert_eq!(Checksum::of(&hashed), header.batch_checksum);
}

#[test]
fn the_first_batch_of_a_real_file_hashes_to_its_checksum() {
    let mut bytes = hex("0000000000000000 0000000000000000 72ad8c026c610600 a2ac8c026c610600 \
         a207000000000000 08a6d9654994d64d 06000000");
    bytes.resize(BATCH_HEADER_BYTES, 0);
    let header = header_of(&bytes);
    let mut hashed = header.hashed_fields().to_vec();
    let message_checksums: [u64; 6] = [
        0xa573_1dfe_84b4_07da,
        0x6c8a_ca5e_6593_e29d,
        0x22a4_1c3b_ab42_5475,
        0x8102_1202_ec98_e347,
        0x0878_0b95_04e1_d81c,
        0x76d9_8d91_c45d_b2dd,
    ];
    hashed.extend(message_checksums.map(u64::to_le_bytes).as_flattened());
    assert_eq!(Checksum::of(&hashed), header.batch_checksum);
    assert_eq!(header.batch_checksum.to_string(), "4dd6944965d9a608");
    assert_eq!((header.message_count, header.batch_length.get()), (6, 1954));
}

#[test]
fn a_header_is_refused_for_a_length_below_itself_and_for_each_reserved_byte() {
    for claimed in [0, 1, 255] {
        let mut bytes = batch(BATCH_AT_100);
        bytes[32..40].copy_from_slice(&u64::to_le_bytes(claimed));
        let error = BatchHeader::decode(bytes.first_chunk().unwrap()).unwrap_err();
        assert_eq!(error, HeaderDamage::Length { claimed });
    }
    for at in 52..BATCH_HEADER_BYTES {
        let mut bytes = batch(BATCH_AT_100);
        bytes[at] = 0x80;
        let error = BatchHeader::decode(bytes.first_chunk().unwrap()).unwrap_err();
        assert_eq!(error, HeaderDamage::Reserved { at, value: 0x80 });
    }
    for claimed in [256, 257, u64::MAX] {
        let mut bytes = batch(BATCH_AT_100);
        bytes[32..40].copy_from_slice(&u64::to_le_bytes(claimed));
        assert_eq!(
            header_of(&bytes).batch_length.get(),
            claimed,
            "whether it fits is not the header's to say"
        );
    }
}

#[test]
fn a_count_of_messages_must_fit_the_frames_and_the_offsets() {
    let header = |batch_length, message_count, base_offset| BatchHeader {
        batch_length: Length::new(batch_length),
        message_count,
        base_offset: Offset::new(base_offset),
        ..header_of(&batch(BATCH_AT_100))
    };
    for (batch_length, message_count, fits) in [
        (256, 0, true),
        (256, 1, false),
        (257, 0, false),
        (256 + 47, 1, false),
        (256 + 48, 1, true),
        (256 + 95, 2, false),
        (256 + 96, 2, true),
        (u64::MAX, u32::MAX, true),
        (256, u32::MAX, false),
    ] {
        let found = header(batch_length, message_count, 0).count_fits_blob();
        assert_eq!(found, fits, "{message_count} messages in {batch_length} bytes");
    }
    for (base_offset, message_count, next) in [
        (0, 0, Some(0)),
        (100, 2, Some(102)),
        (u64::MAX - 1, 1, Some(u64::MAX)),
        (u64::MAX, 0, Some(u64::MAX)),
        (u64::MAX, 1, None),
        (u64::MAX - 1, 2, None),
    ] {
        let found = header(256, message_count, base_offset).next_offset();
        assert_eq!(found, next.map(Offset::new), "{message_count} messages from {base_offset}");
    }
}

#[test]
fn a_built_batch_is_the_producers_bytes_behind_what_was_there() {
    for prefix in [&b""[..], b"something before"] {
        let (bytes, header) = built(prefix);
        assert_eq!(&bytes[..prefix.len()], prefix);
        assert_eq!(bytes[prefix.len()..], batch(BATCH_OF_PRODUCER));
        assert_eq!(header, header_of(&bytes[prefix.len()..]));
    }
}

#[test]
fn a_stamped_batch_is_the_servers_bytes_and_can_be_stamped_again() {
    let (mut bytes, _) = built(b"");
    for (base_offset, expected) in [(100, BATCH_AT_100), (101, BATCH_AT_101), (100, BATCH_AT_100)] {
        let header =
            stamp(&mut bytes, PartitionId::new(7), Offset::new(base_offset), 1_700_000_000_000_000).unwrap();
        assert_eq!(bytes, batch(expected));
        assert_eq!(header, header_of(&bytes));
    }
    stamp(&mut bytes, PartitionId::ZERO, Offset::ZERO, 0).unwrap();
    assert_eq!(bytes, batch(BATCH_OF_PRODUCER));
}

#[test]
fn a_batch_without_a_message_is_a_header_alone() {
    let mut bytes = Vec::new();
    let header = BatchBuilder::begin(&mut bytes, 9).finish();
    assert_eq!((bytes.len(), header.batch_length.get(), header.message_count), (256, 256, 0));
    assert_eq!(header.batch_checksum, Checksum::of(&header.hashed_fields()));
    stamp(&mut bytes, PartitionId::new(1), Offset::new(2), 3).unwrap();
    assert_eq!(header_of(&bytes).base_offset, Offset::new(2));
}

/// Stamps `bytes`, which must be refused as `expected` and stay as they are.
fn check_not_stamped(mut bytes: Vec<u8>, expected: &str) {
    let before = bytes.clone();
    let error: LayoutDamage =
        stamp(&mut bytes, PartitionId::new(7), Offset::new(100), 1_700_000_000_000_000).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(bytes, before);
}

#[test]
fn bytes_that_are_not_exactly_one_batch_are_not_stamped() {
    let whole = batch(BATCH_AT_100);
    let edited = |at: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[at] = value;
        bytes
    };
    check_not_stamped(Vec::new(), "the batch claims 256 bytes, and 0 were given");
    check_not_stamped(whole[..255].to_vec(), "the batch claims 256 bytes, and 255 were given");
    check_not_stamped(whole[..404].to_vec(), "the batch claims 405 bytes, and 404 were given");
    check_not_stamped([&whole[..], b"x"].concat(), "the batch claims 405 bytes, and 406 were given");
    check_not_stamped(edited(100, 3), "reserved byte 100 of the header is 0x03");
    check_not_stamped(edited(48, 1), "the header counts 1 frames, and 1 whole ones stand before byte 309");
    check_not_stamped(edited(48, 3), "the header counts 3 frames, and 2 whole ones stand before byte 405");
    check_not_stamped(edited(48, 0), "the header counts 0 frames, and 0 whole ones stand before byte 256");
    // A payload one byte longer than it is, a reserved field that is not zero, a length beyond the batch.
    check_not_stamped(
        edited(256 + 36, 6),
        "the header counts 2 frames, and 1 whole ones stand before byte 310",
    );
    check_not_stamped(
        edited(309 + 40, 1),
        "the header counts 2 frames, and 1 whole ones stand before byte 309",
    );
    check_not_stamped(
        edited(256 + 35, 255),
        "the header counts 2 frames, and 0 whole ones stand before byte 256",
    );
}

#[test]
fn a_message_that_would_pass_the_ceiling_is_refused_and_the_batch_goes_on_without_it() {
    // One payload in memory, referred to again and again, fills a batch to the last byte.
    let payload = vec![0; 64 * 1024 * 1024 - 48];
    let mut bytes = Vec::with_capacity(256 * 1024 * 1024 + 256);
    let mut builder = BatchBuilder::begin(&mut bytes, 0);
    let message = Message { payload: &payload, ..Message::default() };
    for _ in 0..4 {
        builder.push(&message).unwrap();
    }
    let error = builder.push(&Message::default()).unwrap_err();
    assert_eq!(error.to_string(), "the batch would have 268435760 bytes, and the ceiling is 268435712");
    assert_eq!((builder.message_count(), builder.length()), (4, 268_435_712));
    let header = builder.finish();
    assert_eq!((header.message_count, bytes.len()), (4, 268_435_712));
}

#[test]
fn an_index_entry_of_the_real_layout_decodes_and_encodes() {
    let bytes = hex("6400000000000000 00401e18240a0600 0010000000000000");
    let entry = IndexEntry::decode(bytes.first_chunk().unwrap());
    let expected = IndexEntry {
        offset: Offset::new(100),
        timestamp: 1_700_000_000_000_000,
        position: Position::new(4096),
    };
    assert_eq!(entry, expected);
    assert_eq!(entry.encode()[..], bytes[..]);
    assert_eq!(bytes.len(), INDEX_ENTRY_BYTES);
}

const SUPERBLOCK: &str = "4b4c4253 0100 0000 0500000000000000 0000000000000000 42000000 \
     21bb05c88727bab88d0ec27be8a72d46 00 01 03000000 02000000 2900000000000000 0000000000000000 \
     00000000000000000000000000000000 7804000000000000 cbf3cd647a2a593a";

#[test]
fn a_superblock_record_of_the_real_layout_decodes_and_encodes() {
    let bytes = hex(SUPERBLOCK);
    let record = Superblock::decode(&bytes).unwrap();
    assert_eq!(
        record,
        Superblock {
            sequence: 5,
            cluster: u128::from_le_bytes(hex("21bb05c88727bab88d0ec27be8a72d46").try_into().unwrap()),
            replica: 0,
            replica_count: 1,
            view: 3,
            log_view: 2,
            commit: 41,
            offset_frontier: Offset::new(1144),
        }
    );
    assert_eq!(record.encode()[..], bytes[..]);
}

/// A superblock record with a payload of `payload` bytes, sealed.
fn superblock_with(edit: impl FnOnce(&mut Vec<u8>)) -> Result<Superblock, SuperblockDamage> {
    let mut bytes = hex(SUPERBLOCK);
    bytes.truncate(bytes.len() - 8);
    edit(&mut bytes);
    let checksum = Checksum::of(&bytes);
    bytes.extend(checksum.get().to_le_bytes());
    Superblock::decode(&bytes)
}

#[test]
fn a_superblock_of_the_short_payload_has_no_frontier_and_no_other_payload_is_known() {
    let short = superblock_with(|bytes| {
        bytes.truncate(bytes.len() - 8);
        bytes[24] = 58;
    });
    assert_eq!(short.unwrap().offset_frontier, Offset::ZERO);
    let shorter = superblock_with(|bytes| {
        bytes.truncate(bytes.len() - 9);
        bytes[24] = 57;
    });
    assert_eq!(shorter, Err(SuperblockDamage::Payload));
    let view_behind_log = superblock_with(|bytes| bytes[28 + 18] = 1);
    assert_eq!(view_behind_log, Err(SuperblockDamage::Payload));
    let version = superblock_with(|bytes| bytes[4] = 2);
    assert_eq!(version, Err(SuperblockDamage::Version { found: 2 }));
}

#[test]
fn every_flipped_bit_and_every_other_length_of_a_superblock_is_detected() {
    let bytes = hex(SUPERBLOCK);
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(Superblock::decode(&flipped).is_err(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert!(Superblock::decode(&bytes[..length]).is_err(), "{length} bytes");
    }
    assert!(Superblock::decode(&[&bytes[..], &[0]].concat()).is_err());
}
