//! Ledger records: golden bytes, and what does not verify is none.

use proptest::prelude::*;
use recovery_core::format::{
    ChainHash, Checksum, IdentityTag, LEDGER_RECORD_BYTES, LedgerKind, LedgerRecord, Mark, RecordDamage,
};
use recovery_core::units::{
    Durability, Incarnation, Length, Namespace, Offset, PartitionId, Position, SegmentStart,
};

use crate::golden::hex;

const NAMESPACE: Namespace = Namespace { stream: 3, topic: 2, partition: 1 };
const INCARNATION: Incarnation = Incarnation::new(0xabcd_ef01_2345_6789);

const SEALED: &str = "0302010000000000 6e9ffcf76029d3c7 0100000000000000 1100000000000000 \
     0400000000000000 6400000000000000 8813000000000000 6400000000000000 \
     9501000000000000 6600000000000000 bbdf248fe72318a4 6e00000000000000 \
     0000000000000000 0100200003000000 8967452301efcdab 835b241b89692566";

const OPENED: &str = "0103010000000000 6e9ffcf76029d3c7 0100000000000000 0000000000000000 \
     0000000000000000 0000000000000000 0000000000000000 0000000000000000 \
     0000000000000000 0000000000000000 0000000000000000 0001001000000000 \
     0000000000000000 0100200003000000 8967452301efcdab be459e7d52505967";

/// A seal behind batch B of `format.rs`, followed by a recorded gap.
fn sealed() -> LedgerRecord {
    let segment = SegmentStart::new(100);
    let start = ChainHash::start(NAMESPACE, INCARNATION, segment);
    let mark = Mark {
        segment,
        position: Position::new(405),
        next_offset: Offset::new(102),
        chain_hash: start.after(Checksum::new(0x7415_c461_ed7d_e49a)),
    };
    LedgerRecord {
        kind: LedgerKind::Sealed { mark, next_start: SegmentStart::new(110) },
        durability: Durability::Synced,
        namespace: NAMESPACE,
        incarnation: INCARNATION,
        epoch: 1,
        slot: 17,
        generation: 4,
        floor: segment,
        reserved_offset: Offset::new(5000),
    }
}

fn opened() -> LedgerRecord {
    LedgerRecord {
        kind: LedgerKind::Opened { record_ceiling: Length::new(256 * 1024 * 1024 + 256) },
        durability: Durability::Proven,
        slot: 0,
        generation: 0,
        floor: SegmentStart::ZERO,
        reserved_offset: Offset::ZERO,
        ..sealed()
    }
}

#[test]
fn the_identity_and_the_chain_are_hashes_of_packed_numbers() {
    assert_eq!(NAMESPACE.packed(), 3 << 32 | 2 << 20 | 1);
    assert_eq!(NAMESPACE.partition_id(), PartitionId::new(1));
    assert_eq!(IdentityTag::of(NAMESPACE, INCARNATION).get(), 0xc7d3_2960_f7fc_9f6e);
    let start = ChainHash::start(NAMESPACE, INCARNATION, SegmentStart::new(100));
    assert_eq!(start.get(), 0xf155_9684_25e8_58c7);
    assert_eq!(start.after(Checksum::new(0x7415_c461_ed7d_e49a)).get(), 0xa418_23e7_8f24_dfbb);
}

#[test]
fn records_of_the_documented_layout_decode_and_encode() {
    for (text, record) in [(SEALED, sealed()), (OPENED, opened())] {
        let bytes = hex(text);
        assert_eq!(record.encode()[..], bytes[..]);
        assert_eq!(LedgerRecord::decode(bytes.first_chunk().unwrap()), Ok(record));
    }
}

#[test]
fn zeros_are_no_record() {
    let damage = LedgerRecord::decode(&[0; LEDGER_RECORD_BYTES]).unwrap_err();
    assert!(matches!(damage, RecordDamage::Checksum { .. }), "{damage}");
}

/// Edits the golden seal, makes its checksum fit, and compares what decoding says.
fn check_contents(edit: impl FnOnce(&mut [u8]), expected: &str) {
    let mut bytes = sealed().encode();
    edit(&mut bytes);
    let checksum = Checksum::of(&bytes[..120]);
    bytes[120..].copy_from_slice(&checksum.get().to_le_bytes());
    let answer = match LedgerRecord::decode(&bytes) {
        Ok(record) => record.kind.code().to_owned(),
        Err(damage) => damage.to_string(),
    };
    assert_eq!(answer, expected);
}

