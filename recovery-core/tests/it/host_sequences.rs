//! Every sequence of a few events, from a healthy, a refused and a rebuilding start: a dark partition never looks
//! like anything else, and no life gets what another one had.

use recovery_core::host::PartitionState;

use crate::host_world::{NAMESPACE, World, healthy, log_path, rebuilding, refused};

#[derive(Clone, Copy, Debug)]
enum Event {
    Create,
    Delete,
    Confirm,
    Reconcile,
    QueueInsert,
    ApplyInserts,
    Restart,
    Poll,
    FlipBit,
}

const EVENTS: [Event; 9] = [
    Event::Create,
    Event::Delete,
    Event::Confirm,
    Event::Reconcile,
    Event::QueueInsert,
    Event::ApplyInserts,
    Event::Restart,
    Event::Poll,
    Event::FlipBit,
];

const LENGTH: u32 = 4;

/// Does one event; what a command answers is not asked, what is there afterwards is.
fn perform(world: &mut World, event: Event, incarnation: u64) {
    match event {
        Event::Create => {
            let _answer = world.create(incarnation);
        }
        Event::Delete => {
            let _answer = world.delete();
        }
        Event::Confirm => {
            let _answer = world.confirm();
        }
        Event::Reconcile => world.reconcile(),
        Event::QueueInsert => {
            let _answer = world.host.queue_insert(NAMESPACE);
        }
        Event::ApplyInserts => world.apply_inserts(),
        Event::Restart => world.restart(),
        Event::Poll => {
            let _answer = world.poll(NAMESPACE);
        }
        Event::FlipBit => {
            if world.storage.files().get(&log_path()).is_some_and(|log| log.len() > 310) {
                world.flip(310);
            }
        }
    }
}

/// What must hold whatever came before.
fn check(world: &mut World, events: &[Event]) {
    let newest = world.host.newest(NAMESPACE);
    let answer = world.poll(NAMESPACE);
    let is_served = world.state() == Some(PartitionState::Served);
    assert_eq!(world.host.is_routed(NAMESPACE), is_served, "{events:?}");
    match (answer, newest) {
        (Ok(offsets), Some(key)) => {
            assert!(is_served, "{events:?}: only what is served answers");
            let expected: &[u64] = if key.incarnation.get() == 1 { &[0, 1, 2] } else { &[] };
            assert_eq!(offsets, expected, "{events:?}");
            let lives = world.host.keys().count();
            assert_eq!(lives, 1, "{events:?}: nothing is served while an older life is there");
        }
        (Ok(_), None) => panic!("{events:?}: what is not there has no answer"),
        (Err(error), _) => assert!(!is_served || error.code() == "damaged", "{events:?}: {error}"),
    }
    let statistics = world.host.statistics(NAMESPACE);
    if let Some(statistics) = statistics {
        assert_eq!(statistics.messages.is_some(), is_served, "{events:?}: unknown is never 0");
    }
    // The files go only by a deletion.
    let is_first_life_there = world.host.keys().any(|key| key.incarnation.get() == 1);
    let has_log = world.storage.files().contains_key(&log_path());
    let is_deleting =
        world.host.keys().any(|key| world.host.state_of(&key) == Some(PartitionState::Deleting));
    if is_first_life_there && !is_deleting {
        assert!(has_log, "{events:?}: nothing but a deletion removes files");
    }
    if !is_first_life_there {
        assert!(!has_log, "{events:?}: a deletion that is confirmed has removed them");
    }
}

fn explore(start: fn() -> World) -> u32 {
    let mut sequences = 0;
    for number in 0..9_usize.pow(LENGTH) {
        let mut events = Vec::new();
        let mut rest = number;
        for _ in 0..LENGTH {
            events.push(EVENTS[rest % 9]);
            rest /= 9;
        }
        let mut world = start();
        for (index, event) in events.iter().enumerate() {
            perform(&mut world, *event, 2 + index as u64);
            check(&mut world, &events[..=index]);
        }
        sequences += 1;
    }
    sequences
}

#[test]
fn every_sequence_of_four_events_from_a_healthy_start() {
    assert_eq!(explore(healthy), 6_561);
}

/// F19, F93: no pass builds over a tombstone, whatever came before it.
#[test]
fn every_sequence_of_four_events_from_a_refused_start() {
    assert_eq!(explore(refused), 6_561);
}

#[test]
fn every_sequence_of_four_events_from_a_rebuilding_start() {
    assert_eq!(explore(rebuilding), 6_561);
}
