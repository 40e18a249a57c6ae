//! The reader: what a poll answers, what it never answers, and what it costs.

use recovery_core::format::{BATCH_HEADER_BYTES, BatchBuilder, FileName, IndexEntry, stamp};
use recovery_core::observe::Workspace;
use recovery_core::partition::{Chain, ChainSegment, PollError, PollRequest, Polled, Reader, Skipped};
use recovery_core::storage::{Errno, PartitionDirectory};
use recovery_core::units::{Durability, Length, Offset, Position, SegmentStart};

use crate::memory_storage::{self, MemoryStorage, name};
use crate::partition_world::{NAMESPACE, World, batch, empty, file, options, reserving};
use crate::recording_storage::Fault;

const ALL: Length = Length::new(u64::MAX);

fn request(from: u64, messages_max: u64) -> PollRequest {
    PollRequest { from: Offset::new(from), messages_max, bytes_max: ALL }
}

/// Polls with a window of 512 bytes, which every batch of more than one message exceeds.
fn poll_chain(world: &World, chain: &Chain, request: &PollRequest) -> Result<Polled, PollError> {
    let mut polled = Polled::default();
    let mut workspace = Workspace::new(512);
    let directory = world.writer.directory();
    Reader::new().poll(&world.storage, directory, chain, request, &mut workspace, &mut polled)?;
    Ok(polled)
}

fn poll(world: &World, request: &PollRequest) -> Result<Polled, PollError> {
    poll_chain(world, world.writer.chain(), request)
}

/// An answer in one line: its batches as `first..next`, what was skipped as `first!next`, then where the
/// next poll goes on.
fn text(polled: &Polled) -> String {
    let mut parts: Vec<(Offset, String)> = Vec::new();
    for (header, bytes) in polled.batches() {
        assert_eq!(bytes.len() as u64, header.batch_length.get());
        assert_eq!(bytes[..BATCH_HEADER_BYTES], header.encode());
        let (first, next) = (header.base_offset, header.next_offset().unwrap());
        parts.push((first, format!("{first}..{next}")));
    }
    for skipped in polled.skipped() {
        let (first, next, sign) = match skipped {
            Skipped::Expired { first, next } => (first, next, '<'),
            Skipped::Gap(gap) => (&gap.first, &gap.next, '!'),
        };
        parts.push((*first, format!("{first}{sign}{next}")));
    }
    parts.sort();
    let mut words: Vec<String> = parts.into_iter().map(|(_, word)| word).collect();
    words.push(format!("then {}", polled.next_offset()));
    words.join(" ")
}

#[track_caller]
fn check(world: &World, request: &PollRequest, expected: &str) {
    assert_eq!(text(&poll(world, request).unwrap()), expected);
}

/// Batches of 1, 3, 2, 5, 1, 1 and 4 messages, one a flush, in segments of at least 1000 bytes.
fn written() -> World {
    let mut world = World::start(empty(), options(Durability::Synced, 1000));
    for messages in [1, 3, 2, 5, 1, 1, 4] {
        world.write(messages).unwrap();
    }
    assert_eq!(world.chain(), "0..6@1368 6..12@1112 12..17@1012");
    world
}

#[test]
fn a_poll_gives_whole_batches_from_the_one_that_holds_the_offset() {
    let world = written();
    check(&world, &request(0, u64::MAX), "0..1 1..4 4..6 6..11 11..12 12..13 13..17 then 17");
    check(&world, &request(2, 1), "1..4 then 4");
    check(&world, &request(2, 3), "1..4 4..6 then 6");
    check(&world, &request(5, 2), "4..6 6..11 then 11");
    check(&world, &request(16, 9), "13..17 then 17");
    check(&world, &PollRequest { bytes_max: Length::ZERO, ..request(6, 100) }, "6..11 then 11");
    check(&world, &PollRequest { bytes_max: Length::new(757), ..request(6, 100) }, "6..11 11..12 then 12");
}

