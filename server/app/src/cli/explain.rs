//! `tileperf explain`: what a finding, an optimization or a symptom means and what to do about it.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use tileperf_analysis::playbook::{Numerics, OPTIMIZATIONS, Optimization};
use tileperf_analysis::rules::{self, Doc, RULES, Rule};
use tileperf_compiler::doctor::{SYMPTOMS, symptoms};

/// Say what a rule finds, what an optimization changes, or what a symptom comes from.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A rule's code or name (TP101, replace-hints-hot-path), an optimization's (E, latency-hints), a
    /// symptom's name (no-tma), words of one (255 registers), or an error's text. Without it, all of
    /// them are listed.
    #[arg(value_name = "RULE|OPTIMIZATION|SYMPTOM")]
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
    } else if let Some(optimization) = Optimization::named(&what) {
        describe(optimization, &mut out)?;
    } else {
        let found = symptoms::find(&what);
        if found.is_empty() {
            bail!(
                "no rule, optimization or symptom is called {what}; `tileperf explain` lists them"
            );
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
    for optimization in OPTIMIZATIONS {
        let summary = Doc::parse(optimization.doc).summary;
        let (id, slug) = (optimization.id, optimization.slug);
        writeln!(out, "{id:5} {slug:28} {:8} {summary}", "playbook")?;
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

fn describe(optimization: &Optimization, out: &mut impl Write) -> io::Result<()> {
    let (id, slug) = (optimization.id, optimization.slug);
    writeln!(out, "{id} {slug} ({})\n", optimization.principle.name())?;
    match optimization.numerics {
        Numerics::Same => {}
        Numerics::Different => writeln!(out, "Results differ in the last bits.\n")?,
        Numerics::Varies => writeln!(out, "Of some ways, results differ in the last bits.\n")?,
    }
    writeln!(
        out,
        "{}\n\nGained elsewhere:",
        Doc::parse(optimization.doc).markdown
    )?;
    for gain in optimization.gains {
        writeln!(out, "- {}: {} ({})", gain.amount, gain.scope, gain.source)?;
    }
    Ok(())
}
