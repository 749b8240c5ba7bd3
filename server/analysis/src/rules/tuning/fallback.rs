//! A configuration for what a space forgets.

use tileperf_syntax::ast::{ExprKind, FunctionDef, StmtKind};
use tileperf_syntax::{Item, Span};

use super::search_call::{Given, SearchCall};
use crate::eval::{Config, Known};
use crate::model::{Space, SpaceKind};
use crate::rewrite::{Edits, indent};
use crate::rules::{FileContext, SpaceFacts};

/// The missing branch, or a fallback where the space is used. `tests` are those that keep every
/// configuration out.
pub(in crate::rules) fn fallback<'t>(
    file: &FileContext<'t>,
    space: &Space,
    facts: &SpaceFacts,
    search: &SearchCall<'t>,
    tests: &[Span],
) -> Option<Edits<'t>> {
    let config = (facts.by_arch.iter())
        .filter(|(_, s)| s.complete)
        .find_map(|(_, s)| s.configs.first())?;
    let text = written(file, space, config)?;
    if let Some(def) = file.function(space.span)
        && space.kind == SpaceKind::Generator
        && let Some(edits) = missing_branch(file, (def.item, def.node), &text, tests)
    {
        return Some(edits);
    }
    let given = search.arg(Given::Space)?;
    let list = search.follow(given);
    let is_list = match &list.kind {
        ExprKind::Call { func, .. } => func.name().is_some_and(|n| n == "list"),
        ExprKind::List(_) | ExprKind::Comprehension { .. } => true,
        _ => false,
    };
    is_list.then(|| {
        let end = search.place(list.span).end;
        Edits::new(file.text).insert(end, format!(" or [{text}]"))
    })
}

/// `else: yield ...` for a generator that ends in an `if` without one.
fn missing_branch<'t>(
    file: &FileContext<'t>,
    (item, def): (&Item, &FunctionDef),
    config: &str,
    tests: &[Span],
) -> Option<Edits<'t>> {
    let last = def.body.last()?;
    let StmtKind::If { branches, orelse } = &last.kind else {
        return None;
    };
    let (test, body) = branches.last().filter(|_| orelse.is_empty())?;
    // Something else than this `if` may keep the configurations out.
    let own = |test: &Span| {
        branches
            .iter()
            .any(|(t, _)| item.place(t.span).contains(*test))
    };
    if tests.is_empty() || !tests.iter().all(own) {
        return None;
    }
    let one_line = body.first()?.span.start < test.span.end + 2;
    if one_line {
        return None;
    }
    let inner = item.place(body.first()?.span).start;
    let outer = item.place(last.span);
    let margin = indent(file.text, inner);
    let step = margin.strip_prefix(indent(file.text, outer.start))?;
    let branch = format!("{step}yield {config}");
    let edits = Edits::new(file.text);
    Some(edits.lines_after(
        outer.end.saturating_sub(1),
        outer.start,
        &["else:", &branch],
    ))
}

/// A configuration as it would be written, with one CTA a cluster.
fn written(file: &FileContext<'_>, space: &Space, config: &Config) -> Option<String> {
    let (number, item) = file.item(space.span)?;
    let place = config.place.filter(|p| p.item as usize == number)?;
    let call = file.expr(item.place(place.span))?;
    let ExprKind::Call { func, .. } = &call.node.kind else {
        return None;
    };
    let func: Span = call.place(func.span);
    let mut fields = Vec::new();
    for (name, known) in &config.fields {
        let value = if name == "num_ctas" {
            "1".to_owned()
        } else {
            match known {
                Known::None => "None".into(),
                Known::Bool(true) => "True".into(),
                Known::Bool(false) => "False".into(),
                Known::Int(value) => value.to_string(),
                Known::Float(bits) => format!("{:?}", f64::from_bits(*bits)),
                Known::Str(text) if !text.contains(['"', '\\', '\n']) => format!("\"{text}\""),
                _ => return None,
            }
        };
        fields.push(if name.is_empty() {
            value
        } else {
            format!("{name}={value}")
        });
    }
    Some(format!("{}({})", file.source(func), fields.join(", ")))
}
