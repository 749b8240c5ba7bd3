//! `tileperf perf`: the experiment loop in a terminal, one file a verb.

mod abandon;
mod apply;
mod attach;
mod baseline;
mod begun;
mod device;
mod experiment;
mod finish;
mod identity;
mod init;
mod iterate;
mod plan;
mod report;
mod resume;
mod session;
mod setup;
mod shown;
mod status;
mod stop;
mod undo;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Make a kernel faster, one measured change at a time.
///
/// `setup` starts a session on a branch of its own, `baseline` measures the code as it is, `iterate`
/// tests and times the change that you have saved and keeps or reverts it by rule. Every step is in
/// sandbox/tileperf/, the result in sandbox/perf_results.md.
#[derive(Debug, Args)]
pub(crate) struct PerfArgs {
    #[command(subcommand)]
    command: PerfCommand,
}

#[derive(Debug, Subcommand)]
enum PerfCommand {
    Init(init::InitArgs),
    Setup(setup::SetupArgs),
    Baseline(baseline::BaselineArgs),
    Iterate(iterate::IterateArgs),
    Apply(apply::ApplyArgs),
    Experiment(experiment::ExperimentArgs),
    Status(status::StatusArgs),
    Attach(attach::AttachArgs),
    Stop(stop::StopArgs),
    Resume(resume::ResumeArgs),
    Finish(finish::FinishArgs),
    Undo(undo::UndoArgs),
    Abandon(abandon::AbandonArgs),
    Report(report::ReportArgs),
}

/// Runs `tileperf perf`.
pub(crate) fn run(args: &PerfArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        PerfCommand::Init(args) => init::run(args),
        PerfCommand::Setup(args) => setup::run(args),
        PerfCommand::Baseline(args) => baseline::run(args),
        PerfCommand::Iterate(args) => iterate::run(args),
        PerfCommand::Apply(args) => apply::run(args),
        PerfCommand::Experiment(args) => experiment::run(args),
        PerfCommand::Status(args) => status::run(args),
        PerfCommand::Attach(args) => attach::run(args),
        PerfCommand::Stop(args) => stop::run(args),
        PerfCommand::Resume(args) => resume::run(args),
        PerfCommand::Finish(args) => finish::run(args),
        PerfCommand::Undo(args) => undo::run(args),
        PerfCommand::Abandon(args) => abandon::run(args),
        PerfCommand::Report(args) => report::run(args),
    }
}
