//! What a session came to: its last kept code against the code it began with.
//!
//! Each kept change was timed in pairs against the code before it. Several in a row give the whole as
//! their product, whose interval adds up the single ones; that is an estimate, and says so.

use crate::event::Measured;
use crate::readings::Key;
use crate::records;
use crate::session::{Run, Session};
use crate::stats::{Estimate, Total, Weighted, total};
use crate::verdict::{ConfigurationVerdict, Evidence, GoalState, Standing, Why, judge};

use super::quantity::is_cost;

/// How the final number is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Nothing is kept: the code is what it was.
    Unchanged,
    /// One kept change, timed in pairs with the code it began with.
    Paired,
    /// Several, each timed in pairs with the one before; their product.
    Chained,
    /// Changes were undone below others: this combination was never timed.
    Recombined,
}

/// One configuration at the beginning and at the end.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Which.
    pub(super) key: Key,
    /// Whether its costs are milliseconds.
    pub(super) is_time: bool,
    /// Cost before.
    pub(super) before: f64,
    /// Cost after.
    pub(super) after: f64,
    /// The change, with its interval.
    pub(super) verdict: ConfigurationVerdict,
}

impl Line {
    /// What one run measured of a configuration.
    pub(super) fn measured(of: &Measured) -> Self {
        Line {
            key: of.key.clone(),
            is_time: of.is_time,
            before: of.base,
            after: of.candidate,
            verdict: of.verdict.clone(),
        }
    }
}

/// What a session came to.
#[derive(Debug, Clone)]
pub(super) struct Outcome<'s> {
    /// What it is compared with: iteration 0, or in a correctness fix the first right code.
    pub(super) origin: &'s Run,
    /// The kept changes after that, oldest first.
    pub(super) chain: Vec<&'s Run>,
    /// How the result is known.
    pub(super) basis: Basis,
    /// The total cost of the origin.
    pub(super) first: f64,
    /// The total cost of the code as it stands.
    pub(super) last: f64,
    /// The change of the total as measured in pairs; none where nothing was kept.
    pub(super) total: Option<Total>,
    /// Every configuration that was measured all along.
    pub(super) lines: Vec<Line>,
    /// Configurations of the origin that a kept change was not measured in.
    pub(super) broken: Vec<Key>,
}

impl<'s> Outcome<'s> {
    /// The result of a session; none before iteration 0 is measured.
    pub(super) fn of(session: &'s Session) -> Option<Self> {
        let baseline = session.baseline()?;
        let kept: Vec<&Run> = (session.runs.iter())
            .filter(|r| r.kept && !r.undone && r.iteration > 0)
            .collect();
        let fixed = |r: &&Run| matches!(&r.decision, Some((_, d)) if d.why == Why::Fixed);
        // The speed of wrong results is not compared with that of right ones.
        let fix = kept.iter().rposition(fixed);
        let (origin, chain) = match fix {
            Some(at) => (kept[at], kept[at + 1..].to_vec()),
            None => (baseline, kept),
        };
        let first = origin.row.as_ref()?.latency_ms;
        let total = chain_total(&chain);
        let as_measured = match chain.last().copied().or(fix.map(|_| origin)) {
            Some(run) => run
                .tried
                .as_ref()
                .is_some_and(|t| t.candidate == session.base),
            None => session.base == session.first_base,
        };
        let basis = match chain.len() {
            _ if !as_measured || !follows(&chain) => Basis::Recombined,
            0 => Basis::Unchanged,
            1 => Basis::Paired,
            _ => Basis::Chained,
        };
        let last = match (basis, chain.last().and_then(|r| r.row.as_ref())) {
            (Basis::Recombined, _) => first * total.map_or(1.0, |t| t.effect.exp()),
            (_, Some(row)) => row.latency_ms,
            (_, None) => first,
        };
        let (lines, broken) = lines(session, origin, &chain);
        Some(Outcome {
            origin,
            chain,
            basis,
            first,
            last,
            total,
            lines,
            broken,
        })
    }

