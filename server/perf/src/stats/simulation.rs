//! What the rules do on a machine whose truth is known: 1 % noise on each sample, 2 % drift.
//!
//! The counts keep a run under a second; `cargo xtask evidence` runs the long proofs.

use super::random::Random;
use super::{
    Estimate, Pair, Plan, Ratios, Sample, Variant, estimate, median_of_sorted, noise, order,
};
use crate::readings::{Direction, Key, SetComparison};
use crate::verdict::{
    Candidate, ConfigurationVerdict, Correctness, Decision, Evidence, Judged, Reason, Verdict, Why,
    decide, judge,
};

const NOISE: f64 = 0.01;
const DRIFT: f64 = 0.02;

/// A machine that drifts: a slow wave of random phase, plus noise on each sample.
struct Machine {
    random: Random,
    phase: f64,
    period: f64,
    samples: f64,
}

impl Machine {
    fn new(seed: u64, period: f64) -> Self {
        let mut random = Random::seeded(seed);
        let phase = random.uniform() * std::f64::consts::TAU;
        Machine {
            random,
            phase,
            period,
            samples: 0.0,
        }
    }

    /// A sample of a program that truly takes `cost`.
    fn sample(&mut self, cost: f64) -> Sample {
        self.samples += 1.0;
        let wave = (self.phase + std::f64::consts::TAU * self.samples / self.period).sin();
        Sample::new(cost * (0.5 * DRIFT * wave + NOISE * self.random.normal()).exp())
    }

    fn pairs(&mut self, count: usize, effect: f64) -> Vec<Pair> {
        let order: Vec<Variant> = order(count).collect();
        order
            .chunks(2)
            .map(|two| {
                let mut pair = Pair {
                    base: Sample::new(1.0),
                    candidate: Sample::new(1.0),
                };
                for variant in two {
                    match variant {
                        Variant::Base => pair.base = self.sample(1.0),
                        Variant::Candidate => pair.candidate = self.sample(1.0 + effect),
                    }
                }
                pair
            })
            .collect()
    }
}

/// One candidate with these true effects, each configuration measured look after look until it is
/// decided, alone and among the others.
fn decision(seed: u64, plan: Plan, period: f64, effects: &[f64]) -> Decision {
    let last = plan.last_look();
    let mut machine = Machine::new(seed, period);
    let mut pairs: Vec<Vec<Pair>> = vec![Vec::new(); effects.len()];
    let mut candidate = Candidate {
        correctness: Correctness::Passed,
        configurations: Vec::new(),
        sets: SetComparison::default(),
        against_start: None,
    };
    let mut detectable = Vec::new();
    for index in 0..effects.len() {
        let against_itself = Ratios::of(&machine.pairs(last.min(30), 0.0)).unwrap();
        detectable.push(noise(&against_itself, plan, last).unwrap().detectable);
        let key = Key {
            configuration: format!("test_perf[{index}]").into(),
            backend: "cutile".into(),
            direction: Direction::Forward,
        };
        let verdict = ConfigurationVerdict {
            verdict: Verdict::Ambiguous,
            estimate: Estimate::unchanged(),
            reason: Reason::NextLook,
        };
        candidate.configurations.push(Judged {
            key,
            weight: 1.0,
            verdict,
        });
    }
    loop {
        let decision = decide(&candidate);
        let open: Vec<Key> = decision.open().cloned().collect();
        let mut looked = false;
        for (index, judged) in candidate.configurations.iter_mut().enumerate() {
            let pairs = &mut pairs[index];
            let is_open = judged.verdict.wants_more() || open.contains(&judged.key);
            let Some(next) = plan.next_look(pairs.len()).filter(|_| is_open) else {
                continue;
            };
            looked = true;
            pairs.extend(machine.pairs(next - pairs.len(), effects[index]));
            judged.verdict = judge(&Evidence {
                estimate: estimate(&Ratios::of(pairs).unwrap(), plan).unwrap(),
                detectable: detectable[index],
                more: plan.next_look(pairs.len()).is_some(),
                floor: None,
            });
        }
        if !looked {
            return decision;
        }
    }
}

/// The share of candidates with that true effect which are kept.
fn kept(candidates: u64, plan: Plan, effect: f64) -> f64 {
    let keeps = (0..candidates).filter(|seed| {
        // From drift that is slow against a pair to drift that is nearly as fast.
        let period = [1000.0, 200.0, 50.0, 20.0][*seed as usize % 4];
        decision(seed * 7919 + 13, plan, period, &[effect]).keeps()
    });
    keeps.count() as f64 / candidates as f64
}

#[test]
fn interleaved_samples_find_what_is_there_and_nothing_else() {
    let (nothing, five, two) = (
        kept(200, Plan::Samples, 0.0),
        kept(100, Plan::Samples, -0.05),
        kept(100, Plan::Samples, -0.02),
    );
    assert!(
        nothing <= 0.005,
        "kept {nothing} of changes that do nothing"
    );
    assert!(five >= 0.95, "found {five} of 5 %");
    assert!(two >= 0.95, "found {two} of 2 %");
}

#[test]
fn interleaved_whole_runs_find_what_is_there_and_nothing_else() {
    let (nothing, five, two) = (
        kept(400, Plan::WholeRuns, 0.0),
        kept(100, Plan::WholeRuns, -0.05),
        kept(100, Plan::WholeRuns, -0.02),
    );
    assert!(
        nothing <= 0.005,
        "kept {nothing} of changes that do nothing"
    );
    assert!(five >= 0.95, "found {five} of 5 %");
    assert!(two >= 0.3, "found {two} of 2 %");
}

#[test]
fn slower_candidates_are_reverted_as_slower() {
    for seed in 0..50 {
        let decision = decision(seed, Plan::Samples, 50.0, &[0.03]);
        assert_eq!(decision.why, Why::Slower);
    }
}

#[test]
fn one_slower_among_ten_is_found_and_ten_that_do_nothing_are_not_kept() {
    for seed in 0..12 {
        let mut effects = [0.0; 10];
        assert!(!decision(seed, Plan::Samples, 50.0, &effects).keeps());
        effects[3] = 0.02;
        let found = decision(seed, Plan::Samples, 50.0, &effects);
        assert_eq!((found.why, found.slower.len()), (Why::Slower, 1));
    }
}

/// Why any of this is needed: the way it is usually done, 30 samples of the base, then 30 of the
/// candidate, and the better median wins.
#[test]
fn sequential_medians_would_keep_nothing_for_something() {
    let candidates = 400;
    let median = |machine: &mut Machine| {
        let mut costs: Vec<f64> = (0..30).map(|_| machine.sample(1.0).cost).collect();
        costs.sort_by(f64::total_cmp);
        median_of_sorted(&costs).unwrap()
    };
    let accepted = (0..candidates).filter(|seed| {
        let mut machine = Machine::new(*seed, 200.0);
        let base = median(&mut machine);
        median(&mut machine) < base * 0.995
    });
    let share = accepted.count() as f64 / candidates as f64;
    assert!(share > 0.2, "sequential medians accept {share}");
}
