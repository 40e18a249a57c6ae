//! One planted bug, read from its file.
//!
//! Promises: unknown nodes are errors; a replacement applies at exactly one place or not at all, whatever
//! the indentation there is. Leaves out: files and programs.

use kdl::{KdlDocument, KdlNode, KdlValue};
use thiserror::Error;

/// Seeds that a planted bug must die in unless its file says otherwise.
const SEEDS_DEFAULT: u64 = 2000;

/// The worlds that a planted bug is looked for in unless its file says otherwise: of single nodes.
const REPLICAS_DEFAULT: &str = "1";

/// The worlds that it may be looked for in, as `sim run --replicas` names them.
const REPLICAS: [&str; 3] = ["1", "3", "mixed"];

/// What a bug is planted into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// The recovery core: red seeds show it.
    Core,
    /// The simulated disk: it makes the harness blind.
    Disk,
    /// The oracle: it makes the harness blind too.
    Oracle,
}

impl Target {
    /// Every target.
    pub const ALL: [Self; 3] = [Self::Core, Self::Disk, Self::Oracle];

    /// The permanent word for this target.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Disk => "disk",
            Self::Oracle => "oracle",
        }
    }
}

/// One text in the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The file, relative to the root of the sources.
    pub file: String,
    /// The lines that must stand there exactly once.
    pub find: String,
    /// What stands there then.
    pub with: String,
}

/// One planted bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Its permanent name: the mistake.
    pub id: String,
    /// What it is planted into.
    pub target: Target,
    /// The findings it repeats.
    pub findings: Vec<String>,
    /// What it does, in a line.
    pub story: String,
    /// All must apply.
    pub replacements: Vec<Replacement>,
    /// The checks of which one must fire.
    pub killed_by: Vec<String>,
    /// Within so many seeds, from each start.
    pub seeds: u64,
    /// In worlds of so many nodes, as `sim run --replicas` says it: a bug of the host needs a host.
    pub replicas: &'static str,
    /// Why no world that a seed draws shows it, only a story; `None` of one that seeds must kill.
    pub only_stories: Option<String>,
}

/// Why a text is no planted bug.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MutantFault {
    /// It is no KDL 2.
    #[error("it is no KDL: {message}")]
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// A node that must be there and is not, or not as it should be.
    #[error("it needs {wanted}")]
    Missing {
        /// What.
        wanted: &'static str,
    },
    /// A node that is not known.
    #[error("there is no node {name}")]
    Unknown {
        /// Which.
        name: String,
    },
    /// A bug of which the file name says another id.
    #[error("its id is {id}, and its file is called {file}")]
    Misnamed {
        /// The id.
        id: String,
        /// The file's stem.
        file: String,
    },
}

/// Why a replacement does not apply: the text stands there so many times, and not once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("its text stands there {occurrences} times, and not once")]
pub struct Stale {
    /// How many times.
    pub occurrences: usize,
}

impl Mutant {
    /// Reads a planted bug; `stem` is the name of its file without the suffix.
    ///
    /// # Errors
    ///
    /// When the text is not what CONTRACTS 9 describes.
    pub fn parse(stem: &str, text: &str) -> Result<Self, MutantFault> {
        let document = KdlDocument::parse_v2(text)
            .map_err(|error| MutantFault::Syntax { message: format!("{:?}", miette::Report::new(error)) })?;
        let mut mutant = None;
        let (mut findings, mut killed_by, mut replacements) = (Vec::new(), Vec::new(), Vec::new());
        let (mut story, mut seeds, mut replicas) = (String::new(), SEEDS_DEFAULT, REPLICAS_DEFAULT);
        let mut only_stories = None;
        for node in document.nodes() {
            match node.name().value() {
                "mutant" => mutant = Some(head(node)?),
                "finding" => findings = texts(node),
                "story" => story = text_of(node, "a story")?,
                "replace" => replacements.push(replacement(node)?),
                "killed-by" => killed_by = texts(node),
                "budget" => (seeds, replicas) = budget(node)?,
                "only-stories" => only_stories = Some(text_of(node, "a reason behind only-stories")?),
                name => return Err(MutantFault::Unknown { name: name.to_owned() }),
            }
        }
        let (id, target) = mutant.ok_or(MutantFault::Missing { wanted: "a node mutant" })?;
        if id != stem {
            return Err(MutantFault::Misnamed { id, file: stem.to_owned() });
        }
        if story.is_empty() {
            return Err(MutantFault::Missing { wanted: "a story" });
        }
        if replacements.is_empty() {
            return Err(MutantFault::Missing { wanted: "a replacement" });
        }
        if killed_by.is_empty() {
            return Err(MutantFault::Missing { wanted: "a check that it dies by" });
        }
        Ok(Self { id, target, findings, story, replacements, killed_by, seeds, replicas, only_stories })
    }

