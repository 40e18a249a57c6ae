//! The probe of a residue: what it finds, how often it looks, and that it comes to an end.

use super::{INCARNATION, Log, NAMESPACE, batch, batch_of};
use crate::format::{BatchHeader, ChainHash, Checksum};
use crate::observe::index_again::IndexAgain;
use crate::observe::residue_probe::{ProbeTools, ResidueProbe};
use crate::observe::run_collector::{RunCollector, RunRules};
use crate::observe::window::{Fill, Window};
use crate::observe::{FINDS_LISTED_MAX, Meter, ResidueFacts, Verifier, Work};
use crate::units::{Length, Offset, PartitionId, Position, SegmentStart};

/// Bytes in which no header starts.
const NOISE: [u8; 500] = [0xee; 500];

/// How a probe looks.
#[derive(Clone, Copy)]
struct Eyes {
    window: usize,
    limit: u64,
    /// Whether the windows show nothing any more whenever a step begins, as where they are shared.
    forgets: bool,
}

/// Such that nothing is in the way.
const WIDE: Eyes = Eyes { window: 64 * 1024, limit: 1 << 20, forgets: false };

/// Most steps of a probe, so that one without end is noticed.
const STEPS_MAX: u32 = 1000;

/// Probes all of `bytes`, behind a prefix that ends before offset 5.
fn probe(bytes: Vec<u8>, stop_is_damage: bool, eyes: Eyes) -> (ResidueFacts, bool, Work) {
    let log = Log::new(bytes);
    let rules = RunRules {
        segment: SegmentStart::ZERO,
        stop: Position::ZERO,
        next: Offset::new(5),
        chain_hash: None,
        namespace: NAMESPACE,
        incarnation: None,
        barred: Vec::new(),
    };
    let mut probe = ResidueProbe::new(rules, Length::new(log.length()), stop_is_damage);
    let (mut log_window, mut candidate_window) = (Window::new(eyes.window), Window::new(eyes.window));
    let (mut verifier, mut meter) = (Verifier::new(), Meter::default());
    for _ in 0..STEPS_MAX {
        meter.begin_step(eyes.limit);
        if eyes.forgets {
            log_window.forget();
            candidate_window.forget();
        }
        let mut tools = ProbeTools {
            log: &log.source(),
            log_window: &mut log_window,
            candidate_window: &mut candidate_window,
            verifier: &mut verifier,
            meter: &mut meter,
        };
        if probe.step(&mut tools).expect("no read fails") == Fill::Ready {
            let is_contradicted = probe.is_contradicted();
            return (probe.finish(), is_contradicted, meter.work());
        }
    }
    panic!("a probe comes to its end");
}

/// Compares the kind of a residue, the numbers of survivors and strays, the candidates, and the runs.
#[track_caller]
fn check(parts: &[&[u8]], expected: &str) {
    let (facts, ..) = probe(parts.concat(), false, WIDE);
    let runs =
        facts.runs.iter().map(|run| format!(", {}+{} {}..{}", run.position, run.length, run.first, run.next));
    let ResidueFacts { survivor_count, stray_count, candidates, .. } = facts;
    let found = format!("{} {survivor_count} {stray_count} of {candidates}", facts.kind.code());
    assert_eq!(found + &runs.collect::<Vec<_>>().concat(), expected);
}

#[test]
fn a_header_is_a_residue_in_which_a_batch_may_be_found() {
    check(&[&batch(5, &[])], "survivor 1 0 of 1");
    check(&[&batch(4, &[])], "stray 0 1 of 1");
    check(&[&NOISE, &batch(5, &[])], "survivor 1 0 of 1");
    check(&[&batch(5, &[])[..255]], "noise 0 0 of 0");
}

#[test]
fn a_run_begins_with_a_message_whose_offset_had_room() {
    check(&[&NOISE, &batch(5, &[0])], "survivor 1 0 of 1, 500+304 5..6");
    check(&[&NOISE, &batch(5, &[]), &batch(5, &[0])], "survivor 2 0 of 2, 756+304 5..6");
    check(&[&NOISE, &batch(99, &[0])], "stray 0 1 of 1");
    // What lies just where the prefix ends was written there, whatever it holds.
    check(&[&batch(99, &[0])], "stray 0 1 of 1, 0+304 99..100");
    check(&[&batch(99, &[])], "stray 0 1 of 1");
}

#[test]
fn of_each_kind_the_first_finds_are_listed_and_all_are_counted() {
    let foreign = batch_of(PartitionId::new(4), 5, &[]);
    for (batch, is_survivor) in [(batch(5, &[]), true), (foreign, false)] {
        for count in [FINDS_LISTED_MAX - 1, FINDS_LISTED_MAX, FINDS_LISTED_MAX + 2] {
            let (facts, ..) = probe(batch.repeat(count), false, WIDE);
            let survivors = (facts.survivors.len(), facts.survivor_count);
            let strays = (facts.strays.len(), facts.stray_count);
            let listed = (count.min(FINDS_LISTED_MAX), count as u64);
            let expected = if is_survivor { (listed, (0, 0)) } else { ((0, 0), listed) };
            assert_eq!((survivors, strays), expected, "{count}");
        }
    }
}

