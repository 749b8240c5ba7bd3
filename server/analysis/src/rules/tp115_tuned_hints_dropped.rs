//! A search that tunes hints, and a launch without them.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, StmtKind};

use super::host;
use crate::body::argument;
use crate::model::{Candidate, Launch, Search, SearchApi};
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, InItem, Links};

rule! {
    /// A search tunes hints of a kernel, but the kernel is then launched as it was, without them.
    ///
    /// `hints_fn` gives each candidate its own `occupancy`, `num_ctas` and the like; the search makes
    /// such kernels for itself and throws them away. What it found counts only if the launch uses
    /// `kernel.replace_hints(...)` with the winner's hints. Remake the kernel once and keep it beside
    /// the configuration.
    ///
    /// ```python bad
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// _tuned = {}
    ///
    /// @ct.kernel
    /// def scale(x, BLOCK: ct.Constant[int]):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)) * 2)
    ///
    /// def run(x, configs, stream):
    ///     key = (x.shape, x.dtype, str(x.device))
    ///     if key not in _tuned:
    ///         result = exhaustive_search(
    ///             configs,
    ///             stream,
    ///             lambda c: (64,),
    ///             scale,
    ///             lambda c: (x.clone(), 128),
    ///             lambda c: {"occupancy": c.occupancy},
    ///         )
    ///         _tuned[key] = result.best.config
    ///     config = _tuned[key]
    ///     ct.launch(stream, (64,), scale, (x, 128))  # TP115
    /// ```
    ///
    /// ```python fixed
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// _tuned = {}
    ///
    /// @ct.kernel
    /// def scale(x, BLOCK: ct.Constant[int]):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)) * 2)
    ///
    /// def run(x, configs, stream):
    ///     key = (x.shape, x.dtype, str(x.device))
    ///     if key not in _tuned:
    ///         result = exhaustive_search(
    ///             configs,
    ///             stream,
    ///             lambda c: (64,),
    ///             scale,
    ///             lambda c: (x.clone(), 128),
    ///             lambda c: {"occupancy": c.occupancy},
    ///         )
    ///         _tuned[key] = (result.best.config, scale.replace_hints(occupancy=result.best.config.occupancy))
    ///     config, tuned_kernel = _tuned[key]
    ///     ct.launch(stream, (64,), tuned_kernel, (x, 128))
    /// ```
    ///
    /// ```python good
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def scale(x, BLOCK: ct.Constant[int]):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)) * 2)
    ///
    /// # Only the tile is searched: there is nothing to drop.
    /// def run(x, configs, stream):
    ///     result = exhaustive_search(
    ///         configs, stream, lambda c: (64,), scale, lambda c: (x.clone(), c.BLOCK)
    ///     )
    ///     ct.launch(stream, (64,), scale, (x, result.best.config.BLOCK))
    /// ```
    TP115 "tuned-hints-dropped" Warning,
    Workspace(check)
}

// It walks the whole file, so it is asked when nothing is typed.
fn check(file: &FileContext<'_>, _: &dyn Links, out: &mut Findings<'_>) {
    let mut said: Vec<Span> = Vec::new();
    for search in &file.model.searches {
        // The deprecated function launches the kernel that it tuned.
        if search.stale || search.api != SearchApi::ExhaustiveSearch {
            continue;
        }
        let Some(call) = file.expr(search.span) else {
            continue;
        };
        let Some(hints) = hints(call) else { continue };
        if is_remade(file, search) {
            continue;
        }
        for launch in dropping(file, search) {
            if said.contains(&launch.span) {
                continue;
            }
            said.push(launch.span);
            let names = named(file, call.with(hints));
            let what = match names.as_slice() {
                [] => "hints".to_owned(),
                names => format!("`{}`", names.join("`, `")),
            };
            let kernel = &launch.kernel_text;
            let found = out.push(
                launch.span,
                format!(
                    "The search tunes {what} of `{kernel}`, but this launch uses `{kernel}` without: \
                     launch `{kernel}.replace_hints(...)` made with the winner's hints"
                ),
            );
            let found = found.related(search.span, "the search");
            if let Some(edits) = keep_beside(file, search, launch, hints) {
                found.review_fix("Keep the tuned kernel beside the configuration", edits);
            }
        }
    }
}

/// The search's `hints_fn`, if it gives hints at all.
fn hints<'a>(call: InItem<'a, Expr>) -> Option<&'a Expr> {
    let ExprKind::Call { args, .. } = &call.node.kind else {
        return None;
    };
    let hints = argument(args, Some(5), "hints_fn")?;
    let none = match &hints.kind {
        ExprKind::None => true,
        ExprKind::Lambda { body, .. } => {
            matches!(&body.kind, ExprKind::None)
                || matches!(&body.kind, ExprKind::Dict(pairs) if pairs.is_empty())
        }
        _ => false,
    };
    (!none).then_some(hints)
}

