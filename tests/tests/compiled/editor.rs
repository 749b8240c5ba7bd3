//! Compiled code in an editor.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tileperf_tests::client::Client;

use super::{HELPERS, KERNELS, editor, hints, lenses, project, python};

/// How long a compile may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks until the answer is as wanted.
pub(super) fn until<T: std::fmt::Debug>(
    mut ask: impl FnMut() -> T,
    wanted: impl Fn(&T) -> bool,
    what: &str,
) -> T {
    let started = Instant::now();
    loop {
        let answer = ask();
        if wanted(&answer) {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "{what}: {answer:#?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

pub(super) fn has(hints: &[(u64, String)], line: u64, part: &str) -> bool {
    hints
        .iter()
        .any(|(at, label)| *at == line && label.contains(part))
}

/// The diagnostics of a version, the last that were published for it.
fn published(client: &mut Client, uri: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let method = "textDocument/publishDiagnostics";
    let started = Instant::now();
    loop {
        if !client.has_within(method, PATIENCE) {
            panic!("nothing is published: {}", client.log_text());
        }
        let told = client.notification(method);
        let list = told["diagnostics"].as_array().cloned().unwrap_or_default();
        if told["uri"] == uri && wanted(&list) {
            return list;
        }
        assert!(started.elapsed() < PATIENCE, "{list:#?}");
    }
}

fn code_is(code: &str) -> impl Fn(&Value) -> bool + '_ {
    move |diagnostic| diagnostic["code"] == code
}

#[test]
fn an_open_file_shows_what_the_compiler_made_of_it() {
    let Some(python) = python() else { return };
    let project = project();
    let uri = project.uri("pkg/kernels.py");
    let mut client = editor(&project, &python, true);
    client.open(&uri, KERNELS);
    let is_done = |titles: &Vec<String>| {
        let done = titles.iter().filter(|title| title.contains(" regs"));
        done.count() == 2
    };
    let titles = until(|| lenses(&mut client, &uri), is_done, "lenses");
    let gemm = titles
        .iter()
        .find(|title| title.contains("1 launch"))
        .expect("a lens");
    for part in ["regs", "no stack", "KiB shared", "threads", "/SM"] {
        assert!(gemm.contains(part), "{gemm}");
    }
    let shown = hints(&mut client, &uri);
    assert!(has(&shown, 20, "TMA 64x64"), "{shown:#?}");
    assert!(has(&shown, 20, "tensor core SM90"), "{shown:#?}");
    let hover = json!({"textDocument": {"uri": uri}, "position": {"line": 20, "character": 20}});
    let hover = client.ask("textDocument/hover", hover);
    let words = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(words.contains("tensor core"), "{words}");
    // Nothing but the kernels was run.
    assert!(!project.folder().join("mark").exists());

    // A line above: the same facts, moved along, at once.
    client.change(
        &uri,
        2,
        json!([{"text": &format!("# a comment\n{KERNELS}")}]),
    );
    let moved = hints(&mut client, &uri);
    assert!(
        has(&moved, 21, "TMA 64x64") && !has(&moved, 20, "TMA 64x64"),
        "{moved:#?}"
    );

    // A mistake: cuTile's own message at its place, unsaved.
    let wrong = KERNELS.replace("ct.astype(total,", "ct.astype(total + c,");
    client.change(&uri, 3, json!([{"text": &wrong}]));
    let said = published(&mut client, &uri, |list| list.iter().any(code_is("TP501")));
    let error = said.iter().find(|d| code_is("TP501")(d));
    let error = error.expect("an error of the compiler");
    assert_eq!(error["range"]["start"]["line"], 21, "{error:#?}");
    assert_eq!(error["severity"], 1, "{error:#?}");

    // Put right: the error is gone and the facts are back.
    client.change(&uri, 4, json!([{"text": KERNELS}]));
    published(&mut client, &uri, |list| {
        !list.iter().any(|d| d["severity"] == 1)
    });
    let back = |hints: &Vec<(u64, String)>| has(hints, 20, "TMA 64x64");
    until(|| hints(&mut client, &uri), back, "hints");
    client.finish();
}

#[test]
fn what_a_rule_claims_is_confirmed_or_withdrawn() {
    let Some(python) = python() else { return };
    let project = project();
    // Rows are read twice with a padding that TMA cannot make.
    let text = "\
import cuda.tile as ct


@ct.kernel
def k(x, y):
    row = ct.bid(0)
    top = ct.full((1, 64), -1.0, dtype=ct.float32)
    for i in range(ct.num_tiles(x, 1, (1, 64))):
        a = ct.load(x, (row, i), (1, 64), padding_mode=ct.PaddingMode.NEG_INF)
        top = ct.maximum(top, ct.astype(a, ct.float32))
    for i in range(ct.num_tiles(x, 1, (1, 64))):
        a = ct.load(x, (row, i), (1, 64), padding_mode=ct.PaddingMode.NEG_INF)
        ct.store(y, (row, i), ct.astype(ct.astype(a, ct.float32) - top, y.dtype))
";
    let uri = project.uri("pkg/padding.py");
    project.write("pkg/padding.py", text);
    let mut client = editor(&project, &python, true);
    client.open(&uri, text);
    let confirmed = |list: &[Value]| {
        list.iter().filter(|d| code_is("TP406")(d)).any(|d| {
            d["message"]
                .as_str()
                .is_some_and(|message| message.contains("sm_90"))
        })
    };
    published(&mut client, &uri, confirmed);
    client.finish();
}

#[test]
fn a_helper_in_another_file_shows_what_it_became_for_its_callers() {
    let Some(python) = python() else { return };
    let project = project();
    let (uri, helpers) = (project.uri("pkg/kernels.py"), project.uri("pkg/helpers.py"));
    let mut client = editor(&project, &python, true);
    client.open(&helpers, HELPERS);
    client.open(&uri, KERNELS);
    let is_plain = |hints: &Vec<(u64, String)>| has(hints, 4, "plain load: TMA only supports");
    until(
        || hints(&mut client, &helpers),
        is_plain,
        "hints in the helper",
    );
    let hover = json!({"textDocument": {"uri": helpers}, "position": {"line": 4, "character": 14}});
    let hover = client.ask("textDocument/hover", hover);
    let words = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(words.contains("TMA only supports zero padding"), "{words}");
    // Typed in the helper: the kernels that call it are compiled again.
    let zero = HELPERS.replace("NEG_INF", "ZERO");
    client.change(&helpers, 2, json!([{"text": &zero}]));
    let is_new = |hints: &Vec<(u64, String)>| {
        has(hints, 4, "plain load")
            && !has(hints, 4, "TMA only supports")
            && !has(hints, 4, "stale")
    };
    until(
        || hints(&mut client, &helpers),
        is_new,
        "new hints in the helper",
    );
    client.finish();
}
