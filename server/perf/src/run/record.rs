//! What the recorder in the processes said: which files were imported, and from where.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;

/// One line of a record, as far as the loop reads it. The launches are for later readers.
#[derive(Debug, Deserialize)]
struct Line {
    event: String,
    #[serde(default)]
    file: Option<PathBuf>,
    #[serde(default)]
    inside: Option<bool>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    best: Option<serde_json::Value>,
    #[serde(default)]
    stale: Option<bool>,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    python: Option<String>,
}

/// What ran, according to the record of its processes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ran {
    /// Files under test that were imported from the tree under test.
    pub inside: BTreeSet<PathBuf>,
    /// Files with the path of one under test that were imported from elsewhere.
    pub outside: BTreeSet<PathBuf>,
    /// Versions of what ran: Python, cuda-tile.
    pub versions: BTreeMap<String, String>,
    /// Launches seen.
    pub launches: usize,
    /// Where the recorder itself failed.
    pub faults: Vec<String>,
    /// Files whose bytecode is not that of their source.
    pub stale: BTreeSet<PathBuf>,
    /// Configurations that searches chose, as JSON, in order.
    pub choices: Vec<String>,
}

/// Reads a record. A missing file is an empty record; a line cut off by a kill is skipped.
///
/// # Errors
/// [`Error::Io`].
pub fn read(path: &Path) -> Result<Ran, Error> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Ran::default()),
        Err(error) => return Err(Error::io("read", path, error)),
    };
    let mut ran = Ran::default();
    for line in text.split(|b| *b == b'\n') {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            continue;
        };
        if let (Some(file), Some(true)) = (&line.file, line.stale) {
            ran.stale.insert(file.clone());
        }
        match (line.event.as_str(), line.file, line.inside) {
            ("module", Some(file), Some(true)) => {
                ran.inside.insert(file);
            }
            ("module", Some(file), Some(false)) => {
                ran.outside.insert(file);
            }
            ("start", ..) => ran.note("Python", line.python),
            ("cutile", ..) => ran.note("cuda-tile", line.version),
            ("launch", _, _) => ran.launches += 1,
            ("search", _, _) => ran.choices.extend(line.best.map(|c| c.to_string())),
            ("fault", _, _) => ran.faults.extend(line.message),
            _ => {}
        }
    }
    Ok(ran)
}

impl Ran {
    fn note(&mut self, what: &str, version: Option<String>) {
        if let Some(version) = version {
            self.versions.insert(what.to_owned(), version);
        }
    }

    /// Refuses results of code that is not the code under test.
    ///
    /// # Errors
    /// [`Error::WrongCode`], with what to do.
    pub fn proves(&self, root: &Path, files: &[PathBuf]) -> Result<(), Error> {
        if let Some(stale) = self.stale.first() {
            return Err(Error::WrongCode(format!(
                "Python ran old bytecode of {}, not its present text; delete its __pycache__",
                stale.display()
            )));
        }
        if !self.inside.is_empty() && self.outside.is_empty() {
            return Ok(());
        }
        let names = crate::error::list(files);
        if let Some(outside) = self.outside.first() {
            return Err(Error::WrongCode(format!(
                "the tests imported {} and not the tree under test ({}): both variants would be the \
                 same code. An installed copy of the package comes before PYTHONPATH; remove it, or \
                 measure in place with perf.place = \"in-place\"",
                outside.display(),
                root.display(),
            )));
        }
        let faults = match self.faults.first() {
            Some(fault) => format!(" (the recorder failed: {fault})"),
            None => String::new(),
        };
        Err(Error::WrongCode(format!(
            "no process imported {names}: the commands do not run the code under test{faults}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_the_tree_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.jsonl");
        let says = |lines: &str| {
            std::fs::write(&path, lines).unwrap();
            let proven = read(&path)
                .unwrap()
                .proves(Path::new("/tree"), &["a.py".into()]);
            proven.map_err(|e| e.to_string())
        };
        let start = "{\"event\":\"start\",\"python\":\"3.12.1\"}\n";
        let cutile = "{\"event\":\"cutile\",\"version\":\"1.7.0\",\"file\":\"/x\"}\n";
        std::fs::write(&path, format!("{start}{cutile}")).unwrap();
        let versions = read(&path).unwrap().versions;
        assert_eq!(versions["Python"], "3.12.1");
        assert_eq!(versions["cuda-tile"], "1.7.0");
        let inside = "{\"event\":\"module\",\"file\":\"/tree/a.py\",\"inside\":true}\n";
        let outside = "{\"event\":\"module\",\"file\":\"/site/a.py\",\"inside\":false}\n";
        assert_eq!(says(inside), Ok(()));
        assert_eq!(says(&format!("{inside}{{\"event\":\"mod")), Ok(()));
        let error = says(&format!("{inside}{outside}")).unwrap_err();
        assert!(
            error.contains("/site/a.py") && error.contains("in-place"),
            "{error}"
        );
        let stale =
            "{\"event\":\"module\",\"file\":\"/tree/a.py\",\"inside\":true,\"stale\":true}\n";
        let error = says(stale).unwrap_err();
        assert!(error.contains("bytecode"), "{error}");
        let error = says("{\"event\":\"fault\",\"message\":\"disk full\"}\n").unwrap_err();
        assert!(
            error.contains("a.py") && error.contains("disk full"),
            "{error}"
        );
    }
}
