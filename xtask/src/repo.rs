//! Where things are: the clone, what is built, and what is kept outside the clone.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::tool::Tool;

/// The places that every chore needs.
#[derive(Debug)]
pub(crate) struct Repo {
    /// The clone.
    pub(crate) root: PathBuf,
    /// Downloads and installed editors, shared by all clones. Not created until it is needed.
    pub(crate) cache: PathBuf,
    /// Cargo's target folder.
    target: PathBuf,
}

impl Repo {
    /// The clone that cargo runs this program for; without cargo, the one that it was built from: clones
    /// that share a target folder share the program.
    ///
    /// # Errors
    /// The clone was moved, or there is no home folder to keep a cache in.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let here = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let here = here.as_path();
        let root = here.parent().unwrap_or(here).to_owned();
        if !root.join("Cargo.toml").is_file() {
            bail!("the clone is no longer in {}: build again", root.display());
        }
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| root.join("target"), |target| root.join(target));
        let cache = cache(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
            .context("neither TILEPERF_CACHE, XDG_CACHE_HOME nor HOME is set")?;
        Ok(Self {
            cache: root.join(cache),
            root,
            target,
        })
    }

    /// A path inside the clone.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// A program that cargo has built without `--release`.
    pub(crate) fn debug_binary(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }

    /// A program that cargo has built with `--release`.
    pub(crate) fn release_binary(&self, name: &str) -> PathBuf {
        self.target.join("release").join(name)
    }

    /// A folder of its own in cargo's target folder.
    pub(crate) fn target_folder(&self, name: &str) -> PathBuf {
        self.target.join(name)
    }

    /// The cargo that runs this program, in the clone. Its colours are no use in a log, and
    /// rustfmt's own are chosen by the terminal.
    pub(crate) fn cargo(&self, args: &[&str]) -> Tool {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let tool = self.tool(cargo).args(args);
        tool.env("CARGO_TERM_COLOR", "never").env("TERM", "dumb")
    }

    /// A program to be run in the clone.
    pub(crate) fn tool(&self, program: impl AsRef<std::ffi::OsStr>) -> Tool {
        Tool::new(program.as_ref()).current_dir(&self.root)
    }
}

/// `$TILEPERF_CACHE`, else `tileperf` in the user's cache folder.
fn cache(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    if let Some(own) = variable("TILEPERF_CACHE") {
        return Some(own.into());
    }
    let user = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let user = user.or_else(|| Some(Path::new(&variable("HOME")?).join(".cache")))?;
    Some(user.join("tileperf"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_special_variable_names_the_cache() {
        let with = |set: &'static [&'static str]| {
            cache(move |name| set.contains(&name).then(|| format!("/{name}").into()))
        };
        let all = &["TILEPERF_CACHE", "XDG_CACHE_HOME", "HOME"];
        assert_eq!(with(all), Some("/TILEPERF_CACHE".into()));
        assert_eq!(with(&all[1..]), Some("/XDG_CACHE_HOME/tileperf".into()));
        assert_eq!(with(&all[2..]), Some("/HOME/.cache/tileperf".into()));
        assert_eq!(with(&[]), None);
    }
}
