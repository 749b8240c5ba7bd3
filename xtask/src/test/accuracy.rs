//! The accuracy part: what tileperf finds in public kernels that the project did not write.
//!
//! Facts are compared with the oracle of tests/oracle on four packages from PyPI. With the same
//! files, thousands of random edits compare incremental facts with facts from scratch; and the
//! table of cuda.tile's names is compared with the package itself.

use std::path::PathBuf;

use anyhow::bail;

use super::checks::Checks;
use super::{Part, count, rust};
use crate::debian::Need;
use crate::python::{CUDA_TILE, CUOBJDUMP, PLAIN, TILE_COMPILER};
use crate::repo::Repo;
use crate::tool::{Done, Tool};

/// The accuracy part.
pub(super) const PART: Part = Part {
    name: "accuracy",
    about: "public kernels: facts against the oracle, incremental against from scratch",
    needs: &[
        Need::Program("cc", "build-essential"),
        Need::Python,
        Need::Venv,
    ],
    run,
};

/// Tests of the crates that do their work only when told where public files are. All of them run
/// without too, so they are asked for by name and their number is checked.
const TESTS_ON_PUBLIC_FILES: [&str; 2] = [
    "facts_after_edits_equal_facts_from_scratch_on_a_corpus",
    "the_list_of_names_is_that_of_the_installed_cuda_tile",
];

fn run(repo: &Repo, checks: &mut Checks) -> anyhow::Result<()> {
    if !rust::build(repo, checks)? {
        return Ok(());
    }
    let Some(fetched) = checks.set_up("downloading the packages", &fetch(repo)?)? else {
        return Ok(());
    };
    let corpora = folders(&fetched)?;
    if let Some(done) = checks.step("facts against the oracle", &compare(repo, &corpora))? {
        // The table; disagreements follow after an empty line.
        for line in done.stdout.lines().take_while(|line| !line.is_empty()) {
            println!("    {line}");
        }
    }
    let labels = repo
        .tool("python3")
        .arg("tests/labels/compare_labels.py")
        .arg(repo.debug_binary("tileperf"))
        .args(labelled(&corpora));
    if let Some(done) = checks.step("rules against labels", &labels)? {
        done.stdout.lines().for_each(|line| println!("    {line}"));
    }
    let claims = (repo.tool(TILE_COMPILER.python(repo)?))
        .arg("tests/claims/check_claims.py")
        .args(claims(repo)?)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    checks.step("what rules claim of the compiler", &claims)?;
    for (name, comparison) in [
        ("cubins against cuobjdump", compare_cubins(repo, TWENTIETH)?),
        ("kernel names against cuda.tile", compare_symbols(repo)?),
    ] {
        if let Some(done) = checks.step(name, &comparison)? {
            let last = done.stdout.lines().last().unwrap_or_default();
            println!("    {last}");
        }
    }
    let toolchain = repo
        .cargo(&[
            "test",
            "--package",
            "tileperf-compiler",
            "--test",
            "toolchain",
        ])
        .env("TILEPERF_TEST_TILEIRAS", TILE_COMPILER.python(repo)?);
    checks.counted("from text to machine code", &toolchain, count::cargo_test)?;
    let shown = repo
        .cargo(&["test", "--package", "tileperf-tests"])
        .args(["--test", "compiled", "--test", "playbook"])
        // Built above. Alone it would be built with other features of what it depends on.
        .env("TILEPERF_BIN", repo.debug_binary("tileperf"))
        .env("TILEPERF_TEST_TILEIRAS", TILE_COMPILER.python(repo)?);
    checks.counted(
        "compiled code and the playbook, in a terminal and an editor",
        &shown,
        count::cargo_test,
    )?;
    let tests = repo
        .cargo(&["test", "--workspace", "--lib", "--"])
        .args(TESTS_ON_PUBLIC_FILES)
        .env("TILEPERF_TEST_CORPUS", &corpora[0])
        .env("TILEPERF_TEST_PYTHON", CUDA_TILE.python(repo)?);
    let all_ran = |done: &Done| {
        let mut count = count::cargo_test(done);
        let expected = u32::try_from(TESTS_ON_PUBLIC_FILES.len()).unwrap_or(u32::MAX);
        count.failed = count.failed.max(expected.saturating_sub(count.passed));
        count
    };
    checks.counted("random edits and names on public files", &tests, all_ran)?;
    Ok(())
}

/// Every test run compares so many of the kernels; `cargo xtask evidence resources` all.
const TWENTIETH: u32 = 20;

/// Compares what is read from cubins with cuobjdump, of every `every`th kernel.
///
/// # Errors
/// A Python environment cannot be made.
pub(crate) fn compare_cubins(repo: &Repo, every: u32) -> anyhow::Result<Tool> {
    let cuobjdump = CUOBJDUMP.python(repo)?;
    let folder = cuobjdump.parent().and_then(|bin| bin.parent());
    let folder = folder.unwrap_or(&cuobjdump);
    Ok((repo.tool(TILE_COMPILER.python(repo)?))
        .arg("tests/claims/compare_cubins.py")
        .arg(repo.debug_binary("compiler-probe"))
        .arg(folder)
        .args(claims(repo)?)
        .args(["--every", &every.to_string()])
        .env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// Compares names of random signatures with cuda.tile.
///
/// # Errors
/// The Python environment cannot be made.
pub(crate) fn compare_symbols(repo: &Repo) -> anyhow::Result<Tool> {
    Ok((repo.tool(TILE_COMPILER.python(repo)?))
        .arg("tests/claims/compare_symbols.py")
        .arg(repo.debug_binary("compiler-probe"))
        .env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// The packages under the names that labels use: those of their modules.
fn labelled(corpora: &[PathBuf]) -> Vec<String> {
    (corpora.iter())
        .filter_map(|folder| {
            let name = folder.file_name()?.to_str()?.replace('-', "_");
            Some(format!("{name}={}", folder.display()))
        })
        .collect()
}

/// The files with kernels whose fate in the compiler rules rest on.
fn claims(repo: &Repo) -> anyhow::Result<Vec<PathBuf>> {
    let folder = repo.at("tests/compiler_claims");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "py") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Downloads the packages that are not in the cache yet.
///
/// # Errors
/// The Python environment to download with cannot be made.
pub(crate) fn fetch(repo: &Repo) -> anyhow::Result<Tool> {
    let tool = repo.tool(PLAIN.python(repo)?).downloads();
    Ok(tool
        .arg(repo.at("tests/oracle/fetch_corpora.py"))
        .arg(repo.cache.join("corpora")))
}

/// The folders that [`fetch`] has printed, tilegym's first.
///
/// # Errors
/// It printed none.
pub(crate) fn folders(fetched: &Done) -> anyhow::Result<Vec<PathBuf>> {
    let folders: Vec<PathBuf> = fetched.stdout.lines().map(PathBuf::from).collect();
    if folders.is_empty() || folders.iter().any(|folder| !folder.is_dir()) {
        bail!("fetch_corpora.py printed no folders");
    }
    Ok(folders)
}

/// Compares the debug binary with the oracle.
pub(crate) fn compare(repo: &Repo, corpora: &[PathBuf]) -> Tool {
    let script = repo.at("tests/oracle/compare.py");
    let binary = repo.debug_binary("tileperf");
    let tool = repo.tool("python3").env("PYTHONDONTWRITEBYTECODE", "1");
    tool.arg(script).arg(binary).args(corpora)
}
