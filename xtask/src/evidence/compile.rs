//! Whether the kernels of public packages compile as tileperf takes them out of their files.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

use super::Evidence;
use crate::python::TILE_COMPILER;
use crate::repo::Repo;
use crate::test::accuracy::{fetch, folders};

/// Of the kernels of tilegym, the first package, so many in a hundred have to pass the frontend.
const FEWEST_PERCENT: usize = 97;
/// How a message of the second tier begins.
const SECOND_TIER: &str = "tileiras";

/// What became of the kernels of one package.
#[derive(Default)]
struct Package {
    name: String,
    kernels: usize,
    refused: usize,
    failed: usize,
    seconds: f64,
    /// Place and reason.
    reasons: Vec<(String, String)>,
}

impl Package {
    fn passed(&self) -> usize {
        self.kernels - self.refused
    }

    fn compiled(&self) -> usize {
        self.passed() - self.failed
    }

    fn add(&mut self, row: &Value) {
        self.kernels += 1;
        self.seconds += row["seconds"].as_f64().unwrap_or_default();
        let Some(message) = row["error"]["message"].as_str() else {
            return;
        };
        match message.starts_with(SECOND_TIER) {
            true => self.failed += 1,
            false => self.refused += 1,
        }
        let line = row["error"]["line"].as_u64().or(row["line"].as_u64());
        let kernel = row["kernel"].as_str().unwrap_or_default();
        let path = row["path"].as_str().unwrap_or_default();
        let place = format!("{path}:{} {kernel}", line.unwrap_or_default());
        let first = message.lines().next().unwrap_or_default();
        self.reasons.push((place, first.to_owned()));
    }
}

/// Compiles every kernel of the packages for sm_90.
pub(super) fn prove(repo: &Repo) -> anyhow::Result<Evidence> {
    let log = repo.at("tests/artifacts/evidence/compile.log");
    let build = repo.cargo(&["build", "--package", "tileperf"]);
    if !build.log_to(&log)?.success() {
        bail!("tileperf cannot be built, see {}", log.display());
    }
    let fetched = fetch(repo)?.log_to(&log)?;
    let mut packages = Vec::new();
    for folder in folders(&fetched)? {
        packages.push(compile(repo, &folder, &log)?);
    }
    let first = packages.first().context("there is no package")?;
    let holds = first.passed() * 100 >= first.kernels * FEWEST_PERCENT;
    Ok(Evidence {
        title: "Kernels of public packages in the compiler",
        about: "Every kernel of four packages from PyPI that the project did not write is taken out of its \
                file and compiled for\nsm_90 with `tileperf compile`, without torch and without a GPU, for \
                the signature that is read off the code: by cuTile's\nfrontend, and what that takes by \
                tileiras. Each one that does not compile is listed with the compiler's reason."
            .to_owned(),
        result: table(&packages),
        holds,
    })
}

fn compile(repo: &Repo, folder: &Path, log: &Path) -> anyhow::Result<Package> {
    let version = std::fs::read_to_string(folder.join(".oracle-version"))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut package = Package {
        name: format!("{name} {}", version.trim()),
        ..Package::default()
    };
    let python = TILE_COMPILER.python(repo)?;
    // Relative paths in what is written down.
    let done = (repo.tool(repo.debug_binary("tileperf")))
        .current_dir(folder)
        .minutes(90)
        .args([
            "compile", ".", "--trust", "--arch", "sm_90", "--format", "json",
        ])
        .arg("--config")
        .arg(format!("python.path={}", python.display()))
        .log_to(log)?;
    for line in done.stdout.lines() {
        let row: Value = serde_json::from_str(line).context("tileperf compile writes JSON")?;
        package.add(&row);
    }
    if package.kernels == 0 {
        bail!("no kernel of {name} was compiled, see {}", log.display());
    }
    Ok(package)
}

fn table(packages: &[Package]) -> String {
    let mut out = String::from(
        "| package | kernels | pass the frontend | compile for sm_90 | seconds in all |\n\
         |---|---:|---:|---:|---:|\n",
    );
    for package in packages {
        let _ = writeln!(
            out,
            "| {} | {} | {} ({:.1} %) | {} | {:.0} |",
            package.name,
            package.kernels,
            package.passed(),
            100.0 * package.passed() as f64 / package.kernels as f64,
            package.compiled(),
            package.seconds
        );
    }
    out.push_str("\nThose that do not:\n\n");
    for package in packages {
        for (place, reason) in &package.reasons {
            let _ = writeln!(out, "- {}: `{place}`: {reason}", package.name);
        }
    }
    out
}
