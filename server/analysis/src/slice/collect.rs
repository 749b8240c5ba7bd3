//! Finding what a kernel needs: from name to statement to name, through the modules of the
//! workspace, until nothing new turns up.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{ImportName, StmtKind};

use super::imports::{Edge, joined};
use super::module::{Module, Placed, imported_as, is_definition};
use super::nested::{self, Origin, Scope};
use super::pure::Purity;
use super::{Runs, Unsliceable, Workspace, names};
use crate::eval::{ModuleId, bare_bindings};
use crate::model::Kernel;

/// Re-exports followed for one name.
const MAX_HOPS: u32 = 12;

/// What is needed of one module.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) names: FxHashSet<SmolStr>,
    /// `from x import *` through which names come.
    pub(super) stars: FxHashSet<Span>,
}

/// What a kernel needs.
pub(super) struct Collected<'w> {
    pub(super) workspace: &'w dyn Workspace,
    /// From the top of the file to the kernel's definition.
    pub(super) chain: Vec<Placed<'w>>,
    /// The functions among them.
    pub(super) scopes: Vec<Scope<'w>>,
    pub(super) captured: FxHashSet<SmolStr>,
    /// Modules in the order in which they were needed.
    pub(super) order: Vec<ModuleId>,
    pub(super) parts: FxHashMap<ModuleId, Part>,
    pub(super) edges: Vec<Edge>,
    pub(super) runs: Vec<Runs>,
    /// The name at the top that is the kernel, if the definition's is not.
    pub(super) wrapped_as: Option<SmolStr>,
    modules: FxHashMap<ModuleId, Rc<Module<'w>>>,
    seen: FxHashSet<(ModuleId, SmolStr)>,
    todo: Vec<(ModuleId, SmolStr)>,
    broken: Option<Unsliceable>,
}

pub(super) fn collect<'w>(
    workspace: &'w dyn Workspace,
    module: ModuleId,
    kernel: &Kernel,
) -> Result<Collected<'w>, Unsliceable> {
    let source = workspace.source(module).ok_or(Unsliceable::Gone)?;
    let index = Rc::new(Module::new(source.file));
    let chain = nested::chain(&index, kernel.span).ok_or(Unsliceable::Gone)?;
    if chain
        .iter()
        .any(|s| matches!(s.stmt.kind, StmtKind::Match { .. }))
    {
        return Err(Unsliceable::Within("a `match` statement"));
    }
    let definition = *chain.last().ok_or(Unsliceable::Gone)?;
    let mut collected = Collected {
        workspace,
        scopes: nested::scopes(&chain),
        chain,
        captured: FxHashSet::default(),
        order: vec![module],
        parts: FxHashMap::from_iter([(module, Part::default())]),
        edges: Vec::new(),
        runs: Vec::new(),
        wrapped_as: wrapping_name(&index, kernel),
        modules: FxHashMap::from_iter([(module, index)]),
        seen: FxHashSet::default(),
        todo: Vec::new(),
        broken: None,
    };
    collected.uses(module, definition, collected.scopes.len());
    if let Some(name) = collected.wrapped_as.clone() {
        collected.need(module, name);
    }
    while let Some((module, path)) = collected.todo.pop() {
        collected.follow(module, &path);
    }
    match collected.broken {
        Some(broken) => Err(broken),
        None => Ok(collected),
    }
}

/// `fast = ct.kernel(occupancy=2)(plain)` at the top of the file: the kernel is `fast`.
fn wrapping_name(module: &Module<'_>, kernel: &Kernel) -> Option<SmolStr> {
    if kernel.span.contains(kernel.decorator_span) || kernel.decorator_span.end <= kernel.span.start
    {
        return None;
    }
    let mut tops = module.tops.iter();
    let top = tops.find(|top| top.span().contains(kernel.decorator_span))?;
    match &top.stmt.kind {
        StmtKind::Assign { targets, .. } => targets.first()?.name().cloned(),
        _ => None,
    }
}

