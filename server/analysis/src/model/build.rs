//! From the items of a file to its model.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};
use tileperf_syntax::{Item, ItemFacts, ParsedFile, SiteKind, Span};

use super::names::{At, Caller, Names, Target, is_api};
use super::scan::{self, Call, CallArg, Scan, ScopeKind};
use super::spaces::{self, Found};
use super::value::Value;
use super::{
    Access, Candidate, Export, FileModel, Fingerprint, Hint, HintContext, HintUse, Kernel,
    KernelParam, Launch, LaunchApi, PassedKernel, Registration, Search, SearchApi, Space,
    SpaceKind, SpaceRef, fingerprint,
};

/// The scan of one item, opaque to others.
#[derive(Debug, Clone)]
pub struct ItemScan(Arc<Scan>);

/// Keeps the scans of a file's items from one edit to the next, by the identity of their facts.
#[derive(Debug, Default)]
pub struct ModelCache {
    scans: FxHashMap<usize, (Arc<ItemFacts>, ItemScan)>,
}

impl ModelCache {
    /// Scans of all items, those of unchanged items from before.
    fn scans(&mut self, file: &ParsedFile) -> Vec<ItemScan> {
        let mut next = FxHashMap::default();
        let out = file
            .all()
            .map(|item| {
                let key = Arc::as_ptr(&item.facts) as usize;
                let entry = self
                    .scans
                    .remove(&key)
                    .or_else(|| next.get(&key).cloned())
                    .unwrap_or_else(|| {
                        (
                            Arc::clone(&item.facts),
                            ItemScan(Arc::new(scan::scan(&item.facts))),
                        )
                    });
                let scan = entry.1.clone();
                next.insert(key, entry);
                scan
            })
            .collect();
        self.scans = next;
        out
    }
}

impl FileModel {
    /// Builds the model of a file. `package` is the dotted package that its relative imports start
    /// from (empty if unknown).
    pub fn build(
        file: &ParsedFile,
        text: &str,
        package: &str,
        cache: &mut ModelCache,
    ) -> FileModel {
        let scans = cache.scans(file);
        let names = Names::new(scans.iter().map(|s| &*s.0).collect(), package);
        let aliases = (names.scans.iter())
            .flat_map(|s| s.aliases.iter().map(SmolStr::as_str))
            .collect();
        let mut build = Build {
            items: file.all().collect(),
            text,
            names,
            aliases,
            kernels: FxHashMap::default(),
            spaces: FxHashMap::default(),
            out: FileModel::default(),
        };
        build.imports();
        build.find_kernels();
        build.find_calls();
        build.finish_registrations();
        build.exports();
        build.sort();
        build.out
    }
}

/// A kernel on its way into the model.
struct FoundKernel {
    at: At,
    /// The item of the decorator or of the call that wraps the function: it may be another one.
    item: usize,
    span: Span,
    keywords: Vec<(SmolStr, Span)>,
}

struct Build<'a> {
    items: Vec<&'a Item>,
    text: &'a str,
    names: Names<'a>,
    /// Names that the file itself gives to something; a call of one may be a call of anything.
    aliases: FxHashSet<&'a str>,
    /// Kernel number by definition.
    kernels: FxHashMap<At, usize>,
    spaces: FxHashMap<Found, usize>,
    out: FileModel,
}

impl<'a> Build<'a> {
    fn place(&self, item: usize, span: Span) -> Span {
        self.items[item].place(span)
    }

    fn source(&self, item: usize, span: Span) -> String {
        self.text
            .get(self.place(item, span).range())
            .unwrap_or("")
            .to_owned()
    }

    fn stale(&self, item: usize) -> bool {
        self.items[item].is_stale()
    }

    fn imports(&mut self) {
        for (name, binds) in self.names.module() {
            for (_, value) in binds {
                if let Value::Import(path) = value {
                    self.out.uses_cutile |=
                        path == "cuda.tile" || path.starts_with("cuda.tile.") || path == "cuda";
                    self.out.imports.insert(name.into(), path.clone());
                }
            }
        }
    }

