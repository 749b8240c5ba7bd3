//! Outline, hover, lenses and hints.

use serde_json::{Value, json};
use tileperf_tests::project::KERNELS;

use crate::{at, kernel_name, sample};

fn document(uri: &str) -> Value {
    json!({"textDocument": {"uri": uri}})
}

#[test]
fn the_outline_nests_for_clients_that_can_and_is_flat_for_others() {
    let nested =
        json!({"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}}});
    let (project, mut client) = sample(nested);
    let uri = project.uri("pkg/kernels.py");
    let symbols = client.ask("textDocument/documentSymbol", document(&uri));
    let kernel = &symbols[0];
    assert_eq!(
        (&kernel["name"], &kernel["selectionRange"]),
        (&json!("scale"), &kernel_name())
    );
    let names: Vec<_> = kernel["children"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["name"])
        .collect();
    assert_eq!(names, ["x", "y", "BLOCK"]);
    client.finish();

    let (project, mut client) = sample(json!({}));
    let uri = project.uri("pkg/kernels.py");
    let symbols = client.ask("textDocument/documentSymbol", document(&uri));
    assert_eq!(
        (&symbols[0]["name"], &symbols[0]["location"]["uri"]),
        (&json!("scale"), &json!(uri))
    );
    assert_eq!(symbols[1]["containerName"], "scale");
    client.finish();
}

#[test]
fn a_kernel_is_explained_in_the_form_the_client_can_show() {
    let (project, mut client) = sample(json!({}));
    let launch = project.uri("pkg/launch.py");
    let hover = client.ask("textDocument/hover", at(&launch, 6, 42));
    assert_eq!(hover["contents"]["kind"], "markdown");
    let card = hover["contents"]["value"].as_str().unwrap();
    assert!(
        card.contains("cuTile kernel `scale`") && card.contains("occupancy"),
        "{card}"
    );
    let derived = "**Memory-bound** by an estimate: about 0.3 FLOP/byte (128 FLOP and 512 bytes in one \
                   block)\n\n- 256 bytes: 128 elements of `x` loaded\n";
    assert!(card.contains(derived), "{card}");
    assert!(
        card.contains("Assumed, which hardly matters: BLOCK = 128"),
        "{card}"
    );
    assert_eq!(hover["range"], crate::launched_name());
    assert_eq!(
        client.ask("textDocument/hover", at(&launch, 1, 0)),
        Value::Null
    );
    client.finish();

    let plain = json!({"textDocument": {"hover": {"contentFormat": ["plaintext"]}}});
    let (project, mut client) = sample(plain);
    let hover = client.ask(
        "textDocument/hover",
        at(&project.uri("pkg/kernels.py"), 4, 5),
    );
    assert_eq!(hover["contents"]["kind"], "plaintext");
    let card = hover["contents"]["value"].as_str().unwrap();
    assert!(
        card.starts_with("cuTile kernel scale") && !card.contains(['*', '`']),
        "{card}"
    );
    client.finish();
}

#[test]
fn what_bounds_a_kernel_is_unknown_with_the_reason() {
    let (project, mut client) = sample(json!({}));
    let uri = project.uri("pkg/kernels.py");
    let empty = "import cuda.tile as ct\n\n\n@ct.kernel\ndef scale(x, y):\n    pass\n";
    client.change(&uri, 2, json!([{ "text": empty }]));
    let hover = client.ask("textDocument/hover", at(&uri, 4, 5));
    let card = hover["contents"]["value"].as_str().expect("a card");
    let said = "**What bounds it: unknown**, no load or store is seen in it";
    assert!(card.contains(said), "{card}");
    client.finish();
}

#[test]
fn a_lens_stands_above_each_kernel() {
    let (project, mut client) = sample(json!({}));
    let uri = project.uri("pkg/kernels.py");
    let lenses = client.ask("textDocument/codeLens", document(&uri));
    assert_eq!(lenses.as_array().map(Vec::len), Some(1));
    let title = lenses[0]["command"]["title"].as_str().unwrap();
    assert!(title.contains("1 launch"), "{title}");
    // Above the decorator, not between it and the function.
    assert_eq!(lenses[0]["range"]["start"]["line"], 3);
    // Plain text for a client that has no command for it.
    assert_eq!(lenses[0]["command"]["command"], "");
    client.finish();

    let (project, mut client) =
        sample(json!({"experimental": {"commands": ["tileperf.showUses"]}}));
    let uri = project.uri("pkg/kernels.py");
    let lens = &client.ask("textDocument/codeLens", document(&uri))[0];
    assert_eq!(lens["command"]["command"], "tileperf.showUses");
    let uses = &lens["command"]["arguments"];
    assert_eq!(uses[0], uri);
    assert_eq!(uses[1], lens["range"]["start"]);
    assert_eq!(uses[2][0]["uri"], project.uri("pkg/launch.py"));
    client.finish();
}

#[test]
fn hints_stand_where_code_does_not_say_it() {
    let (project, mut client) = sample(json!({}));
    let uri = project.uri("pkg/launch.py");
    let renamed = "\
import cuda.tile as ct

from .kernels import scale


def run(x, y):
    chosen = scale
    ct.launch(None, (1,), chosen, (x, y, 128))
";
    client.change(&uri, 2, json!([{"text": renamed}]));
    let ask = |start: u32, end: u32| {
        let whole = json!({
            "start": {"line": start, "character": 0}, "end": {"line": end, "character": 0},
        });
        json!({"textDocument": {"uri": uri}, "range": whole})
    };
    let hints = client.ask("textDocument/inlayHint", ask(0, 8));
    assert_eq!(hints.as_array().map(Vec::len), Some(1), "{hints}");
    assert_eq!(hints[0]["position"], json!({"line": 7, "character": 32}));
    assert!(
        hints[0]["label"].as_str().unwrap().contains("scale"),
        "{hints}"
    );
    assert_eq!(client.ask("textDocument/inlayHint", ask(0, 5)), json!([]));
    client.finish();
}

#[test]
fn answers_belong_to_the_text_they_are_given_for() {
    let (project, mut client) = sample(json!({}));
    let uri = project.uri("pkg/kernels.py");
    for round in 1..60_u32 {
        let version = i32::try_from(2 * round).unwrap();
        let moved = u64::from(round % 7);
        let lines = "# a line\n".repeat((round % 7) as usize);
        client.change(
            &uri,
            version,
            json!([{"text": format!("{lines}{KERNELS}")}]),
        );
        let id = client.request("textDocument/codeLens", document(&uri));
        // An edit that arrives while the question is being answered.
        client.change(&uri, version + 1, json!([{ "text": KERNELS }]));
        match client.response(id) {
            // Above the decorator, of either text.
            Ok(lenses) => {
                let line = lenses[0]["range"]["start"]["line"].as_u64().unwrap();
                assert!(
                    line == 3 || line == 3 + moved,
                    "{moved} lines moved: {lenses}"
                );
            }
            Err(error) => assert_eq!(error.code, -32801, "{error:?}"),
        }
    }
    client.finish();
}
