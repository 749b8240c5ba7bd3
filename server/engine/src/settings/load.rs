//! Reading the settings files of a workspace. The only part of the settings that touches a disk.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::layer::{Layer, LayerKind};

/// The name of tileperf's own settings file, in a workspace and in the user's folder.
pub const FILE_NAME: &str = "tileperf.toml";

/// Larger files are not settings. The bound keeps a stray file from filling the memory.
const MAX_BYTES: u64 = 4 << 20;

/// The user's settings file, whether it exists or not; `None` without a home.
///
/// `variable` answers for the environment, `std::env::var_os` in programs.
pub fn user_file(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // The XDG specification has relative paths ignored.
    let absolute = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let folder = absolute("XDG_CONFIG_HOME")
        .or_else(|| absolute("APPDATA"))
        .or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("tileperf").join(FILE_NAME))
}

/// The layers that files make up: the user's and those of a workspace folder. Files that do not
/// exist make none.
pub fn file_layers(root: Option<&Path>, user_file: Option<&Path>) -> Vec<Layer> {
    let mut layers = Vec::new();
    if let Some(path) = user_file {
        // Shown in full: a bare name would be taken for the workspace's file.
        layers.extend(layer(LayerKind::User, path, path.display().to_string()));
    }
    if let Some(root) = root {
        for (kind, name) in [
            (LayerKind::Pyproject, "pyproject.toml"),
            (LayerKind::TileperfToml, FILE_NAME),
        ] {
            layers.extend(layer(kind, &root.join(name), name.to_owned()));
        }
    }
    layers
}

fn layer(kind: LayerKind, path: &Path, shown: String) -> Option<Layer> {
    match read(path) {
        Ok(text) => Some(match kind {
            LayerKind::User => Layer::user(shown, &text),
            LayerKind::Pyproject => Layer::pyproject(shown, &text),
            _ => Layer::tileperf_toml(shown, &text),
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => Some(Layer::unreadable(kind, shown, &error.to_string())),
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    // Before opening: opening a pipe would wait for its other end.
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(std::io::Error::other("it is too large"));
    }
    Ok(text)
}
