//! `tileperf perf report`: what a session did, for people and pull requests.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};
use tileperf_perf::report;

use super::session::{KernelArgs, Named};

/// Write a report of a session.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    kernel: KernelArgs,

    /// In which form.
    #[arg(long, value_enum, default_value_t = Form::Markdown)]
    form: Form,

    /// The text of a pull request: a title, an empty line, a body.
    #[arg(long, conflicts_with = "form")]
    pull_request: bool,

    /// "Optimization Applied" for this iteration only.
    #[arg(long, value_name = "N", conflicts_with_all = ["form", "pull_request"])]
    iteration: Option<u32>,

    /// Write to FILE instead of standard output.
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Everything, for reading.
    Markdown,
    /// A page that stands alone, with curves.
    Html,
    /// "Optimization Summary", short.
    Summary,
}

/// Runs `tileperf perf report`.
pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.kernel.kernel.as_deref())?;
    let (_, session) = named.session(true)?;
    let text = match (args.iteration, args.pull_request, args.form) {
        (Some(iteration), ..) => report::applied(&session, iteration).with_context(|| {
            format!("the session {} has no iteration {iteration}", session.name)
        })?,
        (None, true, _) => {
            let (title, body) = report::pull_request(&session);
            format!("{title}\n\n{body}")
        }
        (None, false, Form::Markdown) => report::markdown(&session),
        (None, false, Form::Html) => report::html(&session),
        (None, false, Form::Summary) => report::summary(&session),
    };
    match &args.output {
        Some(path) => std::fs::write(path, text)
            .with_context(|| format!("cannot write {}", path.display()))?,
        None => io::stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}
