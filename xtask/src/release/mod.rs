//! The release binary as it is handed to users: compiled a second time, with a profile of its first
//! build at work.
//!
//! What a keystroke costs is spread thin over parsers, tables and small functions, where the compiler
//! cannot guess which way a branch goes or what is worth inlining. A profile tells it. Cargo has no
//! word for that, so both builds and the work between them are a chore here. Without LLVM's tools
//! there is a plain release build, and it is said.

mod training;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::Context;

use crate::repo::Repo;
use crate::tool::Tool;

/// Two builds of everything on a slow machine.
const MINUTES: u64 = 60;

/// A built binary, and how.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) binary: PathBuf,
    /// For people: "with a profile" or why without one.
    pub(crate) how: &'static str,
}

/// Builds the server for users.
///
/// # Errors
/// A build fails, or the instrumented server does not do its work.
pub(crate) fn build(repo: &Repo) -> anyhow::Result<Built> {
    let host = host(repo)?;
    let Some(merger) = merger(repo, &host)? else {
        let build = ["build", "--release", "--quiet", "--package", "tileperf"];
        repo.cargo(&build).minutes(MINUTES).read()?;
        return Ok(Built {
            binary: repo.release_binary("tileperf"),
            how: "without a profile: `rustup component add llvm-tools` brings what makes one",
        });
    };
    let folder = repo.target_folder("profile");
    let raw = folder.join("raw");
    let counting = with_flag(repo, &host, &flag("profile-generate", &raw))?;
    let profile = profile_of(&counting, &folder)?;
    if !profile.is_file() {
        // Counts of an older build say nothing of this one.
        if raw.is_dir() {
            fs::remove_dir_all(&raw).context("cannot remove old profiles")?;
        }
        training::run(repo, &counting, &folder.join("work"))?;
        let new = folder.join("new");
        let merge = Tool::new(&merger).args(["merge", "--output"]);
        merge.args([&new, &raw]).read()?;
        fs::rename(&new, &profile).context("cannot keep the profile")?;
    }
    let binary = with_flag(repo, &host, &flag("profile-use", &profile))?;
    Ok(Built {
        binary,
        how: "with a profile",
    })
}

/// The target that this machine's compiler builds for, such as `x86_64-unknown-linux-gnu`.
///
/// # Errors
/// There is no rustc, or it does not say.
pub(crate) fn host(repo: &Repo) -> anyhow::Result<String> {
    let said = repo.tool("rustc").arg("-vV").read()?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say its host")?.to_owned())
}

/// LLVM's tool that merges profiles, of the compiler's own version: others do not read its files.
fn merger(repo: &Repo, host: &str) -> anyhow::Result<Option<PathBuf>> {
    let root = repo.tool("rustc").args(["--print", "sysroot"]).read()?;
    let tools = Path::new(root.trim()).join("lib/rustlib").join(host);
    let merger = tools.join("bin/llvm-profdata");
    Ok(merger.is_file().then_some(merger))
}

fn flag(name: &str, path: &Path) -> String {
    format!("-C{name}={}", path.display())
}

/// A release build with a flag for every crate of the server, in a target folder for both such builds:
/// the plain one stays as it is. With `--target`, what runs during the build does not get the flag and
/// is built once.
fn with_flag(repo: &Repo, host: &str, flag: &str) -> anyhow::Result<PathBuf> {
    let folder = repo.target_folder("profile").join("target");
    let build = ["build", "--release", "--quiet", "--package", "tileperf"];
    repo.cargo(&build)
        .args(["--target", host, "--target-dir"])
        .arg(&folder)
        // The encoded form keeps a path with spaces in one piece.
        .env("CARGO_ENCODED_RUSTFLAGS", flag)
        .minutes(MINUTES)
        .read()?;
    Ok(folder.join(host).join("release/tileperf"))
}

/// Where the profile of a binary is. Cargo looks at a flag and not into the file that it names, so the
/// file of another binary has another name.
fn profile_of(binary: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let built = fs::metadata(binary).and_then(|about| about.modified())?;
    let built = built.duration_since(UNIX_EPOCH)?.as_nanos();
    Ok(folder.join(format!("{built}.profdata")))
}
