//! The JSON object, byte for byte.

use recovery_core::decide::{Action, Disposition, Reason};
use recovery_core::format::Checksum;
use recovery_core::observe::{Evidence, LedgerState, OtherEntry, Residue, StopDetail, Unavailable};
use recovery_core::plan::Step;
use recovery_core::storage::{Call, EntryKind, Errno, StorageError};
use recovery_core::units::{Length, Offset, Position, SegmentStart};

use super::sample::{cut, facts, found, ledger, mark, name, target, torn, whole};
use crate::mistake::Mistake;
use crate::report::{ErrorObject, Mode, PartitionObject, Report};
use crate::session::Found;

fn object(mode: Mode, found: &Found) -> String {
    let target = target();
    let report = Report { mode, target: &target, replicas: 1, found };
    serde_json::to_string(&PartitionObject::of(&report)).unwrap()
}

/// The `reason` of a disposition.
fn cause(disposition: Disposition) -> String {
    let object = object(Mode::Check, &found(&facts(Vec::new()), disposition, &[]));
    let from = object.find("\"reason\":").unwrap() + "\"reason\":".len();
    let to = object.find(",\"next_offset\"").unwrap();
    object[from..to].to_owned()
}

#[test]
fn a_served_partition_has_every_field_in_its_place() {
    let mut facts = facts(vec![whole(0, 4), whole(40, 0)]);
    facts.listing.scratch = vec![name("00000000000000000900.index")];
    facts.listing.others = vec![OtherEntry { name: name("offsets"), kind: EntryKind::Directory }];
    facts.expired = vec![SegmentStart::new(7)];
    // Scratch and an expired segment beside a served one: what the verdict says is not the point here.
    let verdict = found(&facts, Disposition::Serve, &[Action::Keep, Action::Keep]);
    assert_eq!(
        object(Mode::Check, &verdict),
        r#"{"version":1,"namespace":"1/2/3","disposition":"serve","reason":null,"next_offset":40,"gap":null,"lost":null,"lost_ranges":null,"messages":40,"bytes_read":4000,"bytes_hashed":3500,"bytes_walked":480,"longest_step_bytes":4096,"ledger":{"state":"absent","records":null,"skipped":null,"newest":null,"reserved_offset":null},"segments":[{"start_offset":0,"log_bytes":4000,"proven_bytes":4000,"end_offset":39,"messages":40,"batches":4,"stop":"end","residue":"none","evidence":"unknown","index":"good","action":"keep","saved_bytes":0},{"start_offset":40,"log_bytes":0,"proven_bytes":0,"end_offset":null,"messages":0,"batches":0,"stop":"end","residue":"none","evidence":"unknown","index":"good","action":"keep","saved_bytes":0}],"expired":[7],"scratch":["00000000000000000900.index"],"others":["offsets"]}"#
    );
}

