//! From a reduced expression to what it can be: a definition of this file, something imported, an
//! element of a container.
//!
//! The answer is a set: branches, loops and caches make several kernels possible at one launch, and
//! all of them are wanted. Assignments are not ordered, which only ever adds candidates. Fuel bounds
//! the work; running out loses candidates, never time.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};

use super::scan::{Call, Scan, Scope, ScopeKind};
use super::value::Value;

/// Look-ups per question. The longest chain seen in public kernels takes under a hundred.
const FUEL: u32 = 4_000;

/// A scope of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct At {
    pub(crate) item: usize,
    pub(crate) scope: usize,
}

/// What an expression can be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Target<'a> {
    /// A function or class of this file.
    Def(At),
    /// An instance of a class of this file.
    Instance(At),
    /// A container or constructed value, whose parts are looked up in the scope given.
    Whole(At, &'a Value),
    /// Something imported, by absolute dotted path.
    Path(SmolStr),
    /// What calling something imported gives.
    Called(SmolStr),
    /// A parameter: whatever the callers pass.
    Param(At, usize),
}

/// All names of a file.
pub(crate) struct Names<'a> {
    pub(crate) scans: Vec<&'a Scan>,
    module: FxHashMap<&'a str, Vec<(At, &'a Value)>>,
    stores: FxHashMap<&'a str, Vec<(At, &'a Value)>>,
    stars: Vec<SmolStr>,
    /// The package that relative imports start from: `a.b` for a module `a.b.c`.
    package: String,
    calls: OnceCell<FxHashMap<&'a str, Vec<(usize, &'a Call)>>>,
}

struct Search<'s, 'a> {
    names: &'s Names<'a>,
    fuel: u32,
    /// The parts being resolved, each within the one before. Seldom more than ten: a list is searched
    /// faster than a table is filled.
    open: Vec<(*const Value, At)>,
    out: Vec<Target<'a>>,
}

impl<'a> Names<'a> {
    /// Gathers the scans of a file's items, in order.
    pub(crate) fn new(scans: Vec<&'a Scan>, package: &str) -> Self {
        let mut module: FxHashMap<&str, Vec<(At, &Value)>> = FxHashMap::default();
        let mut stores: FxHashMap<&str, Vec<(At, &Value)>> = FxHashMap::default();
        let mut stars = Vec::new();
        for (item, scan) in scans.iter().enumerate() {
            for bind in &scan.scopes[0].binds {
                module.entry(&bind.name).or_default().push((
                    At {
                        item,
                        scope: bind.origin,
                    },
                    &bind.value,
                ));
            }
            for (name, scope, value) in &scan.stores {
                stores.entry(name).or_default().push((
                    At {
                        item,
                        scope: *scope,
                    },
                    value,
                ));
            }
            stars.extend(scan.stars.iter().map(|s| absolute(s, package)));
        }
        Self {
            scans,
            module,
            stores,
            stars,
            package: package.to_owned(),
            calls: OnceCell::new(),
        }
    }

