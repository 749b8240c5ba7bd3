//! Whatever lies around in a workspace: it is read or left out, with a word in the log.

use std::time::{Duration, Instant};

use serde_json::json;
use tileperf_tests::client::{Client, Options};
use tileperf_tests::process;
use tileperf_tests::project::{KERNELS, LAUNCH, Project};

/// Texts that are hard on a parser, each with a kernel in it.
fn hard_texts() -> Vec<(&'static str, Vec<u8>)> {
    let with = |more: String| format!("{KERNELS}{more}").into_bytes();
    let nested = format!("x = {}1{}\n", "(".repeat(3000), ")".repeat(3000));
    let blocks: String = (0..100)
        .map(|n| format!("{}if x:\n", " ".repeat(n)))
        .collect();
    let mut latin = with("# caf".into());
    latin.extend_from_slice(b"\xe9 \xff\xfe\n");
    vec![
        ("latin.py", latin),
        (
            "one_line.py",
            with(format!("x = \"{}\"\n", "y".repeat(1 << 20))),
        ),
        ("many_lines.py", with("x = 1  # a line\n".repeat(100_000))),
        ("deep.py", with(nested)),
        ("unclosed.py", with("(".repeat(3000))),
        ("blocks.py", with(blocks + &" ".repeat(100) + "pass\n")),
        (
            "bom_crlf.py",
            format!("\u{feff}{}", KERNELS.replace('\n', "\r\n")).into_bytes(),
        ),
        ("cut.py", KERNELS.as_bytes()[..KERNELS.len() - 9].to_vec()),
    ]
}

#[test]
fn a_workspace_of_hard_files_is_read_in_bounded_time_and_memory() {
    let project = Project::sample();
    for (name, bytes) in hard_texts() {
        project.write(&format!("hard/{name}"), bytes);
    }
    project.write("hard/binary.py", b"import cuda.tile\0\x01\x02".repeat(1000));
    let link = |to: &str, from: &str| {
        std::os::unix::fs::symlink(to, project.folder().join(from)).unwrap();
    };
    link(".", "loop");
    link("../..", "hard/up");
    link("nowhere.py", "hard/dangling.py");
    link("self.py", "hard/self.py");

    let begin = Instant::now();
    let folder = Some(project.folder().to_owned());
    let (mut client, _) = Client::start(Options {
        folder,
        ..Options::default()
    });
    let status = loop {
        let status = client.notification("tileperf/status");
        if status["state"] == "ready" {
            break status;
        }
    };
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "{:?}",
        begin.elapsed()
    );
    // One in each hard text and the sample's own, however often links lead to them.
    assert_eq!(status["kernels"], 9, "{status}");
    client.log_line("binary.py is binary");
    client.log_line("latin.py is not UTF-8");
    if let Some(kib) = process::resident_kib(client.pid()) {
        assert!(kib < 400 * 1024, "{kib} KiB");
    }
    client.finish();
}

#[test]
fn hard_texts_are_edited_like_any_other() {
    let project = Project::sample();
    let folder = Some(project.folder().to_owned());
    let (mut client, _) = Client::start(Options {
        folder,
        ..Options::default()
    });
    for (name, bytes) in hard_texts() {
        let uri = project.uri(name);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let begin = Instant::now();
        client.open(&uri, &text);
        for version in 2..12 {
            let start = json!({"line": 4, "character": 9});
            let edit = json!([{"range": {"start": start, "end": start}, "text": "_"}]);
            client.change(&uri, version, edit);
            client.request(
                "textDocument/documentSymbol",
                json!({"textDocument": {"uri": uri}}),
            );
        }
        let found = client.diagnostics(&uri, Some(11));
        // Where the text ends too early, something may seem to be unused.
        let is_hint = |d: &serde_json::Value| d["severity"] == 4;
        assert!(found.iter().all(is_hint), "{name}: {found:?}");
        assert!(name == "cut.py" || found.is_empty(), "{name}: {found:?}");
        let symbols = client.ask(
            "textDocument/documentSymbol",
            json!({"textDocument": {"uri": uri}}),
        );
        assert!(
            symbols.to_string().contains("scale__________"),
            "{name}: {symbols}"
        );
        client.close(&uri);
        client.forget_responses();
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "{name}: {:?}",
            begin.elapsed()
        );
    }
    client.finish();
}

#[test]
fn a_workspace_that_does_not_exist() {
    let project = Project::sample();
    let gone = project.folder().join("gone");
    let mut client = Client::spawn(Options {
        ..Options::default()
    });
    let mut params = client.initialize_params();
    params["workspaceFolders"] =
        json!([{"uri": format!("file://{}", gone.display()), "name": "x"}]);
    client.ask("initialize", params);
    client.notify("initialized", json!({}));
    let uri = project.uri("gone/launch.py");
    client.open(&uri, LAUNCH);
    assert!(client.diagnostics(&uri, Some(1)).is_empty());
    client.finish();
}
