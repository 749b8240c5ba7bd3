//! Talking with the pytest plugin in a benchmark process, see `python/tileperf_pytest.py`.
//!
//! The process connects to a socket of ours and says what each item came to; once all ran, it obeys
//! requests to run items again. It ends when the connection does. Waiting here is in small steps, so
//! that a cancellation, the iteration's time and the process's own end are noticed at once.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use smol_str::SmolStr;

use crate::error::Error;
use crate::readings::literal::{self, Literal};
use crate::readings::{Outcome, Reading, ReadingsError};

/// How often waiting looks up.
const STEP: Duration = Duration::from_millis(20);

/// What a process says.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Said {
    /// It is there.
    Hello {
        /// pytest's version.
        pytest: String,
        /// Python's version.
        python: String,
    },
    /// It cannot repeat items.
    Unsupported {
        /// Why.
        why: String,
    },
    /// What it is going to run.
    Collected {
        /// The items.
        items: Vec<Item>,
    },
    /// An item ran.
    Ran(Box<ItemRan>),
    /// All items ran once.
    Ready,
    /// A request is done.
    Done,
    /// A request is refused.
    Refused {
        /// Why.
        why: String,
    },
    /// It will not become ready.
    Stopped {
        /// Why.
        why: String,
    },
    /// The plugin itself failed.
    Fault {
        /// How.
        message: String,
    },
    /// pytest ends.
    Finished,
    /// Something of a later version.
    #[serde(other)]
    Unknown,
}

/// A collected item.
#[derive(Debug, Clone, Deserialize)]
pub struct Item {
    /// pytest's node id.
    pub item: String,
}

/// What a run of an item came to.
#[derive(Debug, Clone, Deserialize)]
pub struct ItemRan {
    /// pytest's node id.
    pub item: String,
    /// `passed`, `failed`, `skipped` or `error`.
    pub outcome: String,
    /// What it recorded.
    #[serde(default)]
    pub properties: serde_json::Map<String, serde_json::Value>,
    /// Names of properties that are Python literals in text.
    #[serde(default)]
    pub reprs: Vec<String>,
    /// What it printed.
    #[serde(default)]
    pub output: String,
    /// Why it did not pass.
    #[serde(default)]
    pub message: String,
}

impl ItemRan {
    /// The numbers of this run.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn readings(&self) -> Result<Vec<Reading>, ReadingsError> {
        let configuration = SmolStr::new(&self.item);
        let message = || self.message.lines().take(12).collect::<Vec<_>>().join("\n");
        let outcome = match self.outcome.as_str() {
            "passed" => Outcome::Passed,
            "skipped" => Outcome::Skipped { reason: message() },
            "failed" => Outcome::Failed { message: message() },
            _ => Outcome::Error { message: message() },
        };
        if outcome != Outcome::Passed {
            return Ok(vec![Reading::unmeasured(configuration, outcome)]);
        }
        let mut readings = Vec::new();
        for (name, value) in &self.properties {
            if name.split('#').next() != Some("benchmark") {
                continue;
            }
            let record = match value {
                serde_json::Value::String(text) if self.reprs.contains(name) => {
                    literal::parse(text).map_err(|source| ReadingsError::Literal {
                        line: 1,
                        configuration: configuration.clone(),
                        source,
                    })?
                }
                serde_json::Value::String(text) => literal::parse(text).unwrap_or(Literal::None),
                value => from_json(value),
            };
            readings.extend(crate::readings::benchmark(&configuration, &record, 1)?);
        }
        if readings.is_empty() {
            readings = crate::readings::printed_records(&self.output, &configuration)?;
        }
        if readings.is_empty() {
            readings.push(Reading::unmeasured(configuration, Outcome::Passed));
        }
        Ok(crate::readings::number_repetitions(readings))
    }
}

fn from_json(value: &serde_json::Value) -> Literal {
    use serde_json::Value as V;
    match value {
        V::Null => Literal::None,
        V::Bool(b) => Literal::Bool(*b),
        V::Number(n) => Literal::Number(n.as_f64().unwrap_or(f64::NAN)),
        V::String(text) => Literal::Text(text.clone()),
        V::Array(items) => Literal::Items(items.iter().map(from_json).collect()),
        V::Object(entries) => Literal::Dict(
            (entries.iter())
                .map(|(k, v)| (Literal::Text(k.clone()), from_json(v)))
                .collect(),
        ),
    }
}

