//! Groups that are known to fail: why, and since when (CONTRACTS 11).
//!
//! Promises: a group is known only with a reason and the first commit that showed it; one whose `until` is
//! part of the tree counts as new again. Leaves out: asking git whether it is, which commands do.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use super::tally::Tally;
use crate::disk::Cause;
use crate::oracle::Check;

/// The known groups of a run, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    groups: BTreeMap<String, KnownGroup>,
}

/// A known group.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownGroup {
    /// Its id.
    pub id: String,
    /// Why it is left as it is.
    pub reason: String,
    /// The first commit whose run showed it.
    pub first_seen: String,
    /// The commit that is to end it: in a tree that holds it, the group is not known any more.
    pub until: Option<String>,
}

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    #[serde(default)]
    group: Vec<KnownGroup>,
}

/// Why a file of known groups is none.
#[derive(Debug, Error)]
pub enum KnownError {
    /// It does not read; the text points at the line.
    #[error("{0}")]
    Shape(#[from] toml::de::Error),
    /// An id is no group's.
    #[error("{id} is no group: an id reads <check>.<recovery step>.<fault kinds>")]
    Id {
        /// What is written.
        id: String,
    },
    /// A word of an id is none.
    #[error("group {id}: {word} is no {what}, so no failure can be of this group")]
    Word {
        /// Of which group.
        id: String,
        /// The word.
        word: String,
        /// What it should be.
        what: &'static str,
    },
    /// Its fault kinds are not in order, or one stands there twice.
    #[error(
        "group {id}: fault kinds stand in alphabetical order, each once, so no failure can be of this group"
    )]
    Order {
        /// Of which group.
        id: String,
    },
    /// Nothing is said.
    #[error("group {id} says no reason")]
    NoReason {
        /// Of which group.
        id: String,
    },
    /// No commit.
    #[error("group {id}: {found} is no commit: it is 7 to 40 hexadecimal digits")]
    Commit {
        /// Of which group.
        id: String,
        /// What is written.
        found: String,
    },
    /// An id stands twice.
    #[error("group {id} stands there twice")]
    Twice {
        /// Of which group.
        id: String,
    },
}

impl Known {
    /// Reads a file. `holds` says whether the tree holds a commit; where nobody knows, it does not.
    ///
    /// # Errors
    ///
    /// When the file is not as `docs/scaling.md` describes it.
    ///
    /// # Examples
    ///
    /// ```
    /// use sim::run::known::{Known, KnownError};
    ///
    /// let text = r#"
    ///     [[group]]
    ///     id = "I06.decide.bit-flip+noise"
    ///     reason = "the fix waits for the next format"
    ///     first_seen = "9f3c2a1b"
    ///     until = "0123abcd"
    /// "#;
    /// let known = Known::read(text, &|_commit| false)?;
    /// assert!(known.contains("I06.decide.bit-flip+noise"));
    /// // Once the tree holds the commit that ends it, it counts as new again.
    /// let known = Known::read(text, &|commit| commit == "0123abcd")?;
    /// assert!(!known.contains("I06.decide.bit-flip+noise"));
    /// // A group without a reason is none.
    /// let error = Known::read(&text.replace("the fix waits for the next format", " "), &|_| false).unwrap_err();
    /// assert!(matches!(error, KnownError::NoReason { .. }));
    /// # Ok::<(), KnownError>(())
    /// ```
    pub fn read(text: &str, holds: &dyn Fn(&str) -> bool) -> Result<Self, KnownError> {
        let page: Page = toml::from_str(text)?;
        let mut groups = BTreeMap::new();
        for group in page.group {
            check(&group)?;
            if groups.contains_key(&group.id) {
                return Err(KnownError::Twice { id: group.id });
            }
            if !group.until.as_deref().is_some_and(holds) {
                groups.insert(group.id.clone(), group);
            }
        }
        Ok(Self { groups })
    }

    /// How many groups are known.
    pub fn count(&self) -> u64 {
        self.groups.len() as u64
    }

    /// The known group of an id.
    pub fn get(&self, id: &str) -> Option<&KnownGroup> {
        self.groups.get(id)
    }

    /// Whether a group is known.
    pub fn contains(&self, id: &str) -> bool {
        self.groups.contains_key(id)
    }

    /// Groups that did not fail, `failed` saying which did, in a run that reached what they need: each of
    /// their fault kinds was decisive somewhere in it.
    pub fn gone(&self, tally: &Tally, failed: &dyn Fn(&str) -> bool) -> Vec<String> {
        let ids = self.groups.keys().filter(|id| !failed(id) && is_reached(id, tally));
        ids.cloned().collect()
    }
}

