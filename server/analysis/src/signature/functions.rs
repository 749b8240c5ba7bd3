//! Functions of the workspace as a guess needs them: the definition, the types of its expressions,
//! and which function a call means, in this file or another.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{FunctionDef, Stmt, StmtKind};

use crate::body::{Body, Device, ModuleEnv};
use crate::eval::ModuleId;
use crate::model::{FileModel, ModelCache};
use crate::slice::Workspace;

/// Imports followed for one name.
const MAX_HOPS: u32 = 8;

/// A file of the workspace.
pub(super) struct File<'w> {
    pub(super) env: ModuleEnv,
    pub(super) model: FileModel,
    /// Functions at the top, in whatever branch.
    functions: FxHashMap<&'w str, &'w FunctionDef>,
    /// `from module import name as key`.
    imports: FxHashMap<&'w str, (u32, SmolStr, Option<&'w str>)>,
    stars: Vec<(u32, &'w str)>,
}

/// A function, where it is.
#[derive(Clone)]
pub(super) struct Function<'w> {
    pub(super) module: ModuleId,
    pub(super) file: Rc<File<'w>>,
    pub(super) def: &'w FunctionDef,
    pub(super) body: Rc<Body>,
    pub(super) constants: Rc<FxHashSet<SmolStr>>,
}

impl<'w> Function<'w> {
    pub(super) fn device(&self) -> Device<'_> {
        Device {
            def: self.def,
            body: &self.body,
            module: &self.file.env,
            is_kernel: false,
            constants: &self.constants,
            code: None,
        }
    }
}

/// Files looked at so far.
pub(super) struct Files<'w> {
    workspace: &'w dyn Workspace,
    known: RefCell<FxHashMap<ModuleId, Rc<File<'w>>>>,
}

impl<'w> Files<'w> {
    pub(super) fn new(workspace: &'w dyn Workspace) -> Self {
        Self {
            workspace,
            known: RefCell::default(),
        }
    }

