//! A space compiled, for reading: a line a configuration, which are the same machine code, and what does
//! nothing.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use tileperf_analysis::compiled::{CompiledFacts, Occupancy, Outcome, occupancy::kib};
use tileperf_analysis::signature::Constant;
use tileperf_engine::{SpaceBegun, SpaceRow};

/// The table, with what it is of above it.
pub(super) fn space(shown: &Path, space: &SpaceBegun, rows: &[SpaceRow]) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{}:{} {} on {}: {}",
        shown.display(),
        space.line,
        space.kernel,
        space.arch,
        counted(space)
    );
    if let Some(row) = rows
        .iter()
        .find(|row| row.facts.machine().is_some())
        .or(rows.first())
    {
        let (signature, origin) = (&row.facts.signature, row.facts.signature.origin_words());
        let _ = writeln!(out, "    for {} ({origin})", signature.shown());
    }
    let same = first_alike(rows);
    let fields = fields(rows);
    let mut lines = vec![heads(&fields)];
    for (row, first) in rows.iter().zip(&same) {
        lines.push(cells(row, &fields, *first));
    }
    let widths: Vec<usize> = (0..lines[0].len())
        .map(|column| {
            lines
                .iter()
                .map(|l| l.get(column).map_or(0, |c| c.chars().count()))
                .max()
        })
        .map(Option::unwrap_or_default)
        .collect();
    for line in &lines {
        let cells = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:>width$}"));
        let cells: Vec<String> = cells.collect();
        // The last column is words.
        let (last, before) = (
            line.last().cloned().unwrap_or_default(),
            &cells[..cells.len() - 1],
        );
        let _ = writeln!(
            out,
            "    {}",
            format!("{}  {last}", before.join("  ")).trim_end()
        );
    }
    for name in inert(rows, &fields) {
        let _ = writeln!(
            out,
            "    {name} does nothing: configurations that differ in it alone are the same machine code"
        );
    }
    out
}

fn counted(space: &SpaceBegun) -> String {
    let mut words = match space.compiled {
        1 => "1 configuration".to_owned(),
        n => format!("{n} configurations"),
    };
    if space.left_out > 0 {
        let _ = write!(words, ", {} more not compiled (--most)", space.left_out);
    }
    if space.unknown > 0 {
        let _ = write!(
            words,
            ", {} that depend on what is not known",
            space.unknown
        );
    }
    if !space.complete {
        words.push_str("; there may be others");
    }
    words
}

/// The fields of all configurations: one that is None is none.
fn fields(rows: &[SpaceRow]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.config) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn heads(fields: &[&str]) -> Vec<String> {
    let fields = fields.iter().map(|name| match *name {
        "" => "value".to_owned(),
        name => name.to_owned(),
    });
    let rest = ["registers", "stack", "shared", "CTAs/SM", ""].map(str::to_owned);
    std::iter::once(String::new())
        .chain(fields)
        .chain(rest)
        .collect()
}

fn cells(row: &SpaceRow, fields: &[&str], first: Option<usize>) -> Vec<String> {
    let mut cells = vec![row.number.to_string()];
    cells.extend(fields.iter().map(|field| {
        let value = row.config.iter().find(|(name, _)| name == field);
        value.map_or_else(|| "-".to_owned(), |(_, value)| value.to_string())
    }));
    let facts = &row.facts;
    match facts.machine() {
        Some(machine) => {
            let resources = &machine.resources;
            let blocks = Occupancy::of(resources, facts.arch).map(|o| o.blocks());
            cells.extend([
                resources.registers.to_string(),
                resources.stack.to_string(),
                kib(resources.shared_of_sm(facts.arch)),
                blocks.map_or_else(|| "?".to_owned(), |n| n.to_string()),
                first.map_or_else(String::new, |first| format!("same code as {first}")),
            ]);
        }
        None => {
            cells.extend(["-"; 4].map(str::to_owned));
            cells.push(why(facts));
        }
    }
    cells
}

fn why(facts: &CompiledFacts) -> String {
    let words = match &facts.outcome {
        Outcome::Refused(refusal) => format!("does not compile: {}", refusal.message),
        Outcome::Failed(why) => format!("not compiled: {why}"),
        Outcome::Accepted | Outcome::Machine(_) => String::new(),
    };
    words.lines().next().unwrap_or_default().to_owned()
}

/// What tells machine code apart.
fn code(row: &SpaceRow) -> Option<(&str, u32)> {
    let machine = row.facts.machine()?;
    Some((&machine.code_hash, machine.resources.cluster))
}

/// For each the number of the first with the same machine code, if that is another.
fn first_alike(rows: &[SpaceRow]) -> Vec<Option<usize>> {
    let mut first: HashMap<(&str, u32), usize> = HashMap::new();
    rows.iter()
        .map(|row| {
            let known = *first.entry(code(row)?).or_insert(row.number);
            (known != row.number).then_some(known)
        })
        .collect()
}

/// Fields that do nothing: there are configurations that differ in one alone, and all such are the same
/// machine code.
fn inert<'r>(rows: &'r [SpaceRow], fields: &[&'r str]) -> Vec<&'r str> {
    let fields = fields.iter().copied();
    fields.filter(|name| is_inert(rows, name)).collect()
}

fn is_inert(rows: &[SpaceRow], name: &str) -> bool {
    let others = |row: &SpaceRow| -> Vec<(String, String)> {
        let fields = row.config.iter().filter(|(field, _)| field != name);
        fields
            .map(|(field, value)| (field.clone(), value.to_string()))
            .collect()
    };
    let value = |row: &SpaceRow| -> Option<Constant> {
        let mut fields = row.config.iter();
        fields
            .find(|(field, _)| field == name)
            .map(|(_, value)| *value)
    };
    let mut compared = false;
    for (at, row) in rows.iter().enumerate() {
        for other in &rows[at + 1..] {
            if others(row) != others(other) || value(row) == value(other) {
                continue;
            }
            match (code(row), code(other)) {
                (Some(one), Some(two)) if one == two => compared = true,
                // Neither says anything.
                (None, None) => {}
                _ => return false,
            }
        }
    }
    compared
}
