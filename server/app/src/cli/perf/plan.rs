//! From a kernel and the settings to the plan of a session.

use std::path::{Path, PathBuf};

use anyhow::Context;
use tileperf_engine::{Engine, PerfTarget};
use tileperf_perf::command;
use tileperf_perf::plan::{PlaceChoice, Plan};
use tileperf_perf::verdict::Goal;
use tileperf_proc::python;

/// What the command line says about a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Wishes {
    /// What to reach.
    pub(super) goal: Option<Goal>,
    /// Go on after small gains.
    pub(super) go_on: bool,
    /// The session corrects wrong results.
    pub(super) fix: bool,
    /// The device, instead of the setting's.
    pub(super) device: Option<String>,
}

/// The plan for a kernel.
///
/// # Errors
/// No interpreter, a goal that cannot be read, a file outside the root.
pub(super) fn plan(
    engine: &Engine,
    target: &PerfTarget,
    root: &Path,
    wishes: &Wishes,
) -> anyhow::Result<Plan> {
    let settings = engine.settings();
    let perf = &settings.perf;
    let bare = target.kernel.rsplit('.').next().unwrap_or(&target.kernel);
    let own = perf
        .kernels
        .get(target.kernel.as_str())
        .or_else(|| perf.kernels.get(bare))
        .cloned()
        .unwrap_or_default();
    let relative = |path: &Path| -> anyhow::Result<PathBuf> {
        let inside = path.strip_prefix(root);
        let inside = inside
            .with_context(|| format!("{} lies outside of {}", path.display(), root.display()))?;
        Ok(inside.to_owned())
    };
    let file = relative(&target.file)?;
    let mut files = vec![file.clone()];
    for path in &target.wrappers {
        // A launch in a test or a benchmark is no wrapper: the harness must not change.
        let path = relative(path)?;
        if !is_harness(&path) && !files.contains(&path) {
            files.push(path);
        }
    }
    files.extend(own.files.iter().map(PathBuf::from).filter(|f| *f != file));
    let test_file = match &own.test_file {
        Some(named) => Some(PathBuf::from(named)),
        None => match target.tests.first() {
            Some(path) => Some(relative(path)?),
            None => None,
        },
    };
    let python = python::find(settings.python_path.as_deref(), root, |name| {
        std::env::var_os(name)
    })
    .map_err(anyhow::Error::msg)?;
    let goal = match (&wishes.goal, &own.goal) {
        (Some(goal), _) => Some(*goal),
        (None, Some(text)) => Some(text.parse::<Goal>()?),
        (None, None) => None,
    };
    let mut benchmark = own.benchmark.unwrap_or_else(|| perf.benchmark.clone());
    if benchmark == command::default_benchmark(false) && knows_print_record(root) {
        benchmark = command::default_benchmark(true);
    }
    Ok(Plan {
        kernel: target.kernel.clone(),
        op: target.ops.first().cloned(),
        file,
        files,
        test_file,
        correctness: own.correctness.unwrap_or_else(|| perf.correctness.clone()),
        benchmark,
        python: python.path,
        environment: settings.environment.clone(),
        search_switch: perf
            .search_switch
            .iter()
            .next()
            .map(|(k, v)| (k.clone(), v.clone())),
        weights: (perf.weights.iter())
            .filter_map(|(part, weight)| Some((part.clone(), weight.parse().ok()?)))
            .collect(),
        goal,
        go_on: wishes.go_on,
        fix: wishes.fix,
        place: match perf.place.as_deref() {
            Some("trees") => PlaceChoice::Trees,
            Some("in-place") => PlaceChoice::InPlace,
            _ => PlaceChoice::Auto,
        },
        repeat: perf.repeat,
        record: perf.record,
        limit: perf.iteration_limit,
        device: match &wishes.device {
            Some(device) => device.clone(),
            None => perf.device.clone().unwrap_or_else(|| "auto".to_owned()),
        },
        class: None,
    })
}

/// Tests and benchmarks, by the folders that projects keep them in.
fn is_harness(path: &Path) -> bool {
    let mut parts = path.iter().filter_map(|part| part.to_str());
    parts.any(|part| {
        matches!(
            part,
            "tests" | "test" | "benchmarks" | "benchmark" | "bench"
        ) || (part.ends_with(".py") && (part.starts_with("test_") || part.starts_with("bench_")))
    })
}

/// Whether the project's pytest has TileGym's option; another one would refuse it.
fn knows_print_record(root: &Path) -> bool {
    ["conftest.py", "tests/conftest.py"].iter().any(|path| {
        std::fs::read_to_string(root.join(path)).is_ok_and(|text| text.contains("--print-record"))
    })
}
