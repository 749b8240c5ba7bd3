//! What benchmarks print: records and tables.

use super::*;

#[test]
fn printed_records_belong_to_the_test_shown_last() {
    for text in [SHOWN, CAPTURED] {
        let readings = printed::parse(text).unwrap();
        let eight = named(&readings, "test_perf[8]");
        assert_eq!(
            eight.configuration,
            "tests/ops/test_k.py::Test_Kernel::test_perf[8]"
        );
        assert_eq!(
            (eight.backend.as_deref(), eight.median_ms()),
            (Some("cutile"), Some(0.198))
        );
        assert_eq!(named(&readings, "test_perf[16]").median_ms(), Some(0.199));
        assert!(matches!(
            named(&readings, "test_op[cutile-3]").outcome,
            Outcome::Failed { .. }
        ));
        assert!(matches!(
            named(&readings, "test_setup").outcome,
            Outcome::Error { .. }
        ));
        assert!(matches!(
            named(&readings, "test_teardown").outcome,
            Outcome::Error { .. }
        ));
        assert!(matches!(
            named(&readings, "test_xfail").outcome,
            Outcome::Skipped { .. }
        ));
        // A parameter with a space and a bracket.
        assert_eq!(
            named(&readings, "test_names[a b] c]").outcome,
            Outcome::Passed
        );
        assert_eq!(readings.iter().filter(|r| r.timing.is_some()).count(), 2);
    }
    let skip = named(&printed::parse(SHOWN).unwrap(), "test_skip").outcome;
    assert_eq!(
        skip,
        Outcome::Skipped {
            reason: "not here".into()
        }
    );
    let setup = named(&printed::parse(CAPTURED).unwrap(), "test_setup").outcome;
    assert_eq!(
        setup.severity(),
        Outcome::Error {
            message: String::new()
        }
        .severity()
    );
}

#[test]
fn the_line_of_the_guides_is_read() {
    let line = "Cutile: {'forward': {'mean': 3.7903138461538455, 'std': 0.0016941310873207053, \
                'rel_std': 0.044696327430505396, 'median': 3.789880999999999, \
                'min': 3.7883389999999992, 'max': 3.7941230000000004, 'nrep': 13, \
                'peak_mem_mb': 913}} ms";
    let reading = &printed::parse(line).unwrap()[0];
    assert_eq!(reading.configuration, "stdout");
    assert_eq!(reading.median_ms(), Some(3.789880999999999));
    let timing = reading.timing.as_ref().unwrap();
    assert_eq!(
        (timing.repetitions, timing.min_ms),
        (Some(13), Some(3.7883389999999992))
    );
}

#[test]
fn one_test_can_print_several_backends() {
    let text = "tests/t.py::test_perf[a: b] Cutile: {'forward': {'median': 1.0}} us\n\
                Pytorch: {'forward': {'median': 2.0}} ms\nPASSED";
    let readings = printed::parse(text).unwrap();
    assert_eq!(readings.len(), 2);
    assert!(
        readings
            .iter()
            .all(|r| r.configuration == "tests/t.py::test_perf[a: b]")
    );
    assert_eq!(
        (readings[0].median_ms(), readings[1].median_ms()),
        (Some(0.001), Some(2.0))
    );
}

#[test]
fn other_dictionaries_in_the_output_are_nothing_and_broken_records_are_errors() {
    assert_eq!(
        printed::parse("config: {'a': 1}\nx: {'b': \n: {'c'} ms"),
        Ok(vec![])
    );
    let broken = printed::parse("one\ntwo\nCutile: {'forward': {'median': 0.2").unwrap_err();
    assert!(
        matches!(broken, ReadingsError::Literal { line: 3, .. }),
        "{broken:?}"
    );
    let unit = printed::parse("Cutile: {'forward': {'median': 0.2}} apples").unwrap_err();
    assert!(
        matches!(unit, ReadingsError::Shape { line: 1, missing, .. } if missing.contains("unit"))
    );
}

#[test]
fn tables_name_their_configurations_by_row_and_keep_their_unit() {
    let readings = table::parse(TABLES).unwrap();
    assert_eq!(readings.len(), 8);
    let first = &readings[0];
    assert_eq!(
        first.configuration,
        "softmax-performance-float32-tma-False-GBps[N=1024]"
    );
    assert_eq!(first.backend.as_deref(), Some("cutile"));
    assert_eq!(first.median_ms(), None);
    let measure = first.timing.as_ref().unwrap().median;
    assert_eq!(
        (measure.value, measure.unit),
        (450.25, Unit::GigabytesPerSecond)
    );
    assert!(matches!(readings[3].outcome, Outcome::Unusable { .. }));
    let second = &readings[4];
    assert_eq!(
        second.configuration,
        "matmul-backward-float16-TFLOPS[M=1024,N=1024,K=1024]"
    );
    assert_eq!(second.direction, Some(Direction::Backward));
    // Twice the rate is half the cost.
    let cost = |index: usize| readings[index].timing.as_ref().unwrap().median.cost();
    assert!((cost(6) / cost(4) - 0.5).abs() < 1e-12);
}

#[test]
fn tables_that_hide_something_are_refused() {
    let wide = "m-TFLOPS:\n        M       N  ...  X (TFLOPS)\n0  1024.0  1024.0  ...      1.0\n";
    assert_eq!(
        table::parse(wide),
        Err(ReadingsError::Elided {
            line: 2,
            table: "m-TFLOPS".into()
        })
    );
    let long = "m-GBps:\n      N  CuTile\n0   1.0  450.25\n..  ...     ...\n9   9.0  450.25\n";
    assert!(matches!(
        table::parse(long),
        Err(ReadingsError::Elided { line: 4, .. })
    ));
    let unit = "results:\n      N  CuTile\n0   1.0  450.25\n";
    assert_eq!(
        table::parse(unit),
        Err(ReadingsError::Unit {
            line: 2,
            table: "results".into()
        })
    );
    assert_eq!(table::parse("nothing here:\n"), Err(ReadingsError::Nothing));
}

#[test]
fn output_of_any_kind_is_recognised() {
    assert_eq!(from_output(TABLES).unwrap().len(), 8);
    assert!(
        from_output(SHOWN)
            .unwrap()
            .iter()
            .any(|r| r.timing.is_some())
    );
    assert_eq!(from_output("hello"), Err(ReadingsError::Nothing));
    // Tests that ran without a record are still news.
    assert_eq!(from_output("a.py::t FAILED").unwrap().len(), 1);
}
