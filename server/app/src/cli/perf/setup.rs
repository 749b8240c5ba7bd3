//! `tileperf perf setup`: start a session.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Args;
use tileperf_perf::flow;
use tileperf_perf::plan::Plan;
use tileperf_perf::verdict::Goal;

use super::super::trust::{ask, require_trust};
use super::plan::{Wishes, plan};
use super::session::{Measured, Named, RunArgs, with_options};

/// Start a session for a kernel, on a git branch of its own.
///
/// Shows the plan first: files that may change, commands, interpreter, device.
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    #[command(flatten)]
    pub(super) run: RunArgs,

    #[command(flatten)]
    pub(super) wishes: WishArgs,

    /// Start without asking.
    #[arg(long)]
    yes: bool,
}

/// What the session is for.
#[derive(Debug, Args)]
pub(super) struct WishArgs {
    /// What to reach: a latency (0.30ms), a speed-up (1.2x), or a share of the speed of light
    /// (85%sol).
    #[arg(long, value_name = "GOAL")]
    pub(super) goal: Option<Goal>,

    /// Go on after small gains, too.
    #[arg(long)]
    pub(super) go_on: bool,

    /// The session corrects wrong results: the tests may fail at first.
    #[arg(long)]
    pub(super) fix: bool,

    /// Measure on this device instead of the one that perf.device names.
    #[arg(long, value_name = "DEVICE")]
    pub(super) device: Option<String>,
}

impl WishArgs {
    pub(super) fn wishes(&self) -> Wishes {
        Wishes {
            goal: self.goal,
            go_on: self.go_on,
            fix: self.fix,
            device: self.device.clone(),
        }
    }
}

/// Runs `tileperf perf setup`.
pub(crate) fn run(args: &SetupArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.run.kernel.kernel.as_deref())?;
    let engine = named.engine(&args.run.kernel.settings, args.run.trust);
    let target = named.target(&engine)?;
    require_trust(&engine, &named.root)?;
    let plan = plan(&engine, &target, &named.root, &args.wishes.wishes())?;
    let asks = !args.yes && io::stdin().is_terminal() && io::stderr().is_terminal();
    if asks {
        io::stderr().write_all(described(&plan).as_bytes())?;
        if !ask("Start? [y/N] ")? {
            return Ok(ExitCode::from(1));
        }
    }
    let measured = plan.clone();
    with_options(
        &Measured::of(&measured),
        args.run.format,
        None,
        None,
        |options| {
            flow::set_up(&named.root, plan, options)?;
            Ok(ExitCode::SUCCESS)
        },
    )
}

/// The plan for people.
pub(super) fn described(plan: &Plan) -> String {
    let files: Vec<String> = plan.files.iter().map(|f| f.display().to_string()).collect();
    let test = plan.test_file.as_ref().map(|f| f.display().to_string());
    format!(
        "kernel       {}\nmay change   {}\ntests        {}\ncorrectness  {}\nbenchmark    {}\n\
         python       {}\ndevice       {}\ngoal         {}\nlimits       {} s an iteration, {} \
         iterations\neffect       the smallest that can be told from noise is known after the \
         baseline\n",
        plan.kernel,
        files.join(", "),
        test.as_deref().unwrap_or("none found"),
        plan.correctness.join(" "),
        plan.benchmark.join(" "),
        plan.python.display(),
        plan.device,
        plan.goal
            .map_or("as fast as possible".to_owned(), |g| g.to_string()),
        plan.limit,
        tileperf_perf::verdict::stop::MOST_ITERATIONS,
    )
}