    /// The dotted name of a scope, as Python's `__qualname__` gives it.
    fn qualified(&self, at: At) -> SmolStr {
        let mut parts: Vec<&str> = Vec::new();
        let mut scope = at.scope;
        while scope != 0 {
            let here = &self.names.scans[at.item].scopes[scope];
            if let Some(def) = &here.def {
                parts.push(&def.name.name);
                let parent = &self.names.scans[at.item].scopes[here.parent];
                if matches!(parent.kind, ScopeKind::Function | ScopeKind::Lambda) {
                    parts.push("<locals>");
                }
            }
            scope = here.parent;
        }
        parts.reverse();
        parts.join(".").into()
    }

    /// The function that holds a scope.
    fn function_of(&self, at: At) -> Option<At> {
        let mut scope = at.scope;
        while scope != 0 {
            let here = &self.names.scans[at.item].scopes[scope];
            if here.kind == ScopeKind::Function {
                return Some(At {
                    item: at.item,
                    scope,
                });
            }
            scope = here.parent;
        }
        None
    }

    fn find_kernels(&mut self) {
        let mut found: Vec<FoundKernel> = Vec::new();
        for (item, scan) in self.names.scans.iter().enumerate() {
            for (scope, here) in scan.scopes.iter().enumerate() {
                let Some(def) = &here.def else { continue };
                let outer = At {
                    item,
                    scope: here.parent,
                };
                for decorator in &def.decorators {
                    let callee = match &decorator.value {
                        // `@partial(ct.kernel, occupancy=2)`
                        Value::Call(callee, args)
                            if callee.last().is_some_and(|n| n == "partial") =>
                        {
                            args.first().map_or(&decorator.value, |(_, v)| v)
                        }
                        Value::Call(callee, _) => callee,
                        value => value,
                    };
                    if self.names.is_api(callee, outer, "kernel") {
                        found.push(FoundKernel {
                            at: At { item, scope },
                            item,
                            span: decorator.span,
                            keywords: decorator.keywords.clone(),
                        });
                        break;
                    }
                }
            }
        }
        // Functions wrapped by a call: `ct.kernel(f, occupancy=2)`, `ct.kernel(occupancy=2)(f)`.
        for (item, scan) in self.names.scans.iter().enumerate() {
            for call in scan.calls.iter().filter(|c| {
                self.is_candidate(c, SiteKind::Kernel) || matches!(c.callee, Value::Call(..))
            }) {
                let at = At {
                    item,
                    scope: call.scope,
                };
                let callee = match &call.callee {
                    Value::Call(inner, _) => inner,
                    callee => callee,
                };
                let Some(function) = call.args.iter().find(|a| a.name.is_none()) else {
                    continue;
                };
                if rewraps(&function.value) || !self.names.is_api(callee, at, "kernel") {
                    continue;
                }
                // In `ct.kernel(occupancy=2)(f)` the hints are the inner call's.
                let inner = matches!(call.callee, Value::Call(..)).then(|| {
                    let starts =
                        |c: &&Call| c.span.start == call.span.start && c.span.end < call.span.end;
                    scan.calls.iter().find(starts)
                });
                let keywords: Vec<_> = inner
                    .flatten()
                    .unwrap_or(call)
                    .args
                    .iter()
                    .filter_map(|a| Some((a.name.clone()?, a.span)))
                    .collect();
                for target in self.names.resolve_through_callers(&function.value, at) {
                    if let Target::Def(def) = target
                        && self.names.scope(def).kind == ScopeKind::Function
                        && !found.iter().any(|known| known.at == def)
                    {
                        found.push(FoundKernel {
                            at: def,
                            item,
                            span: call.span,
                            keywords: keywords.clone(),
                        });
                    }
                }
            }
        }
        found.sort_by_key(|k| {
            let def = self.names.scope(k.at).def.as_ref();
            def.map_or(0, |d| self.place(k.at.item, d.name.span).start)
        });
        let mut ordinals: FxHashMap<SmolStr, u32> = FxHashMap::default();
        for FoundKernel {
            at,
            item,
            span: decorator,
            keywords,
        } in found
        {
            let Some(def) = &self.names.scope(at).def else {
                continue;
            };
            let qualified = self.qualified(at);
            let ordinal = ordinals
                .entry(qualified.clone())
                .and_modify(|n| *n += 1)
                .or_insert(0);
            let kernel = Kernel {
                name: def.name.name.clone(),
                ordinal: *ordinal,
                name_span: self.place(at.item, def.name.span),
                span: self.place(at.item, def.span),
                decorator_span: self.place(item, decorator),
                top: self.place(
                    at.item,
                    def.decorators.first().map_or(
                        Span {
                            start: def.span.start,
                            end: def.span.start + 3,
                        },
                        |d| d.span,
                    ),
                ),
                hints: keywords
                    .into_iter()
                    .map(|(name, span)| Hint {
                        name,
                        text: self.source(item, span),
                        span: self.place(item, span),
                    })
                    .collect(),
                params: self.params(at),
                accesses: self.accesses(at),
                fingerprint: Fingerprint(self.fingerprint(at)),
                stale: self.stale(at.item),
                qualified,
            };
            self.kernels.insert(at, self.out.kernels.len());
            self.out.kernels.push(kernel);
        }
    }

