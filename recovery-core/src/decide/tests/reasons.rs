//! Codes, names and sentences.

use std::collections::BTreeSet;

use super::super::{
    Action, Content, Disposition, Fault, Link, Place, ReasonCode, Row, Ruling, Table, Witness,
};
use crate::observe::Unavailable;
use crate::units::{Length, Offset, Position};

/// Lower-case words joined by single hyphens.
fn is_kebab_case(code: &str) -> bool {
    code.split('-').all(|word| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase()))
}

#[test]
fn codes_are_kebab_case_and_none_is_used_twice() {
    let reasons: BTreeSet<&str> = ReasonCode::ALL.into_iter().map(ReasonCode::code).collect();
    let rows: BTreeSet<&str> = Row::ALL.into_iter().map(Row::code).collect();
    assert_eq!(reasons.len(), ReasonCode::ALL.len());
    assert_eq!(rows.len(), Row::ALL.len());
    for code in reasons.into_iter().chain(rows) {
        assert!(is_kebab_case(code), "{code}");
    }
}

#[test]
fn faults_and_links_have_rows_of_the_partition_table() {
    for row in Fault::ALL.into_iter().map(Fault::row).chain(Link::ALL.into_iter().map(Link::row)) {
        assert_eq!(row.table(), Table::Partition, "{}", row.code());
    }
}

/// Reports and rendered tables are read by programs: none of these words changes.
#[test]
fn the_permanent_words_are_just_these() {
    let (first, last, at, save) = (Offset::ZERO, Offset::ZERO, Position::ZERO, Length::ZERO);
    let actions = [Action::Keep, Action::RebuildIndex, Action::Cut { at, save }];
    let dispositions = [
        Disposition::Serve,
        Disposition::ServeFrom { first, last },
        Disposition::Unavailable(Unavailable::Locked),
    ];
    let rulings = [
        Ruling::Keep,
        Ruling::Cut,
        Ruling::Refuse(ReasonCode::Hole),
        Ruling::Unavailable,
        Ruling::Impossible,
    ];
    assert_eq!(Place::ALL.map(Place::code), ["inside", "adjacent", "recorded-above", "above"]);
    assert_eq!(Content::ALL.map(Content::code), ["batches", "sealed-empty", "nothing", "nothing-anywhere"]);
    assert_eq!(rulings.map(Ruling::code), ["keep", "cut", "hole", "unavailable", "impossible"]);
    assert_eq!(actions.map(|action| action.code()), ["keep", "rebuild-index", "cut"]);
    assert_eq!(dispositions.map(|disposition| disposition.code()), ["serve", "serve-from", "unavailable"]);
    assert_eq!(Table::ALL.map(Table::code), ["segment", "partition"]);
    assert_eq!(Witness::ALL.map(Witness::code), ["ledger", "index"]);
}