    pub(crate) fn scope(&self, at: At) -> &'a Scope {
        &self.scans[at.item].scopes[at.scope]
    }

    /// Module-level names and what they are bound to.
    pub(crate) fn module(&self) -> impl Iterator<Item = (&'a str, &[(At, &'a Value)])> {
        self.module
            .iter()
            .map(|(name, binds)| (*name, binds.as_slice()))
    }

    /// What a module-level name is bound to.
    pub(crate) fn bound(&self, name: &str) -> &[(At, &'a Value)] {
        self.module.get(name).map_or(&[], Vec::as_slice)
    }

    /// Everything that `value`, read in scope `at`, can be.
    pub(crate) fn resolve(&self, value: &'a Value, at: At) -> Vec<Target<'a>> {
        let mut search = Search {
            names: self,
            fuel: FUEL,
            open: Vec::new(),
            out: Vec::new(),
        };
        search.visit(value, at);
        search.out
    }

    /// Everything it can be once parameters are replaced by what callers in this file pass. What
    /// remains a parameter is one that callers elsewhere decide.
    pub(crate) fn resolve_through_callers(&self, value: &'a Value, at: At) -> Vec<Target<'a>> {
        let mut done: Vec<Target<'a>> = Vec::new();
        let mut todo = self.resolve(value, at);
        let mut rounds = 0;
        while let Some(target) = todo.pop() {
            if done.contains(&target) {
                continue;
            }
            if let Target::Param(function, index) = target
                && rounds < 32
            {
                rounds += 1;
                for (passed, from) in self.passed(function, index) {
                    todo.extend(self.resolve(passed, from));
                }
            }
            done.push(target);
        }
        done
    }

    /// The imported API that a callee is, if any: its absolute dotted path.
    pub(crate) fn paths(&self, value: &'a Value, at: At) -> Vec<SmolStr> {
        self.resolve(value, at)
            .into_iter()
            .filter_map(|t| {
                if let Target::Path(path) = t {
                    Some(path)
                } else {
                    None
                }
            })
            .collect()
    }

    /// Calls by the last name of their callee.
    pub(crate) fn calls_of(&self, name: &str) -> &[(usize, &'a Call)] {
        self.calls
            .get_or_init(|| {
                let mut calls: FxHashMap<&str, Vec<(usize, &Call)>> = FxHashMap::default();
                for (item, scan) in self.scans.iter().enumerate() {
                    for call in &scan.calls {
                        if let Some(last) = call.callee.last() {
                            calls.entry(last).or_default().push((item, call));
                        }
                    }
                }
                calls
            })
            .get(name)
            .map_or(&[], Vec::as_slice)
    }

    /// Calls in this file of the function at `function`, with how many leading parameters the call
    /// does not pass itself (`self`).
    pub(crate) fn callers(&self, function: At) -> Vec<(usize, &'a Call, usize)> {
        let Some(def) = &self.scope(function).def else {
            return Vec::new();
        };
        let parent = At {
            item: function.item,
            scope: self.scope(function).parent,
        };
        let in_class = self.scope(parent).kind == ScopeKind::Class;
        let mut out = Vec::new();
        for (item, call) in self.calls_of(&def.name.name) {
            let at = At {
                item: *item,
                scope: call.scope,
            };
            let through_class = matches!(&call.callee, Value::Attr(base, _)
                if self.resolve(base, at).contains(&Target::Def(parent)));
            let is_it = match &call.callee {
                // A method through an object of unknown class: by name.
                Value::Attr(..) if in_class => true,
                callee => self.resolve(callee, at).contains(&Target::Def(function)),
            };
            if is_it {
                let skip = usize::from(in_class && !def.is_static && !through_class);
                out.push((*item, *call, skip));
            }
        }
        if in_class && def.name.name == "forward" {
            // `torch.autograd.Function`: `F.apply(a, b)` calls `F.forward(ctx, a, b)`.
            for (item, call) in self.calls_of("apply") {
                let at = At {
                    item: *item,
                    scope: call.scope,
                };
                if matches!(&call.callee, Value::Attr(base, _) if self.resolve(base, at).contains(&Target::Def(parent)))
                {
                    out.push((*item, *call, 1));
                }
            }
        }
        out
    }

    /// What callers pass for parameter `index`, its default included.
    fn passed(&self, function: At, index: usize) -> Vec<(&'a Value, At)> {
        let Some(def) = &self.scope(function).def else {
            return Vec::new();
        };
        let Some(param) = def.params.get(index) else {
            return Vec::new();
        };
        let outside = At {
            item: function.item,
            scope: self.scope(function).parent,
        };
        let mut out: Vec<_> = param.default.iter().map(|d| (d, outside)).collect();
        for (item, call, skip) in self.callers(function) {
            let at = At {
                item,
                scope: call.scope,
            };
            out.extend(argument(call, index.checked_sub(skip), &param.name.name).map(|v| (v, at)));
        }
        out
    }
}

/// The argument of a call for a parameter of this place and name.
fn argument<'a>(call: &'a Call, place: Option<usize>, name: &str) -> Option<&'a Value> {
    if let Some(arg) = call.args.iter().find(|a| a.name.as_deref() == Some(name)) {
        return Some(&arg.value);
    }
    let positional = call.args.iter().filter(|a| a.name.is_none());
    let arg = positional.take_while(|a| !a.starred).nth(place?)?;
    Some(&arg.value)
}

/// A path with leading dots, made absolute.
fn absolute(path: &str, package: &str) -> SmolStr {
    let rest = path.trim_start_matches('.');
    let level = path.len() - rest.len();
    if level == 0 {
        return path.into();
    }
    let mut base: Vec<&str> = package.split('.').filter(|p| !p.is_empty()).collect();
    base.truncate((base.len() + 1).saturating_sub(level));
    if !rest.is_empty() {
        base.push(rest);
    }
    base.join(".").into()
}

impl<'a> Search<'_, 'a> {
    fn push(&mut self, target: Target<'a>) {
        if !self.out.contains(&target) {
            self.out.push(target);
        }
    }

    /// Resolves a part and gives its targets without adding them to the answer.
    fn aside(&mut self, value: &'a Value, at: At) -> Vec<Target<'a>> {
        let outer = std::mem::take(&mut self.out);
        self.visit(value, at);
        std::mem::replace(&mut self.out, outer)
    }

    fn visit(&mut self, value: &'a Value, at: At) {
        let part = (std::ptr::from_ref(value), at);
        if self.fuel == 0 || self.open.contains(&part) {
            return;
        }
        self.open.push(part);
        self.fuel -= 1;
        match value {
            Value::Name(name) => self.name(name, at),
            Value::Attr(base, attr) if attr == "_pyfunc" => self.visit(base, at),
            Value::Attr(base, attr) => self.attribute(base, attr, at),
            Value::Call(callee, args) => self.call(value, callee, args, at),
            Value::Either(parts) => parts.iter().for_each(|v| self.visit(v, at)),
            Value::Seq(..) | Value::Map(_) => self.push(Target::Whole(at, value)),
            Value::Item(base, place) => self.item(base, *place, at),
            Value::Import(path) => {
                let path = absolute(path, &self.names.package);
                self.push(Target::Path(path));
            }
            Value::Param(index) => self.push(Target::Param(at, *index)),
            Value::Def(scope) => self.push(Target::Def(At {
                item: at.item,
                scope: *scope,
            })),
            Value::Text(_) | Value::Nothing | Value::Other => {}
        }
        // The same part may be reached again on another way within one question.
        self.open.pop();
    }

    fn name(&mut self, name: &'a SmolStr, at: At) {
        let scan = self.names.scans[at.item];
        let mut scope = at.scope;
        while scope != 0 {
            let here = &scan.scopes[scope];
            // A class's names are not seen from its methods.
            if here.kind != ScopeKind::Class || scope == at.scope {
                let mut found = false;
                for bind in here.binds.iter().filter(|b| b.name == *name) {
                    found = true;
                    let origin = if matches!(bind.value, Value::Param(_)) {
                        scope
                    } else {
                        bind.origin
                    };
                    self.visit(
                        &bind.value,
                        At {
                            item: at.item,
                            scope: origin,
                        },
                    );
                }
                if found {
                    return;
                }
            }
            scope = here.parent;
        }
        match self.names.module.get(name.as_str()) {
            Some(binds) => {
                for (origin, value) in binds {
                    self.visit(value, *origin);
                }
            }
            None => {
                for star in &self.names.stars {
                    self.push(Target::Path(format_smolstr!("{star}.{name}")));
                }
            }
        }
    }

    fn attribute(&mut self, base: &'a Value, attr: &'a SmolStr, at: At) {
        let mut known = false;
        for target in self.aside(base, at) {
            match target {
                Target::Path(path) => {
                    known = true;
                    self.push(Target::Path(format_smolstr!("{path}.{attr}")));
                }
                Target::Def(def) | Target::Instance(def) => known |= self.member(def, attr, 0),
                Target::Param(function, 0) => {
                    let parent = self.names.scope(function).parent;
                    let class = At {
                        item: function.item,
                        scope: parent,
                    };
                    if self.names.scope(class).kind == ScopeKind::Class {
                        known |= self.member(class, attr, 0);
                    }
                }
                Target::Whole(origin, Value::Call(_, args)) => {
                    for (name, value) in args {
                        if name.as_ref() == Some(attr) {
                            known = true;
                            self.visit(value, origin);
                        }
                    }
                }
                _ => {}
            }
        }
        if !known {
            self.stored(attr);
        }
    }

    /// A member of a class or of its bases.
    fn member(&mut self, class: At, attr: &SmolStr, depth: u32) -> bool {
        let scope = self.names.scope(class);
        if scope.kind != ScopeKind::Class || depth > 8 {
            return false;
        }
        let mut found = false;
        for bind in scope.binds.iter().filter(|b| b.name == *attr) {
            found = true;
            self.visit(
                &bind.value,
                At {
                    item: class.item,
                    scope: bind.origin,
                },
            );
        }
        if found {
            return true;
        }
        for base in &scope.returns {
            for target in self.aside(
                base,
                At {
                    item: class.item,
                    scope: scope.parent,
                },
            ) {
                if let Target::Def(base) = target {
                    found |= self.member(base, attr, depth + 1);
                }
            }
        }
        found
    }

    fn stored(&mut self, name: &str) {
        if let Some(values) = self.names.stores.get(name) {
            for (origin, value) in values {
                self.visit(value, *origin);
            }
        }
    }

    fn call(
        &mut self,
        whole: &'a Value,
        callee: &'a Value,
        args: &'a [(Option<SmolStr>, Value)],
        at: At,
    ) {
        let first = args.iter().find(|(name, _)| name.is_none()).map(|(_, v)| v);
        match (callee, callee.last().map_or("", SmolStr::as_str)) {
            (Value::Attr(base, _), "replace_hints" | "values" | "items" | "keys" | "copy") => {
                return self.visit(base, at);
            }
            (Value::Attr(base, _), "get" | "pop" | "setdefault") => {
                self.item(base, None, at);
                return args.iter().skip(1).for_each(|(_, v)| self.visit(v, at));
            }
            // Gives its first argument back, wrapped, sorted or cached.
            (
                _,
                "cached_replace_hints"
                | "partial"
                | "wraps"
                | "list"
                | "tuple"
                | "sorted"
                | "reversed"
                | "iter"
                | "next"
                | "set",
            ) => {
                return first.into_iter().for_each(|v| self.visit(v, at));
            }
            (Value::Name(_), "enumerate" | "zip") => {
                return args.iter().for_each(|(_, v)| self.visit(v, at));
            }
            _ => {}
        }
        // `cache(f)`, `lru_cache(None)(f)`, `ct.kernel(**options)(f)`: a decorator by hand.
        if let Value::Call(inner, _) = callee {
            let wraps = inner
                .last()
                .is_some_and(|n| matches!(n.as_str(), "lru_cache" | "kernel"))
                || self
                    .aside(inner, at)
                    .iter()
                    .any(|t| matches!(t, Target::Path(p) if is_api(p, "kernel")));
            if wraps {
                return first.into_iter().for_each(|v| self.visit(v, at));
            }
        }
        for target in self.aside(callee, at) {
            match target {
                Target::Path(path) if is_api(&path, "kernel") || path == "functools.cache" => {
                    first.into_iter().for_each(|v| self.visit(v, at));
                }
                Target::Path(path) => {
                    self.push(Target::Called(path));
                    self.push(Target::Whole(at, whole));
                }
                Target::Def(def) if self.names.scope(def).kind == ScopeKind::Class => {
                    self.push(Target::Instance(def));
                    self.push(Target::Whole(at, whole));
                }
                Target::Def(def) => self.returned(def, args, at),
                _ => {}
            }
        }
    }

    /// What calling a function of this file gives: its returns, with parameters replaced.
    fn returned(&mut self, def: At, args: &'a [(Option<SmolStr>, Value)], at: At) {
        let scope = self.names.scope(def);
        let is_context = scope.def.as_ref().is_some_and(|d| {
            d.decorators
                .iter()
                .any(|d| d.value.last().is_some_and(|n| n == "contextmanager"))
        });
        // `with f() as k`: what a context manager yields.
        let yields: &[Value] = if is_context { &scope.yields } else { &[] };
        for value in scope.returns.iter().chain(yields) {
            for target in self.aside(value, def) {
                match target {
                    Target::Param(function, index) if function == def => {
                        let name = scope
                            .def
                            .as_ref()
                            .and_then(|d| d.params.get(index))
                            .map(|p| &p.name.name);
                        let by_name = args.iter().find(|(n, _)| n.is_some() && n.as_ref() == name);
                        let by_place = || args.iter().filter(|(n, _)| n.is_none()).nth(index);
                        if let Some((_, value)) = by_name.or_else(by_place) {
                            self.visit(value, at);
                        }
                    }
                    other => self.push(other),
                }
            }
        }
    }

    fn item(&mut self, base: &'a Value, place: Option<usize>, at: At) {
        for target in self.aside(base, at) {
            match target {
                Target::Whole(origin, Value::Seq(parts, _)) => {
                    match place.and_then(|i| parts.get(i)) {
                        Some(part) => self.visit(part, origin),
                        None => parts.iter().for_each(|v| self.visit(v, origin)),
                    }
                }
                Target::Whole(origin, Value::Map(values)) => {
                    values.iter().for_each(|v| self.visit(v, origin));
                }
                Target::Called(path) => self.push(Target::Called(path)),
                // An element of what callers pass: the parameter stands for it.
                Target::Param(function, index) => self.push(Target::Param(function, index)),
                _ => {}
            }
        }
        if let Some(name) = base.last() {
            self.stored(name);
        }
    }
}

/// Whether an absolute path is cuTile's `name`: `cuda.tile.launch`, `cuda.tile.tune.…`,
/// `cuda.tile_experimental.…`, or through a project's own `ct` module. Never `cuda.lang`.
pub(crate) fn is_api(path: &str, name: &str) -> bool {
    let Some(module) = path.strip_suffix(name).and_then(|p| p.strip_suffix('.')) else {
        return false;
    };
    module == "cuda.tile"
        || module.starts_with("cuda.tile.")
        || module.starts_with("cuda.tile_experimental")
        || (!module.starts_with("cuda.") && matches!(module.rsplit('.').next(), Some("ct")))
}
