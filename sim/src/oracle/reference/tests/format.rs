//! The reference's own decoders against the worked vectors of IGGY_FORMAT.

use recovery_core::observe::SuperblockIdentity;

use crate::oracle::reference::batch::{Flaw, verify};
use crate::oracle::reference::file_names::index_name;
use crate::oracle::reference::superblock::{Superblock, read_pair};

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Batch "B": partition 7, base offset 100, two messages, 405 bytes.
fn worked_batch() -> Vec<u8> {
    let header = bytes_of(
        "0700000000000000 6400000000000000 00401e18240a0600 183c1e18240a0600
         9501000000000000 9ae47ded61c41574 02000000",
    );
    let first = bytes_of(
        "8e5ca59edbbdbfb9 01000000000000000000000000000000 00000000 00000000 00000000 05000000
         0000000000000000 68656c6c6f",
    );
    let second = bytes_of(
        "b93662fc5db93ef6 100f0e0d0c0b0a090807060504030201 01000000 fa000000 2a000000 06000000
         0000000000000000 776f726c6421
         02 04000000 6b696e64 02 07000000 66697874757265 02 03000000 736571 0c 08000000 0000000000000000",
    );
    [header, vec![0; 204], first, second].concat()
}

#[test]
fn the_worked_batch_verifies() {
    let bytes = worked_batch();
    assert_eq!(bytes.len(), 405);
    let batch = verify(&bytes, 0).unwrap();
    assert_eq!(
        (batch.partition_id, batch.base_offset, batch.base_timestamp, batch.messages, batch.length),
        (7, 100, 1_700_000_000_000_000, 2, 405)
    );
    assert_eq!(batch.next_offset(), Some(102));
}

#[test]
fn every_flipped_bit_of_the_worked_batch_is_seen() {
    let mut bytes = worked_batch();
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(verify(&bytes, 0).is_err(), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(verify(&bytes, 0).is_ok());
}

#[test]
fn every_cut_of_the_worked_batch_is_short() {
    let bytes = worked_batch();
    for length in 0..bytes.len() {
        assert_eq!(verify(&bytes[..length], 0).unwrap_err(), Flaw::Short, "{length} bytes");
    }
}

#[test]
fn the_worked_superblock_reads() {
    let slot = bytes_of(
        "4b4c4253 0100 0000 0500000000000000 0000000000000000 42000000
         21bb05c88727bab88d0ec27be8a72d46 00 01 03000000 02000000 2900000000000000 0000000000000000
         00000000000000000000000000000000 7804000000000000 cbf3cd647a2a593a",
    );
    assert_eq!(slot.len(), 102);
    assert_eq!(read_pair(&slot, &[], None), Superblock::Frontier(1144));
    assert_eq!(read_pair(&[], &slot, None), Superblock::Frontier(1144));
    let cluster = u128::from_le_bytes(slot[28..44].try_into().unwrap());
    let own = SuperblockIdentity { cluster, replica: 0, replica_count: 1 };
    assert_eq!(read_pair(&slot, &[], Some(own)), Superblock::Frontier(1144));
    for other in [
        SuperblockIdentity { cluster: 1, ..own },
        SuperblockIdentity { replica: 1, ..own },
        SuperblockIdentity { replica_count: 3, ..own },
    ] {
        assert_eq!(read_pair(&slot, &[], Some(other)), Superblock::Foreign);
        assert_eq!(read_pair(&slot, &[1], Some(other)), Superblock::Unreadable);
    }
    for bit in 0..slot.len() * 8 {
        let mut flipped = slot.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(read_pair(&flipped, &slot, None), Superblock::Unreadable, "bit {bit}");
    }
}

#[test]
fn an_index_is_named_by_twenty_digits() {
    assert_eq!(&index_name(0), b"00000000000000000000.index");
    assert_eq!(&index_name(1010), b"00000000000000001010.index");
    assert_eq!(&index_name(u64::MAX), b"18446744073709551615.index");
}