/// Where a process is to connect.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Listener {
    /// A socket that only this user reaches. Its path must be short: 108 bytes are all there is.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open() -> Result<Self, Error> {
        let temporary = std::env::temp_dir();
        let failed = |error| Error::io("make a socket below", &temporary, error);
        let folder = tempfile::Builder::new()
            .prefix("tileperf-")
            .tempdir()
            .map_err(failed)?;
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            listener,
            path,
            _folder: folder,
        })
    }

    /// What `TILEPERF_CONTROL` is to say.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for the process to connect. `Ok(None)`: `over` said so, because it ended without.
    ///
    /// # Errors
    /// Whatever `check` says between two looks, [`Error::Io`].
    pub fn accept(
        &self,
        check: &dyn Fn() -> Result<(), Error>,
        over: &dyn Fn() -> bool,
    ) -> Result<Option<Conversation>, Error> {
        loop {
            check()?;
            // Looked at before the socket: what it sent before its end is not lost.
            let ended = over();
            match self.listener.accept() {
                Ok((stream, _)) => {
                    let failed = |error| Error::io("use the socket", &self.path, error);
                    stream.set_nonblocking(false).map_err(failed)?;
                    stream.set_read_timeout(Some(STEP)).map_err(failed)?;
                    return Ok(Some(Conversation {
                        stream,
                        buffer: Vec::new(),
                        path: self.path.clone(),
                    }));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if ended {
                        return Ok(None);
                    }
                    std::thread::sleep(STEP);
                }
                Err(error) => return Err(Error::io("use the socket", &self.path, error)),
            }
        }
    }
}

/// A connection to a process.
#[derive(Debug)]
pub struct Conversation {
    stream: UnixStream,
    buffer: Vec<u8>,
    path: PathBuf,
}

impl Conversation {
    /// Waits for the next thing it says. `Ok(None)`: it hung up.
    ///
    /// # Errors
    /// Whatever `check` says between two looks, [`Error::Io`].
    pub fn hear(&mut self, check: &dyn Fn() -> Result<(), Error>) -> Result<Option<Said>, Error> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.buffer) {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line).unwrap_or(Said::Unknown)));
            }
            check()?;
            let mut chunk = [0; 65536];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(count) => self.buffer.extend_from_slice(&chunk[..count]),
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(Error::io("read from the socket", &self.path, error)),
            }
        }
    }

    /// Asks for items to be run again, in this order.
    ///
    /// # Errors
    /// [`Error::Io`] if it hung up.
    pub fn ask_to_run(&mut self, items: &[String]) -> Result<(), Error> {
        self.say(&serde_json::json!({"cmd": "run", "cmd_id": 1, "items": items}))
    }

    /// Lets it end. One that is gone already has ended.
    pub fn bid_farewell(&mut self) {
        let _ = self.say(&serde_json::json!({"cmd": "exit"}));
    }

    fn say(&mut self, message: &serde_json::Value) -> Result<(), Error> {
        self.stream
            .write_all(format!("{message}\n").as_bytes())
            .map_err(|error| Error::io("write to the socket", &self.path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_report_a_time_is_read() {
        let readings = |json: &str| {
            let ran: ItemRan = serde_json::from_str(json).unwrap();
            ran.readings().map_err(|e| e.to_string())
        };
        let same = [
            r#"{"item":"t.py::p[a]","outcome":"passed","properties":{"benchmark":{"cutile":{"forward":{"median":0.5}}}}}"#,
            r#"{"item":"t.py::p[a]","outcome":"passed","properties":{"benchmark":"{'cutile': {'forward': {'median': np.float64(0.5)}}}"},"reprs":["benchmark"]}"#,
            r#"{"item":"t.py::p[a]","outcome":"passed","output":"Cutile: {'forward': {'median': 0.5}} ms\n"}"#,
        ];
        for json in same {
            let readings = readings(json).unwrap();
            assert_eq!(readings.len(), 1, "{json}");
            assert_eq!(readings[0].median_ms(), Some(0.5), "{json}");
            assert_eq!(
                readings[0].key().unwrap().to_string(),
                "t.py::p[a] (cutile forward)"
            );
        }
        let none = readings(r#"{"item":"t","outcome":"skipped","message":"no GPU"}"#).unwrap();
        assert!(matches!(&none[0].outcome, Outcome::Skipped { reason } if reason == "no GPU"));
        let error = readings(
            r#"{"item":"t","outcome":"passed","properties":{"benchmark":"{'cutile': {"},"reprs":["benchmark"]}"#,
        );
        assert!(error.unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn waiting_ends_when_told_so() {
        let listener = Listener::open().unwrap();
        let looks = std::cell::Cell::new(0);
        let over = || {
            looks.set(looks.get() + 1);
            looks.get() > 3
        };
        assert!(listener.accept(&|| Ok(()), &over).unwrap().is_none());
        let cancelled = listener.accept(&|| Err(Error::Cancelled), &|| false);
        assert!(matches!(cancelled, Err(Error::Cancelled)));
        let mut peer = UnixStream::connect(listener.path()).unwrap();
        let mut conversation = listener.accept(&|| Ok(()), &|| false).unwrap().unwrap();
        peer.write_all(b"{\"event\":\"ready\"}\n{\"event\":\"fut")
            .unwrap();
        assert!(matches!(
            conversation.hear(&|| Ok(())),
            Ok(Some(Said::Ready))
        ));
        peer.write_all(b"ure\"}\n").unwrap();
        assert!(matches!(
            conversation.hear(&|| Ok(())),
            Ok(Some(Said::Unknown))
        ));
        assert!(matches!(
            conversation.hear(&|| Err(Error::Cancelled)),
            Err(Error::Cancelled)
        ));
        drop(peer);
        assert!(matches!(conversation.hear(&|| Ok(())), Ok(None)));
    }
}
