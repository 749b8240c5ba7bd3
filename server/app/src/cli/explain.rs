//! `tileperf explain`: what a finding means and what to do about it.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use tileperf_analysis::rules::{self, Doc, RULES};

/// Say what a rule finds, why, and what to write instead.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A rule's code or name: TP101, replace-hints-hot-path. Without one, all are listed.
    rule: Option<String>,
}

/// Runs `tileperf explain`.
pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let Some(name) = &args.rule else {
        for rule in RULES {
            let severity = rule.severity.name();
            writeln!(
                out,
                "{} {:28} {severity:8} {}",
                rule.code,
                rule.slug,
                Doc::of(rule).summary
            )?;
        }
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    };
    let Some(rule) = rules::find(name) else {
        bail!("no rule is called {name}; `tileperf explain` lists them");
    };
    writeln!(
        out,
        "{} {} ({})\n",
        rule.code,
        rule.slug,
        rule.severity.name()
    )?;
    if let Some(since) = rule.since {
        writeln!(out, "Holds since cuda-tile {since}.\n")?;
    }
    if let Some(until) = rule.until {
        writeln!(out, "Holds before cuda-tile {until}.\n")?;
    }
    writeln!(out, "{}", Doc::of(rule).markdown)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
