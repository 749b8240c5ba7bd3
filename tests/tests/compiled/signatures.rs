//! A kernel that is known to be launched in several ways.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tileperf_tests::client::Client;
use tileperf_tests::project::Project;

use super::command::{compile, rows};
use super::editor::{has, until};
use super::{editor_with, hints, lenses, python};

/// A matrix times itself, by tiles of 64 or of 32.
const SQUARE: &str = "\
import cuda.tile as ct


@ct.kernel
def square(x, out, TILE: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.zeros((TILE, TILE), dtype=ct.float32)
    for k in range(ct.num_tiles(x, 1, (TILE, TILE))):
        left = ct.load(x, index=(i, k), shape=(TILE, TILE))
        right = ct.load(x, index=(k, j), shape=(TILE, TILE))
        total = ct.mma(left, right, total)
    ct.store(out, index=(i, j), tile=ct.astype(total, out.dtype))


def run(x, out, stream, rows):
    if rows > 4096:
        ct.launch(stream, (rows // 64, rows // 64, 1), square, (x, out, 64))
    else:
        ct.launch(stream, (rows // 32, rows // 32, 1), square, (x, out, 32))
";

const LOAD: u64 = 8;
const LARGE: &str = "x: float16[2], out: float16[2], TILE: 64";
const SMALL: &str = "x: float16[2], out: float16[2], TILE: 32";

fn project() -> Project {
    let project = Project::empty();
    project.write("square.py", SQUARE);
    project
}

#[test]
fn one_can_be_chosen_on_the_command_line() {
    if python().is_none() {
        return;
    }
    let project = project();
    let of = |which: &[&str]| {
        let args = ["square.py", "--trust", "--format", "json"];
        let output = compile(&project, &[&args, which].concat());
        let found: Vec<(String, u64, u64)> = rows(&output)
            .iter()
            .filter(|row| row["error"].is_null())
            .map(|row| {
                assert_eq!(row["origin"], "literals");
                let number = |key: &str| row[key].as_u64().unwrap();
                let signature = row["signature"].as_str().unwrap().to_owned();
                (signature, number("signature_number"), number("signatures"))
            })
            .collect();
        (found, output)
    };
    let (large, small) = ((LARGE.to_owned(), 1, 2), (SMALL.to_owned(), 2, 2));
    assert_eq!(of(&[]).0, std::slice::from_ref(&large));
    for (which, expected) in [
        ("best", vec![large.clone()]),
        ("2", vec![small.clone()]),
        ("TILE: 32", vec![small.clone()]),
        ("float16", vec![large.clone()]),
        ("all", vec![large, small]),
    ] {
        assert_eq!(of(&["--signature", which]).0, expected, "{which}");
    }
    for missing in ["3", "float64"] {
        let (found, output) = of(&["--signature", missing]);
        assert!(found.is_empty());
        assert_eq!(output.status.code(), Some(1), "{missing}");
        let said = rows(&output)[0]["error"]["message"].to_string();
        assert!(said.contains(LARGE) && said.contains(SMALL), "{said}");
    }
    assert_eq!(of(&["--signature", "0"]).1.status.code(), Some(2));
    let text = compile(&project, &["square.py", "--trust", "--signature", "2"]);
    let text = String::from_utf8_lossy(&text.stdout);
    let line =
        format!("    for {SMALL} (from a launch in the code, dtypes assumed; 2 of 2 signatures)\n");
    assert!(text.contains(&line), "{text}");
}

#[test]
fn one_can_be_chosen_in_an_editor() {
    let Some(python) = python() else { return };
    let project = project();
    let uri = project.uri("square.py");
    let picks = json!({"commands": ["tileperf.chooseSignature"]});
    let mut client = editor_with(&project, &python, true, picks);
    client.open(&uri, SQUARE);
    shows(&mut client, &uri, "TMA 64x64");
    let titles = lenses(&mut client, &uri);
    assert!(titles.contains(&"2 signatures".to_owned()), "{titles:?}");

    // The lens and the action open what lets the user choose.
    let at = json!({"line": 4, "character": 6});
    let actions = actions(&mut client, &uri, &at);
    let choose = &actions[0]["command"];
    assert_eq!(choose["command"], "tileperf.chooseSignature");
    let place = choose["arguments"][0].clone();
    let known = execute(&mut client, "tileperf.signatures", place);
    let all = known["signatures"].as_array().unwrap();
    let signatures: Vec<_> = all.iter().map(|one| one["signature"].as_str()).collect();
    assert_eq!(signatures, [Some(LARGE), Some(SMALL)]);
    assert_eq!(
        (&all[0]["shown"], &all[1]["shown"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        all[0]["origin"],
        "from a launch in the code, dtypes assumed"
    );

    show(&mut client, &uri, 2, SMALL);
    shows(&mut client, &uri, "TMA 32x32");
    let known = execute(
        &mut client,
        "tileperf.signatures",
        json!({"uri": uri, "position": at}),
    );
    assert_eq!(known["signatures"][1]["shown"], true);
    // It stays through an edit of the kernel.
    let edited = SQUARE.replace("(total, out.dtype)", "(total * 2, out.dtype)");
    client.change(&uri, 2, json!([{"text": edited}]));
    let is_fresh = |titles: &Vec<String>| {
        titles
            .iter()
            .any(|t| t.contains("regs") && !t.contains("stale"))
    };
    until(|| lenses(&mut client, &uri), is_fresh, "compiled again");
    shows(&mut client, &uri, "TMA 32x32");
    // And back; the place decides only between those that look alike.
    show(&mut client, &uri, 2, LARGE);
    shows(&mut client, &uri, "TMA 64x64");
    client.finish();
}

#[test]
fn editors_without_a_list_to_pick_from_have_an_action_for_each() {
    let Some(python) = python() else { return };
    let project = project();
    let uri = project.uri("square.py");
    let mut client = editor_with(&project, &python, true, Value::Null);
    client.open(&uri, SQUARE);
    shows(&mut client, &uri, "TMA 64x64");
    let titles = lenses(&mut client, &uri);
    assert!(
        !titles.iter().any(|title| title.contains("signatures")),
        "{titles:?}"
    );
    // In the body of the kernel nobody looks for it.
    assert!(actions(&mut client, &uri, &json!({"line": LOAD, "character": 20})).is_empty());
    let actions = actions(&mut client, &uri, &json!({"line": 3, "character": 3}));
    let titles: BTreeSet<&str> = actions.iter().filter_map(|a| a["title"].as_str()).collect();
    let title =
        format!("Show compiled code for {SMALL} (from a launch in the code, dtypes assumed)");
    assert_eq!(titles, BTreeSet::from([title.as_str()]));
    let command = &actions[0]["command"];
    client.ask(
        "workspace/executeCommand",
        json!({"command": command["command"], "arguments": command["arguments"]}),
    );
    shows(&mut client, &uri, "TMA 32x32");
    client.finish();
}

fn shows(client: &mut Client, uri: &str, made: &str) {
    let is_shown = |hints: &Vec<(u64, String)>| has(hints, LOAD, made);
    until(|| hints(client, uri), is_shown, made);
}

/// The actions about signatures.
fn actions(client: &mut Client, uri: &str, at: &Value) -> Vec<Value> {
    let params = json!({
        "textDocument": {"uri": uri},
        "range": {"start": at, "end": at},
        "context": {"diagnostics": []},
    });
    let all = client.ask("textDocument/codeAction", params);
    let all = all.as_array().cloned().unwrap_or_default();
    let is_about = |action: &Value| action["kind"] == "tileperf.signature";
    all.into_iter().filter(is_about).collect()
}

fn execute(client: &mut Client, command: &str, argument: Value) -> Value {
    let params = json!({"command": command, "arguments": [argument]});
    client.ask("workspace/executeCommand", params)
}

fn show(client: &mut Client, uri: &str, number: u64, signature: &str) {
    let argument = json!({
        "uri": uri, "kernel": "square", "ordinal": 0, "number": number, "signature": signature,
    });
    execute(client, "tileperf.showSignature", argument);
}

#[test]
fn what_ran_and_what_is_tested_can_be_chosen_too() {
    if python().is_none() {
        return;
    }
    let project = project();
    let op = "\
@register_impl('square', backend='cutile')
def square_op(x, out, stream):
    run(x, out, stream, 64)
    return out
";
    let registry = "\
def register_impl(op, backend):
    return lambda function: function
";
    project.write("registry.py", registry);
    let text = SQUARE.replace("ct\n", "ct\nfrom registry import register_impl\n");
    project.write("square.py", format!("{text}\n\n{op}"));
    let test = "\
import pytest
import torch


@pytest.mark.parametrize('n, dtype', [(64, torch.float16), (64, torch.bfloat16)])
def test_square(n, dtype):
    pass
";
    project.write("tests/ops/test_square.py", test);
    // As an experiment leaves it.
    let session = "sandbox/tileperf/s";
    project.write(&format!("{session}/journal.jsonl"), "");
    let array = "A2f32_1v4l0_2t1_3i16_p16";
    let compiled = json!({
        "event": "compile",
        "kernel": "square",
        "file": "/elsewhere/square.py",
        "symbol": format!("square_Kt1_{array}_{array}_I16"),
    });
    project.write(
        &format!("{session}/runs/001/none.jsonl"),
        format!("{compiled}\n"),
    );

    let args = ["square.py", "--trust", "--format", "json"];
    let known = |which: &[&str]| {
        let output = compile(&project, &[&args, which].concat());
        let known = rows(&output);
        let known = known.iter().map(|row| {
            let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            (text("origin"), text("signature"))
        });
        known.collect::<Vec<_>>()
    };
    let ran = (
        "recorded".to_owned(),
        "x: float32[2], out: float32[2], TILE: 16".to_owned(),
    );
    let literals = |signature: &str| ("literals".to_owned(), signature.to_owned());
    let tested = ("tests".to_owned(), LARGE.replace("float16", "bfloat16"));
    assert_eq!(
        known(&["--signature", "all"]),
        [ran.clone(), literals(LARGE), literals(SMALL), tested]
    );
    assert_eq!(known(&[]), [ran]);
}

#[test]
fn constants_come_from_launches_in_other_files() {
    if python().is_none() {
        return;
    }
    let project = Project::empty();
    let kernel = SQUARE.split("\n\ndef run").next().expect("a kernel");
    project.write("ops/square.py", kernel);
    let launch = |tile: u32| {
        format!(
            "import cuda.tile as ct\nfrom ops.square import square\n\n\ndef test_square(x, out, stream):\n    \
             ct.launch(stream, (4, 4, 1), square, (x, out, {tile}))\n"
        )
    };
    project.write("tests/test_square.py", launch(32));
    let of = |which: &str| {
        let args = [
            "ops/square.py",
            "--trust",
            "--format",
            "json",
            "--signature",
            which,
        ];
        rows(&compile(&project, &args))
    };
    let best = of("best").remove(0);
    assert_eq!(best["signature"], SMALL, "{best}");
    assert_eq!(best["origin"], "literals");
    assert_eq!(best["launch"]["line"], 6, "{best}");
    let path = best["launch"]["path"].as_str().unwrap_or_default();
    assert!(path.ends_with("tests/test_square.py"), "{path}");
    // What the library itself launches comes before its tests.
    project.write("ops/run.py", launch(64));
    let all = of("all");
    let shown: Vec<_> = all.iter().map(|row| row["signature"].as_str()).collect();
    assert_eq!(shown, [Some(LARGE), Some(SMALL)], "{all:#?}");
    let text = compile(&project, &["ops/square.py", "--trust"]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(
        text.contains("(from the launch in run.py:6, dtypes assumed; 1 of 2 signatures)"),
        "{text}"
    );
}
