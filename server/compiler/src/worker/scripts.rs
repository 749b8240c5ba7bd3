//! The frontend's Python, which is part of the binary and written to a private folder to be run.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tileperf_analysis::digest::hex;

/// Name and text of each file.
const FILES: [(&str, &str); 7] = [
    (
        "tileperf_compiler.py",
        include_str!("../../python/tileperf_compiler.py"),
    ),
    (
        "tileperf_frontend.py",
        include_str!("../../python/tileperf_frontend.py"),
    ),
    (
        "tileperf_guard.py",
        include_str!("../../python/tileperf_guard.py"),
    ),
    (
        "tileperf_problem.py",
        include_str!("../../python/tileperf_problem.py"),
    ),
    (
        "tileperf_signatures.py",
        include_str!("../../python/tileperf_signatures.py"),
    ),
    (
        "tileperf_slices.py",
        include_str!("../../python/tileperf_slices.py"),
    ),
    (
        "tileperf_standins.py",
        include_str!("../../python/tileperf_standins.py"),
    ),
];

/// Writes the files below `folder`, into one that their content names, and returns that.
pub(super) fn install(folder: &Path) -> io::Result<PathBuf> {
    let mut hash = Sha256::new();
    for (name, text) in FILES {
        hash.update(name);
        hash.update(text);
    }
    let folder = folder.join(hex(&hash.finalize()[..8]));
    fs::create_dir_all(&folder)?;
    for (name, text) in FILES {
        let path = folder.join(name);
        if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        // Another server may read it at this moment: it appears whole or not at all.
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&path)?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_frontend_is_in_the_binary() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/python");
        let mut found: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
            .filter(|name| name.ends_with(".py"))
            .collect();
        found.sort();
        assert_eq!(found, FILES.map(|(name, _)| name));
    }

    #[test]
    fn a_damaged_copy_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let installed = install(folder.path()).unwrap();
        fs::write(installed.join(FILES[0].0), "raise SystemExit").unwrap();
        assert_eq!(install(folder.path()).unwrap(), installed);
        let text = fs::read_to_string(installed.join(FILES[0].0)).unwrap();
        assert_eq!(text, FILES[0].1);
    }
}
