//! The segment table: the heart of the product, one total function of three small facts (DESIGN section 6).
//!
//! Promises: every combination has one ruling in one row, nothing else enters, and the compiler proves that
//! none is forgotten. Leaves out: where the facts come from ([`crate::observe`]), and what a partition
//! makes of the rulings on its segments ([`super::decide`]).

use super::{ReasonCode, Row, Ruling};
use crate::observe::{Evidence, Residue, Stop};

/// Rules on one segment.
///
/// # Examples
///
/// ```
/// use recovery_core::decide::{ReasonCode, Ruling, judge};
/// use recovery_core::observe::{Evidence, Residue, Stop};
///
/// // Noise behind everything that was promised is what a torn write leaves ...
/// assert_eq!(judge(Stop::BadChecksum, Evidence::AtOrAbove, Residue::Noise), Ruling::Cut);
/// // ... and the same noise below a promise is loss.
/// let lost = judge(Stop::BadChecksum, Evidence::Below, Residue::Noise);
/// assert_eq!(lost, Ruling::Refuse(ReasonCode::LostDurable));
/// ```
pub const fn judge(stop: Stop, evidence: Evidence, residue: Residue) -> Ruling {
    cell(stop, evidence, residue).1
}

/// Names the row that [`judge`] finds the facts in.
pub const fn row(stop: Stop, evidence: Evidence, residue: Residue) -> Row {
    cell(stop, evidence, residue).0
}

