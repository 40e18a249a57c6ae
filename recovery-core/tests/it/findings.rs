//! The page of findings: a way from every finding and every report to what fails if it comes true again.

use std::env;
use std::fs;

use crate::tidy::{check, read, top};

/// Kinds of findings, and how many there are of each.
const FINDINGS: [(char, u32); 3] = [('F', 98), ('G', 34), ('N', 34)];

/// The public reports that were reduced to one state of a disk.
const REPORTS: [u32; 76] = [
    2, 5, 6, 7, 10, 12, 13, 14, 17, 19, 21, 22, 26, 28, 30, 32, 33, 36, 37, 38, 42, 43, 44, 48, 50, 51, 53,
    55, 57, 58, 62, 64, 65, 67, 70, 71, 73, 74, 79, 80, 82, 84, 87, 89, 90, 91, 92, 93, 96, 98, 102, 103,
    105, 106, 108, 109, 114, 115, 117, 119, 120, 121, 123, 127, 128, 129, 133, 134, 135, 141, 142, 143, 145,
    146, 150, 151,
];

/// The findings that issue 4 lists: each of them is held by a scenario or a test, and no note takes the place of one.
const HELD: [(char, std::ops::RangeInclusive<u32>); 8] = [
    ('F', 9..=9),
    ('F', 13..=13),
    ('F', 17..=22),
    ('F', 39..=40),
    ('F', 59..=78),
    ('F', 84..=90),
    ('G', 1..=34),
    ('N', 1..=34),
];

/// Where the rows begin on the page; they go on to its end.
const HEAD: &str = "| id | scenario or test | kills | note |\n| --- | --- | --- | --- |\n";

/// Every id, in the order of the page.
fn ids() -> Vec<String> {
    let findings = FINDINGS
        .into_iter()
        .flat_map(|(kind, count)| (1..=count).map(move |number| format!("{kind}{number:02}")));
    findings.chain(REPORTS.into_iter().map(|number| format!("B{number:02}"))).collect()
}

/// What the head of a scenario says.
struct Scenario {
    /// Its path from the top of the project.
    path: String,
    folder: String,
    stem: String,
    /// The findings and reports that it is about.
    ids: Vec<String>,
    /// The planted bugs that it kills.
    kills: Vec<String>,
}

impl Scenario {
    fn read(folder: &str, stem: &str) -> Self {
        let path = format!("scenarios/{folder}/{stem}.kdl");
        let text = read(&path);
        let head = || text.lines().take_while(|line| !line.starts_with("world "));
        let quoted = |node: &str| -> Vec<String> {
            let lines = head().filter_map(|line| line.strip_prefix(node));
            lines.flat_map(|line| line.split('"').skip(1).step_by(2)).map(str::to_owned).collect()
        };
        let ids = [quoted("finding "), quoted("report ")].concat();
        let (folder, stem, kills) = (folder.to_owned(), stem.to_owned(), quoted("kills "));
        Self { path, folder, stem, ids, kills }
    }
}

/// Every scenario, in the order of their paths.
fn scenarios() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for folder in ["findings", "regressions", "reports"] {
        let names = fs::read_dir(top().join("scenarios").join(folder)).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut stems: Vec<String> =
            names.filter_map(|name| name.strip_suffix(".kdl").map(str::to_owned)).collect();
        stems.sort();
        scenarios.extend(stems.iter().map(|stem| Scenario::read(folder, stem)));
    }
    assert!(scenarios.len() > 100, "the catalogue was found");
    scenarios
}

/// A row of the page as it is written.
struct Row {
    id: String,
    /// Scenarios and tests, by path, a test with its name behind `::`.
    held_by: Vec<String>,
    note: String,
}

fn rows() -> Vec<Row> {
    let page = read("docs/findings.md");
    let (_, rows) = page.split_once(HEAD).expect("the page has a table");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 6, "four cells: {line}");
        let held_by = cells[2].split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Row { id: cells[1].to_owned(), held_by, note: cells[4].to_owned() }
    };
    rows.lines().map(row).collect()
}

