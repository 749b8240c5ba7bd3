//! Diagnostics that the server sends on its own.

use serde_json::{Value, json};

use crate::{
    IN_KERNEL, KERNEL, LAUNCH, PUBLISHED, SPACE, before_line, codes, one, pushed, settled, start,
};

#[test]
fn a_finding_says_all_that_an_editor_can_show() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    let found = client.diagnostics(&uri, Some(1));
    assert_eq!(codes(&found), IN_KERNEL);
    for (code, severity, tags, start, end) in [
        ("TP207", 4, json!([1]), (4, 4), (4, 10)),
        ("TP205", 2, Value::Null, (6, 20), (6, 29)),
        // Behind a character that takes two units.
        ("TP101", 2, Value::Null, (11, 42), (11, 55)),
    ] {
        let diagnostic = one(&found, code);
        assert_eq!(diagnostic["severity"], severity, "{diagnostic}");
        assert_eq!(diagnostic["tags"], tags, "{diagnostic}");
        assert_eq!(diagnostic["source"], "tileperf");
        let place = |(line, character): (u32, u32)| json!({"line": line, "character": character});
        let range = json!({"start": place(start), "end": place(end)});
        assert_eq!(diagnostic["range"], range, "{diagnostic}");
        let page = diagnostic["codeDescription"]["href"].as_str().unwrap();
        assert!(page.contains("docs/rules.md#"), "{page}");
    }
    let related = &one(&found, "TP207")["relatedInformation"][0];
    assert_eq!(related["location"]["uri"], uri);
    assert_eq!(related["location"]["range"]["start"]["character"], 14);
    assert_eq!(related["message"], "never read");
    client.finish();
}

#[test]
fn every_edit_is_answered_with_its_version() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    assert_eq!(codes(&client.diagnostics(&uri, Some(1))), IN_KERNEL);
    for (version, text, wanted) in [
        (2, KERNEL.replace("i * BLOCK", "i"), &["TP207", "TP101"][..]),
        (
            3,
            KERNEL.replace("double.replace_hints(occupancy=4)", "double"),
            &IN_KERNEL[..3],
        ),
        (4, "import cuda.tile as ct\n".to_owned(), &[]),
        (5, KERNEL.to_owned(), &IN_KERNEL),
    ] {
        client.change(&uri, version, json!([{ "text": text }]));
        // At once, not only when nothing is typed any more.
        assert_eq!(codes(&client.diagnostics(&uri, Some(version))), wanted);
    }
    client.close(&uri);
    assert!(client.diagnostics(&uri, None).is_empty());
    client.finish();
}

#[test]
fn versions_of_a_burst_never_go_back() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    for version in 2..200 {
        client.change(&uri, version, before_line(0, "# a line\n"));
    }
    let mut last = 0;
    while last < 199 {
        let published = client.notification(PUBLISHED);
        let version = published["version"].as_i64().unwrap();
        assert!(version >= last, "{version} after {last}");
        last = version;
        // The list belongs to that version: each edit moves everything by one line.
        let found = published["diagnostics"].as_array().unwrap();
        assert_eq!(
            one(found, "TP101")["range"]["start"]["line"],
            11 + version - 1
        );
    }
    client.finish();
}

#[test]
fn a_finding_moves_with_its_line_while_others_are_typed() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    let line = |found: &[Value], code| one(found, code)["range"]["start"]["line"].clone();
    let found = client.diagnostics(&uri, Some(1));
    assert_eq!(
        (line(&found, "TP207"), line(&found, "TP101")),
        (json!(4), json!(11))
    );
    // A line that is not finished, between them; then one before both.
    client.change(&uri, 2, before_line(9, "half = (\n"));
    let found = client.diagnostics(&uri, Some(2));
    assert_eq!(line(&found, "TP207"), 4);
    client.change(&uri, 3, before_line(0, "# above\n"));
    let found = client.diagnostics(&uri, Some(3));
    assert_eq!(
        (line(&found, "TP207"), line(&found, "TP205")),
        (json!(5), json!(7))
    );
    client.finish();
}

