//! The session's course: one mark for each iteration, and a line for the code that was kept.

use crate::records::Row;
use crate::report::quantity::{Quantity, is_cost};
use crate::report::result::{self, Outcome, is_carried, kept_before, run_total};
use crate::report::words;
use crate::session::{Run, Session};
use crate::verdict::Goal;

use super::marks::{ITERATIONS, Mark};
use super::markup::Markup;
use super::numeric;
use super::scale::{Scale, at};

/// Labels that fit below the chart on a narrow screen.
const MOST_LABELS: usize = 12;

/// An iteration's place in the chart. Numbers are those shown: of rates, rates.
struct Point<'s> {
    run: &'s Run,
    row: &'s Row,
    /// Percent from the left.
    x: f64,
    value: f64,
    /// The ends of the interval, where it was measured against its base.
    interval: Option<(f64, f64)>,
    /// The code it was tried on.
    base: Option<f64>,
}

/// Draws the chart; says why there is none.
pub(super) fn chart(page: &mut Markup, session: &Session, outcome: Option<&Outcome>) {
    let quantity = Quantity::of(session).unwrap_or(Quantity::Time);
    let points = points(session, quantity);
    let goal = outcome.and_then(|o| goal(session, o, quantity));
    let values = points.iter().flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.value, point.value));
        [point.value, low, high]
    });
    let Some(scale) = Scale::over(values.chain(goal)) else {
        page.leaf("p", &[("class", "quiet")], "No iteration has a number yet.");
        return;
    };
    page.within("figure", &[], |page| {
        page.within("div", &[("class", "chart")], |page| {
            let label = "chart-title chart-description";
            let attributes = [
                ("class", "plot"),
                ("role", "img"),
                ("aria-labelledby", label),
            ];
            page.within("svg", &attributes, |page| {
                let title = format!("{} by iteration", words::capital(quantity.name()));
                page.leaf("title", &[("id", "chart-title")], &title);
                let said = description(&points, quantity);
                page.leaf("desc", &[("id", "chart-description")], &said);
                axes(page, &scale, &points, quantity);
                if let Some(goal) = goal {
                    let y = at(100.0 - scale.percent(goal));
                    line(page, "goal", ("0%", &y), ("100%", &y));
                    let words = session.plan.goal.map(|g| format!("goal {g}"));
                    let attributes = [
                        ("x", "100%"),
                        ("y", y.as_str()),
                        ("dy", "-5"),
                        ("text-anchor", "end"),
                    ];
                    page.leaf("text", &attributes, &words.unwrap_or_default());
                }
                course(page, &scale, &points);
                points
                    .iter()
                    .for_each(|point| mark(page, &scale, point, quantity));
            });
        });
        legend(page, &points);
        let mut caption = format!(
            "{}. The line is the code that was kept, a bar the interval of a change against its base. \
             The axis does not begin at 0.",
            words::capital(quantity.axis())
        );
        if let Some(outcome) = outcome {
            let origin = crate::report::measured_on::where_and_when(outcome.origin);
            caption.push_str(&format!(" Iteration {}: {origin}.", outcome.origin.iteration));
        }
        page.leaf("figcaption", &[], &caption);
    });
}

fn points(session: &Session, quantity: Quantity) -> Vec<Point<'_>> {
    let rows: Vec<(&Run, &Row)> = result::iterations(session)
        .filter(|(_, row)| is_cost(row.latency_ms))
        .collect();
    let count = rows.len().max(1) as f64;
    (rows.into_iter().enumerate())
        .map(|(index, (run, row))| {
            let interval = run_total(run)
                .filter(|_| row.iteration > 0 && !is_carried(run, row))
                .map(|total| {
                    let end = |effect: f64| {
                        quantity.value(row.latency_ms * (effect - total.effect).exp())
                    };
                    (end(total.low), end(total.high))
                });
            let base = kept_before(session, run).and_then(|r| r.row.as_ref());
            Point {
                run,
                row,
                x: (index as f64 + 0.5) / count * 100.0,
                value: quantity.value(row.latency_ms),
                interval,
                base: base.map(|row| quantity.value(row.latency_ms)),
            }
        })
        .collect()
}

fn goal(session: &Session, outcome: &Outcome, quantity: Quantity) -> Option<f64> {
    match (session.plan.goal?, quantity) {
        (Goal::Latency(ms), Quantity::Time) => Some(ms),
        (Goal::Speedup(times), _) => Some(quantity.value(outcome.first / times)),
        _ => None,
    }
    .filter(|goal| is_cost(*goal))
}

