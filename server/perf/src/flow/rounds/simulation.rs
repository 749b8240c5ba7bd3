//! What is kept on a machine whose processes differ by a known spread, which may grow after the baseline.

use super::super::baseline;
use super::*;
use crate::readings::{Direction, Key, SetComparison};
use crate::stats::{Method, Plan, Random, between_processes};
use crate::verdict::{Correctness, Judged};

/// Each estimate's standard error, and half of its interval: Student's t of 29 degrees of freedom.
const ERROR: f64 = 0.002;
const HALF: f64 = 2.663 * ERROR;
const CONFIGURATIONS: usize = 3;

/// One pair of processes: half of what they differ by is common to all configurations.
fn round(random: &mut Random, effect: f64, spread: f64) -> Vec<Estimate> {
    let part = spread * 0.5f64.sqrt();
    let common = part * random.normal();
    (0..CONFIGURATIONS)
        .map(|_| {
            let own = part * random.normal() + ERROR * random.normal();
            let effect = effect + common + own;
            Estimate {
                effect,
                low: effect - HALF,
                high: effect + HALF,
                level: Plan::Samples.level(),
                standard_error: ERROR,
                pairs: 60,
                blocks: 30,
                dropped: 0,
                method: Method::Bootstrap,
            }
        })
        .collect()
}

/// The same by configuration.
fn repeated(rounds: &[Vec<Estimate>]) -> Vec<Repeated> {
    (0..CONFIGURATIONS)
        .map(|at| Repeated {
            cost: 1.0,
            effects: rounds.iter().map(|round| round[at]).collect(),
        })
        .collect()
}

/// What the base compared with itself says.
fn noise_of(rounds: &[Vec<Estimate>]) -> Vec<Noise> {
    let between = between_processes(&repeated(rounds)).into_iter();
    let noise = between.map(|(between, draws)| {
        let quiet = Noise {
            estimate: rounds[0][0],
            per_pair: ERROR * 60f64.sqrt(),
            bias: 0.0,
            detectable: 0.0,
            between: 0.0,
            draws: 0,
        };
        quiet.with_processes(between, draws, Plan::Samples.last_look())
    });
    noise.collect()
}

/// Whether a candidate with this true effect is kept, as [`Loop::compare_until_decided`] does it.
fn keeps(seed: u64, effect: f64, spread: f64, later: f64) -> bool {
    let last = Plan::Samples.last_look();
    let mut random = Random::seeded(seed * 7919 + 13);
    let mut rounds: Vec<_> = (0..baseline::ROUNDS)
        .map(|_| round(&mut random, 0.0, spread))
        .collect();
    let mut noise = noise_of(&rounds);
    while rounds.len() < baseline::MOST_ROUNDS
        && noise.iter().any(|n| n.detectable > baseline::LOUD)
    {
        rounds.push(round(&mut random, 0.0, spread));
        noise = noise_of(&rounds);
    }
    let mut rounds = vec![round(&mut random, effect, later)];
    loop {
        let parts = repeated(&rounds).into_iter().zip(&noise);
        let parts = parts.map(|(repeated, noise)| Part {
            repeated,
            noise: Some(*noise),
        });
        let judged = verdicts(parts.collect(), last).into_iter().enumerate();
        let judged = judged.map(|(at, verdict)| Judged {
            key: Key {
                configuration: format!("test_perf[{at}]").into(),
                backend: "cutile".into(),
                direction: Direction::Forward,
            },
            weight: 1.0,
            verdict,
        });
        let decision = decide(&Candidate {
            correctness: Correctness::Passed,
            configurations: judged.collect(),
            sets: SetComparison::default(),
            against_start: None,
        });
        let mean = |round: &Vec<Estimate>| {
            round.iter().map(|e| e.effect).sum::<f64>() / CONFIGURATIONS as f64
        };
        let changes: Vec<f64> = rounds.iter().map(mean).collect();
        if !wants_another(&decision, &changes) {
            return decision.keeps() && is_seen(&changes);
        }
        rounds.push(round(&mut random, effect, later));
    }
}

/// Of so many candidates, the share that is kept.
fn kept(candidates: u64, effect: f64, spread: f64, later: f64) -> f64 {
    let keeps = (0..candidates).filter(|seed| keeps(*seed, effect, spread, later));
    keeps.count() as f64 / candidates as f64
}

#[test]
fn a_machine_that_stays_as_it_was_shows_what_is_there_and_nothing_else() {
    for spread in [0.003, 0.01] {
        let (nothing, five) = (
            kept(600, 0.0, spread, spread),
            kept(300, -0.05, spread, spread),
        );
        println!("{spread}: nothing {nothing}, five {five}");
        assert!(nothing <= 0.01, "kept {nothing} that do nothing");
        assert!(five >= 0.97, "found {five} of 5 %");
    }
    let three = kept(300, -0.03, 0.003, 0.003);
    assert!(three >= 0.97, "found {three} of 3 %");
}

/// By the baseline alone it would be about 11, 21 and 12 in a hundred.
#[test]
fn a_machine_that_becomes_louder_keeps_less_by_chance() {
    for (spread, later, most) in [(0.003, 0.01, 0.08), (0.003, 0.02, 0.12), (0.01, 0.03, 0.1)] {
        let nothing = kept(600, 0.0, spread, later);
        println!("{spread} -> {later}: {nothing}");
        assert!(nothing <= most, "kept {nothing} at {later}");
    }
}
