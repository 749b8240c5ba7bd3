//! Processes that stay for as long as samples are taken.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tileperf_proc::Running;

use crate::error::Error;
use crate::readings::Reading;
use crate::run::control::Conversation;
use crate::run::execute::{Bench, keep_log};
use crate::run::record::{self, Ran};
use crate::stats::Variant;

/// How long a process may take to end once it was told to.
const FAREWELL: Duration = Duration::from_secs(3);

/// A process that repeats the benchmark's items.
pub(super) struct Process {
    pub(super) variant: Variant,
    pub(super) root: PathBuf,
    pub(super) record: PathBuf,
    pub(super) log: PathBuf,
    pub(super) running: Option<Running>,
    pub(super) conversation: Option<Conversation>,
    pub(super) first: Vec<Reading>,
}

impl Process {
    /// What to say of a process that did not do what it should: its own last words.
    pub(super) fn broken(&mut self, bench: &Bench<'_>, how: &str) -> Error {
        self.conversation = None;
        let Some(running) = self.running.take() else {
            return Error::Crash(format!("the benchmark {how}"));
        };
        // It ends by itself now that nobody listens; if not, it is ended.
        let began = Instant::now();
        while !running.is_finished() && began.elapsed() < FAREWELL {
            std::thread::sleep(Duration::from_millis(20));
        }
        if !running.is_finished() {
            running.cancel();
        }
        let report = match running.wait() {
            Ok(report) => report,
            Err(error) => return error.into(),
        };
        keep_log(&self.log, &report);
        if let Err(error) = bench.check() {
            return error;
        }
        match bench.ended("benchmark", report) {
            Ok(ended) if ended.code == 4 => Error::Command {
                what: "benchmark",
                why: format!("failed with exit code 4:\n{}", ended.tail()),
            },
            Ok(ended) if ended.code == 5 => Error::Command {
                what: "benchmark",
                why: format!("selects no test:\n{}", ended.tail()),
            },
            Ok(ended) => Error::Crash(format!("the benchmark {how}:\n{}", ended.tail())),
            Err(Error::Cancelled) => Error::Crash(format!("the benchmark {how} and did not end")),
            Err(error) => error,
        }
    }

    pub(super) fn stop(&mut self) {
        self.conversation = None;
        if let Some(running) = self.running.take() {
            running.cancel();
            let _ = running.wait();
        }
    }
}

/// Those of both variants.
pub(super) struct Processes {
    pub(super) base: Process,
    pub(super) candidate: Process,
}

impl Processes {
    pub(super) fn of(&mut self, variant: Variant) -> &mut Process {
        match variant {
            Variant::Base => &mut self.base,
            Variant::Candidate => &mut self.candidate,
        }
    }

    pub(super) fn stop(&mut self) {
        self.base.stop();
        self.candidate.stop();
    }

    /// Lets both end and reads what their recorders saw.
    pub(super) fn end(self, bench: &Bench<'_>) -> Result<[Ran; 2], Error> {
        let mut ran = [Ran::default(), Ran::default()];
        for mut process in [self.base, self.candidate] {
            if let Some(conversation) = &mut process.conversation {
                conversation.bid_farewell();
            }
            let began = Instant::now();
            if let Some(running) = process.running.take() {
                while !running.is_finished() && began.elapsed() < FAREWELL {
                    std::thread::sleep(Duration::from_millis(5));
                }
                running.cancel();
                keep_log(&process.log, &running.wait()?);
            }
            if bench.helper.is_some() {
                let seen = record::read(&process.record)?;
                seen.proves(&process.root, &bench.plan.files)?;
                ran[process.variant as usize] = seen;
            }
        }
        Ok(ran)
    }
}
