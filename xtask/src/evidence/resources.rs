//! What tileperf reads from compiled files, against NVIDIA's own tools.

use anyhow::bail;

use super::Evidence;
use crate::repo::Repo;
use crate::test::accuracy::{compare_cubins, compare_symbols};

/// The comparison means nothing with fewer.
const FEWEST: u32 = 100;

/// Compares all kernels of the tests on all architectures, and names of random signatures.
pub(super) fn prove(repo: &Repo) -> anyhow::Result<Evidence> {
    let log = repo.at("tests/artifacts/evidence/resources.log");
    let build = repo.cargo(&["build", "--package", "tileperf-compiler", "--bins"]);
    if !build.log_to(&log)?.success() {
        bail!("the probe cannot be built, see {}", log.display());
    }
    let cubins = compare_cubins(repo, 1)?.log_to(&log)?;
    let symbols = compare_symbols(repo)?.log_to(&log)?;
    let count = cubins.stdout.lines().rev().find_map(|line| {
        let (count, rest) = line.split_once(' ')?;
        rest.starts_with("cubins of ").then(|| count.parse().ok())?
    });
    let Some(count): Option<u32> = count else {
        bail!("the comparison {}, see {}", cubins.ended, log.display());
    };
    Ok(Evidence {
        title: "Resources and names of compiled kernels",
        about: "The kernels of tests/compiler_claims are compiled for four architectures. \
                Registers, stack and\nshared memory that tileperf reads from the cubin are compared with \
                `cuobjdump -res-usage`; threads and cluster with\nwhat the PTX in the cubin asks for. Then \
                2,000 random signatures: the name that cuda.tile gives each is taken apart,\ncompared \
                with the signature, and put together again."
            .to_owned(),
        result: format!("{}\n\n{}", cubins.stdout.trim_end(), symbols.stdout.trim_end()),
        holds: cubins.success() && symbols.success() && count >= FEWEST,
    })
}
