//! The forms that are text.

use crate::report::{applied, applied_in, html, markdown, pull_request, summary};

use super::scenes;

#[test]
fn reports_as_markdown() {
    for (name, session) in scenes::all() {
        insta::assert_snapshot!(format!("markdown_{name}"), markdown(&session));
    }
}

#[test]
fn summaries() {
    for (name, session) in scenes::all() {
        insta::assert_snapshot!(format!("summary_{name}"), summary(&session));
    }
}

#[test]
fn single_optimizations() {
    let shown = |session| applied(&session, 1).expect("has an iteration");
    insta::assert_snapshot!("applied_kept", shown(scenes::kept()));
    insta::assert_snapshot!("applied_slower", shown(scenes::slower()));
    insta::assert_snapshot!("applied_wrong", shown(scenes::wrong()));
    insta::assert_snapshot!("applied_crash", shown(scenes::crash()));
    insta::assert_snapshot!("applied_undone", shown(scenes::undone()));
    insta::assert_snapshot!("applied_rates", shown(scenes::rates_only()));
    insta::assert_snapshot!("applied_fix", shown(scenes::fix()));
}

#[test]
fn what_is_no_iteration_was_not_applied() {
    assert_eq!(applied(&scenes::kept(), 0), None);
    assert_eq!(applied(&scenes::kept(), 2), None);
    assert_eq!(applied(&scenes::cancelled(), 1), None);
}

#[test]
fn what_came_to_no_iteration_is_reported_by_its_run() {
    let session = scenes::same_code();
    let run = session.runs.last().map_or(0, |r| r.run);
    let shown = applied_in(&session, run).expect("something was tried");
    for part in [
        "- [x] Code compatibility verified: it compiles, the same cubin",
        "NO CHANGE: ",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert_eq!(applied_in(&session, 0), None, "the baseline");
    assert_eq!(applied_in(&session, run + 1), None);
}

/// Of a program's last words a summary has the line that says why, once, and where the rest is.
#[test]
fn a_baseline_that_broke_is_told_in_a_line() {
    let session = scenes::broken_baseline();
    let said = "the benchmark hung up: ModuleNotFoundError: No module named 'torch' (all of it in \
                sandbox/tileperf/scale\\_kernel-20261129/runs/000)";
    let short = summary(&session);
    assert_eq!(short.matches("torch").count(), 1, "{short}");
    for shown in [&short, &markdown(&session)] {
        let shown = shown.replace("scale_kernel", "scale\\_kernel");
        assert!(shown.contains(said), "{shown}");
    }
    // The whole report has all of it.
    assert!(!short.contains("in 0.05s") && markdown(&session).contains("in 0.05s"));
}

/// An experiment is told as one and changes nothing else of what is said.
#[test]
fn experiments_are_apart() {
    let session = scenes::experiment();
    let said = "without token order";
    let found = "11.31 % faster, 1 test failed; never kept";
    for shown in [markdown(&session), html(&session)] {
        assert!(shown.contains("Experiments"), "{shown}");
        assert!(shown.contains(said) && shown.contains(found), "{shown}");
        assert!(!shown.contains("Runs without a result"), "{shown}");
    }
    let plain = scenes::baseline_only();
    assert!(!markdown(&plain).contains("Experiments"));
    assert_eq!(session.rows(), plain.rows());
    assert_eq!(session.iterations(), 0);
    assert!(!summary(&session).contains(said));
}

#[test]
fn pull_requests() {
    for (name, session) in [
        ("finished", scenes::finished()),
        ("fix", scenes::fix()),
        ("slower", scenes::slower()),
    ] {
        let (title, body) = pull_request(&session);
        insta::assert_snapshot!(format!("pull_request_{name}"), format!("{title}\n\n{body}"));
    }
}

#[test]
fn a_pull_request_names_no_machine_and_no_path_outside() {
    for (name, session) in scenes::all() {
        let (title, body) = pull_request(&session);
        for private in ["node-17", "/repo", "/venv"] {
            assert!(!title.contains(private), "{name}: {title}");
            assert!(!body.contains(private), "{name}: {body}");
        }
    }
}

/// The lines of the seed's two forms, in order.
#[test]
fn the_forms_have_their_headings() {
    let applied = applied(&scenes::kept(), 1).expect("has an iteration");
    let summary = summary(&scenes::finished());
    for (text, lines) in [
        (
            &applied,
            &[
                "## Optimization Applied: ",
                "### Prerequisites Checked",
                "- [x] Code compatibility verified",
                "- [x] Hardware requirements met",
                "### Implementation",
                "- Specialist: ",
                "- Changes: ",
                "### Validation",
                "| Metric | Before | After | Change |",
                "|--------|--------|-------|--------|",
                "| Throughput |",
                "| Latency |",
                "### Result",
                "SUCCESS: Achieved ",
            ][..],
        ),
        (
            &summary,
            &[
                "## Optimization Summary",
                "**Goal**: ",
                "**Starting Point**: ",
                "**Result**: ",
                "### Optimizations Applied (in order)",
                "1. **",
                "   - Impact: ",
                "   - Status: Applied",
                "2. **",
                "   - Status: Rolled back",
                "### Cumulative Results",
                "| Metric | Baseline | Final | Total Change |",
                "|--------|----------|-------|--------------|",
                "| Throughput |",
                "| Latency |",
                "| SOL% |",
                "### Remaining Opportunities",
                "- ",
            ][..],
        ),
    ] {
        let mut rest = text.lines();
        for line in lines {
            assert!(rest.any(|l| l.starts_with(line)), "{line:?} in\n{text}");
        }
    }
}
