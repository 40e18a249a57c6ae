//! What is not of the language is an error, and the error points at the line.

use crate::schedule::parse;

const HEAD: &str =
    "scenario \"x\" version=1\nworld filesystem=\"xfs\" regime=\"unlimited\" {\n    partition \"1/1/0\"\n}\n";

/// Reads a document whose lines from the fifth on are `rest`, and compares code, line and sentence.
fn check(rest: &str, code: &str, line: usize, sentence: &str) {
    check_document(&format!("{HEAD}{rest}"), code, line, sentence);
}

fn check_document(text: &str, code: &str, line: usize, sentence: &str) {
    let error = parse("case.kdl", text).expect_err("the text must be refused");
    assert_eq!(
        (error.fault().code(), error.line(), error.to_string().as_str()),
        (code, line, sentence),
        "{text}"
    );
}

/// The same for one step, which then stands on line 6.
fn check_step(step: &str, code: &str, sentence: &str) {
    check(&format!("steps {{\n    {step}\n}}\n"), code, 6, sentence);
}

#[test]
fn an_unknown_node_is_refused_at_its_line() {
    check_step("flsh \"1/1/0\"", "unknown-node", "there is no node flsh in steps");
    check_step("expect-nothing \"1/1/0\"", "unknown-node", "there is no node expect-nothing in steps");
    check_step("flush \"1/1/0\" { evict; }", "unknown-node", "there is no node evict in a step");
    check_step("expect \"1/1/0\" { segmnt 0; }", "unknown-node", "there is no node segmnt in expect");
    check_step("either { flush \"1/1/0\"; }", "unknown-node", "there is no node flush in either");
    check_step(
        "crash \"os\" survive=\"all\" { flie \"1/1/0\"; }",
        "unknown-node",
        "there is no node flie in crash",
    );
    check("steps {\n}\nstep {\n}\n", "unknown-node", 7, "there is no node step in a scenario");
}

#[test]
fn an_unknown_property_is_refused_at_its_line() {
    check_step("append \"1/1/0\" batch=0 size=3", "unknown-property", "append has no property size");
    check_step("flush \"1/1/0\" call=1", "unknown-property", "flush has no property call");
    check_step("crash \"process\" survive=\"all\"", "unknown-property", "crash has no property survive");
    check_step("crash \"os\" call=1", "unknown-property", "crash has no property call");
    check_step(
        "flush \"1/1/0\" { fault \"no-space\" call=1 cached=#true; }",
        "unknown-property",
        "fault has no property cached",
    );
    check_step(
        "fault \"zeroed\" \"1/1/0\" segment=0 position=3",
        "unknown-property",
        "fault has no property position",
    );
}

#[test]
fn what_must_be_there_is_asked_for() {
    check_step("append \"1/1/0\"", "missing-property", "append needs the property batch");
    check_step("append batch=0", "missing-argument", "append needs a partition as its argument");
    check_step("start { crash \"power\"; }", "missing-property", "crash needs the property call");
    check_step("crash \"power\" survive=\"prefix\"", "missing-property", "crash needs the property n");
    check_step(
        "fault \"bit-flip\" \"1/1/0\" index=0 bit=1",
        "missing-property",
        "fault needs the property segment",
    );
    check("steps {\n}\nkills\n", "missing-argument", 7, "kills needs a planted bug as its argument");
    check_document("scenario \"x\" version=1\n", "missing-node", 1, "the document has no node world");
}

#[test]
fn a_value_of_another_type_or_size_is_refused() {
    check_step("append \"1/1/0\" batch=\"a\"", "wrong-type", "batch wants a whole number, and a is written");
    check_step(
        "append \"1/1/0\" batch=-1",
        "out-of-range",
        "batch wants a number from 0 to 4294967295, and -1 is written",
    );
    check_step(
        "append \"1/1/0\" batch=0 count=0",
        "out-of-range",
        "count wants a number from 1 to 4294967295, and 0 is written",
    );
    check_step(
        "append \"1/1/0\" batch=4294967295 count=2",
        "out-of-range",
        "count wants a number from 1 to 1, and 2 is written",
    );
    check_step(
        "flush \"1/1\"",
        "wrong-type",
        "a partition wants a partition as \"S/T/P\", at most 20, 12 and 20 bits, and \"1/1\" is written",
    );
    check_step(
        "flush \"1/01/0\"",
        "wrong-type",
        "a partition wants a partition as \"S/T/P\", at most 20, 12 and 20 bits, and \"1/01/0\" is written",
    );
    check_step(
        "expect \"1/1/0\" served=\"3..1\"",
        "wrong-type",
        "served wants ascending runs of offsets as \"0..8\" or \"0..3,7..9\", or \"\" for none, and \"3..1\" is written",
    );
}

