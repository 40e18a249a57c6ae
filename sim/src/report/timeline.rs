//! Events in words: what a record says, for a timeline and for two runs that part.
//!
//! Promises: one short sentence an event; a number that stands for a word is turned back into it, and one
//! that nobody knows is shown as it is. Leaves out: how steps are printed, which they know themselves.

use recovery_core::decide::{Action as SegmentAction, ReasonCode};
use recovery_core::storage::{Call, Errno};
use recovery_core::units::{Length, Namespace, Position};

use crate::disk::Cause;
use crate::report::terminal::counted;
use crate::run::counterfactual::is_left_out;
use crate::schedule::{ErrorClass, Restart, Step, print_step};
use crate::world::event::{Event, EventCode, word};
use crate::world::{HOST_WORDS, short_path};

/// The permanent word of a kind of event.
pub const fn code_word(code: EventCode) -> &'static str {
    match code {
        EventCode::Step => "step",
        EventCode::Call => "call",
        EventCode::CallFailed => "call-failed",
        EventCode::Appended => "appended",
        EventCode::Acknowledged => "acknowledged",
        EventCode::WriterFailed => "writer-failed",
        EventCode::Crashed => "crashed",
        EventCode::Verdict => "verdict",
        EventCode::Action => "action",
        EventCode::Planned => "planned",
        EventCode::Polled => "polled",
        EventCode::Fault => "fault",
        EventCode::Missed => "missed",
        EventCode::Stopped => "stopped",
        EventCode::Told => "told",
        EventCode::Bytes => "bytes",
        EventCode::Hit => "hit",
    }
}

/// A step in one line, without the step that stands where a fault was left out.
pub fn step_line(step: &Step) -> String {
    if is_left_out(step) {
        return "a fault that is left out".to_owned();
    }
    print_step(step).trim().to_owned()
}

/// Whether an event is one of the many that only a close look wants.
pub fn is_detail(event: &Event) -> bool {
    match event.code {
        EventCode::Step | EventCode::Call | EventCode::Bytes | EventCode::Planned => true,
        // A definite answer about a name is no failure.
        EventCode::CallFailed => [Errno::NOT_FOUND, Errno::EXISTS]
            .iter()
            .any(|errno| u64::from(errno.raw().unsigned_abs()) == event.c),
        EventCode::Appended
        | EventCode::Acknowledged
        | EventCode::WriterFailed
        | EventCode::Crashed
        | EventCode::Verdict
        | EventCode::Action
        | EventCode::Polled
        | EventCode::Fault
        | EventCode::Missed
        | EventCode::Stopped
        | EventCode::Told
        | EventCode::Hit => false,
    }
}

