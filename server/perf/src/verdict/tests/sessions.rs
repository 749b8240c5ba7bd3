//! When sessions stop, and goals.

use super::*;

#[test]
fn goals_are_read_and_written() {
    for (text, goal, written) in [
        ("0.30ms", Goal::Latency(0.3), "0.3ms"),
        ("300 us", Goal::Latency(0.3), "0.3ms"),
        ("1.2x", Goal::Speedup(1.2), "1.2x"),
        ("85%sol", Goal::SpeedOfLight(0.85), "85%sol"),
        ("29 %SOL", Goal::SpeedOfLight(0.29), "29%sol"),
    ] {
        assert_eq!(text.parse(), Ok(goal), "{text}");
        assert_eq!(goal.to_string(), written);
        let json = serde_json::to_string(&goal).unwrap();
        assert_eq!(serde_json::from_str::<Goal>(&json).unwrap(), goal);
    }
    for text in [
        "", "fast", "0ms", "-1ms", "infx", "nanms", "1e3ms", "101%sol", "85%", "1.2.3x", "x",
    ] {
        assert_eq!(
            text.parse::<Goal>(),
            Err(GoalError { text: text.into() }),
            "{text}"
        );
    }
}

#[test]
fn goals_are_reached_at_their_number() {
    let at = Standing {
        start: 0.6,
        current: 0.3,
        is_time: true,
        least_ms: Some(0.15),
    };
    let rate = Standing {
        is_time: false,
        ..at
    };
    let unknown = Standing {
        least_ms: None,
        ..at
    };
    use GoalState::{NoCeiling, NoTime, NotReached, Reached};
    for (goal, standing, expected) in [
        (Goal::Latency(0.3), at, Reached),
        (Goal::Latency(0.299), at, NotReached),
        (Goal::Latency(0.3), rate, NoTime),
        (Goal::Speedup(2.0), at, Reached),
        (Goal::Speedup(2.01), at, NotReached),
        (Goal::Speedup(2.0), rate, Reached),
        (Goal::SpeedOfLight(0.5), at, Reached),
        (Goal::SpeedOfLight(0.51), at, NotReached),
        (Goal::SpeedOfLight(0.5), unknown, NoCeiling),
        (Goal::SpeedOfLight(0.5), rate, NoTime),
    ] {
        assert_eq!(goal.state(&standing), expected, "{goal} {standing:?}");
    }
}

#[test]
fn sessions_stop_by_rule() {
    use Progress::{Improved, NotCounted, NotImproved};
    let going = Session {
        goal: None,
        iterations: 3,
        progress: vec![Improved],
        outlook: Some(Outlook::GoOn),
        left_to_try: None,
        root_cause: None,
        go_on: false,
        stop_asked: false,
    };
    assert_eq!(stop(&going), None);
    let with = |change: &dyn Fn(&mut Session)| {
        let mut session = going.clone();
        change(&mut session);
        stop(&session)
    };
    let progress = |steps: &[Progress]| with(&|s| s.progress = steps.to_vec());
    assert_eq!(progress(&[NotImproved]), None);
    assert_eq!(
        progress(&[NotImproved, NotImproved]),
        Some(Stop::NoImprovement)
    );
    assert_eq!(progress(&[NotImproved, Improved, NotImproved]), None);
    assert_eq!(
        progress(&[NotImproved, NotCounted, NotImproved]),
        Some(Stop::NoImprovement)
    );
    assert_eq!(progress(&[NotCounted, NotCounted, NotCounted]), None);

    assert_eq!(with(&|s| s.iterations = 24), None);
    assert_eq!(with(&|s| s.iterations = 25), Some(Stop::IterationLimit));
    assert_eq!(with(&|s| s.left_to_try = Some(1)), None);
    assert_eq!(
        with(&|s| s.left_to_try = Some(0)),
        Some(Stop::EverythingTried)
    );
    assert_eq!(with(&|s| s.outlook = Some(Outlook::DemoteFamily)), None);
    let small = |go_on| with(&|s| (s.outlook, s.go_on) = (Some(Outlook::StopUnlessAsked), go_on));
    assert_eq!((small(false), small(true)), (Some(Stop::SmallGain), None));
    let escalated = with(&|s| s.root_cause = Some(RootCause::Scheduling)).unwrap();
    assert_eq!(escalated.ending(), Ending::Escalated);

    let goal = Goal::Speedup(1.5);
    let at = |current| {
        Some((
            goal,
            Standing {
                start: 0.6,
                current,
                is_time: true,
                least_ms: None,
            },
        ))
    };
    assert_eq!(with(&|s| s.goal = at(0.5)), None);
    let reached = with(&|s| (s.goal, s.iterations) = (at(0.4), 25)).unwrap();
    assert_eq!(
        (reached, reached.ending()),
        (Stop::GoalReached { goal }, Ending::Done)
    );
    let user = with(&|s| (s.goal, s.stop_asked) = (at(0.4), true)).unwrap();
    assert_eq!((user, user.ending()), (Stop::User, Ending::Stopped));
    for stop in [
        user,
        reached,
        escalated,
        Stop::SmallGain,
        Stop::NoImprovement,
    ] {
        assert!(stop.sentence().ends_with('.'));
    }
}
