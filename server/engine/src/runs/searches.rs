//! Searches in the records of a session: what none of them found good the playbook drops from a space.
//!
//! Other code may want other configurations, so a search counts only if what ran is what the session
//! keeps.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use smol_str::SmolStr;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::eval::Known;
use tileperf_analysis::playbook::{Search, Timed};
use tileperf_perf::Session;
use tileperf_perf::event::{RunKind, Stored};
use tileperf_perf::session::Run;
use tileperf_perf::stats::Variant;
use tileperf_perf::store::Store;

/// No record is larger, in bytes.
const LARGEST: u64 = 16 << 20;

/// A line of a record, of which only searches are of interest.
#[derive(Debug, Deserialize)]
struct Line {
    event: String,
    kernel: Option<String>,
    file: Option<PathBuf>,
    args: Option<Vec<Value>>,
    best: Option<One>,
    candidates: Option<Vec<One>>,
}

#[derive(Debug, Deserialize)]
struct One {
    config: Value,
    mean_us: Option<f64>,
    error_us: Option<f64>,
}

/// What a session's processes searched of its kernel, the last runs first.
pub(super) fn of_session(store: &Store, session: &Session) -> Vec<Search> {
    let (file, kernel) = (&session.plan.file, &session.plan.kernel);
    let mut searches = Vec::new();
    for run in session.runs.iter().rev() {
        let Some(arch) = super::recorded::arch(run) else {
            continue;
        };
        let folder = store.folder().join("runs").join(format!("{:03}", run.run));
        for variant in variants(session, run) {
            for what in ["benchmark", "correctness"] {
                let record = folder.join(format!("{what}-{}.jsonl", variant.in_paths()));
                let is_benchmark = what == "benchmark";
                of_record(&record, file, kernel, |line| {
                    searches.extend(search(line, arch, is_benchmark));
                });
            }
        }
    }
    searches
}

/// Which records of a run are of what the session keeps.
fn variants(session: &Session, run: &Run) -> Vec<Variant> {
    let is_kept = |files: &[Stored]| files == session.base.as_slice();
    match (&run.tried, run.kind) {
        (None, RunKind::Baseline) if is_kept(&session.first_base) => {
            vec![Variant::Base, Variant::Candidate]
        }
        (Some(tried), _) => {
            let base = is_kept(&tried.base).then_some(Variant::Base);
            let candidate = is_kept(&tried.candidate).then_some(Variant::Candidate);
            // Variables of its own may be what it is about.
            let candidate = candidate.filter(|_| tried.environment.is_empty());
            base.into_iter().chain(candidate).collect()
        }
        _ => Vec::new(),
    }
}

/// The searches of a kernel in a record. Where a version was measured beside the tree the file lies in
/// another folder, so it is told by how its path ends.
fn of_record(record: &Path, file: &Path, kernel: &str, mut found: impl FnMut(Line)) {
    if !(record.metadata()).is_ok_and(|m| m.is_file() && m.len() <= LARGEST) {
        return;
    }
    let name = kernel.rsplit('.').next().unwrap_or(kernel);
    // A line that was cut off is none.
    for line in std::fs::read(record)
        .unwrap_or_default()
        .split(|b| *b == b'\n')
    {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            continue;
        };
        let is_own = line.file.as_ref().is_some_and(|path| path.ends_with(file));
        if line.event == "search" && line.kernel.as_deref() == Some(name) && is_own {
            found(line);
        }
    }
}

fn search(line: Line, arch: Arch, is_benchmark: bool) -> Option<Search> {
    let mut measured: Vec<Timed> = Vec::new();
    // The best may be among those that were cut off.
    for one in line.candidates.into_iter().flatten().chain(line.best) {
        let (Some(mean_us), Some(fields)) = (one.mean_us, fields(&one.config)) else {
            continue;
        };
        if !measured.iter().any(|timed| timed.fields == fields) {
            measured.push(Timed {
                fields,
                mean_us,
                error_us: one.error_us.unwrap_or(0.0),
            });
        }
    }
    Some(Search {
        arch,
        arguments: line.args.as_deref().map(arguments),
        is_benchmark,
        measured,
    })
    .filter(|search| !search.measured.is_empty())
}

/// What tells searches apart: shapes, types and numbers. Constants come from the configuration, and where
/// an array happens to lie says nothing.
fn arguments(args: &[Value]) -> String {
    let told = args.iter().filter(|arg| arg.get("constant").is_none());
    let told = told.map(|arg| {
        let mut arg = arg.clone();
        if let Some(fields) = arg.as_object_mut() {
            fields.remove("align");
        }
        arg
    });
    Value::Array(told.collect()).to_string()
}

/// A configuration as the evaluator names it. Nothing if it is no plain value.
fn fields(config: &Value) -> Option<Vec<(SmolStr, Known)>> {
    match config {
        Value::Object(fields) => (fields.iter())
            .map(|(name, value)| Some((SmolStr::new(name), known(value)?)))
            .collect(),
        value => Some(vec![(SmolStr::default(), known(value)?)]),
    }
}

fn known(value: &Value) -> Option<Known> {
    Some(match value {
        Value::Null => Known::None,
        Value::Bool(value) => Known::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Known::Int(value),
            None => Known::Float(number.as_f64()?.to_bits()),
        },
        Value::String(text) => Known::Str(SmolStr::new(text)),
        Value::Array(parts) => Known::Tuple(parts.iter().map(known).collect::<Option<_>>()?),
        Value::Object(_) => return None,
    })
}