#[test]
fn only_a_batch_that_verifies_where_the_walk_saw_damage_contradicts_it() {
    let batch = batch(5, &[0]);
    let behind = [&NOISE[..], &batch].concat();
    for (bytes, is_damage, expected) in [(&batch, true, true), (&batch, false, false), (&behind, true, false)]
    {
        let (_, is_contradicted, _) = probe(bytes.clone(), is_damage, WIDE);
        assert_eq!(is_contradicted, expected, "damage {is_damage} in {} bytes", bytes.len());
    }
}

#[test]
fn a_whole_batch_is_read_once_and_walked_twice_and_hashed_once_beside_the_residue() {
    let (_, _, work) = probe(batch(5, &[0, 0, 0]), false, WIDE);
    let skeleton = 44 + 3 * 8;
    let bodies = 44 + 3 * 48;
    let residue = 256 + 3 * 48;
    assert_eq!((work.bytes_read, work.bytes_walked), (residue, 2 * 3 * 48));
    assert_eq!(work.bytes_hashed, residue + skeleton + bodies);
}

#[test]
fn a_damaged_batch_is_looked_at_twice_where_the_bytes_that_are_hashed_do_not_show_it() {
    let mut bytes = batch(5, &[0, 0, 0]);
    // The last frame's stored checksum, which is part of what the batch's covers.
    bytes[256 + 2 * 48] ^= 1;
    for (window, looks) in [(512, 1), (304, 2)] {
        let (facts, _, work) = probe(bytes.clone(), false, Eyes { window, ..WIDE });
        assert_eq!((facts.candidates, work.bytes_walked), (1, looks * 3 * 48), "{window}");
    }
}

#[test]
fn a_probe_ends_though_its_windows_are_lent_to_somebody_else_between_its_steps() {
    let eyes = Eyes { window: 4096, limit: 512, forgets: true };
    for bytes in [NOISE.repeat(6), [&NOISE[..], &batch(5, &[])].concat(), batch(5, &[3000])] {
        let (found, ..) = probe(bytes.clone(), false, eyes);
        let (expected, ..) = probe(bytes, false, WIDE);
        assert_eq!(found, expected);
    }
}

#[test]
fn an_index_is_read_again_though_its_window_is_lent_to_somebody_else_between_the_steps() {
    let index = Log::new(NOISE.repeat(6));
    let (mut window, mut meter) = (Window::new(4096), Meter::default());
    let mut again = IndexAgain::begin(&mut window);
    let is_read = (0..STEPS_MAX).any(|_| {
        meter.begin_step(512);
        window.forget();
        again.step(&index.source(), &mut window, &mut meter).expect("no read fails") == Fill::Ready
    });
    assert!(is_read, "it comes to its end");
    assert_eq!(again.checksum(), Checksum::of(&index.bytes));
}

#[test]
fn a_step_that_just_suffices_for_a_candidates_header_takes_it() {
    // The residue is read and hashed; what is left is what hashing the header takes.
    let eyes = Eyes { limit: 256 + 256 + 44, ..WIDE };
    let (facts, _, work) = probe(batch(5, &[]), false, eyes);
    assert_eq!((facts.survivor_count, work.longest_step_bytes), (1, 556));
}

#[test]
fn a_run_goes_on_with_the_chain_of_the_prefix_where_it_continues_it_and_begins_its_own_elsewhere() {
    let prefix = ChainHash::start(NAMESPACE, INCARNATION, SegmentStart::ZERO).after(Checksum::new(1));
    let own = |first| ChainHash::start(NAMESPACE, INCARNATION, SegmentStart::new(first));
    // The segment's start, the offset behind the prefix, where the batch lies and its offset.
    for (segment, next, position, first, expected) in
        [(0, 5, 700, 5, prefix), (0, 5, 700, 6, own(6)), (0, 5, 900, 5, own(5)), (5, 5, 900, 5, prefix)]
    {
        let mut collector = RunCollector::new(RunRules {
            segment: SegmentStart::new(segment),
            stop: Position::new(700),
            next: Offset::new(next),
            chain_hash: Some(prefix),
            namespace: NAMESPACE,
            incarnation: Some(INCARNATION),
            barred: Vec::new(),
        });
        let header = BatchHeader::read(batch(first, &[0]).first_chunk().expect("a batch has a header"));
        collector.take(Position::new(position), &header, true);
        let hashes: Vec<_> = collector.finish().iter().map(|run| run.chain_hash).collect();
        assert_eq!(hashes, [Some(expected.after(header.batch_checksum))], "{first} at {position}");
    }
}