#[test]
fn every_offset_is_found_whatever_the_window() {
    let world = written();
    for window in [512, 4096, 1 << 20] {
        let mut workspace = Workspace::new(window);
        let (mut reader, mut polled) = (Reader::new(), Polled::default());
        for from in 0..17 {
            let (chain, directory) = (world.writer.chain(), world.writer.directory());
            let request = request(from, 1);
            reader.poll(&world.storage, directory, chain, &request, &mut workspace, &mut polled).unwrap();
            let (header, _) = polled.batches().next().unwrap();
            let held = header.base_offset.get()..header.next_offset().unwrap().get();
            assert!(held.contains(&from), "window {window}: {from} is in {held:?}");
        }
    }
}

#[test]
fn what_is_not_acknowledged_is_not_there() {
    let mut world = written();
    check(&world, &request(17, 1), "then 17");
    check(&world, &request(99, 1), "then 99");
    world.append(1).unwrap();
    check(&world, &request(17, 1), "then 17");
    world.storage.arm(3, &[Fault::Error(Errno::NO_SPACE), Fault::Error(Errno::IO)]);
    world.flush().unwrap_err();
    world.storage.disarm();
    check(&world, &request(16, 9), "13..17 then 17");
}

#[test]
fn an_empty_partition_answers_without_a_call() {
    let world = World::start(empty(), options(Durability::Synced, 1000));
    check(&world, &request(0, 1), "then 0");
    assert_eq!(world.storage.take_calls(), "\n");
}

#[test]
fn recorded_gaps_and_expired_offsets_are_skipped_and_reported() {
    let mut world = World::start(empty(), reserving(10));
    world.write(3).unwrap();
    let mut world = World::start(world.crash(), reserving(10));
    world.write(2).unwrap();
    assert_eq!(world.chain(), "0..3@556 13..15@456");
    check(&world, &request(2, 9), "0..3 3!13 13..15 then 15");
    world.storage.take_calls();
    check(&world, &request(3, 9), "3!13 13..15 then 15");
    check(&world, &request(7, 9), "7!13 13..15 then 15");
    let calls = world.storage.take_calls();
    assert!(!calls.contains(" 0."), "the segment before the gap holds nothing that is asked for: {calls}");
    check(&world, &request(2, 1), "0..3 then 3");
    world.writer.retain(&world.storage, Offset::new(13)).unwrap();
    check(&world, &request(2, 9), "2<13 13..15 then 15");
}

#[test]
fn a_damaged_range_is_an_error_with_its_place_and_never_an_empty_answer() {
    let world = written();
    let log = file("6.log");
    let mut bytes = world.storage.bytes(&log).unwrap();
    bytes[BATCH_HEADER_BYTES + 60] ^= 1;
    world.storage.put(&log, &bytes);
    check(&world, &request(4, 9), "4..6 then 6");
    for from in [6, 9] {
        let error = poll(&world, &request(from, 1)).unwrap_err();
        let sentence = format!(
            "00000000000000000006.log does not hold at byte 0 what was acknowledged there (bad-checksum), \
             which puts offsets {from} to 11 out of reach"
        );
        assert_eq!((error.code(), error.to_string()), ("damaged", sentence));
    }
    // The index leads behind the damage, and what lies there is whole.
    check(&world, &request(11, 1), "11..12 then 12");
}

#[test]
fn a_log_that_ends_early_is_read_as_far_as_it_goes() {
    let world = written();
    let log = file("12.log");
    let mut bytes = world.storage.bytes(&log).unwrap();
    bytes.truncate(500);
    world.storage.put(&log, &bytes);
    check(&world, &request(12, 9), "12..13 then 13");
    let PollError::Damaged { position, first, last, .. } = poll(&world, &request(14, 1)).unwrap_err() else {
        panic!("bytes are missing")
    };
    assert_eq!((position.get(), first.get(), last.get()), (356, 14, 16));
}

#[test]
fn a_batch_that_verifies_in_the_wrong_place_is_damage() {
    let world = written();
    let (first, second) = (file("0.log"), file("6.log"));
    let mut bytes = world.storage.bytes(&second).unwrap();
    let other = world.storage.bytes(&first).unwrap();
    // The batch of offset 0 takes the place of the one of offset 11; both have one message.
    bytes[756..1112].copy_from_slice(&other[..356]);
    world.storage.put(&second, &bytes);
    let error = poll(&world, &request(11, 1)).unwrap_err();
    assert!(error.to_string().contains("at byte 756 what was acknowledged there (regression)"), "{error}");
}

