//! The mutations that are not asked about: what `.cargo/mutants.toml` leaves out, `docs/mutants.md` explains, and nothing
//! else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The parts of the recovery core that mutations are made in.
const PARTS: [&str; 6] = ["decide/", "format/", "ledger/", "observe/", "partition/", "plan/"];

fn read(path: &str) -> String {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The pattern that leaves a mutation out: by its file and its words, at whatever line it comes to stand.
fn pattern(file: &str, mutation: &str) -> String {
    let escape = |text: &str| -> String {
        let escaped = text.chars().flat_map(|letter| {
            let is_special = r"\.+*?()|[]{}^$".contains(letter);
            is_special.then_some('\\').into_iter().chain([letter])
        });
        escaped.collect()
    };
    format!(r"{}:\d+:\d+: {}$", escape(file), escape(mutation))
}

/// The patterns of the page: rows of a file, a mutation and a reason, where `|` is written `\|`.
fn explained(page: &str) -> BTreeSet<String> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ").collect();
        let [file, mutation, why] = cells[..] else { return None };
        let file = file.strip_suffix('`').filter(|file| PARTS.iter().any(|part| file.starts_with(part)))?;
        let mutation = mutation.strip_prefix('`').and_then(|mutation| mutation.strip_suffix('`'));
        let mutation = mutation.unwrap_or_else(|| panic!("a mutation stands between backticks: {line}"));
        assert!(why.len() > 20, "no reason is given: {line}");
        Some(pattern(file, &mutation.replace(r"\|", "|")))
    };
    page.lines().filter_map(row).collect()
}

#[test]
fn what_is_left_out_is_explained_and_nothing_else_is() {
    let settings: toml::Table = read(".cargo/mutants.toml").parse().expect("the settings read");
    let left_out = settings["exclude_re"].as_array().expect("a list of patterns");
    let left_out: Vec<String> =
        left_out.iter().map(|one| one.as_str().expect("a pattern is text").to_owned()).collect();
    let explained = explained(&read("docs/mutants.md"));
    let lines: Vec<String> = explained.iter().map(|one| format!("    {one:?},\n")).collect();
    assert!(
        left_out.iter().eq(&explained),
        "by docs/mutants.md this is left out:\nexclude_re = [\n{}]",
        lines.concat()
    );
}

#[test]
fn a_pattern_is_for_one_file_and_one_mutation_at_any_line() {
    let page = "| file | mutation | why |\n\
                | --- | --- | --- |\n\
                | `plan/a.rs` | `replace \\|\\| with && in A<'_>::b` | both sides are the same there |\n\
                | `disk/c.rs` | `replace + with -` | is of no part that is asked about |\n";
    let expected = r"plan/a\.rs:\d+:\d+: replace \|\| with && in A<'_>::b$";
    assert_eq!(explained(page).into_iter().collect::<Vec<_>>(), [expected]);
}