    /// Whether both totals are numbers that can be compared.
    pub(super) fn is_known(&self) -> bool {
        is_cost(self.first) && is_cost(self.last)
    }

    /// How the result is known, for people.
    pub(super) fn basis_in_words(&self) -> String {
        let origin = self.origin_in_words();
        let iterations: Vec<String> = (self.chain.iter())
            .map(|r| r.iteration.to_string())
            .collect();
        let iterations = iterations.join(", ");
        match self.basis {
            Basis::Unchanged => format!("Nothing was kept after {origin}."),
            Basis::Paired => {
                format!("Iteration {iterations} was timed in pairs with {origin}.")
            }
            Basis::Chained => format!(
                "Estimate: the product of iterations {iterations}, each timed in pairs with the code \
                 before it; the final code and {origin} were not timed side by side."
            ),
            Basis::Recombined => format!(
                "Estimate: iterations were undone below others, and the code as it stands was never \
                 timed; kept and standing: {}.",
                if iterations.is_empty() {
                    "none"
                } else {
                    &iterations
                }
            ),
        }
    }

    /// What it is compared with, for people.
    pub(super) fn origin_in_words(&self) -> String {
        match self.origin.iteration {
            0 => "iteration 0".to_owned(),
            n => format!("iteration {n}, the first with right results"),
        }
    }
}

/// Whether each kept change was tried on the code of the one before it.
fn follows(chain: &[&Run]) -> bool {
    chain.windows(2).all(|pair| {
        let candidate = pair[0].tried.as_ref().map(|t| &t.candidate);
        let base = pair[1].tried.as_ref().map(|t| &t.base);
        candidate == base
    })
}

fn chain_total(chain: &[&Run]) -> Option<Total> {
    let totals: Vec<Total> = (chain.iter()).filter_map(|run| run_total(run)).collect();
    if totals.is_empty() || totals.len() != chain.len() {
        return None;
    }
    let effect: f64 = totals.iter().map(|t| t.effect).sum();
    let below: f64 = totals.iter().map(|t| (t.effect - t.low).powi(2)).sum();
    let above: f64 = totals.iter().map(|t| (t.high - t.effect).powi(2)).sum();
    Some(Total {
        effect,
        low: effect - below.sqrt(),
        high: effect + above.sqrt(),
        p_faster: totals.iter().map(|t| t.p_faster).fold(0.0, f64::max),
    })
}

/// The change of a run's total, as it was decided by or as its configurations give it; none where it
/// was not measured or is not to be compared.
pub(super) fn run_total(run: &Run) -> Option<Total> {
    match &run.decision {
        // Right results are not compared with wrong ones.
        Some((_, decision)) if decision.why == Why::Fixed => return None,
        Some((_, decision)) if decision.total.is_some() => return decision.total,
        _ => {}
    }
    let parts: Vec<Weighted> = (run.measured.iter())
        .map(|m| Weighted {
            estimate: m.verdict.counted(),
            weight: m.weight,
        })
        .collect();
    total(&parts)
}

fn lines(session: &Session, origin: &Run, chain: &[&Run]) -> (Vec<Line>, Vec<Key>) {
    let (mut lines, mut broken) = (Vec::new(), Vec::new());
    if chain.is_empty() {
        return (lines, broken);
    }
    for measured in &origin.measured {
        let key = &measured.key;
        let steps: Vec<&Measured> = (chain.iter())
            .filter_map(|run| run.measured.iter().find(|m| m.key == *key))
            .collect();
        let [first, rest @ ..] = steps.as_slice() else {
            broken.push(key.clone());
            continue;
        };
        if steps.len() != chain.len() {
            broken.push(key.clone());
            continue;
        }
        // Both sides of iteration 0 are the same code.
        let before = match origin.iteration {
            0 => f64::midpoint(measured.base, measured.candidate),
            _ => measured.candidate,
        };
        let verdict = match rest {
            [] => first.verdict.clone(),
            _ => judge(&Evidence {
                estimate: product(&steps),
                detectable: session.noise(key).map_or(f64::INFINITY, |n| n.detectable),
                more: false,
                floor: None,
            }),
        };
        lines.push(Line {
            key: key.clone(),
            is_time: measured.is_time,
            before,
            after: before * verdict.estimate.effect.exp(),
            verdict,
        });
    }
    (lines, broken)
}

