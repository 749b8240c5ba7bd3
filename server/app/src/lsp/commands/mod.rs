//! The commands of `workspace/executeCommand`, one file each: a check of the whole workspace, the doctor,
//! the compiler's installation, which signature of a kernel is shown, and the experiment loop's verbs.
//!
//! A command that runs the project's code starts `tileperf perf VERB` as a child and answers at once;
//! what becomes of it shows through the journal, as for a run that was started in a terminal. The
//! short verbs (finish, undo, ...) are children too, for a session's lock and its git work belong to
//! one process at a time, and are waited for. Nothing is started in a workspace that is not trusted.

mod abandon;
mod apply;
mod attach;
mod baseline;
mod check_workspace;
mod child;
mod doctor;
mod finish;
mod install_toolchain;
mod plan;
mod report;
mod resume;
mod run_iteration;
mod setup;
mod signatures;
mod status;
mod stop;
mod subject;
mod undo;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tileperf_engine::{DocId, Engine};
use tokio::sync::watch;
use tower_lsp::Client;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::request::ShowDocument;
use tower_lsp::ls_types::{MessageType, Position, ShowDocumentParams, Uri};

use super::convert::Converter;
use super::pool;
use super::progress::Progress;
use super::publish::Publisher;
use super::questions::Questions;
use super::server::Server;

pub(super) use child::Children;
pub(super) use install_toolchain::offer_help;

/// Every command, as `initialize` lists them.
pub(super) const NAMES: [&str; 18] = [
    "tileperf.checkWorkspace",
    "tileperf.doctor",
    "tileperf.installToolchain",
    "tileperf.signatures",
    super::session::SHOW_SIGNATURE,
    super::session::RUN_ITERATION,
    super::session::APPLY,
    super::session::PLAN,
    "tileperf.perf.setup",
    "tileperf.perf.baseline",
    "tileperf.perf.status",
    "tileperf.perf.attach",
    "tileperf.perf.stop",
    "tileperf.perf.resume",
    "tileperf.perf.finish",
    "tileperf.perf.undo",
    "tileperf.perf.abandon",
    "tileperf.perf.report",
];

/// The protocol's code for a request that was understood and cannot be done.
const REQUEST_FAILED: i64 = -32803;

/// What a command is about and how it is meant. Every field may be missing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Argument {
    uri: Option<Uri>,
    position: Option<Position>,
    /// A kernel's qualified name.
    kernel: Option<String>,
    session: Option<String>,
    /// What to call the change.
    name: Option<String>,
    /// An optimization of the playbook, by its letter or name, and which of its ways.
    optimization: Option<String>,
    variant: Option<String>,
    goal: Option<String>,
    go_on: bool,
    fix: bool,
    device: Option<String>,
    /// Finish with one commit for each kept iteration.
    commits: bool,
    /// The iteration to undo.
    iteration: Option<u32>,
    form: Form,
    /// Which of the kernels of that name in the file.
    ordinal: u32,
    /// A signature of the kernel, and its place among them, from 1.
    signature: Option<String>,
    number: usize,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Form {
    #[default]
    Markdown,
    Html,
    PullRequest,
}

/// What a client gets.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<String>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

/// Why a command is not done, in one sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Refusal(String);

impl Refusal {
    fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let mut error = Error::new(ErrorCode::ServerError(REQUEST_FAILED));
        error.message = refusal.0.into();
        error
    }
}

/// What commands need of the server; cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Desk {
    engine: Engine,
    convert: Option<Converter>,
    children: Arc<Children>,
    progress: Progress,
    questions: Questions,
    client: Client,
    /// The client can be told to open a document.
    shows_documents: bool,
    /// For a client that diagnostics are pushed to.
    publisher: Option<Arc<Publisher>>,
    /// For one that asks: something is wrong in another file, or no more.
    news: Arc<watch::Sender<()>>,
}

impl Desk {
    /// That of a server.
    pub(super) fn new(server: &Server) -> Self {
        Self {
            engine: server.engine.clone(),
            convert: server.converter(),
            children: Arc::clone(&server.children),
            progress: server.progress.clone(),
            questions: server.questions.clone(),
            client: server.client.clone(),
            shows_documents: (server.session()).is_some_and(|session| session.shows_documents),
            publisher: (server.session())
                .is_some_and(|session| !session.pulls_diagnostics)
                .then(|| Arc::clone(&server.publisher)),
            news: Arc::clone(&server.failing),
        }
    }

