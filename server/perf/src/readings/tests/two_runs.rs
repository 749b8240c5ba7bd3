//! What two runs have in common.

use super::*;

#[test]
fn sets_say_what_became_of_each_configuration() {
    let base = junit::parse(&junit_of(
        &["same", "gone", "skip", "fail", "nan", "silent", "error"]
            .map(|name| benchmark(name, &record("1")))
            .join(""),
    ));
    let with = |name: &str, child: &str| {
        format!(
            "<testcase classname=\"tests.test_x\" name=\"{name}\" file=\"tests/test_x.py\">{child}</testcase>"
        )
    };
    let candidate = junit::parse(&junit_of(
        &[
            benchmark("new", &record("1")),
            benchmark("same", &record("2")),
            with("skip", "<skipped message=\"no\"/>"),
            with("fail", "<failure message=\"bad\"/>"),
            with("error", "<error message=\"broke\"/>"),
            with("silent", ""),
            with("never", "<skipped message=\"always\"/>"),
            benchmark("nan", &record("nan")),
        ]
        .join(""),
    ));
    let sets = compare_sets(&base.unwrap().readings(), &candidate.unwrap().readings());
    let short = |key: &Key| key.configuration.rsplit("::").next().unwrap().to_owned();
    assert_eq!(sets.common.iter().map(short).collect::<Vec<_>>(), ["same"]);
    let changes: Vec<_> = sets
        .changes
        .iter()
        .map(|(key, change)| (short(key), change.clone()))
        .collect();
    let text = String::from;
    assert_eq!(
        changes,
        [
            (text("gone"), Change::Vanished),
            (text("skip"), Change::Skipped { reason: text("no") }),
            (
                text("fail"),
                Change::Failed {
                    message: text("bad")
                }
            ),
            (
                text("nan"),
                Change::Unusable {
                    reason: text("the median is NaN ms")
                }
            ),
            (
                text("silent"),
                Change::Unusable {
                    reason: text("no number was reported")
                }
            ),
            (
                text("error"),
                Change::Errored {
                    message: text("broke")
                }
            ),
            (text("new"), Change::Appeared),
        ]
    );
    assert_eq!(sets.unmeasured, ["tests/test_x.py::never"]);
    assert_eq!(sets.losses().count(), 6);
}

#[test]
fn one_direction_can_vanish_alone_and_a_unit_can_change() {
    let both = "{'cutile': {'forward': {'median': 1}, 'backward': {'median': 2}}}";
    let read = |value: &str| {
        junit::parse(&junit_of(&benchmark("a", value)))
            .unwrap()
            .readings()
    };
    let sets = compare_sets(&read(both), &read(&record("1")));
    assert_eq!(sets.common.len(), 1);
    assert_eq!(sets.changes[0].0.direction, Direction::Backward);
    assert_eq!(sets.changes[0].1, Change::Vanished);

    let mut rate = read(&record("1"));
    rate[0].timing.as_mut().unwrap().median.unit = Unit::Teraflops;
    let sets = compare_sets(&read(&record("1")), &rate);
    let change = Change::UnitChanged {
        from: Unit::Milliseconds,
        to: Unit::Teraflops,
    };
    assert_eq!(sets.changes[0].1, change);
    assert!(sets.common.is_empty());
}
