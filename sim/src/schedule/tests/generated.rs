//! What the generator promises of its schedules.

use std::fmt::Write as _;

use recovery_core::units::{Namespace, SegmentStart};
use xxhash_rust::xxh3::xxh3_64;

use crate::schedule::*;

const SEEDS: std::ops::Range<u64> = 0..64;

fn knobs(size: SizeKnob) -> Knobs {
    Knobs { size, ..Knobs::default() }
}

fn schedules(knobs: Knobs, seeds: std::ops::Range<u64>) -> impl Iterator<Item = Schedule> {
    seeds.map(move |seed| generate_seed(seed, knobs))
}

/// Calls `visit` with every fault of a schedule, and whether it stands inside a step.
fn each_fault(schedule: &Schedule, mut visit: impl FnMut(&Fault, bool)) {
    for step in &schedule.steps {
        if let Action::Fault { fault, .. } = &step.action {
            visit(fault, false);
        }
        for interruption in &step.interruptions {
            if let Interruption::Fault(inside) = interruption {
                visit(&inside.fault, true);
            }
        }
    }
}

/// A changed hash means that old tokens name other schedules: raise the generator's number, and pin the
/// new hashes.
#[test]
fn the_schedules_of_the_first_seeds_are_pinned_for_this_generator() {
    let mut pinned = format!("generator {GENERATOR}\n");
    let mut pin = |name: &str, knobs: Knobs| {
        let mut text = String::new();
        for (seed, schedule) in SEEDS.zip(schedules(knobs, SEEDS)) {
            text += &print_schedule(&format!("seed {seed}"), None, &schedule);
        }
        writeln!(pinned, "{name} {:016x}", xxh3_64(text.as_bytes())).expect("a string takes it");
    };
    for size in SizeKnob::ALL {
        pin(size.code(), knobs(size));
    }
    for (name, replicas) in [("three nodes", ReplicasKnob::Three), ("mixed replicas", ReplicasKnob::Mixed)] {
        pin(name, Knobs { replicas, ..Knobs::default() });
    }
    assert_eq!(pinned, PINNED);
}

const PINNED: &str = "\
generator 11
mixed 6ef9a714db46a517
small 9893bb8e243eb8c0
medium 18e5bdc331e0d3dc
large 628f6b4595ee32d8
three nodes c1a065d9955cc702
mixed replicas 8860f1fe33328a43
";

#[test]
fn every_generated_schedule_reads_back_as_it_was_printed() {
    for size in SizeKnob::ALL {
        for schedule in schedules(knobs(size), SEEDS) {
            let scenario = Scenario::untold("generated", schedule);
            let text = print(&scenario);
            let read = parse("generated.kdl", &text).expect("what is printed reads");
            assert_eq!(read, scenario);
        }
    }
}

#[test]
fn the_legal_regime_holds_only_crashes_and_reported_errors() {
    let knobs = Knobs { regime: RegimeKnob::Legal, ..Knobs::default() };
    for schedule in schedules(knobs, 0..2000) {
        assert_eq!(schedule.first_illegal(), None);
        each_fault(&schedule, |_, is_inside| assert!(is_inside, "an error belongs to a call"));
    }
}

#[test]
fn a_schedule_keeps_to_the_bounds_of_its_size() {
    for (size, partitions, batches, boots) in
        [(SizeKnob::Small, 2, 24, 5), (SizeKnob::Medium, 4, 100, 8), (SizeKnob::Large, 8, 200, 12)]
    {
        for schedule in schedules(knobs(size), 0..500) {
            let made = schedule.steps.iter().filter_map(|step| step.action.batches());
            let made: u32 = made.map(|(first, last)| last.0 - first.0 + 1).sum();
            let starts = schedule.steps.iter().filter(|step| step.action == Action::Start).count();
            assert!(made <= batches);
            assert!((1..=partitions).contains(&schedule.world.partitions.len()));
            assert!((1..boots).contains(&starts), "{starts} starts");
        }
    }
}

#[test]
fn a_used_up_tape_spells_the_simplest_schedule() {
    let schedule = generate(&mut Tape::from_words(Default::default()), Knobs::default());
    let steps: Vec<String> = schedule.steps.iter().map(print_step).collect();
    let simplest = ["append \"1/1/0\" batch=0 payload=0", "flush \"1/1/0\"", "crash \"process\"", "start"];
    assert_eq!(steps[..4], simplest);
    assert_eq!(schedule.world.partitions, [PartitionHeader::new(schedule.world.partitions[0].namespace)]);
}

#[test]
fn fixing_one_knob_leaves_the_other_choices_as_they_were() {
    for seed in 0..200 {
        let free = generate_seed(seed, Knobs::default());
        let fixed = Knobs { filesystem: FilesystemKnob::Xfs, ..Knobs::default() };
        let fixed = generate_seed(seed, fixed);
        assert_eq!(fixed.world.filesystem, Filesystem::Xfs);
        assert_eq!(
            (free.world.regime, &free.world.partitions),
            (fixed.world.regime, &fixed.world.partitions)
        );
    }
}

