//! How long compiled code takes to be shown. Times are printed; `cargo xtask bench` reads them, since
//! a time that a test insists on says more about the machine than about the server.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use tileperf_tests::client::Client;
use tileperf_tests::process;

use super::{editor, hints, lenses, project, python};

/// A product of matrices, with a constant by which texts differ.
const GEMM: &str = "\
import cuda.tile as ct


@ct.kernel
def gemm(a, b, c, T: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((T, T), 0.0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, 1, (T, T))):
        total = ct.mma(ct.load(a, (i, k), (T, T)), ct.load(b, (k, j), (T, T)), total)
    ct.store(c, (i, j), ct.astype(total, ct.float16))


def run(a, b, c, stream):
    ct.launch(stream, (64, 64), gemm, (a, b, c, 64))
";
/// Without tensor cores it takes a compiler many seconds.
const SLOW: (&str, &str) = (
    "ct.mma(ct.load(a, (i, k), (T, T)), ct.load(b, (k, j), (T, T)), total)",
    "ct.mma(ct.astype(ct.load(a, (i, k), (T, T)), ct.float32), ct.astype(ct.load(b, (k, j), (T, T)), \
     ct.float32), total)",
);
const PATIENCE: Duration = Duration::from_secs(180);
/// Saves, of which the median counts.
const TIMES: usize = 5;
/// Edits, typed and taken back.
const EDITS: usize = 30;

fn write(client: &mut Client, uri: &str, version: &mut i32, text: &str) {
    *version += 1;
    client.change(uri, *version, json!([{"text": text}]));
    let path = uri.trim_start_matches("file://");
    std::fs::write(path, text).expect("a file");
    client.notify(
        "textDocument/didSave",
        json!({"textDocument": {"uri": uri}}),
    );
}

/// Waits until the lens tells of this text's machine code.
fn until_compiled(client: &mut Client, uri: &str) {
    let began = Instant::now();
    let is_done = |title: &String| title.contains(" regs") && !title.contains("(stale)");
    while !lenses(client, uri).iter().any(is_done) {
        assert!(began.elapsed() < PATIENCE, "{}", client.log_text());
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The frontend's and tileiras' own seconds for a text.
fn bare(python: &std::path::Path, file: &std::path::Path) -> f64 {
    let packages = Command::new(python)
        .args([
            "-c",
            "import sysconfig; print(sysconfig.get_path('purelib'))",
        ])
        .output()
        .expect("Python runs");
    let packages = String::from_utf8_lossy(&packages.stdout).trim().to_owned();
    let tileiras = format!("{packages}/nvidia/cu13/bin/tileiras");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/claims/bare_compile.py");
    let output = Command::new(python)
        .args([script, &tileiras])
        .arg(file)
        .args(["gemm", "64"])
        .output()
        .expect("Python runs");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.split_whitespace()
        .filter_map(|n| n.parse::<f64>().ok())
        .sum()
}

fn typed(client: &mut Client, uri: &str, version: &mut i32) -> Vec<f64> {
    let mut times = Vec::new();
    for (end, text) in [(3, "x"), (4, "")] {
        std::thread::sleep(Duration::from_millis(25));
        *version += 1;
        let at = |character: u32| json!({"line": 0, "character": character});
        let began = Instant::now();
        client.change(
            uri,
            *version,
            json!([{"range": {"start": at(3), "end": at(end)}, "text": text}]),
        );
        while client.notification("textDocument/publishDiagnostics")["version"] != *version {}
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times
}

#[test]
fn from_save_to_what_is_shown() {
    let Some(python) = python() else { return };
    let project = project();
    let file = project.write("pkg/gemm.py", GEMM);
    let uri = project.uri("pkg/gemm.py");
    let mut client = editor(&project, &python, true);
    let mut version = 1;
    client.open(&uri, GEMM);
    until_compiled(&mut client, &uri);

    let (mut shown, mut alone) = (Vec::new(), Vec::new());
    for number in 1..=TIMES {
        let text = GEMM.replace("0.0", &format!("{number}.0"));
        let began = Instant::now();
        write(&mut client, &uri, &mut version, &text);
        until_compiled(&mut client, &uri);
        shown.push(began.elapsed().as_secs_f64());
        alone.push(bare(&python, &file));
    }
    println!(
        "from save to remarks {:.3} s, frontend and tileiras alone {:.3} s",
        median(shown),
        median(alone)
    );

    // The same kernel, further down.
    let text = GEMM.replace("0.0", &format!("{TIMES}.0"));
    let began = Instant::now();
    write(
        &mut client,
        &uri,
        &mut version,
        &format!("# one line more\n{text}"),
    );
    let moved = hints(&mut client, &uri);
    let took = began.elapsed().as_secs_f64() * 1e3;
    assert!(
        moved
            .iter()
            .any(|(line, label)| *line == 9 && label.contains("TMA")),
        "{moved:?}"
    );
    println!("an unchanged kernel is shown in {took:.2} ms");

    // Back to a text of before: from the cache.
    let began = Instant::now();
    write(&mut client, &uri, &mut version, GEMM);
    until_compiled(&mut client, &uri);
    println!(
        "a known program is shown in {:.1} ms",
        began.elapsed().as_secs_f64() * 1e3
    );

    // Typing, at rest and beside a compile.
    let mut idle = Vec::new();
    while idle.len() < 2 * EDITS {
        idle.extend(typed(&mut client, &uri, &mut version));
    }
    let slow = GEMM.replace(SLOW.0, SLOW.1);
    assert_ne!(slow, GEMM);
    write(&mut client, &uri, &mut version, &slow);
    let tileiras = wait_for_child(&client, "tileiras");
    let mut beside = Vec::new();
    while beside.len() < EDITS {
        beside.extend(typed(&mut client, &uri, &mut version));
    }
    assert!(process::is_running(tileiras), "it was to run all the while");
    println!(
        "an edit is answered in {:.3} ms, beside a compile in {:.3} ms",
        median(idle),
        median(beside)
    );

    // An edit of the kernel ends the compile of what it was.
    let began = Instant::now();
    write(&mut client, &uri, &mut version, GEMM);
    process::wait_until_gone(tileiras, PATIENCE);
    println!(
        "a stale compile is gone after {:.1} ms",
        began.elapsed().as_secs_f64() * 1e3
    );
    until_compiled(&mut client, &uri);
    client.finish();
}

/// A process below the server whose program has this name.
fn wait_for_child(client: &Client, name: &str) -> u32 {
    let began = Instant::now();
    loop {
        let program = |id: u32| std::fs::read_to_string(format!("/proc/{id}/comm"));
        let is_it = |id: &u32| program(*id).is_ok_and(|program| program.trim() == name);
        if let Some(id) = process::children(client.pid()).into_iter().find(is_it) {
            return id;
        }
        assert!(began.elapsed() < PATIENCE, "{}", client.log_text());
        std::thread::sleep(Duration::from_millis(2));
    }
}
