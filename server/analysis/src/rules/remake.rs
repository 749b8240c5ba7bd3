//! How a launcher is changed so that it remakes its kernel once: the fixes of `replace-hints-hot-path`.
//!
//! From the best to the last resort: hints that never change are applied when the module is
//! imported; a kernel tuned by a search moves beside its configuration in the search's cache; any
//! other is kept in a dictionary by its hints, which serves the path without tuning as well.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use tileperf_syntax::{Item, Span};

use super::FileContext;
use super::searches::names;
use crate::body::{bindings, walk};
use crate::model::{Candidate, HintUse};
use crate::rewrite::autotune::{fresh, module_lines, once};
use crate::rewrite::{Edits, indent, line_start};

/// A change and what it does.
pub(super) struct Remade<'t> {
    pub(super) title: &'static str,
    pub(super) edits: Edits<'t>,
}

/// A call that remakes a kernel, and the code around it. Places are relative to the item.
struct Site<'a> {
    file: FileContext<'a>,
    hints: &'a HintUse,
    item: &'a Item,
    call: &'a Expr,
    /// Functions around it, innermost first.
    around: Vec<&'a FunctionDef>,
    /// The simple statement that holds it.
    stmt: &'a Stmt,
    /// The hints.
    args: &'a [Arg],
}

/// The change that makes a kernel be remade once.
pub(super) fn once_only<'a>(file: &FileContext<'a>, hints: &'a HintUse) -> Option<Remade<'a>> {
    let site = Site::of(file, hints)?;
    if site.is_nested() {
        return None;
    }
    let remade = (site.at_import())
        .map(|edits| Remade {
            title: "Remake the kernel once, when the module is imported",
            edits,
        })
        .or_else(|| {
            site.beside_configuration().map(|edits| Remade {
                title: "Keep the tuned kernel beside its configuration",
                edits,
            })
        });
    remade.or_else(|| {
        site.by_hints().map(|edits| Remade {
            title: "Keep the remade kernel by its hints",
            edits,
        })
    })
}

/// Whether a call gives any hint at all: `ct.kernel(k._pyfunc)` makes a copy with the same.
pub(super) fn changes_hints(file: &FileContext<'_>, hints: &HintUse) -> bool {
    let call = file.expr(hints.span).map(|c| &c.node.kind);
    !matches!(call, Some(ExprKind::Call { args, .. }) if args.iter().all(|a| a.name.is_none() && a.stars != 2))
}

impl<'a> Site<'a> {
    fn of(file: &FileContext<'a>, hints: &'a HintUse) -> Option<Self> {
        let call = file.expr(hints.span)?;
        let ExprKind::Call { func, args } = &call.node.kind else {
            return None;
        };
        let is_method = func.last_ident().is_some_and(|i| i.name == "replace_hints");
        // `ct.kernel(k._pyfunc, occupancy=4)`
        let args = if is_method { args } else { args.get(1..)? };
        let around: Vec<_> = (file.functions_around(hints.span).into_iter())
            .map(|f| f.node)
            .collect();
        let mut stmt = None;
        walk(&around.first()?.body, &mut |expr, place| {
            if expr.span == call.node.span {
                stmt = place.stmt();
            }
        });
        let site = Site {
            file: *file,
            hints,
            item: call.item,
            call: call.node,
            around,
            stmt: stmt?,
            args,
        };
        site.is_plain().then_some(site)
    }

