//! The whole report as Markdown.

use std::fmt::Write as _;

use crate::event::RunKind;
use crate::readings::Key;
use crate::records::{Row, Status};
use crate::session::{Phase, Run, Session};
use crate::stats::Noise;

use super::escape::{code, text};
use super::gaps::{gaps, why_no_baseline};
use super::measured_on;
use super::quantity::{Quantity, is_cost};
use super::result::{self, Line, Outcome, is_carried, run_total};
use super::words;

/// The report of a session.
pub fn markdown(session: &Session) -> String {
    let outcome = Outcome::of(session);
    let mut out = format!("# Performance of {}\n\n", code(&session.plan.kernel));
    heading(&mut out, session, outcome.as_ref());
    out.push_str("\n## Iterations\n\n");
    out.push_str(&iterations(session));
    if let Some(outcome) = outcome.as_ref().filter(|o| !o.lines.is_empty()) {
        out.push_str("\n## Final result by configuration\n\n");
        out.push_str(&final_lines(outcome));
    }
    for run in session.runs.iter().filter(|r| r.kind == RunKind::Iteration) {
        if run.row.is_some() {
            iteration(&mut out, session, run);
        }
    }
    noise(&mut out, session);
    experiments(&mut out, session);
    without_result(&mut out, session);
    let gaps = gaps(session, outcome.as_ref());
    out.push_str("\n## Not measured\n\n");
    if gaps.is_empty() {
        out.push_str("Nothing is missing.\n");
    }
    gaps.iter()
        .for_each(|gap| _ = writeln!(out, "{}", gap.markdown()));
    method(&mut out, session);
    out
}

fn heading(out: &mut String, session: &Session, outcome: Option<&Outcome>) {
    let _ = writeln!(out, "{}\n", text(&headline(session, outcome)));
    let plan = &session.plan;
    let mut facts = vec![
        ("kernel", code(&plan.kernel)),
        ("file", code(&words::inside(&session.root, &plan.file))),
    ];
    if let Some(op) = &plan.op {
        facts.push(("op", code(op)));
    }
    facts.push(("session", code(&session.name)));
    if let Some(git) = &session.git {
        let from = match &git.branch {
            Some(branch) => format!("{} at {}", code(branch), code(short(&git.commit))),
            None => code(short(&git.commit)),
        };
        facts.push(("started from", from));
    }
    facts.push(("state", text(&words::phase(session.phase))));
    if let Some((_, goal)) = result::goal(session, outcome) {
        facts.push(("goal", text(goal.trim_start_matches("goal "))));
    }
    if let (Some(first), Some(last)) = (session.runs.first(), session.runs.last()) {
        let spent: f64 = session.runs.iter().map(|r| r.seconds).sum();
        facts.push((
            "runs",
            format!(
                "{}, the first {}, the last {}, {} in all",
                words::count(session.runs.len(), "run", "runs"),
                text(&words::moment(&first.began)),
                text(&words::moment(&last.began)),
                words::duration(spent)
            ),
        ));
    }
    if let Some(run) = session.current().or(session.runs.last()) {
        facts.push(("device", text(&words::device(&run.device))));
    }
    out.push_str("| | |\n|:--|:--|\n");
    for (name, value) in facts {
        let _ = writeln!(out, "| {name} | {value} |");
    }
}

/// The result in one sentence, unescaped.
pub(super) fn headline(session: &Session, outcome: Option<&Outcome>) -> String {
    let Some(outcome) = outcome.filter(|o| o.is_known()) else {
        return format!("No result: iteration 0 is {}.", why_no_baseline(session));
    };
    let abandoned = match session.phase {
        Phase::Abandoned => "Abandoned, nothing of this is in the code. ",
        _ => "",
    };
    let quantity = Quantity::of(session).unwrap_or(Quantity::Time);
    let name = quantity.name();
    if outcome.chain.is_empty() {
        let fixed = match outcome.origin.iteration {
            0 => String::new(),
            _ => " The results are right now; speed was not compared with the wrong original."
                .to_owned(),
        };
        return format!(
            "{abandoned}No faster code was kept: the {name} is {}.{fixed} {}.",
            quantity.exact(outcome.last),
            measured_on::where_and_when(outcome.origin)
        );
    }
    let pairs = match outcome.total {
        Some(total) => format!(
            " In pairs, the time changed by {} ({} to {}).",
            words::percent(total.change()),
            words::percent(total.low.exp_m1()),
            words::percent(total.high.exp_m1())
        ),
        None => String::new(),
    };
    format!(
        "{abandoned}The {name} went from {} to {} ({}, {:.3}x).{pairs} {}",
        quantity.exact(outcome.first),
        quantity.exact(outcome.last),
        words::percent(quantity.value(outcome.last) / quantity.value(outcome.first) - 1.0),
        outcome.first / outcome.last,
        outcome.basis_in_words()
    )
}

