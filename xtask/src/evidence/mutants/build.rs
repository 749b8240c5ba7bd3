//! The copy of the analysis crate with the mutants in it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::{InFile, mutate};
use crate::repo::Repo;

/// Which mutant a process is.
pub(super) const MUTANT: &str = "TILEPERF_MUTANT";
/// Whose documentation is tried.
pub(super) const RULE: &str = "TILEPERF_MUTANT_RULE";
/// The test that does so.
pub(super) const DOCUMENTED: &str = "rules::tests::documentation_of_one";

const RULES: &str = "server/analysis/src/rules";

/// Added to what holds for every rule: the documentation of one only.
const TEST: &str = r#"
#[test]
fn documentation_of_one() {
    let code = std::env::var("TILEPERF_MUTANT_RULE").expect("a rule");
    testing::documented(find(&code).expect("a rule of that code"));
}
"#;

/// Fixes without a title are not attached.
const FIX: (&str, &str) = (
    "safety: Safety, edits: Edits<'_>) -> Self {",
    "safety: Safety, edits: Edits<'_>) -> Self {\n        let title: String = title.into();\n        \
     if title.is_empty() { return self; }",
);

/// All mutants in one test program.
pub(super) struct Built {
    pub(super) binary: PathBuf,
    pub(super) mutants: Vec<InFile>,
}

/// Builds the mutants of all rules.
///
/// # Errors
/// The copy cannot be written or does not build.
pub(super) fn build(repo: &Repo) -> anyhow::Result<Built> {
    let folder = repo.target_folder("mutants");
    copy(repo, &folder)?;
    let mutants = break_rules(repo, &folder)?;
    let log = repo.at("tests/artifacts/evidence/mutants.log");
    let manifest = folder.join("Cargo.toml");
    let done = repo
        .cargo(&[
            "test",
            "--lib",
            "--no-run",
            "--message-format=json",
            "--manifest-path",
        ])
        .arg(&manifest)
        .env("CARGO_TARGET_DIR", repo.target_folder(""))
        .log_to(&log)?;
    if !done.success() {
        bail!("the mutants do not build: see {}", log.display());
    }
    let lines = done
        .stdout
        .lines()
        .filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok());
    let mut programs = lines.filter_map(|l| Some(l.get("executable")?.as_str()?.to_owned()));
    let binary = programs.next_back();
    let binary = binary.context("cargo names no test program")?.into();
    Ok(Built { binary, mutants })
}

/// The file that the copy has and the crate has not.
const MADE: &str = "mutants.rs";

/// The crate as a workspace of its own; the crates that it needs stay where they are.
fn copy(repo: &Repo, folder: &Path) -> anyhow::Result<()> {
    let manifest = fs::read_to_string(repo.at("Cargo.toml"))?;
    let shared = manifest
        .find("[workspace.package]")
        .map(|at| &manifest[at..]);
    let shared = shared.context("Cargo.toml has no [workspace.package]")?;
    let server = format!("path = \"{}/", repo.at("server").display());
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\"server/analysis\"]\n\n{}",
        shared.replace("path = \"server/", &server)
    );
    write(&folder.join("Cargo.toml"), &manifest)?;
    if !folder.join("Cargo.lock").exists() {
        fs::copy(repo.at("Cargo.lock"), folder.join("Cargo.lock"))?;
    }
    for file in ["docs/knobs.md", "server/analysis/Cargo.toml"] {
        write(&folder.join(file), &fs::read_to_string(repo.at(file))?)?;
    }
    tree(
        &repo.at("server/analysis/src"),
        &folder.join("server/analysis/src"),
    )?;
    let source = folder.join("server/analysis/src");
    let lib = fs::read_to_string(repo.at("server/analysis/src/lib.rs"))?;
    write(&source.join("lib.rs"), &format!("{lib}\nmod mutants;\n"))?;
    write(&source.join(MADE), include_str!("runtime.rs"))?;
    let tests = fs::read_to_string(repo.at(RULES).join("tests.rs"))?;
    write(&source.join("rules/tests.rs"), &format!("{tests}{TEST}"))?;
    let finding = fs::read_to_string(repo.at(RULES).join("finding.rs"))?;
    if !finding.contains(FIX.0) {
        bail!("rules/finding.rs attaches fixes in another way");
    }
    write(
        &source.join("rules/finding.rs"),
        &finding.replacen(FIX.0, FIX.1, 1),
    )
}

fn break_rules(repo: &Repo, folder: &Path) -> anyhow::Result<Vec<InFile>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(repo.at(RULES))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let digits = name
            .strip_prefix("tp")
            .is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()));
        if digits && name.ends_with(".rs") {
            files.push(name);
        }
    }
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = fs::read_to_string(repo.at(RULES).join(&file))?;
        let first = u32::try_from(all.len())? + 1;
        let (broken, mutants) = mutate::mutate(&text, first).with_context(|| file.clone())?;
        if !mutants.iter().any(|m| m.change == mutate::AT_ONCE) {
            bail!("{file} has no detector to break");
        }
        write(&folder.join(RULES).join(&file), &broken)?;
        all.extend(mutants.into_iter().map(|mutant| InFile {
            file: file.clone(),
            mutant,
        }));
    }
    Ok(all)
}

/// Copies what is not made anew afterwards, and removes what is there of a file that is no more: a module
/// that became a folder would be there twice.
fn tree(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(to).into_iter().flatten() {
        let (entry, here) = (entry?, |name| from.join(name));
        let (name, is_folder) = (entry.file_name(), entry.file_type()?.is_dir());
        let stays = match is_folder {
            true => here(&name).is_dir(),
            false => here(&name).is_file() || name == MADE,
        };
        match (stays, is_folder) {
            (true, _) => {}
            (false, true) => fs::remove_dir_all(entry.path())?,
            (false, false) => fs::remove_file(entry.path())?,
        }
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            tree(&entry.path(), &target)?;
        } else if !is_made(&target) {
            write(&target, &fs::read_to_string(entry.path())?)?;
        }
    }
    Ok(())
}

fn is_made(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let in_rules = path.parent().is_some_and(|p| p.ends_with("rules"));
    name == "lib.rs"
        || (in_rules && (name.starts_with("tp") || name == "tests.rs" || name == "finding.rs"))
}

/// Writes only what is different, so that cargo builds only that.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_made_again_has_nothing_of_before() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let put = |name: &str, text: &str| write(&at(name), text).unwrap();
        put("crate/site.rs", "1");
        put("crate/gone/mod.rs", "2");
        put("crate/rules/kept.rs", "3");
        tree(&at("crate"), &at("copy")).unwrap();
        put("copy/mutants.rs", "made");
        assert!(at("copy/gone/mod.rs").is_file());
        // A module becomes a folder, and a folder a module.
        fs::remove_file(at("crate/site.rs")).unwrap();
        put("crate/site/mod.rs", "1");
        fs::remove_dir_all(at("crate/gone")).unwrap();
        put("crate/gone.rs", "2");
        tree(&at("crate"), &at("copy")).unwrap();
        let all = [
            "site.rs",
            "site/mod.rs",
            "gone",
            "gone.rs",
            "rules/kept.rs",
            "mutants.rs",
        ];
        let there = all.map(|name| at("copy").join(name).exists());
        assert_eq!(there, [false, true, false, true, true, true]);
    }
}
