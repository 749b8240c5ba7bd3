//! JUnit reports: benchmarks and correctness.

use super::*;

#[test]
fn a_real_benchmark_report_keeps_every_configuration_apart() {
    let readings = junit::parse(RMS_NORM).unwrap().readings();
    assert_eq!(readings.len(), 10);
    assert!(readings.iter().all(|r| r.median_ms().is_some()));
    let first = &readings[0];
    assert_eq!(
        first.configuration,
        "tests/ops/test_rms_norm.py::Test_RMSNorm::\
         test_perf[cutile-static_persistent-262144-1024-torch.float16]"
    );
    assert_eq!(first.backend.as_deref(), Some("cutile"));
    assert_eq!(first.direction, Some(Direction::Forward));
    let timing = first.timing.as_ref().unwrap();
    assert!((timing.median.value - 0.279396).abs() < 1e-9);
    assert_eq!(timing.repetitions, Some(163));
    assert_eq!(timing.peak_memory_mb, Some(1269.0));
    assert!(
        timing
            .kernel
            .as_deref()
            .unwrap()
            .starts_with("_rms_norm_kernel_static_persistent_K")
    );
}

#[test]
fn skipped_configurations_have_a_reason_and_no_number() {
    let readings = junit::parse(MATMUL).unwrap().readings();
    let measured = readings.iter().filter(|r| r.timing.is_some()).count();
    assert_eq!((readings.len(), measured), (16, 11));
    assert_eq!(
        named(&readings, "cutile-True-False-True-False").outcome,
        Outcome::Skipped {
            reason: "[matmul] cutile transpose_b is not supported".into()
        }
    );
}

#[test]
fn a_correctness_report_says_what_failed_where() {
    for (text, is_long) in [(LONG, true), (SHORT, false)] {
        let report = junit::parse(text).unwrap();
        assert_eq!((report.cases.len(), report.passed()), (15, 9));
        let failed: Vec<_> = report
            .failures()
            .map(|case| {
                let at = case.failed_at.as_ref().unwrap();
                assert_eq!(at.file, "tests/ops/test_k.py");
                (case.configuration.rsplit("::").next().unwrap(), at.line)
            })
            .collect();
        // The helper that asserts lies in the same file, so its line is the one to show.
        let expected = [
            ("test_op[cutile-3]", 7),
            ("test_setup", 12),
            ("test_teardown", 18),
            ("test_plain", 53),
        ];
        assert_eq!(failed, expected);
        let case = report.failures().next().unwrap();
        assert_eq!(
            case.configuration,
            "tests/ops/test_k.py::Test_Kernel::test_op[cutile-3]"
        );
        assert_eq!(case.line, is_long.then_some(22));
        assert_eq!(
            case.outcome,
            Outcome::Failed {
                message: "AssertionError: Tensor-likes are not close!\n  \
                          Mismatched elements: 1 / 4 (25.0%)\nassert 0 == 3"
                    .into()
            }
        );
        assert!(matches!(
            report.failures().nth(1).unwrap().outcome,
            Outcome::Error { .. }
        ));
        let skipped = report
            .cases
            .iter()
            .filter(|c| matches!(c.outcome, Outcome::Skipped { .. }))
            .count();
        assert_eq!(skipped, 2);
    }
}

#[test]
fn a_module_that_cannot_be_imported_is_an_error_with_its_exception() {
    let text = junit_of(
        "<testcase classname=\"\" name=\"tests.ops.test_bad\" file=\"tests/ops/test_bad.py\">\
         <error message=\"collection failure\">ImportError while importing\n\
         tests/ops/test_bad.py:1: in &lt;module&gt;\n    import nonexistent\n\
         E   ModuleNotFoundError: No module named 'nonexistent'</error></testcase>",
    );
    let report = junit::parse(&text).unwrap();
    let case = &report.cases[0];
    assert_eq!(case.configuration, "tests/ops/test_bad.py");
    let message = "ModuleNotFoundError: No module named 'nonexistent'".to_owned();
    assert_eq!(case.outcome, Outcome::Error { message });
    assert_eq!(case.failed_at.as_ref().unwrap().line, 1);
}

#[test]
fn the_frame_to_show_is_in_the_test_or_at_least_not_in_a_package() {
    let trace = "Traceback (most recent call last):\n\
                 \x20 File \"/p/tests/test_a.py\", line 9, in test_a\n\
                 \x20 File \"/p/src/helper.py\", line 5, in check\n\
                 \x20 File \"/v/lib/python3.11/site-packages/torch/testing/_comparison.py\", line 1, in x\n";
    let frames = frames(trace);
    assert_eq!(frames.len(), 3);
    let line = |file| failing_frame(&frames, file).map(|frame| frame.line);
    assert_eq!(line(Some("tests/test_a.py")), Some(9));
    assert_eq!(
        line(Some("a.py")),
        Some(5),
        "the end of a name is not a path"
    );
    assert_eq!(line(None), Some(5));
    assert_eq!(failing_frame(&frames[2..], None).map(|f| f.line), Some(1));
    assert_eq!(failing_frame(&[], None), None);
}

