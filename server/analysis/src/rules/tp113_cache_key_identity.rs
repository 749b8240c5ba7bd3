//! Keys of tuning caches that are objects' identities.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::host;
use crate::body::FunctionKind;
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, InItem, Links};

rule! {
    /// The key of a tuning cache has an object's identity in it, which says nothing about what is the
    /// best configuration.
    ///
    /// `id(t)` and `t.data_ptr()` differ for every tensor, so each call searches anew, and memory
    /// that is used again gives another tensor's configuration. A `torch.device` object is equal to
    /// another one only if both were written alike (`cuda` is not `cuda:0`) and cannot be stored:
    /// `str(t.device)` can. Make the key of shapes, dtypes, `str(device)` and every flag that the
    /// space reads.
    ///
    /// ```python bad
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// _tuned = {}
    ///
    /// def best(x, configs, stream, grid, kernel, args):
    ///     key = (x.shape, x.dtype, x.device)  # TP113
    ///     if key not in _tuned:
    ///         _tuned[key] = exhaustive_search(configs, stream, grid, kernel, args).best.config
    ///     return _tuned[key]
    /// ```
    ///
    /// ```python fixed
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// _tuned = {}
    ///
    /// def best(x, configs, stream, grid, kernel, args):
    ///     key = (x.shape, x.dtype, str(x.device))
    ///     if key not in _tuned:
    ///         _tuned[key] = exhaustive_search(configs, stream, grid, kernel, args).best.config
    ///     return _tuned[key]
    /// ```
    ///
    /// ```python good
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// _tuned = {}
    ///
    /// def best(x, configs, stream, grid, kernel, args):
    ///     key = (x.shape, x.dtype, x.device.index)
    ///     if key not in _tuned:
    ///         _tuned[key] = exhaustive_search(configs, stream, grid, kernel, args).best.config
    ///     return _tuned[key]
    /// ```
    TP113 "cache-key-identity" Warning,
    Workspace(check)
}

// It walks the whole file, so it is asked when nothing is typed.
fn check(file: &FileContext<'_>, _: &dyn Links, out: &mut Findings<'_>) {
    if file.model.searches.is_empty() {
        return;
    }
    let searchers: Vec<&str> = (file.model.searches.iter())
        .map(|s| s.function.rsplit('.').next().unwrap_or_default())
        .collect();
    let mut searching: Vec<Key<'_>> = Vec::new();
    let mut others: Vec<Key<'_>> = Vec::new();
    for def in host::functions(file) {
        let body = def.with(def.node.body.as_slice());
        let mut found = Vec::new();
        let mut searches = false;
        host::each(&[body], &mut |expr, _| {
            found.extend(key(expr));
            if let ExprKind::Call { func, .. } = &expr.node.kind {
                let at = expr.place(expr.node.span);
                let called = func.last_ident();
                searches |= called.is_some_and(|i| searchers.contains(&i.name.as_str()))
                    || file.model.searches.iter().any(|s| s.span == at);
            }
        });
        if searches {
            searching.extend(found);
        } else {
            others.extend(found);
        }
    }
    // The same cache is read elsewhere, by a key made again.
    others.retain(|other| searching.iter().any(|s| s.cache == other.cache));
    let keys = searching.into_iter().chain(others).map(|k| k.key);
    let mut said: Vec<Span> = Vec::new();
    for key in keys {
        identities(file, key, 3, &mut said, out);
    }
}

/// What a cache is asked for.
struct Key<'a> {
    cache: String,
    key: InItem<'a, Expr>,
}

/// What a cache is asked for: `key` of `cache[key]`, `cache.get(key)`, `key in cache`.
fn key<'a>(expr: InItem<'a, Expr>) -> Option<Key<'a>> {
    let (cache, key) = match &expr.node.kind {
        ExprKind::Subscript { value, index } => match index.as_slice() {
            [key] => (&**value, key),
            _ => return None,
        },
        ExprKind::Compare { first, rest } => match rest.as_slice() {
            [(op, right)] if matches!(op.as_str(), "in" | "not in") => (right, &**first),
            _ => return None,
        },
        ExprKind::Call { .. } => match host::method(expr.node)? {
            (base, "get" | "setdefault", [first, ..]) => (base, &first.value),
            _ => return None,
        },
        _ => return None,
    };
    Some(Key {
        cache: cache.dotted().filter(|_| is_cache(cache))?,
        key: expr.with(key),
    })
}

