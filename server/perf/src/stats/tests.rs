//! The arithmetic, on numbers that can be checked by hand.

use proptest::prelude::*;

use super::*;

fn pair(base: f64, candidate: f64) -> Pair {
    Pair {
        base: Sample::new(base),
        candidate: Sample::new(candidate),
    }
}

fn at_clock(mut pair: Pair, clock_mhz: f64) -> Pair {
    pair.candidate.clock_mhz = Some(clock_mhz);
    pair.base.clock_mhz = Some(1980.0);
    pair
}

/// An estimate of which only the numbers matter.
fn known(effect: f64, low: f64, high: f64, standard_error: f64) -> Estimate {
    Estimate {
        effect,
        low,
        high,
        level: 0.9875,
        standard_error,
        pairs: 240,
        blocks: 120,
        dropped: 0,
        method: Method::Bootstrap,
    }
}

#[test]
fn samples_are_taken_in_turns() {
    use Variant::{Base as A, Candidate as B};
    assert_eq!(order(5).collect::<Vec<_>>(), [A, B, B, A, A, B, B, A, A, B]);
    assert_eq!(order(0).count(), 0);
}

#[test]
fn a_steady_drift_cancels_in_the_turns() {
    let mut clock = 0.0;
    let mut sample = |cost: f64| {
        clock += 1.0;
        Sample::new(cost * (1.0 + 0.001 * clock))
    };
    let mut pairs = Vec::new();
    for pair in order(60).collect::<Vec<_>>().chunks(2) {
        let [first, second] = [sample(1.0), sample(1.0)];
        pairs.push(match pair[0] {
            Variant::Base => Pair {
                base: first,
                candidate: second,
            },
            Variant::Candidate => Pair {
                base: second,
                candidate: first,
            },
        });
    }
    let found = estimate(&Ratios::of(&pairs).unwrap(), Plan::Samples).unwrap();
    assert!(found.effect.abs() < 2e-5, "{}", found.effect);
}

#[test]
fn the_effect_is_the_median_log_ratio() {
    let pairs = [
        pair(1.0, 1.0),
        pair(2.0, 1.0),
        pair(1.0, 100.0),
        pair(4.0, 2.0),
    ];
    let found = estimate(&Ratios::of(&pairs).unwrap(), Plan::WholeRuns).unwrap();
    assert!((found.effect - 0.5f64.ln() / 2.0).abs() < 1e-12);
    assert_eq!(
        (found.pairs, found.blocks, found.method),
        (4, 2, Method::StudentT)
    );
}

#[test]
fn pairs_under_a_slow_clock_are_dropped() {
    let mut pairs = vec![at_clock(pair(1.0, 1.0), 1980.0); 9];
    // 90 % of the median clock is 1782.
    pairs.push(at_clock(pair(1.0, 5.0), 1781.0));
    pairs.push(at_clock(pair(1.0, 1.0), 1782.0));
    let ratios = Ratios::of(&pairs).unwrap();
    assert_eq!(
        (ratios.pairs(), ratios.dropped(), ratios.blocks().len()),
        (10, 1, 6)
    );
    // Unknown clocks drop nothing.
    assert_eq!(Ratios::of(&[pair(1.0, 1.0); 3]).unwrap().dropped(), 0);
}

#[test]
fn costs_without_a_logarithm_are_refused() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let pairs = [pair(1.0, 1.0), pair(bad, 1.0)];
        assert_eq!(
            Ratios::of(&pairs),
            Err(StatsError::NotPositive { pair: 1 }),
            "{bad}"
        );
        let pairs = [pair(1.0, 1.0), pair(1.0, 1.0), pair(1.0, bad)];
        assert_eq!(
            Ratios::of(&pairs),
            Err(StatsError::NotPositive { pair: 2 }),
            "{bad}"
        );
    }
    assert_eq!(
        Ratios::of(&[pair(-1.0, -1.0)]),
        Err(StatsError::NotPositive { pair: 0 }),
        "two wrongs"
    );
}

#[test]
fn one_pair_says_nothing_about_spread() {
    for count in [0, 1] {
        let ratios = Ratios::of(&vec![pair(1.0, 1.0); count]).unwrap();
        let error = estimate(&ratios, Plan::WholeRuns).unwrap_err();
        assert_eq!(error, StatsError::TooFew { pairs: count });
        assert!(noise(&ratios, Plan::WholeRuns, 10).is_err());
    }
}

