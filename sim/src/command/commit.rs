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

/// Hash of the program that runs, which tells builds apart that no commit does: of a tree that had changed, or outside of
/// git. `None` where the system does not let it read itself.
pub fn program() -> Option<String> {
    let bytes = std::env::current_exe().and_then(std::fs::read).ok()?;
    Some(format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)))
}

/// The seed that a commit stands for: the first 8 bytes of its id, little-endian; nothing outside of git.
pub fn seed() -> Option<u64> {
    seed_of(&git(&["rev-parse", "--verify", "HEAD"])?)
}

fn seed_of(id: &str) -> Option<u64> {
    u64::from_str_radix(id.get(..16)?, 16).ok().map(u64::swap_bytes)
}

/// Whether the tree that is checked out holds a commit. Where nobody can say, it does not.
pub fn holds(commit: &str) -> bool {
    git(&["merge-base", "--is-ancestor", commit, "HEAD"]).is_some()
}

/// A file as a revision has it, its path counted from the root of the repository; nothing where either is not
/// there.
pub fn file_of(revision: &str, path: &str) -> Option<String> {
    // A revision alone is asked for first, so that no path and no flag can be spelt as one.
    let id =
        git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")])?;
    git(&["show", &format!("{id}:{path}")])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_a_seed_byte_by_byte() {
        assert_eq!(seed_of("0100000000000000ffffffffffffffffffffffff"), Some(1));
        assert_eq!(seed_of("0001000000000080ffffffffffffffffffffffff"), Some(0x8000_0000_0000_0100));
        assert_eq!(seed_of("01"), None);
    }
}
