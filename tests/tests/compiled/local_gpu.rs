//! What kernels are compiled for where no setting says it: the GPU of the machine, asked for in a
//! process of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};
use tileperf_tests::process::server_binary;
use tileperf_tests::project::Project;

use super::editor::until;
use super::{KERNELS, lenses, project, python};

/// A program that answers in place of the driver, and leaves a mark each time.
fn probe(project: &Project, script: &str) -> std::path::PathBuf {
    let path = project.folder().join("probe");
    let mark = project.folder().join("asked");
    let text = format!("#!/bin/sh\necho \"$*\" >>'{}'\n{script}\n", mark.display());
    fs::write(&path, text).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    path
}

/// How often it was asked.
fn asked(project: &Project) -> usize {
    let marks = fs::read_to_string(project.folder().join("asked")).unwrap_or_default();
    assert!(marks.lines().all(|line| line == "gpu-probe"), "{marks}");
    marks.lines().count()
}

const B200: &str =
    r#"echo '{"schema":"tileperf.gpu-probe/1","name":"NVIDIA B200","arch":"sm_100"}'"#;

fn output(project: &Project, script: &str, args: &[&str]) -> (String, Vec<Value>) {
    let output = Command::new(server_binary())
        .args(args)
        .current_dir(project.folder())
        .env("TILEPERF_GPU_PROBE", probe(project, script))
        .env("TILEPERF_CACHE", project.folder().join(".cache"))
        .output()
        .expect("tileperf runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    (text.clone(), rows.collect())
}

#[test]
fn config_and_doctor_say_where_the_architecture_comes_from() {
    for (script, toml, value, origin, questions) in [
        (B200, "", "sm_100", "this machine's GPU, NVIDIA B200", 1),
        ("exit 3", "", "sm_90", "default", 1),
        ("kill -SEGV $$", "", "sm_90", "default", 1),
        ("echo nonsense", "", "sm_90", "default", 1),
        (
            B200,
            "compile.archs = [\"sm_80\"]\n",
            "sm_80",
            "tileperf.toml:1",
            0,
        ),
    ] {
        let project = Project::empty();
        project.write("tileperf.toml", toml);
        let (_, rows) = output(&project, script, &["config", "show", "--format", "json"]);
        let row = rows
            .iter()
            .find(|row| row["key"] == "compile.archs")
            .expect("a row");
        assert!(
            row["value"].as_str().is_some_and(|v| v.contains(value)),
            "{script}: {row}"
        );
        assert!(
            row["origin"].as_str().is_some_and(|o| o.ends_with(origin)),
            "{script}: {row}"
        );
        assert_eq!(asked(&project), questions, "{script}");
        let (_, rows) = output(&project, script, &["doctor", "--format", "json"]);
        let row = rows
            .iter()
            .find(|row| row["name"] == "compiled for")
            .expect("a check");
        let found = row["found"].as_str().unwrap_or_default();
        assert!(found.starts_with(value), "{script}: {row}");
        let origin = match origin {
            "default" => "no GPU is known",
            origin => origin,
        };
        assert!(found.contains(origin), "{script}: {row}");
    }
}

/// An editor that has no setting, with a probe.
fn editor(project: &Project, python: &std::path::Path, script: &str) -> Client {
    let settings = json!({"python": {"path": python}});
    Client::start(Options {
        initialization_options: json!({"trusted": true, "settings": settings}),
        folder: Some(project.folder().to_owned()),
        environment: vec![
            ("TILEPERF_CACHE".to_owned(), project.folder().join(".cache")),
            (
                "CUDA_TILE_CACHE_DIR".to_owned(),
                project.folder().join(".cutile"),
            ),
            ("TILEPERF_GPU_PROBE".to_owned(), probe(project, script)),
        ],
        ..Options::default()
    })
    .0
}

#[test]
fn an_editor_compiles_for_the_machines_gpu_and_asks_once() {
    let Some(python) = python() else { return };
    // A driver that does not answer costs its time once, and nobody but the compiler.
    for (script, arch) in [(B200, "sm_100: "), ("exec sleep 600", "sm_90: ")] {
        let project = project();
        let uri = project.uri("pkg/kernels.py");
        let mut client = editor(&project, &python, script);
        client.open(&uri, KERNELS);
        let asking = Instant::now();
        lenses(&mut client, &uri);
        assert!(
            asking.elapsed() < Duration::from_secs(10),
            "{:?}",
            asking.elapsed()
        );
        let is_done = |titles: &Vec<String>| {
            titles
                .iter()
                .filter(|t| t.contains(" regs") && t.contains(arch))
                .count()
                == 2
        };
        until(|| lenses(&mut client, &uri), is_done, script);
        client.change(&uri, 2, json!([{"text": KERNELS.replace("* 2", "* 3")}]));
        let is_new =
            |titles: &Vec<String>| is_done(titles) && !titles.iter().any(|t| t.contains("stale"));
        until(|| lenses(&mut client, &uri), is_new, script);
        assert_eq!(asked(&project), 1);
        client.finish();
    }
}
