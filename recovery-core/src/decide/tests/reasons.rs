//! Codes, names and sentences.

use std::collections::BTreeSet;

use super::super::{Fault, Link, ReasonCode, Row, Table};

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