/// The first segment of [`written`], as one that ends before `next_offset`, and no index of it.
fn ending_before(next_offset: u64) -> Chain {
    let segment = ChainSegment {
        start: SegmentStart::ZERO,
        end: Position::new(1368),
        next_offset: Offset::new(next_offset),
        index_length: Length::ZERO,
    };
    Chain::new(NAMESPACE.partition_id(), [segment])
}

#[test]
fn a_segment_that_holds_more_or_fewer_offsets_than_were_acknowledged_is_damage() {
    let world = written();
    let whole = poll_chain(&world, &ending_before(6), &request(0, 9)).unwrap();
    assert_eq!(text(&whole), "0..1 1..4 4..6 then 6");
    // Offsets 1 to 3 lie in the batch at byte 356, and offsets 4 and 5 in the last one.
    for (next_offset, from, position) in [(3, 1, 356), (5, 4, 912), (7, 4, 912)] {
        let error = poll_chain(&world, &ending_before(next_offset), &request(from, 9)).unwrap_err();
        let start = format!(
            "00000000000000000000.log does not hold at byte {position} what was acknowledged there (gap)"
        );
        assert!(error.to_string().starts_with(&start), "before {next_offset}: {error}");
    }
}

/// No index leads past them, so they are all that says where the next batch lies.
#[test]
fn batches_on_the_way_to_the_offset_are_verified_whole() {
    let world = written();
    let log = file("0.log");
    let mut bytes = world.storage.bytes(&log).unwrap();
    bytes[BATCH_HEADER_BYTES + 60] ^= 1;
    world.storage.put(&log, &bytes);
    let error = poll_chain(&world, &ending_before(6), &request(4, 1)).unwrap_err();
    let sentence = "00000000000000000000.log does not hold at byte 0 what was acknowledged there (bad-checksum), \
                    which puts offsets 4 to 5 out of reach";
    assert_eq!(error.to_string(), sentence);
}

/// Another server may leave one of no message anywhere, and at the end nothing lies behind its header.
#[test]
fn a_batch_without_a_message_at_the_end_of_a_segment_is_passed() {
    let mut foreign = batch(1);
    stamp(&mut foreign, NAMESPACE.partition_id(), Offset::ZERO, 1).unwrap();
    let from = foreign.len();
    BatchBuilder::begin(&mut foreign, 1).finish();
    stamp(&mut foreign[from..], NAMESPACE.partition_id(), Offset::new(1), 1).unwrap();
    let storage = empty();
    storage.put(&file("0.log"), &foreign);
    let mut world = World::start(storage, options(Durability::Synced, 512));
    world.write(1).unwrap();
    assert_eq!(world.chain(), "0..1@612 1..2@356");
    check(&world, &request(0, 9), "0..1 1..2 then 2");
}

#[test]
fn what_was_read_before_damage_is_answered_without_another_look_at_the_start() {
    let world = written();
    let log = file("0.log");
    let mut bytes = world.storage.bytes(&log).unwrap();
    bytes[912 + BATCH_HEADER_BYTES + 60] ^= 1;
    world.storage.put(&log, &bytes);
    world.storage.take_calls();
    check(&world, &request(1, 9), "1..4 then 4");
    let calls = world.storage.take_calls();
    let reads = calls.lines().filter(|line| *line == "read 0.log").count();
    // Two for the batch that the index led to, and one for each reading of the damaged one.
    assert_eq!(reads, 4, "{calls}");
}

#[test]
fn one_read_that_returns_other_bytes_changes_no_answer() {
    let world = written();
    let request = request(5, 4);
    let expected = text(&poll(&world, &request).unwrap());
    for has_index in [true, false] {
        let storage = MemoryStorage::new();
        for file_name in world.storage.names() {
            if has_index || !file_name.contains(".index") {
                let bytes = world.storage.bytes(&file(&file_name)).unwrap();
                storage.put(&format!("partition/{}", file(&file_name)), &bytes);
            }
        }
        let directory = PartitionDirectory::open(&storage, &[name("partition")]).unwrap();
        let (mut workspace, mut polled) = (Workspace::new(512), Polled::default());
        for k in 1.. {
            storage.start_again(Some(memory_storage::Fault::Misread(k)));
            let chain = world.writer.chain();
            let answer =
                Reader::new().poll(&storage, &directory, chain, &request, &mut workspace, &mut polled);
            assert_eq!(answer, Ok(()), "call {k}");
            assert_eq!(text(&polled), expected, "call {k}");
            if storage.attempts() < k {
                assert!(k > 6, "a poll takes more calls than that");
                break;
            }
        }
    }
}

