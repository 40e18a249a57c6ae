//! Names of files: one spelling a segment, and nothing else is one.

use recovery_core::format::{FileName, SuperblockSlot, partition_components};
use recovery_core::storage::{NAME_BYTES_MAX, Name};
use recovery_core::units::{Namespace, SegmentStart};

fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).unwrap()
}

fn check(text: &str, expected: FileName) {
    assert_eq!(FileName::classify(&name(text)), expected, "{text}");
}

#[test]
fn exactly_twenty_digits_of_a_u64_name_a_segment() {
    for (stem, start) in [
        ("00000000000000000000", Some(0)),
        ("00000000000000000005", Some(5)),
        ("09999999999999999999", Some(9_999_999_999_999_999_999)),
        ("18446744073709551615", Some(u64::MAX)),
        ("18446744073709551616", None),
        ("20000000000000000000", None),
        ("99999999999999999999", None),
        ("5", None),
        ("1010", None),
        ("+5", None),
        ("+0000000000000000005", None),
        ("-0000000000000000005", None),
        (" 0000000000000000005", None),
        ("0000000000000000005", None),
        ("000000000000000000005", None),
        ("0000000000000000000a", None),
        ("0000000000000000_005", None),
        ("00000000000000000005 ", None),
        ("٠٠٠٠٠٠٠٠٠٠", None),
        ("00000000000000000005.log", None),
        ("", None),
    ] {
        let start = start.map(SegmentStart::new);
        check(&format!("{stem}.log"), start.map_or(FileName::StrayLog, FileName::Log));
        check(&format!("{stem}.index"), start.map_or(FileName::StrayIndex, FileName::Index));
        check(&format!("{stem}.log.staging"), FileName::Staging);
    }
}

#[test]
fn a_segments_files_are_spelled_as_they_are_read() {
    for (start, stem) in [
        (0, "00000000000000000000"),
        (50, "00000000000000000050"),
        (9_999_999_999_999_999_999, "09999999999999999999"),
        (u64::MAX, "18446744073709551615"),
    ] {
        let start = SegmentStart::new(start);
        assert_eq!(FileName::log(start), name(&format!("{stem}.log")));
        assert_eq!(FileName::index(start), name(&format!("{stem}.index")));
        assert_eq!(FileName::index_staging(start), name(&format!("{stem}.index.staging")));
        assert_eq!(FileName::classify(&FileName::log(start)), FileName::Log(start));
        assert_eq!(FileName::classify(&FileName::index(start)), FileName::Index(start));
    }
}

#[test]
fn every_other_name_is_known_whole_or_left_alone() {
    check("ledger", FileName::Ledger);
    check("ledger.staging", FileName::Staging);
    check("superblock.a", FileName::Superblock(SuperblockSlot::A));
    check("superblock.b", FileName::Superblock(SuperblockSlot::B));
    check(".staging", FileName::Staging);
    for other in [
        "superblock.c",
        "superblock.a.tmp",
        "Ledger",
        "ledger ",
        "offsets",
        "purge.gen",
        "00000000000000000005",
        "00000000000000000005.LOG",
        "00000000000000000005.log~",
        "00000000000000000005.log.bak",
        "log",
        "COMPLETE",
    ] {
        check(other, FileName::Other);
    }
    assert_eq!(FileName::classify(&FileName::ledger()), FileName::Ledger);
    assert_eq!(FileName::classify(&FileName::ledger_staging()), FileName::Staging);
    for slot in SuperblockSlot::ALL {
        assert_eq!(FileName::classify(&slot.name()), FileName::Superblock(slot));
    }
}

#[test]
fn a_partition_lies_where_a_real_server_puts_it() {
    let path = |stream, topic, partition| {
        let components = partition_components(Namespace { stream, topic, partition });
        components.map(|name| name.to_string()).join("/")
    };
    assert_eq!(path(2, 0, 10), "streams/2/topics/0/partitions/10");
    assert_eq!(path(u32::MAX, 4095, 1_048_575), "streams/4294967295/topics/4095/partitions/1048575");
}

#[test]
fn a_name_is_one_component_of_at_most_255_bytes() {
    let longest = "x".repeat(NAME_BYTES_MAX);
    for (bytes, is_name) in [
        (&b""[..], false),
        (b".", false),
        (b"..", false),
        (b"...", true),
        (b".a", true),
        (b"a/b", false),
        (b"/", false),
        (b"a\0", false),
        (b"a\xff", true),
        (longest.as_bytes(), true),
        (&[b'x'; NAME_BYTES_MAX + 1], false),
    ] {
        assert_eq!(Name::new(bytes).is_some(), is_name, "{}", bytes.escape_ascii());
        assert_eq!(Name::new(bytes).is_some_and(|name| name.as_bytes() == bytes), is_name);
    }
}

#[test]
fn a_suffix_makes_another_name_or_none() {
    let stem = name(&"x".repeat(250));
    assert_eq!(stem.with_suffix(b".logs"), Name::new(format!("{}.logs", "x".repeat(250)).as_bytes()));
    assert_eq!(stem.with_suffix(b".index"), None);
    assert_eq!(stem.with_suffix(b"/log"), None);
    assert_eq!(stem.with_suffix(b"\0"), None);
    assert_eq!(name("a").with_suffix(b""), Some(name("a")));
    assert!(name("a").with_suffix(b"b").unwrap() > name("a"), "names sort by their bytes");
}