/// A list with commas, or `none`.
fn spelled(words: &[String]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// The line of an id: the scenarios that name it and what they kill, and what somebody wrote on the page.
fn line(id: &str, scenarios: &[Scenario], row: Option<&Row>) -> String {
    let (mut held_by, mut kills) = (Vec::new(), Vec::new());
    for scenario in scenarios.iter().filter(|scenario| scenario.ids.iter().any(|other| other == id)) {
        held_by.push(format!("`{}`", scenario.path));
        for mutant in &scenario.kills {
            if !kills.contains(mutant) {
                kills.push(mutant.clone());
            }
        }
    }
    let written = row.into_iter().flat_map(|row| &row.held_by);
    let tests = written.filter(|path| !path.starts_with("scenarios/"));
    held_by.extend(tests.map(|path| format!("`{path}`")));
    let note = row.map(|row| row.note.as_str()).filter(|note| !note.is_empty());
    let note = note.map(|note| format!(" {note}")).unwrap_or_default();
    format!("| {id} | {} | {} |{note} |\n", spelled(&held_by), spelled(&kills))
}

#[test]
fn every_finding_and_every_report_has_a_row_with_what_holds_it() {
    let (page, rows, scenarios) = (read("docs/findings.md"), rows(), scenarios());
    let lines = ids().into_iter().map(|id| line(&id, &scenarios, rows.iter().find(|row| row.id == id)));
    let expected: Vec<String> = lines.collect();
    let (head, written) = page.split_once(HEAD).expect("the page has a table");
    if env::var_os("UPDATE_FINDINGS").is_some() {
        fs::write(top().join("docs/findings.md"), format!("{head}{HEAD}{}", expected.concat())).unwrap();
        return;
    }
    let written: Vec<String> = written.lines().map(|line| format!("{line}\n")).collect();
    let missing = expected.iter().filter(|line| !written.contains(line));
    let surplus = written.iter().filter(|line| !expected.contains(line));
    let complaints: Vec<String> = missing
        .map(|line| format!("missing: {line}"))
        .chain(surplus.map(|line| format!("surplus: {line}")))
        .collect();
    check(&complaints);
    assert_eq!(written, expected, "the same rows in another order, or one twice");
}

/// Whether a finding must be held, whatever its note says.
fn must_be_held(id: &str) -> bool {
    let (kind, number) = id.split_at(1);
    let number: u32 = number.parse().expect("an id is a letter and a number");
    HELD.iter().any(|(of, numbers)| kind.starts_with(*of) && numbers.contains(&number))
}

/// Whether `text` names `id` as a word of its own: B102 is no word about B10.
fn names(text: &str, id: &str) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    text.match_indices(id).any(|(at, _)| {
        let bytes = text.as_bytes();
        !is_part(at.checked_sub(1).and_then(|before| bytes.get(before))) && !is_part(bytes.get(at + id.len()))
    })
}

/// Whether `source` has a test of this name, and not only a function: its attribute stands right above.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let starts = format!("fn {name}(");
    lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&starts))
}

#[test]
fn an_id_is_a_word_and_a_test_has_its_attribute() {
    assert!(names("about F10, and B102", "F10") && names("finding \"B102\"", "B102"));
    assert!(!names("about B102", "B10") && !names("AB10", "B10"));
    assert!(has_test("#[test]\nfn it_holds() {", "it_holds"));
    assert!(
        !has_test("fn it_holds() {", "it_holds") && !has_test("#[test]\nfn it_holds_not() {", "it_holds")
    );
    assert!(must_be_held("F77") && must_be_held("G21") && !must_be_held("F32") && !must_be_held("B102"));
}

#[test]
fn every_row_leads_to_something_or_says_why_not() {
    let mut complaints = Vec::new();
    for row in rows() {
        if row.held_by.is_empty() && (row.note.is_empty() || must_be_held(&row.id)) {
            complaints.push(format!("{}: nothing holds it, and nothing says why, or may", row.id));
        }
        if row.note.ends_with('\\') {
            complaints.push(format!("{}: its note ends in a stroke", row.id));
        }
        for place in &row.held_by {
            let (path, test) = match place.split_once("::") {
                Some((path, test)) => (path, Some(test)),
                None => (place.as_str(), None),
            };
            if !top().join(path).is_file() {
                complaints.push(format!("{}: there is no `{path}`", row.id));
                continue;
            }
            let held = read(path);
            // A scenario is one test, and a bench is none: it measures.
            let is_whole = path.starts_with("scenarios/") || path.contains("/benches/");
            if !is_whole && !test.is_some_and(|test| has_test(&held, test)) {
                complaints.push(format!("{}: there is no test `{place}`", row.id));
            }
            if !names(&held, &row.id) {
                complaints.push(format!("{}: `{path}` does not say that it is about it", row.id));
            }
        }
    }
    check(&complaints);
}

#[test]
fn every_scenario_has_an_id_and_planted_bugs_that_are_known_and_a_snapshot() {
    let ids = ids();
    let mut complaints = Vec::new();
    for scenario in scenarios() {
        let path = &scenario.path;
        for id in scenario.ids.iter().filter(|id| !ids.contains(id)) {
            complaints.push(format!("{path}: there is no {id}"));
        }
        for mutant in &scenario.kills {
            if !top().join(format!("sim/mutants/{mutant}.kdl")).is_file() {
                complaints.push(format!("{path}: there is no planted bug `{mutant}`"));
            }
        }
        // A regression is about what a run found, which need not be on any list.
        let is_named =
            scenario.ids.iter().any(|id| scenario.stem.starts_with(&format!("{}-", id.to_lowercase())));
        if scenario.folder != "regressions" && !is_named {
            complaints.push(format!("{path}: its name begins with no id that it is about"));
        }
        let snapshot = format!("snapshots/scenario-{}-{}.snap", scenario.folder, scenario.stem);
        if !top().join(&snapshot).is_file() {
            complaints.push(format!("{path}: there is no `{snapshot}`"));
        }
    }
    check(&complaints);
}
