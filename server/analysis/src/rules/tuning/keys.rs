//! The key under which the result of a search is kept: where it is made, how it is completed.

use rustc_hash::FxHashSet;
use tileperf_syntax::Item;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, FunctionDef};

use super::cache_key::{Keeper, KeyScope, Says};
use super::search_call::{Given, SearchCall, all_functions, names, tensors_in};
use crate::body::{argument, bindings, walk};
use crate::model::SearchApi;
use crate::rewrite::{self, Edits};
use crate::rules::FileContext;

/// The expression that makes a key.
pub(in crate::rules) struct Key<'a> {
    pub(in crate::rules) item: &'a Item,
    pub(in crate::rules) expr: &'a Expr,
    /// The function whose names it uses.
    pub(in crate::rules) def: Option<&'a FunctionDef>,
    pub(in crate::rules) says: Says<'a>,
    /// Names of it that are surely tensors.
    tensors: FxHashSet<&'a str>,
}

/// The keys under which the result of a search is kept: one for each branch that makes one, and for
/// each caller that does.
pub(in crate::rules) fn keys<'a>(
    call: &SearchCall<'a>,
    tensors: &FxHashSet<&'a str>,
) -> Vec<Key<'a>> {
    let own = Keeper {
        file: call.file,
        item: call.item,
        def: call.around.first().copied(),
        body: call.body(),
        search: call.call.span,
    };
    let mut find = Find {
        call,
        tensors,
        out: Vec::new(),
    };
    match &call.call.kind {
        ExprKind::Call { args, .. } if call.search.api == SearchApi::AutotuneLaunch => {
            if let Some(key) = argument(args, None, "key") {
                find.made(own, key, CALLERS);
            }
        }
        _ => find.kept(own, CALLERS),
    }
    find.out
}

/// How many callers up a key is looked for.
const CALLERS: u32 = 2;

struct Find<'c, 'a> {
    call: &'c SearchCall<'a>,
    tensors: &'c FxHashSet<&'a str>,
    out: Vec<Key<'a>>,
}

impl<'a> Find<'_, 'a> {
    /// Where a function, else its callers, keep what was found.
    fn kept(&mut self, keeper: Keeper<'a>, hops: u32) {
        if let Some(key) = keeper.key() {
            return self.made(keeper, key, hops);
        }
        let (Some(def), Some(hops)) = (keeper.def, hops.checked_sub(1)) else {
            return;
        };
        for (caller, _) in callers(&self.call.file, def) {
            self.kept(caller, hops);
        }
    }

    /// Where a key is made that a function uses.
    fn made(&mut self, keeper: Keeper<'a>, key: &'a Expr, hops: u32) {
        let Some(name) = key.name() else {
            return self.push(keeper, key, key);
        };
        let Some(def) = keeper.def else { return };
        if let Some(place) = def.params.iter().position(|p| p.name.name == *name) {
            let Some(hops) = hops.checked_sub(1) else {
                return;
            };
            for (caller, args) in callers(&self.call.file, def) {
                if let Some(given) = argument(args, Some(place), name) {
                    self.made(caller, given, hops);
                }
            }
            return;
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
            if let Some(first) = values.first() {
                self.push(keeper, first, key);
            }
            return;
        }
        for value in values {
            self.push(keeper, value, value);
        }
    }

    /// A key that is shown at `expr` and says what `all` does.
    fn push(&mut self, keeper: Keeper<'a>, expr: &'a Expr, all: &'a Expr) {
        let mut tensors = tensors_in(&self.call.file, keeper.def);
        tensors.extend(self.tensors);
        let scope = KeyScope {
            call: self.call,
            def: keeper.def,
            tensors: &tensors,
        };
        let says = scope.says(all);
        self.out.push(Key {
            item: keeper.item,
            expr,
            def: keeper.def,
            says,
            tensors,
        });
    }
}

/// The functions of a file that call one of its functions, and with what.
pub(in crate::rules) fn callers<'a>(
    file: &FileContext<'a>,
    def: &FunctionDef,
) -> Vec<(Keeper<'a>, &'a [Arg])> {
    let mut out = Vec::new();
    for (item, caller) in all_functions(file) {
        walk(&caller.body, &mut |expr, _| {
            if let ExprKind::Call { func, args } = &expr.kind
                && func.name().is_some_and(|n| *n == def.name.name)
            {
                let keeper = Keeper {
                    file: *file,
                    item,
                    def: Some(caller),
                    body: &caller.body,
                    search: expr.span,
                };
                out.push((keeper, args.as_slice()));
            }
        });
    }
    out
}

impl<'a> Key<'a> {
    /// The key with what it lacks.
    pub(in crate::rules) fn completed(
        &self,
        call: &SearchCall<'a>,
        names: &[&str],
    ) -> Option<Edits<'a>> {
        let ExprKind::Tuple(parts) = &self.expr.kind else {
            return None;
        };
        let def = self.def?;
        let tensor = || best_tensor(call, def, &self.tensors);
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