    fn params(&self, at: At) -> Vec<KernelParam> {
        let scope = self.names.scope(at);
        let outer = At {
            item: at.item,
            scope: scope.parent,
        };
        let Some(def) = &scope.def else {
            return Vec::new();
        };
        def.params
            .iter()
            .map(|p| KernelParam {
                name: p.name.name.clone(),
                span: self.place(at.item, p.name.span),
                constant: p
                    .annotation_value
                    .as_ref()
                    .is_some_and(|v| self.is_constant(v, outer)),
                annotation: p.annotation.map(|s| self.source(at.item, s)),
            })
            .collect()
    }

    /// `ct.Constant`, `ct.Constant[int]`, a module's own alias of it, or a union's part.
    fn is_constant(&self, value: &'a Value, at: At) -> bool {
        if let Value::Text(text) = value {
            return text.contains("Constant");
        }
        let targets = match value {
            // `ConstInt = ct.Constant[int]`: the alias is a subscript.
            Value::Item(base, _) => self.names.resolve(base, at),
            value => {
                let mut targets = self.names.resolve(value, at);
                if let Value::Name(name) = value {
                    for (origin, value) in self.names.bound(name) {
                        if let Value::Item(base, _) = value {
                            targets.extend(self.names.resolve(base, *origin));
                        }
                    }
                }
                targets
            }
        };
        targets.iter().any(|t| match t {
            Target::Path(path) => {
                is_api(path, "Constant")
                    // A project's own alias, imported: `from .types import ConstInt`.
                    || path.rsplit('.').next().is_some_and(|n| n.starts_with("Const") && !path.starts_with("typing"))
            }
            _ => false,
        })
    }

    /// The accesses in a kernel's own body: calls of cuTile's functions, not of what only has such a
    /// name.
    fn accesses(&self, at: At) -> Vec<Access> {
        let scan = self.names.scans[at.item];
        let inside = |mut scope: usize| {
            while scope > at.scope {
                scope = scan.scopes[scope].parent;
            }
            scope == at.scope
        };
        let ours = |root: &SmolStr| {
            self.out.imports.get(root).is_none_or(|path| {
                path.starts_with("cuda.tile") || path == "cuda" || path.ends_with(".ct")
            })
        };
        scan.accesses
            .iter()
            .filter(|a| inside(a.scope) && ours(&a.root))
            .map(|a| Access {
                kind: a.kind,
                span: self.place(at.item, a.span),
            })
            .collect()
    }

