//! The plan that carries batches over behind accepted damage: facts in, one line a step out.

use recovery_core::format::{ChainHash, FileName};
use recovery_core::observe::{LedgerFacts, LedgerState, PartitionFacts, RecordedGap, Run};
use recovery_core::plan::{Step, build};
use recovery_core::units::{Length, Offset, Position, SegmentStart};

use crate::plan_run::SERVER;
use crate::plan_world::{INCARNATION, NAMESPACE, Segment, World};

/// Runs are written as `(position, length, first)`; each byte is a message here.
type Runs<'a> = &'a [(u64, u64, u64)];

/// A partition with a ledger, in whose first segment a loss was accepted.
struct Accepted {
    facts: PartitionFacts,
    world: World,
}

/// Segment 0 with `proven` messages, twelve bytes of damage, and `runs` among them; and `later` segments.
fn accepted(proven: u64, runs: Runs<'_>, gaps: &[(u64, u64)], later: &[(u64, u64)]) -> Accepted {
    let first = Segment::whole(0, proven).with_residue(&[7; 12]);
    let later = later.iter().map(|(start, bytes)| Segment::whole(*start, *bytes));
    let segments = std::iter::once(first).chain(later).collect();
    let world = World { has_ledger: true, segments, ..World::default() };
    let mut facts = world.observe(&world.storage());
    facts.segments[0].accepts_loss = true;
    facts.segments[0].residue.runs = runs.iter().map(run).collect();
    ledger(&mut facts).gaps = gaps
        .iter()
        .map(|(first, next)| RecordedGap { first: Offset::new(*first), next: Offset::new(*next) })
        .collect();
    Accepted { facts, world }
}

fn run(&(position, length, first): &(u64, u64, u64)) -> Run {
    let start = SegmentStart::new(first);
    Run {
        position: Position::new(position),
        length: Length::new(length),
        first: Offset::new(first),
        next: Offset::new(first + length),
        chain_hash: Some(ChainHash::start(NAMESPACE, INCARNATION, start)),
    }
}

fn ledger(facts: &mut PartitionFacts) -> &mut LedgerFacts {
    match &mut facts.ledger {
        LedgerState::Known(ledger) => ledger,
        LedgerState::None { .. } | LedgerState::Mismatch { .. } => panic!("the world has a ledger"),
    }
}

impl Accepted {
    #[track_caller]
    fn check(&self, expected: &[&str]) {
        self.check_reserving(None, expected);
    }

    /// The same where survivors end at `reserve`.
    #[track_caller]
    fn check_reserving(&self, reserve: Option<u64>, expected: &[&str]) {
        let mut verdict = self.world.decide(&self.facts);
        verdict.reserve = reserve.map(Offset::new);
        let plan = build(&self.facts, &verdict, SERVER);
        assert_eq!(plan.steps.iter().map(line).collect::<Vec<_>>(), expected);
        assert!(plan.carries(), "the partition is looked at again");
    }
}

fn line(step: &Step) -> String {
    let code = step.code();
    match step {
        Step::StageRun { segment, prefix, position, length, mark } => {
            let (new, end, next) = (mark.segment, mark.position, mark.next_offset);
            format!("{code} {new} of {segment} {prefix}, {position}+{length} to {next}@{end}")
        }
        Step::InstallRun { segment } => format!("{code} {segment}"),
        Step::RecordSealed { mark, next_start } => {
            format!("{code} {} {}@{} then {next_start}", mark.segment, mark.next_offset, mark.position)
        }
        Step::RecordFrontier { mark } => {
            format!("{code} {} {}@{}", mark.segment, mark.next_offset, mark.position)
        }
        Step::Identify { file, .. } | Step::SetAside { file } => format!("{code} {file}"),
        Step::SaveResidue { segment, position, length, .. } => {
            format!("{code} {segment} {position}+{length}")
        }
        Step::ReserveOffset { offset } => format!("{code} {offset}"),
        Step::MakeFence | Step::WriteReason | Step::SyncFence | Step::SyncDirectory => code.to_owned(),
        Step::CheckZeros { .. }
        | Step::SaveIndex { .. }
        | Step::CutLog { .. }
        | Step::StageIndex { .. }
        | Step::InstallIndex { .. }
        | Step::RecordRecovered { .. }
        | Step::RecordCleanStop { .. } => panic!("{code} does not carry over"),
    }
}

