//! Rules of the house that neither the compiler nor clippy knows, over every source file of the project.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Most lines of a source file: past this there is a second noun inside.
const LINES_MAX: usize = 500;

/// One source file.
struct Source {
    /// Its path from the top of the project, with `/`.
    path: String,
    text: String,
}

impl Source {
    /// The folder, with a `/` at its end, and the file's own name.
    fn place(&self) -> (&str, &str) {
        self.path.split_at(self.path.rfind('/').unwrap() + 1)
    }

    /// The lines that are code, numbered from 1, up to the unit tests at the end of the file: comments and
    /// tests may speak of what code may not do.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let code = lines.take_while(|(_, line)| *line != "#[cfg(test)]");
        code.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// The first sentence of the file's head.
    fn purpose(&self) -> String {
        let head = self.text.lines().map_while(|line| line.strip_prefix("//!"));
        let paragraph: Vec<&str> = head.map(str::trim).take_while(|line| !line.is_empty()).collect();
        let paragraph = paragraph.join(" ").replace("[`", "`").replace("`]", "`");
        paragraph.split_inclusive(". ").next().unwrap_or_default().trim_end().to_owned()
    }
}

pub(crate) fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(top().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every Rust file of the members, folder by folder.
fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    for folder in ["recovery-core", "sim", "snapshots", "fuzz"] {
        collect(&top().join(folder), folder, &mut sources);
    }
    assert!(sources.len() > 20, "the project was found");
    sources.sort_by(|left, right| left.place().cmp(&right.place()));
    sources
}

fn collect(folder: &Path, path: &str, sources: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{path}/{name}");
        if entry.file_type().unwrap().is_dir() {
            if name != "target" && name != "data" {
                collect(&entry.path(), &path, sources);
            }
        } else if Path::new(&name).extension().is_some_and(|extension| extension == "rs") {
            sources.push(Source { text: fs::read_to_string(entry.path()).unwrap(), path });
        }
    }
}

/// The sources that are shipped or run, without tests of a package.
fn shipped(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|source| !source.path.contains("/tests/"))
}

/// Fails with every complaint at once.
pub(crate) fn check(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn every_file_opens_with_what_it_is_for_and_is_short() {
    let mut complaints = Vec::new();
    for source in sources() {
        let purpose = source.purpose();
        if !purpose.ends_with(['.', '?', ':']) {
            complaints.push(format!("{}: no `//!` head that starts with a sentence", source.path));
        }
        let lines = source.text.lines().count();
        if lines > LINES_MAX {
            complaints.push(format!("{}: {lines} lines, and {LINES_MAX} is the most", source.path));
        }
    }
    check(&complaints);
}

/// Text that no code may contain, in which folder, except where, and why.
const FORBIDDEN: &[(&str, &str, &str, &str)] = &[
    ("todo!(", "", "", "unfinished"),
    ("unimplemented!(", "", "", "unfinished"),
    ("dbg!(", "", "", "left over"),
    ("unsafe ", "", "", "no code here needs it"),
    ("debug_assert", "", "", "assertions are on in every build"),
    ("debug_assertions", "", "", "every build behaves alike"),
    ("#[ignore", "", "", "a test runs or goes"),
    ("should_panic", "", "", "a test says what it expects"),
    ("insta::", "", "snapshots/", "snapshots have one home"),
    ("rustix::", "recovery-core/src/", "recovery-core/src/storage/os/", "the only door to a disk"),
    ("xxhash_rust::", "recovery-core/src/", "recovery-core/src/format/checksum.rs", "one file names it"),
    (
        "std::fs",
        "recovery-core/src/",
        "recovery-core/src/bin/",
        "the only door to a disk is storage::Storage",
    ),
    ("std::env", "recovery-core/src/", "recovery-core/src/bin/", "the core reads no environment"),
    ("std::time", "recovery-core/src/", "recovery-core/src/bin/", "the core reads no clock"),
    ("std::thread", "recovery-core/src/", "recovery-core/src/bin/", "the core starts no thread"),
    ("thread_local!", "recovery-core/src/", "", "no state outlives a call"),
    ("static ", "recovery-core/src/", "", "no state outlives a call"),
    (".ok()", "recovery-core/src/", "recovery-core/src/bin/", "an error is not evidence"),
    ("unwrap_or(0)", "recovery-core/src/", "", "an error is not evidence"),
    ("unwrap_or_default()", "recovery-core/src/", "", "an error is not evidence"),
    ("saturating_", "recovery-core/src/", "recovery-core/src/bin/", "a wrong number is a finding"),
    ("wrapping_", "recovery-core/src/", "", "a wrong number is a finding"),
];

#[test]
fn no_code_contains_what_the_house_forbids() {
    let sources = sources();
    let mut complaints = Vec::new();
    for source in shipped(&sources) {
        for (needle, folder, except, why) in FORBIDDEN {
            let is_exempt = !except.is_empty() && source.path.starts_with(except);
            if is_exempt || !source.path.starts_with(folder) {
                continue;
            }
            for (number, line) in source.code().filter(|(_, line)| contains_word(line, needle)) {
                complaints.push(format!("{}:{number}: `{needle}`: {why}\n    {}", source.path, line.trim()));
            }
        }
    }
    check(&complaints);
}

/// Whether `line` has `needle`, not as the tail of a longer word (`'static `, `is_unsafe `).
fn contains_word(line: &str, needle: &str) -> bool {
    line.match_indices(needle).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let is_word = needle.starts_with(|first: char| first.is_alphanumeric());
        !is_word || before.is_none_or(|before| !before.is_alphanumeric() && before != '_' && before != '\'')
    })
}

