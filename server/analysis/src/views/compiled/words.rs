//! Single remarks and architectures in words.

use crate::arch::Arch;
use crate::compiled::{HintState, Kind, Remark};

/// How much of the compiler's words there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// All of them.
    Full,
    /// Reasons in words of our own, where those are shorter.
    Brief,
    /// The first reason only, and how many more there are.
    First,
}

/// Reasons of tileiras 13.4 in fewer words.
const BRIEF: [(&str, &str); 4] = [
    (
        "base pointer not 16-byte aligned",
        "base not 16-byte aligned",
    ),
    (
        "leading tile dimension not 16-byte aligned",
        "tile row under 16 bytes",
    ),
    ("TMA only supports zero padding", "padding not zero"),
    (
        "memory semantic must be weak for TMA operations",
        "memory order not weak",
    ),
];

/// What a remark says of its operation, in few words. Nothing of a hint that was taken.
pub(super) fn short(remark: &Remark, form: Form) -> Option<String> {
    Some(match &remark.kind {
        Kind::Tma { shape, .. } => format!("TMA {}", times(shape)),
        Kind::Plain { access, reasons } => {
            because(format!("plain {}", access.word()), reasons, form)
        }
        Kind::TensorCore {
            instruction,
            shape,
            ctas,
        } => {
            let together = match ctas {
                Some(n) if *n > 1 => format!(", {n} CTAs"),
                _ => String::new(),
            };
            format!("tensor core {instruction} {}{together}", times(shape))
        }
        Kind::Fma { reasons } => because("FMA, no tensor core".to_owned(), reasons, form),
        Kind::Hint { state, hint } => match state {
            HintState::Used | HintState::Default => return None,
            HintState::OutOfRange => format!("{hint} out of range"),
            HintState::Incorrect => format!("{hint} refused"),
        },
        Kind::Other { name, .. } => match remark.text.is_empty() {
            true => name.clone(),
            false => remark.text.clone(),
        },
    })
}

/// The compiler's words, with what it adds.
pub(super) fn long(remark: &Remark) -> String {
    let mut text = remark.text.clone();
    if let Kind::Other {
        pass,
        name,
        details,
    } = &remark.kind
    {
        text = format!("{pass}, {name}: {text}");
        for (key, value) in details {
            text.push_str(&format!(", {key} {value}"));
        }
    }
    if remark.count > 1 {
        text.push_str(&format!(" ({} times)", remark.count));
    }
    text
}

fn because(what: String, reasons: &[String], form: Form) -> String {
    let brief = |reason: &String| {
        let known = BRIEF.iter().find(|(long, _)| long == reason);
        known.map_or_else(|| reason.clone(), |(_, short)| (*short).to_owned())
    };
    match (reasons, form) {
        ([], _) => what,
        (reasons, Form::Full) => format!("{what}: {}", reasons.join(", ")),
        ([reason], _) => format!("{what}: {}", brief(reason)),
        (reasons, Form::Brief) => {
            let reasons: Vec<String> = reasons.iter().map(brief).collect();
            format!("{what}: {}", reasons.join(", "))
        }
        ([first, rest @ ..], Form::First) => {
            format!("{what}: {}, +{}", brief(first), rest.len())
        }
    }
}

/// `64x128`.
fn times(shape: &[u32]) -> String {
    let extents: Vec<String> = shape.iter().map(u32::to_string).collect();
    extents.join("x")
}

/// What holds on which architectures: `sm_80: a · sm_90 sm_100: b`. What is the same on all that were
/// compiled for has no names before it.
pub(super) fn by_arch(said: &[(Arch, String)], compiled: &[Arch]) -> String {
    let mut groups: Vec<(&str, Vec<Arch>)> = Vec::new();
    for (arch, what) in said {
        match groups.iter_mut().find(|(words, _)| words == what) {
            Some((_, archs)) => archs.push(*arch),
            None => groups.push((what, vec![*arch])),
        }
    }
    let parts = groups.into_iter().map(|(what, archs)| {
        match compiled.iter().all(|arch| archs.contains(arch)) {
            true => what.to_owned(),
            false => format!("{}: {what}", names(&archs)),
        }
    });
    parts.collect::<Vec<_>>().join(" · ")
}

/// Adds what is said on an architecture to what was said on it before.
pub(super) fn add(said: &mut Vec<(Arch, String)>, arch: Arch, words: &str) {
    match said.iter_mut().find(|(of, _)| *of == arch) {
        Some((_, all)) if all.split(" / ").any(|known| known == words) => {}
        Some((_, all)) => all.push_str(&format!(" / {words}")),
        None => said.push((arch, words.to_owned())),
    }
}

/// `sm_80 sm_86`.
pub(super) fn names(archs: &[Arch]) -> String {
    let names: Vec<&str> = archs.iter().map(|arch| arch.name()).collect();
    names.join(" ")
}