#[test]
fn every_fault_kind_crash_choice_and_step_of_one_node_occurs() {
    let mut kinds = std::collections::BTreeSet::new();
    let mut torn = std::collections::BTreeSet::new();
    let mut words = std::collections::BTreeSet::new();
    for schedule in schedules(Knobs::default(), 0..3000) {
        each_fault(&schedule, |fault, _| {
            kinds.insert(fault.kind);
        });
        for step in &schedule.steps {
            words.insert(print_step(step).split(' ').next().expect("a step has a name").to_owned());
            let crashes = step.interruptions.iter().filter_map(|interruption| match interruption {
                Interruption::Crash(inside) => Some(&inside.crash),
                Interruption::Fault(_) => None,
            });
            let now = if let Action::Crash(crash) = &step.action { Some(crash) } else { None };
            for survival in crashes.chain(now).filter_map(Crash::survival) {
                torn.extend(survival.survive.torn_kind());
                torn.extend(survival.fill.torn_kind());
            }
        }
    }
    let missing: Vec<&str> =
        FaultKind::ALL.iter().filter(|kind| !kinds.contains(*kind)).map(|kind| kind.code()).collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert_eq!(torn.len(), TornKind::ALL.len());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(
        words,
        [
            "append",
            "checkpoint",
            "crash",
            "evict",
            "fault",
            "flush",
            "plant",
            "poll",
            "retain",
            "roll",
            "start",
            "stop"
        ]
    );
}

#[test]
fn worlds_with_hosts_hold_every_step_of_a_host_and_read_back() {
    let mut words = std::collections::BTreeSet::new();
    let (mut large, mut all) = (0, 0);
    let knobs = Knobs { replicas: ReplicasKnob::Mixed, ..Knobs::default() };
    for schedule in schedules(knobs, 0..1000) {
        let nodes = schedule.world.nodes;
        assert!(nodes == 1 || nodes == 3);
        (large, all) = (large + u32::from(nodes == 3), all + 1);
        for step in &schedule.steps {
            assert!(step.node.0 < nodes);
            if step.action.is_host() {
                words.insert(step.action.word());
            }
        }
        assert_eq!(schedule.first_illegal(), None);
        let scenario = Scenario::untold("generated", schedule);
        assert_eq!(parse("generated.kdl", &print(&scenario)).expect("what is printed reads"), scenario);
    }
    assert!(large * 2 >= all, "{large} of {all} worlds have three nodes");
    let words: Vec<&str> = words.into_iter().collect();
    let expected = [
        "accept-loss",
        "apply-inserts",
        "confirm",
        "create",
        "delete",
        "link",
        "queue-insert",
        "reconcile",
        "transfer",
    ];
    assert_eq!(words, expected);
}

#[test]
fn any_bytes_of_a_fuzzer_spell_a_schedule() {
    for length in 0..200_u64 {
        let bytes: Vec<u8> = (0..length).map(|index| (index * 37 + length * 11).to_le_bytes()[0]).collect();
        let mut tape = Tape::from_bytes(&mut arbitrary::Unstructured::new(&bytes));
        let schedule = generate(&mut tape, Knobs::default());
        assert!(schedule.steps.iter().any(|step| step.action == Action::Start));
    }
}

/// Two segments of three batches.
fn image() -> ImageShape {
    let header = PartitionHeader::new(Namespace { stream: 3, topic: 1, partition: 4 });
    let batches: Vec<ImageBatch> =
        (0..3).map(|index| ImageBatch { position: index * 404, messages: 1, payload_bytes: 100 }).collect();
    let segment =
        |start| ImageSegment { start: SegmentStart::new(start), log_bytes: 1212, batches: batches.clone() };
    let partition = ImagePartition { header, segments: vec![segment(0), segment(3)], next_offset: 6 };
    ImageShape { directory: "fixtures/two".to_owned(), partitions: vec![partition] }
}

#[test]
fn a_world_on_a_directory_starts_it_first_and_counts_on_from_its_batches() {
    let image = image();
    let mut hits = 0;
    for seed in 0..500 {
        let schedule = generate_on(&mut Tape::from_seed(seed), Knobs::default(), &image);
        let is_write = |step: &Step| matches!(step.action, Action::Append(_) | Action::Flush(_));
        let first_start = schedule.steps.iter().position(|step| step.action == Action::Start);
        let first_write = schedule.steps.iter().position(is_write);
        assert!(first_start.is_some_and(|start| first_write.is_none_or(|write| start < write)));
        let made = schedule.steps.iter().filter_map(|step| step.action.batches());
        assert!(made.into_iter().all(|(first, _)| first.0 >= image.batch_count()));
        each_fault(&schedule, |fault, _| {
            if let Target::Batch { batch, .. } = &fault.target {
                hits += u32::from(batch.0 < image.batch_count());
            }
        });
        let scenario = Scenario::untold("on a directory", schedule);
        assert_eq!(parse("generated.kdl", &print(&scenario)).expect("what is printed reads"), scenario);
    }
    assert!(hits > 100, "the directory's own batches are damaged: {hits}");
}
