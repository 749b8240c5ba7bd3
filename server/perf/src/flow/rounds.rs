//! A comparison made again, with new processes.
//!
//! Two processes that run the same code differ: in their addresses, in the cores they are given, in
//! who else is on them. Mostly by little, and then the interval has room for it; now and then by ten
//! per cent, and no number of pairs from the same two processes shows that. So nothing is kept on the
//! word of one pair of processes, and what looks promising but undecided is given another.
//!
//! Several pairs of processes also show how far apart processes are now. The base was compared with itself
//! when the session began, and a machine that has become louder since would keep more by chance: so both
//! count, each for as many draws as it has. (The larger of the two would find half of what is there on a
//! machine that has stayed as it was: of two or three draws the spread is known to a factor of two.)

use std::collections::BTreeMap;

use crate::error::Error;
use crate::event::{Measured, Stage};
use crate::readings::Key;
use crate::run::pairs::{Looks, Sampled};
use crate::stats::{
    Estimate, Noise, Pair, Ratios, Repeated, Weighted, between_rounds, estimate, total,
};
use crate::verdict::{
    Candidate, ConfigurationVerdict, Decision, Evidence, SAME, Why, decide, judge,
};

use super::Loop;
use super::measure::{Comparison, UNKNOWN, median};
use super::run::Running;

/// At most so many pairs of processes for one candidate.
const ROUNDS: usize = 3;

/// A gain must show in so many of them.
const SEEN: usize = 2;

/// At least this share of the gain must show for it to have been seen.
const SHARE: f64 = 1.0 / 3.0;

impl Loop<'_> {
    /// Measures a candidate until it is decided, and fills in what it is decided by.
    pub(super) fn compare_until_decided(
        &mut self,
        running: &mut Running,
        looks: Looks,
        candidate: &mut Candidate,
    ) -> Result<(Comparison, Decision), Error> {
        let (sampled, mut comparison) = self.compare(running, looks, 0)?;
        let mut rounds = vec![sampled];
        loop {
            candidate.sets = comparison.sets.clone();
            candidate.against_start = self.against_start(&comparison.measured);
            candidate.configurations = comparison.measured.iter().map(|m| m.judged()).collect();
            let decision = decide(candidate);
            let changes: Vec<f64> = rounds.iter().filter_map(|r| self.change_of(r)).collect();
            if !rounds[0].repeated || !wants_another(&decision, &changes) {
                let seen = !rounds[0].repeated || is_seen(&changes);
                let decision = match decision.keeps() && !seen {
                    true => Decision {
                        why: Why::NoImprovement,
                        ..decision
                    },
                    false => decision,
                };
                return Ok((comparison, decision));
            }
            self.stage(running, Stage::Measuring, Some("again, with new processes"))?;
            rounds.push(self.compare(running, looks, rounds.len())?.0);
            comparison.measured = self.together(&rounds, &comparison.measured);
        }
    }

    /// The change of the total that one pair of processes shows.
    fn change_of(&self, sampled: &Sampled) -> Option<f64> {
        let parts: Vec<Weighted> = (sampled.pairs.iter())
            .filter_map(|(key, pairs)| {
                Some(Weighted {
                    estimate: own(pairs, sampled)?,
                    weight: self.weight(key),
                })
            })
            .collect();
        Some(total(&parts)?.effect)
    }

    /// What all pairs of processes say together of each configuration.
    fn together(&self, rounds: &[Sampled], before: &[Measured]) -> Vec<Measured> {
        let mut estimates: BTreeMap<&Key, Vec<Estimate>> = BTreeMap::new();
        for round in rounds {
            for (key, pairs) in &round.pairs {
                estimates.entry(key).or_default().extend(own(pairs, round));
            }
        }
        let (mut measured, mut parts) = (Vec::new(), Vec::new());
        for before in before {
            let found = estimates.remove(&before.key).unwrap_or_default();
            // One that vanished on the way is missing from the sets as well.
            if found.len() != rounds.len() {
                continue;
            }
            let pairs = || rounds.iter().filter_map(|r| r.pairs.get(&before.key));
            let base = median(pairs().flatten().map(|p| p.base.cost));
            measured.push(Measured {
                base,
                candidate: median(pairs().flatten().map(|p| p.candidate.cost)),
                ..before.clone()
            });
            parts.push(Part {
                repeated: Repeated {
                    cost: base,
                    effects: found,
                },
                noise: self.session.noise(&before.key).copied(),
            });
        }
        let last_look = rounds.first().map_or(0, |round| round.plan.last_look());
        for (measured, verdict) in measured.iter_mut().zip(verdicts(parts, last_look)) {
            measured.verdict = verdict;
        }
        measured
    }
}

/// A configuration in several pairs of processes.
struct Part {
    repeated: Repeated,
    /// Of the base against itself.
    noise: Option<Noise>,
}