    /// Of the kernel's code and that of every function of this file it calls.
    fn fingerprint(&self, at: At) -> u64 {
        let mut seen = vec![at];
        let mut parts = Vec::new();
        let mut next = 0;
        while let Some(&at) = seen.get(next) {
            next += 1;
            if let Some(def) = &self.names.scope(at).def {
                parts.push(def.fingerprint);
            }
            for call in &self.names.scans[at.item].calls {
                if call.scope != at.scope || !matches!(call.callee, Value::Name(_)) {
                    continue;
                }
                for target in self.names.resolve(&call.callee, at) {
                    if let Target::Def(def) = target
                        && !seen.contains(&def)
                    {
                        seen.push(def);
                    }
                }
            }
        }
        fingerprint::join(&parts)
    }

    /// Whether a call is worth resolving for what the queries call `kind`.
    fn is_candidate(&self, call: &Call, kind: SiteKind) -> bool {
        call.site == Some(kind) || self.is_aliased(call)
    }

    /// Whether a call's callee ends in a name that the file gave something itself.
    fn is_aliased(&self, call: &Call) -> bool {
        (call.callee.last()).is_some_and(|n| self.aliases.contains(n.as_str()))
    }

    fn find_calls(&mut self) {
        for item in 0..self.names.scans.len() {
            let scan = self.names.scans[item];
            for call in &scan.calls {
                let at = At {
                    item,
                    scope: call.scope,
                };
                if call.site.is_none() && !self.is_aliased(call) {
                    continue;
                }
                if self.is_candidate(call, SiteKind::Launch) {
                    self.launch(item, call, at);
                }
                if self.is_candidate(call, SiteKind::Search) {
                    self.search(item, call, at);
                }
                if self.is_candidate(call, SiteKind::Registration) {
                    self.registration(item, call, at);
                }
                if self.is_candidate(call, SiteKind::Hints)
                    || self.is_candidate(call, SiteKind::Kernel)
                {
                    self.hint_use(item, call, at);
                }
            }
        }
    }

    fn launch(&mut self, item: usize, call: &'a Call, at: At) {
        let paths = self.names.paths(&call.callee, at);
        let (api, place) = if paths.iter().any(|p| is_api(p, "launch")) {
            (LaunchApi::Launch, 2)
        } else if paths.iter().any(|p| is_api(p, "cutile_call")) {
            (LaunchApi::CutileCall, 1)
        } else {
            return;
        };
        let Some(kernel) = call.argument(Some(place), "kernel") else {
            return;
        };
        let launch = Launch {
            api,
            span: self.place(item, call.span),
            callee_span: self.place(item, call.callee_span),
            kernel_text: self.source(item, kernel.span),
            kernel_span: self.place(item, kernel.ident.unwrap_or(kernel.span)),
            candidates: self.candidates(&kernel.value, at),
            function: self
                .function_of(at)
                .map_or_else(SmolStr::default, |f| self.qualified(f)),
            stale: self.stale(item),
        };
        self.out.launches.push(launch);
    }

    fn search(&mut self, item: usize, call: &'a Call, at: At) {
        let paths = self.names.paths(&call.callee, at);
        let (api, space, kernel) = if paths.iter().any(|p| is_api(p, "exhaustive_search")) {
            (
                SearchApi::ExhaustiveSearch,
                call.argument(Some(0), "search_space"),
                call.argument(Some(3), "kernel"),
            )
        } else if paths.iter().any(|p| is_api(p, "autotune_launch")) {
            (
                SearchApi::AutotuneLaunch,
                call.argument(None, "search_space"),
                call.argument(Some(2), "kernel"),
            )
        } else {
            return;
        };
        let found = space.map_or_else(Vec::new, |s| spaces::follow(&self.names, &s.value, at));
        let spaces = found.into_iter().filter_map(|f| self.space(f)).collect();
        let whole = |b: &Self| b.place(item, call.span);
        let search = Search {
            api,
            span: whole(self),
            callee_span: self.place(item, call.callee_span),
            space_text: space.map_or_else(String::new, |s| self.source(item, s.span)),
            space_span: space.map_or_else(|| whole(self), |s| self.place(item, s.span)),
            space_ident: space.and_then(|s| s.ident).map(|s| self.place(item, s)),
            spaces,
            kernel_text: kernel.map_or_else(String::new, |k| self.source(item, k.span)),
            kernel_span: kernel.map_or_else(
                || whole(self),
                |k| self.place(item, k.ident.unwrap_or(k.span)),
            ),
            candidates: kernel.map_or_else(Vec::new, |k| self.candidates(&k.value, at)),
            function: self
                .function_of(at)
                .map_or_else(SmolStr::default, |f| self.qualified(f)),
            stale: self.stale(item),
        };
        self.out.searches.push(search);
    }

