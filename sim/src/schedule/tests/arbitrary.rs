//! Arbitrary scenarios: every value that the types hold and the language can say.

use std::borrow::Cow;

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use recovery_core::storage::Call;
use recovery_core::units::{Namespace, Offset, Position, SegmentStart};

use crate::schedule::*;

fn word<W: Word + std::fmt::Debug>() -> impl Strategy<Value = W> + Clone {
    select(W::WORDS)
}

fn namespace() -> BoxedStrategy<Namespace> {
    (0_u32..1 << 20, 0_u32..1 << 12, 0_u32..1 << 20)
        .prop_map(|(stream, topic, partition)| Namespace { stream, topic, partition })
        .boxed()
}

/// Numbers near both ends and everywhere else.
fn number() -> BoxedStrategy<u64> {
    prop_oneof![0_u64..5, any::<u64>(), Just(u64::MAX)].boxed()
}

fn offset() -> BoxedStrategy<Offset> {
    number().prop_map(Offset::new).boxed()
}

fn segment() -> BoxedStrategy<SegmentStart> {
    number().prop_map(SegmentStart::new).boxed()
}

fn batch() -> BoxedStrategy<BatchId> {
    any::<u32>().prop_map(BatchId).boxed()
}

fn node() -> BoxedStrategy<NodeId> {
    prop_oneof![Just(0), any::<u8>()].prop_map(NodeId).boxed()
}

fn text() -> BoxedStrategy<String> {
    prop_oneof![any::<String>(), "[a-z0-9./\\\\\" \n\t\u{2028}\u{feff}\u{85}]{0,12}"].boxed()
}

fn range() -> BoxedStrategy<OffsetRange> {
    (number(), number())
        .prop_map(|(left, right)| OffsetRange {
            first: Offset::new(left.min(right)),
            last: Offset::new(left.max(right)),
        })
        .boxed()
}

fn survivors() -> BoxedStrategy<Survivors> {
    prop_oneof![
        Just(Survivors::None),
        Just(Survivors::All),
        any::<u32>().prop_map(|n| Survivors::Prefix { n }),
        any::<u32>().prop_map(|n| Survivors::Suffix { n }),
        any::<u64>().prop_map(|mask| Survivors::Subset { mask }),
        any::<(u32, u32)>().prop_map(|(from, n)| Survivors::Window { from, n }),
    ]
    .boxed()
}

fn file_role() -> BoxedStrategy<FileRole> {
    prop_oneof![
        segment().prop_map(FileRole::Log),
        segment().prop_map(FileRole::Index),
        segment().prop_map(FileRole::IndexStaging),
        Just(FileRole::Ledger),
        Just(FileRole::LedgerStaging),
        word::<Slot>().prop_map(FileRole::Superblock),
        segment().prop_map(FileRole::CopyLog),
        Just(FileRole::CopyLedger),
        Just(FileRole::Complete),
        Just(FileRole::Fenced),
        Just(FileRole::MetadataLog),
        Just(FileRole::Directory),
    ]
    .boxed()
}

fn exception() -> BoxedStrategy<Exception> {
    let file = (namespace(), file_role(), of(survivors()), of(word()), of(word())).prop_map(
        |(partition, file, survive, fill, size)| Exception::File { partition, file, survive, fill, size },
    );
    prop_oneof![file, survivors().prop_map(|survive| Exception::Names { survive })].boxed()
}

fn survival() -> BoxedStrategy<Survival> {
    (survivors(), word(), of(word()), vec(exception(), 0..3))
        .prop_map(|(survive, fill, size, exceptions)| Survival { survive, fill, size, exceptions })
        .boxed()
}

fn crash() -> BoxedStrategy<Crash> {
    prop_oneof![Just(Crash::Process), survival().prop_map(Crash::Os), survival().prop_map(Crash::Power)]
        .boxed()
}

fn call_point() -> BoxedStrategy<CallPoint> {
    (of(word::<Call>()), 1..=u32::MAX).prop_map(|(on, call)| CallPoint { on, call }).boxed()
}

fn batch_field() -> BoxedStrategy<BatchField> {
    prop_oneof![
        word().prop_map(BatchField::Header),
        (any::<u32>(), word()).prop_map(|(frame, field)| BatchField::Frame { frame, field }),
    ]
    .boxed()
}

fn target() -> BoxedStrategy<Target> {
    prop_oneof![
        Just(Target::Any),
        namespace().prop_map(Target::Partition),
        (namespace(), batch(), of(batch_field())).prop_map(|(partition, batch, field)| Target::Batch {
            partition,
            batch,
            field
        }),
        (namespace(), segment()).prop_map(|(partition, segment)| Target::Segment { partition, segment }),
        (namespace(), segment(), any::<u32>(), of(word())).prop_map(|(partition, segment, index, field)| {
            Target::IndexEntry { partition, segment, index, field }
        }),
        (namespace(), any::<u32>(), of(word())).prop_map(|(partition, record, field)| Target::LedgerRecord {
            partition,
            record,
            field
        }),
        (namespace(), word(), of(word())).prop_map(|(partition, slot, field)| Target::Superblock {
            partition,
            slot,
            field
        }),
        (namespace(), file_role(), number(), of(number())).prop_map(|(partition, file, position, length)| {
            Target::File { partition, file, position, length }
        }),
        (namespace(), text())
            .prop_map(|(partition, name)| Target::Name { partition, name: Cow::Owned(name) }),
    ]
    .boxed()
}

