//! What the commands that look at a workspace share: which folder that is, and its settings.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use tileperf_engine::Engine;
use tileperf_engine::settings::SettingsProblem;

use crate::local_gpu;

/// What marks the folder of a project, as editors see it too.
const MARKERS: [&str; 3] = ["tileperf.toml", "pyproject.toml", ".git"];

/// Settings given with the command.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct SettingsArgs {
    /// Set a setting for this command, above all files. May be repeated.
    ///
    /// Example: --config archs=sm_90,sm_100. `tileperf config show` lists all settings.
    #[arg(long = "config", value_name = "KEY=VALUE")]
    config: Vec<String>,
}

impl SettingsArgs {
    /// Sets one more, for a flag that stands for a setting.
    pub(super) fn add(&mut self, key: &str, value: &str) {
        self.config.push(format!("{key}={value}"));
    }

    /// As they are given to this program.
    pub(super) fn as_args(&self) -> impl Iterator<Item = &str> {
        self.config.iter().flat_map(|given| ["--config", given])
    }
}

/// The absolute path of something the user named.
///
/// # Errors
/// It does not exist.
pub(super) fn existing(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize()
        .with_context(|| format!("cannot read {}", path.display()))
}

/// The project that an existing path belongs to: the nearest folder upwards with a marker, else the
/// path itself if it is a folder, else the folder it is in.
pub(super) fn root_of(path: &Path) -> PathBuf {
    let folder = if path.is_dir() {
        path
    } else {
        path.parent().unwrap_or(path)
    };
    let marked = |folder: &&Path| MARKERS.iter().any(|marker| folder.join(marker).exists());
    folder.ancestors().find(marked).unwrap_or(folder).to_owned()
}

/// Which project a command is about.
#[derive(Debug, Clone, Args)]
pub(super) struct ProjectArgs {
    /// A folder or file of the project.
    #[arg(default_value = ".")]
    path: PathBuf,

    /// The path is the project's folder; none above it is looked for. For editors, which know.
    #[arg(long, hide = true)]
    exactly: bool,
}

impl ProjectArgs {
    /// Its folder.
    ///
    /// # Errors
    /// It does not exist.
    pub(super) fn root(&self) -> anyhow::Result<PathBuf> {
        let path = existing(&self.path)?;
        Ok(if self.exactly { path } else { root_of(&path) })
    }
}

/// An engine for some folders; nothing is read yet but the settings. `trusted`: the user has said so
/// with the command.
pub(super) fn engine(
    roots: Vec<PathBuf>,
    settings: &SettingsArgs,
    trusted: bool,
) -> (Engine, Vec<SettingsProblem>) {
    let engine = Engine::new();
    local_gpu::ask_for(&engine);
    let problems = engine.configure(
        roots,
        serde_json::Value::Null,
        settings.config.clone(),
        trusted,
    );
    (engine, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_nearest_marked_folder() {
        let app = Path::new(env!("CARGO_MANIFEST_DIR"));
        let repository = app.ancestors().nth(2).unwrap();
        assert_eq!(root_of(&app.join("src/main.rs")), repository);
        assert_eq!(root_of(app), repository);
    }
}