    /// Numbers a space of this file.
    fn space(&mut self, found: Found) -> Option<SpaceRef> {
        if let Found::Imported(path) = found {
            // Not a workspace's: `itertools.product(...)` written in the call.
            return (!path.starts_with("itertools.") && !path.starts_with("cuda."))
                .then_some(SpaceRef::Imported(path));
        }
        if let Some(&known) = self.spaces.get(&found) {
            return Some(SpaceRef::Local(known));
        }
        let space = match &found {
            Found::Function(at) => {
                let def = self.names.scope(*at).def.as_ref()?;
                if self.names.scope(*at).kind != ScopeKind::Function {
                    return None;
                }
                Space {
                    name: def.name.name.clone(),
                    name_span: self.place(at.item, def.name.span),
                    span: self.place(at.item, def.span),
                    kind: if def.is_generator {
                        SpaceKind::Generator
                    } else {
                        SpaceKind::Function
                    },
                    stale: self.stale(at.item),
                }
            }
            Found::List { item, span, name } => Space {
                name: name.clone(),
                name_span: self.place(*item, *span),
                span: self.place(*item, *span),
                kind: SpaceKind::List,
                stale: self.stale(*item),
            },
            Found::Imported(_) => return None,
        };
        self.out.spaces.push(space);
        self.spaces.insert(found, self.out.spaces.len() - 1);
        Some(SpaceRef::Local(self.out.spaces.len() - 1))
    }

    fn registration(&mut self, item: usize, call: &'a Call, at: At) {
        let paths = self.names.paths(&call.callee, at);
        let named = call.callee.last().is_some_and(|n| n == "register_impl");
        let imported = paths.iter().any(|p| p.ends_with(".register_impl"));
        if !(named || imported) || paths.iter().any(|p| p.starts_with("torch.")) {
            return;
        }
        let text = |arg: Option<&CallArg>| match arg.map(|a| &a.value) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let op = call
            .argument(Some(0), "name")
            .or_else(|| call.argument(None, "op"));
        let backend = call.argument(Some(1), "backend");
        // The definition that it decorates, or the call that it is the callee of.
        let scan = self.names.scans[item];
        let decorated = scan.scopes.iter().find_map(|s| {
            let def = s.def.as_ref()?;
            def.decorators
                .iter()
                .any(|d| d.span == call.span)
                .then_some((def.name.name.clone(), def.name.span))
        });
        let applied = || {
            scan.calls.iter().find_map(|outer| {
                let inside = matches!(outer.callee, Value::Call(..))
                    && outer.span.start == call.span.start
                    && outer.span != call.span;
                let arg = outer.args.first().filter(|_| inside)?;
                Some((arg.value.last()?.clone(), arg.ident.unwrap_or(arg.span)))
            })
        };
        let function = decorated.or_else(applied);
        let registration = Registration {
            span: self.place(item, call.span),
            op_span: self.place(item, op.map_or(call.callee_span, |a| a.span)),
            op: text(op),
            backend: text(backend),
            function_span: self.place(
                item,
                function.as_ref().map_or(call.callee_span, |(_, s)| *s),
            ),
            function: function.map(|(name, _)| name),
            kernels: Vec::new(),
            stale: self.stale(item),
        };
        self.out.registrations.push(registration);
    }