fn fault() -> BoxedStrategy<Fault> {
    let edit = prop_oneof![any::<u32>().prop_map(Edit::Bit), number().prop_map(Edit::Value)];
    let to = (of(batch()), of(segment()), of(namespace()))
        .prop_map(|(batch, segment, partition)| Destination { batch, segment, partition });
    let times =
        prop_oneof![Just(Times::Always), Just(Times::Count(1)), (1..=u32::MAX).prop_map(Times::Count)];
    (word(), target(), of(edit), any::<bool>(), to, of(number()), word(), times)
        .prop_map(|(kind, target, edit, restamp, to, bytes, entry, times)| Fault {
            kind,
            target,
            edit,
            restamp,
            to,
            bytes,
            entry,
            times,
        })
        .boxed()
}

/// A fault as a step, which a kind that means nothing there becomes another kind for.
fn fault_as_step() -> BoxedStrategy<Fault> {
    let otherwise = |fault: Fault| match fault.nonsense_as_step() {
        Some(_) => Fault { kind: FaultKind::ListingOrder, ..fault },
        None => fault,
    };
    fault().prop_map(otherwise).boxed()
}

/// The same inside a step.
fn fault_inside() -> BoxedStrategy<Fault> {
    let otherwise = |fault: Fault| match fault.nonsense_inside() {
        Some(_) => Fault { kind: FaultKind::ReadError, ..fault },
        None => fault,
    };
    fault().prop_map(otherwise).boxed()
}

fn interruption() -> BoxedStrategy<Interruption> {
    prop_oneof![
        (call_point(), of(word()), crash())
            .prop_map(|(at, inside, crash)| Interruption::Crash(CrashInside { at, inside, crash })),
        (call_point(), fault_inside()).prop_map(|(at, fault)| Interruption::Fault(FaultInside {
            at,
            at_peer: false,
            fault
        })),
    ]
    .boxed()
}

/// Steps that make batches are given their ids when the list of steps is put together.
fn append() -> BoxedStrategy<Action> {
    (namespace(), 1_u32..100, any::<(u32, u32)>(), number())
        .prop_map(|(partition, count, (messages, payload_bytes), content)| {
            Action::Append(Append { partition, batch: BatchId(0), count, messages, payload_bytes, content })
        })
        .boxed()
}

fn plant() -> BoxedStrategy<Action> {
    let place = prop_oneof![
        Just(Place::End),
        batch().prop_map(Place::Batch),
        batch().prop_map(Place::Inside),
        (of(segment()), number()).prop_map(|(segment, position)| Place::Position { segment, position }),
    ];
    (namespace(), place, of(namespace()), of(number()), of(offset()), any::<(u32, u32, u8)>())
        .prop_map(|(partition, place, like, partition_id, base_offset, (messages, payload_bytes, nested))| {
            Action::Plant(Plant {
                partition,
                batch: BatchId(0),
                place,
                like,
                partition_id,
                base_offset,
                messages,
                payload_bytes,
                nested,
            })
        })
        .boxed()
}

fn storage_action() -> BoxedStrategy<Action> {
    prop_oneof![
        append(),
        plant(),
        namespace().prop_map(Action::Flush),
        namespace().prop_map(Action::Roll),
        namespace().prop_map(Action::Checkpoint),
        (namespace(), offset()).prop_map(|(partition, below)| Action::Retain(Retain { partition, below })),
        Just(Action::Stop),
        Just(Action::Start),
        (namespace(), offset(), any::<u32>()).prop_map(|(partition, from, count)| Action::Poll(Poll {
            partition,
            from,
            count
        })),
        (fault_as_step(), any::<bool>()).prop_map(|(fault, cached)| Action::Fault { fault, cached }),
        of(namespace()).prop_map(Action::Evict),
    ]
    .boxed()
}

fn host_action() -> BoxedStrategy<Action> {
    prop_oneof![
        namespace().prop_map(Action::Create),
        namespace().prop_map(Action::Delete),
        Just(Action::Reconcile),
        namespace().prop_map(Action::QueueInsert),
        namespace().prop_map(Action::Confirm),
        Just(Action::ApplyInserts),
        (namespace(), of(range()))
            .prop_map(|(partition, range)| Action::AcceptLoss(AcceptLoss { partition, range })),
        word().prop_map(Action::Link),
        (namespace(), node()).prop_map(|(partition, from)| Action::Transfer { partition, from }),
    ]
    .boxed()
}

fn expect_segment() -> BoxedStrategy<ExpectSegment> {
    (segment(), of(word()), of(word()), of(word()), of(word()), of(word()), of(batch()), of(number()))
        .prop_map(|(start, stop, residue, evidence, index, action, at_batch, at)| ExpectSegment {
            start,
            stop,
            residue,
            evidence,
            index,
            action,
            at_batch,
            at: at.map(Position::new),
        })
        .boxed()
}