/// What an event says. `subject` is the path that a storage call was about, where it is known.
pub fn sentence(event: &Event, subject: Option<&str>) -> String {
    let Event { a, b, c, .. } = *event;
    match event.code {
        EventCode::Step => format!("a step begins: {}", known(a)),
        EventCode::Call => call(event, &path(event, subject)),
        EventCode::CallFailed => {
            let errno =
                i32::try_from(c).map_or_else(|_| c.to_string(), |raw| Errno::from_raw(raw).to_string());
            format!("{} of {} failed with {errno}", call_word(a), path(event, subject))
        }
        EventCode::Appended => match c.checked_sub(b) {
            Some(1) => format!("batch {a} gets offset {b}"),
            Some(_) => format!("batch {a} gets offsets {b} to {}", c.saturating_sub(1)),
            None => format!("batch {a} gets offsets from {b}"),
        },
        EventCode::Acknowledged => format!("{}: acknowledged below offset {b}", namespace(a)),
        EventCode::WriterFailed => format!("{}: failed with {}", namespace(a), known(b)),
        EventCode::Crashed => {
            let kind =
                Restart::ALL.iter().find(|kind| **kind as u64 == a).map_or("crash", |kind| kind.code());
            format!("down ({kind}): of what was not durable, {} kept and {} lost", c >> 32, c & 0xffff_ffff)
        }
        EventCode::Verdict if c == u64::MAX => format!("{}: {}", namespace(a), known(b)),
        EventCode::Verdict => format!("{}: {}, next offset {c}", namespace(a), known(b)),
        EventCode::Action => match known(b) {
            cut if cut == "cut" => format!("segment {a}: cut at byte {c}"),
            action => format!("segment {a}: {action}"),
        },
        EventCode::Planned => format!("plan: {}", known(a)),
        EventCode::Polled => match ErrorClass::ALL.into_iter().find(|class| word(class.code()) == c) {
            Some(class) => format!("{}: a poll fails: {} ({})", namespace(a), known(b), class.code()),
            None => format!("{}: a poll gets {}", namespace(a), counted(c, "message")),
        },
        EventCode::Fault => format!("{} is done", known(a)),
        EventCode::Missed => format!("{} finds nothing there", known(a)),
        EventCode::Bytes => format!("their hash is {a:016x}"),
        EventCode::Hit => {
            let about = subject.map_or(String::new(), |subject| format!(" of {}", short_path(subject)));
            format!("{} hits a call: {}{about}", known(a), call_word(b))
        }
        EventCode::Stopped if b == 1 => format!("{}: stopped cleanly", namespace(a)),
        EventCode::Stopped => format!("{}: stopped, and not cleanly", namespace(a)),
        EventCode::Told if a == u64::MAX => format!("the host tells: {}", known(b)),
        EventCode::Told => format!("{}: the host tells: {}", namespace(a), known(b)),
    }
}

fn call(event: &Event, path: &str) -> String {
    let Event { a, b, c, .. } = *event;
    let word = call_word(a);
    match Call::ALL.into_iter().find(|call| *call as u64 == a & 0xff) {
        Some(Call::Read | Call::Write) => format!("{word} {path} at {b}: {}", counted(c, "byte")),
        Some(Call::SetLength) => format!("{word} {path} to {b}"),
        Some(Call::Length) => format!("{word} {path}: {c}"),
        Some(Call::List) if c == 1 => format!("{word} {path}: 1 entry"),
        Some(Call::List) => format!("{word} {path}: {c} entries"),
        Some(
            Call::Open
            | Call::Create
            | Call::Sync
            | Call::SyncDirectory
            | Call::Rename
            | Call::Remove
            | Call::MakeDirectory
            | Call::Lock
            | Call::DropCache,
        )
        | None => format!("{word} {path}"),
    }
}

fn call_word(a: u64) -> &'static str {
    let call = Call::ALL.into_iter().find(|call| *call as u64 == a & 0xff);
    call.map_or("call", Call::code)
}

/// A path, short: the partition and the file. Without one, the number of the file or directory.
fn path(event: &Event, subject: Option<&str>) -> String {
    subject.map_or_else(|| format!("object {}", event.a >> 8), short_path)
}

fn namespace(packed: u64) -> String {
    let part = |shift: u32, bits: u32| u32::try_from(packed >> shift & ((1 << bits) - 1)).expect("few bits");
    Namespace { stream: part(32, 20), topic: part(20, 12), partition: part(0, 20) }.to_string()
}

/// The word whose hash a record holds.
fn known(hash: u64) -> String {
    words().find(|known| word(known) == hash).map_or_else(|| format!("{hash:#018x}"), str::to_owned)
}