fn check(group: &KnownGroup) -> Result<(), KnownError> {
    let id = || group.id.clone();
    let parts: Vec<&str> = group.id.split('.').collect();
    if parts.len() != 3 || parts.iter().any(|part| part.is_empty()) {
        return Err(KnownError::Id { id: id() });
    }
    check_words(&group.id, parts[0], parts[2])?;
    if group.reason.trim().is_empty() {
        return Err(KnownError::NoReason { id: id() });
    }
    for commit in [Some(&group.first_seen), group.until.as_ref()].into_iter().flatten() {
        let is_hexadecimal = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hexadecimal || !(7..=40).contains(&commit.len()) {
            return Err(KnownError::Commit { id: id(), found: commit.clone() });
        }
    }
    Ok(())
}

/// Whether there is such a check, and each of the fault kinds. A step that never fails is not told from one that does.
fn check_words(id: &str, check: &str, faults: &str) -> Result<(), KnownError> {
    let wrong = |word: &str, what| KnownError::Word { id: id.to_owned(), word: word.to_owned(), what };
    if !Check::ALL.iter().any(|known| known.code() == check) {
        return Err(wrong(check, "check"));
    }
    let is_kind = |word: &&str| Cause::all().any(|cause| cause.code() == *word);
    let mut kinds = faults.split('+').filter(|_| faults != "none");
    if let Some(word) = kinds.find(|word| !is_kind(word)) {
        return Err(wrong(word, "fault kind"));
    }
    let is_ordered = faults.split('+').is_sorted_by(|left, right| left < right);
    if is_ordered { Ok(()) } else { Err(KnownError::Order { id: id.to_owned() }) }
}

fn is_reached(id: &str, tally: &Tally) -> bool {
    let faults = id.rsplit('.').next().unwrap_or_default();
    let is_decisive = |kind: &str| tally.faults.get(kind).is_some_and(|reached| reached.decisive > 0);
    tally.worlds > 0 && (faults == "none" || faults.split('+').all(is_decisive))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tally::Reached;

    const PAGE: &str = r#"
[[group]]
id = "I06.decide.bit-flip+noise"
reason = "the fix waits for the next format"
first_seen = "9f3c2a1b"

[[group]]
id = "I08.append.none"
reason = "fixed on another branch"
first_seen = "9f3c2a1b"
until = "0123abcd"
"#;

    fn read(text: &str) -> Result<Known, String> {
        Known::read(text, &|commit| commit == "0123abcd").map_err(|error| error.to_string())
    }

    #[test]
    fn a_group_is_known_until_its_end_is_in_the_tree() {
        let known = read(PAGE).expect("the page reads");
        assert!(known.contains("I06.decide.bit-flip+noise") && !known.contains("I08.append.none"));
        let known = Known::read(PAGE, &|_| false).expect("the page reads");
        assert!(known.contains("I08.append.none"));
    }

    #[test]
    fn reason_and_first_commit_are_required() {
        let without = |line: &str| PAGE.replace(line, "");
        for line in ["reason = \"the fix waits for the next format\"", "first_seen = \"9f3c2a1b\""] {
            let error = read(&without(line)).expect_err("a field is missing");
            assert!(error.contains("missing field"), "{error}");
        }
        let empty = PAGE.replace("the fix waits for the next format", " ");
        assert_eq!(read(&empty), Err("group I06.decide.bit-flip+noise says no reason".to_owned()));
        let other = PAGE.replace("9f3c2a1b", "yesterday");
        assert!(read(&other).expect_err("no commit").contains("yesterday is no commit"));
        let other = PAGE.replace("I08.append.none", "I06.decide.bit-flip+noise");
        assert!(read(&other).expect_err("one id twice").contains("stands there twice"));
        let other = PAGE.replace("I08.append.none", "I08");
        assert!(read(&other).expect_err("no id").contains("I08 is no group"));
        for faults in ["noise+bit-flip", "noise+noise"] {
            let other = PAGE.replace("bit-flip+noise", faults);
            assert!(read(&other).expect_err("no group's").contains("in alphabetical order, each once"));
        }
        let other = PAGE.replace("I08.append.none", "I99.append.none");
        assert!(read(&other).expect_err("no check").contains("I99 is no check"));
        let other = PAGE.replace("bit-flip+noise", "bit-flop+noise");
        assert!(read(&other).expect_err("no fault").contains("bit-flop is no fault kind"));
        assert!(read("[[groups]]").expect_err("a wrong word").contains("groups"));
    }

    #[test]
    fn a_known_group_is_gone_only_where_its_faults_decided_something() {
        let known = Known::read(PAGE, &|_| false).expect("the page reads");
        let mut tally = Tally { worlds: 1, ..Tally::default() };
        assert_eq!(known.gone(&tally, &|_| false), ["I08.append.none"]);
        for kind in ["bit-flip", "noise"] {
            tally.faults.insert(kind, Reached { decisive: 1, ..Reached::default() });
        }
        assert_eq!(known.gone(&tally, &|_| false), ["I06.decide.bit-flip+noise", "I08.append.none"]);
        assert_eq!(known.gone(&tally, &|id| id.starts_with("I08")), ["I06.decide.bit-flip+noise"]);
        assert_eq!(known.gone(&Tally::default(), &|_| false), [""; 0]);
    }
}
