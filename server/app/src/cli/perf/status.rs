//! `tileperf perf status`: where the sessions are.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use tileperf_perf::lock::Lock;
use tileperf_perf::session::Phase;
use tileperf_perf::store::Store;
use tileperf_perf::{Session, journal, records};

use super::session::{Format, KernelArgs, Named};

/// Show where the project's sessions are, and their tables.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    kernel: KernelArgs,

    /// How to show it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Runs `tileperf perf status`.
pub(crate) fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.kernel.kernel.as_deref())?;
    let mut out = io::stdout().lock();
    let mut any = false;
    for name in Store::sessions(&named.root) {
        let store = Store::new(&named.root, &name);
        let session = match journal::read(&store.journal()) {
            Ok(entries) => Session::fold(&entries),
            Err(error) => {
                tracing::error!("{error}");
                continue;
            }
        };
        let Some(session) = session else { continue };
        if named
            .kernel
            .as_deref()
            .is_some_and(|k| session.plan.kernel != k && name != k)
        {
            continue;
        }
        any = true;
        let holder = Lock::holder(&store.lock()).map(|h| h.0);
        match args.format {
            Format::Json => {
                let line = json!({
                    "schema": "tileperf.perf-status/1",
                    "session": name,
                    "kernel": session.plan.kernel,
                    "file": session.plan.file,
                    "phase": session.phase,
                    "branch": session.git.as_ref().map(|g| &g.session_branch),
                    "iterations": session.iterations(),
                    "latency_ms": session.latency(),
                    "baseline_ms": session.first_latency(),
                    "running": holder,
                    "rows": session.rows(),
                });
                writeln!(out, "{line}")?;
            }
            Format::Text => {
                writeln!(out, "{}", sentence(&session, holder.as_deref()))?;
                write!(out, "{}", records::render(&session.rows()))?;
            }
        }
    }
    if !any && args.format == Format::Text {
        writeln!(
            out,
            "there is no session; `tileperf perf setup KERNEL` starts one"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn sentence(session: &Session, holder: Option<&str>) -> String {
    let phase = match session.phase {
        Phase::SetUp => "set up; iteration 0 is still to be measured".to_owned(),
        Phase::Ready => format!("{} iterations so far", session.iterations()),
        Phase::Stopped { stop } => stop.sentence(),
        Phase::Finished => "finished".to_owned(),
        Phase::Abandoned => "abandoned".to_owned(),
    };
    let change = match (session.first_latency(), session.latency()) {
        (Some(first), Some(now)) if first != now => {
            format!("; {first:.6} ms to {now:.6} ms, {:.2}x", first / now)
        }
        (Some(first), _) => format!("; {first:.6} ms"),
        _ => String::new(),
    };
    let running = holder.map_or(String::new(), |h| format!("; run by {h}"));
    format!("{}: {phase}{change}{running}", session.name)
}