    /// The call runs whenever its statement does, and the statement has its lines to itself.
    fn is_plain(&self) -> bool {
        let simple = matches!(
            self.stmt.kind,
            StmtKind::Assign { .. }
                | StmtKind::AnnAssign { .. }
                | StmtKind::Return(_)
                | StmtKind::Expr(_)
        );
        let start = self.place(self.stmt.span).start;
        let line = line_start(self.file.text, start);
        let before = self.file.text.get(line as usize..start as usize);
        let mut plain = simple && before.is_some_and(|b| b.trim().is_empty());
        self.stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| {
                let deferred = matches!(
                    e.kind,
                    ExprKind::Lambda { .. }
                        | ExprKind::Comprehension { .. }
                        | ExprKind::Conditional { .. }
                        | ExprKind::Logical { .. }
                );
                plain &= !(deferred && e.span.contains(self.call.span));
            });
        });
        plain
    }

    fn place(&self, span: Span) -> Span {
        self.item.place(span)
    }

    fn source(&self, span: Span) -> &'a str {
        self.file.source(self.place(span))
    }

    /// The kernel as written.
    fn kernel(&self) -> &'a str {
        &self.hints.kernel_text
    }

    /// The kernel's own name, for names made from it.
    fn stem(&self) -> &'a str {
        let last = self.kernel().rsplit('.').next().unwrap_or_default();
        let is_name = last.chars().all(|c| c.is_alphanumeric() || c == '_');
        let stem = if is_name { last } else { "kernel" };
        stem.trim_start_matches('_')
    }

    /// Whether the functions around bind a name.
    fn is_local(&self, name: &str) -> bool {
        self.around.iter().any(|def| {
            let mut bound = def.params.iter().any(|p| p.name.name == name);
            bindings(&def.body, name, &mut |_| bound = true);
            bound
        })
    }

    fn root(&self) -> &'a str {
        let text = self.kernel();
        text.split(['.', '(', '[']).next().unwrap_or(text).trim()
    }

    /// The kernel is defined within the functions around: another one at each call.
    fn is_nested(&self) -> bool {
        self.hints.candidates.iter().any(|c| match c {
            Candidate::Local(number) => (self.file.model.kernels.get(*number))
                .is_some_and(|k| k.qualified.contains("<locals>")),
            _ => false,
        })
    }

    /// The kernel is a name of the module, not of a function.
    fn is_of_module(&self) -> bool {
        let root = self.root();
        !matches!(root, "self" | "cls") && !self.is_local(root)
    }

    /// What the module's top-level statements bind before this item begins.
    fn is_known_before(&self, name: &str) -> bool {
        let module = self.file.module;
        if module.imports.contains_key(name) {
            return true;
        }
        let start = self.item.span.start;
        let before = self.file.file.items.iter().filter(|i| i.span.start < start);
        let mut bound = false;
        for item in before {
            bindings(&item.facts.body, name, &mut |_| bound = true);
        }
        bound
    }

    /// Hints that never change: the module keeps the kernel under a name of its own.
    fn at_import(&self) -> Option<Edits<'a>> {
        let constant = |value: &Expr| {
            names(value)
                .iter()
                .all(|n| !self.is_local(n) && self.is_fixed(n) && self.is_known_before(n))
                && !calls_other(value, &self.file)
        };
        let fixed = !self.args.is_empty()
            && self.args.iter().all(|a| a.stars == 0 && constant(&a.value))
            && self.is_of_module()
            && self.is_known_before(self.root());
        if !fixed {
            return None;
        }
        let name = fresh(self.file.text, &self.named_after_hints());
        let start = self.place(self.stmt.span).start;
        let indent = format!("\n{}", indent(self.file.text, start));
        let text = self.source(self.call.span).replace(&indent, "\n");
        let edits = Edits::new(self.file.text).replace(self.place(self.call.span), name.as_str());
        let line = format!("{name} = {text}");
        Some(module_lines(
            edits,
            self.file.text,
            self.item.span.start,
            &[line],
        ))
    }

    /// A name that is imported or a constant of the module.
    fn is_fixed(&self, name: &str) -> bool {
        let module = self.file.module;
        module.imports.contains_key(name) || module.constants.contains_key(name)
    }

    /// `_scale_occupancy4` for one number, else `_scale_tuned`.
    fn named_after_hints(&self) -> String {
        if let [
            Arg {
                name: Some(hint),
                value,
                ..
            },
        ] = self.args
            && let ExprKind::Int(number) = value.kind
            && number >= 0
        {
            return format!("_{}_{}{number}", self.stem(), hint.name);
        }
        format!("_{}_tuned", self.stem())
    }

    /// A dictionary of the module keeps the kernel by its hints.
    fn by_hints(&self) -> Option<Edits<'a>> {
        let mut parts: Vec<String> = Vec::new();
        if !self.is_of_module() {
            parts.push(self.kernel().to_owned());
        }
        for arg in self.args {
            self.key_parts(arg, &mut parts)?;
        }
        parts.dedup();
        let key = match parts.as_slice() {
            [] => return None,
            [one] => one.clone(),
            _ => format!("({})", parts.join(", ")),
        };
        let text = self.file.text;
        let cache = fresh(text, &format!("_{}_by_hints", self.stem()));
        let mut lines = Vec::new();
        // A long key is written once.
        let key = if parts.len() > 1 || key.contains('(') {
            let name = fresh(text, "hints_key");
            lines.push(format!("{name} = {key}"));
            name
        } else {
            key
        };
        // What stands on further lines moves with the first.
        let margin = format!("\n{}", indent(text, self.place(self.stmt.span).start));
        let remade = (self.source(self.call.span)).replace(&margin, &format!("{margin}    "));
        lines.extend(once(&cache, &key, &remade));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let edits = Edits::new(text)
            .lines_before(self.place(self.stmt.span).start, &lines)
            .replace(self.place(self.call.span), format!("{cache}[{key}]"));
        let dict = format!("{cache} = {{}}");
        Some(module_lines(edits, text, self.item.span.start, &[dict]))
    }

    /// What a hint's value depends on, hashable.
    fn key_parts(&self, arg: &Arg, parts: &mut Vec<String>) -> Option<()> {
        let text = self.source(arg.value.span).to_owned();
        match &arg.value.kind {
            _ if arg.stars == 2 => match &arg.value.kind {
                ExprKind::Dict(pairs) => {
                    for (key, value) in pairs {
                        key.as_ref()?;
                        if !is_literal(value) {
                            parts.push(self.source(value.span).to_owned());
                        }
                    }
                }
                _ => parts.push(format!("tuple(sorted({text}.items()))")),
            },
            _ if arg.stars > 0 => return None,
            // `ByTarget` is not hashable.
            ExprKind::Call { func, args }
                if func.last_ident().is_some_and(|i| i.name == "ByTarget") =>
            {
                for arg in args {
                    if arg.stars > 0 {
                        return None;
                    }
                    if !is_literal(&arg.value) {
                        parts.push(self.source(arg.value.span).to_owned());
                    }
                }
            }
            _ if is_literal(&arg.value) => {}
            _ => parts.push(text),
        }
        Some(())
    }

    /// The search's cache keeps the kernel with the configuration.
    fn beside_configuration(&self) -> Option<Edits<'a>> {
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
            return Some(edits.delete_lines(self.lines_of(self.stmt)));
        }
        let tuned = fresh(text, "tuned_kernel");
        let edits = edits.replace(target, format!("{config}, {tuned}"));
        Some(edits.replace(self.place(self.call.span), tuned))
    }

    fn lines_of(&self, stmt: &Stmt) -> Span {
        self.place(stmt.span)
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

fn is_literal(value: &Expr) -> bool {
    matches!(
        value.kind,
        ExprKind::Int(_)
            | ExprKind::Str(_)
            | ExprKind::None
            | ExprKind::Bool(_)
            | ExprKind::Float(_)
    )
}

/// Whether an expression calls anything but `ByTarget`.
fn calls_other(value: &Expr, file: &FileContext<'_>) -> bool {
    let mut other = false;
    value.walk(&mut |e| {
        if let ExprKind::Call { func, .. } = &e.kind {
            other |= file.module.api(func).is_none_or(|n| n != "ByTarget");
        }
    });
    other
}
