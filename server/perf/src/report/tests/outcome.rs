//! The final number, and how it is known.

use crate::report::result::{Basis, Outcome};
use crate::report::{applied, html, markdown, pull_request, summary};
use crate::verdict::Verdict;

use super::journal::{Journal, times};
use super::scenes;

#[test]
fn kept_changes_multiply_and_their_intervals_add_up_in_squares() {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    journal.timed("a", &[(-0.08, 0.003); 3]);
    journal.timed("b", &[(-0.05, 0.004); 3]);
    let session = journal.session();
    let outcome = Outcome::of(&session).expect("has a baseline");
    assert_eq!(outcome.basis, Basis::Chained);
    assert!((outcome.last / outcome.first - (-0.13f64).exp()).abs() < 1e-9);
    assert_eq!(outcome.lines.len(), 3);
    for line in &outcome.lines {
        let estimate = &line.verdict.estimate;
        assert!((estimate.effect - -0.13).abs() < 1e-9);
        assert!((estimate.high - (-0.13 + 0.005)).abs() < 1e-9);
        assert!((estimate.low - (-0.13 - 0.005)).abs() < 1e-9);
        assert_eq!(estimate.pairs, 60);
        assert_eq!(line.verdict.verdict, Verdict::Faster);
    }
}

#[test]
fn undoing_the_last_change_leaves_what_was_timed_before() {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    journal.timed("a", &[(-0.08, 0.003); 3]);
    journal.timed("b", &[(-0.05, 0.004); 3]);
    journal.undone(2, 1);
    let session = journal.session();
    let outcome = Outcome::of(&session).expect("has a baseline");
    assert_eq!(outcome.basis, Basis::Paired);
    assert!((outcome.last / outcome.first - (-0.08f64).exp()).abs() < 1e-9);
    journal.undone(1, 0);
    let session = journal.session();
    let outcome = Outcome::of(&session).expect("has a baseline");
    assert_eq!(outcome.basis, Basis::Unchanged);
    assert_eq!(outcome.last, outcome.first);
}

#[test]
fn a_combination_that_was_never_timed_is_an_estimate_without_what_was_undone() {
    let session = scenes::undone();
    let outcome = Outcome::of(&session).expect("has a baseline");
    assert_eq!(outcome.basis, Basis::Recombined);
    assert!((outcome.last / outcome.first - (-0.03f64).exp()).abs() < 1e-9);
    assert!(markdown(&session).contains("the code as it stands was never timed"));
}

#[test]
fn a_change_on_top_of_an_undone_middle_stays_an_estimate() {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    journal.timed("a", &[(-0.08, 0.003); 3]);
    journal.timed("b", &[(-0.05, 0.004); 3]);
    journal.undone(1, 50);
    journal.timed("c", &[(-0.03, 0.003); 3]);
    let session = journal.session();
    let outcome = Outcome::of(&session).expect("has a baseline");
    assert_eq!(outcome.basis, Basis::Recombined);
    assert!((outcome.last / outcome.first - (-0.08f64).exp()).abs() < 1e-9);
}

#[test]
fn right_results_are_not_compared_with_wrong_ones() {
    let session = scenes::fix();
    let outcome = Outcome::of(&session).expect("has a baseline");
    assert_eq!(outcome.origin.iteration, 1);
    assert_eq!(outcome.basis, Basis::Paired);
    assert!((outcome.last / outcome.first - (-0.08f64).exp()).abs() < 1e-9);
    let applied = applied(&session, 1).expect("has an iteration");
    assert!(!applied.contains('%'), "{applied}");
}

/// What would be a number nobody can place: each table of times is followed, or led, by where and when.
#[test]
fn no_table_of_times_stands_without_where_and_when() {
    for (name, session) in scenes::all() {
        if session.baseline().is_none() {
            continue;
        }
        let (_, body) = pull_request(&session);
        for report in [markdown(&session), summary(&session), body, html(&session)] {
            let placed = report
                .to_lowercase()
                .contains("measured on nvidia h200 (sm_90), 2026-");
            assert!(placed, "{name}: {report}");
        }
        let page = html(&session);
        for table in super::page::parse(&page)
            .descendants()
            .filter(|n| n.tag_name().name() == "caption")
        {
            let text = table.text().unwrap_or_default();
            assert!(text.contains("easured on NVIDIA H200"), "{name}: {text}");
        }
    }
}