#[test]
fn every_file_is_a_declared_module() {
    let sources = sources();
    let texts: BTreeMap<&str, &str> =
        sources.iter().map(|source| (source.path.as_str(), source.text.as_str())).collect();
    let mut complaints = Vec::new();
    for source in &sources {
        let (folder, file) = source.place();
        let (_, inner) = folder.split_once('/').unwrap();
        // Cargo finds these by itself, or by a manifest.
        let is_root = matches!(file, "lib.rs" | "main.rs")
            || matches!(inner, "src/bin/" | "benches/" | "examples/" | "tests/" | "fuzz_targets/");
        if is_root {
            continue;
        }
        // A `mod.rs` is declared by the folder above, under the folder's name.
        let (parent, module) = match file.strip_suffix(".rs").unwrap() {
            "mod" => folder.trim_end_matches('/').rsplit_once('/').unwrap(),
            stem => (folder.trim_end_matches('/'), stem),
        };
        let declaration = format!("mod {module};");
        let is_declared = ["lib.rs", "main.rs", "mod.rs"]
            .iter()
            .filter_map(|root| texts.get(format!("{parent}/{root}").as_str()))
            .any(|text| text.lines().any(|line| line.ends_with(&declaration)));
        if !is_declared {
            complaints.push(format!("{}: nothing in {parent} says `{declaration}`", source.path));
        }
    }
    check(&complaints);
}

#[test]
fn every_module_that_the_library_shows_has_an_example_that_runs() {
    let sources = sources();
    let root = read("recovery-core/src/lib.rs");
    let modules: Vec<&str> =
        root.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    assert!(modules.len() > 10, "the modules were found");
    let has_example = |module: &&str| {
        let (file, folder) =
            (format!("recovery-core/src/{module}.rs"), format!("recovery-core/src/{module}/"));
        let mut files =
            sources.iter().filter(|source| source.path == file || source.path.starts_with(&folder));
        files.any(|source| source.text.contains("/// # Examples\n"))
    };
    let bare = modules.iter().filter(|module| !has_example(module));
    check(&bare.map(|module| format!("{module}: no example")).collect::<Vec<_>>());
}

/// The paths that a library names on its page as its entry points.
fn entry_points(member: &str) -> Vec<String> {
    let page = read(&format!("{member}/src/lib.rs"));
    let behind = page.lines().skip_while(|line| *line != "//! # Entry points");
    let list: String = behind.take_while(|line| line.starts_with("//!")).collect();
    let links = list.split("[`").skip(1).filter_map(|rest| Some(rest.split_once("`]")?.0));
    links.map(|link| link.trim_end_matches("()").to_owned()).collect()
}

/// Whether a file has the function, of that type if it is one's, with an example in front of it.
fn has_example(source: &Source, owner: Option<&str>, function: &str) -> bool {
    let (mut block, mut example) = ("", false);
    for line in source.text.lines() {
        let code = line.trim_start();
        if line.starts_with("impl") {
            block = line;
        }
        let rest = code.strip_prefix("pub fn ").or_else(|| code.strip_prefix("pub const fn "));
        let is_it = rest
            .and_then(|rest| rest.strip_prefix(function))
            .is_some_and(|rest| rest.starts_with(['(', '<']));
        let is_owned = owner.map_or(line == code, |owner| line != code && block.contains(owner));
        if is_it && is_owned {
            return example;
        }
        example =
            code == "/// # Examples" || (example && (code.starts_with("///") || code.starts_with("#[")));
    }
    false
}

