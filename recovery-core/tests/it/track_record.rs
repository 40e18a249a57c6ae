//! The page of the track record: each bug that runs found, each mistake that is planted, and the last commit whose
//! harness is known to find it.
//!
//! Promises: the page says what `scenarios/regressions/`, `sim/mutants/` and the kill table say, or this fails. Leaves
//! out: whether a commit on the page is the right one, which only history tells, and only a page that is written anew
//! asks it.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::tidy::{check, read, top};

const PAGE: &str = "docs/track-record.md";
const KILL_TABLE: &str = "snapshots/kill-table.tsv";
const FOUND: &str =
    "| bug | scenario | found by | planted again as | last found at |\n| --- | --- | --- | --- | --- |\n";
const PLANTED: &str = "| mistake | about | dies by | how | seeds | scenarios | last found at |\n| --- | --- | --- | --- | --- | --- | --- |\n";

/// What stands in a cell of which nothing is known.
const NOTHING: &str = "none";

/// A row without its last cell, and what its last cell is found out by.
struct Row {
    cells: String,
    commit: Source,
}

/// Which commit is the last one whose harness is known to find something.
enum Source {
    /// The one that a run's token names.
    Token(String),
    /// The one before the file came, for it came with what put the bug right.
    Before(String),
    /// The last one that wrote the row of this planted bug into the kill table.
    KillTable(String),
    /// None: it is planted, and no kill table has it yet.
    Unknown,
}

/// The texts in quotes on the lines of a document that begin with `node`.
fn quoted(text: &str, node: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(node));
    lines.flat_map(|line| line.split('"').skip(1).step_by(2)).map(str::to_owned).collect()
}

/// The names of the documents in a folder, without their suffix, in order.
fn stems(folder: &str) -> Vec<String> {
    let names = fs::read_dir(top().join(folder)).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut stems: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".kdl").map(str::to_owned)).collect();
    stems.sort();
    assert!(!stems.is_empty(), "{folder} was found");
    stems
}

/// The rows of the kill table that are killed, by id: the cells behind `status`. Empty while there is no table.
fn kill_table() -> BTreeMap<String, [String; 4]> {
    if !top().join(KILL_TABLE).is_file() {
        return BTreeMap::new();
    }
    let text = read(KILL_TABLE);
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().expect("a table has a head").split('\t').collect();
    let column = |name: &str| head.iter().position(|cell| *cell == name).expect("the table has this column");
    let (id, status) = (column("id"), column("status"));
    let shown = ["killed_by", "how", "seeds", "scenarios"].map(column);
    let rows =
        lines.map(|line| line.split('\t').collect::<Vec<_>>()).filter(|cells| cells[status] == "killed");
    rows.map(|cells| (cells[id].to_owned(), shown.map(|at| cell(cells[at])))).collect()
}

fn cell(text: &str) -> String {
    if text.is_empty() { NOTHING.to_owned() } else { text.replace(',', ", ") }
}

fn joined(words: &[String]) -> String {
    cell(&words.join(","))
}

/// What runs found, one a scenario.
fn found() -> Vec<Row> {
    let killed = kill_table();
    let row = |stem: &String| {
        let path = format!("scenarios/regressions/{stem}.kdl");
        let text = read(&path);
        let title = quoted(&text, "scenario ").remove(0);
        let kills = quoted(&text, "kills ");
        let origin = quoted(&text, "origin ");
        let by = match origin.as_slice() {
            [token, check] => format!("{check}, `{token}`"),
            _ => joined(&quoted(&text, "finding ")),
        };
        let planted = kills.iter().find(|id| killed.contains_key(*id));
        let commit = match (planted, origin.first().and_then(|token| token.rsplit('-').next())) {
            (Some(id), _) => Source::KillTable(id.clone()),
            (None, Some(commit)) => Source::Token(commit.to_owned()),
            (None, None) => Source::Before(path.clone()),
        };
        Row { cells: format!("| {title} | `{path}` | {by} | {} |", joined(&kills)), commit }
    };
    stems("scenarios/regressions").iter().map(row).collect()
}

/// What is planted, one a file.
fn planted() -> Vec<Row> {
    let killed = kill_table();
    let row = |stem: &String| {
        let text = read(&format!("sim/mutants/{stem}.kdl"));
        let story = quoted(&text, "story ").remove(0);
        let about = joined(&quoted(&text, "finding "));
        let (measured, commit) = if let Some(measured) = killed.get(stem) {
            (measured.clone(), Source::KillTable(stem.clone()))
        } else {
            let named = joined(&quoted(&text, "killed-by "));
            ([named, NOTHING.to_owned(), NOTHING.to_owned(), NOTHING.to_owned()], Source::Unknown)
        };
        Row { cells: format!("| `{stem}`: {story} | {about} | {} |", measured.join(" | ")), commit }
    };
    stems("sim/mutants").iter().map(row).collect()
}

