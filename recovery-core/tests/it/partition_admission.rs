//! The door for producers, and the limits that a partition is opened with.

use recovery_core::format::{
    BATCH_BYTES_MAX, BATCH_HEADER_BYTES, BatchBuilder, BatchHeader, Checksum, FrameHeader,
};
use recovery_core::partition::{Admission, OptionsError, PartitionOptions};
use recovery_core::units::{Durability, Length, Offset};

use crate::partition_world::batch;

const CEILING: Length = Length::new(4096);

/// What the door says to `batch`, as code and sentence.
#[track_caller]
fn check(batch: &[u8], code: &str, sentence: &str) {
    let rejection = Admission::new(CEILING).check(batch, Offset::new(7)).expect_err("it is not let in");
    assert_eq!((rejection.code(), rejection.to_string().as_str()), (code, sentence));
}

/// A batch of two messages after `edit`, with the batch checksum made to fit again.
fn edited(edit: impl FnOnce(&mut BatchHeader, &mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = batch(2);
    let mut header = BatchHeader::decode(bytes.first_chunk().unwrap()).unwrap();
    edit(&mut header, &mut bytes);
    let mut hashed = header.hashed_fields().to_vec();
    for frame in 0..2 {
        let at = BATCH_HEADER_BYTES + frame * 100;
        hashed.extend_from_slice(&bytes[at..at + 8]);
    }
    header.batch_checksum = Checksum::of(&hashed);
    bytes[..BATCH_HEADER_BYTES].copy_from_slice(&header.encode());
    bytes
}

#[test]
fn a_whole_batch_is_let_in_and_moves_the_offset_by_its_messages() {
    let (header, behind) = Admission::new(CEILING).check(&batch(3), Offset::new(7)).unwrap();
    assert_eq!((header.message_count, behind), (3, Offset::new(10)));
}

/// N28: what a flush writes was let in whole, so it skips nothing.
#[test]
fn what_is_no_whole_batch_is_not_let_in() {
    check(&[], "batch-length", "the batch claims 256 bytes, and 0 were given");
    check(&batch(2)[..455], "batch-length", "the batch claims 456 bytes, and 455 were given");
    let mut longer = batch(2);
    longer.push(0);
    check(&longer, "batch-length", "the batch claims 456 bytes, and 457 were given");
    let mut reserved = batch(2);
    reserved[60] = 1;
    check(&reserved, "batch-header", "the batch does not decode: reserved byte 60 of the header is 0x01");
    let count = edited(|header, _| header.message_count = 3);
    check(&count, "batch-damaged", "the batch does not verify (undecodable)");
}

#[test]
fn a_flip_in_any_byte_is_not_let_in() {
    let whole = batch(2);
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x40;
        assert!(Admission::new(CEILING).check(&flipped, Offset::ZERO).is_err(), "a flip in byte {at}");
    }
}

/// N17.
#[test]
fn a_batch_of_no_messages_is_not_let_in() {
    let mut empty = Vec::new();
    BatchBuilder::begin(&mut empty, 1).finish();
    check(&empty, "batch-empty", "the batch holds no message");
}

#[test]
fn a_field_of_the_server_that_is_set_is_not_let_in() {
    let id = edited(|header, _| header.partition_id = recovery_core::units::PartitionId::new(5));
    check(&id, "batch-server-field", "the partition id of the batch is 5, and it is the server's to set");
    let offset = edited(|header, _| header.base_offset = Offset::new(6));
    check(&offset, "batch-server-field", "the base offset of the batch is 6, and it is the server's to set");
    let time = edited(|header, _| header.base_timestamp = 7);
    check(&time, "batch-server-field", "the base timestamp of the batch is 7, and it is the server's to set");
}

#[test]
fn deltas_that_do_not_count_from_zero_are_not_let_in() {
    let deltas = edited(|_, bytes| {
        let at = BATCH_HEADER_BYTES + 100;
        let mut frame = FrameHeader::read(bytes[at..].first_chunk().unwrap());
        frame.offset_delta = 9;
        bytes[at..at + 48].copy_from_slice(&frame.encode());
        let checksum = Checksum::of(&bytes[at + 8..at + 100]);
        bytes[at..at + 8].copy_from_slice(&checksum.get().to_le_bytes());
    });
    check(&deltas, "batch-deltas", "the stored offset deltas of 1 of 2 messages do not count from 0");
}

