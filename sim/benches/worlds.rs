//! How many worlds a second one core runs, by the function that `sim run` calls and with every default check
//! on, and where their time goes, by phase.

use std::hint::black_box;
use std::sync::OnceLock;
#[expect(clippy::disallowed_types, reason = "a bench measures time")]
use std::time::Instant;

use criterion::{BenchmarkId, Criterion, Throughput};
use mimalloc::MiMalloc;
use sim::oracle::sample::Checks;
use sim::run::one::run_seed;
use sim::schedule::generate::{Knobs, ReplicasKnob, SizeKnob};
use sim::world::Arena;
use sim::world::meter::{Meter, Phase};

/// The one that `sim` has.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Worlds of one sample.
const WORLDS: u64 = 500;

/// Worlds behind the table by phase.
const TABLE_WORLDS: u64 = 20_000;

/// A world may cost so many microseconds where 20,000 a second are asked for.
const GOAL_MICROSECONDS: f64 = 50.0;

/// Nanoseconds since the first call.
#[expect(clippy::disallowed_types, reason = "a bench measures time")]
fn nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).expect("a bench ends this century")
}

/// Worlds of one node, or with three nodes and hosts on them.
fn knobs(size: SizeKnob, replicas: ReplicasKnob) -> Knobs {
    Knobs { size, replicas, ..Knobs::default() }
}

fn worlds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("worlds");
    group.sample_size(20);
    group.throughput(Throughput::Elements(WORLDS));
    for size in [SizeKnob::Small, SizeKnob::Mixed] {
        let mut arena = Arena::new();
        group.bench_function(BenchmarkId::from_parameter(size.code()), |bencher| {
            bencher.iter(|| run(&mut arena, knobs(size, ReplicasKnob::One), WORLDS));
        });
    }
    let mut arena = Arena::new();
    group.bench_function(BenchmarkId::from_parameter("three nodes"), |bencher| {
        bencher.iter(|| run(&mut arena, knobs(SizeKnob::Mixed, ReplicasKnob::Three), WORLDS));
    });
    group.finish();
}

fn run(arena: &mut Arena, knobs: Knobs, worlds: u64) {
    for seed in 1..=worlds {
        black_box(run_seed(arena, seed, knobs, Checks::Default));
    }
}

#[expect(clippy::print_stdout, reason = "a bench reports there")]
#[expect(clippy::cast_precision_loss, reason = "times are shown to three digits")]
fn print_table(knobs: Knobs, worlds: u64) {
    let mut arena = Arena::new();
    run(&mut arena, knobs, WORLDS);
    arena.meter = Meter::on(nanoseconds);
    run(&mut arena, knobs, worlds);
    arena.meter.enter(Phase::Generate);
    let microseconds = |phase: Phase| arena.meter.spent(phase) as f64 / 1000.0 / worlds as f64;
    let total: f64 = Phase::ALL.into_iter().map(microseconds).sum();
    let (size, replicas, rate) = (knobs.size.code(), knobs.replicas.code(), 1e6 / total);
    println!("{worlds} worlds of size {size}, replicas {replicas}, one core, {rate:.0} a second");
    println!("{:<12} {:>12} {:>8} {:>16}", "phase", "us a world", "share", "of 50 us a world");
    for phase in Phase::ALL {
        let spent = microseconds(phase);
        let (share, of_goal) = (spent / total, spent / GOAL_MICROSECONDS);
        println!("{:<12} {spent:>12.1} {:>7.1}% {:>15.0}%", phase.code(), share * 100.0, of_goal * 100.0);
    }
    println!("{:<12} {total:>12.1} {:>7.1}% {:>15.0}%", "all", 100.0, total / GOAL_MICROSECONDS * 100.0);
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    worlds(&mut criterion);
    criterion.final_summary();
    // `cargo test --benches` only wants to see that it runs.
    let worlds = if std::env::args().any(|argument| argument == "--test") { 64 } else { TABLE_WORLDS };
    print_table(knobs(SizeKnob::Small, ReplicasKnob::One), worlds);
    print_table(knobs(SizeKnob::Mixed, ReplicasKnob::One), worlds.min(2_000));
    print_table(knobs(SizeKnob::Mixed, ReplicasKnob::Three), worlds.min(2_000));
}
