//! Compiled code in a lens.

use super::words::names;
use crate::arch::Arch;
use crate::compiled::{CompiledFacts, Machine, Occupancy, Outcome, occupancy::kib};

/// Architectures beside the main one; more would fill the line.
const MOST_OTHERS: usize = 3;

/// The part of a kernel's lens: in full for the architecture of the first facts,
/// `sm_90: 128 regs, no stack, 108 KiB shared, 256 threads -> 2 CTAs/SM`, shorter for others,
/// `sm_100: 168 regs -> 1 CTA/SM`. Where there are several signatures, of the first. Nothing if nothing
/// was compiled.
pub fn lens(facts: &[CompiledFacts]) -> Option<String> {
    let (main, rest) = facts.split_first()?;
    let more = rest.iter().filter(|f| f.arch == main.arch).count();
    let mut text = format!("{}: {}", main.arch, outcome(main, &full));
    match more {
        0 => {}
        1 => text.push_str(" (1 more signature)"),
        n => text.push_str(&format!(" ({n} more signatures)")),
    }
    let mut seen = vec![main.arch];
    let mut others: Vec<(String, Vec<Arch>)> = Vec::new();
    for facts in rest {
        if seen.contains(&facts.arch) {
            continue;
        }
        seen.push(facts.arch);
        let words = outcome(facts, &brief);
        match others.iter_mut().find(|(said, _)| *said == words) {
            Some((_, archs)) => archs.push(facts.arch),
            None => others.push((words, vec![facts.arch])),
        }
    }
    for (words, archs) in others.iter().take(MOST_OTHERS) {
        text.push_str(&format!(" · {}: {words}", names(archs)));
    }
    let left: usize = others
        .iter()
        .skip(MOST_OTHERS)
        .map(|(_, archs)| archs.len())
        .sum();
    if left > 0 {
        text.push_str(&format!(" · {left} more"));
    }
    if facts.iter().any(|f| f.stale) {
        text.push_str(" (stale)");
    }
    Some(text)
}

fn outcome(facts: &CompiledFacts, machine: &dyn Fn(&Machine, Arch) -> String) -> String {
    match &facts.outcome {
        Outcome::Accepted => "no errors".to_owned(),
        Outcome::Machine(known) => machine(known, facts.arch),
        Outcome::Refused(_) => "does not compile".to_owned(),
        Outcome::Failed(_) => "could not be compiled".to_owned(),
    }
}

fn full(machine: &Machine, arch: Arch) -> String {
    let known = &machine.resources;
    let mut parts = vec![format!("{} regs", known.registers)];
    parts.push(match known.stack {
        0 => "no stack".to_owned(),
        bytes => format!("{bytes} B stack"),
    });
    parts.push(match known.shared {
        0 => "no shared".to_owned(),
        bytes => format!("{} shared", kib(bytes)),
    });
    parts.extend(known.threads.map(|threads| format!("{threads} threads")));
    if known.cluster > 1 {
        parts.push(format!("cluster of {}", known.cluster));
    }
    match Occupancy::of(known, arch) {
        Some(occupancy) => format!("{} -> {occupancy}", parts.join(", ")),
        None => parts.join(", "),
    }
}

fn brief(machine: &Machine, arch: Arch) -> String {
    let known = &machine.resources;
    let stack = match known.stack {
        0 => String::new(),
        bytes => format!(", {bytes} B stack"),
    };
    match Occupancy::of(known, arch) {
        Some(occupancy) => format!("{} regs{stack} -> {occupancy}", known.registers),
        None => format!("{} regs{stack}", known.registers),
    }
}
