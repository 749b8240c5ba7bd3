//! Strides as constants of the compiled kernel: `ArrayAnnotation(static_stride_dims=...)`.
//!
//! Their values are those of the launch, so nothing can go wrong; but each other stride compiles the kernel
//! anew. Those of contiguous arrays follow from their extents, of which a model has few.

use std::collections::BTreeMap;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use crate::body::argument;
use crate::playbook::site::{Site, only_launches};
use crate::playbook::{Actions, KernelContext};
use crate::rewrite::Edits;
use crate::target::Version;

/// The first version with `static_stride_dims`.
const SINCE: Version = Version::new(1, 6, 0);

/// Functions of torch whose result is contiguous, if no other layout is asked for.
const CONTIGUOUS: [&str; 9] = [
    "empty", "zeros", "ones", "full", "rand", "randn", "randint", "arange", "stack",
];

/// How often names are followed.
const HOPS: u32 = 4;

pub(super) fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let Some(ct) = at.ct() else { return };
    if at.file.target.cuda_tile.is_some_and(|v| v < SINCE) {
        return;
    }
    let Some(arrays) = arrays(at).filter(|arrays| !arrays.is_empty()) else {
        return;
    };
    let Ok(launches) = only_launches(at) else {
        return;
    };
    let sites = launches.into_iter().map(|launch| Site::of(at, launch));
    let Ok(sites) = sites.collect::<Result<Vec<_>, _>>() else {
        return;
    };
    let params = &at.def.node.params;
    let mut edits = Edits::new(at.file.text);
    let Some((annotated, import)) = annotated(at) else {
        return;
    };
    if let Some((before, line)) = import {
        edits = edits.lines_before(before, &[line]);
    }
    let mut names = Vec::new();
    for (place, param) in params.iter().enumerate() {
        let name = &param.name.name;
        let Some(rank) = arrays.get(name) else {
            continue;
        };
        let is_plain = param.annotation.is_none() && param.default.is_none() && param.stars == 0;
        let all = sites.iter().all(|site| {
            let passed = site.passed.get(place);
            passed.is_some_and(|passed| is_contiguous(at, site, passed, HOPS))
        });
        if !is_plain || !all {
            return;
        }
        let axes: Vec<String> = (0..*rank).map(|axis| axis.to_string()).collect();
        let axes = axes.join(", ");
        let end = at.def.place(param.name.span).end;
        edits = edits.insert(
            end,
            format!(": {annotated}[{ct}.Array, {ct}.ArrayAnnotation(static_stride_dims=({axes}))]"),
        );
        names.push(format!("`{name}`"));
    }
    if names.len() != arrays.len() {
        return;
    }
    let names = names.join(", ");
    // Never wrong, but not for nothing.
    let title = format!(
        "Make the strides of {names} constants of the compiled kernel: each other stride compiles it anew"
    );
    out.push_in_file("strides", title, edits);
}

/// The arrays of two axes and more that are read or written in a loop, with how many they have. Nothing if
/// one of them is no parameter, or has now so many axes and now others.
fn arrays<'a>(at: &KernelContext<'a>) -> Option<BTreeMap<&'a SmolStr, usize>> {
    let mut out: BTreeMap<&SmolStr, usize> = BTreeMap::new();
    for called in at.calls(&["load", "store", "gather", "scatter"]) {
        let call = &called.call;
        let name = match call.name.as_str() {
            "load" | "store" => "index",
            _ => "indices",
        };
        let index = call.arg(1, name)?;
        let ExprKind::Tuple(parts) = &index.kind else {
            // Of one axis, or not written out.
            continue;
        };
        if parts.len() < 2 || !called.in_loop {
            continue;
        }
        let array = at.parameter(call.arg(0, "array")?)?;
        if *out.entry(array).or_insert(parts.len()) != parts.len() {
            return None;
        }
    }
    Some(out)
}

