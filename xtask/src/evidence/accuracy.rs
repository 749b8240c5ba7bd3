//! What tileperf finds in public kernels, against the oracle.

use anyhow::bail;

use super::Evidence;
use crate::repo::Repo;
use crate::test::accuracy::{compare, fetch, folders};

/// Every disagreement is written down.
const ALL: &str = "100000";

/// Compares the binary with the oracle on all packages.
pub(super) fn prove(repo: &Repo) -> anyhow::Result<Evidence> {
    let log = repo.at("tests/artifacts/evidence/accuracy.log");
    let build = repo.cargo(&["build", "--workspace", "--all-targets"]);
    if !build.log_to(&log)?.success() {
        bail!("tileperf cannot be built, see {}", log.display());
    }
    let fetched = fetch(repo)?.log_to(&log)?;
    let corpora = folders(&fetched)?;
    let done = compare(repo, &corpora).args(["--list", ALL]).log_to(&log)?;
    // It exits with 1 if a threshold is missed, and says which.
    if !done.success() && !done.stdout.contains("MISSED") {
        bail!("the comparison {}, see {}", done.ended, log.display());
    }
    let mut packages = Vec::new();
    for folder in &corpora {
        let version = std::fs::read_to_string(folder.join(".oracle-version"))?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        packages.push(format!("{name} {}", version.trim()));
    }
    Ok(Evidence {
        title: "Accuracy on public kernels",
        about: format!(
            "The facts of `tileperf facts` are compared, one by one, with those of an oracle built on \
             Python's own\nparser (`tests/oracle/README.md` says what each fact means), on packages \
             from PyPI that the project did not write:\n{}. Every disagreement is listed.",
            packages.join(", ")
        ),
        result: format!("```\n{}\n```", done.stdout.trim_end()),
        holds: done.success(),
    })
}
