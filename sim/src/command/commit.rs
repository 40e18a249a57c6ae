//! The commit that a run belongs to, asked of git where there is one.

use std::process::Command;

use crate::schedule::token::Commit;

/// The commit checked out here, or [`Commit::Unknown`] outside of git.
pub fn current() -> Commit {
    let Some(id) = git(&["rev-parse", "--verify", "HEAD"]) else { return Commit::Unknown };
    let digits = id.get(..8).map(|digits| u32::from_str_radix(digits, 16));
    let Some(Ok(id)) = digits else { return Commit::Unknown };
    let is_dirty =
        git(&["status", "--porcelain", "--untracked-files=no"]).is_none_or(|text| !text.is_empty());
    Commit::Known { id, is_dirty }
}

/// What git says, or nothing where there is no git or no repository: then the commit is not known.
fn git(arguments: &[&str]) -> Option<String> {
    match Command::new("git").args(arguments).output() {
        Ok(output) if output.status.success() => {
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        Ok(_) | Err(_) => None,
    }
}
