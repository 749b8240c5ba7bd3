//! The rules at each of their boundaries.

mod sessions;

use super::*;
use crate::readings::{Change, Direction, Key, SetComparison};
use crate::records::Status;
use crate::stats::{Estimate, Method};

/// An estimate in percent: its interval's ends and the effect between.
fn percent(low: f64, effect: f64, high: f64) -> Estimate {
    let log = |percent: f64| (percent / 100.0).ln_1p();
    Estimate {
        effect: log(effect),
        low: log(low),
        high: log(high),
        level: 0.9875,
        standard_error: (log(high) - log(low)) / 5.0,
        pairs: 240,
        blocks: 120,
        dropped: 0,
        method: Method::Bootstrap,
    }
}

fn evidence(low: f64, effect: f64, high: f64) -> Evidence {
    Evidence {
        estimate: percent(low, effect, high),
        detectable: 0.01,
        more: true,
        floor: None,
    }
}

#[test]
fn each_verdict_at_its_boundaries() {
    use Verdict::{Ambiguous, Faster, Maybe, Same, Slower};
    for (low, effect, high, expected) in [
        (-6.0, -5.0, -4.0, Faster),
        (-3.0, -2.01, -0.01, Faster),
        (-3.0, -1.99, -0.01, Maybe),
        (-6.0, -5.0, 0.01, Ambiguous),
        (1.01, 2.0, 3.0, Slower),
        (0.99, 2.0, 3.0, Ambiguous),
        (-0.99, 0.0, 0.99, Same),
        (-1.01, 0.0, 0.5, Ambiguous),
        (-0.5, 0.0, 1.01, Ambiguous),
        // Inside one percent comes before below zero.
        (-0.9, -0.5, -0.1, Same),
        (-1.1, -0.6, -0.1, Maybe),
        // Above zero, but neither above one percent nor within it.
        (0.1, 0.8, 1.5, Ambiguous),
        (-30.0, 0.0, 30.0, Ambiguous),
    ] {
        let judged = judge(&evidence(low, effect, high));
        assert_eq!(judged.verdict, expected, "{low} {effect} {high}");
        assert_eq!(judged.wants_more(), expected == Ambiguous);
        assert!(judged.sentence().ends_with('.'));
    }
}

#[test]
fn a_noisy_machine_can_only_say_maybe() {
    for (detectable, expected) in [
        (0.02, Verdict::Faster),
        (0.0201, Verdict::Maybe),
        (f64::NAN, Verdict::Maybe),
        (f64::INFINITY, Verdict::Maybe),
    ] {
        let judged = judge(&Evidence {
            detectable,
            ..evidence(-9.0, -6.0, -3.0)
        });
        assert_eq!(judged.verdict, expected, "{detectable}");
    }
    // Noise is no excuse for being slower.
    let judged = judge(&Evidence {
        detectable: 0.2,
        ..evidence(3.0, 6.0, 9.0)
    });
    assert_eq!(judged.verdict, Verdict::Slower);
}

#[test]
fn the_last_look_leaves_no_question_open() {
    let judged = judge(&Evidence {
        more: false,
        ..evidence(-2.0, 1.5, 4.0)
    });
    assert_eq!(
        (judged.verdict, judged.wants_more()),
        (Verdict::Ambiguous, false)
    );
    assert_eq!(judged.reason, Reason::Undecided);
    let counted = judged.counted();
    assert_eq!(counted.effect, 0.0);
    assert_eq!(
        (counted.low, counted.high),
        (judged.estimate.low, judged.estimate.high)
    );
}

#[test]
fn a_number_beyond_the_device_is_a_measuring_error() {
    let floor = |measured_ms| {
        let floor = Some(configuration::Floor {
            measured_ms,
            least_ms: 0.031,
        });
        judge(&Evidence {
            floor,
            ..evidence(-40.0, -35.0, -30.0)
        })
    };
    assert_eq!(floor(0.031).verdict, Verdict::Faster);
    let judged = floor(0.0309);
    assert_eq!(judged.verdict, Verdict::MeasuringError);
    assert!(judged.sentence().contains("0.031000 ms"));
    let decision = decide(&candidate(vec![with_verdict("a", judged)]));
    assert!(matches!(decision.why, Why::MeasuringError { .. }) && !decision.keeps());
}

#[test]
fn only_a_proof_makes_no_change() {
    let same = Identity::Same {
        proof: "code and launches are equal".into(),
    };
    let verdict = ConfigurationVerdict::from_identity(&same).unwrap();
    assert_eq!(verdict.verdict, Verdict::NoChange);
    assert_eq!(verdict.estimate.change(), 0.0);
    assert_eq!(
        ConfigurationVerdict::from_identity(&Identity::Different),
        None
    );
    let unknown = Identity::Unknown {
        reason: "not compiled".into(),
    };
    assert_eq!(ConfigurationVerdict::from_identity(&unknown), None);

    let equal = with_verdict("a", verdict);
    let decision = decide(&candidate(vec![equal.clone(), equal.clone()]));
    assert_eq!(decision.why, Why::SameProgram);
    assert!(!decision.is_iteration() && !decision.keeps());
    // One that does differ makes it an iteration.
    let decision = decide(&candidate(vec![equal, measured("b", -9.0, -8.0, -7.0)]));
    assert_eq!(decision.why, Why::MediumGain);
}

