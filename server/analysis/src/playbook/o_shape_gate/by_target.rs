//! A hint that was faster on one architecture, for that one alone.
//!
//! A session measures on one card. What a hint does elsewhere is not known from it, or another session
//! found it slower there; `ByTarget` keeps the one value where it was measured and the other where it
//! was not.

use tileperf_syntax::ast::ExprKind;

use crate::body::is_decorated;
use crate::playbook::remade::code_without;
use crate::playbook::{Actions, KernelContext, Remade};
use crate::rewrite::Edits;
use crate::rewrite::arguments::add_argument;

/// What several sessions say of one change of a hint.
struct Told<'r> {
    change: &'r Remade,
    faster: Vec<&'r Remade>,
    slower: Vec<&'r Remade>,
}

pub(super) fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let remade = at.around.map_or(&[][..], |around| around.remade);
    // A hint that this file's own code replaces is not the one that runs.
    if remade.is_empty() || at.uses.remade > 0 || !is_decorated(at.kernel) {
        return;
    }
    for told in told(remade) {
        let change = told.change;
        if code_without(at.kernel, at.file.text, &change.name) != change.code {
            continue;
        }
        let now = (at.kernel.hints.iter().find(|hint| hint.name == change.name))
            .map(|hint| hint.text.as_str());
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        let Some(after) = after.filter(|_| now == before || now == change.after.as_deref()) else {
            continue;
        };
        let others = at.file.target.archs.iter();
        let mut unknown = others.filter(|arch| !told.faster.iter().any(|r| r.arch == **arch));
        if told.slower.is_empty() && unknown.next().is_none() {
            continue;
        }
        let Some(edits) = edits(at, &told, after) else {
            continue;
        };
        let hint = |value: Option<&str>| match value {
            Some(value) => format!("{}={value}", change.name),
            None => format!("no {}", change.name),
        };
        let mut title = format!(
            "{} on {} only, where it was faster ({}), and {} elsewhere",
            hint(Some(after)),
            list(&told.faster, |r| r.arch.to_string()),
            list(&told.faster, |r| r.run.clone()),
            hint(before),
        );
        if !told.slower.is_empty() {
            title.push_str(&format!(
                "; slower on {} ({})",
                list(&told.slower, |r| r.arch.to_string()),
                list(&told.slower, |r| r.run.clone())
            ));
        }
        let archs: Vec<String> = told.faster.iter().map(|r| r.arch.to_string()).collect();
        let variant = format!("{}={after},{}", change.name, archs.join(","));
        out.push(variant, title, edits).in_host_code();
    }
}

fn list(of: &[&Remade], word: impl Fn(&Remade) -> String) -> String {
    let words: Vec<String> = of.iter().map(|r| word(r)).collect();
    words.join(" and ")
}

/// Each change of a hint that was faster somewhere, with the last word on every architecture.
fn told(remade: &[Remade]) -> Vec<Told<'_>> {
    let mut out: Vec<Told<'_>> = Vec::new();
    for change in remade {
        let same = |r: &Remade| {
            let own = (&change.name, &change.before, &change.after, &change.code);
            (&r.name, &r.before, &r.after, &r.code) == own
        };
        if out.iter().any(|told| same(told.change)) {
            continue;
        }
        let mut last: Vec<&Remade> = Vec::new();
        // The newest come first.
        for one in remade.iter().filter(|r| same(r)) {
            if !last.iter().any(|known| known.arch == one.arch) {
                last.push(one);
            }
        }
        last.sort_by_key(|r| r.arch);
        let (faster, slower): (Vec<_>, Vec<_>) = last.into_iter().partition(|r| r.is_faster);
        if !faster.is_empty() {
            out.push(Told {
                change,
                faster,
                slower,
            });
        }
    }
    out
}

/// The decorator with the hint chosen by architecture.
fn edits<'a>(at: &KernelContext<'a>, told: &Told<'_>, after: &str) -> Option<Edits<'a>> {
    let ct = at.ct()?;
    let mut choices: Vec<String> = (told.faster.iter())
        .map(|r| format!("{}={after}", r.arch))
        .collect();
    if let Some(before) = &told.change.before {
        choices.push(format!("default={before}"));
    }
    let value = format!("{ct}.ByTarget({})", choices.join(", "));
    let edits = at.edits();
    let name = &told.change.name;
    if let Some(hint) = at.kernel.hints.iter().find(|hint| hint.name == *name) {
        let start = i64::from(at.def.item.span.start);
        return Some(edits.replace(hint.span.moved(-start), value));
    }
    let decorator = at.file.expr(at.kernel.decorator_span)?;
    let hint = format!("{name}={value}");
    Some(match &decorator.node.kind {
        ExprKind::Call { .. } => add_argument(edits, decorator.node, &hint),
        _ => edits.insert(decorator.node.span.end, format!("({hint})")),
    })
}
