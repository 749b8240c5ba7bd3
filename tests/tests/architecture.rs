//! The crate graph of the design, as a test: arrows point down, and the edges of the program know
//! what the inside must not.
//!
//! `app -> engine -> perf, gpu, compiler -> analysis -> syntax`; `proc` and `vcs` are leaves. A crate
//! may use any crate below its own level, so that what is missing here is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Each crate of the server and the ones it may use.
const MAY_USE: [(&str, &[&str]); 9] = [
    ("tileperf-syntax", &[]),
    ("tileperf-analysis", &["tileperf-syntax"]),
    ("tileperf-proc", &[]),
    ("tileperf-vcs", &[]),
    ("tileperf-compiler", BELOW_TOOLS),
    ("tileperf-gpu", BELOW_TOOLS),
    ("tileperf-perf", BELOW_TOOLS),
    ("tileperf-engine", BELOW_ENGINE),
    ("tileperf", BELOW_APP),
];

/// What compiler, gpu and perf stand on. They do not know one another.
const BELOW_TOOLS: &[&str] = &[
    "tileperf-syntax",
    "tileperf-analysis",
    "tileperf-proc",
    "tileperf-vcs",
];

const BELOW_ENGINE: &[&str] = &[
    "tileperf-syntax",
    "tileperf-analysis",
    "tileperf-compiler",
    "tileperf-gpu",
    "tileperf-perf",
];

/// The guard of child processes is the binary itself, hence proc.
const BELOW_APP: &[&str] = &[
    "tileperf-syntax",
    "tileperf-analysis",
    "tileperf-compiler",
    "tileperf-gpu",
    "tileperf-perf",
    "tileperf-engine",
    "tileperf-proc",
];

/// The crates that test or build the others.
const OUTSIDE: [&str; 3] = ["tileperf-tests", "xtask", "documents"];

/// Where each of these dependencies may be used: protocols, terminals and runtimes at the edge,
/// CUDA in gpu, git in vcs.
const ONLY_IN: [(&str, &str); 10] = [
    ("tower-lsp-server", "tileperf"),
    ("tower-lsp", "tileperf"),
    ("tower", "tileperf"),
    ("rmcp", "tileperf"),
    ("tokio", "tileperf"),
    ("clap", "tileperf"),
    ("tracing-subscriber", "tileperf"),
    ("git2", "tileperf-vcs"),
    ("cudarc", "tileperf-gpu"),
    ("nvml-wrapper", "tileperf-gpu"),
];

/// For each crate of the workspace, the names of the packages it depends on, build and test
/// dependencies included.
#[allow(clippy::unwrap_used)] // The shape of cargo's output is fixed; any other fails the test.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| {
            let used = package["dependencies"].as_array().unwrap();
            let names = used.iter().map(|dependency| text(&dependency["name"]));
            (text(&package["name"]), names.collect())
        })
        .collect()
}

#[test]
fn arrows_point_down() {
    let graph = dependencies();
    let allowed = BTreeMap::from(MAY_USE);
    let mut wrong = Vec::new();
    for (name, used) in &graph {
        if OUTSIDE.contains(&name.as_str()) {
            continue;
        }
        let Some(may_use) = allowed.get(name.as_str()) else {
            wrong.push(format!("{name} has no place in the design"));
            continue;
        };
        for used in used.iter().filter(|used| graph.contains_key(*used)) {
            if !may_use.contains(&used.as_str()) {
                wrong.push(format!("{name} -> {used}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "edges that the design refuses: {wrong:#?}"
    );
}

#[test]
fn the_edges_are_known_to_one_crate_only() {
    let graph = dependencies();
    let mut wrong = Vec::new();
    for (name, used) in &graph {
        for (dependency, only) in ONLY_IN {
            let stranger = name != only && !OUTSIDE.contains(&name.as_str());
            if stranger && used.contains(dependency) {
                wrong.push(format!("{name} uses {dependency}, which only {only} may"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The tests above prove something only if they see the crates.
#[test]
fn the_graph_is_the_one_of_this_workspace() {
    let graph = dependencies();
    assert!(graph["tileperf"].contains("tileperf-engine"));
    assert!(graph["tileperf"].contains("tower-lsp-server"));
    assert!(graph["tileperf-vcs"].contains("git2"));
    assert!(graph["tileperf-analysis"].contains("tileperf-syntax"));
}
