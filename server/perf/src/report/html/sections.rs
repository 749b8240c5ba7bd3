//! The parts of the page below its head.

use crate::event::RunKind;
use crate::report::gaps::gaps;
use crate::report::markdown::{row_verdict, short};
use crate::report::measured_on::{self, where_and_when};
use crate::report::quantity::Quantity;
use crate::report::result::{self, Line, Outcome, is_carried, run_total};
use crate::report::words;
use crate::session::{Run, Session};
use crate::verdict::Correctness;

use super::marks::Mark;
use super::markup::Markup;
use super::{chart, forest, numeric};

/// Failing tests shown of one iteration.
const MOST_FAILURES: usize = 10;

/// All of them, in the order of what a reader asks.
pub(super) fn all(page: &mut Markup, session: &Session, outcome: Option<&Outcome>) {
    section(page, "Course", |page| chart::chart(page, session, outcome));
    if result::iterations(session).next().is_some() {
        section(page, "Iterations", |page| iterations(page, session));
    }
    if let Some(outcome) = outcome.filter(|o| !o.lines.is_empty()) {
        section(page, "Final result by configuration", |page| {
            let origin = match outcome.origin.iteration {
                0 => "iteration 0".to_owned(),
                n => format!("iteration {n}"),
            };
            let runs: Vec<String> = (outcome.chain.iter())
                .map(|run| format!("Iteration {}: {}.", run.iteration, where_and_when(run)))
                .collect();
            let caption = format!(
                "{} The final number is the median of {origin} times the change. {}",
                outcome.basis_in_words(),
                runs.join(" ")
            );
            forest::forest(page, &outcome.lines, &caption, (&origin, "final"));
        });
    }
    let tried = |r: &&Run| r.kind == RunKind::Iteration && r.row.is_some();
    if session.runs.iter().any(|r| tried(&r)) {
        section(page, "Each iteration", |page| {
            (session.runs.iter().filter(tried)).for_each(|run| iteration(page, session, run));
        });
    }
    if let Some(run) = session.runs.iter().rev().find(|r| !r.noise.is_empty()) {
        section(page, "Noise: the base against itself", |page| {
            let caption = format!(
                "Detectable: the smallest true change that the last look finds four times out of \
                 five. {}.",
                where_and_when(run)
            );
            forest::noise(page, &run.noise, &caption);
        });
    }
    experiments(page, session);
    without_result(page, session);
    conflicts(page, session);
    section(page, "Not measured", |page| {
        let gaps = gaps(session, outcome);
        if gaps.is_empty() {
            page.leaf("p", &[], "Nothing is missing.");
            return;
        }
        page.within("ul", &[], |page| {
            for gap in &gaps {
                page.within("li", &[], |page| {
                    page.leaf("code", &[], &gap.about);
                    page.text(&format!(": {}", gap.what));
                });
            }
        });
    });
    section(page, "How it was measured", |page| method(page, session));
}

/// Names and values.
pub(super) fn list(page: &mut Markup, facts: &[(impl AsRef<str>, String)]) {
    page.within("dl", &[("class", "facts")], |page| {
        for (name, value) in facts {
            page.leaf("dt", &[], name.as_ref());
            page.leaf("dd", &[], value);
        }
    });
}

fn section(page: &mut Markup, title: &str, inside: impl FnOnce(&mut Markup)) {
    page.within("section", &[], |page| {
        page.leaf("h2", &[], title);
        inside(page);
    });
}

fn iterations(page: &mut Markup, session: &Session) {
    let quantity = Quantity::of(session).unwrap_or(Quantity::Time);
    page.within("table", &[("class", "stack")], |page| {
        let mut caption =
            "A number in brackets is that of the last kept code: the iteration has none \
                           of its own."
                .to_owned();
        if let Some(run) = session.baseline() {
            caption = format!("{caption} Iteration 0: {}.", where_and_when(run));
        }
        page.leaf("caption", &[], &caption);
        page.within("thead", &[], |page| {
            page.within("tr", &[], |page| {
                for (name, class) in [
                    ("", "number"),
                    ("optimization", ""),
                    (quantity.name(), "number"),
                    ("change of time", "number"),
                    ("correctness", ""),
                    ("status", ""),
                    ("verdict", ""),
                ] {
                    page.leaf("th", &[("scope", "col"), ("class", class)], name);
                }
            });
        });
        page.within("tbody", &[], |page| {
            for (run, row) in result::iterations(session) {
                page.within("tr", &[], |page| {
                    page.leaf("td", &[("class", "number")], &row.iteration.to_string());
                    page.leaf("th", &[("scope", "row")], &row.optimization);
                    let cost = match is_carried(run, row) {
                        true => format!("({})", quantity.exact(row.latency_ms)),
                        false => quantity.exact(row.latency_ms),
                    };
                    page.leaf("td", &[("class", "number")], &cost);
                    let change = match (row.iteration, run_total(run)) {
                        (0, _) | (_, None) => "–".to_owned(),
                        (_, Some(total)) => numeric(&words::percent(total.change())),
                    };
                    page.leaf("td", &[("class", "number")], &change);
                    page.leaf("td", &[("class", "word")], &row.correctness.to_string());
                    let mark = Mark::of_iteration(run, row);
                    let class = format!("word {}", mark.class);
                    page.within("td", &[("class", &class)], |page| {
                        mark.sign(page);
                        page.text(&row.status.to_string());
                    });
                    let verdict = row_verdict(run, row);
                    page.leaf("td", &[("class", "wide")], &verdict);
                });
            }
        });
    });
}

