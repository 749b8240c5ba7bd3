//! A search given something that can be walked only once.

use tileperf_syntax::ast::{ComprehensionKind, Expr, ExprKind, FunctionDef};
use tileperf_syntax::{Item, Span};

use super::tuning::keys::callers;
use super::tuning::search_call::{Given, SearchCall};
use crate::body::{argument, walk};
use crate::eval::Form;
use crate::model::{SearchApi, SpaceKind, SpaceRef};
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, Links};

rule! {
    /// A generator is passed to `exhaustive_search` as its search space: the search asks for its
    /// length and stops with a `TypeError`.
    ///
    /// `exhaustive_search` takes a sequence. A function with `yield`, a generator expression and the
    /// iterators of `itertools` have no length; seen with cuda-tile 1.7: "object of type 'generator'
    /// has no len()". The old `autotune_launch` took them, so this is a frequent fault of code that
    /// was moved to the new function. It shows only when the search runs. Make a list of it.
    ///
    /// ```python bad
    /// from cuda.tile.tune import exhaustive_search
    /// from types import SimpleNamespace
    ///
    /// def configs():
    ///     for occupancy in (1, 2, 4):
    ///         yield SimpleNamespace(occupancy=occupancy)
    ///
    /// def tune(stream, grid, kernel, args, hints):
    ///     return exhaustive_search(configs(), stream, grid, kernel, args, hints)  # TP104
    /// ```
    ///
    /// ```python fixed
    /// from cuda.tile.tune import exhaustive_search
    /// from types import SimpleNamespace
    ///
    /// def configs():
    ///     for occupancy in (1, 2, 4):
    ///         yield SimpleNamespace(occupancy=occupancy)
    ///
    /// def tune(stream, grid, kernel, args, hints):
    ///     return exhaustive_search(list(configs()), stream, grid, kernel, args, hints)
    /// ```
    ///
    /// ```python good
    /// from cuda.tile.tune import exhaustive_search
    /// from types import SimpleNamespace
    ///
    /// def configs():
    ///     return [SimpleNamespace(occupancy=occupancy) for occupancy in (1, 2, 4)]
    ///
    /// def tune(stream, grid, kernel, args, hints):
    ///     return exhaustive_search(configs(), stream, grid, kernel, args, hints)
    /// ```
    TP104 "generator-search-space" Error,
    Workspace(check)
}

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    for search in &file.model.searches {
        if search.api != SearchApi::ExhaustiveSearch {
            continue;
        }
        let Some(call) = SearchCall::of(file, search) else {
            continue;
        };
        let Some(space) = call.arg(Given::Space) else {
            continue;
        };
        let look = Look { call: &call, links };
        let Some(found) = look.at(space, HOPS) else {
            continue;
        };
        let mut edits = Edits::new(file.text);
        for (span, call) in &found.wrap {
            let text = file.source(*span);
            edits = edits.replace(*span, format!("list({text}{call})"));
        }
        let described = out.push(
            search.callee_span,
            format!(
                "the search space is {}, which has no length; make a list of it",
                found.what
            ),
        );
        described.safe_fix("Make a list of the search space", edits);
    }
}

/// How often a name is followed.
const HOPS: u32 = 4;

/// Something that has no length.
struct Iterator {
    what: String,
    /// What to make a list of, and what must stand after it.
    wrap: Vec<(Span, &'static str)>,
}

struct Look<'l, 'a> {
    call: &'l SearchCall<'a>,
    links: &'l dyn Links,
}

impl<'a> Look<'_, 'a> {
    fn at(&self, expr: &'a Expr, hops: u32) -> Option<Iterator> {
        self.within(self.call.item, expr, hops.checked_sub(1)?)
    }

    fn within(&self, item: &'a Item, expr: &'a Expr, hops: u32) -> Option<Iterator> {
        let one = |what: String| {
            Some(Iterator {
                what,
                wrap: vec![(item.place(expr.span), "")],
            })
        };
        match &expr.kind {
            ExprKind::Comprehension {
                kind: ComprehensionKind::Generator,
                ..
            } => one("a generator expression".into()),
            ExprKind::Call { func, .. } => one(self.called(func)?),
            ExprKind::Name(name) => self.named(expr, name, hops),
            ExprKind::Conditional { body, orelse, .. } => {
                match (self.at(body, hops), self.at(orelse, hops)) {
                    (Some(mut first), Some(second)) => {
                        first.wrap.extend(second.wrap);
                        Some(first)
                    }
                    (one, other) => one.or(other),
                }
            }
            _ => None,
        }
    }