/// Whether an expression is called like a cache.
fn is_cache(expr: &Expr) -> bool {
    expr.last_ident().is_some_and(|ident| {
        let name = ident.name.to_ascii_lowercase();
        ["cache", "tuned", "memo", "best"]
            .iter()
            .any(|w| name.contains(w))
    })
}

/// Says what of a key is an identity, names of the key followed.
fn identities(
    file: &FileContext<'_>,
    part: InItem<'_, Expr>,
    hops: u32,
    said: &mut Vec<Span>,
    out: &mut Findings<'_>,
) {
    match &part.node.kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            for item in items {
                identities(file, part.with(item), hops, said, out);
            }
        }
        // Tuples put together. The rest of a pointer by an alignment is no identity.
        ExprKind::Binary { op, left, right } if op == "+" => {
            identities(file, part.with(left), hops, said, out);
            identities(file, part.with(right), hops, said, out);
        }
        ExprKind::Conditional { body, orelse, .. } => {
            identities(file, part.with(body), hops, said, out);
            identities(file, part.with(orelse), hops, said, out);
        }
        ExprKind::Comprehension { element, .. } => {
            identities(file, part.with(element), hops, said, out);
        }
        ExprKind::Starred(starred) => identities(file, part.with(starred), hops, said, out),
        ExprKind::Call { func, args } => {
            let tuple = func
                .name()
                .is_some_and(|n| matches!(n.as_str(), "tuple" | "frozenset"));
            if let ([only], true) = (args.as_slice(), tuple) {
                return identities(file, part.with(&only.value), hops, said, out);
            }
            report(file, part, part, said, out);
        }
        ExprKind::Name(_) if hops > 0 => {
            let given = host::follow(file, part);
            if given.node.span == part.node.span {
                return;
            }
            // A device in a variable is put right where the key is made, all else where it is.
            if is_device(given.node) {
                report(file, given, part, said, out);
            } else {
                identities(file, given, hops - 1, said, out);
            }
        }
        _ => report(file, part, part, said, out),
    }
}

fn is_device(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Attribute { attr, .. } => attr.name == "device",
        ExprKind::Call { func, .. } => func.dotted().is_some_and(|path| path == "torch.device"),
        _ => false,
    }
}

/// Says it of one part of a key, `at` in the key.
fn report(
    file: &FileContext<'_>,
    part: InItem<'_, Expr>,
    at: InItem<'_, Expr>,
    said: &mut Vec<Span>,
    out: &mut Findings<'_>,
) {
    let place = at.place(at.node.span);
    let text = file.source(part.place(part.node.span));
    let message = if is_device(part.node) {
        format!(
            "`{text}` in the key of a tuning cache is a device object, equal only to one written \
             alike: use `str({})`",
            file.source(place)
        )
    } else if is_identity(file, part.node) {
        format!(
            "`{text}` in the key of a tuning cache differs for every tensor, so that each is tuned \
             anew: use shape, dtype and `str(device)`"
        )
    } else {
        return;
    };
    if said.contains(&place) {
        return;
    }
    said.push(place);
    let found = out.push(place, message);
    if is_device(part.node) {
        let edits = Edits::new(file.text);
        let edits = edits.insert(place.start, "str(").insert(place.end, ")");
        found.review_fix("Use the device's name", edits);
    }
}

