//! A whole session in the form "Optimization Summary".

use std::fmt::Write as _;

use crate::event::RunKind;
use crate::records::Status;
use crate::session::{Phase, Run, Session};
use crate::verdict::Why;

use super::applied::{compact_percent, metric_rows};
use super::briefly;
use super::escape::text;
use super::gaps::why_no_baseline;
use super::measured_on;
use super::quantity::Quantity;
use super::result::{self, Basis, Outcome};
use super::words;

/// The summary of a session.
pub fn summary(session: &Session) -> String {
    let outcome = Outcome::of(session);
    let mut out = String::from("## Optimization Summary\n\n");
    heading(&mut out, session, outcome.as_ref());
    out.push_str("\n### Optimizations Applied (in order)\n\n");
    applied(&mut out, session);
    out.push_str("\n### Cumulative Results\n");
    cumulative(&mut out, session, outcome.as_ref());
    out.push_str("\n### Remaining Opportunities\n");
    for left in remaining(session) {
        let _ = writeln!(out, "- {}", text(&left));
    }
    out
}

fn heading(out: &mut String, session: &Session, outcome: Option<&Outcome>) {
    let quantity = Quantity::of(session).unwrap_or(Quantity::Time);
    let name = quantity.name();
    let goal = match &session.plan.goal {
        Some(goal) => goal.to_string(),
        None => format!("none set; the best {name} that the rules keep"),
    };
    let _ = writeln!(out, "**Goal**: {}", text(&goal));
    let verdict = result::goal(session, outcome).map(|(_, words)| words);
    let Some(outcome) = outcome.filter(|o| o.is_known()) else {
        let why = format!("none: iteration 0 {}", why_no_baseline(session));
        let _ = writeln!(out, "**Starting Point**: {}", text(&why));
        let result = verdict.unwrap_or_else(|| "none".to_owned());
        let _ = writeln!(out, "**Result**: {}", text(&result));
        return;
    };
    let _ = writeln!(
        out,
        "**Starting Point**: {name} {} of {} ({})",
        quantity.exact(outcome.first),
        outcome.origin_in_words(),
        text(&measured_on::when_and_where_inside(outcome.origin))
    );
    let estimate = match outcome.basis {
        Basis::Chained | Basis::Recombined => ", an estimate from changes timed one by one",
        Basis::Unchanged | Basis::Paired => "",
    };
    let abandoned = match session.phase {
        Phase::Abandoned => "; then abandoned, nothing of this is in the code",
        _ => "",
    };
    let _ = writeln!(
        out,
        "**Result**: {name} {} ({}{estimate}), {}{abandoned}",
        quantity.exact(outcome.last),
        compact_percent(quantity.value(outcome.last) / quantity.value(outcome.first) - 1.0),
        text(&verdict.unwrap_or_else(|| "no goal was set".to_owned()))
    );
}

fn applied(out: &mut String, session: &Session) {
    let mut last = None;
    let mut number = 0;
    for (run, row) in result::iterations(session) {
        if row.iteration > 0 {
            number += 1;
            let _ = writeln!(out, "{number}. **{}**", text(&row.optimization));
            let _ = writeln!(out, "   - Impact: {}", text(&impact(session, run, last)));
            let _ = writeln!(out, "   - Status: {}\n", status(session, run, row.status));
        }
        if run.kept {
            last = Some(row.latency_ms);
        }
    }
    if number == 0 {
        out.push_str("None was tried to the end.\n");
    } else {
        // One blank line between sections, not two.
        out.pop();
    }
}

fn status(session: &Session, run: &Run, status: Status) -> &'static str {
    match (status, run.undone) {
        (Status::Keep, _) if session.phase == Phase::Abandoned => {
            "Rolled back (applied, then the session was abandoned)"
        }
        (Status::Keep, false) => "Applied",
        (Status::Keep, true) => "Rolled back (applied, undone later)",
        (Status::Revert | Status::Crash, _) => "Rolled back",
    }
}

fn impact(session: &Session, run: &Run, before: Option<f64>) -> String {
    let Some((candidate, decision)) = &run.decision else {
        return words::capital(&briefly::end(session, run));
    };
    let (Some(before), Some(row)) = (before, &run.row) else {
        return "not known".to_owned();
    };
    match &decision.why {
        Why::Incorrect { .. } | Why::Unverified => {
            return format!(
                "Wrong results: {}",
                words::correctness(&candidate.correctness)
            );
        }
        Why::Slower | Why::Mixed | Why::SlowerThanStart { .. } => {
            return format!("Regression detected: {}", words::verdict(decision));
        }
        Why::Fixed | Why::Lost { .. } | Why::MeasuringError { .. } | Why::NothingMeasured => {
            return words::capital(&words::verdict(decision));
        }
        Why::LargeGain
        | Why::MediumGain
        | Why::SmallGain
        | Why::SameProgram
        | Why::NoImprovement => {}
    }
    let quantity = Quantity::of(session).unwrap_or(Quantity::Time);
    format!(
        "{} --> {} ({})",
        quantity.exact(before),
        quantity.exact(row.latency_ms),
        compact_percent(quantity.value(row.latency_ms) / quantity.value(before) - 1.0)
    )
}

fn cumulative(out: &mut String, session: &Session, outcome: Option<&Outcome>) {
    out.push_str(
        "| Metric | Baseline | Final | Total Change |\n\
         |--------|----------|-------|--------------|\n",
    );
    let quantity = Quantity::of(session).unwrap_or(Quantity::Time);
    let totals = outcome.filter(|o| o.is_known()).map(|o| (o.first, o.last));
    // Why stands above.
    out.push_str(&metric_rows(quantity, totals, "there is no iteration 0"));
    out.push_str(
        "| SOL% | not measured | not measured | the least time that the device allows is not known |\n",
    );
}

/// What could still be tried, as far as the session knows. It has no list of its own: changes come
/// from the user, the playbook or an agent.
fn remaining(session: &Session) -> Vec<String> {
    let mut left = Vec::new();
    for run in session.runs.iter().filter(|r| r.kind == RunKind::Iteration) {
        let name = run.tried.as_ref().map_or("", |t| t.optimization.as_str());
        if run.row.is_none() && !was_measured(session, run) {
            left.push(format!(
                "{name}: not tried to the end, {}",
                briefly::end(session, run)
            ));
        }
        if let Some((_, decision)) = &run.decision
            && decision.offers_shape_gate()
        {
            left.push(format!(
                "{name}, gated by shape: faster in {}; rolled back because it is slower in {}",
                words::names(&decision.faster),
                words::names(&decision.slower)
            ));
        }
    }
    if left.is_empty() {
        left.push("None known: everything that was begun was measured".to_owned());
    }
    left
}

/// Whether the same change has a result, here or in another run.
fn was_measured(session: &Session, run: &Run) -> bool {
    use crate::event::RunEnd;
    if matches!(
        run.end,
        Some(RunEnd::Cited { .. } | RunEnd::NoChange | RunEnd::NothingToTry)
    ) {
        return true;
    }
    let candidate = run.tried.as_ref().map(|t| &t.candidate);
    (session.runs.iter())
        .any(|r| r.row.is_some() && r.tried.as_ref().map(|t| &t.candidate) == candidate)
}