#[test]
fn what_rests_on_a_space_comes_when_nothing_is_typed_and_then_stays_with_its_line() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/space.py");
    client.open(&uri, SPACE);
    let found = pushed(&mut client, &uri, 1, &["TP105", "TP104", "TP109"]);
    let large = one(&found, "TP105");
    assert_eq!(large["range"]["start"], json!({"line": 5, "character": 4}));
    assert!(large["message"].as_str().unwrap().contains("48"), "{large}");
    // In the answers to keys as well, on the line where it now is.
    for version in 2..10 {
        client.change(&uri, version, before_line(0, "# a line\n"));
    }
    let mut answered = 1;
    while answered < 9 {
        let published = client.notification(PUBLISHED);
        answered = published["version"].as_i64().expect("a version");
        let found = published["diagnostics"].as_array().expect("a list");
        let line = &one(found, "TP105")["range"]["start"]["line"];
        assert_eq!(line, 5 + answered - 1, "{published}");
    }
    // A space that is small enough: gone, a moment later.
    let smaller = SPACE.replace("(32, 64, 128, 256)", "(32, 64)");
    client.change(&uri, 10, json!([{ "text": smaller }]));
    pushed(&mut client, &uri, 10, &["TP104", "TP109"]);
    client.finish();
}

#[test]
fn what_rests_on_another_file_follows_it() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/launch.py");
    client.open(&uri, LAUNCH);
    let found = pushed(&mut client, &uri, 1, &["TP201"]);
    assert_eq!(found[0]["severity"], 1);
    assert_eq!(found[0]["relatedInformation"][0]["location"]["uri"], uri);
    // The kernel takes a constant there now.
    let other = KERNEL.replace("double(x, n,", "double(x, n: ct.Constant[int],");
    project.write("pkg/kernel.py", other);
    let changed = json!({"changes": [{"uri": project.uri("pkg/kernel.py"), "type": 2}]});
    client.notify("workspace/didChangeWatchedFiles", changed);
    pushed(&mut client, &uri, 1, &[]);
    client.finish();
}

#[test]
fn what_is_typed_in_one_file_is_seen_from_another() {
    let (project, mut client) = start(json!({}));
    let (kernel, launch) = (project.uri("pkg/kernel.py"), project.uri("pkg/launch.py"));
    client.open(&launch, LAUNCH);
    pushed(&mut client, &launch, 1, &["TP201"]);
    client.open(&kernel, KERNEL);
    assert_eq!(codes(&settled(&mut client, &kernel, 1)), IN_KERNEL);
    // The kernel takes a constant there, one argument less, and what it took before: nothing of it
    // is saved, and the file that launches it is not touched.
    let constant = KERNEL.replace("double(x, n,", "double(x, n: ct.Constant[int],");
    let shorter = KERNEL.replace("double(x, n,", "double(x,");
    for (version, text, wanted) in [
        (2, constant.as_str(), &[][..]),
        (3, &shorter, &["TP208"]),
        (4, KERNEL, &["TP201"]),
    ] {
        client.change(&kernel, version, json!([{ "text": text }]));
        pushed(&mut client, &launch, 1, wanted);
    }
    // Closed without saving: what is on disk counts.
    client.change(&kernel, 5, json!([{ "text": constant }]));
    pushed(&mut client, &launch, 1, &[]);
    client.close(&kernel);
    pushed(&mut client, &launch, 1, &["TP201"]);
    client.finish();
}

#[test]
fn a_file_that_nothing_changes_in_is_not_told_again() {
    let (project, mut client) = start(json!({}));
    let (kernel, launch) = (project.uri("pkg/kernel.py"), project.uri("pkg/launch.py"));
    client.open(&launch, LAUNCH);
    pushed(&mut client, &launch, 1, &["TP201"]);
    client.open(&kernel, KERNEL);
    settled(&mut client, &kernel, 1);
    client.change(&kernel, 2, before_line(0, "# a line\n"));
    client.diagnostics(&kernel, Some(2));
    let again = client.has_within(PUBLISHED, std::time::Duration::from_secs(1));
    assert!(!again, "the same again");
    client.finish();
}

#[test]
fn an_answer_comes_twice_only_if_something_was_added() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    assert_eq!(codes(&settled(&mut client, &uri, 1)), IN_KERNEL);
    client.change(&uri, 2, before_line(0, "# a line\n"));
    assert_eq!(codes(&client.diagnostics(&uri, Some(2))), IN_KERNEL);
    let again = client.has_within(PUBLISHED, std::time::Duration::from_secs(1));
    assert!(!again, "the same again");
    client.finish();
}
