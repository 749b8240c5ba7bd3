//! Facts after random edits of public kernels, against facts from scratch.

use anyhow::bail;

use super::Evidence;
use crate::repo::Repo;
use crate::test::accuracy::{fetch, folders};

const TEST: &str = "facts_after_edits_equal_facts_from_scratch";
/// Edits of every file; the tests of every day make forty.
const EDITS: u32 = 400;

/// Runs the property test of the syntax crate with many more edits.
pub(super) fn prove(repo: &Repo) -> anyhow::Result<Evidence> {
    let log = repo.at("tests/artifacts/evidence/incremental.log");
    let fetched = fetch(repo)?.log_to(&log)?;
    let mut result = String::new();
    let mut holds = true;
    for folder in folders(&fetched)? {
        let tests = ["test", "--workspace", "--lib", "--", "--nocapture", TEST];
        let done = repo
            .cargo(&tests)
            .env("TILEPERF_TEST_CORPUS", &folder)
            .env("TILEPERF_TEST_EDITS", EDITS.to_string())
            .log_to(&log)?;
        let said = done.stdout.lines().find(|line| line.contains(" edits of "));
        let Some(said) = said else {
            bail!(
                "the test did not say what it did: it {}, see {}",
                done.ended,
                log.display()
            );
        };
        holds &= done.success();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let word = if done.success() {
            "all equal"
        } else {
            "DIFFERENT"
        };
        result.push_str(&format!("- {name}: {said}: {word}\n"));
    }
    Ok(Evidence {
        title: "Incremental facts equal facts from scratch",
        about: "Each file is edited at random, in the middle of tokens too, and a third of the edits is undone. After \
                every edit the\nfacts that the incremental parser holds are compared with those of a parse from nothing: \
                equal, stale ones\naside, and none stale where the text parses cleanly."
            .to_owned(),
        result: result.trim_end().to_owned(),
        holds,
    })
}