#[test]
fn a_test_inherited_from_another_file_keeps_its_own_id() {
    let text = junit_of(
        "<testcase classname=\"tests.ops.test_x.Test_X.Test_Inner\" name=\"test_a[1]\" \
         file=\"tests/common.py\" line=\"0\"/>",
    );
    let case = &junit::parse(&text).unwrap().cases[0];
    assert_eq!(
        case.configuration,
        "tests/ops/test_x.py::Test_X::Test_Inner::test_a[1]"
    );
    assert_eq!(
        (case.file.as_deref(), case.line),
        (Some("tests/common.py"), Some(1))
    );
}

#[test]
fn backends_and_directions_are_kept_apart() {
    let value = "{'cutile': {'forward': {'median': np.float64(0.2), 'std': nan}, \
                 'backward': {'mean': 0.5}}, 'pytorch': {'forward': {'median': inf}, 'full': None}}";
    let readings = junit::parse(&junit_of(&benchmark("test_perf[8]", value)))
        .unwrap()
        .readings();
    let seen: Vec<_> = readings
        .iter()
        .map(|r| {
            let pass = r.direction.clone().unwrap().to_string();
            (r.backend.as_deref().unwrap(), pass, r.median_ms())
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("cutile", "forward".to_owned(), Some(0.2)),
            ("cutile", "backward".to_owned(), Some(0.5)),
            ("pytorch", "forward".to_owned(), None),
        ]
    );
    assert_eq!(
        readings[0].timing.as_ref().unwrap().std_ms,
        None,
        "nan is not a deviation"
    );
    assert_eq!(
        readings[2].outcome,
        Outcome::Unusable {
            reason: "the median is inf ms".into()
        }
    );
}

#[test]
fn several_records_of_one_test_are_numbered_and_equal_ones_dropped() {
    let cases: String = ["0.1", "0.2", "0.1"]
        .iter()
        .map(|median| benchmark("test_perf[8]", &record(median)))
        .collect();
    let readings = junit::parse(&junit_of(&cases)).unwrap().readings();
    let names: Vec<&str> = readings.iter().map(|r| r.configuration.as_str()).collect();
    assert_eq!(
        names,
        [
            "tests/test_x.py::test_perf[8]",
            "tests/test_x.py::test_perf[8]#2"
        ]
    );
}

#[test]
fn a_number_from_a_test_that_failed_afterwards_is_not_used() {
    let case = benchmark("test_perf[8]", &record("0.1"))
        .replace("</testcase>", "<failure message=\"wrong\"/></testcase>");
    let readings = junit::parse(&junit_of(&case)).unwrap().readings();
    assert_eq!(
        readings[0].outcome,
        Outcome::Failed {
            message: "wrong".into()
        }
    );
    assert_eq!(readings[0].key(), None);
}

#[test]
fn what_a_test_prints_into_its_report_counts_if_it_has_no_property() {
    let case = "<testcase classname=\"t\" name=\"a\" file=\"t.py\"><system-out>noise\n\
                Cutile: {'forward': {'median': 0.5}} ms</system-out></testcase>";
    let readings = junit::parse(&junit_of(case)).unwrap().readings();
    assert_eq!(
        (readings[0].configuration.as_str(), readings[0].median_ms()),
        ("t.py::a", Some(0.5))
    );
}

#[test]
fn broken_reports_say_where() {
    let truncated = &RMS_NORM[..RMS_NORM.len() / 2];
    assert!(
        matches!(junit::parse(truncated), Err(ReadingsError::Xml { line: 1, column, .. }) if column > 1)
    );
    assert!(matches!(junit::parse(""), Err(ReadingsError::Xml { .. })));
    assert_eq!(
        junit::parse("<html/>"),
        Err(ReadingsError::NotJunit {
            root: "html".into()
        })
    );
    let entities = "<!DOCTYPE a [<!ENTITY b \"c\">]><testsuites>&b;</testsuites>";
    assert!(matches!(
        junit::parse(entities),
        Err(ReadingsError::Xml { .. })
    ));

    let second = |value: &str| {
        let cases = [benchmark("a", &record("1")), benchmark("b", value)].join("\n");
        junit::parse(&junit_of(&cases)).unwrap_err()
    };
    let cut = second("{'cutile': {'forw");
    assert!(
        matches!(&cut, ReadingsError::Literal { line: 4, configuration, source }
            if configuration == "tests/test_x.py::b" && source.offset == 17),
        "{cut:?}"
    );
    for (value, expected) in [
        ("[1]", "dictionary of backends"),
        ("{1: {}}", "name of a backend"),
        ("{'cutile': 1}", "dictionary of directions"),
        ("{'cutile': {}}", "direction with numbers"),
        ("{'cutile': {'forward': 0.2}}", "dictionary of numbers"),
        ("{'cutile': {'forward': {'nrep': 3}}}", "median"),
    ] {
        let error = second(value);
        assert!(
            matches!(&error, ReadingsError::Shape { line: 4, missing, .. } if *missing == expected),
            "{value}: {error:?}"
        );
    }
}

#[test]
fn deep_documents_end_without_a_crash() {
    let deep = format!("<testsuites>{}", "<a>".repeat(200_000));
    assert!(junit::parse(&deep).is_err());
}
