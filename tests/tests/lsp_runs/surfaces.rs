//! Lenses and hovers.

use serde_json::{Value, json};
use tileperf_tests::client::Client;
use tileperf_tests::project::KERNELS;

use crate::{sample, until};

fn titles(client: &mut Client, uri: &str) -> Vec<(String, Value)> {
    let params = json!({"textDocument": {"uri": uri}});
    let lenses = client.ask("textDocument/codeLens", params);
    let lens = |lens: &Value| {
        let command = &lens["command"];
        (
            command["title"].as_str().expect("a title").to_owned(),
            command.clone(),
        )
    };
    lenses
        .as_array()
        .expect("a list")
        .iter()
        .map(lens)
        .collect()
}

#[test]
fn lenses_tell_what_was_measured_and_what_goes_on() {
    let (project, mut client, mut journal) = sample(json!({
        "experimental": {"commands": ["tileperf.runPerfIteration"]},
        "workspace": {"codeLens": {"refreshSupport": true}},
    }));
    let uri = project.uri("pkg/kernels.py");
    let lenses = titles(&mut client, &uri);
    assert_eq!(lenses.len(), 2);
    assert_eq!(lenses[1].0, "Run perf iteration");
    assert_eq!(lenses[1].1["command"], "tileperf.runPerfIteration");
    let argument = json!([{"uri": uri, "kernel": "scale"}]);
    assert_eq!(lenses[1].1["arguments"], argument);

    journal.baseline();
    until(&mut client, |run| run["phase"] == "ready");
    assert!(titles(&mut client, &uri)[0].0.ends_with(" · 0.500000 ms"));

    journal.hold();
    journal.begin("iteration");
    journal.stage("measuring");
    journal.looked(60, 0);
    until(&mut client, |run| run["run"]["pairs"] == 60);
    client.question("workspace/codeLens/refresh");
    assert_eq!(
        titles(&mut client, &uri)[1].0,
        "Perf iteration 1: measuring (60 pairs) …"
    );

    journal.keep();
    journal.release();
    until(&mut client, |run| run["running"] == false);
    let lenses = titles(&mut client, &uri);
    let measured = " · 0.400000 ms (1.25x) · kept: 20.00 % faster";
    assert!(lenses[0].0.ends_with(measured), "{}", lenses[0].0);
    assert_eq!(lenses[1].0, "Run perf iteration");

    client.change(&uri, 2, json!([{"text": KERNELS.replace("* 2", "* 3")}]));
    until(&mut client, |run| run["stale"] == true);
    let lenses = titles(&mut client, &uri);
    assert!(lenses[0].0.ends_with("faster · stale"), "{}", lenses[0].0);

    journal.add("abandoned", json!({}));
    until(&mut client, |run| run["phase"] == "abandoned");
    assert!(!titles(&mut client, &uri)[0].0.contains("ms"));
    client.finish();
}

#[test]
fn a_client_without_the_command_gets_one_lens_a_kernel() {
    let (project, mut client, mut journal) = sample(json!({}));
    journal.baseline();
    until(&mut client, |run| run["phase"] == "ready");
    let lenses = titles(&mut client, &project.uri("pkg/kernels.py"));
    assert_eq!(lenses.len(), 1);
    assert!(lenses[0].0.ends_with("0.500000 ms"));
    client.finish();
}

#[test]
fn the_card_has_the_numbers_by_configuration_with_where_and_when() {
    let (project, mut client, mut journal) = sample(json!({}));
    let hover = json!({
        "textDocument": {"uri": project.uri("pkg/kernels.py")},
        "position": {"line": 4, "character": 5},
    });
    let card = |client: &mut Client| {
        let hover = client.ask("textDocument/hover", hover.clone());
        hover["contents"]["value"].as_str().unwrap().to_owned()
    };
    assert!(!card(&mut client).contains("Measured"));
    journal.baseline();
    journal.begin("iteration");
    journal.keep();
    until(&mut client, |run| run["verdict"] == "kept: 20.00 % faster");
    let text = card(&mut client);
    for part in [
        "**Measured** 0.400000 ms, 1.25x of 0.500000 ms; kept: 20.00 % faster",
        "iteration 1, occupancy=4:",
        "| \\[16-cutile\\] forward | 0.250000 ms | 0.200000 ms | -20.00 % | -20.80 % to -19.20 % | FASTER |",
        "- measured on CPU, 20",
        "- 60 pairs or more",
        "- session scale-20260102",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!text.contains("stale"), "{text}");
    let settings = json!({"settings": {"hover": {"enable": false}, "codeLens": {"enable": false}}});
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": settings }),
    );
    assert_eq!(client.ask("textDocument/hover", hover.clone()), Value::Null);
    let lenses = json!({"textDocument": {"uri": project.uri("pkg/kernels.py")}});
    assert_eq!(client.ask("textDocument/codeLens", lenses), Value::Null);
    client.finish();
}
