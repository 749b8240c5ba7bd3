//! What experiments launched: the names of compiled kernels in the records of their runs.
//!
//! As good as cuTile's cache, and left where the project is: the cache may be another machine's, be
//! switched off, or have forgotten. A record names the file of a kernel where it ran, which is another
//! folder when a version was measured beside the tree, so files are told by their names alone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use tileperf_analysis::model::Kernel;
use tileperf_analysis::signature::{Origin, Signature};
use tileperf_compiler::symbol::Symbol;
use tileperf_perf::store::{self, Store};

use super::names::of_symbol;
use crate::DocId;
use crate::stamped::{Stamp, Stamped};

/// Records looked at: the newest.
const MOST_RECORDS: usize = 40;
/// No record is larger, in bytes.
const LARGEST: u64 = 16 << 20;

/// Names by file name and function, the newest first.
type ByKernel = HashMap<(String, String), Vec<String>>;

/// What the records below some folders say.
#[derive(Default)]
pub(crate) struct Recorded(Stamped<Vec<PathBuf>, Arc<ByKernel>>);

/// A line of a record, of which only compiles are of interest.
#[derive(Debug, Deserialize)]
struct Line {
    event: String,
    kernel: Option<String>,
    file: Option<PathBuf>,
    symbol: Option<String>,
}

/// The records that a file's kernels may be in, the newest first.
pub(super) struct Records {
    /// The file's name.
    name: String,
    /// The projects.
    roots: Vec<PathBuf>,
    found: Vec<Stamp>,
}

impl Records {
    /// Those of the projects that a file is in. `None` if there are none.
    pub(super) fn of(doc: &DocId) -> Option<Self> {
        let path = doc.path()?;
        let above = path.ancestors().skip(1);
        let roots = above.filter(|folder| folder.join(store::FOLDER).is_dir());
        let roots: Vec<PathBuf> = roots.map(Path::to_owned).collect();
        let found = records(&roots);
        (!found.is_empty()).then_some(Self {
            name: file_name(&path)?,
            roots,
            found,
        })
    }
}

impl Recorded {
    /// What a kernel was compiled for in these records, the newest first, and whether that is all: some
    /// names say what no signature here can.
    pub(super) fn of(&self, records: &Records, kernel: &Kernel) -> (Vec<Signature>, bool) {
        let (roots, found) = (records.roots.clone(), records.found.clone());
        let all = self.0.get(roots, found, |found| Arc::new(read(found)));
        let names = all.get(&(records.name.clone(), kernel.name.to_string()));
        let mut signatures: Vec<Signature> = Vec::new();
        let mut is_all = true;
        for name in names.into_iter().flatten() {
            let symbol = Symbol::parse(name).ok();
            match symbol.and_then(|symbol| of_symbol(&symbol, kernel)) {
                Some(signature) => signatures.push(Signature {
                    origin: Origin::Recorded,
                    ..signature
                }),
                None => is_all = false,
            }
        }
        (signatures, is_all)
    }
}

/// The records of a workspace's runs, the newest first.
fn records(roots: &[PathBuf]) -> Vec<Stamp> {
    let mut found = Vec::new();
    for root in roots {
        for session in Store::sessions(root) {
            let folder = Store::new(root, &session).folder().to_owned();
            for run in entries(&folder.join("runs")) {
                for path in entries(&run) {
                    found.extend(look(&path));
                }
            }
        }
    }
    found.sort_by(|a, b| (b.modified, &b.path).cmp(&(a.modified, &a.path)));
    found.truncate(MOST_RECORDS);
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn look(path: &Path) -> Option<Stamp> {
    path.extension().filter(|extension| *extension == "jsonl")?;
    let record = Stamp::of(path).ok()?;
    (record.size <= LARGEST).then_some(record)
}

fn read(records: &[Stamp]) -> ByKernel {
    let mut all = ByKernel::new();
    for record in records {
        let text = std::fs::read(&record.path).unwrap_or_else(|error| {
            tracing::debug!("{} is not read: {error}", record.path.display());
            Vec::new()
        });
        // A line that was cut off is none.
        let lines = text.split(|byte| *byte == b'\n');
        for line in lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok()) {
            let (Some(kernel), Some(file), Some(symbol)) = (line.kernel, line.file, line.symbol)
            else {
                continue;
            };
            let Some(name) = file_name(&file).filter(|_| line.event == "compile") else {
                continue;
            };
            let known = all.entry((name, kernel)).or_default();
            if !known.contains(&symbol) {
                known.push(symbol);
            }
        }
    }
    all
}

fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use tileperf_analysis::model::{FileModel, ModelCache};

    const KERNEL: &str =
        "import cuda.tile as ct\n@ct.kernel\ndef k(x, N: ct.Constant[int]):\n    pass\n";

    #[test]
    fn the_names_in_records_are_signatures() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder
            .path()
            .join(store::FOLDER)
            .join("s")
            .join("runs")
            .join("001");
        fs::create_dir_all(&run).unwrap();
        fs::write(run.ancestors().nth(2).unwrap().join("journal.jsonl"), "").unwrap();
        let line = |file: &str, kernel: &str, symbol: &str| {
            format!(
                "{{\"event\":\"compile\",\"kernel\":\"{kernel}\",\"file\":\"/elsewhere/{file}\",\
                 \"symbol\":\"{symbol}\"}}\n"
            )
        };
        let lines = [
            "{\"event\":\"launch\",\"kernel\":\"k\",\"file\":\"/elsewhere/a.py\"}\n".to_owned(),
            line("a.py", "k", "k_Kt1_A2f16_I64"),
            line("a.py", "k", "k_Kt1_A2f16_I64"),
            line("a.py", "k", "k_Kt1_A1f32_I32"),
            line("b.py", "k", "k_Kt1_A1f32_I16"),
            line("a.py", "other", "other_Kt1_A1f32_I8"),
            "{\"event\":\"compile\",\"ker".to_owned(),
        ];
        fs::write(run.join("none.jsonl"), lines.concat()).unwrap();
        fs::write(run.join("log.txt"), line("a.py", "k", "k_Kt1_A1f32_I4")).unwrap();

        let parsed = tileperf_syntax::parse(KERNEL);
        let model = FileModel::build(&parsed, KERNEL, "", &mut ModelCache::default());
        let doc = DocId::file(&folder.path().join("src/a.py"));
        let records = Records::of(&doc).unwrap();
        let recorded = Recorded::default();
        let (found, is_all) = recorded.of(&records, &model.kernels[0]);
        let shown: Vec<String> = found.iter().map(Signature::shown).collect();
        assert_eq!(shown, ["x: float16[2], N: 64", "x: float32[1], N: 32"]);
        assert!(is_all && found.iter().all(|one| one.origin == Origin::Recorded));

        // One more run, of a kernel with other parameters.
        fs::write(run.join("more.jsonl"), line("a.py", "k", "k_Kt1_A2f16")).unwrap();
        let records = Records::of(&doc).unwrap();
        let (found, is_all) = recorded.of(&records, &model.kernels[0]);
        assert_eq!((found.len(), is_all), (2, false));
        assert!(Records::of(&DocId::file(Path::new("/nowhere/a.py"))).is_none());
    }
}
