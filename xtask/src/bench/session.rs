//! A language client that does nothing but take the time.
//!
//! A thread of its own notes the moment at which a message has arrived in full, before it is parsed:
//! what the client makes of it afterwards is not the server's time.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::servers::Server;

/// How long a server may take for one answer.
const LIMIT: Duration = Duration::from_secs(60);

/// A server under measurement.
pub(crate) struct Session {
    name: &'static str,
    child: Child,
    input: ChildStdin,
    inbox: Receiver<(Instant, Value)>,
    next_id: u64,
    /// When `initialized` was sent: from then on a server may begin to work.
    initialized: Instant,
}

impl Session {
    /// Starts a server in a folder; gives the time from the process's start to its answer to
    /// `initialize`.
    pub(crate) fn start(server: &Server, folder: &Path) -> anyhow::Result<(Self, Duration)> {
        Self::start_with(server, folder, &Value::Null)
    }

    /// The same with options for `initialize`.
    pub(super) fn start_with(
        server: &Server,
        folder: &Path,
        options: &Value,
    ) -> anyhow::Result<(Self, Duration)> {
        let uri = format!("file://{}", folder.display());
        // Diagnostics are pushed: none of the servers has a client that could pull.
        let hello = json!({
            "processId": std::process::id(),
            "clientInfo": {"name": "tileperf-bench"},
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": "bench"}],
            "initializationOptions": options,
            "capabilities": {
                "general": {"positionEncodings": ["utf-8", "utf-16"]},
                "textDocument": {
                    "synchronization": {"didSave": true},
                    "publishDiagnostics": {"relatedInformation": true, "versionSupport": true},
                    "codeAction": {
                        "codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}},
                        "dataSupport": true,
                        "resolveSupport": {"properties": ["edit"]},
                    },
                },
            },
        });
        let started = Instant::now();
        let mut child = Command::new(&server.program)
            .args(server.args)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{} cannot be started", server.program.display()))?;
        let input = child.stdin.take().context("no pipe to the server")?;
        let output = child.stdout.take().context("no pipe from the server")?;
        let mut session = Self {
            name: server.name,
            child,
            input,
            inbox: listen(BufReader::new(output)),
            next_id: 0,
            initialized: started,
        };
        let answered = session.ask("initialize", hello)?;
        session.initialized = Instant::now();
        session.notify("initialized", json!({}))?;
        Ok((session, answered - started))
    }

    /// Opens a document as version 1; gives the time to its diagnostics.
    pub(crate) fn open(&mut self, uri: &str, text: &str) -> anyhow::Result<Duration> {
        let sent = self.open_unanswered(uri, text)?;
        Ok(self.diagnostics(1)? - sent)
    }

    /// Opens a document as version 1 and goes on; gives the moment.
    pub(super) fn open_unanswered(&mut self, uri: &str, text: &str) -> anyhow::Result<Instant> {
        let document = json!({"uri": uri, "languageId": "python", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({ "textDocument": document }))
    }

    /// Sends one edit that makes `version`; gives the time to the diagnostics of that version.
    pub(crate) fn change(
        &mut self,
        uri: &str,
        version: u64,
        change: &Value,
    ) -> anyhow::Result<Duration> {
        let document = json!({"uri": uri, "version": version});
        let params = json!({"textDocument": document, "contentChanges": [change]});
        let sent = self.notify("textDocument/didChange", params)?;
        Ok(self.diagnostics(version)? - sent)
    }

    /// The time to an answer that is a list with something in it.
    pub(super) fn offered(
        &mut self,
        method: &str,
        params: &Value,
    ) -> anyhow::Result<Option<Duration>> {
        let id = self.next_id();
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let sent = self.send(&request)?;
        let (arrived, answer) = self.answer(method, id)?;
        let items = answer["result"].as_array();
        Ok(items
            .is_some_and(|items| !items.is_empty())
            .then(|| arrived - sent))
    }

    /// Waits until the workspace is read; gives the time since the session could begin to.
    pub(super) fn indexed(&mut self) -> anyhow::Result<Duration> {
        let ready = self.wait("tileperf/status", |message| {
            message["method"] == "tileperf/status" && message["params"]["state"] == "ready"
        })?;
        Ok(ready - self.initialized)
    }

    /// Memory of the process that is resident, in KiB.
    pub(super) fn resident_kib(&self) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok())
            .context("the system does not tell a process's memory")
    }

    /// Ends the session in good order.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.ask("shutdown", Value::Null)?;
        self.notify("exit", Value::Null)?;
        Ok(())
    }

    fn diagnostics(&mut self, version: u64) -> anyhow::Result<Instant> {
        self.wait("diagnostics", |message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["version"] == version
        })
    }

    fn ask(&mut self, method: &str, params: Value) -> anyhow::Result<Instant> {
        let id = self.next_id();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(self.answer(method, id)?.0)
    }

    fn next_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn answer(&mut self, method: &str, id: u64) -> anyhow::Result<(Instant, Value)> {
        self.message(method, |message| {
            message["id"] == id && message["method"].is_null()
        })
    }

    fn notify(&mut self, method: &str, params: Value) -> anyhow::Result<Instant> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Gives the moment before the first byte went out.
    fn send(&mut self, message: &Value) -> anyhow::Result<Instant> {
        let body = message.to_string();
        let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let sent = Instant::now();
        self.input
            .write_all(frame.as_bytes())
            .and_then(|()| self.input.flush())
            .with_context(|| format!("{} has closed its input", self.name))?;
        Ok(sent)
    }

    fn wait(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> anyhow::Result<Instant> {
        Ok(self.message(what, is_it)?.0)
    }

    /// The first message that `is_it`, with its arrival. Questions of the server are answered with
    /// nothing, everything else is passed over.
    fn message(
        &mut self,
        what: &str,
        is_it: impl Fn(&Value) -> bool,
    ) -> anyhow::Result<(Instant, Value)> {
        let patience = Instant::now() + LIMIT;
        loop {
            let left = patience.saturating_duration_since(Instant::now());
            let (arrived, message) = self
                .inbox
                .recv_timeout(left)
                .with_context(|| format!("{}: no answer: {what}", self.name))?;
            if !message["error"].is_null() {
                bail!("{}: {what}: {}", self.name, message["error"]);
            }
            if is_it(&message) {
                return Ok((arrived, message));
            }
            if !message["method"].is_null()
                && let Some(id) = message.get("id")
            {
                let items = message["params"]["items"].as_array();
                let nothing = items.map(|items| vec![Value::Null; items.len()]);
                self.send(&json!({"jsonrpc": "2.0", "id": id, "result": nothing}))?;
            }
        }
    }
}

impl Drop for Session {
    /// A server that was told to go may take its time; one that was not has no other end.
    fn drop(&mut self) {
        let patience = Instant::now() + Duration::from_secs(2);
        while Instant::now() < patience && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the thread that reads.
fn listen(mut output: impl BufRead + Send + 'static) -> Receiver<(Instant, Value)> {
    let (sender, inbox) = mpsc::channel();
    std::thread::spawn(move || {
        while let Some(body) = read(&mut output) {
            let arrived = Instant::now();
            let Ok(message) = serde_json::from_slice(&body) else {
                return;
            };
            if sender.send((arrived, message)).is_err() {
                return;
            }
        }
    });
    inbox
}

/// The next message's bytes; `None` at the end, or where the stream is none of the protocol's.
fn read(output: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        output.read_line(&mut line).ok().filter(|read| *read > 0)?;
        match line.trim_end() {
            "" => break,
            header => {
                if let Some(value) = header.strip_prefix("Content-Length: ") {
                    length = value.parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    Some(body)
}
