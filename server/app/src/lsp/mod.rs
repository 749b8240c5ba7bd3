//! The language server: one session with one editor over standard input and output.
//!
//! [`transport`] moves messages, [`lifecycle`] agrees with the client on what is possible,
//! `requests` and `notifications` hold one file per method. A method's file guards, converts from
//! the protocol's types, calls the engine and converts back; [`convert`] is the only place that
//! knows both kinds of types. [`commands`] holds one file per command. [`background`] tells the client
//! what the engine does on its own.

mod about;
mod background;
mod commands;
mod convert;
mod diagnostics;
mod idle;
mod lenient;
mod lifecycle;
mod names;
mod notices;
mod notifications;
mod panics;
mod pool;
mod progress;
mod publish;
mod questions;
mod refresh;
mod requests;
mod run_events;
mod runs;
mod server;
mod session;
mod settings;
mod transport;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;

use anyhow::Context;
use tileperf_engine::Engine;
use tower_lsp::LspService;

use publish::Publisher;
use server::Server;

/// Runs the language server; returns the protocol's exit code.
///
/// # Errors
/// Standard input or output is not usable, or a thread cannot be started.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    panics::log_all();
    let (input, output) = take_stdio().context("standard input and output are not usable")?;
    let runtime = pool::runtime().context("cannot start the runtime")?;
    let code = runtime.block_on(async {
        let (outbox, write_failed) = transport::Outbox::start(output)?;
        let answers = outbox.clone();
        let engine = Engine::new();
        crate::local_gpu::ask_for(&engine);
        let publisher = Publisher::start(engine.clone(), outbox)?;
        let mut service = LspService::build(|client| Server::new(client, engine, publisher))
            .custom_method(
                "window/workDoneProgress/cancel",
                notifications::cancel_progress::handle,
            )
            .custom_method("tileperf/runs", requests::runs::handle)
            .custom_method("tileperf/documentText", requests::document_text::handle)
            .custom_method("tileperf/serverInfo", requests::server_info::handle);
        if std::env::var_os("TILEPERF_TEST_HOOKS").is_some_and(|value| value == "1") {
            service = requests::test_hooks::register(service);
        }
        let (service, socket) = service.finish();
        transport::serve(service, socket, input, answers, write_failed).await
    })?;
    // Not dropped: that would wait for work still on the pool.
    runtime.shutdown_background();
    Ok(ExitCode::from(code))
}

/// Standard input and output for the protocol alone. What any library prints from here on goes to
/// standard error instead of between two messages.
fn take_stdio() -> io::Result<(File, File)> {
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok((input, output))
}