/// How `typing.Annotated` is written in the file, and the import that it takes: before which place, and the
/// line.
fn annotated(at: &KernelContext<'_>) -> Option<(String, Option<(u32, &'static str)>)> {
    let imports = &at.file.module.imports;
    let of = |path: &str| {
        let names = imports.iter().filter(|(_, p)| *p == path);
        names.map(|(name, _)| name).min()
    };
    if let Some(name) = of("typing.Annotated").or_else(|| of("typing_extensions.Annotated")) {
        return Some((name.to_string(), None));
    }
    if let Some(name) = of("typing") {
        return Some((format!("{name}.Annotated"), None));
    }
    // Whatever it is here.
    if at.file.text.contains("Annotated") {
        return None;
    }
    let is_first = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Import { .. } => true,
        StmtKind::ImportFrom { module, .. } => module != "__future__",
        _ => false,
    };
    let items = at.file.file.items.iter();
    let first = items
        .filter(|item| item.facts.body.len() == 1 && !item.is_stale())
        .find(|item| item.facts.body.iter().all(is_first))?;
    let line = "from typing import Annotated";
    Some(("Annotated".to_owned(), Some((first.span.start, line))))
}

/// Whether what is passed is contiguous: made so, or the function makes sure that it is.
fn is_contiguous(at: &KernelContext<'_>, site: &Site<'_>, passed: &Expr, hops: u32) -> bool {
    let Some(hops) = hops.checked_sub(1) else {
        return false;
    };
    let Some(name) = passed.name() else {
        return is_made_so(at, site, passed, hops);
    };
    let values = site.values(name);
    let given: Vec<&Expr> = values.iter().copied().flatten().collect();
    // `x = x.contiguous()` of a parameter, with or without a test of it before.
    let is_made = !given.is_empty() && values.len() - given.len() <= 1;
    if is_made && given.iter().all(|value| is_made_so(at, site, value, hops)) {
        return true;
    }
    let Some(def) = site.def().filter(|_| values.len() == 1 && given.is_empty()) else {
        return false;
    };
    let before = (def.body.iter()).filter(|stmt| stmt.span.end <= site.stmt.span.start);
    before.into_iter().any(|stmt| makes_sure(stmt, name))
}

/// `torch.empty(...)`, `x.contiguous()`.
fn is_made_so(at: &KernelContext<'_>, site: &Site<'_>, value: &Expr, hops: u32) -> bool {
    let ExprKind::Call { func, args } = &value.kind else {
        return false;
    };
    let ExprKind::Attribute { value: of, attr } = &func.kind else {
        return false;
    };
    if attr.name == "contiguous" {
        return args.is_empty();
    }
    let imports = &at.file.module.imports;
    let torch = of.name().and_then(|name| imports.get(name));
    let other = ["memory_format", "out"];
    if torch.is_none_or(|path| path != "torch")
        || (other.iter()).any(|name| argument(args, None, name).is_some())
    {
        return false;
    }
    match attr.name.strip_suffix("_like") {
        // It keeps the layout.
        Some(base) if CONTIGUOUS.contains(&base) => {
            argument(args, Some(0), "input").is_some_and(|like| is_contiguous(at, site, like, hops))
        }
        _ => CONTIGUOUS.contains(&attr.name.as_str()),
    }
}

/// `assert x.is_contiguous()`, `if not x.is_contiguous(): raise ...`.
fn makes_sure(stmt: &Stmt, name: &str) -> bool {
    match &stmt.kind {
        StmtKind::Assert { test, .. } => says(test, name, true),
        StmtKind::If { branches, orelse } => match branches.as_slice() {
            [(test, then)] if orelse.is_empty() => {
                let last = then.last().map(|stmt| &stmt.kind);
                let leaves = matches!(last, Some(StmtKind::Raise(_) | StmtKind::Return(_)));
                leaves && says(test, name, false)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether a test that comes out like this says that an array is contiguous.
fn says(test: &Expr, name: &str, outcome: bool) -> bool {
    match &test.kind {
        ExprKind::Logical { and, left, right } if *and == outcome => {
            says(left, name, outcome) || says(right, name, outcome)
        }
        ExprKind::Unary { op, operand } if op == "not" => says(operand, name, !outcome),
        ExprKind::Call { func, args } if outcome && args.is_empty() => matches!(
            &func.kind,
            ExprKind::Attribute { value, attr }
                if attr.name == "is_contiguous" && value.name().is_some_and(|of| of == name)
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