impl<'w> Collected<'w> {
    pub(super) fn module(&mut self, id: ModuleId) -> Rc<Module<'w>> {
        if let Some(known) = self.modules.get(&id) {
            return Rc::clone(known);
        }
        let source = self.workspace.source(id);
        let module = Rc::new(source.map_or_else(Module::default, |s| Module::new(s.file)));
        self.modules.insert(id, Rc::clone(&module));
        module
    }

    fn need(&mut self, module: ModuleId, path: SmolStr) {
        if self.seen.insert((module, path.clone())) {
            self.todo.push((module, path));
        }
    }

    /// A statement is needed: so are its names. `depth` is the number of functions around it whose
    /// names it sees.
    fn uses(&mut self, module: ModuleId, placed: Placed<'w>, depth: usize) {
        self.executes(module, placed);
        for path in names::of_stmt(placed.stmt) {
            self.mention(module, path, depth);
        }
    }

    /// Takes down what a statement runs.
    fn executes(&mut self, module: ModuleId, placed: Placed<'w>) {
        if let Some(span) = self.module(module).broken_at(placed.span()) {
            self.broken
                .get_or_insert(Unsliceable::Broken { module, span });
        }
        for found in Purity::new(self).runs(module, placed) {
            // Two names may need one statement.
            if !self.runs.contains(&found) {
                self.runs.push(found);
            }
        }
    }

    fn mention(&mut self, module: ModuleId, path: SmolStr, depth: usize) {
        let root = names::root(&path);
        for at in (0..depth).rev() {
            let Some(scope) = self.scopes.get(at) else {
                continue;
            };
            let local = |name: &str| self.scopes.iter().any(|s| s.binds(name));
            match scope.origin(root, &local) {
                Origin::Elsewhere => {}
                Origin::Argument => {
                    self.captured.insert(root.into());
                    return;
                }
                Origin::Statements(stmts) => {
                    if self.scopes[at].kept.insert(root.into()) {
                        self.local(module, root, &stmts, at + 1);
                    }
                    return;
                }
            }
        }
        self.need(module, path);
    }

    /// Statements of a function around the kernel are needed for a name.
    fn local(
        &mut self,
        module: ModuleId,
        name: &str,
        stmts: &[&'w tileperf_syntax::ast::Stmt],
        depth: usize,
    ) {
        let base = self.chain.first().map_or(0, |top| top.base);
        for stmt in stmts {
            let placed = Placed { stmt, base };
            self.executes(module, placed);
            if !self.import(module, placed, name, "") {
                for path in names::of_stmt(stmt) {
                    self.mention(module, path, depth);
                }
            }
        }
    }

    /// Finds what decides a name at the top of a module.
    fn follow(&mut self, module: ModuleId, path: &str) {
        let (root, rest) = path.split_once('.').unwrap_or((path, ""));
        let index = self.module(module);
        if !index.binds(root) {
            self.through_stars(module, &index, root, path);
            return;
        }
        self.part(module).names.insert(root.into());
        for top in index.deciding(root) {
            self.decide(module, &index, top, root, rest);
        }
    }

    fn part(&mut self, module: ModuleId) -> &mut Part {
        if !self.parts.contains_key(&module) {
            self.order.push(module);
        }
        self.parts.entry(module).or_default()
    }

    /// A statement that binds or changes a name, or has one within.
    fn decide(
        &mut self,
        module: ModuleId,
        index: &Module<'w>,
        placed: Placed<'w>,
        root: &str,
        rest: &str,
    ) {
        if self.import(module, placed, root, rest) {
            return;
        }
        let stmt = placed.stmt;
        let blocks = stmt.blocks();
        if is_definition(stmt) || blocks.is_empty() || !super::render::is_split(stmt) {
            self.uses(module, placed, 0);
            return;
        }
        for path in names::of_header(stmt) {
            self.need(module, path);
        }
        self.executes(module, placed);
        for block in blocks {
            for inner in placed.block(block) {
                if touches(inner, root, index.owns(root)) {
                    self.decide(module, index, inner, root, rest);
                }
            }
        }
    }

    /// If a statement is an import: what it brings under a name is needed, or `rest` of it.
    fn import(&mut self, module: ModuleId, placed: Placed<'w>, root: &str, rest: &str) -> bool {
        match &placed.stmt.kind {
            StmtKind::Import(names) => {
                for name in names.iter().filter(|n| imported_as(n, false) == root) {
                    let path = match &name.alias {
                        Some(_) => joined(&name.name.name, rest),
                        None => joined(root, rest),
                    };
                    self.import_path(module, &name.name.name, &path);
                }
                true
            }
            StmtKind::ImportFrom {
                module: from,
                level,
                names,
                ..
            } => {
                for name in names.iter().filter(|n| imported_as(n, true) == root) {
                    self.import_name(module, *level, from, name, rest);
                }
                true
            }
            _ => false,
        }
    }

    /// `import a.b` and then `a.b.c.d`: the longest module that the path names, and what of it.
    fn import_path(&mut self, module: ModuleId, imported: &str, path: &str) {
        // The statement itself executes what it names, used or not.
        if let Some(found) = self.workspace.import(module, 0, imported) {
            self.enter(module, 0, imported, found);
        }
        let mut end = path.len();
        loop {
            let (dotted, rest) = path.split_at(end);
            if let Some(found) = self.workspace.import(module, 0, dotted) {
                self.enter(module, 0, dotted, found);
                let rest = rest.trim_start_matches('.');
                if !rest.is_empty() {
                    self.need(found, rest.into());
                }
                return;
            }
            match dotted.rfind('.') {
                Some(dot) => end = dot,
                None => return,
            }
        }
    }

    /// `from a import b`: a name of `a`, or its submodule.
    fn import_name(
        &mut self,
        module: ModuleId,
        level: u32,
        from: &str,
        name: &ImportName,
        rest: &str,
    ) {
        let name = &name.name.name;
        let package = self.workspace.import(module, level, from);
        if let Some(found) = package.filter(|found| self.gives(*found, name, MAX_HOPS)) {
            self.enter(module, level, from, found);
            self.need(found, joined(name, rest));
            return;
        }
        let below = joined(from, name);
        if let Some(found) = self.workspace.import(module, level, &below) {
            self.enter(module, level, &below, found);
            if !rest.is_empty() {
                self.need(found, rest.into());
            }
        }
    }

    /// Notes that a module is imported.
    fn enter(&mut self, from: ModuleId, level: u32, dotted: &str, to: ModuleId) {
        self.part(to);
        let edge = Edge {
            from,
            level,
            dotted: dotted.into(),
            to,
        };
        if !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }

    /// Whether a module has a name, itself or through `import *`.
    pub(super) fn gives(&mut self, module: ModuleId, name: &str, hops: u32) -> bool {
        let index = self.module(module);
        if index.binds(name) {
            return true;
        }
        let Some(hops) = hops.checked_sub(1) else {
            return false;
        };
        index.stars.iter().any(|star| {
            let from = self.workspace.import(module, star.level, star.module);
            from.is_some_and(|from| self.gives(from, name, hops))
        })
    }

    /// A name that a module does not bind itself.
    fn through_stars(&mut self, module: ModuleId, index: &Module<'w>, root: &str, path: &str) {
        for star in &index.stars {
            match self.workspace.import(module, star.level, star.module) {
                Some(from) if self.gives(from, root, MAX_HOPS) => {
                    self.part(module).stars.insert(star.span);
                    self.enter(module, star.level, star.module, from);
                    self.need(from, path.into());
                    return;
                }
                Some(_) => {}
                // It may come from outside, as all of `from cuda.tile import *` does.
                None => drop(self.part(module).stars.insert(star.span)),
            }
        }
    }
}

/// Whether a statement or one within it binds a name, or changes what it is bound to.
pub(super) fn touches(placed: Placed<'_>, name: &str, owned: bool) -> bool {
    let mut found = false;
    bare_bindings(placed.stmt, &mut |bound| found |= bound == name);
    if owned {
        super::module::changed(placed.stmt, &mut |changed| found |= changed == name);
    }
    found
        || !is_definition(placed.stmt)
            && (placed.stmt.blocks().into_iter()).any(|block| {
                placed
                    .block(block)
                    .into_iter()
                    .any(|s| touches(s, name, owned))
            })
}