/// `id(t)`, `t.data_ptr()`. Kernels and functions of the file live as long as the cache.
fn is_identity(file: &FileContext<'_>, expr: &Expr) -> bool {
    if host::method(expr).is_some_and(|(_, name, _)| name == "data_ptr") {
        return true;
    }
    let ExprKind::Call { func, args } = &expr.kind else {
        return false;
    };
    let [only] = args.as_slice() else {
        return false;
    };
    let lasting = only.value.name().is_some_and(|name| {
        let kind = file.module.functions.get(name);
        matches!(
            kind,
            Some(FunctionKind::Kernel | FunctionKind::Host | FunctionKind::Device)
        ) || file.module.imports.contains_key(name)
            || name.contains("kernel")
    });
    func.name().is_some_and(|n| n == "id") && !lasting
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    fn code(key: &str) -> String {
        format!(
            "from cuda.tile.tune import exhaustive_search\n_cache = {{}}\ndef f(x, ys, flag):\n    key = {key}\n    if key in _cache:\n        return _cache[key]\n    r = exhaustive_search(c, s, g, k, a)\n    _cache[key] = r.best.config\n    return _cache[key]\n"
        )
    }

    #[test]
    fn identities_in_keys() {
        for key in [
            "(x.shape, id(x))",
            "(x.data_ptr(), x.dtype)",
            "id(x)",
            "(x.shape,) + (x.device,)",
            "tuple(y.data_ptr() for y in ys)",
            "(x.shape, x.device if flag else 0)",
            "(x.shape, torch.device('cuda'))",
            "(*x.shape, [id(y) for y in ys])",
        ] {
            let code = code(&format!("{key}  # TP113"));
            bad(&RULE, &code);
            // Another search in the file changes nothing.
            bad(
                &RULE,
                &format!("{code}\nexhaustive_search(c, s, g, k, a)\n"),
            );
        }
    }

    #[test]
    fn a_device_in_a_variable() {
        let made = "(x.shape, d)";
        let before = code(made).replace("    key", "    d = x.device\n    key");
        fixes(
            &RULE,
            &before.replace(made, "(x.shape, d)  # TP113"),
            &before.replace(made, "(x.shape, str(d))"),
        );
    }

    #[test]
    fn keys_written_in_place_and_in_another_function() {
        bad(
            &RULE,
            "from cuda.tile.tune import exhaustive_search\ndef tune(x):\n    return exhaustive_search(c, s, g, k, a).best.config\n\nclass Op:\n    def run(self, x):\n        if self.tuned.get((x.shape, id(x))) is None:  # TP113\n            self.tuned[x.shape, 1] = tune(x)\n",
        );
    }

    #[test]
    fn the_same_cache_read_in_another_function() {
        let other = "\ndef read(x):\n    return _cache[x.shape, 1], _cache[(x.shape, x.device)]";
        bad(
            &RULE,
            &format!("{}{other}  # TP113\n", code("(x.shape, str(x.device))")),
        );
        let other = other.replace("_cache", "_other_cache");
        good(
            &RULE,
            &format!("{}{other}\n", code("(x.shape, str(x.device))")),
        );
    }

    #[test]
    fn what_is_no_identity() {
        for key in [
            "(x.shape, str(x.device))",
            "(x.shape, x.device.index, x.device.type)",
            "(x.shape, repr(x.device), x.dtype)",
            "(x.shape, x.get_device())",
            "(x.shape, x.data_ptr() % 16 == 0)",
            "(x.shape, x.data_ptr() % 16)",
            "(id(my_kernel), x.shape)",
            "(ids[0](x), x.shape)",
            "(len(ys), flag)",
        ] {
            good(&RULE, &code(key));
        }
        // No tuning cache: nothing is searched here.
        good(
            &RULE,
            "def f(x, cache):\n    key = (x.data_ptr(), x.device)\n    if key not in cache:\n        cache[key] = prepare(x)\n    return cache[key]\n",
        );
        // Not in the key.
        good(
            &RULE,
            &code("x.shape").replace("    r =", "    log[id(x)] = x.device\n    r ="),
        );
    }

    #[test]
    fn caches_around_a_function_that_searches() {
        let code = |called: &str, mark: &str| {
            format!(
                "from cuda.tile.tune import exhaustive_search\n_cache = {{}}\n\ndef tune(x):\n    return exhaustive_search(c, s, g, k, a)\n\n\
                 def run(x):\n    key = (x.shape, id(x)){mark}\n    if key not in _cache:\n        _cache[key] = {called}(x)\n    return _cache[key]\n"
            )
        };
        bad(&RULE, &code("tune", "  # TP113"));
        good(&RULE, &code("other", ""));
    }

    #[test]
    fn comparisons_that_ask_no_cache() {
        let code = "from cuda.tile.tune import exhaustive_search\n_cache = {}\ndef f(x, y):\n    if id(x) == _cache:\n        return y\n    return exhaustive_search(c, s, g, k, a)\n";
        good(&RULE, code);
        bad(
            &RULE,
            &code.replace("if id(x) == _cache:", "if id(x) in _cache:  # TP113"),
        );
    }
}