#[test]
fn contents_that_no_writer_makes_are_refused_though_they_verify() {
    check_contents(|_| (), "sealed");
    let senseless = |field: &str| format!("the record verifies, but its {field} makes no sense");
    for number in [0, 9, 255] {
        check_contents(|bytes| bytes[0] = number, &senseless("kind"));
    }
    for number in [0, 4, 255] {
        check_contents(|bytes| bytes[1] = number, &senseless("mode"));
    }
    check_contents(|bytes| bytes[2] = 2, &senseless("version"));
    check_contents(|bytes| bytes[7] = 1, &senseless("reserved field"));
    check_contents(|bytes| bytes[8] ^= 1, &senseless("identity"));
    check_contents(|bytes| bytes[112] ^= 1, &senseless("identity"));
    check_contents(|bytes| bytes[111] = 1, &senseless("namespace"));
    // A seal whose next segment starts inside it, and a mark whose offsets end before its segment starts.
    check_contents(|bytes| bytes[88] = 101, &senseless("next start"));
    check_contents(|bytes| bytes[88] = 102, "sealed");
    check_contents(|bytes| bytes[72] = 99, &senseless("mark"));
    // At position 0 nothing was hashed and no offset was given away.
    check_contents(|bytes| bytes[64..72].fill(0), &senseless("mark"));
    // What a kind does not use is zero: a second number, then both, then a mark.
    check_contents(|bytes| bytes[96] = 1, &senseless("unused number"));
    for number in [2, 6, 8] {
        check_contents(|bytes| bytes[0] = number, &senseless("unused number"));
    }
    for number in [1, 4, 5] {
        check_contents(|bytes| bytes[0] = number, &senseless("unused mark"));
        check_contents(
            |bytes| {
                bytes[0] = number;
                bytes[56..88].fill(0);
                bytes[103] = 1;
            },
            &senseless("unused number"),
        );
    }
    // A lost range that ends before it begins.
    check_contents(|bytes| bytes[0] = 7, &senseless("lost range"));
    check_contents(
        |bytes| {
            bytes[0] = 7;
            bytes[96] = 110;
        },
        "accepted-loss",
    );
}

fn mark(namespace: Namespace, incarnation: Incarnation) -> impl Strategy<Value = Mark> {
    (any::<u32>(), any::<Option<(u32, u32, u64)>>()).prop_map(move |(segment, end)| {
        let segment = SegmentStart::new(u64::from(segment));
        let start = Mark {
            segment,
            position: Position::ZERO,
            next_offset: segment.offset(),
            chain_hash: ChainHash::start(namespace, incarnation, segment),
        };
        end.map_or(start, |(position, offsets, hash)| Mark {
            position: Position::new(u64::from(position) + 1),
            next_offset: segment.offset().checked_add(u64::from(offsets)).unwrap(),
            chain_hash: ChainHash::new(hash),
            ..start
        })
    })
}

fn kind(namespace: Namespace, incarnation: Incarnation) -> impl Strategy<Value = LedgerKind> {
    (0..8, mark(namespace, incarnation), any::<u32>(), any::<u32>()).prop_map(|(kind, mark, first, more)| {
        let (first, more) = (u64::from(first), u64::from(more));
        match kind {
            0 => LedgerKind::Opened { record_ceiling: Length::new(first) },
            1 => LedgerKind::Frontier { mark },
            2 => LedgerKind::Sealed { mark, next_start: SegmentStart::new(mark.next_offset.get() + more) },
            3 => LedgerKind::Floor,
            4 => LedgerKind::Reserved,
            5 => LedgerKind::Recovered { mark },
            6 => {
                LedgerKind::AcceptedLoss { mark, first: Offset::new(first), next: Offset::new(first + more) }
            }
            _ => LedgerKind::CleanStop { mark },
        }
    })
}

fn record() -> impl Strategy<Value = LedgerRecord> {
    let identity = (0..1_u32 << 20, 0..1_u32 << 12, 0..1_u32 << 20, any::<u64>());
    identity
        .prop_flat_map(|(stream, topic, partition, incarnation)| {
            let namespace = Namespace { stream, topic, partition };
            let incarnation = Incarnation::new(incarnation);
            let kind = kind(namespace, incarnation);
            (Just(namespace), Just(incarnation), kind, 0..Durability::ALL.len(), any::<[u64; 5]>())
        })
        .prop_map(|(namespace, incarnation, kind, durability, numbers)| LedgerRecord {
            kind,
            durability: Durability::ALL[durability],
            namespace,
            incarnation,
            epoch: numbers[0],
            slot: numbers[1],
            generation: numbers[2],
            floor: SegmentStart::new(numbers[3]),
            reserved_offset: Offset::new(numbers[4]),
        })
}

proptest! {
    #[test]
    fn a_record_comes_back_as_it_was_written(record in record()) {
        prop_assert_eq!(LedgerRecord::decode(&record.encode()), Ok(record));
    }

    #[test]
    fn every_single_flipped_bit_of_a_record_is_detected(record in record()) {
        let bytes = record.encode();
        for bit in 0..LEDGER_RECORD_BYTES * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            let damage = LedgerRecord::decode(&flipped);
            prop_assert!(matches!(damage, Err(RecordDamage::Checksum { .. })), "bit {}: {:?}", bit, damage);
        }
    }

    #[test]
    fn a_record_cut_short_by_zeros_is_detected(record in record(), kept in 0..LEDGER_RECORD_BYTES) {
        let mut bytes = record.encode();
        prop_assume!(bytes[kept..].iter().any(|byte| *byte != 0));
        bytes[kept..].fill(0);
        prop_assert!(LedgerRecord::decode(&bytes).is_err());
    }
}
