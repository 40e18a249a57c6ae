//! The pages for operators and programs name every word that the tool prints.

use std::fs;
use std::path::Path;

use recovery_core::decide::ReasonCode;
use recovery_core::observe::{Evidence, IndexState, Residue, Stop};

use crate::mistake::Mistake;
use crate::strip::RegionKind;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs").join(name);
    fs::read_to_string(path).unwrap()
}

/// Fails with every word that the page lacks.
fn check<'a>(name: &str, words: impl IntoIterator<Item = &'a str>) {
    let page = page(name);
    let missing: Vec<&str> = words.into_iter().filter(|word| !page.contains(&format!("`{word}`"))).collect();
    assert!(missing.is_empty(), "docs/{name} lacks {missing:?}");
}

#[test]
fn every_reason_is_on_the_page_for_operators() {
    check("operations.md", ReasonCode::ALL.iter().map(|code| code.code()));
    check("operations.md", ["locked", "io"]);
}

#[test]
fn every_letter_of_the_strip_is_on_the_page_for_operators() {
    let letters: Vec<String> = RegionKind::ALL.iter().map(|kind| kind.letter().to_string()).collect();
    check("operations.md", letters.iter().map(String::as_str));
}

#[test]
fn every_value_is_on_the_page_for_programs() {
    check("json.md", Stop::ALL.iter().map(|stop| stop.code()));
    check("json.md", Residue::ALL.iter().map(|residue| residue.code()));
    check("json.md", Evidence::ALL.iter().map(|evidence| evidence.code()));
    check("json.md", IndexState::ALL.iter().map(|state| state.code()));
}

#[test]
fn every_mistake_is_on_the_page_for_programs() {
    let path = || "x".into();
    let mistakes = [
        Mistake::CommandLine { sentence: String::new() },
        Mistake::NoSuchDirectory { path: path() },
        Mistake::NotADirectory { path: path() },
        Mistake::SymbolicLink { path: path() },
        Mistake::NoNamespace { path: path() },
        Mistake::NoParent { path: path() },
        Mistake::NoSuchFile { path: path() },
        Mistake::NotAFile { path: path() },
        Mistake::PastEnd { path: path(), file_bytes: 0, position: 0 },
    ];
    check("json.md", mistakes.iter().map(Mistake::code));
}