/// Every word that records hold.
fn words() -> impl Iterator<Item = &'static str> {
    const STEPS: [&str; 23] = [
        "append",
        "plant",
        "flush",
        "roll",
        "checkpoint",
        "retain",
        "stop",
        "start",
        "poll",
        "crash",
        "fault",
        "evict",
        "create",
        "delete",
        "confirm",
        "reconcile",
        "queue-insert",
        "apply-inserts",
        "accept-loss",
        "link",
        "transfer",
        "expect",
        "either",
    ];
    const DISPOSITIONS: [&str; 4] = ["serve", "serve-from", "refuse", "unavailable"];
    const PLANS: [&str; 19] = [
        "stage-run",
        "install-run",
        "record-sealed",
        "record-frontier",
        "identify",
        "make-fence",
        "check-zeros",
        "save-residue",
        "save-index",
        "write-reason",
        "sync-fence",
        "reserve-offset",
        "cut-log",
        "set-aside",
        "stage-index",
        "install-index",
        "sync-directory",
        "record-recovered",
        "record-clean-stop",
    ];
    const CLIENTS: [&str; 4] = ["io", "gap-needs-ledger", "poisoned", "damaged"];
    let actions = [
        SegmentAction::Keep,
        SegmentAction::RebuildIndex,
        SegmentAction::Cut { at: Position::new(0), save: Length::new(0) },
    ];
    let causes = Cause::all().map(Cause::code);
    let reasons = ReasonCode::ALL.into_iter().map(ReasonCode::code);
    STEPS
        .into_iter()
        .chain(DISPOSITIONS)
        .chain(PLANS)
        .chain(CLIENTS)
        .chain(actions.map(|action| action.code()))
        .chain(causes)
        .chain(reasons)
        .chain(HOST_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: EventCode, (a, b, c): (u64, u64, u64), expected: &str) {
        let event = Event { code, node: 0, step: 0, a, b, c };
        let path = "streams/1/topics/2/partitions/0/00000000000000000000.log";
        assert_eq!(sentence(&event, Some(path)), expected);
    }

    #[test]
    fn records_read_as_sentences() {
        let partition = Namespace { stream: 1, topic: 2, partition: 3 }.packed();
        check(EventCode::Appended, (4, 10, 13), "batch 4 gets offsets 10 to 12");
        check(EventCode::Appended, (4, 10, 11), "batch 4 gets offset 10");
        check(EventCode::Acknowledged, (partition, 13, 0), "1/2/3: acknowledged below offset 13");
        check(EventCode::Verdict, (partition, word("serve"), 13), "1/2/3: serve, next offset 13");
        check(EventCode::Verdict, (partition, word("hole"), u64::MAX), "1/2/3: hole");
        check(EventCode::Action, (8, word("cut"), 712), "segment 8: cut at byte 712");
        check(EventCode::Action, (8, word("keep"), 0), "segment 8: keep");
        check(EventCode::Polled, (partition, 7, 1), "1/2/3: a poll gets 1 message");
        let text = "1/2/3: a poll fails: lost-durable (terminal)";
        check(EventCode::Polled, (partition, word("lost-durable"), word("terminal")), text);
        check(EventCode::Fault, (word("bit-flip"), 0, 0), "bit-flip is done");
        let hit = (word("lost-write"), Call::Write as u64, 0);
        let text = "lost-write hits a call: write of 1/2/0/00000000000000000000.log";
        check(EventCode::Hit, hit, text);
        check(EventCode::Missed, (word("poll"), 0, 0), "poll finds nothing there");
        let power = Restart::Power as u64;
        let text = "down (power): of what was not durable, 3 kept and 5 lost";
        check(EventCode::Crashed, (power, 0, 3 << 32 | 5), text);
    }

    #[test]
    fn calls_name_the_file_and_the_place() {
        let read = 9 << 8 | Call::Read as u64;
        check(EventCode::Call, (read, 512, 100), "read 1/2/0/00000000000000000000.log at 512: 100 bytes");
        let text = "read of 1/2/0/00000000000000000000.log failed with EIO";
        check(EventCode::CallFailed, (read, 0, 5), text);
        let event = Event { code: EventCode::Call, node: 0, step: 0, a: read, b: 0, c: 1 };
        assert_eq!(sentence(&event, None), "read object 9 at 0: 1 byte");
    }

    #[test]
    fn a_number_that_is_no_word_is_shown_as_it_is() {
        assert_eq!(known(7), "0x0000000000000007");
        for each in words() {
            assert_eq!(known(word(each)), each);
        }
    }
}
