//! Where a user's programs keep things, by the XDG base directory specification.

use std::path::PathBuf;

/// `~/.cache/tileperf`, or what `TILEPERF_CACHE` or `XDG_CACHE_HOME` says.
///
/// # Errors
/// There is no home folder.
pub(crate) fn cache() -> anyhow::Result<PathBuf> {
    below("TILEPERF_CACHE", "XDG_CACHE_HOME", ".cache")
}

/// `~/.local/state/tileperf`, or what `TILEPERF_STATE` or `XDG_STATE_HOME` says.
///
/// # Errors
/// There is no home folder.
pub(crate) fn state() -> anyhow::Result<PathBuf> {
    below("TILEPERF_STATE", "XDG_STATE_HOME", ".local/state")
}

fn below(own: &str, xdg: &str, home: &str) -> anyhow::Result<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    if let Some(own) = absolute(own) {
        return Ok(own);
    }
    let base = absolute(xdg).or_else(|| absolute("HOME").map(|path| path.join(home)));
    base.map(|path| path.join("tileperf"))
        .ok_or_else(|| anyhow::anyhow!("neither HOME nor {xdg} names a folder; set {own}"))
}