    /// Whether a check kills it, which seeds and scenarios are held to.
    pub fn dies_by_check(&self) -> bool {
        self.killed_by.iter().any(|name| !name.contains(':'))
    }

    /// What is wrong with how it died, for one that should die by seeds, or that no seed should show.
    pub fn complaint(&self, how: &str) -> Option<&'static str> {
        match (self.target, how, &self.only_stories) {
            (Target::Core, "scenario", None) => {
                Some("no seed kills it, only scenarios do, and its file does not say why (only-stories)")
            }
            (Target::Core, "seed", Some(_)) => {
                Some("seeds kill it, and its file says that only scenarios do (only-stories)")
            }
            (Target::Core | Target::Disk | Target::Oracle, ..) => None,
        }
    }

    /// Whether a part of the self-check kills it.
    pub fn dies_by_self_check(&self) -> bool {
        self.killed_by.iter().any(|name| name.starts_with("self-check:"))
    }

    /// Whether a goal that is missed kills it.
    pub fn dies_by_reach(&self) -> bool {
        self.killed_by.iter().any(|name| name.starts_with("reach:"))
    }
}

impl Replacement {
    /// The source with the text replaced. Lines are compared without their leading blanks.
    ///
    /// # Errors
    ///
    /// When the text does not stand there exactly once.
    ///
    /// # Examples
    ///
    /// ```
    /// use sim::subject::mutant::{Replacement, Stale};
    ///
    /// let bug = Replacement {
    ///     file: "plan/build.rs".to_owned(),
    ///     find: "save();\ncut();".to_owned(),
    ///     with: "cut();\nsave();".to_owned(),
    /// };
    /// let planted = bug.apply("fn repair() {\n    save();\n    cut();\n}\n");
    /// assert_eq!(planted.as_deref(), Ok("fn repair() {\ncut();\nsave();\n}\n"));
    /// // Where the text is gone, the bug says nothing about the sources any more.
    /// assert_eq!(bug.apply("fn repair() {}\n"), Err(Stale { occurrences: 0 }));
    /// ```
    pub fn apply(&self, source: &str) -> Result<String, Stale> {
        let wanted: Vec<&str> = self.find.lines().map(str::trim_start).collect();
        let lines: Vec<&str> = source.lines().collect();
        let stands_at = |from: &usize| {
            let found = lines[*from..*from + wanted.len()].iter();
            found.zip(&wanted).all(|(line, wanted)| line.trim_start() == *wanted)
        };
        let places: Vec<usize> = match lines.len().checked_sub(wanted.len()) {
            Some(last) if !wanted.is_empty() => (0..=last).filter(stands_at).collect(),
            Some(_) | None => Vec::new(),
        };
        let [place] = places[..] else { return Err(Stale { occurrences: places.len() }) };
        let with = self.with.lines();
        let after = lines[place + wanted.len()..].iter().copied();
        let replaced = lines[..place].iter().copied().chain(with).chain(after);
        let mut text: String = replaced.flat_map(|line| [line, "\n"]).collect();
        if !source.ends_with('\n') {
            text.pop();
        }
        Ok(text)
    }
}

fn head(node: &KdlNode) -> Result<(String, Target), MutantFault> {
    let id = text_of(node, "a name behind mutant")?;
    let word = node.get("target").and_then(KdlValue::as_string);
    let target = Target::ALL.into_iter().find(|target| Some(target.code()) == word);
    let target = target.ok_or(MutantFault::Missing { wanted: "a target: core, disk or oracle" })?;
    match node.get("version").and_then(KdlValue::as_integer) {
        Some(1) => Ok((id, target)),
        Some(_) | None => Err(MutantFault::Missing { wanted: "version=1" }),
    }
}

fn budget(node: &KdlNode) -> Result<(u64, &'static str), MutantFault> {
    let seeds = match node.get("seeds").map(|value| value.as_integer().map(u64::try_from)) {
        None => SEEDS_DEFAULT,
        Some(Some(Ok(seeds))) => seeds,
        Some(_) => return Err(MutantFault::Missing { wanted: "a number as seeds= of its budget" }),
    };
    let replicas = match node.get("replicas").map(KdlValue::as_string) {
        None => REPLICAS_DEFAULT,
        Some(word) => *REPLICAS
            .iter()
            .find(|known| Some(**known) == word)
            .ok_or(MutantFault::Missing { wanted: "replicas= \"1\", \"3\" or \"mixed\" in its budget" })?,
    };
    Ok((seeds, replicas))
}

