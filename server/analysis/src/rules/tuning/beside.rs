//! A tuned kernel moves beside its configuration in the cache of its search.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::remake::Site;
use super::search_call::names;
use crate::body::walk;
use crate::rewrite::Edits;
use crate::rewrite::autotune::fresh;

impl<'a> Site<'a> {
    /// The search's cache keeps the kernel with the configuration.
    pub(super) fn beside_configuration(&self) -> Option<Edits<'a>> {
        let config = self.configuration()?;
        let def = *self.around.first()?;
        let mut cache = Cache::default();
        cache.visit(&def.body, self, config);
        let (load, store) = (cache.load?, cache.store?);
        let ordered = store.stmt.span.end <= load.stmt.span.start
            && load.stmt.span.end <= self.stmt.span.start;
        let elsewhere = self.uses_of(cache.name?) != cache.uses;
        if cache.other || elsewhere || !ordered || !self.is_of_module() {
            return None;
        }
        let text = self.file.text;
        let mut edits = Edits::new(text);
        // Remade where it is stored, by the name that the configuration has there.
        let (known_as, stored) = match store.value.name() {
            Some(name) => (name.as_str(), self.place(store.value.span)),
            None => {
                let line = format!("{config} = {}", self.source(store.value.span));
                edits = edits.lines_before(self.place(store.stmt.span).start, &[&line]);
                (config, self.place(store.value.span))
            }
        };
        let remade = self.renamed(config, known_as);
        edits = edits.replace(stored, format!("({known_as}, {remade})"));
        let target = self.place(load.target.span);
        if let StmtKind::Assign { targets, value } = &self.stmt.kind
            && let [tuned] = targets.as_slice()
            && let Some(tuned) = tuned.name()
            && value.span == self.call.span
        {
            let edits = edits.replace(target, format!("{config}, {tuned}"));
            return Some(edits.delete_lines(self.place(self.stmt.span)));
        }
        let tuned = fresh(text, "tuned_kernel");
        let edits = edits.replace(target, format!("{config}, {tuned}"));
        Some(edits.replace(self.place(self.call.span), tuned))
    }

    /// The one local name that all hints are attributes of.
    fn configuration(&self) -> Option<&'a str> {
        let mut config: Option<&'a SmolStr> = None;
        for arg in self.args {
            if arg.stars > 0 {
                return None;
            }
            for name in names(&arg.value) {
                if self.is_local(name) {
                    if config.is_some_and(|c| c != name) {
                        return None;
                    }
                    config = Some(name);
                }
            }
        }
        config.map(SmolStr::as_str)
    }

    /// The call's text with the configuration under another name.
    fn renamed(&self, config: &str, name: &str) -> String {
        let base = self.call.span.start;
        let mut text = self.source(self.call.span).to_owned();
        let mut places = Vec::new();
        for arg in self.args {
            arg.value.walk(&mut |e| {
                if e.name().is_some_and(|n| n == config) {
                    places.push((e.span.start - base) as usize..(e.span.end - base) as usize);
                }
            });
        }
        for place in places.into_iter().rev() {
            text.replace_range(place, name);
        }
        text
    }

    /// How often the file reads or writes a container of this text.
    fn uses_of(&self, cache: &str) -> usize {
        let mut uses = 0;
        for item in &self.file.file.items {
            count(&item.facts.body, cache, &mut uses);
        }
        uses
    }
}

/// A cache's store and load of a configuration in one function.
#[derive(Default)]
struct Cache<'a> {
    name: Option<&'a str>,
    load: Option<Load<'a>>,
    store: Option<Stored<'a>>,
    /// How often the function names the cache.
    uses: usize,
    /// In a way that is not understood.
    other: bool,
}

#[derive(Clone, Copy)]
struct Load<'a> {
    stmt: &'a Stmt,
    target: &'a Expr,
}

#[derive(Clone, Copy)]
struct Stored<'a> {
    stmt: &'a Stmt,
    value: &'a Expr,
}

impl<'a> Cache<'a> {
    fn visit(&mut self, body: &'a [Stmt], site: &Site<'a>, config: &str) {
        // The last `config = cache[key]`; then what else names that cache.
        let mut name = None;
        assigns(body, &mut |stmt, targets, value| {
            if let ExprKind::Subscript { value: cache, .. } = &value.kind
                && let [target] = targets
                && target.name().is_some_and(|n| n == config)
                && let Some(found) = cache.name()
                && !site.is_local(found)
            {
                name = Some(found.as_str());
                self.other |= self.load.is_some();
                self.load = Some(Load { stmt, target });
            }
        });
        let Some(name) = name else { return };
        self.name = Some(name);
        assigns(body, &mut |stmt, targets, value| {
            for target in targets {
                if let ExprKind::Subscript { value: cache, .. } = &target.kind
                    && cache.name().is_some_and(|n| n == name)
                {
                    self.other |= self.store.is_some() || targets.len() > 1;
                    self.store = Some(Stored { stmt, value });
                }
            }
        });
        let mut tests = 0;
        walk(body, &mut |expr, _| {
            if let ExprKind::Compare { rest, .. } = &expr.kind {
                tests += (rest.iter())
                    .filter(|(op, e)| op.ends_with("in") && e.name().is_some_and(|n| n == name))
                    .count();
            }
        });
        count(body, name, &mut self.uses);
        // One load, one store, the tests; and the definition, which the module has.
        self.other |= self.uses != tests + 2;
        self.uses += 1;
    }
}

fn assigns<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a Stmt, &'a [Expr], &'a Expr)) {
    for stmt in body {
        if let StmtKind::Assign { targets, value } = &stmt.kind {
            visit(stmt, targets, value);
        }
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            for inner in stmt.blocks() {
                assigns(inner, visit);
            }
        }
    }
}

/// Counts how often statements name something, definitions within included.
fn count(body: &[Stmt], name: &str, uses: &mut usize) {
    for stmt in body {
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| *uses += usize::from(e.name().is_some_and(|n| n == name)));
        });
        for inner in stmt.blocks() {
            count(inner, name, uses);
        }
    }
}