fn iteration(page: &mut Markup, session: &Session, run: &Run) {
    let Some(row) = &run.row else { return };
    page.within("details", &[], |page| {
        page.within("summary", &[], |page| {
            let mark = Mark::of_iteration(run, row);
            mark.sign(page);
            page.leaf(
                "strong",
                &[],
                &format!(" {} · {}", run.iteration, row.optimization),
            );
            page.text(&format!(" · {}", row_verdict(run, row)));
        });
        let mut said = match &run.decision {
            Some((_, decision)) => words::decision(decision),
            None => format!("Reverted: it {}.", words::end(run)),
        };
        if run.undone {
            said.push_str(" Undone later.");
        }
        if let Some(tried) = &run.tried {
            said.push_str(&format!(" By {}.", words::origin(&tried.origin)));
        }
        if let Some(commit) = &run.commit {
            said.push_str(&format!(" Commit {}.", short(commit)));
        }
        page.leaf("p", &[("class", "prose")], &said);
        failures(page, session, run);
        if run.measured.is_empty() {
            let when = format!("{}.", where_and_when(run));
            page.leaf("p", &[("class", "quiet")], &when);
            return;
        }
        let lines: Vec<Line> = run.measured.iter().map(Line::measured).collect();
        let caption = format!("Against its base. {}.", where_and_when(run));
        forest::forest(page, &lines, &caption, ("base", "candidate"));
        if let Some((_, decision)) = &run.decision
            && !decision.perhaps_slower.is_empty()
        {
            let said = format!(
                "Looks slower, but among so many configurations it may be chance: {}.",
                words::names(&decision.perhaps_slower)
            );
            page.leaf("p", &[("class", "quiet prose")], &said);
        }
    });
}

fn failures(page: &mut Markup, session: &Session, run: &Run) {
    let failures: Vec<_> = run.tests.iter().flat_map(|t| &t.failures).collect();
    if failures.is_empty() {
        if let Some((candidate, _)) = &run.decision
            && candidate.correctness != Correctness::Passed
        {
            page.leaf("p", &[], &words::correctness(&candidate.correctness));
        }
        return;
    }
    page.within("ul", &[], |page| {
        for failure in failures.iter().take(MOST_FAILURES) {
            page.within("li", &[], |page| {
                page.leaf("code", &[], &failure.test);
                if let Some(file) = &failure.file {
                    let file = words::inside(&session.root, file);
                    let line = failure.line.map_or(String::new(), |l| format!(":{l}"));
                    page.text(" at ");
                    page.leaf("code", &[], &format!("{file}{line}"));
                }
                let message = failure.message.lines().next().unwrap_or_default();
                page.text(&format!(": {message}"));
                if let Some(cause) = &failure.cause {
                    page.text(&format!(" Likely cause: {cause}"));
                }
            });
        }
        if failures.len() > MOST_FAILURES {
            let more = format!("and {} more", failures.len() - MOST_FAILURES);
            page.leaf("li", &[], &more);
        }
    });
}

/// What experiments found.
fn experiments(page: &mut Markup, session: &Session) {
    let found = |run| Some((run, words::experiment(run)?));
    let all: Vec<(&Run, String)> = session.runs.iter().filter_map(found).collect();
    if all.is_empty() {
        return;
    }
    section(page, "Experiments", |page| {
        page.within("ul", &[], |page| {
            for (run, found) in all {
                let what = run.tried.as_ref().map_or("", |t| &t.optimization);
                page.within("li", &[], |page| {
                    page.leaf("strong", &[], what);
                    page.text(&format!(": {found}. {}.", where_and_when(run)));
                });
            }
        });
    });
}

fn without_result(page: &mut Markup, session: &Session) {
    let is_open = |r: &&Run| r.row.is_none() && words::experiment(r).is_none();
    let runs: Vec<&Run> = session.runs.iter().filter(is_open).collect();
    if runs.is_empty() {
        return;
    }
    section(page, "Runs without a result", |page| {
        page.within("ul", &[], |page| {
            for run in runs {
                let what = match (&run.tried, run.kind) {
                    (Some(tried), _) => tried.optimization.as_str(),
                    (None, RunKind::Baseline) => "iteration 0",
                    (None, RunKind::Iteration) => "a change",
                    (None, RunKind::Check) => "the sum of what was kept",
                    (None, RunKind::Experiment) => "an experiment",
                };
                page.within("li", &[], |page| {
                    page.leaf("strong", &[], what);
                    page.text(&format!(
                        ", {}: {}",
                        words::moment(&run.began),
                        words::end(run)
                    ));
                });
            }
        });
    });
}

fn conflicts(page: &mut Markup, session: &Session) {
    let conflicts: Vec<_> = (session.runs.iter())
        .filter_map(|run| run.conflict.as_ref())
        .collect();
    if conflicts.is_empty() {
        return;
    }
    section(page, "Conflicts", |page| {
        page.within("ul", &[], |page| {
            for (files, kept_at) in conflicts {
                let files: Vec<String> = (files.iter())
                    .map(|file| words::inside(&session.root, file))
                    .collect();
                let said = format!(
                    "Could not be taken back in {}, which had been changed meanwhile and was left \
                     alone; both versions are in {}.",
                    words::names(&files),
                    words::inside(&session.root, kept_at)
                );
                page.leaf("li", &[], &said);
            }
        });
    });
}

fn method(page: &mut Markup, session: &Session) {
    page.within("ul", &[], |page| {
        for said in measured_on::method(session) {
            page.leaf("li", &[], &said);
        }
        for (what, command) in measured_on::commands(session) {
            page.within("li", &[], |page| {
                page.text(&format!("The command for {what}: "));
                page.leaf("code", &[], &command);
            });
        }
    });
    let machine = measured_on::machine(session);
    if !machine.is_empty() {
        page.leaf("h3", &[], "Machine");
        list(page, &machine);
    }
}
