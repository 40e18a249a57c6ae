//! Laws that hold for all facts that observation can state.

use proptest::prelude::*;

use super::super::{Action, Disposition, Row, Ruling, Verdict, decide, decide_telling, judge};
use super::arbitrary_facts::any_facts;
use crate::observe::{
    Evidence, IndexState, LedgerState, PartitionFacts, RecordedGap, Residue, SegmentFacts, Stop, StopDetail,
    SuperblockState,
};
use crate::units::{Length, Offset};

fn ruling(segment: &SegmentFacts) -> Ruling {
    judge(segment.stop.stop(), segment.evidence, segment.residue.kind)
}

/// The facts that a later start finds if the verdict was carried out.
fn after(facts: &PartitionFacts, verdict: &Verdict) -> PartitionFacts {
    let mut facts = facts.clone();
    for (segment, decided) in facts.segments.iter_mut().zip(&verdict.segments) {
        match decided.action {
            Action::Keep => {}
            Action::RebuildIndex => segment.index.state = IndexState::Good,
            Action::Cut { at, .. } => {
                segment.index.state = IndexState::Good;
                segment.log_length = at.as_length();
                segment.stop = StopDetail::End;
                segment.residue.kind = Residue::None;
                segment.residue.length = Length::ZERO;
                segment.residue.survivors.clear();
                (segment.residue.survivor_count, segment.residue.survivors_next_offset) = (0, None);
            }
        }
    }
    if let (LedgerState::Known(ledger), Some(reserve)) = (&mut facts.ledger, verdict.reserve) {
        ledger.newest.reserved_offset = ledger.newest.reserved_offset.max(reserve);
    }
    facts
}

/// Every offset that the next one must not lie below (DESIGN section 6), gathered in another way.
fn lower_bounds(facts: &PartitionFacts) -> Vec<Offset> {
    let mut bounds: Vec<Offset> = Vec::new();
    for segment in &facts.segments {
        bounds.extend([segment.start.offset(), segment.proven.next_offset]);
        bounds.extend(segment.seal.map(|seal| seal.next_start.offset()));
        bounds.extend(segment.residue.survivors.iter().filter_map(|find| find.base_offset.checked_add(1)));
        if segment.residue.kind == Residue::Unproven {
            let room = segment.residue.length.get() / 48;
            bounds.push(segment.proven.next_offset.checked_add(room).unwrap_or(Offset::new(u64::MAX)));
        }
    }
    if let LedgerState::Known(ledger) = &facts.ledger {
        bounds.extend([ledger.newest.floor.offset(), ledger.newest.reserved_offset]);
    }
    if let SuperblockState::Known { offset_frontier, .. } = facts.superblock {
        bounds.push(offset_frontier);
    }
    bounds
}

fn is_recorded(facts: &PartitionFacts, gap: RecordedGap) -> bool {
    facts.ledger.known().is_some_and(|ledger| {
        // Every offset of the gap lies in a record that lies in the gap.
        (gap.first.get()..gap.next.get()).all(|offset| {
            ledger.gaps.iter().any(|record| {
                record.first >= gap.first
                    && record.next <= gap.next
                    && (record.first.get()..record.next.get()).contains(&offset)
            })
        })
    })
}