fn key(name: &str) -> Key {
    Key {
        configuration: name.into(),
        backend: "cutile".into(),
        direction: Direction::Forward,
    }
}

fn with_verdict(name: &str, verdict: ConfigurationVerdict) -> Judged {
    Judged {
        key: key(name),
        weight: 1.0,
        verdict,
    }
}

fn measured(name: &str, low: f64, effect: f64, high: f64) -> Judged {
    with_verdict(
        name,
        judge(&Evidence {
            more: false,
            ..evidence(low, effect, high)
        }),
    )
}

fn candidate(configurations: Vec<Judged>) -> Candidate {
    Candidate {
        correctness: Correctness::Passed,
        configurations,
        sets: SetComparison::default(),
        against_start: None,
    }
}

#[test]
fn an_iteration_is_kept_by_its_total() {
    use Outlook::{DemoteFamily, GoOn, StopUnlessAsked};
    let faster = |effect: f64| measured("f", effect - 0.5, effect, effect + 0.5);
    let same = || measured("s", -0.3, 0.0, 0.3);
    let undecided = || measured("u", -4.0, -1.0, 3.0);
    for (configurations, outlook) in [
        (vec![faster(-5.01)], Some(GoOn)),
        (vec![faster(-4.99)], Some(DemoteFamily)),
        (vec![faster(-2.01)], Some(DemoteFamily)),
        (vec![faster(-1.99)], Some(StopUnlessAsked)),
        // One of two: the total is half.
        (vec![faster(-10.5), same()], Some(GoOn)),
        (vec![faster(-9.0), same()], Some(DemoteFamily)),
        (vec![faster(-3.0), same()], Some(StopUnlessAsked)),
        // Undecided counts as unchanged, whatever its effect.
        (vec![faster(-4.5), undecided()], Some(DemoteFamily)),
        (vec![faster(-3.5), undecided()], Some(StopUnlessAsked)),
        (vec![same()], None),
        (vec![undecided()], None),
        (vec![same(), undecided()], None),
    ] {
        let decision = decide(&candidate(configurations));
        let expected = if outlook.is_some() {
            Progress::Improved
        } else {
            Progress::NotImproved
        };
        assert_eq!(
            (decision.outlook(), decision.progress()),
            (outlook, expected),
            "{decision:?}"
        );
        let status = if outlook.is_some() {
            Status::Keep
        } else {
            Status::Revert
        };
        assert_eq!(decision.status(), status);
        assert!(decision.sentence().ends_with('.'));
    }
}

#[test]
fn weights_move_the_total() {
    let parts = |weight: f64| {
        let heavy = Judged {
            weight,
            ..measured("a", -9.0, -8.0, -7.0)
        };
        decide(&candidate(vec![heavy, measured("b", -0.3, 0.0, 0.3)])).why
    };
    assert_eq!(parts(1.0), Why::MediumGain);
    assert_eq!(parts(9.0), Why::LargeGain);
    assert_eq!(parts(0.1), Why::SmallGain);
}

#[test]
fn any_slower_configuration_reverts_and_a_mixed_result_offers_a_gate() {
    let slower = measured("slow", 4.0, 5.0, 6.0);
    let faster = measured("fast", -41.0, -40.0, -39.0);
    let decision = decide(&candidate(vec![slower.clone()]));
    assert_eq!(
        (&decision.why, decision.offers_shape_gate()),
        (&Why::Slower, false)
    );
    let decision = decide(&candidate(vec![faster, slower]));
    assert_eq!(
        (&decision.why, decision.offers_shape_gate()),
        (&Why::Mixed, true)
    );
    assert_eq!(
        (decision.faster, decision.slower),
        (vec![key("fast")], vec![key("slow")])
    );
}

#[test]
fn having_looked_at_many_a_slower_one_must_be_clearer() {
    // Just above +1 %: by itself slower, one of fifty perhaps by chance.
    let borderline = measured("border", 1.01, 1.6, 2.4);
    let alone = decide(&candidate(vec![borderline.clone()]));
    assert_eq!((alone.why, alone.perhaps_slower.len()), (Why::Slower, 0));
    let mut many = vec![borderline];
    many.extend((0..49).map(|i| measured(&format!("s{i}"), -0.3, 0.0, 0.3)));
    let decision = decide(&candidate(many.clone()));
    assert_eq!(decision.why, Why::NoImprovement);
    assert_eq!(
        (decision.slower, decision.perhaps_slower),
        (vec![], vec![key("border")])
    );
    // One that is clear stays clear among many.
    many[0] = measured("border", 4.0, 5.0, 6.0);
    assert_eq!(decide(&candidate(many)).why, Why::Slower);
}