    fn hint_use(&mut self, item: usize, call: &'a Call, at: At) {
        let (kernel, cached) = match &call.callee {
            Value::Attr(base, name) if name == "replace_hints" => (Some(&**base), false),
            callee
                if callee.last().is_some_and(|n| n == "cached_replace_hints")
                    || self
                        .names
                        .paths(callee, at)
                        .iter()
                        .any(|p| p.ends_with(".cached_replace_hints")) =>
            {
                (call.args.first().map(|a| &a.value), true)
            }
            callee => {
                let first = call
                    .args
                    .iter()
                    .find(|a| a.name.is_none())
                    .map(|a| &a.value);
                let rewrap = first.is_some_and(rewraps) && self.names.is_api(callee, at, "kernel");
                (first.filter(|_| rewrap), false)
            }
        };
        let Some(kernel) = kernel else { return };
        let (span, ident) = match &call.callee {
            // The text before `.replace_hints`.
            Value::Attr(_, name) if name == "replace_hints" => {
                let end = call.callee_span.start;
                let base = Span {
                    start: call.span.start,
                    end,
                };
                let absolute = self.place(item, base);
                let text = self.text.get(absolute.range()).unwrap_or("");
                let trimmed = text.trim_end().trim_end_matches('.').trim_end();
                let span = Span::new(
                    absolute.start as usize,
                    absolute.start as usize + trimmed.len(),
                );
                let tail = last_word(trimmed);
                (
                    span,
                    Span::new(span.start as usize + tail, span.end as usize),
                )
            }
            _ => {
                let arg = &call.args[0];
                let mut span = self.place(item, arg.span);
                let mut ident = self.place(item, arg.ident.unwrap_or(arg.span));
                // `k._pyfunc` names the kernel `k`.
                let text = self.text.get(span.range()).unwrap_or("");
                if let Some(base) = text.strip_suffix("._pyfunc") {
                    span.end = span.start + base.len() as u32;
                    ident = Span {
                        start: span.start + last_word(base) as u32,
                        end: span.end,
                    };
                }
                (span, ident)
            }
        };
        let use_ = HintUse {
            span: self.place(item, call.span),
            callee_span: self.place(item, call.callee_span),
            kernel_text: self.text.get(span.range()).unwrap_or("").to_owned(),
            kernel_span: ident,
            candidates: self.candidates(kernel, at),
            context: if cached {
                HintContext::Cached
            } else {
                self.context(item, call, 0)
            },
            stale: self.stale(item),
        };
        self.out.hint_uses.push(use_);
    }

    /// When a call runs: see [`HintContext`].
    fn context(&self, item: usize, call: &Call, depth: u32) -> HintContext {
        let Some(function) = self.function_of(At {
            item,
            scope: call.scope,
        }) else {
            return HintContext::Module;
        };
        let mut scope = function.scope;
        while scope != 0 {
            let here = &self.names.scans[item].scopes[scope];
            let memoised = here.def.as_ref().is_some_and(|d| {
                d.decorators.iter().any(|d| {
                    let value = if let Value::Call(callee, _) = &d.value {
                        callee
                    } else {
                        &d.value
                    };
                    value.last().is_some_and(|n| {
                        n == "cache"
                            || n.ends_with("lru_cache")
                            || n.contains("memoize")
                            || n == "cached_property"
                            || n == "cached"
                    })
                })
            });
            if memoised {
                return HintContext::Cached;
            }
            scope = here.parent;
        }
        if call.guarded {
            return HintContext::Guarded;
        }
        let callers = self.names.callers(function);
        let guarded = |caller: &Caller| {
            caller.at != At::new(item, call.scope)
                && depth < 4
                && matches!(
                    self.context(caller.at.item, caller.call, depth + 1),
                    HintContext::Guarded | HintContext::Cached
                )
        };
        if !callers.is_empty() && callers.iter().all(guarded) {
            HintContext::Guarded
        } else {
            HintContext::Hot
        }
    }

