//! Code actions on findings.

use serde_json::{Value, json};
use tileperf_tests::client::Client;

use crate::{IN_KERNEL, KERNEL, SPACE, codes, one, pushed, settled, start};

/// The actions for a range, asked for with a context.
fn actions(client: &mut Client, uri: &str, range: &Value, context: Value) -> Vec<Value> {
    let params = json!({"textDocument": {"uri": uri}, "range": range, "context": context});
    let answer = client.ask("textDocument/codeAction", params);
    answer.as_array().expect("a list").clone()
}

/// Those that an editor shows on a finding, without what may make its kernel faster.
fn on(client: &mut Client, uri: &str, diagnostic: &Value) -> Vec<Value> {
    let context = json!({"diagnostics": [diagnostic]});
    let mut actions = actions(client, uri, &diagnostic["range"], context);
    let of_playbook = |kind: &str| kind.starts_with("refactor.rewrite.cutile");
    actions.retain(|a| !a["kind"].as_str().is_some_and(of_playbook));
    actions
}

fn titles(actions: &[Value]) -> Vec<&str> {
    (actions.iter())
        .map(|a| a["title"].as_str().expect("a title"))
        .collect()
}

fn titled<'a>(actions: &'a [Value], title: &str) -> &'a Value {
    let found = actions.iter().find(|a| a["title"] == title);
    found.unwrap_or_else(|| panic!("{title:?} in {:?}", titles(actions)))
}

fn number(value: &Value) -> usize {
    let number = value.as_u64().expect("a number");
    usize::try_from(number).expect("a small one")
}

/// A text after an action's edits.
fn applied(text: &str, action: &Value, uri: &str) -> String {
    let edits = action["edit"]["changes"][uri].as_array().expect("edits");
    let place = |position: &Value| {
        let (line, units) = (&position["line"], &position["character"]);
        let line = number(line);
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut left = number(units);
        let rest = text[start..].chars().take_while(|c| {
            let before = left;
            left = left.saturating_sub(c.len_utf16());
            before > 0
        });
        start + rest.map(char::len_utf8).sum::<usize>()
    };
    let mut edits: Vec<(usize, usize, &str)> = (edits.iter())
        .map(|edit| {
            let range = &edit["range"];
            let new = edit["newText"].as_str().expect("a text");
            (place(&range["start"]), place(&range["end"]), new)
        })
        .collect();
    edits.sort_unstable();
    let apart = edits.windows(2).all(|two| two[0].1 <= two[1].0);
    assert!(apart, "edits overlap: {edits:?}");
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

/// What is found when an action's edits are version 2.
fn after(client: &mut Client, uri: &str, text: &str, action: &Value) -> (String, Vec<Value>) {
    let text = applied(text, action, uri);
    client.change(uri, 2, json!([{ "text": text }]));
    let found = settled(client, uri, 2);
    (text, found)
}

#[test]
fn a_fix_that_keeps_results_is_preferred_and_leaves_nothing_of_its_finding() {
    for (name, text, code, title, wanted) in [
        (
            "pkg/kernel.py",
            KERNEL,
            "TP101",
            "Remake the kernel once, when the module is imported",
            &IN_KERNEL[..3],
        ),
        (
            "pkg/space.py",
            SPACE,
            "TP104",
            "Make a list of the search space",
            &["TP105", "TP109"],
        ),
    ] {
        let (project, mut client) = start(json!({}));
        let uri = project.uri(name);
        client.open(&uri, text);
        let found = settled(&mut client, &uri, 1);
        let offered = on(&mut client, &uri, one(&found, code));
        let fix = titled(&offered, title);
        assert_eq!(
            (&fix["kind"], &fix["isPreferred"]),
            (&json!("quickfix"), &json!(true))
        );
        assert_eq!(fix["diagnostics"], json!([one(&found, code)]));
        assert!(
            !titles(&offered)
                .iter()
                .any(|t| t.contains("Fix everything"))
        );
        let (_, found) = after(&mut client, &uri, text, fix);
        assert_eq!(codes(&found), wanted);
        client.finish();
    }
}

#[test]
fn a_fix_that_somebody_must_look_at_says_so() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    let found = settled(&mut client, &uri, 1);
    let offered = on(&mut client, &uri, one(&found, "TP205"));
    let expected = [
        "Use the tile's number, `i` (needs review)",
        "Fix all index-is-element-offset in this file",
        "Ignore index-is-element-offset on this line",
        "Ignore index-is-element-offset in this file",
    ];
    assert_eq!(titles(&offered), expected);
    assert!(offered.iter().all(|a| a["isPreferred"] == Value::Null));
    assert!(offered.iter().all(|a| a["kind"] == "quickfix"));
    let (text, found) = after(&mut client, &uri, KERNEL, &offered[0]);
    assert_eq!(text, KERNEL.replacen("i * BLOCK", "i", 1));
    assert_eq!(codes(&found), ["TP207", "TP205", "TP101"]);
    // The only one left needs no action for all.
    let offered = on(&mut client, &uri, one(&found, "TP205"));
    assert!(!titles(&offered).iter().any(|t| t.starts_with("Fix all")));
    client.finish();
}

