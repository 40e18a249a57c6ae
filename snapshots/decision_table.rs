//! Renders the decision tables from the functions that decide.

use std::fmt::Write;

use recovery_core::decide::{Content, Fault, Place, Row, Ruling, Table, judge, link, row};
use recovery_core::observe::{Evidence, Residue, Stop};

#[test]
fn the_decision_table_is_as_it_was_reviewed() {
    let mut text = String::new();
    segment_rulings(&mut text);
    segment_rows(&mut text);
    links(&mut text);
    partition_rows(&mut text);
    super::check("decision-table", &text);
}

/// One line for each stop and evidence, one column for each residue.
fn segment_rulings(text: &mut String) {
    let mut lines = vec![["stop", "evidence"].into_iter().chain(Residue::ALL.map(Residue::code)).collect()];
    let mut counts = [0_u32; 2];
    for stop in Stop::ALL {
        for evidence in Evidence::ALL {
            let rulings = Residue::ALL.map(|residue| judge(stop, evidence, residue));
            for ruling in rulings {
                counts[usize::from(ruling == Ruling::Impossible)] += 1;
            }
            let words = rulings.map(|ruling| if ruling == Ruling::Impossible { "." } else { ruling.code() });
            lines.push([stop.code(), evidence.code()].into_iter().chain(words).collect());
        }
    }
    let [possible, impossible] = counts;
    let cells = possible + impossible;
    writeln!(text, "One segment: {cells} cells, {impossible} of them impossible (.)\n").expect("to a string");
    columns(text, &lines);
}

/// One line for each row of the segment table: how many cells lie in it, and what they are ruled.
fn segment_rows(text: &mut String) {
    let mut lines = vec![vec!["row".to_owned(), "cells".to_owned(), "rulings".to_owned()]];
    for wanted in Row::ALL.into_iter().filter(|row| row.table() == Table::Segment) {
        let mut cells = 0;
        let mut rulings: Vec<&str> = Vec::new();
        for stop in Stop::ALL {
            for evidence in Evidence::ALL {
                for residue in Residue::ALL {
                    if row(stop, evidence, residue) == wanted {
                        cells += 1;
                        let ruling = judge(stop, evidence, residue).code();
                        if !rulings.contains(&ruling) {
                            rulings.push(ruling);
                        }
                    }
                }
            }
        }
        lines.push(vec![wanted.code().to_owned(), cells.to_string(), rulings.join(", ")]);
    }
    writeln!(text, "\nIts rows\n").expect("to a string");
    columns(text, &lines);
}

/// One line for each place of the later segment, one column for what the earlier one proves.
fn links(text: &mut String) {
    let mut lines = vec![["later segment"].into_iter().chain(Content::ALL.map(Content::code)).collect()];
    for place in Place::ALL {
        let rows = Content::ALL.map(|content| link(place, content).row().code());
        lines.push([place.code()].into_iter().chain(rows).collect());
    }
    let cells = Place::ALL.len() * Content::ALL.len();
    writeln!(text, "\nTwo neighbours: {cells} cells, by what the earlier one proves\n").expect("to a string");
    columns(text, &lines);
}

/// The order in which a partition's faults are looked for, then the rows that are no fault.
fn partition_rows(text: &mut String) {
    writeln!(
        text,
        "\nOne partition: unavailable if a segment is; else the first of these faults is the reason\n"
    )
    .expect("to a string");
    for (place, fault) in Fault::ALL.into_iter().enumerate() {
        writeln!(text, "{:2}. {}", place + 1, fault.row().code()).expect("to a string");
    }
    writeln!(text, "\nIts rows that are no fault\n").expect("to a string");
    for row in Row::ALL.into_iter().filter(|row| row.table() == Table::Partition) {
        if Fault::ALL.iter().all(|fault| fault.row() != row) {
            writeln!(text, "{}", row.code()).expect("to a string");
        }
    }
}

/// Writes each line's words in columns as wide as their widest word.
fn columns<Word: AsRef<str>>(text: &mut String, lines: &[Vec<Word>]) {
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|word| word.as_ref().len()).max().unwrap_or(0)
    };
    for line in lines {
        let mut row = String::new();
        for (column, word) in line.iter().enumerate() {
            write!(row, "{:width$}  ", word.as_ref(), width = width(column)).expect("to a string");
        }
        writeln!(text, "{}", row.trim_end()).expect("to a string");
    }
}
