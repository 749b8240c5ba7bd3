//! The project's correctness tests on one variant.

use std::path::{Path, PathBuf};

use crate::command;
use crate::error::Error;
use crate::event::{Failure, Tests};
use crate::readings::{Outcome, junit};
use crate::stats::Variant;

use super::execute::{Bench, blame};
use super::record;

impl Bench<'_> {
    /// Runs the correctness command on the code in `root`. `search_off` sets the project's switch.
    ///
    /// # Errors
    /// As [`Bench::run`]; [`Error::WrongCode`] if other code ran; [`Error::Command`] if no test was
    /// found or pytest could not be used so.
    pub fn tests(&self, root: &Path, variant: Variant, search_off: bool) -> Result<Tests, Error> {
        let tests = self.tests_of(root, variant, search_off);
        tests.map_err(|error| blame(variant, error))
    }

    fn tests_of(&self, root: &Path, variant: Variant, search_off: bool) -> Result<Tests, Error> {
        const WHAT: &str = "correctness";
        let off = if search_off { "-search-off" } else { "" };
        let stem = format!("{WHAT}{off}-{}", variant.in_paths());
        let junit = self.folder.join(format!("{stem}.xml"));
        let record = self.folder.join(format!("{stem}.jsonl"));
        for old in [&junit, &record] {
            let _ = std::fs::remove_file(old);
        }
        let filled = command::fill(WHAT, &self.plan.correctness, self.plan, root, &junit)?;
        let mut guarded = self.guarded(&filled, root, variant, &record, None);
        if let (true, Some((switch, value))) = (search_off, &self.plan.search_switch) {
            guarded = guarded.env(switch, value);
        }
        let ended = self.run(WHAT, guarded, &self.folder.join(format!("{stem}.log")))?;
        let mut tests = Tests {
            variant,
            search_off,
            passed: Vec::new(),
            failures: Vec::new(),
            skipped: Vec::new(),
            seconds: ended.elapsed.as_secs_f64(),
        };
        if command::is_pytest(&filled) {
            self.read_report(&junit, root, &mut tests, &ended)?;
        } else if ended.code == 0 {
            tests.passed.push(filled.join(" "));
        } else {
            tests.failures.push(Failure {
                test: filled.join(" "),
                message: format!("exit code {}\n{}", ended.code, ended.tail()),
                file: None,
                line: None,
                cause: None,
            });
        }
        if self.helper.is_some() {
            record::read(&record)?.proves(root, &self.plan.files)?;
        }
        Ok(tests)
    }

    fn read_report(
        &self,
        junit: &Path,
        root: &Path,
        tests: &mut Tests,
        ended: &super::Ended,
    ) -> Result<(), Error> {
        let what = "correctness";
        let text = std::fs::read_to_string(junit).ok();
        let failed = format!("failed with exit code {}:\n{}", ended.code, ended.tail());
        let report = match (&text, ended.code) {
            // 4: pytest was called wrongly, or what it loads first cannot be imported.
            (_, 4) => return Err(Error::Command { what, why: failed }),
            // 5: no test was selected; -k or the file is wrong.
            (_, 5) => {
                return Err(Error::Command {
                    what,
                    why: format!("selects no test:\n{}", ended.tail()),
                });
            }
            // 3: pytest itself broke.
            (_, 3) => return Err(Error::Crash(ended.tail())),
            // Its process was ended from inside, whatever the exit code says.
            (None, code) => {
                return Err(Error::Crash(format!(
                    "the {what} command ended with exit code {code} before it had reported:\n{}",
                    ended.tail()
                )));
            }
            (Some(text), _) => junit::parse(text)?,
        };
        for case in &report.cases {
            let id = case.configuration.to_string();
            match &case.outcome {
                Outcome::Failed { message } | Outcome::Error { message } => {
                    let at = case.failed_at.as_ref();
                    let file = at.map(|frame| {
                        let path = PathBuf::from(&frame.file);
                        let inside = path.strip_prefix(root).map(Path::to_owned);
                        inside.unwrap_or(path)
                    });
                    tests.failures.push(Failure {
                        test: id,
                        message: message.clone(),
                        file: file.or_else(|| case.file.as_ref().map(PathBuf::from)),
                        line: at.map(|f| f.line).or(case.line),
                        cause: None,
                    });
                }
                Outcome::Skipped { .. } => tests.skipped.push(id),
                Outcome::Passed | Outcome::Unusable { .. } => tests.passed.push(id),
            }
        }
        // 2: interrupted, as by errors while collecting; those are in the report.
        if tests.failures.is_empty() && ended.code != 0 {
            return Err(Error::Crash(ended.tail()));
        }
        Ok(())
    }
}
