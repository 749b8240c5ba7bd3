//! Changes on disk, for clients that do not watch files themselves.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use notify::{RecursiveMode, Watcher as _};

/// Events that come within this time are handled together: a branch switch touches thousands of
/// files at once.
const GATHER: Duration = Duration::from_millis(200);

/// Watches until dropped.
pub(crate) struct Watcher(#[allow(dead_code)] notify::RecommendedWatcher);

impl Watcher {
    /// Calls `changed` on a thread of its own with the paths that changed below `roots`.
    pub(crate) fn start(
        roots: &[PathBuf],
        changed: impl Fn(Vec<PathBuf>) + Send + 'static,
    ) -> notify::Result<Self> {
        let (sender, events) = mpsc::channel::<PathBuf>();
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| match event {
                Ok(event) if !event.kind.is_access() => {
                    for path in event.paths {
                        // The other end lives as long as this one.
                        let _ = sender.send(path);
                    }
                }
                Ok(_) => {}
                Err(error) => tracing::debug!("watching: {error}"),
            })?;
        for root in roots {
            watcher.watch(root, RecursiveMode::Recursive)?;
        }
        std::thread::Builder::new()
            .name("tileperf-watch".into())
            .spawn(move || {
                while let Ok(first) = events.recv() {
                    let mut paths = vec![first];
                    while let Ok(path) = events.recv_timeout(GATHER) {
                        paths.push(path);
                    }
                    paths.sort();
                    paths.dedup();
                    changed(paths);
                }
            })
            .map_err(notify::Error::io)?;
        Ok(Self(watcher))
    }
}
