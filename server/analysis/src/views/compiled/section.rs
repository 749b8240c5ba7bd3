//! Compiled code on a kernel's card.

use tileperf_syntax::Span;

use super::words::{Form, add, by_arch, names, short};
use crate::arch::Arch;
use crate::compiled::{CompiledFacts, CompiledKernel, Occupancy, Outcome, Placed, occupancy::kib};
use crate::signature::Signature;
use crate::views::measured::plain;

/// Signatures told in full, and remarks of each; more would fill the screen.
const MOST_SIGNATURES: usize = 3;
const MOST_REMARKS: usize = 24;

/// The section of a kernel's card, after an empty line: for each signature what the kernel takes on
/// each architecture, how many blocks fit an SM and why, and what the compiler says of its operations.
/// `text` is the file's. Empty if nothing was compiled.
pub fn section(known: &CompiledKernel<'_>, text: &str) -> String {
    let mut signatures: Vec<(&Signature, Vec<&CompiledFacts>)> = Vec::new();
    for facts in known.facts {
        match signatures
            .iter_mut()
            .find(|(of, _)| **of == facts.signature)
        {
            Some((_, all)) => all.push(facts),
            None => signatures.push((&facts.signature, vec![facts])),
        }
    }
    let mut out = String::new();
    for (signature, all) in signatures.iter().take(MOST_SIGNATURES) {
        let shown = match signature.shown() {
            empty if empty.is_empty() => "no parameters".to_owned(),
            shown => format!("`{shown}`"),
        };
        out.push_str(&format!(
            "\n**Compiled** for {shown}, {}\n\n",
            signature.origin_words()
        ));
        out.push_str(&resources(all));
        out.push_str(&calculations(all));
        out.push_str(&remarks(all, text));
    }
    if signatures.len() > MOST_SIGNATURES {
        let more = signatures.len() - MOST_SIGNATURES;
        out.push_str(&format!("\nand for {more} more signatures\n"));
    }
    if known.facts.iter().any(|facts| facts.stale) {
        out.push_str("\n- **stale**: edited since it was compiled\n");
    }
    out
}

/// A row for each architecture.
fn resources(all: &[&CompiledFacts]) -> String {
    let mut out = String::from(
        "| | registers | stack | shared | threads | cluster | CTAs/SM |\n\
         |:--|--:|--:|--:|--:|--:|:--|\n",
    );
    let mut words = String::new();
    for facts in all {
        let Some(machine) = facts.machine() else {
            words.push_str(&format!("- **{}**: {}\n", facts.arch, no_machine(facts)));
            continue;
        };
        let known = &machine.resources;
        let threads = known
            .threads
            .map_or_else(|| "not fixed".to_owned(), |n| n.to_string());
        let blocks = match Occupancy::of(known, facts.arch) {
            Some(fits) => format!("{}, {}", fits.blocks(), fits.limited_by()),
            None => "unknown".to_owned(),
        };
        out.push_str(&format!(
            "| {} | {} | {} B | {} | {threads} | {} | {blocks} |\n",
            facts.arch,
            known.registers,
            known.stack,
            kib(known.shared),
            known.cluster,
        ));
    }
    match words.is_empty() {
        true => out,
        false if all.iter().all(|f| f.machine().is_none()) => words,
        false => format!("{out}\n{words}"),
    }
}

/// What became of a kernel without machine code.
fn no_machine(facts: &CompiledFacts) -> String {
    match &facts.outcome {
        Outcome::Refused(refusal) => format!("does not compile: {}", plain(&refusal.message)),
        Outcome::Failed(why) => format!("could not be compiled: {}", plain(why)),
        Outcome::Accepted | Outcome::Machine(_) => "no errors; not compiled to the end".to_owned(),
    }
}

/// How many blocks fit, architectures with the same calculation together.
fn calculations(all: &[&CompiledFacts]) -> String {
    let mut known: Vec<(String, Vec<Arch>)> = Vec::new();
    for facts in all {
        let machine = facts.machine();
        let Some(fits) = machine.and_then(|m| Occupancy::of(&m.resources, facts.arch)) else {
            continue;
        };
        let text = format!(
            "{fits}, {} % of its warps:\n\n{}",
            fits.percent_of_warps(),
            fits.calculation()
        );
        match known.iter_mut().find(|(same, _)| *same == text) {
            Some((_, archs)) => archs.push(facts.arch),
            None => known.push((text, vec![facts.arch])),
        }
    }
    let parts = known.into_iter();
    parts
        .map(|(text, archs)| format!("\n{}: {text}", names(&archs)))
        .collect()
}

/// What the compiler says of each operation, by line.
fn remarks(all: &[&CompiledFacts], text: &str) -> String {
    let mut places: Vec<(Place, Vec<(Arch, String)>)> = Vec::new();
    for facts in all {
        for placed in facts.remarks().unwrap_or_default() {
            let Some(words) = short(&placed.remark, Form::Full) else {
                continue;
            };
            let place = Place::of(placed);
            let at = places
                .iter()
                .position(|(of, _)| *of == place)
                .unwrap_or_else(|| {
                    places.push((place, Vec::new()));
                    places.len() - 1
                });
            if let Some((_, said)) = places.get_mut(at) {
                add(said, facts.arch, &plain(&words));
            }
        }
    }
    if places.is_empty() {
        return String::new();
    }
    places.sort_by(|(a, _), (b, _)| a.cmp(b));
    let compiled: Vec<Arch> = all
        .iter()
        .filter(|f| f.remarks().is_some())
        .map(|f| f.arch)
        .collect();
    let mut out = String::from("\n");
    for (place, said) in places.iter().take(MOST_REMARKS) {
        out.push_str(&format!(
            "- {}: {}\n",
            place.shown(text),
            by_arch(said, &compiled)
        ));
    }
    if places.len() > MOST_REMARKS {
        out.push_str(&format!("- and {} more\n", places.len() - MOST_REMARKS));
    }
    out
}

/// Where an operation is: in the file, in another or an edited line, or nowhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Here(u32, u32),
    There(String, u32),
    Nowhere,
}

impl Place {
    fn of(placed: &Placed) -> Place {
        match (placed.span, &placed.remark.site) {
            (Some(span), _) => Place::Here(span.start, span.end),
            (None, Some(site)) => {
                let file = site.file.rsplit(['/', '\\']).next().unwrap_or_default();
                Place::There(file.to_owned(), site.line)
            }
            (None, None) => Place::Nowhere,
        }
    }

    fn shown(&self, text: &str) -> String {
        match self {
            Place::Here(start, end) => {
                let span = Span {
                    start: *start,
                    end: *end,
                };
                let before = text.get(..span.range().start).unwrap_or(text);
                let line = before.matches('\n').count() + 1;
                let written = text.get(span.range()).unwrap_or("");
                let name = written.split('(').next().unwrap_or("").trim();
                let short = name.len() <= 24 && !name.contains(['\n', '`']) && !name.is_empty();
                match short {
                    true => format!("line {line}, `{name}`"),
                    false => format!("line {line}"),
                }
            }
            Place::There(file, line) => format!("{}:{line}, as compiled", plain(file)),
            Place::Nowhere => "the kernel".to_owned(),
        }
    }
}
