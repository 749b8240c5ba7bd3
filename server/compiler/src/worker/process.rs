//! One process of the frontend.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use tileperf_proc::{CancelToken, Guarded, Running, Stream};

use super::{Error, Limits};
use crate::environment::Environment;

/// How soon a cancellation is noticed.
const TICK: Duration = Duration::from_millis(10);
/// An answer of this size is none: it has a kernel's bytecode, some kilobytes, twice.
const LONGEST_ANSWER: usize = 256 << 20;

/// What came of a question.
pub(super) enum Ask {
    Answered(Value),
    Cancelled,
    Late,
    Ended,
    Confused(String),
}

pub(super) struct Process {
    running: Running,
    lines: Receiver<Vec<u8>>,
    /// Its working folder: empty, and gone with it.
    _folder: TempDir,
}

impl Process {
    pub(super) fn start(
        environment: &Environment,
        scripts: &Path,
        limits: Limits,
    ) -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("tileperf-").tempdir();
        let folder = folder.map_err(|error| Error::CannotStart(error.to_string()))?;
        let (send, lines) = channel();
        let mut cutter = Cutter {
            pending: Vec::new(),
            send,
        };
        let mut python = Guarded::new(&environment.python)
            .arg("-B")
            .arg(scripts.join("tileperf_compiler.py"))
            .args(["--memory", &limits.memory_mib.to_string()])
            .current_dir(folder.path())
            .env("TMPDIR", folder.path());
        if let Some(compiler) = &environment.compiler {
            python = compiler.with_its_root(python);
        }
        let running = python
            .interactive()
            .nice(limits.nice)
            .grace(Duration::ZERO)
            .keep_output(0, 16 << 10)
            .on_bytes(move |stream, bytes| {
                if stream == Stream::Stdout {
                    cutter.push(bytes);
                }
            })
            .spawn()
            .map_err(|error| Error::CannotStart(error.to_string()))?;
        Ok(Self {
            running,
            lines,
            _folder: folder,
        })
    }

    pub(super) fn is_alive(&self) -> bool {
        !self.running.is_finished()
    }

    /// Asks and waits. Unless it was answered, this process is not to be used again.
    pub(super) fn ask(
        &mut self,
        request: &Value,
        id: u64,
        patience: Duration,
        cancel: &CancelToken,
    ) -> Ask {
        let deadline = Instant::now() + patience;
        if self
            .running
            .write(format!("{request}\n").as_bytes())
            .is_err()
        {
            return Ask::Ended;
        }
        loop {
            if cancel.is_cancelled() {
                return Ask::Cancelled;
            }
            let rest = deadline.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Ask::Late;
            }
            let line = match self.lines.recv_timeout(rest.min(TICK)) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ask::Ended,
            };
            return match serde_json::from_slice::<Value>(&line) {
                Ok(answer) if answer["id"] == id => Ask::Answered(answer),
                _ => {
                    let start = &line[..line.len().min(200)];
                    Ask::Confused(String::from_utf8_lossy(start).into_owned())
                }
            };
        }
    }

    /// How it ended and what it last said, after it has.
    pub(super) fn end(self) -> (String, String) {
        self.running.cancel();
        match self.running.wait() {
            Ok(report) => (report.ended.to_string(), report.stderr.to_text()),
            Err(error) => (format!("ended: {error}"), String::new()),
        }
    }
}

/// Cuts output into lines of any length.
struct Cutter {
    pending: Vec<u8>,
    send: Sender<Vec<u8>>,
}

impl Cutter {
    fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.pending.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.pending.len() > LONGEST_ANSWER {
                // Nobody waits any more when the other end is gone.
                let _ = self.send.send(std::mem::take(&mut self.pending));
            }
        }
    }
}