    /// Shows a message. May be called from any thread; does not wait on the runtime's.
    fn tell(&self, kind: MessageType, text: impl std::fmt::Display) {
        let (client, text) = (self.client.clone(), format!("tileperf: {text}"));
        let told = async move { client.show_message(kind, text).await };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(told)),
            Err(_) => futures::executor::block_on(told),
        }
    }

    /// The folder whose Python counts; where none is open, one without a Python of its own.
    fn root(&self) -> PathBuf {
        self.engine.root().unwrap_or_else(|| PathBuf::from("/"))
    }

    /// Has the client open a file, for somebody who has asked for it.
    fn open(&self, file: &Path) -> anyhow::Result<()> {
        anyhow::ensure!(self.shows_documents, "the client opens no documents");
        let convert = self.convert.as_ref();
        let uri = convert.and_then(|c| c.uri(&DocId::file(file)));
        let document = ShowDocumentParams {
            uri: uri.ok_or_else(|| anyhow::anyhow!("{} has no URI", file.display()))?,
            external: Some(false),
            take_focus: Some(true),
            selection: None,
        };
        let name = file.display().to_string();
        self.questions.ask::<ShowDocument>(document, move |answer| {
            if !answer.as_ref().is_ok_and(|shown| shown.success) {
                tracing::warn!("the client does not open {name}: {answer:?}");
            }
        });
        Ok(())
    }

    /// Refuses to start anything of a workspace that the user does not trust.
    fn require_trust(&self) -> std::result::Result<(), Refusal> {
        match self.engine.is_trusted() {
            true => Ok(()),
            false => Err(Refusal::new(
                "this runs code of the workspace, which is not trusted",
            )),
        }
    }
}

/// Does what `command` stands for. Whatever reads a disk or waits for a child is done on other threads.
///
/// # Errors
/// An unknown command or argument; `RequestFailed` with a sentence for people.
pub(super) async fn run(desk: Desk, command: &str, arguments: Vec<Value>) -> Result<Value> {
    let argument = parse(arguments)?;
    let answer = match command {
        super::session::RUN_ITERATION => run_iteration::run(desk, argument).await,
        super::session::PLAN => plan::run(desk, argument).await,
        super::session::APPLY => apply::run(desk, argument).await,
        "tileperf.checkWorkspace" => check_workspace::run(desk).await,
        "tileperf.doctor" => return value(doctor::run(desk).await?),
        "tileperf.installToolchain" => install_toolchain::run(desk).await,
        "tileperf.signatures" => return value(signatures::list(desk, argument).await?),
        super::session::SHOW_SIGNATURE => signatures::show(desk, argument).await,
        "tileperf.perf.setup" => setup::run(desk, argument).await,
        "tileperf.perf.baseline" => baseline::run(desk, argument).await,
        "tileperf.perf.status" => status::run(desk, argument).await,
        "tileperf.perf.attach" => attach::run(desk, argument).await,
        "tileperf.perf.stop" => stop::run(desk, argument).await,
        "tileperf.perf.resume" => resume::run(desk, argument).await,
        "tileperf.perf.finish" => finish::run(desk, argument).await,
        "tileperf.perf.undo" => undo::run(desk, argument).await,
        "tileperf.perf.abandon" => abandon::run(desk, argument).await,
        "tileperf.perf.report" => report::run(desk, argument).await,
        unknown => return Err(Error::invalid_params(format!("no command {unknown}"))),
    };
    value(answer?)
}

fn value(answer: impl Serialize) -> Result<Value> {
    serde_json::to_value(answer).map_err(|_| Error::internal_error())
}

fn parse(arguments: Vec<Value>) -> Result<Argument> {
    match arguments.into_iter().next() {
        None | Some(Value::Null) => Ok(Argument::default()),
        Some(value) => {
            serde_json::from_value(value).map_err(|e| Error::invalid_params(e.to_string()))
        }
    }
}

/// Work that reads the disk, for one command.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::result::Result<T, Refusal> + Send + 'static,
) -> Result<T> {
    Ok(pool::run(work).await??)
}

/// File names for a sentence.
fn file_name(path: &std::path::Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    PathBuf::from(name).display().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_one_object_or_none() {
        assert!(parse(Vec::new()).unwrap().kernel.is_none());
        assert!(parse(vec![Value::Null]).unwrap().uri.is_none());
        let whole = json!({
            "uri": "file:///a.py", "position": {"line": 1, "character": 2}, "kernel": "k",
            "session": "s", "name": "n", "goal": "1.2x", "goOn": true, "fix": true, "device": "cpu",
            "commits": true, "iteration": 3, "form": "pull-request", "later": 1,
        });
        let argument = parse(vec![whole]).unwrap();
        assert!(argument.go_on && argument.fix && argument.commits);
        assert_eq!(
            (argument.iteration, argument.form),
            (Some(3), Form::PullRequest)
        );
        assert!(parse(vec![json!({"iteration": "three"})]).is_err());
    }
}