#[test]
fn each_run_has_its_name_before_the_log_that_held_it_is_sealed() {
    let facts = accepted(3, &[(5, 2, 5), (9, 4, 8)], &[(3, 5), (7, 8)], &[(12, 2)]);
    facts.check(&[
        "stage-run 8 of 0 0, 9+4 to 12@4",
        "install-run 8",
        "sync-directory",
        "stage-run 5 of 0 0, 5+2 to 7@2",
        "install-run 5",
        "sync-directory",
        "record-sealed 8 12@4 then 12",
        "record-sealed 5 7@2 then 8",
        "record-sealed 0 3@3 then 5",
    ]);
}

#[test]
fn damage_without_batches_behind_it_only_ends_its_segment() {
    accepted(3, &[], &[(3, 9)], &[(9, 2)]).check(&["record-sealed 0 3@3 then 9"]);
}

#[test]
fn the_last_segment_is_sealed_only_if_offsets_behind_it_were_given_up() {
    accepted(3, &[], &[(3, 9)], &[]).check(&["record-sealed 0 3@3 then 9"]);
    // The loss was of bytes that held no offset.
    accepted(3, &[], &[(3, 3)], &[]).check(&["record-frontier 0 3@3"]);
    accepted(3, &[], &[], &[]).check(&["record-frontier 0 3@3"]);
    accepted(3, &[(3, 4, 3)], &[(2, 3)], &[]).check(&["record-frontier 0 7@7"]);
}

#[test]
fn a_segment_that_is_replaced_is_in_a_fence_before() {
    accepted(0, &[(2, 4, 0)], &[], &[]).check(&[
        "make-fence",
        "save-residue 0 0+12",
        "write-reason",
        "sync-fence",
        "stage-run 0 of 0 0, 2+4 to 4@4",
        "install-run 0",
        "sync-directory",
        "record-frontier 0 4@4",
    ]);
}

#[test]
fn scratch_in_the_way_of_a_new_segment_is_set_aside_and_no_other() {
    let mut facts = accepted(3, &[(5, 2, 5)], &[(3, 5)], &[]);
    let (in_the_way, other) = (SegmentStart::new(5), SegmentStart::new(3));
    facts.facts.listing.scratch = vec![FileName::log_staging(other), FileName::log_staging(in_the_way)];
    facts.check(&[
        "identify 00000000000000000005.log.staging",
        "make-fence",
        "write-reason",
        "sync-fence",
        "set-aside 00000000000000000005.log.staging",
        "sync-fence",
        "sync-directory",
        "stage-run 5 of 0 0, 5+2 to 7@2",
        "install-run 5",
        "sync-directory",
        "record-frontier 5 7@2",
        "record-sealed 0 3@3 then 5",
    ]);
}

#[test]
fn offsets_of_survivors_that_no_run_carries_are_remembered_first() {
    let mut facts = accepted(3, &[(3, 4, 3)], &[], &[]);
    facts.check_reserving(Some(20), &["reserve-offset 20", "record-frontier 0 7@7"]);
    for known in [7, 6, 1] {
        facts.check_reserving(Some(known), &["record-frontier 0 7@7"]);
    }
    ledger(&mut facts.facts).newest.reserved_offset = Offset::new(20);
    facts.check_reserving(Some(20), &["record-frontier 0 7@7"]);
    facts.check_reserving(Some(21), &["reserve-offset 21", "record-frontier 0 7@7"]);
    // Where nothing is carried over, the same survivors are there when it is looked at again.
    accepted(3, &[], &[], &[]).check_reserving(Some(20), &["record-frontier 0 3@3"]);
}
