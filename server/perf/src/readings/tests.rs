//! Real records (an H200, pytest 9) and what is done to them by kills and half-written pipes.

mod outputs;
mod reports;
mod two_runs;

use proptest::prelude::*;

use super::*;

const MATMUL: &str = include_str!("testdata/h200_matmul.junit.xml");
const RMS_NORM: &str = include_str!("testdata/h200_rms_norm.junit.xml");
const LONG: &str = include_str!("testdata/correctness_long.junit.xml");
const SHORT: &str = include_str!("testdata/correctness_short_xunit2.junit.xml");
const SHOWN: &str = include_str!("testdata/transcript_s.txt");
const CAPTURED: &str = include_str!("testdata/transcript_ra_colour.txt");

const TABLES: &str = "\
softmax-performance-float32-tma-False-GBps:
        N  CuTile (GB/s)  PyTorch (GB/s)
0  1024.0         450.25           320.1
autotuner: 3 succeeded, 0 failed
1  2048.0         890.50             NaN

matmul-backward-float16-TFLOPS:
        M       N       K  CuTile  PyTorch
0  1024.0  1024.0  1024.0   100.0    320.1
1  2048.0  2048.0  2048.0   200.0    620.3
";

fn record(median: &str) -> String {
    format!("{{'cutile': {{'forward': {{'median': {median}}}}}}}")
}

fn junit_of(cases: &str) -> String {
    format!("<testsuites>\n<testsuite>\n{cases}\n</testsuite>\n</testsuites>")
}

fn benchmark(name: &str, value: &str) -> String {
    format!(
        "<testcase classname=\"tests.test_x\" name=\"{name}\" file=\"tests/test_x.py\" line=\"3\">\
         <properties><property name=\"benchmark\" value=\"{value}\"/></properties></testcase>"
    )
}

fn named(readings: &[Reading], part: &str) -> Reading {
    let mut matching = readings.iter().filter(|r| r.configuration.contains(part));
    let first = matching.next().unwrap_or_else(|| panic!("{part}")).clone();
    assert!(matching.next().is_none(), "{part} twice");
    first
}

#[test]
fn readings_survive_a_journal() {
    for readings in [
        junit::parse(MATMUL).unwrap().readings(),
        table::parse(TABLES).unwrap(),
    ] {
        let text = serde_json::to_string(&readings).unwrap();
        assert_eq!(
            serde_json::from_str::<Vec<Reading>>(&text).unwrap(),
            readings
        );
    }
}

fn read_all(text: &str) {
    if let Ok(report) = junit::parse(text) {
        report.readings();
    }
    let _ = printed::parse(text);
    let _ = table::parse(text);
    let _ = from_output(text);
    frames(text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_damage_panics(
        which in 0usize..7,
        cut in 0.0f64..1.0,
        changes in prop::collection::vec((0.0f64..1.0, any::<u8>()), 0..6),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = [MATMUL, RMS_NORM, LONG, SHORT, SHOWN, CAPTURED, TABLES][which]
            .as_bytes()
            .to_vec();
        for (at, byte) in changes {
            let index = (at * bytes.len() as f64) as usize;
            // Most damage that matters is to punctuation.
            bytes[index] = if byte < 128 { b"<>'\"{}[]():&;,.x0 \n\\"[byte as usize % 20] } else { byte };
        }
        if is_cut {
            bytes.truncate((cut * bytes.len() as f64) as usize);
        }
        read_all(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_line_panics(text in "(tests/a.py::t\\[|[_]{2} |Cutile: |\\{'forward'|\\] |PASSED|\\}|é|: | |\x1b\\[|\n|[a-z0-9.:'\\{\\}]){0,20}") {
        read_all(&text);
    }
}
