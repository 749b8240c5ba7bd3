//! `tileperf perf attach`: follow a run that another process makes.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use tileperf_perf::event::Event;
use tileperf_perf::journal;
use tileperf_perf::lock::Lock;

use super::session::{Format, KernelArgs, Named};
use super::shown::Shown;

/// Follow a run of another process until it ends. Ctrl-C leaves it running.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    #[command(flatten)]
    kernel: KernelArgs,

    /// How to say what happens.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Runs `tileperf perf attach`.
pub(crate) fn run(args: &AttachArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.kernel.kernel.as_deref())?;
    let (store, _) = named.session(true)?;
    let shown = Shown::new(args.format);
    let entries = journal::read(&store.journal())?;
    // From the beginning of the last run on.
    let begins = |event: &Event| matches!(event, Event::RunStarted { .. });
    let mut seen = entries.iter().rposition(|e| begins(&e.event)).unwrap_or(0);
    loop {
        // Looked at before the journal: what its holder wrote last is then read.
        let running = Lock::holder(&store.lock()).is_some();
        let entries = journal::read(&store.journal())?;
        for entry in &entries[seen.min(entries.len())..] {
            shown.show(entry)?;
        }
        seen = entries.len();
        if !running {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