    fn candidates(&self, value: &'a Value, at: At) -> Vec<Candidate> {
        let targets = self.names.resolve_through_callers(value, at);
        self.as_candidates(&targets)
    }

    fn as_candidates(&self, targets: &[Target<'a>]) -> Vec<Candidate> {
        let mut out = Vec::new();
        let mut push = |c: Candidate| {
            if !out.contains(&c) {
                out.push(c);
            }
        };
        for target in targets {
            match target {
                Target::Def(at) => {
                    if let Some(&kernel) = self.kernels.get(at) {
                        push(Candidate::Local(kernel));
                    }
                }
                Target::Path(path) if !path.starts_with("cuda.") => {
                    push(Candidate::Imported(path.clone()))
                }
                Target::Called(path) if !path.starts_with("cuda.") => {
                    push(Candidate::Returned(path.clone()))
                }
                Target::Param(at, index) => {
                    let scope = self.names.scope(*at);
                    let Some(def) = &scope.def else { continue };
                    let Some(param) = def.params.get(*index) else {
                        continue;
                    };
                    let in_class =
                        self.names.scans[at.item].scopes[scope.parent].kind == ScopeKind::Class;
                    push(Candidate::Param {
                        function: self.qualified(*at),
                        name: param.name.name.clone(),
                        place: index - usize::from(in_class && !def.is_static && *index > 0),
                    });
                }
                _ => {}
            }
        }
        out
    }

    /// Follows each registered function to the kernels it launches, through calls in this file.
    fn finish_registrations(&mut self) {
        let mut launched: FxHashMap<SmolStr, Vec<Candidate>> = FxHashMap::default();
        for launch in &self.out.launches {
            launched
                .entry(launch.function.clone())
                .or_default()
                .extend(launch.candidates.iter().cloned());
        }
        let by_name: FxHashMap<SmolStr, At> = self
            .names
            .module()
            .flat_map(|(name, binds)| {
                binds.iter().filter_map(move |(origin, value)| match value {
                    Value::Def(scope) => Some((
                        SmolStr::new(name),
                        At {
                            item: origin.item,
                            scope: *scope,
                        },
                    )),
                    _ => None,
                })
            })
            .collect();
        // Registered functions share most of what they call.
        let mut called: FxHashMap<At, Vec<At>> = FxHashMap::default();
        for i in 0..self.out.registrations.len() {
            let Some(&start) = self.out.registrations[i]
                .function
                .as_ref()
                .and_then(|f| by_name.get(f))
            else {
                continue;
            };
            let mut seen = vec![start];
            let mut kernels: Vec<Candidate> = Vec::new();
            let mut next = 0;
            while let Some(&at) = seen.get(next) {
                next += 1;
                for candidate in launched.get(&self.qualified(at)).into_iter().flatten() {
                    if !kernels.contains(candidate) {
                        kernels.push(candidate.clone());
                    }
                }
                let called = called.entry(at);
                for &function in called.or_insert_with(|| self.called_functions(at)).iter() {
                    if !seen.contains(&function) && seen.len() < 200 {
                        seen.push(function);
                    }
                }
            }
            self.out.registrations[i].kernels = kernels;
        }
    }

    /// Functions of this file that a function calls, itself or in functions nested in it.
    fn called_functions(&self, at: At) -> Vec<At> {
        let scan = self.names.scans[at.item];
        let within = |mut scope: usize| {
            while scope != 0 && scope != at.scope {
                scope = scan.scopes[scope].parent;
            }
            scope == at.scope
        };
        let mut out = Vec::new();
        for call in scan.calls.iter().filter(|c| within(c.scope)) {
            let from = At {
                item: at.item,
                scope: call.scope,
            };
            let callee = match &call.callee {
                // `Function.apply(...)` runs its `forward`.
                Value::Attr(base, name) if name == "apply" => base,
                callee => callee,
            };
            for target in self.names.resolve(callee, from) {
                let Target::Def(def) = target else { continue };
                if self.names.scope(def).kind == ScopeKind::Class {
                    // Constructing or applying: any method may launch.
                    let methods =
                        self.names
                            .scope(def)
                            .binds
                            .iter()
                            .filter_map(|b| match b.value {
                                Value::Def(scope) => Some(At {
                                    item: def.item,
                                    scope,
                                }),
                                _ => None,
                            });
                    out.extend(methods);
                } else {
                    out.push(def);
                }
            }
        }
        out
    }

    fn exports(&mut self) {
        let mut exports: FxHashMap<SmolStr, Export> = FxHashMap::default();
        let mut kernel_names: FxHashSet<&str> = FxHashSet::default();
        for (name, binds) in self.names.module() {
            let mut export = Export::default();
            for (origin, value) in binds {
                let targets = match value {
                    // Plain data cannot be a kernel.
                    Value::Other
                    | Value::Text(_)
                    | Value::Nothing
                    | Value::Seq(..)
                    | Value::Map(_) => Vec::new(),
                    Value::Import(_) => self.names.resolve(value, *origin),
                    value => self.names.resolve_through_callers(value, *origin),
                };
                export.kernels.extend(self.as_candidates(&targets));
                for target in &targets {
                    let Target::Def(at) = target else { continue };
                    let scope = self.names.scope(*at);
                    let Some(def) = scope
                        .def
                        .as_ref()
                        .filter(|_| scope.kind == ScopeKind::Function)
                    else {
                        continue;
                    };
                    export.function = Some((
                        self.place(at.item, def.name.span),
                        self.place(at.item, def.span),
                    ));
                    export.space = self.spaces.get(&Found::Function(*at)).copied();
                    for value in &scope.returns {
                        if !matches!(value, Value::Other | Value::Text(_) | Value::Nothing) {
                            export.returns.extend(self.candidates(value, *at));
                        }
                    }
                }
            }
            if export.kernels.iter().any(|c| {
                matches!(c, Candidate::Local(_))
                    || matches!(c, Candidate::Imported(p) if p.contains("kernel"))
            }) {
                kernel_names.insert(name);
            }
            if export != Export::default() {
                exports.insert(name.into(), export);
            }
        }
        self.out.exports = exports;
        for (item, scan) in self.names.scans.iter().enumerate() {
            for call in &scan.calls {
                let at = At {
                    item,
                    scope: call.scope,
                };
                for (place, arg) in call.args.iter().enumerate() {
                    if !matches!(&arg.value, Value::Name(n) if kernel_names.contains(n.as_str())) {
                        continue;
                    }
                    for path in self.names.paths(&call.callee, at) {
                        if !path.starts_with("cuda.") {
                            let kernels = self.candidates(&arg.value, at);
                            self.out.passed.push(PassedKernel {
                                callee: path,
                                keyword: arg.name.clone(),
                                place,
                                kernels,
                            });
                        }
                    }
                }
            }
        }
    }

    fn sort(&mut self) {
        self.out.launches.sort_by_key(|x| x.span.start);
        self.out.registrations.sort_by_key(|x| x.span.start);
        self.out.searches.sort_by_key(|x| x.span.start);
        self.out.hint_uses.sort_by_key(|x| x.span.start);
    }
}

/// Where the identifier at the end of a text starts.
fn last_word(text: &str) -> usize {
    text.rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
        .map_or(0, |i| i + 1)
}

/// `f._pyfunc`: the Python function of a kernel, to be wrapped again.
fn rewraps(value: &Value) -> bool {
    matches!(value, Value::Attr(_, name) if name == "_pyfunc")
}

/// A name for messages: the kernel's own, with its place when there are several.
impl Kernel {
    /// `name`, or `name (2nd definition)` for a later one.
    pub fn title(&self) -> SmolStr {
        match self.ordinal {
            0 => self.name.clone(),
            n => format_smolstr!("{} (definition {})", self.name, n + 1),
        }
    }
}
