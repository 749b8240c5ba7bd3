//! The command line: what a user types, one file per command.
//!
//! A command writes its result to standard output and everything else to standard error, and
//! returns the process's exit code. A reader that stops early (`tileperf facts . | head`) ends the
//! program quietly.

mod actions;
mod apply;
mod check;
mod chosen;
mod compile;
mod compile_json;
mod compile_space;
mod compile_table;
mod compile_text;
mod completions;
mod config;
mod demo;
mod doctor;
mod edited;
mod explain;
mod facts;
mod facts_text;
mod gpu_probe;
mod lock;
mod lsp;
mod paths;
mod perf;
mod plan;
mod switches;
mod toolchain;
mod trust;
mod workspace;

use std::io;
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::logging::{self, Level, Sink};

/// Performance workbench for cuTile Python GPU kernels (NVIDIA cuda.tile).
///
/// tileperf finds the kernels of a project, what launches and tunes them, and what limits them.
/// Your editor runs `tileperf lsp`; the other commands answer the same questions in a terminal.
#[derive(Debug, Parser)]
#[command(name = "tileperf", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    logging: LoggingArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    Lsp(lsp::LspArgs),
    Facts(facts::FactsArgs),
    Check(check::CheckArgs),
    Compile(compile::CompileArgs),
    Actions(actions::ActionsArgs),
    Apply(apply::ApplyArgs),
    Plan(plan::PlanArgs),
    Lock(lock::LockArgs),
    Explain(explain::ExplainArgs),
    Doctor(doctor::DoctorArgs),
    Toolchain(toolchain::ToolchainArgs),
    Demo(demo::DemoArgs),
    Perf(perf::PerfArgs),
    Config(config::ConfigArgs),
    Completions(completions::CompletionsArgs),
    /// Says what the driver says of this machine's GPUs; for tileperf itself.
    #[command(name = crate::local_gpu::COMMAND, hide = true)]
    GpuProbe,
}

/// Where messages about the program itself go; never to standard output.
#[derive(Debug, Args)]
struct LoggingArgs {
    /// Append log messages to FILE instead of writing them to standard error.
    #[arg(long, value_name = "FILE", global = true, help_heading = "Logging")]
    log_file: Option<std::path::PathBuf>,

    /// How much to log. The environment variable TILEPERF_LOG sets the default.
    #[arg(long, value_name = "LEVEL", global = true, help_heading = "Logging")]
    log_level: Option<Level>,
}

/// Parses the arguments and runs the command.
pub(crate) fn run() -> ExitCode {
    // The guard of child processes is this program again. It is no command for people, and has to
    // come before anything that starts a thread.
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == "guard") {
        std::process::exit(tileperf_proc::guard_main(args));
    }
    tileperf_proc::guard_with_this_program();
    let cli = Cli::parse();
    let is_server = matches!(cli.command, Command::Lsp(_));
    let default = if is_server { Level::Info } else { Level::Warn };
    let level = cli
        .logging
        .log_level
        .or_else(logging::level_from_environment)
        .unwrap_or(default);
    let sink = match cli.logging.log_file {
        Some(path) => Sink::File(path),
        None if is_server => Sink::QueuedStderr,
        None => Sink::Stderr,
    };
    let log = match logging::start(sink, level) {
        Ok(log) => log,
        Err(error) => return failed(&error),
    };
    let outcome = match cli.command {
        Command::Lsp(args) => lsp::run(&args),
        Command::Facts(args) => facts::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Compile(args) => compile::run(&args),
        Command::GpuProbe => gpu_probe::run(),
        Command::Actions(args) => actions::run(&args),
        Command::Apply(args) => apply::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Lock(args) => lock::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Toolchain(args) => toolchain::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Perf(args) => perf::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Completions(args) => completions::run(&args, &mut Cli::command()),
    };
    let code = outcome.unwrap_or_else(|error| failed(&error));
    log.flush();
    code
}

/// Reports why a command could not do its work. A closed pipe is the reader's wish, not a failure.
fn failed(error: &anyhow::Error) -> ExitCode {
    let closed_pipe = error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    });
    if closed_pipe {
        return ExitCode::SUCCESS;
    }
    // Not `eprintln!`: it panics when standard error is closed.
    let _ = io::Write::write_all(
        &mut io::stderr(),
        format!("tileperf: {error:#}\n").as_bytes(),
    );
    ExitCode::from(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_closed_pipe_is_not_a_failure() {
        let closed =
            anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("facts");
        assert_eq!(failed(&closed), ExitCode::SUCCESS);
        assert_eq!(failed(&anyhow::anyhow!("no such file")), ExitCode::from(2));
    }
}