    pub(super) fn file(&self, module: ModuleId) -> Option<Rc<File<'w>>> {
        if let Some(known) = self.known.borrow().get(&module) {
            return Some(Rc::clone(known));
        }
        let source = self.workspace.source(module)?;
        let model = FileModel::build(source.file, source.text, "", &mut ModelCache::default());
        let mut file = File {
            env: ModuleEnv::of_file(source.file, &model, &|_| true),
            model,
            functions: FxHashMap::default(),
            imports: FxHashMap::default(),
            stars: Vec::new(),
        };
        let bodies = source
            .file
            .items
            .iter()
            .map(|item| item.facts.body.as_slice());
        bodies.for_each(|body| file.enter(body));
        // Of `try: import cuda.tile as ct` and `except ImportError: import other as ct` the first
        // is what device code means.
        for (name, (_, path, item)) in &file.imports {
            let whole = match item {
                Some(item) => format!("{path}.{item}"),
                None => path.to_string(),
            };
            if whole == "cuda.tile" {
                file.env.imports.insert(SmolStr::from(*name), whole.into());
            }
        }
        let file = Rc::new(file);
        self.known.borrow_mut().insert(module, Rc::clone(&file));
        Some(file)
    }

    /// The definition with this place in a file, with the functions around it.
    pub(super) fn function_at(
        &self,
        module: ModuleId,
        span: Span,
        constants: FxHashSet<SmolStr>,
    ) -> Option<Function<'w>> {
        let source = self.workspace.source(module)?;
        let item = source.file.items.iter().find(|i| i.span.contains(span))?;
        let own = span.moved(-i64::from(item.span.start));
        let mut around = Vec::new();
        let def = definition(&item.facts.body, own, &mut around)?;
        let file = self.file(module)?;
        Some(Function {
            module,
            def,
            body: Rc::new(Body::within(def, &around, &constants, &file.env)),
            file,
            constants: Rc::new(constants),
        })
    }

    /// The function that a dotted path means in a module.
    pub(super) fn called(&self, module: ModuleId, path: &str) -> Option<Function<'w>> {
        self.called_within(module, path, MAX_HOPS)
    }

    fn called_within(&self, module: ModuleId, path: &str, hops: u32) -> Option<Function<'w>> {
        let hops = hops.checked_sub(1)?;
        let file = self.file(module)?;
        let (root, rest) = path.split_once('.').unwrap_or((path, ""));
        if rest.is_empty()
            && let Some(def) = file.functions.get(root)
        {
            let constants = FxHashSet::default();
            return Some(Function {
                module,
                def,
                body: Rc::new(Body::of(def, &constants, &file.env)),
                file,
                constants: Rc::new(constants),
            });
        }
        let Some((level, from, name)) = file.imports.get(root) else {
            return file.stars.iter().find_map(|(level, from)| {
                let found = self.workspace.import(module, *level, from)?;
                self.called_within(found, path, hops)
            });
        };
        let Some(name) = name else {
            // `import a.b`: what follows may name more of the module.
            let whole = match rest {
                "" => from.to_string(),
                rest => format!("{from}.{rest}"),
            };
            return self.by_path(module, *level, &whole, hops);
        };
        let inner = if rest.is_empty() {
            (*name).to_owned()
        } else {
            format!("{name}.{rest}")
        };
        let found = self.workspace.import(module, *level, from);
        found
            .and_then(|found| self.called_within(found, &inner, hops))
            .or_else(|| {
                let whole = if from.is_empty() {
                    inner.clone()
                } else {
                    format!("{from}.{inner}")
                };
                self.by_path(module, *level, &whole, hops)
            })
    }

    /// The longest module that a path names, and the function in it.
    fn by_path(&self, from: ModuleId, level: u32, path: &str, hops: u32) -> Option<Function<'w>> {
        let mut end = path.len();
        while let Some(dot) = path[..end].rfind('.') {
            if let Some(found) = self.workspace.import(from, level, &path[..dot]) {
                return self.called_within(found, &path[dot + 1..], hops);
            }
            end = dot;
        }
        None
    }
}

impl<'w> File<'w> {
    fn enter(&mut self, body: &'w [Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::FunctionDef(def) => {
                    self.functions.insert(&def.name.name, def);
                }
                StmtKind::Import(names) => {
                    for name in names {
                        let (key, path) = match &name.alias {
                            Some(alias) => (alias.name.as_str(), name.name.name.clone()),
                            None => {
                                let root = name.name.name.split('.').next().unwrap_or_default();
                                (root, SmolStr::from(root))
                            }
                        };
                        self.imports.entry(key).or_insert((0, path, None));
                    }
                }
                StmtKind::ImportFrom {
                    module,
                    level,
                    names,
                    star,
                } => {
                    if *star {
                        self.stars.push((*level, module));
                    }
                    for name in names {
                        let key = &name.alias.as_ref().unwrap_or(&name.name).name;
                        let entry = (*level, module.clone(), Some(name.name.name.as_str()));
                        self.imports.entry(key).or_insert(entry);
                    }
                }
                StmtKind::If { .. } | StmtKind::Try { .. } => {
                    stmt.blocks()
                        .into_iter()
                        .for_each(|block| self.enter(block));
                }
                _ => {}
            }
        }
    }
}

/// The definition with this place among statements; `around` gets the functions around it.
fn definition<'w>(
    body: &'w [Stmt],
    span: Span,
    around: &mut Vec<&'w FunctionDef>,
) -> Option<&'w FunctionDef> {
    let stmt = body.iter().find(|s| s.span.contains(span))?;
    if let StmtKind::FunctionDef(def) = &stmt.kind {
        if def.def_span == span {
            return Some(def);
        }
        around.push(def);
    }
    stmt.blocks()
        .into_iter()
        .find_map(|block| definition(block, span, around))
}
