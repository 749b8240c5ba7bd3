//! How many checks a test program says it has made, read from what it printed.
//!
//! Each of these sees a run without a single test as a failure: a filter that matches nothing, or a
//! changed output, must not pass for success.

use crate::tool::Done;

/// Checks that passed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) passed: u32,
    pub(super) failed: u32,
}

impl Count {
    /// A single check.
    pub(super) fn one(passed: bool) -> Self {
        Self {
            passed: u32::from(passed),
            failed: u32::from(!passed),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    fn or_failed(self) -> Self {
        if self == Self::default() {
            Self::one(false)
        } else {
            self
        }
    }
}

/// `cargo test`: the sum over all test programs.
pub(super) fn cargo_test(done: &Done) -> Count {
    let mut sum = Count::default();
    for line in done.stdout.lines() {
        if let Some(result) = line.strip_prefix("test result: ") {
            sum.passed += number_before(result, " passed");
            sum.failed += number_before(result, " failed");
        }
    }
    sum.or_failed()
}

/// A line that ends in `N passed, N failed`; the last one counts.
pub(super) fn closing_line(done: &Done) -> Count {
    let counts = done.stdout.lines().rev().find_map(|line| {
        let line = line.trim_end();
        line.ends_with(" failed").then(|| Count {
            passed: number_before(line, " passed"),
            failed: number_before(line, " failed"),
        })
    });
    counts.unwrap_or_default().or_failed()
}

/// Python's `unittest`: `Ran 9 tests in 1.0s` and perhaps `FAILED (failures=1, errors=2)`.
pub(super) fn unittest(done: &Done) -> Count {
    let mut count = Count::default();
    for line in done.stderr.lines() {
        if line.starts_with("Ran ") {
            count.passed = number_before(line, " test");
        } else if let Some(failures) = line.strip_prefix("FAILED (") {
            let numbers = failures.split(|c: char| !c.is_ascii_digit());
            count.failed = numbers.filter_map(|n| n.parse::<u32>().ok()).sum();
        }
    }
    count.passed = count.passed.saturating_sub(count.failed);
    count.or_failed()
}

/// pytest's closing line: `1 failed, 3 passed, 2 skipped in 1.0s`. Errors count as failures.
pub(super) fn pytest(done: &Done) -> Count {
    let closing = done.stdout.lines().rev().find(|line| line.contains(" in "));
    let of = |word| closing.map_or(0, |line| number_before(line, word));
    Count {
        passed: of(" passed"),
        failed: of(" failed") + of(" error"),
    }
    .or_failed()
}

/// `node --test`, in either of its formats: `# pass 3`, or with another sign.
pub(super) fn node_test(done: &Done) -> Count {
    let value = |word: &str| {
        let of_line = |line: &str| {
            let mut words = line.split_whitespace().skip(1);
            (words.next() == Some(word)).then(|| words.next()?.parse::<u32>().ok())?
        };
        done.stdout.lines().rev().find_map(of_line).unwrap_or(0)
    };
    Count {
        passed: value("pass"),
        failed: value("fail") + value("cancelled"),
    }
    .or_failed()
}

/// The number right before the last `word` of a line, else 0.
fn number_before(line: &str, word: &str) -> u32 {
    let Some((before, _)) = line.rsplit_once(word) else {
        return 0;
    };
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|n| n.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use tileperf_proc::Ended;

    use super::*;

    fn said(stdout: &str, stderr: &str) -> Done {
        Done {
            ended: Ended::Exited { code: 0 },
            stdout: stdout.into(),
            stderr: stderr.into(),
        }
    }

    fn count(passed: u32, failed: u32) -> Count {
        Count { passed, failed }
    }

    #[test]
    fn the_programs_of_a_cargo_run_are_summed() {
        let done = said(
            "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored; finished in 0.01s\n\
             test result: FAILED. 10 passed; 1 failed; 0 ignored; finished in 0.01s\n",
            "",
        );
        assert_eq!(cargo_test(&done), count(12, 1));
    }

    #[test]
    fn the_last_closing_line_counts() {
        let done = said("1 passed, 1 failed\nneovim: 31 passed, 2 failed\n", "");
        assert_eq!(closing_line(&done), count(31, 2));
    }

    #[test]
    fn unittest_counts_failures_among_those_run() {
        let done = said(
            "",
            "Ran 12 tests in 0.3s\n\nFAILED (failures=1, errors=2)\n",
        );
        assert_eq!(unittest(&done), count(9, 3));
        assert_eq!(
            unittest(&said("", "Ran 1 test in 0.3s\n\nOK\n")),
            count(1, 0)
        );
    }

    #[test]
    fn node_counts_in_both_formats() {
        assert_eq!(node_test(&said("# pass 3\n# fail 1\n", "")), count(3, 1));
        assert_eq!(node_test(&said("ℹ pass 40\nℹ fail 0\n", "")), count(40, 0));
    }

    #[test]
    fn pytest_counts_errors_as_failures() {
        let line = "x\n== 2 failed, 66 passed, 4 skipped, 1 error in 15.20s ==\n";
        assert_eq!(pytest(&said(line, "")), count(66, 3));
        assert_eq!(pytest(&said("68 passed in 0.5s\n", "")), count(68, 0));
    }

    #[test]
    fn no_test_is_a_failure() {
        for counter in [cargo_test, closing_line, unittest, node_test, pytest] {
            assert_eq!(counter(&said("", "")), count(0, 1));
        }
        let none = said(
            "test result: ok. 0 passed; 0 failed;\n0 passed, 0 failed\n",
            "",
        );
        assert_eq!(cargo_test(&none), count(0, 1));
        assert_eq!(closing_line(&none), count(0, 1));
    }
}
