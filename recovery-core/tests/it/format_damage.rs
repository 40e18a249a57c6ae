//! What is no record of the metadata log, no superblock and no batch, and which field of it is named; how a hash is
//! shown.

use recovery_core::format::{
    BATCH_BYTES_MAX, BatchBuilder, ChainHash, Checksum, Hasher, METADATA_HEADER_BYTES, Message,
    MetadataDamage, MetadataDraft, MetadataHeader, MetadataKind, MetadataRecord, Superblock,
};
use recovery_core::units::{Durability, Incarnation, Namespace, Position};

/// Edits the header of a batch that lies at byte 640 and whose log was durable up to byte 512.
fn edited(edit: impl FnOnce(&mut [u8])) -> Result<MetadataHeader, MetadataDamage> {
    let draft = MetadataDraft {
        sequence: 7,
        position: Position::new(640),
        frontier: Position::new(512),
        previous: Checksum::new(9),
    };
    let mut bytes = Vec::new();
    MetadataHeader::encode(&draft, &[], &mut bytes);
    assert_eq!(bytes.len(), METADATA_HEADER_BYTES, "a batch without a record is a header");
    edit(&mut bytes);
    MetadataHeader::decode(bytes.first_chunk().expect("a whole header"))
}

#[track_caller]
fn check(at: usize, value: u8, sentence: &str) {
    let damage = edited(|bytes| bytes[at] = value).expect_err("it does not decode");
    assert_eq!(damage.to_string(), sentence);
}

#[test]
fn every_byte_of_a_metadata_header_that_is_not_in_use_is_zero() {
    for at in [6, 7, 52, 53, 54, 55] {
        check(at, 1, "the reserved field makes no sense");
    }
}

#[test]
fn a_metadata_batch_confirms_what_lies_before_it_and_nothing_behind() {
    let frontier = |position: u64| edited(|bytes| bytes[32..40].copy_from_slice(&position.to_le_bytes()));
    for position in [0, 639, 640] {
        assert_eq!(frontier(position).map(|header| header.frontier), Ok(Position::new(position)));
    }
    for position in [641, u64::MAX] {
        assert_eq!(frontier(position), Err(MetadataDamage::Contents { field: "frontier" }));
    }
}

#[test]
fn a_metadata_header_names_the_first_field_that_is_not_as_a_writer_puts_it() {
    check(0, 0, "the magic is 0x474c4d00");
    check(4, 2, "the version is 2, and this build reads version 1");
    check(8, 65, "the batch claims 65 bytes and 0 records");
    check(48, 1, "the batch claims 64 bytes and 1 records");
}

/// A metadata record with `value` at byte `at`, read again.
fn record_with(kind: MetadataKind, at: usize, value: u8) -> Option<MetadataRecord> {
    let namespace = Namespace { stream: 1, topic: 2, partition: 3 };
    let mut bytes = MetadataRecord { kind, namespace, incarnation: Incarnation::new(4) }.encode();
    bytes[at] = value;
    MetadataRecord::decode(&bytes)
}

#[test]
fn a_metadata_record_that_no_writer_makes_is_none() {
    let created = MetadataKind::Created { replicas: 3, durability: Durability::Proven };
    assert_eq!(record_with(created, 2, 3).map(|record| record.kind), Some(created));
    assert_eq!(record_with(created, 2, 0), None, "a partition has a replica");
    assert_eq!(record_with(created, 1, 4), None, "there is no fourth mode");
    for at in [3, 7, 24, 31] {
        assert_eq!(record_with(created, at, 1), None, "byte {at} is not in use");
    }
    for at in [1, 2] {
        assert_eq!(record_with(MetadataKind::Made, at, 1), None, "byte {at} is that of a creation");
    }
}

#[test]
fn a_superblock_of_no_possible_length_is_compared_with_the_one_that_is_written() {
    for found in [0, 35, 36 + 4096 + 1] {
        let damage = Superblock::decode(&vec![0; found]).expect_err("it is no record");
        assert_eq!(damage.to_string(), format!("the slot has {found} bytes, and its record needs 102"));
    }
    for found in [36, 36 + 4096] {
        let damage = Superblock::decode(&vec![0; found]).expect_err("it is no record");
        assert_eq!(damage.to_string(), "the magic is 0x00000000", "{found} bytes may be a record");
    }
}

#[test]
fn a_hash_is_shown_in_sixteen_digits_wherever_it_is_printed() {
    let empty = "2d06800538d394c2";
    assert_eq!(
        format!("{} {:?}", Checksum::new(255), Checksum::new(255)),
        "00000000000000ff 00000000000000ff"
    );
    assert_eq!(format!("{:?}", ChainHash::new(255)), "00000000000000ff");
    assert_eq!(format!("{:?}", Hasher::new()), format!("Hasher({empty})"));
}

/// Nothing of these bytes is copied, or even looked at.
#[test]
fn a_message_above_the_ceiling_is_refused_by_the_sum_of_its_parts() {
    let ceiling = usize::try_from(BATCH_BYTES_MAX.get()).expect("the ceiling fits memory");
    let zeros = vec![0; ceiling];
    let room = ceiling - 256 - 48;
    for (payload, user_headers) in
        [(room + 1, 0), (0, room + 1), (room, 1), (1, room), (room / 2, room / 2 + 1)]
    {
        let mut bytes = Vec::new();
        let mut builder = BatchBuilder::begin(&mut bytes, 0);
        let message = Message {
            payload: &zeros[..payload],
            user_headers: &zeros[..user_headers],
            ..Message::default()
        };
        let error = builder.push(&message).expect_err("it is one byte too long");
        assert_eq!(error.to_string(), "the batch would have 268435713 bytes, and the ceiling is 268435712");
        assert_eq!(builder.length(), 256);
    }
}

#[test]
fn every_kind_of_a_metadata_record_has_its_word() {
    let created = MetadataKind::Created { replicas: 3, durability: Durability::Buffered };
    let kinds = [created, MetadataKind::Made, MetadataKind::Deleting, MetadataKind::Deleted];
    assert_eq!(kinds.map(MetadataKind::code), ["created", "made", "deleting", "deleted"]);
}