#[test]
fn a_word_of_no_list_is_refused() {
    check_step("crash \"sudden\"", "unknown-word", "sudden is not a kind of crash");
    check_step("fault \"bitflip\" \"1/1/0\"", "unknown-word", "bitflip is not a fault kind");
    check_step(
        "fault \"bit-flip\" \"1/1/0\" batch=0 field=\"index.offset\" bit=0",
        "unknown-word",
        "index.offset is not a field of a batch",
    );
    check_step("expect \"1/1/0\" reason=\"hol\"", "unknown-word", "hol is not a reason");
}

#[test]
fn what_may_be_said_once_is_refused_twice() {
    check_step("append \"1/1/0\" batch=0 batch=1", "repeated", "batch is said twice");
    check(
        "steps {
    append \"1/1/0\" batch=0 count=3
    plant \"1/1/0\" batch=2
}
",
        "repeated-batch",
        7,
        "batch 2 is made twice",
    );
    check_step(
        "fault \"bit-flip\" \"1/1/0\" batch=0 bit=1 value=2",
        "exclusive",
        "fault takes bit or value, not both",
    );
    check_step(
        "fault \"zeroed\" \"1/1/0\" batch=0 ledger=2",
        "exclusive",
        "fault takes batch or ledger, not both",
    );
    check_step(
        "plant \"1/1/0\" batch=0 at=\"end\" position=2",
        "exclusive",
        "plant takes at or position, not both",
    );
    check_step("expect \"1/1/0\" { unchanged; unchanged; }", "repeated", "unchanged is said twice");
    check("steps {\n}\nsteps {\n}\n", "repeated", 7, "steps is said twice");
}

#[test]
fn what_is_no_kdl_and_what_is_of_another_version_is_refused() {
    check_document(
        "scenario \"x\" version=2\n",
        "version",
        1,
        "the document is of version 2, and this build reads version 1",
    );
    check_step("append (id)\"1/1/0\" batch=0", "annotation", "the language has no type annotations");
    check_step("stop \"now\"", "extra-argument", "stop does not take this argument");
    check_step("crash \"process\" { names survive=\"all\"; }", "extra-children", "crash has no children");
    let error = parse("case.kdl", "scenario \"ü\" version=1\nworld {\n\"").expect_err("no KDL");
    assert_eq!(error.fault().code(), "syntax");
}

#[test]
fn the_legal_regime_has_no_damage() {
    let check_legal = |step: &str, what: &str| {
        let head = HEAD.replace("unlimited", "legal");
        let text = format!("{head}steps {{\n    start\n    {step}\n}}\n");
        check_document(&text, "illegal", 7, &format!("the legal regime has no {what}"));
    };
    check_legal("fault \"noise\" \"1/1/0\" batch=0", "noise");
    check_legal("plant \"1/1/0\" batch=0", "plant");
    check_legal("flush \"1/1/0\" { fault \"lying-flush\" on=\"sync\" call=1; }", "lying-flush");
}

#[test]
fn a_fault_that_means_nothing_where_it_stands_is_refused() {
    let check_fault = |step: &str, kind: &str, why: &str| {
        check_step(step, "meaningless", &format!("{kind} means nothing here: {why}"));
    };
    check_fault("fault \"noise\"", "noise", "it damages bytes, and no partition is named");
    check_fault(
        "fault \"duplicate-batch\" \"1/1/0\" segment=0",
        "duplicate-batch",
        "it is about a whole batch",
    );
    check_fault(
        "fault \"operator-drops-ledger\"",
        "operator-drops-ledger",
        "it is about a name, and no partition is named",
    );
    check_fault("fault \"stray-file\" \"1/1/0\"", "stray-file", "it needs the property name");
    check_fault("fault \"misdirected-read\"", "misdirected-read", "it needs a destination");
    check_fault(
        "flush \"1/1/0\" { fault \"zeroed\" \"1/1/0\" batch=0 call=1; }",
        "zeroed",
        "it happens to what lies on the disk, and not to a call",
    );
    check_fault(
        "start { fault \"interrupted\" on=\"read\" call=1 times=\"always\"; }",
        "interrupted",
        "a signal that comes for ever would be waited for for ever",
    );
}

#[test]
fn the_line_is_right_behind_letters_of_many_bytes() {
    check_document(
        "scenario \"ÄÖÜ → ß\" version=1\nworld filesystem=\"xfs\" regime=\"legal\"\nsteps {\n    nap\n}\n",
        "unknown-node",
        4,
        "there is no node nap in steps",
    );
}

#[test]
fn the_report_shows_the_line_and_what_would_be_right() {
    let text = format!("{HEAD}steps {{\n    crash \"sudden\"\n}}\n");
    let error = parse("case.kdl", &text).expect_err("sudden is no crash");
    let mut shown = String::new();
    let theme = miette::GraphicalTheme::none();
    miette::GraphicalReportHandler::new_themed(theme)
        .render_report(&mut shown, &error)
        .expect("a string takes it");
    assert!(shown.contains("[case.kdl:6:11]"), "{shown}");
    assert!(shown.contains("6 |     crash \"sudden\""), "{shown}");
    assert!(shown.contains("help: one of: process os power"), "{shown}");
}
