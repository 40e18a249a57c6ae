//! What the simulated disk costs alone: the storage calls of a small world, without core or oracle.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use recovery_core::storage::{Access, LockMode, Name, Storage};
use sim::disk::{FileChoice, Geometry, SimDirectory, SimDisk, Snapshot, SurvivorChoice, View};
use sim::schedule::{Filesystem, Fill, Restart, Survivors};

/// Batches of a small world, and the bytes of one.
const BATCHES: u64 = 20;
const BATCH: [u8; 400] = [7; 400];

fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).expect("plain names are used")
}

/// Makes the partition's directory with three segments, a ledger and a batch for each sync.
fn write_world(disk: &SimDisk) {
    let mut directory = disk.root().expect("the disk is well");
    for text in ["streams", "1", "topics", "1", "partitions", "0"] {
        disk.make_directory(&directory, &name(text)).expect("the disk is well");
        disk.sync_directory(&directory).expect("the disk is well");
        directory = disk.open_directory(&directory, &name(text)).expect("the disk is well");
    }
    let ledger = disk.create(&directory, &name("ledger")).expect("the disk is well");
    for segment in ["00000000000000000000", "00000000000000000010", "00000000000000000020"] {
        let log = disk.create(&directory, &name(&format!("{segment}.log"))).expect("the disk is well");
        let index = disk.create(&directory, &name(&format!("{segment}.index"))).expect("the disk is well");
        disk.sync_directory(&directory).expect("the disk is well");
        for batch in 0..BATCHES / 3 {
            disk.write(&log, batch * 400, &BATCH).expect("the disk is well");
            disk.sync(&log).expect("the disk is well");
            disk.write(&index, batch * 24, &[1; 24]).expect("the disk is well");
            disk.write(&ledger, batch * 128, &[2; 128]).expect("the disk is well");
            disk.sync(&ledger).expect("the disk is well");
        }
        disk.write(&log, (BATCHES / 3) * 400, &BATCH).expect("the disk is well");
    }
}

/// Lists, opens and reads everything once, as a recovery does; returns the bytes read.
fn recover(disk: &SimDisk, window: &mut [u8]) -> u64 {
    let mut directory = disk.root().expect("the disk is well");
    for text in ["streams", "1", "topics", "1", "partitions", "0"] {
        let next = disk.open_directory(&directory, &name(text)).expect("the disk is well");
        disk.close_directory(std::mem::replace(&mut directory, next));
    }
    disk.lock(&directory, LockMode::Exclusive).expect("nobody has it");
    let mut names = [None; 16];
    let mut count = 0;
    disk.list(&directory, &mut |name, _| {
        names[count] = Some(*name);
        count += 1;
    })
    .expect("the disk is well");
    let total = names.iter().flatten().map(|name| read_all(disk, &directory, name, window)).sum();
    disk.close_directory(directory);
    total
}

fn read_all(disk: &SimDisk, directory: &SimDirectory, name: &Name, window: &mut [u8]) -> u64 {
    let file = disk.open(directory, name, Access::ReadWrite).expect("it was listed");
    disk.sync(&file).expect("the disk is well");
    disk.drop_cache(&file).expect("the disk is well");
    let length = disk.length(&file).expect("the disk is well");
    let mut position = 0;
    while position < length {
        position += disk.read(&file, position, window).expect("the disk is well") as u64;
    }
    disk.close(file);
    position
}

fn crash(disk: &SimDisk, restart: Restart) {
    let everything = FileChoice { fill: Fill::StaleSame, ..FileChoice::of(Survivors::Prefix { n: 2 }) };
    disk.crash(restart, &SurvivorChoice { everything, names: Survivors::All, files: Vec::new() });
}

fn disk(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("disk");
    let mut window = vec![0; 4096];
    let simulated = SimDisk::new(Geometry::DEFAULT, Filesystem::Ext4Ordered);
    group.bench_function("reset-and-write", |bencher| {
        bencher.iter(|| {
            simulated.reset(Geometry::DEFAULT, Filesystem::Ext4Ordered);
            write_world(&simulated);
        });
    });
    let mut before = Snapshot::default();
    simulated.snapshot(&mut before);
    group.bench_function("snapshot-and-rewind", |bencher| {
        let mut snapshot = Snapshot::default();
        bencher.iter(|| {
            simulated.snapshot(&mut snapshot);
            simulated.rewind(&snapshot);
        });
    });
    group.bench_function("crash-and-rewind", |bencher| {
        bencher.iter(|| {
            crash(&simulated, Restart::Power);
            simulated.rewind(&before);
        });
    });
    crash(&simulated, Restart::Power);
    simulated.snapshot(&mut before);
    group.bench_function("recover-and-rewind", |bencher| {
        bencher.iter(|| {
            black_box(recover(&simulated, &mut window));
            simulated.rewind(&before);
        });
    });
    group.bench_function("image-hash", |bencher| bencher.iter(|| simulated.image_hash(View::Visible)));
    for filesystem in Filesystem::ALL {
        group.bench_function(format!("world-of-3-boots/{}", filesystem.code()), |bencher| {
            bencher.iter(|| {
                simulated.reset(Geometry::DEFAULT, filesystem);
                write_world(&simulated);
                for restart in [Restart::Process, Restart::Power] {
                    crash(&simulated, restart);
                    for _ in 0..3 {
                        black_box(recover(&simulated, &mut window));
                    }
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, disk);
criterion_main!(benches);
