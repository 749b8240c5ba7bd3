//! A plan as a file.

use std::fmt::Write as _;

use tileperf_syntax::{Span, Text};

use super::{How, Item, Plan, Tried, Way};

/// Places named before "and so many more".
const PLACES: usize = 8;

/// A plan for people and agents. `kernel`: its name; `file`: as the command line takes it from the folder
/// that the plan is for.
pub fn markdown(plan: &Plan, kernel: &str, file: &str, text: &Text) -> String {
    let mut out = format!("# Plan for `{kernel}` in `{file}`\n\n");
    let class = &plan.class;
    out.push_str(&class.text());
    out.push_str(
        "\nEach item is tried by itself, from the last code that was kept; what promises most comes \
         first. Only a measurement shows a gain.\n",
    );
    let subject = Subject { kernel, file, text };
    let (isolations, changes): (Vec<_>, Vec<_>) =
        (plan.items.iter()).partition(|item| matches!(item.how, How::Isolate(_)));
    let mut number = 0;
    section(&mut out, "To try", &changes, &subject, &mut number);
    section(
        &mut out,
        "To find out what costs what",
        &isolations,
        &subject,
        &mut number,
    );
    if number == 0 {
        out.push_str("\nNothing is known that would be worth trying.\n");
    }
    tried(&mut out, &plan.tried);
    out
}

struct Subject<'a> {
    kernel: &'a str,
    file: &'a str,
    text: &'a Text,
}

fn section(out: &mut String, title: &str, items: &[&Item], of: &Subject<'_>, number: &mut usize) {
    if items.is_empty() {
        return;
    }
    let _ = write!(out, "\n## {title}\n\n");
    for item in items {
        *number += 1;
        // As deep as the number is wide, or it would be a list of its own.
        let indent = " ".repeat(number.to_string().len() + 2);
        let principle = (item.principle).map_or_else(String::new, |p| format!(" ({})", p.name()));
        let _ = writeln!(out, "{number}. **{}**{principle}", item.title);
        let _ = writeln!(out, "{indent}- Where: {}", lines(&item.places, of.text));
        let _ = writeln!(out, "{indent}- Why: {}.", item.why);
        if let Some(gain) = &item.gain {
            let _ = writeln!(out, "{indent}- Gained elsewhere: {gain}.");
        }
        try_it(out, &indent, &item.how, of);
    }
}

/// `lines 12, 14`.
fn lines(places: &[Span], text: &Text) -> String {
    let line = |span: &Span| text.line_column(span.start as usize).0;
    let mut lines: Vec<u32> = places.iter().map(line).collect();
    lines.sort_unstable();
    lines.dedup();
    let shown: Vec<String> = lines.iter().take(PLACES).map(u32::to_string).collect();
    let shown = shown.join(", ");
    match lines.len() {
        0 => "not known".to_owned(),
        1 => format!("line {shown}"),
        n if n <= PLACES => format!("lines {shown}"),
        n => format!("lines {shown} and {} more", n - PLACES),
    }
}

fn try_it(out: &mut String, indent: &str, how: &How, of: &Subject<'_>) {
    let subject = word(&format!("{}:{}", of.file, of.kernel));
    match how {
        How::Apply(ways) => {
            for way in ways {
                let command = command(way, of);
                let _ = match &way.tried {
                    None => writeln!(out, "{indent}- Try: `{command}`"),
                    Some(result) => writeln!(out, "{indent}- Tried: `{}`: {result}", name(way)),
                };
            }
        }
        How::Edit(edit) => {
            let _ = writeln!(
                out,
                "{indent}- Try: {edit}; then `tileperf perf iterate {subject}`"
            );
        }
        How::Isolate(edit) => {
            let _ = writeln!(
                out,
                "{indent}- Try: {edit}; then `tileperf perf experiment saved {subject}`, and take it back"
            );
        }
    }
}

fn name(way: &Way) -> String {
    format!("{} {}", way.id, way.variant).trim_end().to_owned()
}

fn command(way: &Way, of: &Subject<'_>) -> String {
    let variant = match way.variant.as_str() {
        "" => String::new(),
        variant => format!(" --variant {}", word(variant)),
    };
    let (file, kernel) = (word(of.file), word(of.kernel));
    format!(
        "tileperf perf apply {} {file} --kernel {kernel}{variant}",
        way.id
    )
}

/// As a shell takes it for one word.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+=./,:%@".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

fn tried(out: &mut String, tried: &[Tried]) {
    if tried.is_empty() {
        return;
    }
    out.push_str("\n## Tried already\n\n| change | result |\n|:--|:--|\n");
    let cell = |text: &str| text.replace('|', "\\|").replace(['\n', '\r'], " ");
    for one in tried {
        let _ = writeln!(out, "| {} | {} |", cell(&one.name), cell(&one.result));
    }
}