#[test]
fn all_findings_of_a_rule_are_fixed_at_once() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    let found = settled(&mut client, &uri, 1);
    let offered = on(&mut client, &uri, one(&found, "TP205"));
    let all = titled(&offered, "Fix all index-is-element-offset in this file");
    let (text, found) = after(&mut client, &uri, KERNEL, all);
    assert_eq!(text, KERNEL.replace("i * BLOCK", "i"));
    assert_eq!(codes(&found), ["TP207", "TP101"]);
    client.finish();
}

#[test]
fn a_finding_is_silenced_on_its_line_or_in_its_file() {
    for (name, text, code, slug, where_, wanted) in [
        // One of two.
        (
            "pkg/kernel.py",
            KERNEL,
            "TP205",
            "index-is-element-offset",
            "on this line",
            &["TP207", "TP205", "TP101"][..],
        ),
        (
            "pkg/kernel.py",
            KERNEL,
            "TP205",
            "index-is-element-offset",
            "in this file",
            &["TP207", "TP101"],
        ),
        // One that comes later than the others.
        (
            "pkg/space.py",
            SPACE,
            "TP105",
            "search-space-too-large",
            "on this line",
            &["TP104", "TP109"],
        ),
        (
            "pkg/space.py",
            SPACE,
            "TP105",
            "search-space-too-large",
            "in this file",
            &["TP104", "TP109"],
        ),
    ] {
        let (project, mut client) = start(json!({}));
        let uri = project.uri(name);
        client.open(&uri, text);
        let found = settled(&mut client, &uri, 1);
        let offered = on(&mut client, &uri, one(&found, code));
        let action = titled(&offered, &format!("Ignore {slug} {where_}"));
        let (text, found) = after(&mut client, &uri, text, action);
        assert_eq!(codes(&found), wanted, "{text}");
        assert_eq!(
            text.matches(&format!("# tileperf: ignore[{slug}]")).count(),
            1
        );
        client.finish();
    }
}

#[test]
fn two_rules_are_silenced_on_one_line() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/space.py");
    client.open(&uri, SPACE);
    let found = settled(&mut client, &uri, 1);
    let offered = on(&mut client, &uri, one(&found, "TP104"));
    let (text, found) = {
        let action = titled(&offered, "Ignore generator-search-space on this line");
        after(&mut client, &uri, SPACE, action)
    };
    assert_eq!(codes(&found), ["TP105", "TP109"]);
    let offered = on(&mut client, &uri, one(&found, "TP109"));
    let action = titled(&offered, "Ignore disable-autotune-missing on this line");
    let text = applied(&text, action, &uri);
    client.change(&uri, 3, json!([{ "text": text }]));
    assert_eq!(codes(&settled(&mut client, &uri, 3)), ["TP105"], "{text}");
    client.finish();
}