fn expectation() -> BoxedStrategy<Expectation> {
    // Runs of offsets ascend, so they are made from one ascending list of ends.
    let served = vec(number(), 0..6).prop_map(|mut ends| {
        ends.sort_unstable();
        ends.dedup();
        let pair = |pair: &[u64]| OffsetRange { first: Offset::new(pair[0]), last: Offset::new(pair[1]) };
        ends.chunks_exact(2).map(pair).collect()
    });
    let segments = vec(expect_segment(), 0..3);
    let named = (of(word()), of(word()), of(offset()), of(number()), of(served));
    let partition = (namespace(), named, segments, of(number()), any::<bool>()).prop_map(
        |(
            partition,
            (disposition, reason, next_offset, messages, served),
            segments,
            saved_bytes,
            unchanged,
        )| {
            Expectation::Partition(Box::new(ExpectPartition {
                partition,
                disposition,
                reason,
                next_offset,
                messages,
                served,
                segments,
                saved_bytes,
                unchanged,
            }))
        },
    );
    let answer = prop_oneof![
        number().prop_map(ExpectAnswer::Messages),
        (word(), of(text())).prop_map(|(class, code)| ExpectAnswer::Error { class, code }),
    ];
    prop_oneof![
        partition,
        (namespace(), offset(), of(answer))
            .prop_map(|(partition, from, answer)| Expectation::Poll(ExpectPoll { partition, from, answer })),
        (namespace(), word()).prop_map(|(partition, state)| Expectation::Status { partition, state }),
        (namespace(), text()).prop_map(|(partition, code)| Expectation::Error { partition, code }),
    ]
    .boxed()
}

fn step() -> BoxedStrategy<Step> {
    let interrupted = (node(), prop_oneof![storage_action(), host_action()], vec(interruption(), 0..3))
        .prop_map(|(node, action, interruptions)| Step { node, action, interruptions });
    let alone = prop_oneof![
        crash().prop_map(Action::Crash),
        expectation().prop_map(Action::Expect),
        vec(expectation(), 0..3).prop_map(Action::Either),
    ];
    let alone = (node(), alone).prop_map(|(node, action)| Step { node, action, interruptions: Vec::new() });
    prop_oneof![3 => interrupted, 1 => alone].boxed()
}

fn steps() -> BoxedStrategy<Vec<Step>> {
    vec(step(), 0..12)
        .prop_map(|mut steps| {
            let mut next = 0;
            for step in &mut steps {
                if let Action::Append(append) = &mut step.action {
                    append.batch = BatchId(next);
                    next += append.count;
                } else if let Action::Plant(plant) = &mut step.action {
                    plant.batch = BatchId(next);
                    next += 1;
                }
            }
            steps
        })
        .boxed()
}

fn world() -> BoxedStrategy<WorldHeader> {
    let partition = (word(), any::<bool>(), offset(), number(), of(offset()));
    let partitions = proptest::collection::btree_map(namespace(), partition, 0..4).prop_map(|partitions| {
        let header = |(namespace, (durability, ledger, first_offset, segment_bytes, superblock_frontier))| {
            PartitionHeader {
                namespace,
                durability,
                ledger,
                first_offset,
                segment_bytes,
                superblock_frontier,
            }
        };
        partitions.into_iter().map(header).collect()
    });
    let images = proptest::collection::btree_map(node(), text(), 0..3)
        .prop_map(|images| images.into_iter().map(|(node, directory)| Image { directory, node }).collect());
    let sizes = (1..=u8::MAX, 1_u32..10_000, 1_u32..100, 512_u32..=4 * 1024 * 1024);
    (word(), word(), sizes, partitions, images)
        .prop_map(|(filesystem, regime, (nodes, sector_bytes, sectors, window_bytes), partitions, images)| {
            WorldHeader {
                filesystem,
                regime,
                nodes,
                sector_bytes,
                page_bytes: sector_bytes * sectors,
                window_bytes,
                partitions,
                images,
            }
        })
        .boxed()
}

/// What the legal regime does not have makes the world an unlimited one.
fn lawful(mut schedule: Schedule) -> Schedule {
    if schedule.first_illegal().is_some() {
        schedule.world.regime = Regime::Unlimited;
    }
    schedule
}

/// Any scenario that the language can say.
pub(super) fn scenario() -> BoxedStrategy<Scenario> {
    let kills = prop_oneof![
        Just(Kills::Unsaid),
        vec(text(), 1..3).prop_map(Kills::Mutants),
        text().prop_map(Kills::None),
    ];
    let origin = of((text(), text(), any::<bool>()).prop_map(|(token, check, is_drawn)| Origin {
        token,
        check,
        is_drawn,
    }));
    let told = (text(), vec(text(), 0..3), vec(text(), 0..3), vec(text(), 0..3));
    (told, kills, origin, world(), steps())
        .prop_map(|((title, stories, findings, reports), kills, origin, world, steps)| Scenario {
            title,
            stories,
            findings,
            reports,
            kills,
            origin,
            schedule: lawful(Schedule { world, steps }),
        })
        .boxed()
}
