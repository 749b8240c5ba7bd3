//! `tileperf explain`: what a finding or a symptom means and what to do about it.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use tileperf_analysis::rules::{self, Doc, RULES, Rule};
use tileperf_compiler::doctor::{SYMPTOMS, symptoms};

/// Say what a rule finds, or what a symptom comes from, and what to do.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A rule's code or name (TP101, replace-hints-hot-path), a symptom's name (no-tma), words of one
    /// (255 registers), or an error's text. Without it, all rules and symptoms are listed.
    #[arg(value_name = "RULE|SYMPTOM")]
    what: Vec<String>,
}

/// Runs `tileperf explain`.
pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let what = args.what.join(" ");
    if what.is_empty() {
        list(&mut out)?;
    } else if let Some(rule) = rules::find(&what) {
        explain(rule, &mut out)?;
    } else {
        let found = symptoms::find(&what);
        if found.is_empty() {
            bail!("no rule or symptom is called {what}; `tileperf explain` lists them");
        }
        for (at, symptom) in found.iter().enumerate() {
            let line = if at == 0 { "" } else { "\n" };
            let (name, title) = (symptom.name, symptom.title);
            writeln!(
                out,
                "{line}{name}: {title}\n\n{}",
                symptom.explanation().trim_end()
            )?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn list(out: &mut impl Write) -> io::Result<()> {
    for rule in RULES {
        let (severity, summary) = (rule.severity.name(), Doc::parse(rule.doc).summary);
        writeln!(out, "{} {:28} {severity:8} {summary}", rule.code, rule.slug)?;
    }
    for symptom in SYMPTOMS {
        writeln!(out, "{:34} {:8} {}", symptom.name, "symptom", symptom.title)?;
    }
    Ok(())
}

fn explain(rule: &Rule, out: &mut impl Write) -> io::Result<()> {
    let (code, slug, severity) = (rule.code, rule.slug, rule.severity.name());
    writeln!(out, "{code} {slug} ({severity})\n")?;
    if let Some(since) = rule.since {
        writeln!(out, "Holds since cuda-tile {since}.\n")?;
    }
    if let Some(until) = rule.until {
        writeln!(out, "Holds before cuda-tile {until}.\n")?;
    }
    writeln!(out, "{}", Doc::parse(rule.doc).markdown)
}