/// What git says, in one line.
fn git(arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(top()).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The commit that wrote each row of the kill table, by the id of its bug; the one at hand where it is not committed.
fn writers() -> BTreeMap<String, String> {
    let head = git(&["rev-parse", "--short=8", "HEAD"]);
    let blame = git(&["blame", "-s", "--abbrev=7", "--", KILL_TABLE]);
    let writer = |line: &str| {
        let (commit, rest) = line.split_once(' ').expect("a commit stands before each line");
        let (_, row) = rest.split_once(") ").expect("its number behind it");
        let id = row.split('\t').next().expect("a row has cells").to_owned();
        let is_committed = commit.bytes().any(|byte| byte != b'0');
        (id, if is_committed { commit.trim_start_matches('^').to_owned() } else { head.clone() })
    };
    blame.lines().map(writer).collect()
}

/// The last cell of a row, asked of history.
fn commit_of(source: &Source, writers: &BTreeMap<String, String>) -> String {
    match source {
        Source::Token(commit) => commit.clone(),
        Source::Before(path) => match git(&["log", "--diff-filter=A", "--format=%h", "-1", "--", path]) {
            added if added.is_empty() => git(&["rev-parse", "--short=8", "HEAD"]),
            added => git(&["rev-parse", "--short=8", &format!("{added}^")]),
        },
        Source::KillTable(id) => writers.get(id).expect("the table has its row").clone(),
        Source::Unknown => NOTHING.to_owned(),
    }
}

/// The lines of the page's table that begins with `head`, each without its last cell, and that cell.
fn written<'a>(page: &'a str, head: &str) -> Vec<(&'a str, &'a str)> {
    let (_, rows) = page.split_once(head).expect("the page has this table");
    let rows = rows.lines().take_while(|line| line.starts_with('|'));
    let parts = rows.map(|line| line.trim_end_matches(" |").rsplit_once(' ').expect("a row has cells"));
    parts.collect()
}

/// The page with both tables written anew.
fn anew(page: &str) -> String {
    let mut text = page.to_owned();
    let writers = writers();
    for (head, rows) in [(FOUND, found()), (PLANTED, planted())] {
        let start = text.find(head).expect("the page has this table") + head.len();
        let length: usize =
            text[start..].split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
        let mut lines = String::new();
        for row in &rows {
            writeln!(lines, "{} {} |", row.cells, commit_of(&row.commit, &writers)).unwrap();
        }
        text.replace_range(start..start + length, &lines);
    }
    text
}

/// Whether the history is here, whole, and has no such commit before this one. A commit that was amended away may
/// still lie in the store of whoever amended it, and is nobody else's.
fn is_known_to_be_none(commit: &str) -> bool {
    let git = |arguments: &[&str]| Command::new("git").args(arguments).current_dir(top()).output();
    let is_whole = git(&["rev-parse", "--is-shallow-repository"])
        .is_ok_and(|said| said.status.success() && said.stdout.starts_with(b"false"));
    is_whole && git(&["merge-base", "--is-ancestor", commit, "HEAD"]).is_ok_and(|said| !said.status.success())
}

#[test]
fn the_track_record_is_that_of_the_scenarios_and_the_kill_table() {
    let page = read(PAGE);
    if env::var_os("UPDATE_TRACK_RECORD").is_some() {
        fs::write(top().join(PAGE), anew(&page)).unwrap();
        return;
    }
    let mut complaints = Vec::new();
    for (head, rows) in [(FOUND, found()), (PLANTED, planted())] {
        let written = written(&page, head);
        let missing = rows.iter().filter(|row| !written.iter().any(|(cells, _)| *cells == row.cells));
        complaints.extend(missing.map(|row| format!("missing: {}", row.cells)));
        let surplus = written.iter().filter(|(cells, _)| !rows.iter().any(|row| row.cells == *cells));
        complaints.extend(surplus.map(|(cells, _)| format!("surplus: {cells}")));
        let order: Vec<&str> = written.iter().map(|(cells, _)| *cells).collect();
        let expected: Vec<&str> = rows.iter().map(|row| row.cells.as_str()).collect();
        if complaints.is_empty() && order != expected {
            complaints.push("the same rows in another order, or one twice".to_owned());
        }
        for (cells, commit) in written {
            let is_commit = commit.len() == 8 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            let is_unknown =
                rows.iter().any(|row| row.cells == cells && matches!(row.commit, Source::Unknown));
            let is_right =
                if is_unknown { commit == NOTHING } else { is_commit && !is_known_to_be_none(commit) };
            if !is_right {
                complaints.push(format!("`{commit}` is no commit of this history: {cells}"));
            }
        }
    }
    if !complaints.is_empty() {
        complaints.push(format!(
            "`UPDATE_TRACK_RECORD=1 cargo test --package recovery-core --test it track_record` writes {PAGE} anew"
        ));
    }
    check(&complaints);
}