/// The names of the hints, where they are written out.
fn named(file: &FileContext<'_>, hints: InItem<'_, Expr>) -> Vec<String> {
    let keys = |expr: &Expr| match &expr.kind {
        ExprKind::Dict(pairs) => (pairs.iter())
            .filter_map(|(key, _)| match &key.as_ref()?.kind {
                ExprKind::Str(text) => Some(text.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    match &hints.node.kind {
        ExprKind::Lambda { body, .. } => keys(body),
        ExprKind::Name(name) => host::functions(file)
            .iter()
            .find(|def| def.node.name.name == *name)
            .map_or_else(Vec::new, |def| {
                host::returns(def.node).into_iter().flat_map(keys).collect()
            }),
        _ => Vec::new(),
    }
}

/// Whether the searched kernel is remade with hints anywhere in the file: then which launch uses
/// which is not for this rule to say.
fn is_remade(file: &FileContext<'_>, search: &Search) -> bool {
    (file.model.hint_uses.iter()).any(|used| {
        let unknown = |c: &Candidate| !matches!(c, Candidate::Local(_) | Candidate::Imported(_));
        used.candidates.is_empty()
            || used.candidates.iter().any(unknown)
            || used.kernel_text == search.kernel_text
            || used
                .candidates
                .iter()
                .any(|c| search.candidates.contains(c))
    })
}

/// Launches of the searched kernel itself, after the search: in the same function, or in one that
/// calls the function that searches.
fn dropping<'a>(file: &FileContext<'a>, search: &Search) -> Vec<&'a Launch> {
    let around = file.functions_around(search.span);
    let launches = file.model.launches.iter().filter(|launch| {
        !launch.stale
            && launch.kernel_text == search.kernel_text
            && launch.candidates == search.candidates
            && !launch.candidates.is_empty()
    });
    launches
        .filter(|launch| {
            if launch.function == search.function {
                return launch.span.start > search.span.end;
            }
            // A search that tells no other function what it found is a report.
            let Some(searcher) = around.last() else {
                return false;
            };
            let mut called = false;
            for part in host::scope(file, launch.span) {
                host::each(&[part], &mut |expr, _| {
                    if let ExprKind::Call { func, .. } = &expr.node.kind {
                        called |= func.name() == Some(&searcher.node.name.name)
                            && expr.place(expr.node.span).start < launch.span.start;
                    }
                });
            }
            called
        })
        .collect()
}

/// For the usual shape, a cache of configurations: keep the kernel in it as well.
fn keep_beside<'a>(
    file: &FileContext<'a>,
    search: &Search,
    launch: &Launch,
    hints: &Expr,
) -> Option<Edits<'a>> {
    let ExprKind::Lambda { params, body } = &hints.kind else {
        return None;
    };
    let ([param], ExprKind::Dict(pairs)) = (params.as_slice(), &body.kind) else {
        return None;
    };
    if launch.function != search.function {
        return None;
    }
    let scope = host::scope(file, search.span);
    let mut kept: Vec<(Span, Span)> = Vec::new();
    let mut taken: Vec<(Span, Span)> = Vec::new();
    let mut uses = 0;
    let mut names: Vec<&str> = Vec::new();
    host::each(&scope, &mut |expr, place| {
        if let Some(name) = expr.node.name() {
            names.push(name);
        }
        let ExprKind::Subscript { value, .. } = &expr.node.kind else {
            return;
        };
        if value.dotted().is_none() {
            return;
        }
        let at = expr.place(expr.node.span);
        uses += 1;
        let Some(StmtKind::Assign { targets, value }) = place.stmt().map(|s| &s.kind) else {
            return;
        };
        match targets.as_slice() {
            [target] if std::ptr::eq(target, expr.node) && at.start > search.span.end => {
                kept.push((at, expr.place(value.span)));
            }
            [target] if std::ptr::eq(value, expr.node) && target.name().is_some() => {
                taken.push((at, expr.place(target.span)));
            }
            _ => {}
        }
    });
    let ([(store, config)], [(load, name)]) = (kept.as_slice(), taken.as_slice()) else {
        return None;
    };
    let same = file.source(*store) == file.source(*load);
    let config_text = file.source(*config);
    if uses != 2 || !same || names.contains(&"tuned_kernel") || !is_path(config_text) {
        return None;
    }
    let mut keywords = Vec::new();
    for (key, value) in pairs {
        let ExprKind::Str(key) = &key.as_ref()?.kind else {
            return None;
        };
        let ExprKind::Attribute { value: base, attr } = &value.kind else {
            return None;
        };
        if base.name() != Some(&param.name.name) {
            return None;
        }
        keywords.push(format!("{key}={config_text}.{}", attr.name));
    }
    let kernel = &search.kernel_text;
    let kept = format!(
        "({config_text}, {kernel}.replace_hints({}))",
        keywords.join(", ")
    );
    let kernel_span = kernel_argument(file, launch)?;
    Some(
        Edits::new(file.text)
            .replace(*config, kept)
            .insert(name.end, ", tuned_kernel")
            .replace(kernel_span, "tuned_kernel"),
    )
}

fn is_path(text: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    !text.is_empty() && text.chars().all(part)
}

/// Where the kernel stands in a launch, if it is a plain name.
fn kernel_argument(file: &FileContext<'_>, launch: &Launch) -> Option<Span> {
    let text = file.source(launch.kernel_span);
    (text == launch.kernel_text).then_some(launch.kernel_span)
}

#[cfg(test)]
mod tests;
