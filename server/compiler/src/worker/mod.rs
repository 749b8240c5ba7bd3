//! The process that runs cuTile's frontend, from this side: one that is started when it is needed,
//! asked line by line, replaced when it ends, and killed when nobody wants its answer any more.
//!
//! What is said is documented in `python/tileperf_compiler.py`. One request is out at a time; a
//! second caller waits. The process cannot be interrupted otherwise than by its end, so cancelling
//! costs the next request a start, 0.3 s.

mod process;
mod protocol;
mod scripts;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tileperf_proc::CancelToken;

use crate::environment::Environment;
use process::{Ask, Process};
pub use protocol::{Answer, Compiled, Hello, Module, Place, Problem, ProblemKind, Request};

/// The version of the protocol that is spoken here.
const PROTOCOL: u64 = 1;
/// After so many ends without an answer in a row, it is left alone for a while.
const MOST_CRASHES: u32 = 5;
/// How long.
const REST: Duration = Duration::from_secs(60);
/// For the import of cuda.tile on a cold disk.
const START: Duration = Duration::from_secs(60);
/// Between the limit that the process keeps itself and the end that is put to it from here.
const MARGIN: Duration = Duration::from_secs(5);

/// What a frontend may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Address space, MiB. cuTile and numpy take one GiB of it.
    pub memory_mib: u32,
    /// Seconds for one request.
    pub time: Duration,
    /// Added to the scheduling priority's number: higher gives way sooner.
    pub nice: u8,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_mib: 4096,
            time: Duration::from_secs(30),
            nice: 10,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
    /// It ended while it worked on this request.
    #[error(
        "cuTile's frontend ended without an answer: it {how}{}",
        last_words(said)
    )]
    Crashed {
        /// How the process ended.
        how: String,
        /// The last it said.
        said: String,
    },
    /// It did not answer in time, although it should have noticed itself.
    #[error("cuTile's frontend did not answer within {} s", .0.as_secs())]
    NoAnswer(Duration),
    /// It cannot be started.
    #[error("cuTile's frontend cannot be started: {0}")]
    CannotStart(String),
    /// It ended too often.
    #[error(
        "cuTile's frontend ended {MOST_CRASHES} times without an answer and is not started again for \
         {} s; the last time it {last}",
        REST.as_secs()
    )]
    GivenUp {
        /// How the process ended last.
        last: String,
    },
    /// It answered something that is not understood.
    #[error("cuTile's frontend answered something that is not understood: {0}")]
    Confused(String),
}

fn last_words(said: &str) -> String {
    match said.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!(" ({})", line.trim()),
        None => String::new(),
    }
}

/// cuTile's frontend in one environment. Nothing is started before the first request.
pub struct Worker {
    environment: Environment,
    scripts: PathBuf,
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    process: Option<Process>,
    next_id: u64,
    crashes: u32,
    last_crash: Option<(Instant, String)>,
}

impl Worker {
    /// A frontend of `environment`; its scripts are written below `cache`.
    ///
    /// # Errors
    /// The scripts cannot be written.
    pub fn new(
        environment: Environment,
        cache: &std::path::Path,
        limits: Limits,
    ) -> std::io::Result<Self> {
        Ok(Self {
            environment,
            scripts: scripts::install(&cache.join("frontend"))?,
            limits,
            state: Mutex::default(),
        })
    }

    /// Which Python and cuTile answer. Starts the process, so that the first request need not.
    ///
    /// # Errors
    /// [`Error`]; a Python without cuTile answers with a problem of that kind.
    pub fn hello(&self, cancel: &CancelToken) -> Result<Result<Hello, Problem>, Error> {
        let answer = self.ask(json!({"op": "hello"}), START, cancel)?;
        protocol::hello(answer)
    }

    /// Has a kernel compiled to bytecode.
    ///
    /// # Errors
    /// [`Error`]; what is wrong with the kernel is in the answer.
    pub fn compile(&self, request: &Request, cancel: &CancelToken) -> Result<Answer, Error> {
        let mut value =
            serde_json::to_value(request).map_err(|error| Error::Confused(error.to_string()))?;
        if let Value::Object(fields) = &mut value {
            fields.insert("op".to_owned(), json!("frontend"));
            fields.insert("seconds".to_owned(), json!(self.limits.time.as_secs_f64()));
        }
        let answer = self.ask(value, self.limits.time + MARGIN, cancel)?;
        protocol::answer(answer)
    }

    /// Ends the process; the next request starts another.
    pub fn stop(&self) {
        self.state.lock().process = None;
    }

    fn ask(
        &self,
        mut request: Value,
        patience: Duration,
        cancel: &CancelToken,
    ) -> Result<Value, Error> {
        let mut state = self.state.lock();
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        state.check_rest()?;
        state.next_id += 1;
        let id = state.next_id;
        if let Value::Object(fields) = &mut request {
            fields.insert("id".to_owned(), json!(id));
        }
        // A process may have ended in between, after an answer or killed by someone.
        let mut process = match state.process.take().filter(Process::is_alive) {
            Some(process) => process,
            None => Process::start(&self.environment, &self.scripts, self.limits)?,
        };
        match process.ask(&request, id, patience, cancel) {
            Ask::Answered(answer) => {
                state.crashes = 0;
                // Over its time, it ends behind its answer.
                if answer["error"]["kind"] != "time" {
                    state.process = Some(process);
                }
                Ok(answer)
            }
            Ask::Cancelled => Err(Error::Cancelled),
            Ask::Late => Err(state.crashed(Error::NoAnswer(patience), "did not answer")),
            Ask::Confused(what) => Err(state.crashed(Error::Confused(what), "was confused")),
            Ask::Ended => {
                let (how, said) = process.end();
                let error = Error::Crashed {
                    how: how.clone(),
                    said,
                };
                Err(state.crashed(error, &how))
            }
        }
    }
}

impl State {
    fn crashed(&mut self, error: Error, how: &str) -> Error {
        self.crashes += 1;
        self.last_crash = Some((Instant::now(), how.to_owned()));
        error
    }

    /// Refuses to start a process that always ends.
    fn check_rest(&mut self) -> Result<(), Error> {
        let Some((when, last)) = &self.last_crash else {
            return Ok(());
        };
        if self.crashes < MOST_CRASHES {
            return Ok(());
        }
        if when.elapsed() < REST {
            return Err(Error::GivenUp { last: last.clone() });
        }
        self.crashes = 0;
        Ok(())
    }
}
