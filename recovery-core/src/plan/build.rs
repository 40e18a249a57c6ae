//! Verdict to plan: a pure function, and the one place that knows the order of the steps.
//!
//! Promises: all of one line of DESIGN section 7 before the next, across segments: everything that is cut,
//! replaced or moved is durably in a fence first, survivors are remembered before they are cut, and the
//! ledger speaks last. Leaves out: what is already done, which is found out by doing it.

use super::carry_plan::carry;
use super::{Plan, Step};
use crate::decide::{Action, SegmentVerdict, Verdict};
use crate::format::{FileName, LedgerKind, Mark};
use crate::observe::{IndexState, LedgerState, PartitionFacts, Residue, SegmentFacts};
use crate::storage::Name;
use crate::units::{Length, Position};

/// Who carries the plan out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// Sync rebuilt indexes even where a ledger makes that unnecessary (the tool).
    pub sync_indexes: bool,
    /// End with a clean stop, so that another program may go on from here (the tool). It says that the
    /// indexes are durable too, so it asks for `sync_indexes`, here and in [`super::Settling`].
    pub clean_stop: bool,
    /// A ledger will be made where there is none (a server): a file of its name that is none is set aside.
    pub makes_ledger: bool,
}

/// Lists what carries `verdict` out. Empty when there is nothing to do, and for a partition that is
/// refused or unavailable, of which not one byte is touched.
///
/// # Examples
///
/// ```
/// use recovery_core::decide::decide;
/// use recovery_core::observe::{Expectation, PartitionFacts};
/// use recovery_core::plan::{PlanOptions, build};
/// use recovery_core::units::Namespace;
///
/// let facts = PartitionFacts::of_nothing(Expectation::of(Namespace { stream: 1, topic: 1, partition: 0 }));
/// let plan = build(&facts, &decide(&facts), PlanOptions::default());
/// assert!(plan.is_empty(), "nothing is wrong, and nothing is done");
/// ```
pub fn build(facts: &PartitionFacts, verdict: &Verdict, options: PlanOptions) -> Plan {
    assert!(verdict.segments.len() == facts.segments.len(), "a verdict has one action a segment");
    assert!(options.sync_indexes || !options.clean_stop, "a clean stop comes after the indexes are synced");
    let mut steps = Vec::new();
    if verdict.is_served() {
        if facts.segments.iter().any(|segment| segment.accepts_loss) {
            return carry(facts, verdict.reserve);
        }
        let judged = Judged { facts, verdict, options };
        judged.save(&mut steps);
        judged.reserve(&mut steps);
        judged.cut(&mut steps);
        judged.install(&mut steps);
        judged.record(&mut steps);
    }
    Plan { steps }
}

/// A partition that will be served.
struct Judged<'a> {
    facts: &'a PartitionFacts,
    verdict: &'a Verdict,
    options: PlanOptions,
}