#[test]
fn looks_are_those_of_the_plan() {
    let looks = |plan: Plan| {
        let mut seen = Vec::new();
        while let Some(next) = plan.next_look(seen.last().copied().unwrap_or(0)) {
            seen.push(next);
        }
        seen
    };
    assert_eq!(looks(Plan::Samples), [30, 60, 120, 240]);
    assert_eq!(looks(Plan::WholeRuns), [4, 6, 10]);
    assert_eq!(Plan::Samples.next_look(31), Some(60));
    assert_eq!(
        (Plan::Samples.last_look(), Plan::WholeRuns.last_look()),
        (240, 10)
    );
    assert_eq!(Plan::Samples.level(), 0.9875);
}

#[test]
fn there_is_no_resampling_below_fifteen_blocks() {
    let noisy = |count: usize| -> Vec<Pair> {
        (0..count)
            .map(|i| pair(1.0, 1.0 + 0.01 * (i % 7) as f64))
            .collect()
    };
    let method = |count: usize, plan: Plan| {
        estimate(&Ratios::of(&noisy(count)).unwrap(), plan)
            .unwrap()
            .method
    };
    assert_eq!(method(30, Plan::Samples), Method::Bootstrap);
    assert_eq!(method(28, Plan::Samples), Method::SignedRank);
    assert_eq!(method(10, Plan::WholeRuns), Method::SignedRank);
    assert_eq!(method(6, Plan::WholeRuns), Method::StudentT);
    assert_eq!(method(4, Plan::WholeRuns), Method::StudentT);
}

#[test]
fn equal_input_gives_equal_intervals() {
    let pairs: Vec<Pair> = (0..60)
        .map(|i| pair(1.0, 0.95 + 0.001 * (i * 37 % 11) as f64))
        .collect();
    let found = estimate(&Ratios::of(&pairs).unwrap(), Plan::Samples).unwrap();
    let again = estimate(&Ratios::of(&pairs).unwrap(), Plan::Samples).unwrap();
    assert_eq!(found, again);
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Estimate>(&text).unwrap(), found);
}