/// The table of iterations: its five columns, the change and the verdict.
pub(super) fn iterations(session: &Session) -> String {
    let mut out = String::from(
        "| iteration | optimization | latency_ms | correctness | status | change | verdict |\n\
         |----------:|:-------------|-----------:|:------------|-------:|-------:|:--------|\n",
    );
    let (mut rows, mut carried) = (0, false);
    for (run, row) in result::iterations(session) {
        rows += 1;
        let latency = match is_cost(row.latency_ms) {
            true => format!("{:.6}", row.latency_ms),
            false => "not known".to_owned(),
        };
        let mark = if is_carried(run, row) { " \\*" } else { "" };
        carried |= is_carried(run, row);
        let change = match (row.iteration, run_total(run)) {
            (0, _) | (_, None) => "–".to_owned(),
            (_, Some(total)) => words::percent(total.change()),
        };
        let _ = writeln!(
            out,
            "| {} | {} | {}{mark} | {} | {} | {change} | {} |",
            row.iteration,
            text(&row.optimization),
            latency,
            row.correctness,
            row.status,
            text(&row_verdict(run, row)),
        );
    }
    if rows == 0 {
        return "There is none yet.\n".to_owned();
    }
    if carried {
        out.push_str("\n\\* No number of its own: the last kept one.\n");
    }
    match Quantity::of(session) {
        Some(Quantity::Rate) => out.push_str(
            "\nThe benchmark reports rates, in a unit of its own that the journal does not keep; the \
             column latency_ms holds their reciprocal.\n",
        ),
        Some(Quantity::Mixed) => out.push_str(
            "\nThe benchmark reports times and rates; the column latency_ms holds a mean of times in \
             ms and reciprocal rates, which is good for comparing only.\n",
        ),
        _ => {}
    }
    out
}

/// The verdict of a row in a few words.
pub(super) fn row_verdict(run: &Run, row: &Row) -> String {
    let said = match (&run.decision, row.status) {
        (_, Status::Crash) => "crash".to_owned(),
        (Some((_, decision)), _) => words::verdict(decision),
        (None, _) if row.iteration == 0 => "baseline".to_owned(),
        (None, _) => words::end(run),
    };
    if run.undone {
        format!("{said}; undone later")
    } else {
        said
    }
}

/// The table of the final result, and what it rests on.
pub(super) fn final_lines(outcome: &Outcome) -> String {
    let origin = match outcome.origin.iteration {
        0 => "iteration 0".to_owned(),
        n => format!("iteration {n}"),
    };
    let mut out = configurations(&outcome.lines, &origin, "final");
    let _ = writeln!(
        out,
        "\n{} The first number is the median of {origin}, the second that times the change. {}.",
        text(&outcome.basis_in_words()),
        text(&measured_on::where_and_when(outcome.origin)),
    );
    for run in &outcome.chain {
        let _ = writeln!(
            out,
            "{}: iteration {}.",
            text(&measured_on::where_and_when(run)),
            run.iteration
        );
    }
    out
}

fn configurations(lines: &[Line], before: &str, after: &str) -> String {
    let mut out = format!(
        "| configuration | {before} | {after} | change of time | interval | verdict | pairs |\n\
         |:--------------|------:|------:|-------:|:---------|:--------|------:|\n"
    );
    for line in lines {
        let quantity = Quantity::one(line.is_time);
        let estimate = &line.verdict.estimate;
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            code(&line.key.to_string()),
            quantity.exact(line.before),
            quantity.exact(line.after),
            words::percent(estimate.change()),
            words::interval(estimate),
            line.verdict.verdict,
            estimate.pairs,
        );
    }
    out
}

fn iteration(out: &mut String, session: &Session, run: &Run) {
    let Some(row) = &run.row else { return };
    let _ = writeln!(
        out,
        "\n## Iteration {}: {}\n",
        run.iteration,
        text(&row.optimization)
    );
    let said = match &run.decision {
        Some((_, decision)) => words::decision(decision),
        None => {
            let end = words::end(run);
            format!("Reverted: it {end}.")
        }
    };
    let _ = write!(out, "{}", text(&said));
    if run.undone {
        out.push_str(" Undone later.");
    }
    if let Some(commit) = &run.commit {
        let _ = write!(out, " Commit {}.", code(short(commit)));
    }
    if let Some(tried) = &run.tried {
        let _ = write!(out, " By {}.", text(&words::origin(&tried.origin)));
    }
    let _ = writeln!(out, " {}.", text(&measured_on::where_and_when(run)));
    if !run.measured.is_empty() {
        let lines: Vec<Line> = run.measured.iter().map(Line::measured).collect();
        let _ = write!(out, "\n{}", configurations(&lines, "base", "candidate"));
    }
    let failures: Vec<_> = run.tests.iter().flat_map(|t| &t.failures).collect();
    if !failures.is_empty() {
        out.push('\n');
    }
    for failure in failures.iter().take(MOST_FAILURES) {
        let _ = write!(out, "- {}", code(&failure.test));
        if let Some(file) = &failure.file {
            let line = failure
                .line
                .map_or(String::new(), |line| format!(":{line}"));
            let file = words::inside(&session.root, file);
            let _ = write!(out, " at {}", code(&format!("{file}{line}")));
        }
        let message = failure.message.lines().next().unwrap_or_default();
        let _ = write!(out, ": {}", text(message));
        if let Some(cause) = &failure.cause {
            let _ = write!(out, " Likely cause: {}", text(cause));
        }
        out.push('\n');
    }
    if failures.len() > MOST_FAILURES {
        let _ = writeln!(out, "- and {} more", failures.len() - MOST_FAILURES);
    }
    if let Some((_, decision)) = &run.decision
        && !decision.perhaps_slower.is_empty()
    {
        let _ = writeln!(
            out,
            "\nLooks slower, but among so many configurations it may be chance: {}.",
            text(&words::names::<Key>(&decision.perhaps_slower))
        );
    }
}

