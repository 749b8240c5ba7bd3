//! `tileperf perf stop`: end a run, or a session's iterating.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use tileperf_perf::flow;
use tileperf_perf::lock::Lock;

use super::session::{Format, KernelArgs, Named, with_session};

/// How long a run may take to end its processes.
const PATIENCE: Duration = Duration::from_secs(15);

/// Stop the session. A run that goes on is ended; its change stays in your files, unmeasured.
#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    #[command(flatten)]
    kernel: KernelArgs,

    /// End the run only; the session goes on.
    #[arg(long)]
    run_only: bool,
}

/// Runs `tileperf perf stop`.
pub(crate) fn run(args: &StopArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.kernel.kernel.as_deref())?;
    let (store, session) = named.session(false)?;
    if let Some(holder) = Lock::holder(&store.lock()) {
        flow::ask_to_stop(&store)?;
        let began = Instant::now();
        while Lock::holder(&store.lock()).is_some() {
            if began.elapsed() > PATIENCE {
                anyhow::bail!("{} was asked to stop and has not yet", holder.0);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        writeln!(io::stdout(), "the run of {} is ended", holder.0)?;
    }
    if args.run_only {
        return Ok(ExitCode::SUCCESS);
    }
    with_session(&store, &session, Format::Text, None, |looped| {
        looped.stop()?;
        Ok(ExitCode::SUCCESS)
    })
}
