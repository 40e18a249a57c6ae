//! A sweep: every variant of every subject, and what they came to.
//!
//! Promises: which variants are run depends on the subjects and the kinds alone; those that a state met
//! before stands for are counted; a sweep whose budget ran out, or that somebody ended, says which subjects it did not
//! come to the end of. Leaves out: what a variant is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use recovery_core::storage::Call;

use super::request::Request;
use super::summary::{Done, Summary};
use super::sweeper::{Piece, Sweeper, light};
use super::variant::plain;
use super::{calls, pool};
use crate::schedule::Schedule;
use crate::world::Arena;

/// Sweeps over schedules. Once `interrupted` is set no world is begun.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::AtomicBool;
///
/// use sim::explore::{Kind, Request, sweep};
/// use sim::schedule::parse;
///
/// let text = r#"
/// scenario "one batch" version=1
/// world filesystem="adversarial" regime="legal" {
///     partition "1/1/0" durability="buffered" ledger=#false
/// }
/// steps {
///     append "1/1/0" batch=0
///     flush "1/1/0"
/// }
/// "#;
/// let schedule = parse("one.kdl", text)?.schedule;
/// // A crash at each of its storage calls, once; at most 10,000 worlds.
/// let request = Request { kinds: vec![Kind::Crash], depth: 1, runs: 10_000, jobs: 1, keeps_equal: false };
/// let summary = sweep(&[schedule], &request, &AtomicBool::new(false));
/// assert!(summary.is_complete() && summary.runs > 0);
/// assert_eq!(summary.failures, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sweep(subjects: &[Schedule], request: &Request, interrupted: &AtomicBool) -> Summary {
    let plains: Vec<Schedule> = subjects.iter().map(plain).collect();
    let budget = AtomicU64::new(request.runs);
    let mut arena = Arena::new();
    let mut count = |plain| {
        let may_run = !interrupted.load(Ordering::Relaxed);
        may_run.then(|| calls::count(&mut arena, plain, light(0))).flatten().unwrap_or_default()
    };
    let counted: Vec<Vec<Vec<Call>>> = plains.iter().map(&mut count).collect();
    let mut pieces = Vec::new();
    for (subject, (plain, calls)) in plains.iter().zip(&counted).enumerate() {
        let piece = |step| Piece { subject, plain, calls, step };
        pieces.extend((0..calls.len()).map(|step| piece(Some(step))));
        pieces.push(piece(None));
    }
    let done = pool::run(&pieces, request.jobs, Piece::weight, |arena, piece| {
        let mut sweeper = Sweeper { arena, request, budget: &budget, interrupted, done: Done::default() };
        sweeper.sweep(piece);
        sweeper.done
    });
    let calls: Vec<u64> =
        counted.iter().map(|calls| calls.iter().map(|calls| calls.len() as u64).sum()).collect();
    // A subject whose world comes to no end is not counted, let alone swept.
    let is_counted = |subject: &usize| counted[*subject].len() == plains[*subject].steps.len();
    let mut summary = Summary {
        calls: calls.iter().sum(),
        subjects: calls.into_iter().map(|calls| (calls, 0, 0)).collect(),
        incomplete: (0..subjects.len()).filter(|subject| !is_counted(subject)).collect(),
        ..Summary::default()
    };
    for (piece, done) in pieces.iter().zip(done) {
        summary.add(piece.subject, done);
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::super::request::Kind;
    use super::super::variant::interrupted;
    use super::*;
    use crate::oracle::Check;
    use crate::run::one::report_of;
    use crate::schedule::{Action, CallPoint, Crash, CrashInside, Interruption, parse};
    use crate::world::Watch;

    fn sweep(subjects: &[Schedule], request: &Request) -> Summary {
        super::sweep(subjects, request, &AtomicBool::new(false))
    }

    fn read(path: &str) -> Schedule {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/");
        let text = std::fs::read_to_string(format!("{root}{path}")).expect("the file is there");
        parse(path, &text).expect("the file reads").schedule
    }

    fn request(kinds: &[Kind], depth: u32) -> Request {
        Request { kinds: kinds.to_vec(), depth, runs: u64::MAX, jobs: 2, keeps_equal: false }
    }

    /// Short lives: a repair makes so many calls that two crashes in it are for the command.
    const STORIES: [&str; 3] = [
        r#"world filesystem="adversarial" regime="legal" { partition "1/1/0" durability="buffered" ledger=#false; }
steps { append "1/1/0" batch=0; flush "1/1/0"; }"#,
        r#"world filesystem="ext4-ordered" regime="legal" { partition "1/1/0" durability="synced" ledger=#false; }
steps { append "1/1/0" batch=0; flush "1/1/0"; crash "process"; start; }"#,
        r#"world filesystem="xfs" regime="legal" { partition "1/1/0" durability="buffered" ledger=#false; }
steps { append "1/1/0" batch=0 count=2; flush "1/1/0"; poll "1/1/0" from=0 count=1; stop; start; }"#,
    ];

    fn story(steps: &str) -> Schedule {
        let text = format!("scenario \"a short life\" version=1\n{steps}\n");
        parse("short.kdl", &text).expect("the text reads").schedule
    }

    /// What is different in a sweep: never how often a thing was met.
    fn found(summary: &Summary) -> (u64, Vec<String>, Vec<Check>) {
        let groups = summary.groups.iter().map(|group| group.id.clone()).collect();
        (summary.states, groups, summary.violations.keys().copied().collect())
    }

    #[test]
    fn equal_states_gone_on_with_show_nothing_that_one_of_them_does_not() {
        // One life that is crashed twice, and all of them once.
        for (text, depth) in [(STORIES[0], 2), (STORIES[1], 1), (STORIES[2], 1)] {
            let subjects = [story(text)];
            let merged = request(&[Kind::Crash], depth);
            let (one, all) =
                (sweep(&subjects, &merged), sweep(&subjects, &Request { keeps_equal: true, ..merged }));
            assert!(all.runs > one.runs && one.deduplicated > 0, "{text}");
            // Where equal states are gone on with, so are those that follow from them, in the second crash.
            assert_eq!(found(&one), found(&all), "{text}");
            assert!(one.is_complete() && one.failures == 0, "{text}: {:?}", one.groups);
        }
    }

    #[test]
    fn threads_change_nothing_and_a_budget_that_is_used_up_is_not_complete() {
        let subjects: Vec<Schedule> = STORIES.iter().map(|text| story(text)).collect();
        let two = request(&[Kind::Crash, Kind::Error], 1);
        let (one, other) = (sweep(&subjects, &Request { jobs: 1, ..two.clone() }), sweep(&subjects, &two));
        assert_eq!((one.digest, one.runs, one.states), (other.digest, other.runs, other.states));
        let cut = sweep(&subjects, &Request { runs: one.runs - 1, ..two.clone() });
        assert!(!cut.is_complete() && cut.runs == one.runs - 1);
        assert!(sweep(&subjects, &Request { runs: one.runs, ..two.clone() }).is_complete());
        let never = super::sweep(&subjects, &two, &AtomicBool::new(true));
        assert_eq!((never.runs, never.incomplete.len()), (0, subjects.len()));
    }

    /// A crash before the K-th call is met there and not before, and there is no call behind the last.
    #[test]
    fn the_calls_that_are_counted_are_those_that_a_crash_finds() {
        for path in [
            "findings/n12-repair-cut-short.kdl",
            "regressions/a-directory-beside-a-half-made-copy-is-judged-by-itself.kdl",
        ] {
            compare_counted(&plain(&read(path)));
        }
    }

    fn compare_counted(plain: &Schedule) {
        let mut arena = Arena::new();
        let counted = calls::count(&mut arena, plain, light(0)).expect("the world ends");
        for (step, calls) in counted.iter().enumerate() {
            let is_met = |arena: &mut Arena, at: usize| {
                let at = CallPoint { on: None, call: calls::number(at) };
                let crash = Interruption::Crash(CrashInside { at, inside: None, crash: Crash::Process });
                let watch = Watch { keeps_events: true, ..Watch::of(light(0)) };
                let report =
                    report_of(arena, &interrupted(plain, step, crash), watch).expect("the world ends");
                let missed = report.told.expect("it was asked for").missed;
                !missed.contains(&u32::try_from(step).expect("a schedule is short"))
            };
            // A step with a crash of its own makes no calls behind it, and one that is a crash makes none at all.
            let is_crash = matches!(plain.steps[step].action, Action::Crash(_));
            if plain.steps[step].interruptions.is_empty() && !is_crash {
                assert!((0..calls.len()).all(|at| is_met(&mut arena, at)), "step {step}");
                assert!(!is_met(&mut arena, calls.len()), "step {step}");
            }
        }
    }

    /// I10 at depth 1 of what a host does: a copy that comes, and a deletion.
    #[test]
    fn a_host_that_goes_down_anywhere_ends_as_well() {
        let copy = r#"world filesystem="ext4-ordered" regime="unlimited" nodes=2 { partition "1/1/0" durability="synced"; }
steps { append "1/1/0" batch=0; flush "1/1/0"; crash "process" node=1
fault "bit-flip" "1/1/0" batch=0 field="frame.0.payload" bit=3 node=1
start node=1; transfer "1/1/0" from=0 node=1; }"#;
        let deletion = r#"world filesystem="xfs" regime="legal" { partition "1/1/0" durability="synced"; }
steps { append "1/1/0" batch=0; delete "1/1/0"; create "1/1/0"; reconcile; }"#;
        for text in [copy, deletion] {
            let summary = sweep(&[story(text)], &request(&[Kind::Crash, Kind::Error], 1));
            assert!(summary.is_complete() && summary.runs > 100, "{}", summary.runs);
            assert_eq!(summary.failures, 0, "{:?}", summary.groups);
        }
    }

    #[test]
    fn every_field_of_what_lies_there_is_damaged() {
        let summary = sweep(&[read("findings/f29-flip-up.kdl")], &request(&[Kind::Fields], 1));
        assert!(summary.is_complete() && summary.runs > 300, "{}", summary.runs);
        assert_eq!(summary.failures, 0, "{:?}", summary.groups);
    }
}