/// The effect of several changes of one configuration, one after the other. They were measured
/// independently, so distances to the ends of the intervals add up in squares.
fn product(steps: &[&Measured]) -> Estimate {
    let estimates: Vec<&Estimate> = steps.iter().map(|m| &m.verdict.estimate).collect();
    let effect: f64 = estimates.iter().map(|e| e.effect).sum();
    let squares = |of: fn(&Estimate) -> f64| -> f64 {
        let sum: f64 = estimates.iter().map(|e| of(e).powi(2)).sum();
        sum.sqrt()
    };
    let widest = (estimates.iter()).min_by_key(|e| e.pairs);
    Estimate {
        effect,
        low: effect - squares(|e| e.effect - e.low),
        high: effect + squares(|e| e.high - e.effect),
        level: estimates.iter().map(|e| e.level).fold(1.0, f64::min),
        standard_error: squares(|e| e.standard_error),
        pairs: estimates.iter().map(|e| e.pairs).sum(),
        blocks: estimates.iter().map(|e| e.blocks).sum(),
        dropped: estimates.iter().map(|e| e.dropped).sum(),
        method: widest.map_or(crate::stats::Method::Proven, |e| e.method),
    }
}

/// The goal's state for the result, and what it says to people.
pub(super) fn goal(session: &Session, outcome: Option<&Outcome>) -> Option<(GoalState, String)> {
    let goal = session.plan.goal?;
    let Some(outcome) = outcome.filter(|o| o.is_known()) else {
        return Some((
            GoalState::NotReached,
            format!("goal {goal} not achieved: nothing is measured yet"),
        ));
    };
    let state = goal.state(&Standing {
        start: outcome.first,
        current: outcome.last,
        is_time: outcome.origin.measured.iter().all(|m| m.is_time),
        least_ms: None,
    });
    let words = match state {
        GoalState::Reached => format!("goal {goal} achieved"),
        GoalState::NotReached => format!("goal {goal} not achieved"),
        GoalState::NoTime => {
            format!("goal {goal} not achieved: it is a time, and the benchmark reports rates")
        }
        GoalState::NoCeiling => format!(
            "goal {goal} not achieved: the device's speed of light is not known for this kernel"
        ),
    };
    Some((state, words))
}

/// The rows of the table with the run that each is of.
pub(super) fn iterations(session: &Session) -> impl Iterator<Item = (&Run, &records::Row)> {
    session
        .runs
        .iter()
        .filter_map(|run| Some((run, run.row.as_ref()?)))
}

/// Whether a row's number is that of the last kept code, because its own is not known.
pub(super) fn is_carried(run: &Run, row: &records::Row) -> bool {
    row.iteration > 0
        && (run.measured.is_empty()
            || row.status == records::Status::Crash
            || row.correctness == records::Correctness::Fail)
}

/// The run whose code a change was tried on.
pub(super) fn kept_before<'s>(session: &'s Session, run: &Run) -> Option<&'s Run> {
    let base = run.tried.as_ref().map(|t| &t.base);
    let code = |r: &&Run| match &r.tried {
        Some(tried) => Some(&tried.candidate) == base,
        None => Some(&session.first_base) == base,
    };
    let earlier = |r: &&Run| r.kept && r.run < run.run;
    (session.runs.iter().rev().filter(earlier)).find(code)
}