/// The promise of the level: intervals of a true zero seldom miss it. 300 trials of 30 pairs with
/// heavy tails; at 98.75 % about 4 miss.
#[test]
fn intervals_keep_their_level() {
    let mut random = random::Random::seeded(5);
    let mut uniform = || (random.next() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    let missed = (0..300).filter(|_| {
        let pairs: Vec<Pair> = (0..30)
            .map(|_| pair(1.0, (0.01 * uniform() / (0.55 - uniform().abs())).exp()))
            .collect();
        let found = estimate(&Ratios::of(&pairs).unwrap(), Plan::Samples).unwrap();
        found.low > 0.0 || found.high < 0.0
    });
    let missed = missed.count();
    assert!(missed <= 9, "{missed} of 300 intervals missed");
}

#[test]
fn noise_tells_bias_from_spread() {
    // Alternating -1 % and +1 %: no bias, and the spread is 1 % a pair.
    let quiet: Vec<Pair> = (0..10)
        .map(|i| pair(1.0, (if i % 2 == 0 { 0.01f64 } else { -0.01 }).exp()))
        .collect();
    let found = noise(&Ratios::of(&quiet).unwrap(), Plan::WholeRuns, 10).unwrap();
    assert_eq!(found.bias, 0.0);
    assert!(
        (found.per_pair - 0.010_54).abs() < 1e-4,
        "{}",
        found.per_pair
    );
    // t(9) of 0.5 % is 3.250, of 20 % 0.883.
    assert!((found.detectable - (3.250 + 0.883) * 0.010_54 / 10f64.sqrt()).abs() < 3e-4);
    let more = noise(&Ratios::of(&quiet).unwrap(), Plan::WholeRuns, 40).unwrap();
    assert!((more.detectable / found.detectable - 0.5).abs() < 0.01);

    // One side always slower by 1.9 %, as separate buffers made it.
    let biased: Vec<Pair> = (0..60)
        .map(|i| pair(1.0, 1.019 + 1e-5 * f64::from(i % 5)))
        .collect();
    let found = noise(&Ratios::of(&biased).unwrap(), Plan::Samples, 240).unwrap();
    assert!((found.bias - 1.019f64.ln()).abs() < 1e-4);
    assert!(found.detectable >= found.bias * 0.98);
}

#[test]
fn identical_samples_have_no_noise_and_no_doubt() {
    let same = vec![pair(1.0, 0.9); 30];
    let found = estimate(&Ratios::of(&same).unwrap(), Plan::Samples).unwrap();
    assert_eq!((found.low, found.high), (found.effect, found.effect));
    assert!(found.standard_error < 1e-12);
    assert!(found.p_below(0.0) < 1e-9 && found.p_above(0.0) > 1.0 - 1e-9);
    // No spread at all, and no effect either.
    let unchanged = Estimate::unchanged();
    assert_eq!((unchanged.p_below(0.0), unchanged.p_above(0.0)), (1.0, 1.0));
}

#[test]
fn holm_steps_down() {
    for (p_values, alpha, expected) in [
        (vec![], 0.05, vec![]),
        (vec![0.04], 0.05, vec![true]),
        (
            vec![0.01, 0.04, 0.03, 0.005],
            0.05,
            vec![true, false, false, true],
        ),
        (vec![0.02, 0.02, 0.02], 0.05, vec![false, false, false]),
        (vec![0.016, 0.024, 0.049], 0.05, vec![true, true, true]),
        (vec![f64::NAN, 0.001], 0.05, vec![false, true]),
    ] {
        assert_eq!(holm(&p_values, alpha), expected, "{p_values:?}");
    }
}

#[test]
fn the_total_weighs_effects_and_adds_their_doubts_in_squares() {
    let parts = [
        Weighted {
            estimate: known(-0.10, -0.13, -0.08, 0.01),
            weight: 3.0,
        },
        Weighted {
            estimate: known(0.02, -0.02, 0.04, 0.01),
            weight: 1.0,
        },
    ];
    let found = total(&parts).unwrap();
    assert!((found.effect + 0.07).abs() < 1e-12);
    let below = (0.75f64 * 0.03).hypot(0.25 * 0.04);
    let above = (0.75f64 * 0.02).hypot(0.25 * 0.02);
    assert!((found.low - (-0.07 - below)).abs() < 1e-12);
    assert!((found.high - (-0.07 + above)).abs() < 1e-12);
    assert!(found.p_faster < 1e-9);
    assert!((found.improvement() - (1.0 - (-0.07f64).exp())).abs() < 1e-12);
    assert_eq!(total(&[]), None);
    assert_eq!(
        total(&[Weighted {
            weight: 0.0,
            ..parts[0]
        }]),
        None
    );
}

#[test]
fn one_configuration_is_its_own_total() {
    let estimate = known(-0.03, -0.04, -0.01, 0.004);
    let found = total(&[Weighted {
        estimate,
        weight: 2.5,
    }])
    .unwrap();
    for (found, own) in [
        (found.effect, -0.03),
        (found.low, -0.04),
        (found.high, -0.01),
    ] {
        assert!((found - own).abs() < 1e-12);
    }
    assert!((found.p_faster - estimate.p_below(0.0)).abs() < 1e-12);
}

#[test]
fn latencies_are_averaged_geometrically() {
    let mean = geometric_mean(&[(1.0, 1.0), (4.0, 1.0)]).unwrap();
    assert!((mean - 2.0).abs() < 1e-12);
    let weighted = geometric_mean(&[(1.0, 3.0), (16.0, 1.0)]).unwrap();
    assert!((weighted - 2.0).abs() < 1e-12);
    for unusable in [
        &[][..],
        &[(0.0, 1.0)],
        &[(-1.0, 1.0)],
        &[(f64::NAN, 1.0)],
        &[(1.0, 0.0)],
        &[(1.0, -1.0)],
    ] {
        assert_eq!(geometric_mean(unusable), None, "{unusable:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_effect_lies_within_its_resampled_interval_and_mirrors(
        costs in prop::collection::vec(0.5f64..2.0, 30..80)
    ) {
        let forth: Vec<Pair> = costs.iter().map(|cost| pair(1.0, *cost)).collect();
        let back: Vec<Pair> = costs.iter().map(|cost| pair(*cost, 1.0)).collect();
        let forth = estimate(&Ratios::of(&forth).unwrap(), Plan::Samples).unwrap();
        let back = estimate(&Ratios::of(&back).unwrap(), Plan::Samples).unwrap();
        prop_assert!(forth.low <= forth.effect && forth.effect <= forth.high);
        // Swapping the sides turns the sign. The ends agree but for the walk of the resampling.
        prop_assert!((forth.effect + back.effect).abs() < 1e-12);
        let width = forth.high - forth.low;
        prop_assert!((forth.low + back.high).abs() <= 0.5 * width + 1e-12);
    }
}
