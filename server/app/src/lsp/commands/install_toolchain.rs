//! `tileperf.installToolchain`: a cuTile with its compiler in tileperf's cache folder, after the user's
//! yes; and the offer to do that where kernels are not compiled for want of one.
//!
//! The question is the server's, so that it is the same in all editors. The project's Python does the
//! work, in a child, so nothing of it happens in a workspace that is not trusted.

use std::ffi::OsStr;
use std::sync::Arc;

use tileperf_compiler::environment::{Managed, REQUIREMENTS};
use tileperf_engine::Depth;
use tileperf_proc::{CancelToken, Ended, Guarded};
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::MessageType;

use super::{Answer, Desk, Refusal, blocking, child, doctor};
use crate::dirs;
use crate::lsp::pool;

const INSTALL_OFFER: &str = "Install…";
const DOCTOR: &str = "Doctor";
const INSTALL: &str = "Install";
const NOT_NOW: &str = "Not now";

/// What is noted among the running children.
const KEY: &str = "toolchain install";

/// Asks, and returns at once: all that becomes of it shows as messages.
pub(super) async fn run(desk: Desk) -> Result<Answer> {
    blocking(move || {
        desk.require_trust()?;
        Ok(Answer {
            message: ask(&desk)?,
            ..Answer::default()
        })
    })
    .await
}

/// Says why kernels are not compiled, with buttons for what can be done about it. Nobody has asked for
/// it, so it is for clients that show buttons beside a message.
pub(in crate::lsp) fn offer_help(desk: Desk, text: String) {
    tracing::warn!("{text}");
    let buttons: &[&str] = match installed(&managed()) {
        true => &[DOCTOR],
        false => &[INSTALL_OFFER, DOCTOR],
    };
    let questions = desk.questions.clone();
    let text = format!("tileperf: {text}");
    questions.ask_person(MessageType::WARNING, text, buttons, move |pressed| {
        let pressed = pressed.to_owned();
        tokio::spawn(pool::caught(
            "help with the compiler",
            move || match pressed.as_str() {
                INSTALL_OFFER => {
                    if let Err(Refusal(why)) = desk.require_trust().and_then(|()| ask(&desk)) {
                        desk.tell(MessageType::ERROR, why);
                    }
                }
                _ => doctor::show(&desk),
            },
        ));
    });
}

/// Asks whether to install, and starts it at a yes. Says what it did.
fn ask(desk: &Desk) -> std::result::Result<String, Refusal> {
    let managed = managed().map_err(|error| Refusal::new(format!("{error:#}")))?;
    let folder = managed.folder().display();
    if installed(&Ok(managed.clone())) {
        compile_open_documents(desk);
        let message = format!("a cuTile with its compiler is installed in {folder}");
        desk.tell(MessageType::INFO, &message);
        return Ok(message);
    }
    if desk.children.running().contains(OsStr::new(KEY)) {
        return Err(Refusal::new("it is being installed"));
    }
    let text = format!(
        "tileperf: Install {}? 2 GB are downloaded from the package index into {folder}. Nothing of the \
         project changes.",
        REQUIREMENTS.join(" and ")
    );
    let this = desk.clone();
    let buttons = [INSTALL, NOT_NOW];
    (desk.questions).ask_person(MessageType::INFO, text, &buttons, move |pressed| {
        if pressed != INSTALL {
            return;
        }
        if let Err(Refusal(why)) = start(&this, managed) {
            this.tell(MessageType::ERROR, why);
        }
    });
    Ok("asking whether to install".to_owned())
}

/// Starts the installation, with a display that can be cancelled.
fn start(desk: &Desk, managed: Managed) -> std::result::Result<(), Refusal> {
    desk.require_trust()?;
    if !desk.children.running().insert(KEY.into()) {
        return Err(Refusal::new("it is being installed"));
    }
    let cancel = CancelToken::new();
    let display = Arc::new(
        desk.progress
            .activity("Installing cuTile and its compiler", &cancel),
    );
    let shown = Arc::clone(&display);
    let command = child::for_workspace(desk, &["toolchain", "install"])
        .cancel_with(&cancel)
        .keep_output(0, 64 << 10)
        .on_line(move |_, line| shown.say(line));
    let this = desk.clone();
    let started = child::thread("toolchain-install", move || {
        let outcome = install(command);
        drop(display);
        this.children.running().remove(OsStr::new(KEY));
        match outcome {
            Ok(true) => {
                this.tell(MessageType::INFO, "cuTile and its compiler are installed");
                compile_open_documents(&this);
            }
            Ok(false) => {
                managed.remove_unfinished();
                this.tell(MessageType::INFO, "the installation was cancelled");
            }
            Err(why) => this.tell(MessageType::ERROR, why),
        }
    });
    if started.is_err() {
        desk.children.running().remove(OsStr::new(KEY));
    }
    started
}

/// Whether it was done; not if it was cancelled.
fn install(command: Guarded) -> std::result::Result<bool, String> {
    let report = command.run().map_err(|error| error.to_string())?;
    match (child::reason(&report), report.ended) {
        (Some(why), _) => Err(why),
        (None, Ended::Cancelled) => Ok(false),
        (None, Ended::Exited { code: 0 }) => Ok(true),
        (None, ended) => Err(format!("the installation {ended}")),
    }
}

/// The next compile looks for a compiler; it is asked for wherever one was missing.
fn compile_open_documents(desk: &Desk) {
    for doc in desk.engine.open_documents() {
        desk.engine.compile_soon(&doc, Depth::Machine);
    }
}

fn managed() -> anyhow::Result<Managed> {
    Ok(Managed::in_cache(&dirs::cache()?))
}

fn installed(managed: &anyhow::Result<Managed>) -> bool {
    let variables = |name: &str| std::env::var_os(name);
    (managed.as_ref()).is_ok_and(|managed| managed.environment(&variables).is_some())
}
