//! The key under which the result of a search is kept: where it is made, how it is completed.

use rustc_hash::FxHashSet;
use tileperf_syntax::Item;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef};

use super::cache_key::{KeyScope, Says, key_of};
use super::search_call::{Given, SearchCall, all_functions, names};
use crate::body::{argument, bindings, walk};
use crate::model::SearchApi;
use crate::rewrite::{self, Edits};

/// The expression that makes a key.
pub(in crate::rules) struct Key<'a> {
    pub(in crate::rules) item: &'a Item,
    pub(in crate::rules) expr: &'a Expr,
    /// The function whose names it uses.
    pub(in crate::rules) def: Option<&'a FunctionDef>,
    pub(in crate::rules) says: Says<'a>,
}

/// The keys under which the result of a search is kept: one for each branch that makes one.
pub(in crate::rules) fn keys<'a>(
    call: &SearchCall<'a>,
    tensors: &FxHashSet<&'a str>,
) -> Vec<Key<'a>> {
    let key = match call.search.api {
        SearchApi::ExhaustiveSearch => key_of(call),
        SearchApi::AutotuneLaunch => match &call.call.kind {
            ExprKind::Call { args, .. } => argument(args, None, "key"),
            _ => None,
        },
    };
    let Some(key) = key else { return Vec::new() };
    let def = call.around.first().copied();
    let scope = KeyScope { call, def, tensors };
    let one = |expr: &'a Expr, says| {
        vec![Key {
            item: call.item,
            expr,
            def,
            says,
        }]
    };
    let Some(name) = key.name() else {
        return one(key, scope.says(key));
    };
    let Some(def) = def else { return Vec::new() };
    if let Some(place) = def.params.iter().position(|p| p.name.name == *name) {
        return passed(call, def, place, name);
    }
    let mut values = Vec::new();
    let mut hidden = false;
    bindings(&def.body, name, &mut |value| match value {
        Some(value) => values.push(value),
        None => hidden = true,
    });
    // `key = key + (...)`, `key += (...)`: all of it makes one key.
    let grows = hidden || values.iter().any(|v| names(v).contains(&name));
    if grows {
        return match values.first() {
            Some(first) => one(first, scope.says(key)),
            None => Vec::new(),
        };
    }
    (values.into_iter())
        .map(|expr| Key {
            item: call.item,
            expr,
            def: Some(def),
            says: scope.says(expr),
        })
        .collect()
}

/// The keys that callers in this file pass to the function that searches.
fn passed<'a>(call: &SearchCall<'a>, def: &FunctionDef, place: usize, name: &str) -> Vec<Key<'a>> {
    let mut out = Vec::new();
    for (item, caller) in all_functions(&call.file) {
        walk(&caller.body, &mut |expr, _| {
            let ExprKind::Call { func, args } = &expr.kind else {
                return;
            };
            if func.name().is_none_or(|n| *n != def.name.name) {
                return;
            }
            let Some(given) = argument(args, Some(place), name) else {
                return;
            };
            let mut expr = given;
            if let Some(local) = given.name()
                && let Some(value) = crate::body::only_value(&caller.body, local)
            {
                expr = value;
            }
            let tensors = FxHashSet::default();
            let scope = KeyScope {
                call,
                def: Some(caller),
                tensors: &tensors,
            };
            out.push(Key {
                item,
                expr,
                def: Some(caller),
                says: scope.says(expr),
            });
        });
    }
    out
}

impl<'a> Key<'a> {
    /// The key with what it lacks.
    pub(in crate::rules) fn completed(
        &self,
        call: &SearchCall<'a>,
        tensors: &FxHashSet<&'a str>,
        names: &[&str],
    ) -> Option<Edits<'a>> {
        let ExprKind::Tuple(parts) = &self.expr.kind else {
            return None;
        };
        let def = self.def?;
        let tensor = || best_tensor(call, def, tensors);
        let param = |name: &str| def.params.iter().any(|p| p.name.name == name);
        let mut more: Vec<String> = Vec::new();
        if !self.says.shape {
            more.push(format!("tuple({}.shape)", tensor()?));
        }
        if !self.says.dtype {
            more.push(if param("dtype") {
                "dtype".into()
            } else {
                format!("{}.dtype", tensor()?)
            });
        }
        if !self.says.device {
            more.push(if param("device") {
                "str(device)".into()
            } else {
                format!("str({}.device)", tensor()?)
            });
        }
        more.extend(names.iter().map(|n| (*n).to_owned()));
        let last = self.item.place(parts.last()?.span);
        Some(append(call.file.text, last.end, last.start, &more))
    }
}

/// Puts more elements behind the last one of a tuple, in the layout that it has.
fn append<'t>(text: &'t str, end: u32, last: u32, more: &[String]) -> Edits<'t> {
    let edits = Edits::new(text);
    let after = &text[end as usize..];
    let comma = after.trim_start().starts_with(',');
    if !comma {
        return edits.insert(end, format!(", {}", more.join(", ")));
    }
    let at = end + (after.find(',').unwrap_or(0) + 1) as u32;
    let line = rewrite::line_start(text, last) as usize;
    let own_line = text[line..last as usize].trim().is_empty();
    let mut added = String::new();
    for part in more {
        if own_line {
            added.push_str(&format!("\n{}{part},", rewrite::indent(text, last)));
        } else {
            added.push_str(&format!(" {part},"));
        }
    }
    edits.insert(at, added)
}

/// A tensor that is there when the key is made: one that the kernel gets, if there is one.
fn best_tensor<'a>(
    call: &SearchCall<'a>,
    def: &'a FunctionDef,
    tensors: &FxHashSet<&'a str>,
) -> Option<&'a str> {
    let is_there =
        |name: &&str| tensors.contains(name) && def.params.iter().any(|p| p.name.name == *name);
    let args = call.arg(Given::Args)?;
    let given = call.gives(args);
    let passed = given.iter().flat_map(|g| match &g.value.kind {
        ExprKind::Tuple(items) => items.iter().filter_map(|i| i.name()).collect(),
        _ => Vec::new(),
    });
    let first = passed.map(|n| n.as_str()).find(is_there);
    first.or_else(|| {
        let mut params = def.params.iter().map(|p| p.name.name.as_str());
        params.find(is_there)
    })
}