#[test]
fn what_may_be_chance_alone_keeps_nothing_but_many_together_do() {
    // p of about 0.4 %: below zero, but not rare enough among a session's many looks.
    let weak = |name: &str| measured(name, -2.05, -1.1, -0.01);
    let decision = decide(&candidate(vec![weak("a")]));
    assert_eq!(
        (&decision.why, decision.progress()),
        (&Why::NoImprovement, Progress::NotImproved)
    );
    assert_eq!(decision.perhaps_faster, [key("a")]);
    assert!(decision.sentence().contains("chance"));
    let names = ["a", "b", "c", "d"];
    assert_eq!(
        decide(&candidate(names.map(weak).to_vec())).why,
        Why::SmallGain
    );
    // And a clear small effect is kept.
    assert_eq!(
        decide(&candidate(vec![measured("a", -1.6, -1.2, -0.8)])).why,
        Why::SmallGain
    );
}

#[test]
fn correctness_comes_before_everything() {
    let fast = || vec![measured("a", -41.0, -40.0, -39.0)];
    let failed = Correctness::Failed {
        tests: vec!["t.py::test_op[1]".into()],
    };
    for correctness in [failed, Correctness::NothingRan] {
        let decision = decide(&Candidate {
            correctness,
            ..candidate(fast())
        });
        assert!(!decision.keeps());
        assert_eq!(decision.progress(), Progress::NotCounted);
        assert!(matches!(
            decision.why,
            Why::Incorrect { .. } | Why::Unverified
        ));
    }
    let same = Identity::Same {
        proof: "equal".into(),
    };
    let equal = with_verdict("a", ConfigurationVerdict::from_identity(&same).unwrap());
    let failed = Correctness::Failed { tests: vec![] };
    let decision = decide(&Candidate {
        correctness: failed,
        ..candidate(vec![equal])
    });
    assert!(matches!(decision.why, Why::Incorrect { .. }));
}

#[test]
fn a_candidate_cannot_win_by_losing_a_configuration() {
    let fast = || vec![measured("a", -41.0, -40.0, -39.0)];
    for change in [
        Change::Vanished,
        Change::Skipped {
            reason: "too large".into(),
        },
        Change::Failed {
            message: "assert".into(),
        },
        Change::Errored {
            message: "fixture".into(),
        },
        Change::Unusable {
            reason: "nan".into(),
        },
    ] {
        let sets = SetComparison {
            changes: vec![(key("slowest"), change)],
            ..SetComparison::default()
        };
        let decision = decide(&Candidate {
            sets,
            ..candidate(fast())
        });
        assert!(matches!(decision.why, Why::Lost { .. }) && !decision.keeps());
        assert!(decision.sentence().contains("slowest"));
    }
    let sets = SetComparison {
        changes: vec![(key("new"), Change::Appeared)],
        ..SetComparison::default()
    };
    let decision = decide(&Candidate {
        sets,
        ..candidate(fast())
    });
    assert_eq!(
        (decision.why, decision.appeared),
        (Why::LargeGain, vec![key("new")])
    );
    assert_eq!(decide(&candidate(vec![])).why, Why::NothingMeasured);
}

#[test]
fn the_total_is_never_two_percent_slower_than_the_start() {
    let decide_at = |ratio| {
        let faster = vec![measured("a", -9.0, -8.0, -7.0)];
        decide(&Candidate {
            against_start: Some(ratio),
            ..candidate(faster)
        })
    };
    assert_eq!(decide_at(1.02).why, Why::LargeGain);
    let decision = decide_at(1.021);
    assert_eq!(decision.why, Why::SlowerThanStart { ratio: 1.021 });
    assert!(decision.sentence().contains("2.10 % slower"));
}

#[test]
fn a_wrong_baseline_is_only_for_fixing() {
    let wrong = Correctness::Failed {
        tests: vec!["t".into()],
    };
    assert_eq!(
        decide_baseline(&Correctness::Passed, false),
        BaselineDecision::GoOn
    );
    assert_eq!(
        decide_baseline(&Correctness::Passed, true),
        BaselineDecision::GoOn
    );
    assert_eq!(decide_baseline(&wrong, false), BaselineDecision::Stop);
    assert_eq!(decide_baseline(&wrong, true), BaselineDecision::FixFirst);
    assert_eq!(
        decide_baseline(&Correctness::NothingRan, false),
        BaselineDecision::Stop
    );
    assert_eq!(
        decide_fix(&Correctness::Passed).outlook(),
        Some(Outlook::GoOn)
    );
    assert!(!decide_fix(&wrong).keeps() && !decide_fix(&Correctness::NothingRan).keeps());
}

#[test]
fn decisions_survive_a_journal() {
    let decision = decide(&candidate(vec![
        measured("a", -6.0, -5.0, -4.0),
        measured("b", 4.0, 5.0, 6.0),
    ]));
    let text = serde_json::to_string(&decision).unwrap();
    assert_eq!(serde_json::from_str::<Decision>(&text).unwrap(), decision);
    let verdict = judge(&evidence(-6.0, -5.0, -4.0));
    let text = serde_json::to_string(&verdict).unwrap();
    assert!(text.contains("\"FASTER\""));
    assert_eq!(
        serde_json::from_str::<ConfigurationVerdict>(&text).unwrap(),
        verdict
    );
}