    /// What calling `func` gives, if it has no length.
    fn called(&self, func: &'a Expr) -> Option<String> {
        let last = func.last_ident()?.name;
        let path = self.call.file.module.path(func).unwrap_or_default();
        if path.starts_with("itertools.") && last != "tee" {
            return Some(format!("an iterator of `{path}`"));
        }
        let ours = self.call.file.module.functions.contains_key(&last)
            || self.call.file.module.imports.contains_key(&last);
        if func.name().is_some() && BUILTIN.contains(&last.as_str()) && !ours {
            return Some(format!("an iterator of `{last}`"));
        }
        let mut spaces = (self.call.search.spaces.iter())
            .filter(|s| self.is_named(s, &last))
            .peekable();
        let generator = if spaces.peek().is_some() {
            spaces.all(|s| self.is_generator(s))
        } else {
            let functions = self.call.functions(func.name()?);
            !functions.is_empty() && functions.iter().all(|(_, def)| yields(def))
        };
        generator.then(|| format!("a generator, what `{last}` yields"))
    }

    fn is_named(&self, space: &SpaceRef, name: &str) -> bool {
        match space {
            SpaceRef::Local(number) => {
                (self.call.file.model.spaces.get(*number)).is_some_and(|s| s.name == name)
            }
            SpaceRef::Imported(path) => {
                let imported = |(known, whole): (&smol_str::SmolStr, &smol_str::SmolStr)| {
                    known == name && whole == path
                };
                path.rsplit('.').next() == Some(name)
                    || self.call.file.module.imports.iter().any(imported)
            }
        }
    }

    fn is_generator(&self, space: &SpaceRef) -> bool {
        if let SpaceRef::Local(number) = space
            && let Some(space) = self.call.file.model.spaces.get(*number)
        {
            let Some(def) = self.call.file.function(space.span) else {
                return false;
            };
            let plain = is_plain(def.node);
            if !plain || space.kind == SpaceKind::Generator {
                return plain;
            }
        }
        let Some(facts) = self.links.space(space) else {
            return false;
        };
        let mut forms = (facts.by_arch.iter())
            .filter(|(_, s)| s.count.reached)
            .map(|(_, s)| s.count.form)
            .peekable();
        forms.peek().is_some() && forms.all(|f| f == Form::Generator)
    }

    /// A name: of a value, or of the function that should have been called.
    fn named(&self, expr: &'a Expr, name: &str, hops: u32) -> Option<Iterator> {
        let values = self.call.values(name);
        if values.is_empty() {
            if let Some((item, value)) = self.call.module_value(name) {
                return self.within(item, value, hops.checked_sub(1)?);
            }
            let functions = self.call.functions(name);
            let (_, def) = functions.first()?;
            let needs = def
                .params
                .iter()
                .any(|p| p.default.is_none() && p.stars == 0);
            if functions.len() > 1 || needs {
                return None;
            }
            return Some(Iterator {
                what: format!("the function `{name}` itself"),
                wrap: vec![(self.call.place(expr.span), "()")],
            });
        }
        if let [None] = values.as_slice() {
            return self.passed(name);
        }
        let mut all: Option<Iterator> = None;
        for value in values {
            let found = self.at(value?, hops)?;
            match &mut all {
                Some(all) => all.wrap.extend(found.wrap),
                None => all = Some(found),
            }
        }
        all
    }
}

impl<'a> Look<'_, 'a> {
    /// A parameter, for which every caller in the file passes something without a length.
    fn passed(&self, name: &str) -> Option<Iterator> {
        let def = *self.call.around.first()?;
        let place = def.params.iter().position(|p| p.name.name == name)?;
        let mut all: Option<Iterator> = None;
        for (caller, args) in callers(&self.call.file, def) {
            let given = argument(args, Some(place), name)?;
            if given.name().is_some() {
                return None;
            }
            let found = self.within(caller.item, given, 0)?;
            match &mut all {
                Some(all) => all.wrap.extend(found.wrap),
                None => all = Some(found),
            }
        }
        all
    }
}

/// A decorator can make anything of a function.
fn is_plain(def: &FunctionDef) -> bool {
    def.decorators.iter().all(|d| {
        (d.last_ident()).is_some_and(|i| matches!(i.name.as_str(), "staticmethod" | "classmethod"))
    })
}

fn yields(def: &FunctionDef) -> bool {
    let mut found = false;
    walk(&def.body, &mut |expr, _| {
        found |= matches!(expr.kind, ExprKind::Yield(_) | ExprKind::YieldFrom(_));
    });
    found && is_plain(def)
}

/// Built-in functions that give an iterator.
const BUILTIN: [&str; 6] = ["map", "filter", "zip", "iter", "reversed", "enumerate"];

#[cfg(test)]
mod tests;
