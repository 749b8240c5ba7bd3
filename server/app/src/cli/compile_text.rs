//! Compiled kernels for reading: resources in one line, then what became of each line of code.

use std::io::{self, Write};
use std::path::Path;

use tileperf_analysis::compiled::{CompiledFacts, Difference, Machine, Outcome};
use tileperf_engine::{Compared, CompiledRow};
use tileperf_syntax::Text;

/// Writes a result.
pub(super) fn write(
    out: &mut impl Write,
    shown: &Path,
    text: &Text,
    row: &CompiledRow,
) -> io::Result<()> {
    let place = format!("{}:{}", shown.display(), row.line);
    let facts = match &row.facts {
        Ok(facts) => facts,
        Err(why) => return writeln!(out, "{place} {}: not compiled: {why}", row.kernel),
    };
    write!(out, "{place} {} on {}: ", row.kernel, facts.arch)?;
    match &facts.outcome {
        Outcome::Accepted => writeln!(out, "accepted by the frontend")?,
        Outcome::Failed(why) => writeln!(out, "not compiled: {why}")?,
        Outcome::Refused(refusal) => {
            writeln!(out, "does not compile")?;
            let line = refusal
                .span
                .map(|span| text.line_column(span.start as usize));
            let at = line.map_or_else(String::new, |(line, column)| format!("{line}:{column} "));
            writeln!(out, "    {at}{}", refusal.message)?;
            for called in &refusal.chain {
                let function = called.function.as_deref().unwrap_or("?");
                writeln!(
                    out,
                    "      in {function}, {}:{}",
                    called.site.file, called.site.line
                )?;
            }
        }
        Outcome::Machine(machine) => resources(out, machine, facts)?,
    }
    let origin = facts.signature.origin_words();
    let of = match row.signatures {
        0 | 1 => String::new(),
        all => format!("; {} of {all} signatures", row.number),
    };
    writeln!(out, "    for {} ({origin}{of})", facts.signature.shown())?;
    if let Outcome::Machine(machine) = &facts.outcome {
        remarks(out, text, machine)?;
    }
    Ok(())
}

/// Writes what a change has done to a kernel.
pub(super) fn compared(out: &mut impl Write, one: &Compared) -> io::Result<()> {
    let words = match one.difference() {
        Difference::Same => "the same machine code".to_owned(),
        Difference::Changed(words) => words.join("; "),
        Difference::Broken(words) => words,
        Difference::Unknown => match &one.after.outcome {
            Outcome::Failed(why) => why.clone(),
            _ => "not compiled".to_owned(),
        },
    };
    writeln!(out, "{} on {}: {words}", one.kernel, one.after.arch)
}

fn resources(out: &mut impl Write, machine: &Machine, facts: &CompiledFacts) -> io::Result<()> {
    let resources = &machine.resources;
    let stack = match resources.stack {
        0 => "no stack".to_owned(),
        bytes => format!("{bytes} bytes of stack"),
    };
    let shared = f64::from(resources.shared_of_sm(facts.arch)) / 1024.0;
    let threads = resources
        .threads
        .map_or_else(|| "?".to_owned(), |n| n.to_string());
    writeln!(
        out,
        "{} registers, {stack}, {shared:.0} KiB shared, {threads} threads, compiled in {:.1} s",
        resources.registers, machine.seconds
    )
}

fn remarks(out: &mut impl Write, text: &Text, machine: &Machine) -> io::Result<()> {
    let Some(remarks) = &machine.remarks else {
        return writeln!(out, "    this tileiras makes no remarks");
    };
    for placed in remarks {
        let place = match (placed.span, &placed.remark.site) {
            (Some(span), _) => {
                let line = text.line_column(span.start as usize).0;
                let code = text.slice(span).lines().next().unwrap_or_default();
                format!("{line:>5}  {code}")
            }
            (None, Some(site)) => format!("{}:{}", site.file, site.line),
            (None, None) => String::new(),
        };
        writeln!(out, "    {place}\n             {}", placed.remark.kind)?;
    }
    Ok(())
}