fn axes(page: &mut Markup, scale: &Scale, points: &[Point], quantity: Quantity) {
    let (ticks, decimals) = scale.ticks(5);
    for tick in ticks {
        let y = at(100.0 - scale.percent(tick));
        line(page, "grid", ("0%", &y), ("100%", &y));
        let unit = if quantity == Quantity::Time {
            " ms"
        } else {
            ""
        };
        let attributes = [
            ("x", "0"),
            ("y", y.as_str()),
            ("dx", "-10"),
            ("dy", "4"),
            ("text-anchor", "end"),
        ];
        page.leaf("text", &attributes, &format!("{tick:.decimals$}{unit}"));
    }
    let every = points.len().div_ceil(MOST_LABELS).max(1);
    for point in points.iter().step_by(every) {
        let x = at(point.x);
        let attributes = [
            ("x", x.as_str()),
            ("y", "100%"),
            ("dy", "22"),
            ("text-anchor", "middle"),
        ];
        page.leaf("text", &attributes, &point.row.iteration.to_string());
    }
    let attributes = [
        ("x", "100%"),
        ("y", "100%"),
        ("dy", "40"),
        ("text-anchor", "end"),
    ];
    page.leaf("text", &attributes, "iteration");
}

/// The line of the code that stood, step by step. After an undo it goes back.
fn course(page: &mut Markup, scale: &Scale, points: &[Point]) {
    let mut standing: Option<f64> = None;
    let place = |value: f64| at(100.0 - scale.percent(value));
    let mut before_x = 0.0;
    for point in points {
        if let (Some(base), Some(stood)) = (point.base, standing) {
            line(
                page,
                "step",
                (&at(before_x), &place(stood)),
                (&at(before_x), &place(base)),
            );
            line(
                page,
                "step",
                (&at(before_x), &place(base)),
                (&at(point.x), &place(base)),
            );
        }
        if point.run.kept {
            if let Some(base) = point.base {
                line(
                    page,
                    "step",
                    (&at(point.x), &place(base)),
                    (&at(point.x), &place(point.value)),
                );
            }
            standing = Some(point.value);
        } else {
            standing = point.base.or(standing);
        }
        before_x = point.x;
    }
}

fn mark(page: &mut Markup, scale: &Scale, point: &Point, quantity: Quantity) {
    let mark = Mark::of_iteration(point.run, point.row);
    page.within("g", &[("class", mark.class)], |page| {
        page.leaf("title", &[], &words_of(point, quantity));
        let x = at(point.x);
        if let Some((low, high)) = point.interval {
            let (low, high) = (scale.percent(low), scale.percent(high));
            line(
                page,
                "whisker",
                (&x, &at(100.0 - low)),
                (&x, &at(100.0 - high)),
            );
        }
        mark.draw(page, &x, &at(100.0 - scale.percent(point.value)));
    });
}

fn legend(page: &mut Markup, points: &[Point]) {
    let used = |mark: &&Mark| {
        (points.iter()).any(|point| Mark::of_iteration(point.run, point.row) == **mark)
    };
    page.within("ul", &[("class", "legend")], |page| {
        for mark in ITERATIONS.iter().filter(used) {
            page.within("li", &[], |page| {
                mark.sign(page);
                page.text(mark.name);
            });
        }
    });
}

/// The whole chart in words, for those who do not see it.
fn description(points: &[Point], quantity: Quantity) -> String {
    let said: Vec<String> = points.iter().map(|p| words_of(p, quantity)).collect();
    format!("{}.", said.join("; "))
}

fn words_of(point: &Point, quantity: Quantity) -> String {
    let mark = Mark::of_iteration(point.run, point.row);
    let number = match is_carried(point.run, point.row) {
        true => String::new(),
        false => format!("{}, ", quantity.exact(point.row.latency_ms)),
    };
    let change = run_total(point.run)
        .filter(|_| point.row.iteration > 0)
        .map_or(String::new(), |total| {
            format!(" ({})", words::percent(total.change()))
        });
    let said = format!(
        "Iteration {}, {}: {number}{}{change}",
        point.row.iteration, point.row.optimization, mark.name
    );
    numeric(&said)
}

/// A straight line of a class.
pub(super) fn line(page: &mut Markup, class: &str, from: (&str, &str), to: (&str, &str)) {
    page.empty(
        "line",
        &[
            ("class", class),
            ("x1", from.0),
            ("y1", from.1),
            ("x2", to.0),
            ("y2", to.1),
        ],
    );
}
