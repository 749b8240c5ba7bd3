//! The Python that is put into the user's test and benchmark processes.
//!
//! It is part of the binary and written to a private folder at run time, first on `PYTHONPATH`: a
//! recorder of what was launched and from which file, and a pytest plugin that repeats benchmark
//! items on request. Its own documentation is in the files.

use std::path::{Path, PathBuf};

use tileperf_analysis::digest::sha256;

use crate::error::Error;
use crate::store::write_durably;

/// Name and text of each file.
const FILES: [(&str, &str); 9] = [
    (
        "sitecustomize.py",
        include_str!("../python/sitecustomize.py"),
    ),
    (
        "tileperf_bench.py",
        include_str!("../python/tileperf_bench.py"),
    ),
    (
        "tileperf_channel.py",
        include_str!("../python/tileperf_channel.py"),
    ),
    (
        "tileperf_launches.py",
        include_str!("../python/tileperf_launches.py"),
    ),
    (
        "tileperf_modules.py",
        include_str!("../python/tileperf_modules.py"),
    ),
    (
        "tileperf_pytest.py",
        include_str!("../python/tileperf_pytest.py"),
    ),
    (
        "tileperf_recorder.py",
        include_str!("../python/tileperf_recorder.py"),
    ),
    (
        "tileperf_reports.py",
        include_str!("../python/tileperf_reports.py"),
    ),
    (
        "tileperf_values.py",
        include_str!("../python/tileperf_values.py"),
    ),
];

/// Writes the helper below `folder`, in a folder of its own named by its content, and returns that.
///
/// # Errors
/// [`Error::Io`].
pub(crate) fn install(folder: &Path) -> Result<PathBuf, Error> {
    let mut all = Vec::new();
    for (name, text) in FILES {
        all.extend_from_slice(name.as_bytes());
        all.extend_from_slice(text.as_bytes());
    }
    let folder = folder.join(&sha256(&all)[..16]);
    for (name, text) in FILES {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        write_durably(&path, text.as_bytes())?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_helper_is_in_the_binary() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/python");
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|e| e.unwrap().file_name().into_string().ok())
            .filter(|name| name.ends_with(".py"))
            .collect();
        found.sort();
        assert_eq!(found, FILES.map(|(name, _)| name));
    }

    #[test]
    fn a_damaged_copy_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let installed = install(folder.path()).unwrap();
        std::fs::write(installed.join("sitecustomize.py"), "raise SystemExit").unwrap();
        assert_eq!(install(folder.path()).unwrap(), installed);
        let text = std::fs::read_to_string(installed.join("sitecustomize.py")).unwrap();
        assert_eq!(text, FILES[0].1);
    }
}
