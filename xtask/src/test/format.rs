//! Formatting, also of the files that `cargo fmt` passes over: it follows `mod` items only, so it
//! sees neither modules that a macro declares nor text that is included.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::checks::Checks;
use crate::repo::Repo;

/// Checks every Rust file of the clone that git does not ignore.
pub(super) fn check(repo: &Repo, checks: &mut Checks) -> anyhow::Result<()> {
    let followed = repo.cargo(&["fmt", "--all", "--check", "--", "--verbose"]);
    let Some(done) = checks.step("cargo fmt", &followed)? else {
        return Ok(());
    };
    let seen = formatted(&done.stdout);
    let list = [
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "*.rs",
    ];
    let Some(listed) = checks.set_up("git ls-files", &repo.tool("git").args(list))? else {
        return Ok(());
    };
    let paths = listed.stdout.lines().map(|line| repo.at(line));
    let passed_over: Vec<PathBuf> = paths
        .filter(|path| path.is_file() && !seen.contains(path))
        .collect();
    let name = format!("rustfmt on {} files that it passes over", passed_over.len());
    // Through cargo, which knows the edition; a package must be named, and has been checked above.
    let rest = repo
        .cargo(&["fmt", "--package", "xtask", "--check", "--"])
        .args(passed_over);
    checks.step(&name, &rest)?;
    Ok(())
}

/// The files that a verbose `rustfmt` says it looks at.
fn formatted(output: &str) -> BTreeSet<PathBuf> {
    let lines = output.lines();
    lines
        .filter_map(|line| line.strip_prefix("Formatting ").map(PathBuf::from))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rustfmt_looks_at() {
        let output = "Formatting /a/src/lib.rs\nFormatting /a/src/with space.rs\nSpent 0.1 secs in the parsing phase\n";
        let files = ["/a/src/lib.rs", "/a/src/with space.rs"].map(PathBuf::from);
        assert_eq!(formatted(output), BTreeSet::from(files));
    }
}
