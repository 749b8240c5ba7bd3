//! A tuning cache whose key lets different cases share a configuration.

use rustc_hash::FxHashSet;
use tileperf_syntax::ast::{ExprKind, FunctionDef};

use super::tuning::extents::is_dimension;
use super::tuning::keys::{Key, keys};
use super::tuning::search_call::{Given, SearchCall, is_test, names};
use super::tuning::spaces::bare_space;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, Links};

rule! {
    /// The key under which a tuning result is kept lacks something that the best configuration
    /// depends on, so that one case gets the configuration found for another.
    ///
    /// The key needs the shape (its dimensions, or what is derived from them), the dtype, the device
    /// as a string and every flag that the search space is made from. Otherwise the first call
    /// decides for all: a configuration tuned for float32 runs float16, one of a B200 runs on an
    /// H100 in the same process. Results stay right, times do not; a configuration that the other
    /// case's space leaves out on purpose can even fail to compile.
    ///
    /// ```python bad
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// _tuned = {}
    ///
    /// def run(x, stream, grid, kernel, configs, args):
    ///     key = (x.shape[0], x.shape[1])  # TP106
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
    /// def run(x, stream, grid, kernel, configs, args):
    ///     key = (x.shape[0], x.shape[1], x.dtype, str(x.device))
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
    /// def run(x, stream, grid, kernel, configs, args):
    ///     rows = 1 << (x.shape[0] - 1).bit_length()
    ///     key = (rows, x.shape[1])
    ///     key += (x.dtype, str(x.device))
    ///     if key not in _tuned:
    ///         _tuned[key] = exhaustive_search(configs, stream, grid, kernel, args).best.config
    ///     return _tuned[key]
    /// ```
    TP106 "cache-key-incomplete" Warning,
    Workspace(check)
}

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    if is_test(file) {
        return;
    }
    let mut seen = FxHashSet::default();
    for search in &file.model.searches {
        let Some(call) = SearchCall::of(file, search) else {
            continue;
        };
        let mut tensors = call.tensors();
        tensors.extend(call.array_args(&links.kernels(&search.candidates)));
        for key in keys(&call, &tensors) {
            if seen.insert(key.item.place(key.expr.span)) {
                key.judge(&call, &tensors, out);
            }
        }
    }
}

impl<'a> Key<'a> {
    fn judge(&self, call: &SearchCall<'a>, tensors: &FxHashSet<&'a str>, out: &mut Findings<'_>) {
        if self.says.open || !self.is_written_out() {
            return;
        }
        let flags = self.flags(call, tensors);
        let dimensions = self.dimensions(call, tensors);
        let mut lacks: Vec<String> = Vec::new();
        if !self.says.shape {
            lacks.push("the shape".into());
        }
        if !self.says.dtype {
            lacks.push("the dtype".into());
        }
        if !self.says.device {
            lacks.push("the device".into());
        }
        if self.says.shape {
            lacks.extend(dimensions.iter().map(|d| format!("`{d}` of the grid")));
        }
        lacks.extend(flags.iter().map(|f| format!("`{f}` of the space")));
        let Some(last) = lacks.pop() else { return };
        let list = if lacks.is_empty() {
            last
        } else {
            format!("{} and {last}", lacks.join(", "))
        };
        let more: Vec<&str> = dimensions.into_iter().chain(flags).collect();
        let edits = self.completed(call, &more);
        let described = out.push(
            self.item.place(self.expr.span),
            format!("the tuning cache's key lacks {list}: one case may run with the configuration of another"),
        );
        let described =
            described.related(call.search.callee_span, "the search whose result it keeps");
        if let Some(edits) = edits {
            described.review_fix("Complete the cache's key", edits);
        }
    }

    /// A tuple, or one value made from names; not a string of anything.
    fn is_written_out(&self) -> bool {
        matches!(
            self.expr.kind,
            ExprKind::Tuple(_)
                | ExprKind::Name(_)
                | ExprKind::Attribute { .. }
                | ExprKind::FString(_)
        ) || matches!(
            &self.expr.kind,
            ExprKind::Subscript { .. } | ExprKind::Binary { .. }
        ) || matches!(&self.expr.kind, ExprKind::Call { func, .. } if func.name().is_some())
    }

    /// The function that searches makes the key too.
    fn is_made_by(&self, call: &SearchCall<'a>, def: &FunctionDef) -> bool {
        self.item.span == call.item.span && self.def.is_some_and(|d| d.def_span == def.def_span)
    }

    /// Parameters of the searching function that the space is made from and the key does not have.
    fn flags(&self, call: &SearchCall<'a>, tensors: &FxHashSet<&'a str>) -> Vec<&'a str> {
        let Some(def) = call.around.first() else {
            return Vec::new();
        };
        let own = self.is_made_by(call, def);
        let space = if own { bare_space(call) } else { None };
        let Some(ExprKind::Call { args, .. }) = space.map(|s| &s.kind) else {
            return Vec::new();
        };
        let read = args.iter().flat_map(|a| match &a.value.kind {
            ExprKind::Name(name) => Some(name.as_str()),
            _ => None,
        });
        read.filter(|n| def.params.iter().any(|p| p.name.name == *n))
            .filter(|n| !tensors.contains(n) && !self.says.names.contains(n))
            .collect()
    }

    /// Dimensions that the grid is made from and the key does not have.
    fn dimensions(&self, call: &SearchCall<'a>, tensors: &FxHashSet<&'a str>) -> Vec<&'a str> {
        let (Some(def), Some(grid)) = (call.around.first(), call.arg(Given::Grid)) else {
            return Vec::new();
        };
        if self.says.whole || !self.is_made_by(call, def) {
            return Vec::new();
        }
        let mut out: Vec<&str> = Vec::new();
        for given in call.gives(grid) {
            for name in names(given.value) {
                let name = name.as_str();
                let known = given.config.is_some_and(|c| c == name)
                    || tensors.contains(name)
                    || self.says.names.contains(name)
                    || out.contains(&name);
                if !known && is_dimension(&call.file, def, name) {
                    out.push(name);
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