impl Judged<'_> {
    fn segments(&self) -> impl Iterator<Item = (&SegmentFacts, Action)> {
        self.facts.segments.iter().zip(&self.verdict.segments).map(|(facts, verdict)| {
            check_action(facts, verdict);
            (facts, verdict.action)
        })
    }

    /// The segments whose index is replaced. A cut alone leaves a good index good: it only lags.
    fn rebuilt(&self) -> impl Iterator<Item = &SegmentFacts> {
        self.segments().filter(|(facts, _)| facts.index.state != IndexState::Good).map(|(facts, _)| facts)
    }

    /// The files that are moved as they are: scratch, and what lies under the ledger's name and is none.
    fn set_aside(&self) -> impl Iterator<Item = Name> {
        let no_ledger = match self.facts.ledger {
            LedgerState::None { length: Some(length) } => self.options.makes_ledger && length > Length::ZERO,
            LedgerState::None { length: None } | LedgerState::Known(_) | LedgerState::Mismatch { .. } => {
                false
            }
        };
        self.facts.listing.scratch.iter().copied().chain(no_ledger.then(FileName::ledger))
    }

    /// Line 1: what will be cut, replaced or moved gets into a fence.
    fn save(&self, steps: &mut Vec<Step>) {
        let mut identified = Vec::new();
        let mut saved = Vec::new();
        for (facts, action) in self.segments() {
            let Action::Cut { at, save } = action else { continue };
            let (segment, position, length) = (facts.start, at, facts.residue.length);
            if save == Length::ZERO {
                saved.push(Step::CheckZeros { segment, position, length });
                continue;
            }
            let checksum = facts.residue.checksum;
            if checksum.is_none() {
                let file = FileName::log(segment);
                identified.push(Step::Identify { file, position, length: Some(length) });
            }
            saved.push(Step::SaveResidue { segment, position, length, checksum });
        }
        for facts in self.rebuilt().filter(|facts| !facts.index.is_prefix_of_rebuilt) {
            let length = facts.index.length.expect("an absent index is a prefix of any");
            let checksum = facts.index.checksum.expect("an index that is there was read whole");
            saved.push(Step::SaveIndex { segment: facts.start, length, checksum });
        }
        for file in self.set_aside() {
            identified.push(Step::Identify { file, position: Position::ZERO, length: None });
        }
        let is_copied = |step: &Step| !matches!(step, Step::CheckZeros { .. });
        let needs_fence = !identified.is_empty() || saved.iter().any(is_copied);
        steps.append(&mut identified);
        if needs_fence {
            steps.push(Step::MakeFence);
        }
        steps.append(&mut saved);
        if needs_fence {
            steps.extend([Step::WriteReason, Step::SyncFence]);
        }
    }

    /// Line 2: survivors that are cut keep their offsets.
    fn reserve(&self, steps: &mut Vec<Step>) {
        let Some(offset) = self.verdict.reserve else { return };
        let ledger =
            self.facts.ledger.known().expect("survivors are cut only above a mark, and so by a ledger");
        if ledger.newest.reserved_offset < offset {
            steps.push(Step::ReserveOffset { offset });
        }
    }

    /// Line 3.
    fn cut(&self, steps: &mut Vec<Step>) {
        for (facts, action) in self.segments() {
            if let Action::Cut { at, .. } = action {
                steps.push(Step::CutLog { segment: facts.start, from: facts.log_length, to: at });
            }
        }
    }

    /// Line 4: names. Scratch goes first, since a new index is staged under a name that scratch may have.
    fn install(&self, steps: &mut Vec<Step>) {
        let before = steps.len();
        steps.extend(self.set_aside().map(|file| Step::SetAside { file }));
        let sets_aside = steps.len() > before;
        // Without a ledger the index is evidence at the next start: an entry beyond the end of its log says that
        // bytes were durable. A new index that a loss of power tears may show an old block in its middle, with
        // entries of a log that was longer; a partition with nothing wrong would be refused for it. A sync of the
        // directory covers names, not these bytes, so each index has one of its own (F89).
        let sync = self.options.sync_indexes || self.facts.ledger.known().is_none();
        for facts in self.rebuilt() {
            let entries = facts.index.rebuilt.len() as u64;
            steps.push(Step::StageIndex { segment: facts.start, entries, sync });
        }
        for facts in self.rebuilt() {
            steps.push(Step::InstallIndex { segment: facts.start });
        }
        if sets_aside {
            // Before the directory it was moved from: no crash may find it in neither (N01).
            steps.push(Step::SyncFence);
        }
        if steps.len() > before {
            steps.push(Step::SyncDirectory);
        }
    }

    /// Line 5: the ledger, if there is one. None is created.
    fn record(&self, steps: &mut Vec<Step>) {
        let Some(mark) = self.last_mark() else { return };
        let changes = !steps.is_empty();
        if changes {
            steps.push(Step::RecordRecovered { mark });
        }
        if self.options.clean_stop && (changes || !self.is_stopped_at(mark)) {
            let next_offset = self.verdict.next_offset.expect("a partition that is served has a next offset");
            steps.push(Step::RecordCleanStop { mark, next_offset });
        }
    }

    fn last_mark(&self) -> Option<Mark> {
        self.facts.ledger.known()?;
        let last = self.facts.segments.last()?;
        let chain_hash = last.proven.chain_hash.expect("a ledger that is known names an incarnation to hash");
        let proven = &last.proven;
        Some(Mark { segment: last.start, position: proven.end, next_offset: proven.next_offset, chain_hash })
    }

    fn is_stopped_at(&self, end: Mark) -> bool {
        let Some(ledger) = self.facts.ledger.known() else { return false };
        match ledger.newest.kind {
            LedgerKind::CleanStop { mark } => {
                mark == end && Some(ledger.newest.reserved_offset) == self.verdict.next_offset
            }
            LedgerKind::Opened { .. }
            | LedgerKind::Frontier { .. }
            | LedgerKind::Sealed { .. }
            | LedgerKind::Floor
            | LedgerKind::Reserved
            | LedgerKind::Recovered { .. }
            | LedgerKind::AcceptedLoss { .. } => false,
        }
    }
}

/// Whether facts and verdict can be about the same segment: what is wrong here would be cut wrong.
fn check_action(facts: &SegmentFacts, verdict: &SegmentVerdict) {
    assert!(facts.start == verdict.start, "facts and verdict list the same segments");
    match verdict.action {
        Action::Keep => {
            assert!(facts.residue.length == Length::ZERO, "a log that is kept ends where its proof ends");
            assert!(facts.index.state == IndexState::Good, "a kept segment has a good index");
        }
        Action::RebuildIndex => {
            assert!(facts.residue.length == Length::ZERO, "a log that is kept ends where its proof ends");
            assert!(facts.index.state != IndexState::Good, "only an index that is not good is rebuilt");
        }
        Action::Cut { at, save } => {
            let length = facts.residue.length;
            assert!(at == facts.proven.end, "a cut removes nothing that is proven");
            assert!(length > Length::ZERO, "a cut removes something");
            assert!(at.checked_add(length) == Some(facts.log_length.as_position()), "a residue ends the log");
            let all_zero = facts.residue.kind == Residue::Zeros;
            let expected = if all_zero { Length::ZERO } else { length };
            assert!(save == expected, "all of a residue is saved, unless all of it is zeros");
        }
    }
}