#[test]
fn every_entry_point_that_a_library_names_has_an_example_that_runs() {
    let sources = sources();
    let mut complaints = Vec::new();
    for member in ["recovery-core", "sim"] {
        let paths = entry_points(member);
        assert!(paths.len() > 30, "the entry points of {member} were found");
        for path in paths {
            let parts: Vec<&str> = path.split("::").collect();
            let [module, between @ .., function] = &parts[..] else {
                panic!("{path} is a path below a module")
            };
            let owner = between.last().copied().filter(|part| part.starts_with(char::is_uppercase));
            let (file, folder) = (format!("{member}/src/{module}.rs"), format!("{member}/src/{module}/"));
            let mut files =
                sources.iter().filter(|source| source.path == file || source.path.starts_with(&folder));
            if !files.any(|source| has_example(source, owner, function)) {
                complaints.push(format!("{member}: {path} has no example"));
            }
        }
    }
    check(&complaints);
}

#[test]
fn every_member_takes_the_lints_of_the_workspace() {
    assert!(read("Cargo.toml").contains("unsafe_code = \"forbid\""));
    for member in ["recovery-core", "sim"] {
        let manifest = read(&format!("{member}/Cargo.toml"));
        assert!(manifest.contains("[lints]\nworkspace = true\n"), "{member}");
    }
}

#[test]
fn the_gate_runs_the_commands_of_the_readme() {
    let gate = read(".ci/run");
    let readme = read("README.md");
    let commands: Vec<&str> = readme.lines().filter(|line| line.starts_with("cargo test")).collect();
    assert!(!commands.is_empty(), "the readme says how to run the tests");
    for command in commands {
        assert!(gate.lines().any(|line| line == format!("step {command}")), "{command}");
    }
}

/// Where the list of files starts on the architecture page; it goes on to the end.
const FILE_MAP: &str = "## Files\n";

/// The list of files, each with the first sentence of its head.
fn file_map(sources: &[Source]) -> String {
    let mut map = FILE_MAP.to_owned();
    map.push_str(
        "\nThe first sentence of each file's head, kept so by a test. To write this list anew:\n\
         `UPDATE_ARCHITECTURE=1 cargo test --package recovery-core --test it tidy`\n",
    );
    let mut current = "";
    for source in shipped(sources) {
        let (folder, file) = source.place();
        if folder != current {
            write!(map, "\n### `{folder}`\n\n").unwrap();
            current = folder;
        }
        writeln!(map, "- `{file}`: {}", source.purpose()).unwrap();
    }
    map
}

#[test]
fn the_architecture_page_names_every_source_file_and_what_it_is_for() {
    let page = read("docs/architecture.md");
    let (written, _) = page.split_once(FILE_MAP).expect("the page has a list of files");
    let expected = format!("{written}{}", file_map(&sources()));
    if std::env::var_os("UPDATE_ARCHITECTURE").is_some() {
        fs::write(top().join("docs/architecture.md"), expected).unwrap();
        return;
    }
    let missing = expected.lines().filter(|line| !page.lines().any(|other| other == *line));
    let surplus = page.lines().filter(|line| !expected.lines().any(|other| other == *line));
    let complaints: Vec<String> = missing
        .map(|line| format!("missing: {line}"))
        .chain(surplus.map(|line| format!("surplus: {line}")))
        .collect();
    check(&complaints);
    assert_eq!(page, expected, "the same lines in another order");
}

#[test]
fn every_path_that_a_page_names_exists() {
    let mut complaints = Vec::new();
    for page in ["README.md", "docs/architecture.md"] {
        let text = read(page);
        let (written, _) = text.split_once(FILE_MAP).unwrap_or((&text, ""));
        for path in written.split('`').skip(1).step_by(2) {
            let is_path = path.contains('/') && !path.contains([' ', '<', '*', '\n']);
            if is_path && !top().join(path).exists() {
                complaints.push(format!("{page}: `{path}` does not exist"));
            }
        }
    }
    check(&complaints);
}
