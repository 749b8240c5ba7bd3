//! A kernel of each kind of search: the kind is named, the search is written, and the kernel still
//! passes cuTile's frontend with it.

use std::path::PathBuf;

use tileperf_tests::project::Project;

use super::command::{rows, text, tileperf};
use super::python;

/// The samples that the kinds are tested with.
fn samples() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../server/analysis/src/playbook/c_autotune/template/samples");
    let entries = std::fs::read_dir(&folder).expect("the samples are there");
    let mut all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    all.sort();
    assert_eq!(all.len(), 11, "{all:?}");
    all
}

#[test]
fn each_kind_is_named_and_searched() {
    for sample in samples() {
        let name = sample.file_name().and_then(|n| n.to_str()).expect("a name");
        let stem = name.trim_end_matches(".py").to_lowercase();
        let project = Project::empty();
        let before = std::fs::read_to_string(&sample).expect("a sample");
        project.write(name, &before);
        let mut args = vec!["actions", name, "--format", "json"];
        let setting = python().map(|path| format!("python.path={}", path.display()));
        if let Some(setting) = &setting {
            args.extend([
                "--compile=frontend",
                "--trust",
                "--arch",
                "sm_90",
                "--config",
                setting,
            ]);
        }
        let listed = rows(&tileperf(&project, &args));
        let search = listed.iter().find(|row| row["id"] == "C");
        let search = search.unwrap_or_else(|| panic!("no search for {name}"));
        let kind = search["kind"].as_str().expect("a kind");
        assert_eq!(kind.to_lowercase().replace([' ', '-'], "_"), stem);
        let title = search["title"].as_str().expect("a title");
        assert!(title.contains(&format!("({kind})")), "{title}");
        assert_ne!(search["proof"]["state"], "refuted", "{search}");
        let output = tileperf(&project, &["apply", "C", name]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let after = std::fs::read_to_string(project.folder().join(name)).expect("the file");
        assert!(after.contains("exhaustive_search("), "{after}");
    }
}
