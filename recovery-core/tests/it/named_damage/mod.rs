//! Partitions that the real writer made, on a real filesystem, damaged once to three times at named fields
//! of every structure, in lengths, in names and in what a name stands for: recovered, and held to the law.
//!
//! Promises: judged from outside, from everything below the data directory before and after, fences
//! included. Leaves out: disks that lie, and which verdict is right; the simulator has those.

mod damage;
mod field;
mod origin;

use std::collections::BTreeSet;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use recovery_core::decide::Disposition;
use recovery_core::observe::{Expectation, SuperblockIdentity, Workspace};
use recovery_core::plan::PlanOptions;
use recovery_core::storage::os::OsStorage;
use recovery_core::units::Durability;

use crate::fixture::scratch;
use crate::partition_world::{INCARNATION, NAMESPACE};
use crate::recovery_run::{check_nothing_is_lost, files_below, start};
use damage::{Damage, damage};
use field::{FIELDS, Structure};
use origin::{Origin, Part, origin};

/// Whose superblock it is.
const SUPERBLOCK: SuperblockIdentity = SuperblockIdentity { cluster: 5, replica: 1, replica_count: 3 };

/// One recovery to be.
#[derive(Clone, Debug)]
struct Case {
    origin: Origin,
    damages: Vec<Damage>,
    /// Whether the reader knows which life of the partition this is.
    knows_incarnation: bool,
    /// A server without and with a ledger to come, and the tool.
    options: PlanOptions,
    window: usize,
}

fn case() -> impl Strategy<Value = Case> {
    let options = prop_oneof![
        Just(PlanOptions { sync_indexes: false, clean_stop: false, makes_ledger: false }),
        Just(PlanOptions { sync_indexes: true, clean_stop: true, makes_ledger: false }),
        Just(PlanOptions { sync_indexes: true, clean_stop: false, makes_ledger: true }),
    ];
    let window = prop_oneof![Just(512_usize), Just(4096), Just(64 * 1024)];
    (origin(), vec(damage(), 1..4), any::<bool>(), options, window).prop_map(
        |(origin, damages, knows_incarnation, options, window)| Case {
            origin,
            damages,
            knows_incarnation,
            options,
            window,
        },
    )
}

impl Case {
    /// The tool on an undamaged partition.
    fn of(origin: &Origin) -> Self {
        Self {
            origin: origin.clone(),
            damages: Vec::new(),
            knows_incarnation: true,
            options: PlanOptions { sync_indexes: true, clean_stop: true, makes_ledger: false },
            window: 4096,
        }
    }

    /// Whether the damages are any to this partition.
    fn changes_anything(&self) -> bool {
        let directory = scratch();
        let partition = self.origin.write_below(directory.path());
        let before = files_below(directory.path());
        for damage in &self.damages {
            damage.apply(&partition);
        }
        files_below(directory.path()) != before
    }

    fn expectation(&self) -> Expectation {
        Expectation {
            namespace: NAMESPACE,
            incarnation: self.knows_incarnation.then_some(INCARNATION),
            durability: self.origin.durability,
            superblock: self.origin.has(Part::Superblock).then_some(SUPERBLOCK),
        }
    }
}

/// Recovers the case twice, and says what the first start came to: its disposition or reason, or the error
/// of the call that stopped it.
fn check(case: &Case) -> String {
    let directory = scratch();
    let partition = case.origin.write_below(directory.path());
    for damage in &case.damages {
        damage.apply(&partition);
    }
    let before = files_below(directory.path());
    let first = recover(case, directory.path());
    let after = files_below(directory.path());
    if first.starts_with("serve") {
        check_nothing_is_lost(NAMESPACE, &before, &after);
        let second = recover(case, directory.path());
        assert_eq!(files_below(directory.path()), after, "{second}: a second recovery changes nothing");
        assert_eq!(second, first, "a second recovery ends as the first");
    } else {
        assert_eq!(after, before, "{first}: what is not served is untouched");
    }
    first
}

fn recover(case: &Case, root: &Path) -> String {
    let storage = OsStorage::open(root).unwrap();
    let mut workspace = Workspace::new(case.window);
    match start(&storage, case.expectation(), case.options, &mut workspace, 1 << 20) {
        Err(error) => format!("unavailable {}", error.errno),
        Ok(start) => {
            let next = start.verdict.next_offset.map(|next| format!(" from {next}")).unwrap_or_default();
            match start.verdict.disposition {
                Disposition::Serve | Disposition::ServeFrom { .. } => format!("serve{next}"),
                Disposition::Refuse(reason) => format!("refuse {}", reason.code()),
                Disposition::Unavailable(_) => unreachable!("a start that is unavailable is an error"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn one_to_three_damages_lose_nothing_and_leave_what_is_refused(case in case()) {
        check(&case);
    }
}

/// Every named field in turn, in every way, alone: so that none depends on a draw.
#[test]
fn each_named_field_damaged_alone_is_held_to_the_law() {
    let mut seen = BTreeSet::new();
    // Without a ledger the index would speak for the modes that sync.
    for (lacks, durability) in [(&[Part::Ledger][..], Durability::Buffered), (&[], Durability::Synced)] {
        let origin = Origin::with_everything_but(lacks, durability);
        for field in FIELDS {
            let is_hit = Damage::each_way(*field).fold(false, |is_hit, damage| {
                let case = Case { damages: vec![damage], ..Case::of(&origin) };
                let outcome = check(&case);
                seen.insert(outcome.split(" from").next().unwrap().to_owned());
                is_hit || case.changes_anything()
            });
            let is_there = origin.has(Part::Ledger) || field.structure != Structure::Ledger;
            assert_eq!(is_hit, is_there, "{:?}.{}", field.structure, field.name);
        }
    }
    let seen: Vec<_> = seen.into_iter().collect();
    assert_eq!(
        seen.join(", "),
        "refuse evidence-conflict, refuse foreign-batch, refuse identity-mismatch, refuse interior-damage, \
         refuse lost-durable, refuse missing-segment, refuse offset-discontinuity, refuse superblock-unreadable, \
         serve"
    );
}

/// What stands under a name of the format and is no regular file refuses, and is neither followed nor moved.
#[test]
fn what_is_no_regular_file_is_refused_by_its_name() {
    for lacks in [&[Part::Ledger][..], &[]] {
        let origin = Origin::with_everything_but(lacks, Durability::Synced);
        for damage in Damage::each_special() {
            let case = Case { damages: vec![damage.clone()], ..Case::of(&origin) };
            assert_eq!(check(&case), "refuse unexpected-file", "{damage:?}");
        }
    }
}
