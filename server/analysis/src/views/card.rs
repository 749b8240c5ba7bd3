//! The kernel card: everything known of a kernel, as Markdown for a hover.

use std::collections::BTreeMap;

use super::counts::{Count, line};
use super::measured::{MeasuredCard, section};
use crate::arch::Arch;
use crate::classify::Classification;
use crate::model::{AccessKind, ByTarget, Kernel};

/// What the card shows beside the kernel itself, already in words.
#[derive(Debug, Clone, Default)]
pub struct CardFacts {
    /// Launches: function and place, `run (softmax.py:40)`.
    pub launches: Vec<String>,
    /// Searches: likewise.
    pub searches: Vec<String>,
    /// Hint replacements: place and context.
    pub hint_uses: Vec<String>,
    /// `softmax (backend cutile)`.
    pub registrations: Vec<String>,
    /// Spaces: name and counts.
    pub spaces: Vec<(String, Vec<(Arch, Count)>)>,
    /// Test files of its ops.
    pub tests: Vec<String>,
    /// What bounds it, if its text parses.
    pub class: Option<Classification>,
    /// What compiled code shows of it ([`compiled::section`](super::compiled::section)); empty if
    /// nothing.
    pub compiled: String,
    /// What was measured of it.
    pub measured: Option<MeasuredCard>,
}

/// Lists longer than this are cut, with the number left out.
const SHOWN: usize = 6;

/// The card.
pub fn markdown(kernel: &Kernel, facts: &CardFacts, archs: &[Arch]) -> String {
    let mut out = format!("cuTile kernel `{}`", kernel.title());
    if kernel.stale {
        out.push_str(" (as it last parsed)");
    }
    out.push_str("\n\n");
    let (constants, arrays): (Vec<_>, Vec<_>) = kernel.params.iter().partition(|p| p.constant);
    let names = |params: &[&crate::model::KernelParam]| {
        params
            .iter()
            .map(|p| format!("`{}`", p.name))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !arrays.is_empty() {
        out.push_str(&format!("- parameters: {}\n", names(&arrays)));
    }
    if !constants.is_empty() {
        out.push_str(&format!(
            "- compile-time constants: {}\n",
            names(&constants)
        ));
    }
    let accesses = accesses(kernel);
    if !accesses.is_empty() {
        out.push_str(&format!("- accesses: {accesses}\n"));
    }
    for hint in &kernel.hints {
        out.push_str(&format!(
            "- hint {}\n",
            hint_line(&hint.name, &hint.text, archs)
        ));
    }
    if kernel.hints.is_empty() {
        out.push_str("- hints: none fixed, the compiler's defaults\n");
    }
    list(
        &mut out,
        "launches",
        &facts.launches,
        "no launch found in this workspace",
    );
    list(&mut out, "searches", &facts.searches, "");
    for (name, counts) in &facts.spaces {
        out.push_str(&format!(
            "- space `{name}`: `{}` configurations\n",
            line(counts)
        ));
    }
    list(&mut out, "hints replaced", &facts.hint_uses, "");
    list(&mut out, "registered for", &facts.registrations, "");
    list(&mut out, "tests", &facts.tests, "");
    if let Some(class) = &facts.class {
        out.push('\n');
        out.push_str(&class.text());
    }
    out.push_str(&facts.compiled);
    if let Some(measured) = &facts.measured {
        out.push_str(&section(measured));
    }
    out
}

/// `3 loads, 1 store, 2 mma`.
fn accesses(kernel: &Kernel) -> String {
    let mut counts: BTreeMap<AccessKind, usize> = BTreeMap::new();
    for access in &kernel.accesses {
        *counts.entry(access.kind).or_default() += 1;
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(kind, n)| format!("{n} {}", kind.word(*n)))
        .collect();
    parts.join(", ")
}

fn list(out: &mut String, title: &str, items: &[String], none: &str) {
    if items.is_empty() {
        if !none.is_empty() {
            out.push_str(&format!("- {title}: {none}\n"));
        }
        return;
    }
    let mut shown = items[..items.len().min(SHOWN)].join("; ");
    if items.len() > SHOWN {
        shown.push_str(&format!("; {} more", items.len() - SHOWN));
    }
    out.push_str(&format!("- {title}: {shown}\n"));
}

/// A hint; one that is chosen by target, `ct.ByTarget(sm_100=2, default=1)`, for each architecture.
fn hint_line(name: &str, text: &str, archs: &[Arch]) -> String {
    let Some(choices) = ByTarget::read(text) else {
        return format!("`{name}` = `{text}`");
    };
    let values: Vec<String> = archs
        .iter()
        .map(|arch| {
            let value = choices.on(*arch).unwrap_or("the compiler's default");
            format!("{arch} {value}")
        })
        .collect();
    format!("`{name}` by target: `{}`", values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_by_target_is_told_per_architecture() {
        let archs = [Arch::Sm90, Arch::Sm100];
        assert_eq!(hint_line("occupancy", "2", &archs), "`occupancy` = `2`");
        assert_eq!(
            hint_line(
                "num_ctas",
                "ct.ByTarget(sm_100=min(2, n), default=1)",
                &archs
            ),
            "`num_ctas` by target: `sm_90 1, sm_100 min(2, n)`"
        );
        assert_eq!(
            hint_line("num_ctas", "ByTarget(sm_100=2)", &archs),
            "`num_ctas` by target: `sm_90 the compiler's default, sm_100 2`"
        );
    }
}
