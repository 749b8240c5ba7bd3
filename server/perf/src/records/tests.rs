use proptest::prelude::*;

use super::*;

fn example(iteration: u32, optimization: &str, latency_ms: f64) -> Row {
    Row {
        iteration,
        optimization: optimization.to_owned(),
        latency_ms,
        correctness: Correctness::Pass,
        status: Status::Keep,
    }
}

/// The example of the seed, byte for byte.
const SEED: &str = "\
| iteration | optimization       | latency_ms | correctness | status |
|----------:|:-------------------|-----------:|:------------|-------:|
| 0         | baseline           |   0.820000 | PASS        | keep   |
| 1         | TMA replace gather |   0.390000 | PASS        | keep   |
";

#[test]
fn the_table_is_that_of_the_seed() {
    let rows = [
        example(0, "baseline", 0.82),
        example(1, "TMA replace gather", 0.39),
    ];
    assert_eq!(render(&rows), SEED);
    let first = append("", &rows[0]).unwrap();
    assert_eq!(append(&first, &rows[1]).unwrap(), SEED);
    assert_eq!(append(" \n", &rows[0]).unwrap(), first);
    assert_eq!(parse(SEED).unwrap(), rows);
    assert_eq!(parse(&render(&[])), Ok(vec![]));
    assert_eq!(parse(""), Ok(vec![]));
}

#[test]
fn failed_and_crashed_rows_carry_a_value_too() {
    let fail = Row {
        correctness: Correctness::Fail,
        status: Status::Revert,
        ..example(2, "ftz", 0.39)
    };
    let crash = Row {
        status: Status::Crash,
        ..fail.clone()
    };
    let text = render(&[fail.clone(), crash.clone()]);
    assert!(text.ends_with(
        "| 2         | ftz                |   0.390000 | FAIL        | revert |\n\
         | 2         | ftz                |   0.390000 | FAIL        | crash  |\n"
    ));
    assert_eq!(parse(&text).unwrap(), [fail, crash]);
}

#[test]
fn what_is_there_stays_as_it_is() {
    let reformatted = SEED.replace("  ", " ").trim_end().to_owned();
    let longer = append(&reformatted, &example(2, "x", 0.1)).unwrap();
    assert!(longer.starts_with(&reformatted));
    assert_eq!(parse(&longer).unwrap().len(), 3);
}

#[test]
fn bars_and_line_breaks_cannot_break_the_table() {
    let row = example(1, "a|b \\| c\nsecond  line", 0.1);
    let text = render(&[row]);
    assert_eq!(text.lines().count(), 3);
    assert_eq!(
        parse(&text).unwrap()[0].optimization,
        "a|b \\| c second line"
    );
}

#[test]
fn somebody_elses_text_is_not_buried() {
    let line = |n: usize, text: &str| {
        let mut lines: Vec<&str> = SEED.lines().collect();
        lines[n] = text;
        parse(&lines.join("\n")).unwrap_err()
    };
    let cell = |column, text: &str| TableProblem::Cell {
        column,
        text: text.to_owned(),
    };
    for (n, text, problem) in [
        (0, "# My notes", TableProblem::Header),
        (
            0,
            "| iteration | optimization | latency_ms | status |",
            TableProblem::Header,
        ),
        (
            1,
            "| 0 | baseline | 0.8 | PASS | keep |",
            TableProblem::Rule,
        ),
        (2, "remember to try occupancy 8", TableProblem::Cells(0)),
        (2, "| 0 | baseline | 0.8 | PASS |", TableProblem::Cells(4)),
        (
            2,
            "| 0 | baseline | 0.8 | PASS | keep | x |",
            TableProblem::Cells(6),
        ),
        (
            2,
            "| zero | baseline | 0.8 | PASS | keep |",
            cell("iteration", "zero"),
        ),
        (
            2,
            "| 0 | baseline | NaN | PASS | keep |",
            cell("latency_ms", "NaN"),
        ),
        (
            2,
            "| 0 | baseline | -1.0 | PASS | keep |",
            cell("latency_ms", "-1.0"),
        ),
        (
            2,
            "| 0 | baseline | 0.8 | pass | keep |",
            cell("correctness", "pass"),
        ),
        (
            3,
            "| 0 | baseline | 0.8 | PASS | kept |",
            cell("status", "kept"),
        ),
    ] {
        assert_eq!(
            line(n, text),
            TableError {
                line: n as u32 + 1,
                problem
            },
            "{text}"
        );
    }
    let header_only = SEED.lines().next().unwrap();
    assert_eq!(
        parse(header_only),
        Err(TableError {
            line: 2,
            problem: TableProblem::Rule
        })
    );
    assert!(append("my notes", &example(0, "baseline", 0.8)).is_err());
}

proptest! {
    #[test]
    fn rows_come_back(
        optimization in "[ -~é]{0,40}",
        micros in 0u32..10_000_000,
        iteration in 0u32..26,
    ) {
        let row = example(iteration, &optimization, f64::from(micros) / 1e6);
        let back = parse(&render(std::slice::from_ref(&row))).unwrap().remove(0);
        let spaces: Vec<&str> = optimization.split_whitespace().collect();
        prop_assert_eq!(back.optimization, spaces.join(" "));
        prop_assert!((back.latency_ms - row.latency_ms).abs() < 1e-9);
    }

    #[test]
    fn no_text_panics(text in "[|\\\\ \n0-9a-z:.-]{0,80}") {
        let _ = parse(&text);
        let _ = append(&text, &example(1, "x", 1.0));
    }
}