fn replacement(node: &KdlNode) -> Result<Replacement, MutantFault> {
    let file = node.get("file").and_then(KdlValue::as_string);
    let file = file.ok_or(MutantFault::Missing { wanted: "the file of a replacement" })?.to_owned();
    let child = |name: &str, wanted| {
        let found = node.iter_children().find(|child| child.name().value() == name);
        found.ok_or(MutantFault::Missing { wanted }).and_then(|child| text_of(child, wanted))
    };
    let (find, with) = (child("find", "find in a replacement")?, child("with", "with in a replacement")?);
    Ok(Replacement { file, find, with })
}

fn texts(node: &KdlNode) -> Vec<String> {
    let values = node.entries().iter().filter(|entry| entry.name().is_none());
    values.filter_map(|entry| entry.value().as_string().map(str::to_owned)).collect()
}

fn text_of(node: &KdlNode, wanted: &'static str) -> Result<String, MutantFault> {
    texts(node).into_iter().next().ok_or(MutantFault::Missing { wanted })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
mutant "cut-before-copy" target="core" version=1
finding "N12"
story "the cut is made before its copy is durable"
replace file="plan/build.rs" {
    find """
        save();
        cut();
        """
    with """
        cut();
        save();
        """
}
killed-by "I02" "I10"
"#;

    #[test]
    fn a_planted_bug_is_read_as_it_is_written() {
        let mutant = Mutant::parse("cut-before-copy", TEXT).expect("it is well-formed");
        assert_eq!((mutant.target, mutant.seeds), (Target::Core, SEEDS_DEFAULT));
        assert_eq!(mutant.replicas, "1");
        let text = format!("{TEXT}budget seeds=7 replicas=\"mixed\"\n");
        let mutant = Mutant::parse("cut-before-copy", &text).expect("it is well-formed");
        assert_eq!((mutant.seeds, mutant.replicas), (7, "mixed"));
        assert_eq!(mutant.killed_by, ["I02", "I10"]);
        assert_eq!(mutant.replacements[0].find, "save();\ncut();");
    }

    #[test]
    fn a_bug_of_the_core_dies_by_seeds_or_says_why_not() {
        let unexplained = Mutant::parse("cut-before-copy", TEXT).expect("it is well-formed");
        let text = format!("{TEXT}only-stories \"one exact answer\"\n");
        let explained = Mutant::parse("cut-before-copy", &text).expect("it is well-formed");
        assert_eq!(explained.only_stories.as_deref(), Some("one exact answer"));
        let complains = |mutant: &Mutant, how| mutant.complaint(how).is_some();
        assert!(complains(&unexplained, "scenario") && !complains(&unexplained, "seed"));
        assert!(complains(&explained, "seed") && !complains(&explained, "scenario"));
        let blinding = Mutant { target: Target::Oracle, ..unexplained };
        assert!(!complains(&blinding, "self-check") && !complains(&blinding, "scenario"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let fault = |stem, text: &str| Mutant::parse(stem, text).expect_err("it is wrong").to_string();
        assert_eq!(fault("cut", TEXT), "its id is cut-before-copy, and its file is called cut");
        let without = |line: &str| TEXT.replace(line, "");
        assert_eq!(
            fault("cut-before-copy", &without("killed-by \"I02\" \"I10\"\n")),
            "it needs a check that it dies by"
        );
        assert_eq!(
            fault("x", "mutant \"x\" target=\"moon\" version=1"),
            "it needs a target: core, disk or oracle"
        );
        assert_eq!(fault("x", "mutants \"x\""), "there is no node mutants");
        let budget = |budget: &str| fault("cut-before-copy", &format!("{TEXT}budget {budget}\n"));
        assert_eq!(budget("seeds=-1"), "it needs a number as seeds= of its budget");
        assert_eq!(budget("replicas=\"2\""), "it needs replicas= \"1\", \"3\" or \"mixed\" in its budget");
    }

    #[test]
    fn a_replacement_applies_at_one_place_whatever_its_indentation() {
        let mutant = Mutant::parse("cut-before-copy", TEXT).expect("it is well-formed");
        let apply = |source: &str| mutant.replacements[0].apply(source);
        assert_eq!(
            apply("fn a() {\n    save();\n    cut();\n}\n"),
            Ok("fn a() {\ncut();\nsave();\n}\n".to_owned())
        );
        assert_eq!(apply("fn a() {\n    save();\n}\n"), Err(Stale { occurrences: 0 }));
        assert_eq!(apply("save();\ncut();\nsave();\n  cut();\n"), Err(Stale { occurrences: 2 }));
        assert_eq!(apply(""), Err(Stale { occurrences: 0 }));
    }
}