/// The table itself. What accident makes each row, and why its ruling is safe:
///
/// * **end-unknown, end-at-or-above**: the usual case. The log ends on a batch boundary, and no promise
///   reaches past it. There is nothing to cut.
/// * **end-below**: a file that lost its tail on a boundary: a lost length update after a sync that lied, a
///   restored older copy, a truncation by hand. No checksum sees it; only the mark does. Serving would
///   hand the lost offsets to other messages.
/// * **damage-below**: rot, a lost or misdirected write among bytes that a sync had covered. No crash does
///   that, so it is loss of promised messages; cutting would make the loss final.
/// * **damage-at-or-above**: the write in flight when the machine stopped: torn, shorn, or pages written
///   back out of order. Nothing behind the stop was promised, so a whole batch that follows is no
///   evidence of anything but its own write. It is saved, and its offset is not minted again.
/// * **damage-unknown-zeros, -noise, -stray**: the same torn tail, without a ledger. No batch behind the
///   damage continues this partition, so nothing acknowledged can be told to lie there; a stale block of
///   a deleted file behind a torn tail is a legal state after a crash, so a stray alone refuses nothing.
/// * **damage-unknown-survivor**: a whole batch of ours follows. It may be the write in flight, out of
///   order, or the acknowledged log behind a rotten batch. Nothing tells which, so nothing is touched.
/// * **damage-unknown-unproven**: the budget ran out, so there may be a survivor: the same.
/// * **misplaced-unknown, misplaced-below**: a whole batch exactly at the end of the chain that is not
///   ours, or not next, or larger than any door lets in. A crash does not write one: somebody did (a
///   misdirected write, a wrong restore, another server). Cutting could destroy what they wrote.
/// * **misplaced-at-or-above**: the same bytes where nothing was promised and nobody else writes: a stale
///   block behind the last sync. It is saved and cut.
/// * **ceiling-at-or-above**: a whole batch above the ceiling, next in the chain. No door of ours lets one in,
///   so no write of ours was in flight there: a server that allowed it wrote it, and it is never cut (F74).
/// * **conflict-below**: every checksum passes, and the chain hash says that these are not the bytes that
///   were durable: a replay, a swap, a batch of another stream or life. Neither side is believed.
/// * **unreadable**: the device did not answer, twice. An error is not evidence, so there is no verdict.
///
/// What no bytes are like. Whoever states it has read one place twice and seen two things, so [`super::decide`]
/// says no more than that:
///
/// * a residue after `End`, and none after any other stop but `Unreadable` (which knows nothing of it);
/// * only zeros from a place where a batch header was read: a bad checksum, a misplaced batch, or a conflict.
///   Zeros are not saved, so believing that would destroy a batch;
/// * an overrun below a mark: it happens exactly at the sealed length, and the seal is the highest mark;
/// * a conflict that is not below a mark: the walk is set back to a boundary below the mark that differs.
#[rustfmt::skip]
#[expect(clippy::match_same_arms, reason = "a line is one group of facts, read as a table")]
const fn cell(stop: Stop, evidence: Evidence, residue: Residue) -> (Row, Ruling) {
    use Evidence::{AtOrAbove, Below, Unknown};
    use Residue::{Noise, Stray, Survivor, Unproven, Zeros};
    use Ruling::{Cut, Impossible, Keep, Refuse, Unavailable};
    use Stop::{
        BadChecksum, Conflict, End, Foreign, Gap, Overflow, Oversize, Overrun, Regression, Short, Undecodable,
    };
    use {ReasonCode as C, Residue as R, Row as W, Stop as S};

    match (stop, evidence, residue) {
        // stop                                            evidence   residue                                row                       ruling
        (End,                                              Unknown,   R::None)                             => (W::EndUnknown,            Keep),
        (End,                                              AtOrAbove, R::None)                             => (W::EndAtOrAbove,          Keep),
        (End,                                              Below,     R::None)                             => (W::EndBelow,              Refuse(C::LostDurable)),

        (Short | Undecodable,                              Below,     Zeros)                               => (W::DamageBelow,           Refuse(C::LostDurable)),
        (Short | Undecodable | BadChecksum,                Below,     Noise | Survivor | Stray | Unproven) => (W::DamageBelow,           Refuse(C::LostDurable)),
        (Short | Undecodable | Overrun,                    AtOrAbove, Zeros)                               => (W::DamageAtOrAbove,       Cut),
        (Short | Undecodable | BadChecksum | Overrun,      AtOrAbove, Noise | Survivor | Stray | Unproven) => (W::DamageAtOrAbove,       Cut),
        (Short | Undecodable | Overrun,                    Unknown,   Zeros)                               => (W::DamageUnknownZeros,    Cut),
        (Short | Undecodable | BadChecksum | Overrun,      Unknown,   Noise)                               => (W::DamageUnknownNoise,    Cut),
        (Short | Undecodable | BadChecksum | Overrun,      Unknown,   Stray)                               => (W::DamageUnknownStray,    Cut),
        (Short | Undecodable | BadChecksum | Overrun,      Unknown,   Survivor)                            => (W::DamageUnknownSurvivor, Refuse(C::InteriorDamage)),
        (Short | Undecodable | BadChecksum | Overrun,      Unknown,   Unproven)                            => (W::DamageUnknownUnproven, Refuse(C::UnprovenResidue)),

        (Foreign,                                          Unknown,   Noise | Survivor | Stray | Unproven) => (W::MisplacedUnknown,      Refuse(C::ForeignBatch)),
        (Gap | Regression,                                 Unknown,   Noise | Survivor | Stray | Unproven) => (W::MisplacedUnknown,      Refuse(C::OffsetDiscontinuity)),
        (Overflow,                                         Unknown,   Noise | Survivor | Stray | Unproven) => (W::MisplacedUnknown,      Refuse(C::OffsetOverflow)),
        (Oversize,                                         Unknown,   Noise | Survivor | Stray | Unproven) => (W::MisplacedUnknown,      Refuse(C::RecordCeiling)),
        (Foreign,                                          Below,     Noise | Survivor | Stray | Unproven) => (W::MisplacedBelow,        Refuse(C::ForeignBatch)),
        (Gap | Regression,                                 Below,     Noise | Survivor | Stray | Unproven) => (W::MisplacedBelow,        Refuse(C::OffsetDiscontinuity)),
        (Overflow,                                         Below,     Noise | Survivor | Stray | Unproven) => (W::MisplacedBelow,        Refuse(C::OffsetOverflow)),
        (Oversize,                                         Below,     Noise | Survivor | Stray | Unproven) => (W::MisplacedBelow,        Refuse(C::RecordCeiling)),
        (Foreign | Gap | Regression | Overflow,            AtOrAbove, Noise | Survivor | Stray | Unproven) => (W::MisplacedAtOrAbove,    Cut),
        (Oversize,                                         AtOrAbove, Noise | Survivor | Stray | Unproven) => (W::CeilingAtOrAbove,      Refuse(C::RecordCeiling)),

        (Conflict,                                         Below,     Noise | Survivor | Stray | Unproven) => (W::ConflictBelow,         Refuse(C::EvidenceConflict)),
        (S::Unreadable,                                    Unknown | Below | AtOrAbove, R::None | Zeros | Noise | Survivor | Stray | Unproven) => (W::Unreadable,            Unavailable),

        // No bytes are like this.
        (End,                                              Unknown | Below | AtOrAbove, Zeros | Noise | Survivor | Stray | Unproven) => (W::Impossible,            Impossible),
        (Short | Undecodable | BadChecksum | Overrun,      Unknown | Below | AtOrAbove, R::None)           => (W::Impossible,            Impossible),
        (BadChecksum,                                      Unknown | Below | AtOrAbove, Zeros)             => (W::Impossible,            Impossible),
        (Overrun,                                          Below, Zeros | Noise | Survivor | Stray | Unproven) => (W::Impossible,            Impossible),
        (Foreign | Gap | Regression | Overflow | Oversize, Unknown | Below | AtOrAbove, R::None | Zeros)   => (W::Impossible,            Impossible),
        (Conflict,                                         Below, R::None | Zeros)                         => (W::Impossible,            Impossible),
        (Conflict,                                         Unknown | AtOrAbove, R::None | Zeros | Noise | Survivor | Stray | Unproven) => (W::Impossible,            Impossible),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_cell() -> impl Iterator<Item = (Stop, Evidence, Residue)> {
        Stop::ALL.into_iter().flat_map(|stop| {
            Evidence::ALL.into_iter().flat_map(move |evidence| {
                Residue::ALL.into_iter().map(move |residue| (stop, evidence, residue))
            })
        })
    }

    fn names(cells: impl Iterator<Item = (Stop, Evidence, Residue)>) -> Vec<String> {
        cells
            .map(|(stop, evidence, residue)| {
                format!("{} {} {}", stop.code(), evidence.code(), residue.code())
            })
            .collect()
    }

    /// Asserts that the impossible cells of `stop` and `evidence` are just those with these residues.
    fn check_impossible(stop: Stop, evidence: Evidence, residues: &str) {
        let found: Vec<&str> = Residue::ALL
            .into_iter()
            .filter(|residue| judge(stop, evidence, *residue) == Ruling::Impossible)
            .map(Residue::code)
            .collect();
        assert_eq!(found.join(" "), residues, "{} {}", stop.code(), evidence.code());
    }

    /// N32.
    #[test]
    fn the_domain_has_216_cells_and_79_of_them_are_impossible() {
        assert_eq!(every_cell().count(), 216);
        let impossible = every_cell().filter(|(s, e, r)| judge(*s, *e, *r) == Ruling::Impossible);
        assert_eq!(impossible.count(), 79);
    }

    #[test]
    fn the_impossible_cells_are_just_these() {
        let all = "none zeros noise survivor stray unproven";
        for evidence in Evidence::ALL {
            check_impossible(Stop::End, evidence, "zeros noise survivor stray unproven");
            check_impossible(Stop::Short, evidence, "none");
            check_impossible(Stop::Undecodable, evidence, "none");
            check_impossible(Stop::BadChecksum, evidence, "none zeros");
            for stop in [Stop::Foreign, Stop::Gap, Stop::Regression, Stop::Overflow, Stop::Oversize] {
                check_impossible(stop, evidence, "none zeros");
            }
            check_impossible(Stop::Unreadable, evidence, "");
        }
        check_impossible(Stop::Overrun, Evidence::Unknown, "none");
        check_impossible(Stop::Overrun, Evidence::AtOrAbove, "none");
        check_impossible(Stop::Overrun, Evidence::Below, all);
        check_impossible(Stop::Conflict, Evidence::Unknown, all);
        check_impossible(Stop::Conflict, Evidence::AtOrAbove, all);
        check_impossible(Stop::Conflict, Evidence::Below, "none zeros");
    }

    #[test]
    fn only_the_impossible_row_is_impossible() {
        for (stop, evidence, residue) in every_cell() {
            let is_row = row(stop, evidence, residue) == Row::Impossible;
            assert_eq!(is_row, judge(stop, evidence, residue) == Ruling::Impossible);
        }
    }

    #[test]
    fn every_row_of_the_segment_table_has_a_cell_and_every_cell_a_row_of_it() {
        for (stop, evidence, residue) in every_cell() {
            assert_eq!(row(stop, evidence, residue).table(), super::super::Table::Segment);
        }
        for wanted in Row::ALL.into_iter().filter(|row| row.table() == super::super::Table::Segment) {
            assert!(every_cell().any(|(s, e, r)| row(s, e, r) == wanted), "{}", wanted.code());
        }
    }

    /// The one rule of DESIGN section 3, as a law over the whole domain.
    #[test]
    fn nothing_below_a_mark_is_ever_cut_or_kept() {
        let served = every_cell().filter(|(stop, evidence, residue)| {
            *evidence == Evidence::Below
                && matches!(judge(*stop, *evidence, *residue), Ruling::Keep | Ruling::Cut)
        });
        assert_eq!(names(served), Vec::<String>::new());
    }

    #[test]
    fn at_or_above_a_mark_nothing_is_refused_but_what_no_door_lets_in() {
        let refused = every_cell().filter(|(stop, evidence, residue)| {
            *evidence == Evidence::AtOrAbove && matches!(judge(*stop, *evidence, *residue), Ruling::Refuse(_))
        });
        let expected = [
            "oversize at-or-above noise",
            "oversize at-or-above survivor",
            "oversize at-or-above stray",
            "oversize at-or-above unproven",
        ];
        assert_eq!(names(refused), expected);
    }

    #[test]
    fn evidence_of_loss_never_turns_a_refusal_into_a_cut() {
        // Strictness rises from "nothing was durable here" over "nothing is known" to "durable".
        let rising = [Evidence::AtOrAbove, Evidence::Unknown, Evidence::Below];
        for stop in Stop::ALL {
            for residue in Residue::ALL {
                let rulings = rising.map(|evidence| judge(stop, evidence, residue));
                let first = rulings.iter().position(|ruling| matches!(ruling, Ruling::Refuse(_)));
                for later in rulings.iter().skip(first.unwrap_or(rulings.len())) {
                    assert!(
                        matches!(later, Ruling::Refuse(_) | Ruling::Impossible),
                        "{} {}: {rulings:?}",
                        stop.code(),
                        residue.code()
                    );
                }
            }
        }
    }

    #[test]
    fn an_unreadable_log_has_no_verdict_whatever_else_is_known() {
        for (stop, evidence, residue) in every_cell() {
            let is_unavailable = judge(stop, evidence, residue) == Ruling::Unavailable;
            assert_eq!(is_unavailable, stop == Stop::Unreadable);
        }
    }

    #[test]
    fn a_survivor_is_cut_only_where_nothing_was_durable() {
        for (stop, evidence, residue) in every_cell() {
            let may_hold_survivor = matches!(residue, Residue::Survivor | Residue::Unproven);
            if may_hold_survivor && judge(stop, evidence, residue) == Ruling::Cut {
                assert_eq!(evidence, Evidence::AtOrAbove, "{} {}", stop.code(), residue.code());
            }
        }
    }
}
