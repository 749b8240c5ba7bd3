//! `cargo xtask`: the project's own chores, one file a command.
//!
//! Everything a person or a machine does with a clone starts here, so that what the README says,
//! what CI runs and what a contributor types are the same few words.

mod bench;
mod debian;
mod demo;
mod docs;
mod evidence;
mod package;
mod python;
mod release;
mod repo;
mod test;
mod tool;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use repo::Repo;

/// The project's chores. Run from anywhere inside the clone.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Test(test::TestArgs),
    Demo(demo::DemoArgs),
    Bench(bench::BenchArgs),
    Docs(docs::DocsArgs),
    Package(package::PackageArgs),
    Evidence(evidence::EvidenceArgs),
}

fn main() -> ExitCode {
    // What is started here runs under a guard, which is this program again: a chore that is
    // interrupted leaves no browser, no editor and no server behind.
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == "guard") {
        return exit_code(tileperf_proc::guard_main(args));
    }
    tileperf_proc::guard_with_this_program();

    let cli = Cli::parse();
    let done = Repo::find().and_then(|repo| match cli.command {
        Command::Test(args) => test::run(&repo, &args),
        Command::Demo(args) => demo::run(&repo, &args),
        Command::Bench(args) => bench::run(&repo, &args),
        Command::Docs(args) => docs::run(&repo, &args),
        Command::Package(args) => package::run(&repo, &args),
        Command::Evidence(args) => evidence::run(&repo, &args),
    });
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// An exit code as the guard gives it, 0 to 255.
fn exit_code(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