#[test]
fn everything_is_fixed_only_for_a_client_that_asks_for_that() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    let found = settled(&mut client, &uri, 1);
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 13, "character": 0}});
    let mut kinds = |only: Option<&[&str]>| {
        let context = match only {
            Some(only) => json!({"diagnostics": [], "only": only}),
            None => json!({"diagnostics": found}),
        };
        let offered = actions(&mut client, &uri, &whole, context);
        let all = offered
            .iter()
            .filter(|a| a["kind"] == "source.fixAll.tileperf");
        let all: Vec<Value> = all.cloned().collect();
        (offered.len() - all.len(), all)
    };
    let (quick, all) = kinds(None);
    assert!(quick > 6 && all.is_empty(), "{quick} {all:?}");
    let (quick, all) = kinds(Some(&["quickfix"]));
    assert!(quick > 6 && all.is_empty(), "{quick} {all:?}");
    for not in [
        "source.organizeImports",
        "source.fixAll.ruff",
        "source.fixAll.tile",
        "refactor",
    ] {
        assert_eq!(kinds(Some(&[not])), (0, Vec::new()), "{not}");
    }
    for only in ["source", "source.fixAll", "source.fixAll.tileperf"] {
        let (quick, all) = kinds(Some(&[only]));
        assert_eq!((quick, all.len()), (0, 1), "{only}");
    }
    let (_, all) = kinds(Some(&["source.fixAll.tileperf"]));
    // What needs review is left alone.
    let (text, found) = after(&mut client, &uri, KERNEL, &all[0]);
    assert_eq!(codes(&found), &IN_KERNEL[..3], "{text}");
    // Nothing is left to do.
    let context = json!({"diagnostics": [], "only": ["source.fixAll.tileperf"]});
    assert!(actions(&mut client, &uri, &whole, context).is_empty());
    client.finish();
}

#[test]
fn edits_say_their_version_to_clients_that_check_it() {
    let versioned = json!({"workspace": {"workspaceEdit": {"documentChanges": true}}});
    for (capabilities, is_versioned) in [(versioned, true), (json!({}), false)] {
        let (project, mut client) = start(capabilities);
        let uri = project.uri("pkg/kernel.py");
        client.open(&uri, KERNEL);
        client.change(&uri, 7, json!([{"text": format!("# a line\n{KERNEL}")}]));
        let found = client.diagnostics(&uri, Some(7));
        for action in on(&mut client, &uri, one(&found, "TP101")) {
            let edit = &action["edit"];
            assert_eq!(edit["documentChanges"].is_array(), is_versioned, "{edit}");
            assert_eq!(edit["changes"].is_object(), !is_versioned, "{edit}");
            if is_versioned {
                let document = &edit["documentChanges"][0]["textDocument"];
                assert_eq!(document, &json!({"uri": uri, "version": 7}));
            }
        }
        client.finish();
    }
}

#[test]
fn where_nothing_is_wrong_nothing_is_offered() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    let nowhere = json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 0}});
    let context = json!({"diagnostics": []});
    assert!(actions(&mut client, &uri, &nowhere, context).is_empty());
    // A cursor in a finding is enough.
    let cursor =
        json!({"start": {"line": 11, "character": 50}, "end": {"line": 11, "character": 50}});
    let context = json!({"diagnostics": []});
    assert_eq!(actions(&mut client, &uri, &cursor, context).len(), 3);
    client.finish();
}

#[test]
fn a_finding_of_an_earlier_text_has_no_edit_that_would_hit_the_wrong_place() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/space.py");
    client.open(&uri, SPACE);
    pushed(&mut client, &uri, 1, &["TP105", "TP104", "TP109"]);
    for version in 2..20 {
        let lines = "# a line\n".repeat(usize::try_from(version).unwrap());
        let text = format!("{lines}{SPACE}");
        client.change(&uri, version, json!([{ "text": text }]));
        let found = client.diagnostics(&uri, Some(version));
        let offered = on(&mut client, &uri, one(&found, "TP104"));
        for action in &offered {
            let text = applied(&text, action, &uri);
            let kept =
                text.contains("(configs(), stream") || text.contains("(list(configs()), stream");
            assert!(kept, "{action}\n{text}");
        }
    }
    client.finish();
}
