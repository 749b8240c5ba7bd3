//! The test's language client.

mod documents;
mod gate;

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{process, wire};
use gate::Gate;

/// How long anything may take; generous, for a machine that is busy building.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Notifications that need not be waited for.
const PASSIVE: [&str; 5] = [
    "textDocument/publishDiagnostics",
    "tileperf/status",
    "tileperf/run",
    "$/progress",
    "window/logMessage",
];

/// How to start a client.
#[derive(Debug, Clone)]
pub struct Options {
    /// The client's capabilities.
    pub capabilities: Value,
    /// Sent as `initializationOptions`.
    pub initialization_options: Value,
    /// Sent as `workspaceFolders` and used as the server's working directory.
    pub folder: Option<std::path::PathBuf>,
    /// A program with arguments that the server is started by, as `env` is.
    pub within: Vec<String>,
    /// Further arguments after `tileperf lsp`.
    pub args: Vec<String>,
    /// Set in the server's environment.
    pub environment: Vec<(String, std::path::PathBuf)>,
    /// Whether questions of the server are answered.
    pub answers: bool,
    /// Whether the server's standard error is read.
    pub reads_log: bool,
    /// Whether the requests that only tests use exist.
    pub hooks: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            capabilities: json!({}),
            initialization_options: Value::Null,
            folder: None,
            within: Vec::new(),
            args: Vec::new(),
            environment: Vec::new(),
            answers: true,
            reads_log: true,
            hooks: false,
        }
    }
}

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// The protocol's code.
    pub code: i64,
    /// The server's words.
    pub message: String,
}

/// A running server and this client's end of its pipes.
#[derive(Debug)]
pub struct Client {
    options: Options,
    child: Child,
    input: Option<ChildStdin>,
    inbox: Receiver<Value>,
    gate: Arc<Gate>,
    log: Arc<Mutex<Vec<String>>>,
    next_id: i64,
    answered: HashSet<String>,
    responses: HashMap<String, Result<Value, RpcError>>,
    /// Error responses to messages without an id that could be read.
    anonymous: VecDeque<RpcError>,
    notifications: VecDeque<(String, Value)>,
    /// Questions of the server: method, id, parameters.
    questions: VecDeque<(String, Value, Value)>,
    ended: bool,
}

impl Client {
    /// Starts the server and does nothing more.
    ///
    /// # Panics
    /// The server does not start.
    pub fn spawn(options: Options) -> Self {
        let server = process::server_binary();
        let mut command = match options.within.split_first() {
            Some((program, args)) => {
                let mut command = Command::new(program);
                command.args(args).arg(server);
                command
            }
            None => Command::new(server),
        };
        command.arg("lsp").args(&options.args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
            .env_remove("TILEPERF_LOG")
            .env_remove("TILEPERF_TEST_HOOKS");
        command.envs(
            options
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        );
        if options.hooks {
            command.env("TILEPERF_TEST_HOOKS", "1");
        }
        if let Some(folder) = &options.folder {
            command.current_dir(folder);
        }
        let mut child = command.spawn().expect("the server starts");

        let gate = Arc::new(Gate::default());
        let (sender, inbox) = mpsc::channel();
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let reading = Arc::clone(&gate);
        std::thread::spawn(move || {
            loop {
                reading.pass();
                match wire::read(&mut output) {
                    Ok(Some(message)) => {
                        if sender.send(message).is_err() {
                            return;
                        }
                    }
                    Ok(None) => return,
                    // Reaches the test as a message that nothing accepts.
                    Err(error) => {
                        let _ = sender.send(json!({ "unreadable": error.to_string() }));
                        return;
                    }
                }
            }
        });

        let log = Arc::new(Mutex::new(Vec::new()));
        if options.reads_log {
            let errors = BufReader::new(child.stderr.take().expect("a pipe"));
            let lines = Arc::clone(&log);
            std::thread::spawn(move || {
                for line in errors.lines().map_while(Result::ok) {
                    lines
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(line);
                }
            });
        }
        Self {
            options,
            input: child.stdin.take(),
            child,
            inbox,
            gate,
            log,
            next_id: 1,
            answered: HashSet::new(),
            responses: HashMap::new(),
            anonymous: VecDeque::new(),
            notifications: VecDeque::new(),
            questions: VecDeque::new(),
            ended: false,
        }
    }

    /// Starts the server and greets it; gives its answer to `initialize` as well.
    pub fn start(options: Options) -> (Self, Value) {
        let mut client = Self::spawn(options);
        let params = client.initialize_params();
        let answer = client.ask("initialize", params);
        client.notify("initialized", json!({}));
        (client, answer)
    }

    /// What [`Client::start`] sends with `initialize`.
    pub fn initialize_params(&self) -> Value {
        let folders =
            self.options.folder.as_ref().map(
                |folder| json!([{"uri": format!("file://{}", folder.display()), "name": "test"}]),
            );
        json!({
            "processId": std::process::id(),
            "clientInfo": {"name": "tileperf-tests"},
            "rootUri": null,
            "capabilities": self.options.capabilities,
            "initializationOptions": self.options.initialization_options,
            "workspaceFolders": folders,
        })
    }

    /// The server's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes as they are.
    ///
    /// # Panics
    /// The server has closed its input.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is still open");
        input
            .write_all(bytes)
            .and_then(|()| input.flush())
            .expect("the server reads");
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.send_raw(&wire::frame(message));
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request; the id is for [`Client::response`].
    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// An id that no request has yet.
    pub fn next_id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Waits for the response to a request.
    ///
    /// # Errors
    /// The server's error response.
    ///
    /// # Panics
    /// No response comes.
    pub fn response(&mut self, id: i64) -> Result<Value, RpcError> {
        let key = json!(id).to_string();
        self.wait(&format!("the response to request {id}"), |client| {
            client.responses.remove(&key)
        })
    }

    /// Sends a request and waits for its result.
    ///
    /// # Panics
    /// The server answers with an error.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.response(id)
            .unwrap_or_else(|error| panic!("{method}: {error:?}"))
    }