#[test]
fn a_wrong_index_costs_time_and_changes_no_answer() {
    let world = written();
    let expected: Vec<String> = (0..17).map(|from| text(&poll(&world, &request(from, 4)).unwrap())).collect();
    let entry = |offset, position| IndexEntry {
        offset: Offset::new(offset),
        timestamp: 5_001,
        position: Position::new(position),
    };
    let wrong: [Vec<IndexEntry>; 7] = [
        vec![],
        vec![entry(0, 0), entry(1, 100)],
        vec![entry(0, 0), entry(1, 912)],
        vec![entry(0, 0), entry(1, 1368)],
        vec![entry(5, 0)],
        vec![entry(0, u64::MAX)],
        vec![entry(3, 1000), entry(2, 900), entry(1, 0)],
    ];
    for entries in wrong {
        let bytes: Vec<u8> = entries.iter().flat_map(IndexEntry::encode).collect();
        world.storage.put(&FileName::index(SegmentStart::ZERO), &bytes);
        let found: Vec<String> =
            (0..17).map(|from| text(&poll(&world, &request(from, 4)).unwrap())).collect();
        assert_eq!(found, expected, "{entries:?}");
    }
}

#[test]
fn a_poll_that_fails_at_any_call_gives_an_error_or_the_whole_answer() {
    let world = written();
    let expected = text(&poll(&world, &request(5, 1)).unwrap());
    let handles = world.storage.open_handles();
    for k in 1.. {
        world.storage.arm(k, &[Fault::Error(Errno::TOO_MANY_FILES)]);
        let answer = poll(&world, &request(5, 1));
        assert_eq!(world.storage.open_handles(), handles, "call {k} left a handle open");
        if world.storage.disarm() {
            break;
        }
        match answer {
            // The index is a shortcut: without it the answer is the same.
            Ok(polled) => assert_eq!(text(&polled), expected, "call {k}"),
            Err(error) => assert_eq!(error.code(), "io", "call {k}"),
        }
    }
}

#[test]
fn a_long_index_is_searched_and_not_read() {
    let mut world = World::start(empty(), options(Durability::Buffered, 1024 * 1024));
    for _ in 0..2_000 {
        world.write(1).unwrap();
    }
    for from in [0, 1, 169, 170, 171, 999, 1_000, 1_998, 1_999] {
        world.storage.take_calls();
        check(&world, &request(from, 1), &format!("{from}..{next} then {next}", next = from + 1));
        let calls = world.storage.take_calls();
        let index_reads = calls.lines().filter(|line| *line == "read 0.index").count();
        assert!(index_reads <= 5, "{from}: {calls}");
        let log_reads = calls.lines().filter(|line| *line == "read 0.log").count();
        assert!(log_reads <= 2, "{from}: {calls}");
    }
}

#[test]
fn an_index_is_halved_until_one_read_takes_the_rest() {
    let mut world = World::start(empty(), options(Durability::Buffered, 1024 * 1024));
    // A block holds 170 entries: of 342, one is looked at, and a block is left above it.
    let mut written = 0;
    for (entries, expected) in [(170, 1), (171, 2), (342, 2), (343, 3)] {
        for _ in written..entries {
            world.write(1).unwrap();
        }
        written = entries;
        world.storage.take_calls();
        check(
            &world,
            &request(entries - 1, 1),
            &format!("{last}..{entries} then {entries}", last = entries - 1),
        );
        let calls = world.storage.take_calls();
        let index_reads = calls.lines().filter(|line| *line == "read 0.index").count();
        assert_eq!(index_reads, expected, "{entries} entries: {calls}");
    }
}
