//! Whether a change changes the compiled code at all: one that does not is not measured.

use tileperf_analysis::arch::Arch;
use tileperf_engine::{Engine, FileVersion, Sameness};
use tileperf_perf::event::{Stored, Tried};
use tileperf_perf::plan::Probe;
use tileperf_perf::store::Store;
use tileperf_perf::verdict::Identity;
use tileperf_proc::CancelToken;

use crate::dirs;

/// Compares the two versions of a change on the device's architecture, as far as that is allowed
/// and possible. What is not proven is measured.
pub(super) fn of(
    engine: &Engine,
    store: &Store,
    probe: &dyn Probe,
    tried: &Tried,
    cancel: &CancelToken,
) -> Identity {
    match compare(engine, store, probe, tried, cancel) {
        Ok(Sameness::Same(proof)) => Identity::Same { proof },
        Ok(Sameness::Different) => Identity::Different,
        Ok(Sameness::Unknown(reason)) | Err(reason) => Identity::Unknown { reason },
    }
}

fn compare(
    engine: &Engine,
    store: &Store,
    probe: &dyn Probe,
    tried: &Tried,
    cancel: &CancelToken,
) -> Result<Sameness, String> {
    if !engine.settings().compile.enabled {
        return Err("the setting compile.enable is off".to_owned());
    }
    let device = probe.look()?;
    let arch: Option<Arch> = device.arch.and_then(|arch| arch.parse().ok());
    let arch = arch.ok_or_else(|| format!("cuTile does not compile for {}", device.name))?;
    engine.keep_compiled_in(dirs::cache().map_err(|error| format!("{error:#}"))?);
    let before = versions(store, &tried.base)?;
    let after = versions(store, &tried.candidate)?;
    Ok(engine.sameness(&before, &after, arch, cancel))
}

fn versions(store: &Store, files: &[Stored]) -> Result<Vec<FileVersion>, String> {
    let version = |stored: &Stored| {
        let file = store.get(stored).map_err(|error| error.to_string())?;
        let text = (file.content).map(|content| String::from_utf8(content.bytes));
        let text = text
            .transpose()
            .map_err(|_| "a file is no UTF-8".to_owned())?;
        Ok((store.root().join(&stored.path), text))
    };
    files.iter().map(version).collect()
}