    /// Sends a request and waits for its error response.
    ///
    /// # Panics
    /// The server answers with a result.
    pub fn ask_error(&mut self, method: &str, params: Value) -> RpcError {
        let id = self.request(method, params);
        self.response(id).expect_err("an error response")
    }

    /// Waits for an error response that belongs to no request.
    pub fn anonymous_error(&mut self) -> RpcError {
        self.wait("an error response without id", |client| {
            client.anonymous.pop_front()
        })
    }

    /// Waits for a notification and gives its parameters.
    pub fn notification(&mut self, method: &str) -> Value {
        self.wait(method, |client| {
            let at = client
                .notifications
                .iter()
                .position(|(name, _)| name == method)?;
            client.notifications.remove(at).map(|(_, params)| params)
        })
    }

    /// Whether an unread notification of that name has come.
    pub fn has(&mut self, method: &str) -> bool {
        self.drain();
        self.notifications.iter().any(|(name, _)| name == method)
    }

    /// Whether an unread notification of that name is there or comes within `time`.
    pub fn has_within(&mut self, method: &str, time: Duration) -> bool {
        let start = Instant::now();
        while !self.has(method) && start.elapsed() < time {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.has(method)
    }

    /// Waits for the responses to all requests sent so far and forgets them, results and errors
    /// alike: for requests that were sent only to be there.
    pub fn forget_responses(&mut self) {
        for id in 1..self.next_id {
            let key = json!(id).to_string();
            self.wait(&format!("response to request {id}"), |client| {
                client.answered.contains(&key).then_some(())
            });
            self.responses.remove(&key);
        }
    }

    /// Waits for a question of the server; gives its id and its parameters.
    pub fn question(&mut self, method: &str) -> (Value, Value) {
        self.wait(method, |client| {
            let at = client
                .questions
                .iter()
                .position(|(name, ..)| name == method)?;
            client
                .questions
                .remove(at)
                .map(|(_, id, params)| (id, params))
        })
    }

    /// Checks that the server has not asked this so far.
    ///
    /// # Panics
    /// It has.
    pub fn check_nothing_asked(&mut self, method: &str) {
        self.drain();
        let asked = self.questions.iter().find(|(name, ..)| name == method);
        assert!(asked.is_none(), "the server asks: {asked:?}");
    }

    /// Waits until the server has asked nothing for `time`, and forgets what it has asked.
    pub fn forget_questions(&mut self, time: Duration) {
        let mut quiet = Instant::now();
        while quiet.elapsed() < time {
            self.drain();
            if !self.questions.is_empty() {
                self.questions.clear();
                quiet = Instant::now();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for a line of the server's log that contains `part`, and takes it: an error in the log
    /// that nobody takes fails the test in [`Client::finish`].
    pub fn log_line(&mut self, part: &str) -> String {
        self.wait(&format!("a log line with {part:?}"), |client| {
            let mut log = client.log.lock().unwrap_or_else(PoisonError::into_inner);
            let at = log.iter().position(|line| line.contains(part))?;
            Some(log.remove(at))
        })
    }

    /// Stops reading the server's output, or goes on.
    pub fn stop_reading(&mut self, stop: bool) {
        self.gate.set(stop);
    }

    /// Answers questions of the server from now on, or leaves them to the test.
    pub fn answers(&mut self, answers: bool) {
        self.options.answers = answers;
    }

    /// Closes the server's standard input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the server's end and gives its exit code; `None` if a signal ended it.
    ///
    /// # Panics
    /// It does not end within `limit`.
    pub fn exit_code(&mut self, limit: Duration) -> Option<i32> {
        let start = Instant::now();
        let status: ExitStatus = loop {
            match self.child.try_wait().expect("the server's state is known") {
                Some(status) => break status,
                None if start.elapsed() < limit => std::thread::sleep(Duration::from_millis(5)),
                None => panic!("the server still runs after {limit:?}\n{}", self.log_text()),
            }
        };
        self.ended = true;
        status.code()
    }

    /// Ends the session in good order and checks that nothing unexpected happened in it.
    ///
    /// # Panics
    /// Something did.
    pub fn finish(mut self) {
        self.ask("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        // Standard input stays open: the server must not wait for its end.
        assert_eq!(self.exit_code(LIMIT), Some(0), "{}", self.log_text());
        self.check_nothing_left();
    }

    /// Checks that no message was left unread that a user would have seen.
    ///
    /// # Panics
    /// One was.
    pub fn check_nothing_left(&mut self) {
        self.drain();
        let mut left: Vec<String> = Vec::new();
        left.extend(
            self.responses
                .drain()
                .map(|response| format!("{response:?}")),
        );
        left.extend(self.anonymous.drain(..).map(|error| format!("{error:?}")));
        if self.options.answers {
            self.questions.clear();
        }
        left.extend(
            self.questions
                .drain(..)
                .map(|question| format!("{question:?}")),
        );
        let noise = |(method, params): &(String, Value)| {
            PASSIVE.contains(&method.as_str())
                && !(method == "window/logMessage" && params["type"] == 1)
        };
        self.notifications
            .retain(|notification| !noise(notification));
        left.extend(
            self.notifications
                .drain(..)
                .map(|notification| format!("{notification:?}")),
        );
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        left.extend(log.iter().filter(|line| line.contains("ERROR")).cloned());
        assert!(left.is_empty(), "left over:\n{}", left.join("\n"));
    }

    /// The server's log so far, as it came on standard error.
    pub fn log_text(&self) -> String {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .join("\n")
    }

    /// Takes in messages until `find` finds something.
    fn wait<T>(&mut self, what: &str, mut find: impl FnMut(&mut Self) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            self.drain();
            if let Some(found) = find(self) {
                return found;
            }
            assert!(
                start.elapsed() < LIMIT,
                "no {what} in {LIMIT:?}\n{}",
                self.log_text()
            );
            match self.inbox.recv_timeout(Duration::from_millis(20)) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                // Log lines may still come; messages no more.
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(Duration::from_millis(20))
                }
            }
        }
    }

    fn drain(&mut self) {
        while let Ok(message) = self.inbox.try_recv() {
            self.take(message);
        }
    }

    fn take(&mut self, mut message: Value) {
        assert_eq!(message["jsonrpc"], "2.0", "no JSON-RPC: {message}");
        let params = message["params"].take();
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), None) => self.notifications.push_back((method.to_owned(), params)),
            (Some(method), Some(id)) => {
                let (method, id) = (method.to_owned(), id.clone());
                // What it asked on its last breath, nobody hears the answer to.
                if self.options.answers && !self.ended {
                    let items = params["items"]
                        .as_array()
                        .map(|items| vec![Value::Null; items.len()]);
                    self.send(&json!({"jsonrpc": "2.0", "id": id, "result": items}));
                }
                self.questions.push_back((method, id, params));
            }
            (None, Some(id)) => {
                let key = id.to_string();
                let response = match message.get("error") {
                    None => Ok(message["result"].clone()),
                    Some(error) => Err(RpcError {
                        code: error["code"].as_i64().expect("an error code"),
                        message: error["message"].as_str().unwrap_or_default().to_owned(),
                    }),
                };
                match response {
                    Err(error) if key == "null" => self.anonymous.push_back(error),
                    response => {
                        assert!(
                            self.answered.insert(key.clone()),
                            "a second response to {key}: {response:?}"
                        );
                        self.responses.insert(key, response);
                    }
                }
            }
            (None, None) => panic!("neither a call nor a response: {message}"),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.gate.set(false);
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !self.ended && !std::thread::panicking() {
            panic!("the session was not ended: call finish() or exit_code()");
        }
    }
}