/// Failing tests shown of one iteration.
const MOST_FAILURES: usize = 10;

fn noise(out: &mut String, session: &Session) {
    let Some(run) = session.runs.iter().rev().find(|r| !r.noise.is_empty()) else {
        return;
    };
    out.push_str("\n## Noise: the base against itself\n\n");
    out.push_str(
        "| configuration | change | interval | spread of a pair | between processes | detectable | pairs |\n\
         |:--------------|-------:|:---------|-----------------:|------------------:|-----------:|------:|\n",
    );
    for (key, noise) in &run.noise {
        let Noise { estimate, .. } = noise;
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            code(&key.to_string()),
            words::percent(estimate.change()),
            words::interval(estimate),
            words::share(noise.per_pair),
            words::between_processes(noise),
            words::share(noise.detectable),
            estimate.pairs,
        );
    }
    let _ = writeln!(
        out,
        "\nDetectable: the smallest true change that the last look finds four times out of five. {}.",
        text(&measured_on::where_and_when(run))
    );
}

/// Runs that are no iterations, and conflicts.
/// What experiments found.
fn experiments(out: &mut String, session: &Session) {
    let found = |run| Some((run, words::experiment(run)?));
    let all: Vec<(&Run, String)> = session.runs.iter().filter_map(found).collect();
    if !all.is_empty() {
        out.push_str("\n## Experiments\n\n");
    }
    for (run, found) in all {
        let what = run.tried.as_ref().map_or("", |t| &t.optimization);
        let _ = writeln!(
            out,
            "- **{}**: {}. {}.",
            text(what),
            text(&found),
            text(&measured_on::where_and_when(run))
        );
    }
}

fn without_result(out: &mut String, session: &Session) {
    let is_open = |r: &&Run| r.row.is_none() && words::experiment(r).is_none();
    let runs: Vec<&Run> = session.runs.iter().filter(is_open).collect();
    if !runs.is_empty() {
        out.push_str("\n## Runs without a result\n\n");
    }
    for run in runs {
        let what = match (&run.tried, run.kind) {
            (Some(tried), _) => tried.optimization.as_str(),
            (None, RunKind::Baseline) => "iteration 0",
            (None, RunKind::Iteration) => "a change",
            (None, RunKind::Check) => "the sum of what was kept",
            (None, RunKind::Experiment) => "an experiment",
        };
        let _ = writeln!(
            out,
            "- Run {}, {}: {}: {}",
            run.run,
            text(&words::moment(&run.began)),
            text(what),
            text(&words::end(run))
        );
    }
    let conflicts: Vec<&Run> = (session.runs.iter())
        .filter(|r| r.conflict.is_some())
        .collect();
    if !conflicts.is_empty() {
        out.push_str("\n## Conflicts\n\n");
    }
    for run in conflicts {
        let Some((files, kept_at)) = &run.conflict else {
            continue;
        };
        let files: Vec<String> = (files.iter())
            .map(|f| words::inside(&session.root, f))
            .collect();
        let _ = writeln!(
            out,
            "- Run {} could not be taken back in {}, which had been changed meanwhile and was left \
             alone; both versions are in {}.",
            run.run,
            text(&words::names(&files)),
            code(&words::inside(&session.root, kept_at))
        );
    }
}

fn method(out: &mut String, session: &Session) {
    out.push_str("\n## How it was measured\n\n");
    for said in measured_on::method(session) {
        let _ = writeln!(out, "- {}", text(&said));
    }
    for caution in measured_on::cautions(session) {
        let _ = writeln!(out, "- Caution: {}", text(&caution));
    }
    for (what, command) in measured_on::commands(session) {
        let _ = writeln!(out, "- The command for {what}: {}", code(&command));
    }
    let machine = measured_on::machine(session);
    if machine.is_empty() {
        return;
    }
    out.push_str("\n| machine | |\n|:--|:--|\n");
    for (name, value) in machine {
        let _ = writeln!(out, "| {} | {} |", text(&name), text(&value));
    }
}

/// A commit as people write it.
pub(super) fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