/// The verdicts on configurations that were measured in several pairs of processes.
fn verdicts(parts: Vec<Part>, last_look: usize) -> Vec<ConfigurationVerdict> {
    let (repeated, noise): (Vec<Repeated>, Vec<Option<Noise>>) =
        parts.into_iter().map(|p| (p.repeated, p.noise)).unzip();
    let now = between_rounds(&repeated);
    let each = repeated.iter().zip(noise).zip(now);
    each.map(|((repeated, noise), now)| {
        let rounds = repeated.effects.len();
        let narrower = (rounds.min(SEEN) as f64).sqrt();
        let mut estimate = joined(&repeated.effects).unwrap_or_else(Estimate::unchanged);
        let mut detectable = UNKNOWN;
        if let Some(noise) = noise {
            let noise = noise.and_between(now, rounds.saturating_sub(1), last_look);
            estimate = estimate.widened(noise.between / narrower, noise.draws);
            detectable = noise.detectable / narrower;
        }
        judge(&Evidence {
            estimate,
            detectable,
            more: false,
            floor: None,
        })
    })
    .collect()
}

/// What one pair of processes shows.
fn own(pairs: &[Pair], sampled: &Sampled) -> Option<Estimate> {
    estimate(&Ratios::of(pairs).ok()?, sampled.plan).ok()
}

/// Several estimates of one effect, joined in their [`middle`].
fn joined(estimates: &[Estimate]) -> Option<Estimate> {
    let first = estimates.first()?;
    let count = estimates.len() as f64;
    let effect = middle(estimates.iter().map(|e| e.effect))?;
    let root = |of: &dyn Fn(&Estimate) -> f64| {
        estimates.iter().map(|e| of(e).powi(2)).sum::<f64>().sqrt() / count
    };
    Some(Estimate {
        effect,
        low: effect - root(&|e| e.effect - e.low),
        high: effect + root(&|e| e.high - e.effect),
        standard_error: root(&|e| e.standard_error),
        pairs: estimates.iter().map(|e| e.pairs).sum(),
        blocks: estimates.iter().map(|e| e.blocks).sum(),
        dropped: estimates.iter().map(|e| e.dropped).sum(),
        ..*first
    })
}

/// The mean of two; of three the median, which one stray pair of processes cannot move.
fn middle(effects: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = effects.collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.as_slice() {
        [a, b] => Some(f64::midpoint(*a, *b)),
        sorted => sorted.get(sorted.len() / 2).copied(),
    }
}

/// Whether a gain shows in enough pairs of processes.
fn is_seen(changes: &[f64]) -> bool {
    let Some(middle) = middle(changes.iter().copied()) else {
        return false;
    };
    let seen = |change: &&f64| **change < 0.0 && **change <= middle * SHARE;
    changes.iter().filter(seen).count() >= SEEN
}

/// Whether another pair of processes can change the decision.
fn wants_another(decision: &Decision, changes: &[f64]) -> bool {
    if changes.len() >= ROUNDS {
        return false;
    }
    if decision.keeps() {
        return !is_seen(changes);
    }
    let measured = matches!(decision.why, Why::NoImprovement | Why::Slower | Why::Mixed);
    let best = changes.iter().copied().fold(f64::INFINITY, f64::min);
    let last = changes.last().copied().unwrap_or(0.0);
    // Promising, and not yet found to be one stray pair of processes.
    measured && best <= -SAME && (changes.len() == 1 || last <= -SAME)
}

#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_seen_in_two_pairs_of_processes() {
        for (changes, seen) in [
            (&[-0.05][..], false),
            (&[-0.05, -0.05], true),
            (&[-0.05, -0.02], true),
            (&[-0.17, 0.0], false),
            (&[-0.17, -0.001], false),
            (&[-0.17, -0.001, -0.002], true),
            (&[-0.17, 0.01, 0.002], false),
            (&[-0.05, 0.03, -0.05], true),
            (&[], false),
        ] {
            assert_eq!(is_seen(changes), seen, "{changes:?}");
        }
    }

    #[test]
    fn a_stray_pair_of_processes_does_not_move_the_middle_of_three() {
        let of = |effect: f64| Estimate {
            effect,
            low: effect - 0.004,
            high: effect + 0.004,
            standard_error: 0.002,
            pairs: 30,
            blocks: 15,
            ..Estimate::unchanged()
        };
        let two = joined(&[of(-0.04), of(-0.06)]).unwrap();
        assert!((two.effect + 0.05).abs() < 1e-12);
        assert!((two.high - two.effect - 0.004 / 2f64.sqrt()).abs() < 1e-12);
        let three = joined(&[of(-0.17), of(0.001), of(-0.001)]).unwrap();
        assert!((three.effect + 0.001).abs() < 1e-12);
        assert_eq!(three.pairs, 90);
        assert!(joined(&[]).is_none());
    }
}