proptest! {
    #[test]
    fn what_is_not_served_is_not_touched(facts in any_facts()) {
        let verdict = decide(&facts);
        prop_assert_eq!(verdict.segments.len(), facts.segments.len());
        if !verdict.is_served() {
            prop_assert_eq!(verdict.next_offset, None);
            prop_assert_eq!(verdict.reserve, None);
            prop_assert!(verdict.segments.iter().all(|segment| segment.action == Action::Keep));
        }
    }

    #[test]
    fn unavailable_goes_before_refuse_and_refuse_before_serve(facts in any_facts()) {
        let rulings: Vec<Ruling> = facts.segments.iter().map(ruling).collect();
        let is_unavailable =
            rulings.iter().any(|ruling| matches!(ruling, Ruling::Unavailable | Ruling::Impossible));
        let is_refused = rulings.iter().any(|ruling| matches!(ruling, Ruling::Refuse(_)));
        let verdict = decide(&facts);
        prop_assert_eq!(matches!(verdict.disposition, Disposition::Unavailable(_)), is_unavailable);
        prop_assert!(!(is_refused && verdict.is_served()));
    }

    #[test]
    fn nothing_below_durable_evidence_is_served(facts in any_facts()) {
        let is_lost = facts.segments.iter().any(|segment| segment.evidence == Evidence::Below);
        prop_assert!(!(is_lost && decide(&facts).is_served()));
    }

    /// Learning that bytes behind the stop were durable never lets them go.
    #[test]
    fn more_evidence_never_turns_a_refusal_into_a_cut(facts in any_facts(), at in any::<prop::sample::Index>()) {
        prop_assume!(!facts.segments.is_empty() && facts.ledger.known().is_some());
        let mut promised = facts.clone();
        let segment = &mut promised.segments[at.index(facts.segments.len())];
        prop_assume!(segment.stop.stop() != Stop::Overrun && segment.stop.stop() != Stop::Conflict);
        let end = segment.log_length.as_position().checked_add(Length::new(1)).expect("a small log");
        segment.evidence = Evidence::Below;
        segment.mark = Some(crate::format::Mark {
            segment: segment.start,
            position: end,
            next_offset: segment.proven.next_offset,
            chain_hash: crate::format::ChainHash::default(),
        });
        prop_assert!(!decide(&promised).is_served());
    }

    #[test]
    fn a_cut_is_at_the_proven_end_above_every_mark_and_saves_all_but_zeros(facts in any_facts()) {
        let verdict = decide(&facts);
        for (segment, decided) in facts.segments.iter().zip(&verdict.segments) {
            prop_assert_eq!(decided.start, segment.start);
            if let Action::Cut { at, save } = decided.action {
                prop_assert_eq!(at, segment.proven.end);
                prop_assert!(segment.mark.is_none_or(|mark| mark.position <= at));
                let is_zeros = segment.residue.kind == Residue::Zeros;
                prop_assert_eq!(save, if is_zeros { Length::ZERO } else { segment.residue.length });
            }
        }
    }

    #[test]
    fn an_index_that_is_not_good_is_made_anew_and_a_good_one_is_left_alone(facts in any_facts()) {
        let verdict = decide(&facts);
        prop_assume!(verdict.is_served());
        for (segment, decided) in facts.segments.iter().zip(&verdict.segments) {
            if ruling(segment) == Ruling::Keep {
                let is_good = segment.index.state == IndexState::Good;
                prop_assert_eq!(decided.action == Action::Keep, is_good);
            }
        }
    }

    #[test]
    fn the_next_offset_is_the_largest_lower_bound(facts in any_facts()) {
        let verdict = decide(&facts);
        if let Some(next) = verdict.next_offset {
            let most = lower_bounds(&facts).into_iter().max();
            prop_assert_eq!(next, most.unwrap_or(Offset::ZERO));
        }
    }

    #[test]
    fn a_gap_reaches_from_the_chain_to_the_next_offset(facts in any_facts()) {
        let verdict = decide(&facts);
        let chain = match (facts.segments.last(), facts.ledger.known()) {
            (Some(last), _) => last.proven.next_offset,
            (None, Some(ledger)) => ledger.newest.floor.offset(),
            (None, None) => Offset::ZERO,
        };
        match verdict.disposition {
            Disposition::Serve => prop_assert_eq!(verdict.next_offset, Some(chain)),
            Disposition::ServeFrom { first, last } => {
                prop_assert_eq!(first, chain);
                prop_assert!(first <= last);
                prop_assert_eq!(verdict.next_offset, last.checked_add(1));
            }
            Disposition::Refuse(_) | Disposition::Unavailable(_) => {}
        }
    }

    #[test]
    fn offsets_of_a_served_chain_are_dense_or_the_gap_is_recorded(facts in any_facts()) {
        prop_assume!(decide(&facts).is_served());
        let has_messages = facts.segments.iter().any(|segment| segment.proven.messages > 0);
        for pair in facts.segments.windows(2) {
            let gap = RecordedGap { first: pair[0].proven.next_offset, next: pair[1].start.offset() };
            prop_assert!(gap.first <= gap.next);
            prop_assert!(gap.first == gap.next || !has_messages || is_recorded(&facts, gap));
        }
    }

    /// I09 and I10, as far as facts show it: the second start finds nothing to do and the same next offset.
    #[test]
    fn deciding_again_after_the_verdict_was_carried_out_finds_nothing_to_do(facts in any_facts()) {
        let first = decide(&facts);
        prop_assume!(first.is_served());
        let second = decide(&after(&facts, &first));
        prop_assert_eq!(second.disposition, first.disposition);
        prop_assert_eq!(second.next_offset, first.next_offset);
        prop_assert_eq!(second.reserve, None);
        prop_assert!(second.segments.iter().all(|segment| segment.action == Action::Keep));
    }

    #[test]
    fn a_reservation_is_asked_for_only_with_a_cut_and_never_above_the_next_offset(facts in any_facts()) {
        let verdict = decide(&facts);
        if let Some(reserve) = verdict.reserve {
            prop_assert!(verdict.next_offset.is_some_and(|next| reserve <= next));
            let is_survivor_cut = facts.segments.iter().any(|segment| {
                let may_hold_one = matches!(segment.residue.kind, Residue::Survivor | Residue::Unproven);
                may_hold_one && ruling(segment) == Ruling::Cut
            });
            prop_assert!(is_survivor_cut);
        }
    }

    #[test]
    fn the_last_row_told_names_the_outcome(facts in any_facts()) {
        let mut rows: Vec<Row> = Vec::new();
        let verdict = decide_telling(&facts, &mut |row| rows.push(row));
        let last = rows.last().expect("each verdict has a row").code();
        let is_next_offset = last.starts_with("next-offset-");
        prop_assert_eq!(is_next_offset, verdict.is_served());
        let is_gap = matches!(verdict.disposition, Disposition::ServeFrom { .. });
        prop_assert_eq!(is_gap, is_next_offset && last != Row::NextOffsetMeets.code());
    }
}

/// A law over facts that are never served would say nothing.
#[test]
fn arbitrary_facts_reach_every_row() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut reached: Vec<Row> = Vec::new();
    for _ in 0..5_000 {
        let facts = any_facts().new_tree(&mut runner).expect("a strategy without filters").current();
        let _ = decide_telling(&facts, &mut |row| reached.push(row));
        reached.sort_unstable();
        reached.dedup();
    }
    // Observation alone states that segments are expired, and no segment strategy makes one.
    let missed: Vec<&str> =
        Row::ALL.into_iter().filter(|row| !reached.contains(row)).map(Row::code).collect();
    assert_eq!(missed, ["segment-expired"]);
}