/// F72, F78: one limit, in bytes, looked at before the first byte is written, with a test on both sides of it.
#[test]
fn the_sum_of_a_batch_is_bounded_whatever_its_messages() {
    assert!(Admission::new(CEILING).check(&batch(38), Offset::ZERO).is_ok(), "4056 bytes");
    check(&batch(39), "batch-too-large", "the batch has 4156 bytes, and 4096 is the most that is let in");
}

#[test]
fn a_batch_of_just_the_ceiling_is_let_in() {
    let batch = batch(38);
    for (ceiling, is_let_in) in [(4055, false), (4056, true), (4057, true)] {
        let checked = Admission::new(Length::new(ceiling)).check(&batch, Offset::ZERO);
        assert_eq!(checked.is_ok(), is_let_in, "4056 bytes below a ceiling of {ceiling}");
    }
}

/// F75: whoever raises the smaller ceiling for it is not sent to the other one then.
#[test]
fn a_batch_that_passes_both_ceilings_is_told_the_one_of_the_format() {
    let format = usize::try_from(BATCH_BYTES_MAX.get()).expect("the ceiling fits memory");
    let sentence = "the batch has 268435713 bytes, and 268435712 is the most that is let in";
    check(&vec![0; format + 1], "batch-too-large", sentence);
    let sentence = "the batch has 268435712 bytes, and 4096 is the most that is let in";
    check(&vec![0; format], "batch-too-large", sentence);
}

#[test]
fn the_last_offset_is_never_given_to_a_message() {
    let mut admission = Admission::new(CEILING);
    let (_, behind) = admission.check(&batch(2), Offset::new(u64::MAX - 2)).unwrap();
    assert_eq!(behind, Offset::new(u64::MAX), "the last message is one below it");
    let rejection = admission.check(&batch(2), Offset::new(u64::MAX - 1)).unwrap_err();
    assert_eq!(rejection.code(), "offsets-exhausted");
}

/// F15: the ceiling is part of the format and no setting. F77: it is the only hard number, and the advice names it.
#[test]
fn the_ceiling_of_the_format_is_named_before_any_limit_that_an_operator_could_move() {
    let usual = PartitionOptions::new(Durability::Synced, None);
    assert_eq!(usual.validate(), Ok(()));
    let batch_bytes = Length::new(512 * 1024 * 1024);
    let all_wrong = PartitionOptions {
        batch_bytes_max: batch_bytes,
        segment_bytes: Length::new(u64::MAX),
        ledger_bytes_max: Length::ZERO,
        ..usual
    };
    let error = all_wrong.validate().unwrap_err();
    assert_eq!(error, OptionsError::BatchAboveCeiling { batch_bytes });
    assert_eq!(
        error.to_string(),
        "batches of 536870912 bytes are asked for, and no setting lets in more than 268435712"
    );
    let segment = PartitionOptions { batch_bytes_max: BATCH_BYTES_MAX, ..all_wrong };
    assert_eq!(segment.validate().unwrap_err().code(), "segment-too-large");
    let ledger = PartitionOptions { segment_bytes: Length::new(512), ..segment };
    assert_eq!(ledger.validate().unwrap_err().code(), "ledger-too-small");
    let small = PartitionOptions { segment_bytes: Length::new(511), ..usual };
    assert_eq!(small.validate().unwrap_err().code(), "segment-too-small");
    let none = PartitionOptions { batch_bytes_max: Length::new(303), ..usual };
    assert_eq!(none.validate().unwrap_err().code(), "batch-too-small");
}

#[test]
fn every_limit_of_an_option_may_be_asked_for_itself() {
    let usual = PartitionOptions::new(Durability::Synced, None);
    let [none, smallest, largest] = [303, 304, BATCH_BYTES_MAX.get()].map(Length::new);
    for (batch_bytes_max, is_valid) in [(none, false), (smallest, true), (largest, true)] {
        let options = PartitionOptions { batch_bytes_max, ..usual };
        assert_eq!(options.validate().is_ok(), is_valid, "batches of {batch_bytes_max} bytes");
    }
    let gibibyte = 1024 * 1024 * 1024;
    for (bytes, is_valid) in [(511, false), (512, true), (gibibyte, true), (gibibyte + 1, false)] {
        let options = PartitionOptions { segment_bytes: Length::new(bytes), ..usual };
        assert_eq!(options.validate().is_ok(), is_valid, "segments of {bytes} bytes");
    }
    for (bytes, is_valid) in [(1023, false), (1024, true), (u64::MAX, true)] {
        let options = PartitionOptions { ledger_bytes_max: Length::new(bytes), ..usual };
        assert_eq!(options.validate().is_ok(), is_valid, "a ledger of {bytes} bytes");
    }
}