#[test]
fn a_cut_and_a_gap_say_what_they_cost() {
    let mut torn = torn(0, 2, Residue::Survivor, 77);
    torn.evidence = Evidence::AtOrAbove;
    let facts = facts(vec![torn]);
    let gap = Disposition::ServeFrom { first: Offset::new(20), last: Offset::new(29) };
    let object = object(Mode::Check, &found(&facts, gap, &[cut(2000, 77)]));
    let value: serde_json::Value = serde_json::from_str(&object).unwrap();
    assert_eq!(value["disposition"], "serve-from");
    assert_eq!(value["next_offset"], 30);
    assert_eq!(value["gap"].to_string(), r#"{"first_offset":20,"last_offset":29}"#);
    assert_eq!(
        value["segments"][0].to_string(),
        r#"{"action":"cut","batches":2,"end_offset":19,"evidence":"at-or-above","index":"good","log_bytes":2077,"messages":20,"proven_bytes":2000,"residue":"survivor","saved_bytes":77,"start_offset":0,"stop":"short"}"#
    );
}

#[test]
fn what_could_not_be_read_is_null_and_never_zero() {
    let error = StorageError { call: Call::Read, file: name("00000000000000000000.log"), errno: Errno::IO };
    assert_eq!(
        object(Mode::Check, &Found::unavailable(&Unavailable::Io(error))),
        r#"{"version":1,"namespace":"1/2/3","disposition":"unavailable","reason":{"code":"io","sentence":"read of 00000000000000000000.log failed with EIO","call":"read","file":"00000000000000000000.log","error":"EIO"},"next_offset":null,"gap":null,"lost":null,"lost_ranges":null,"messages":null,"bytes_read":null,"bytes_hashed":null,"bytes_walked":null,"longest_step_bytes":null,"ledger":null,"segments":null,"expired":null,"scratch":null,"others":null}"#
    );
    let mut unreadable = torn(0, 1, Residue::Unproven, 9);
    unreadable.stop = StopDetail::Unreadable { errno: Errno::IO, position: Position::new(1000) };
    let facts = facts(vec![unreadable]);
    let unreadable = found(&facts, Disposition::Unavailable(Unavailable::Io(error)), &[Action::Keep]);
    let value: serde_json::Value = serde_json::from_str(&object(Mode::Check, &unreadable)).unwrap();
    assert_eq!(value["segments"][0]["residue"], serde_json::Value::Null);
    assert_eq!(value["segments"][0]["proven_bytes"], 1000);
}

#[test]
fn a_ledger_says_how_much_of_it_is_heard() {
    let told = |ledger| {
        let mut facts = facts(Vec::new());
        facts.ledger = ledger;
        let object = object(Mode::Check, &found(&facts, Disposition::Serve, &[]));
        let value: serde_json::Value = serde_json::from_str(&object).unwrap();
        value["ledger"].to_string()
    };
    let unheard = |state| {
        format!(r#"{{"newest":null,"records":null,"reserved_offset":null,"skipped":null,"state":"{state}"}}"#)
    };
    assert_eq!(told(LedgerState::None { length: None }), unheard("absent"));
    assert_eq!(told(LedgerState::None { length: Some(Length::ZERO) }), unheard("absent"));
    assert_eq!(told(LedgerState::None { length: Some(Length::new(512)) }), unheard("invalid"));
    assert_eq!(
        told(ledger(3, 1)),
        r#"{"newest":"floor","records":3,"reserved_offset":7,"skipped":1,"state":"known"}"#
    );
}

#[test]
fn a_lock_says_what_it_is_held_on() {
    assert_eq!(
        cause(Disposition::Unavailable(Unavailable::Locked)),
        r#"{"code":"locked","sentence":"the directory 3 is locked by another process","call":"lock","file":"3","error":"EAGAIN"}"#
    );
}

#[test]
fn a_reason_brings_its_own_fields() {
    let reason = Reason::MissingSegment {
        segment: SegmentStart::new(40),
        durable_bytes: Some(Length::new(5)),
        first_present: None,
        missing: 2,
    };
    assert_eq!(
        cause(Disposition::Refuse(reason.clone())),
        format!(
            r#"{{"code":"missing-segment","sentence":"{reason}","segment":40,"durable_bytes":5,"first_present":null,"missing":2}}"#
        )
    );
    let reason = Reason::UnexpectedFile { file: name("5.log"), kind: EntryKind::File, files: 1 };
    assert_eq!(
        cause(Disposition::Refuse(reason.clone())),
        format!(
            r#"{{"code":"unexpected-file","sentence":"{reason}","file":"5.log","kind":"file","files":1}}"#
        )
    );
}

#[test]
fn a_plan_adds_its_steps() {
    let mut facts = facts(vec![torn(0, 1, Residue::Noise, 9), torn(10, 1, Residue::Zeros, 9)]);
    facts.segments[0].residue.checksum = Some(Checksum::new(0xab));
    let mut found = found(&facts, Disposition::Serve, &[cut(1000, 9), cut(1000, 0)]);
    found.plan.steps.extend([
        Step::Identify { file: name("a.staging"), position: Position::ZERO, length: None },
        Step::SaveIndex {
            segment: SegmentStart::new(0),
            length: Length::new(25),
            checksum: Checksum::new(0xcd),
        },
        Step::ReserveOffset { offset: Offset::new(30) },
        Step::SetAside { file: name("a.staging") },
        Step::StageIndex { segment: SegmentStart::new(0), entries: 2, sync: true },
        Step::InstallIndex { segment: SegmentStart::new(0) },
        Step::RecordRecovered { mark: mark(10, 1000, 20) },
        Step::RecordCleanStop { mark: mark(10, 1000, 20), next_offset: Offset::new(20) },
    ]);
    let object = object(Mode::Plan, &found);
    let steps = &object[object.find("\"steps\"").unwrap()..];
    assert_eq!(
        steps.replace("},{", "},\n{"),
        r#""steps":[{"step":"make-fence","file":null},
{"step":"save-residue","file":"00000000000000000000.log","position":1000,"length":9,"checksum":"00000000000000ab"},
{"step":"check-zeros","file":"00000000000000000010.log","position":1000,"length":9},
{"step":"write-reason","file":null},
{"step":"sync-fence","file":null},
{"step":"cut-log","file":"00000000000000000000.log","from":1009,"to":1000},
{"step":"cut-log","file":"00000000000000000010.log","from":1009,"to":1000},
{"step":"identify","file":"a.staging","position":0,"length":null},
{"step":"save-index","file":"00000000000000000000.index","length":25,"checksum":"00000000000000cd"},
{"step":"reserve-offset","file":"ledger","offset":30},
{"step":"set-aside","file":"a.staging"},
{"step":"stage-index","file":"00000000000000000000.index.staging","entries":2,"sync":true},
{"step":"install-index","file":"00000000000000000000.index"},
{"step":"record-recovered","file":"ledger","segment":10,"position":1000,"next_offset":20,"chain_hash":"0000000000000009"},
{"step":"record-clean-stop","file":"ledger","segment":10,"position":1000,"next_offset":20,"chain_hash":"0000000000000009","reserved_offset":20}]}"#
    );
}

#[test]
fn a_mistake_is_an_object_too() {
    let mistake = Mistake::NoSuchDirectory { path: "/nowhere".into() };
    assert_eq!(
        serde_json::to_string(&ErrorObject::of(&mistake)).unwrap(),
        r#"{"version":1,"error":{"code":"no-such-directory","sentence":"there is no directory /nowhere"}}"#
    );
}
