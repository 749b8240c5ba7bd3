//! `tileperf check` and `explain` as people, programs and CI use them.

mod watch;

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tileperf_tests::process::server_binary;
use tileperf_tests::project::Project;

/// A warning with a fix, and a wrong import with one; a name that two encodings count differently.
const BAD: &str = "\
# 漢字 😀
import cuda.tile as ct


@ct.kernel(occupancy=2)
def scale(x, y, BLOCK: ct.Constant[int]):
    index = ct.bid(0)
    ct.store(y, index=(index,), tile=ct.load(x, index=(index,), shape=(BLOCK,)) * 2)


def run(x, y, stream):
    ct.launch(of(\"😀\", stream), (64,), scale.replace_hints(occupancy=4), (x, y, 128))
";

fn tileperf(project: &Project, args: &[&str]) -> Output {
    Command::new(server_binary())
        .args(args)
        .current_dir(project.folder())
        .env("NO_COLOR", "1")
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn findings(output: &Output) -> Vec<Value> {
    text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object a line"))
        .collect()
}

fn codes(output: &Output) -> Vec<String> {
    let of = |f: &Value| f["code"].as_str().expect("a code").to_owned();
    findings(output).iter().map(of).collect()
}

fn project(text: &str) -> Project {
    let project = Project::empty();
    project.write("pkg/a.py", text);
    project
}

#[test]
fn a_finding_is_an_object_with_a_place_in_code_points() {
    let project = project(BAD);
    let output = tileperf(
        &project,
        &["check", ".", "--format", "json", "--select", "TP101"],
    );
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let found = findings(&output);
    assert_eq!(found.len(), 1, "{found:#?}");
    let finding = &found[0];
    assert_eq!(finding["schema"], "tileperf.check/1");
    assert_eq!(finding["path"], "pkg/a.py");
    assert_eq!(finding["code"], "TP101");
    assert_eq!(finding["slug"], "replace-hints-hot-path");
    assert_eq!(finding["severity"], "warning");
    let line = BAD
        .lines()
        .position(|l| l.contains("replace_hints"))
        .unwrap();
    assert_eq!(finding["line"], line + 1);
    let before = BAD
        .lines()
        .nth(line)
        .unwrap()
        .split("replace_hints")
        .next()
        .unwrap();
    assert_eq!(finding["column"], before.chars().count() + 1);
    assert!(finding["message"].as_str().unwrap().contains("scale"));
    assert!(finding["fix"]["title"].is_string(), "{finding}");
}

#[test]
fn the_exit_code_says_what_was_found() {
    let clean = project("import cuda.tile as ct\n");
    assert_eq!(tileperf(&clean, &["check", "."]).status.code(), Some(0));
    let hints = project(BAD);
    let output = tileperf(&hints, &["check", ".", "--select", "TP4"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let missing = tileperf(&hints, &["check", "nowhere"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("nowhere"));
    let unknown = tileperf(
        &hints,
        &["check", ".", "--select", "TP9", "--format", "json"],
    );
    assert!(
        text(&unknown.stderr).contains("TP9"),
        "{}",
        text(&unknown.stderr)
    );
}

#[test]
fn what_cannot_be_read_is_told_after_the_rest_was_checked() {
    let project = project(BAD);
    let mut broken = BAD.as_bytes().to_vec();
    broken.extend(b"# caf\xe9\n");
    project.write("pkg/latin.py", &broken);
    // Nothing of cuTile: of no interest unless it is named.
    project.write("other.py", b"x = '\xe9'\n");
    for (args, told, files) in [
        (&["nowhere", "pkg/a.py"][..], &["nowhere"][..], 1),
        (&["pkg/a.py"], &[], 1),
        (&["pkg/latin.py"], &["pkg/latin.py"], 1),
        (&["other.py", "pkg/a.py"], &["other.py"], 1),
        (&["."], &["pkg/latin.py"], 2),
        (
            &["nowhere", ".", "gone.py"],
            &["nowhere", "gone.py", "pkg/latin.py"],
            2,
        ),
        (&["nowhere"], &["nowhere"], 0),
    ] {
        let mut all = vec!["check", "--select", "TP101"];
        all.extend(args);
        for format in ["text", "json", "sarif", "github"] {
            let output = tileperf(&project, &[&all[..], &["--format", format]].concat());
            let code = if told.is_empty() { 1 } else { 2 };
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
            let lines: Vec<_> = said.lines().collect();
            assert_eq!(lines.len(), told.len(), "{args:?}: {said}");
            for (line, name) in lines.iter().zip(told) {
                let begin = format!("tileperf: cannot read {name}: ");
                assert!(line.starts_with(&begin), "{said}");
            }
            let found = match format {
                "json" => findings(&output).len(),
                "sarif" => {
                    let log: Value = serde_json::from_slice(&output.stdout).expect("SARIF");
                    log["runs"][0]["results"].as_array().expect("a list").len()
                }
                "github" => text(&output.stdout).lines().count(),
                _ => text(&output.stdout).matches("[TP101]").count(),
            };
            assert_eq!(found, files, "{args:?} {format}");
        }
    }
}

#[test]
fn people_see_the_line_of_code() {
    let project = project(BAD);
    let output = tileperf(&project, &["check", "pkg/a.py", "--select", "TP101"]);
    let shown = text(&output.stdout);
    for part in [
        "warning[TP101]",
        "pkg/a.py:12:",
        "replace_hints(occupancy=4)",
        "^^^^",
        "tileperf explain replace-hints-hot-path",
        "1 warning in 1 file",
    ] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn reports_of_ci_are_well_formed() {
    let project = project(BAD);
    let output = tileperf(
        &project,
        &["check", ".", "--select", "TP101", "--format", "sarif"],
    );
    let sarif: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let result = &run["results"][0];
    assert_eq!(result["ruleId"], "TP101");
    let index = result["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(run["tool"]["driver"]["rules"][index]["id"], "TP101");
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "pkg/a.py");
    assert_eq!(location["region"]["startLine"], 12);
    let output = tileperf(
        &project,
        &["check", ".", "--select", "TP101", "--format", "github"],
    );
    let line = text(&output.stdout);
    assert!(
        line.starts_with("::warning file=pkg/a.py,line=12,"),
        "{line}"
    );
    assert_eq!(line.lines().count(), 1);
}

#[test]
fn a_fix_is_shown_and_made_and_made_only_once() {
    let project = project(BAD);
    let args = ["check", ".", "--select", "TP101", "--review-fixes"];
    let diff = tileperf(&project, &[&args[..], &["--diff"]].concat());
    assert_eq!(diff.status.code(), Some(1));
    let shown = text(&diff.stdout);
    assert!(
        shown.contains("-    ct.launch(") && shown.contains("+++ pkg/a.py"),
        "{shown}"
    );
    let path = project.folder().join("pkg/a.py");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), BAD);

    let fixed = tileperf(&project, &[&args[..], &["--fix"]].concat());
    assert_eq!(fixed.status.code(), Some(0), "{}", text(&fixed.stdout));
    let after = std::fs::read_to_string(&path).unwrap();
    assert_ne!(after, BAD);
    assert!(after.starts_with("# 漢字 😀\n"));
    let again = tileperf(&project, &[&args[..], &["--fix"]].concat());
    assert_eq!(again.status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
}

#[test]
fn a_file_that_is_not_utf_8_is_never_written() {
    let project = Project::empty();
    let mut bytes = BAD.as_bytes().to_vec();
    bytes.extend(b"# caf\xe9\n");
    let path = project.write("pkg/a.py", &bytes);
    let args = ["check", ".", "--select", "TP101", "--fix", "--review-fixes"];
    let output = tileperf(&project, &args);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("UTF-8"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn comments_and_settings_silence_rules() {
    let quiet = |text: String, settings: &str| {
        let project = project(&text);
        if !settings.is_empty() {
            project.write("tileperf.toml", settings);
        }
        codes(&tileperf(&project, &["check", ".", "--format", "json"]))
            .iter()
            .all(|code| code != "TP101")
    };
    assert!(!quiet(BAD.to_owned(), ""));
    let marked = |mark: &str| BAD.replace("(x, y, 128))", &format!("(x, y, 128))  # {mark}"));
    assert!(quiet(
        marked("tileperf: ignore[replace-hints-hot-path]"),
        ""
    ));
    assert!(quiet(marked("tileperf: ignore[TP207, tp101]"), ""));
    assert!(quiet(marked("tileperf: ignore"), ""));
    assert!(!quiet(marked("tileperf: ignore[TP102]"), ""));
    assert!(quiet(format!("# tileperf: ignore[TP101]\n{BAD}"), ""));
    assert!(!quiet(format!("{BAD}# tileperf: ignore[TP101]\n"), ""));
    assert!(quiet(BAD.to_owned(), "rules.ignore = [\"TP101\"]\n"));
    assert!(quiet(BAD.to_owned(), "rules.select = [\"TP2\"]\n"));
}

#[test]
fn severities_are_the_projects() {
    let project = project(BAD);
    project.write("tileperf.toml", "rules.severity = { TP101 = \"error\" }\n");
    let output = tileperf(
        &project,
        &["check", ".", "--select", "TP101", "--format", "json"],
    );
    assert_eq!(findings(&output)[0]["severity"], "error");
}

#[test]
fn a_baseline_leaves_out_what_was_there() {
    let project = project(BAD);
    let args = ["check", ".", "--select", "TP101", "--baseline", "base.json"];
    let missing = tileperf(&project, &args);
    assert_eq!(missing.status.code(), Some(2));
    let written = tileperf(&project, &[&args[..], &["--write-baseline"]].concat());
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    assert_eq!(tileperf(&project, &args).status.code(), Some(0));
    // Lines may move; one more of the same is new.
    let more = BAD.replace("def run(", "\n\ndef run(");
    project.write("pkg/a.py", &more);
    assert_eq!(tileperf(&project, &args).status.code(), Some(0));
    let twice = format!(
        "{more}\n\n{}",
        &more[more.find("def run(").unwrap()..].replace("run(", "again(")
    );
    project.write("pkg/a.py", twice);
    let output = tileperf(&project, &[&args[..], &["--format", "json"]].concat());
    assert_eq!(codes(&output), ["TP101"]);
    project.write("base.json", "{}");
    assert_eq!(tileperf(&project, &args).status.code(), Some(2));
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let project = Project::empty();
    let run = |args: &[&str], input: &[u8]| {
        let mut child = Command::new(server_binary())
            .args(["check", "-"])
            .args(args)
            .current_dir(project.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap()
    };
    let args = [
        "--format",
        "json",
        "--select",
        "TP101",
        "--stdin-filename",
        "x/y.py",
    ];
    let output = run(&args, BAD.as_bytes());
    assert_eq!(findings(&output)[0]["path"], "x/y.py");
    let fixed = run(
        &["--fix", "--review-fixes", "--select", "TP101"],
        BAD.as_bytes(),
    );
    assert!(
        text(&fixed.stdout).starts_with("# 漢字 😀\n"),
        "{}",
        text(&fixed.stdout)
    );
    assert_ne!(text(&fixed.stdout), BAD);
    assert_eq!(run(&[], b"\xff\xfe").status.code(), Some(2));
}

#[test]
fn broken_python_is_no_reason_to_fail() {
    let broken = BAD.replace("def run(x, y, stream):", "def run(x, y, stream:");
    for content in [
        broken.as_bytes(),
        b"import cuda.tile as ct\n@ct.kernel\ndef k(x",
        b"import cuda.tile as ct\nx = '''",
        b"cuda.tile\0\0\0",
        b"",
    ] {
        let project = Project::empty();
        project.write("a.py", content);
        let output = tileperf(&project, &["check", ".", "--format", "json"]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
        let fixed = tileperf(&project, &["check", ".", "--fix", "--review-fixes"]);
        assert!(matches!(fixed.status.code(), Some(0 | 1)), "{fixed:?}");
    }
}

#[test]
fn rules_look_across_files_and_architectures() {
    let project = Project::empty();
    project.write("pkg/__init__.py", "");
    project.write(
        "pkg/spaces.py",
        "from types import SimpleNamespace\n\n\ndef configs():\n    for m in (16, 32, 64, 128):\n        for n in (16, 32, 64, 128):\n            for o in (1, 2, 4):\n                yield SimpleNamespace(m=m, n=n, o=o)\n",
    );
    project.write(
        "pkg/run.py",
        "import cuda.tile as ct\nfrom cuda.tile.tune import exhaustive_search\n\nfrom .spaces import configs\n\n\n@ct.kernel\ndef k(x, M: ct.Constant[int]):\n    ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (M,)) + 1)\n\n\ndef tune(x, stream):\n    return exhaustive_search(\n        list(configs()), stream, lambda c: (1,), k, lambda c: (x.clone(), c.m)\n    )\n",
    );
    let args = ["check", ".", "--select", "TP105", "--format", "json"];
    let found = findings(&tileperf(&project, &args));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0]["message"].as_str().unwrap().contains("48"),
        "{}",
        found[0]
    );
}

#[test]
fn rules_are_explained() {
    let project = Project::empty();
    let all = text(&tileperf(&project, &["explain"]).stdout);
    assert!(all.lines().count() > 50, "{all}");
    for name in ["TP101", "tp101", "replace-hints-hot-path"] {
        let output = tileperf(&project, &["explain", name]);
        assert!(text(&output.stdout).contains("```python"));
    }
    let unknown = tileperf(&project, &["explain", "TP000"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("TP000"));
}
