//! The names of a file, kept from one edit to the next: what is found in an item rests on its own
//! text and on these.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, StmtKind};
use tileperf_syntax::{ItemFacts, ParsedFile};

use crate::body::{Binding, ModuleEnv, is_decorated, module_bindings};
use crate::model::FileModel;

/// What the items of a file can refer to in it.
#[derive(Debug, Default)]
pub(super) struct Names {
    module: Arc<ModuleEnv>,
    /// What `module` was made from: what the items do at module level, and the kernels.
    tops: Vec<Arc<Top>>,
    kernels: Vec<(SmolStr, bool)>,
    /// By the address of the item's facts, which are held so that no others can take it.
    known: FxHashMap<usize, (Arc<ItemFacts>, Arc<Top>)>,
}

/// Names that mean something else than before.
pub(super) enum Changed {
    Nothing,
    These(Vec<SmolStr>),
    /// Perhaps all.
    All,
}

/// What an item does at module level, wherever it stands.
#[derive(Debug, Default, PartialEq)]
struct Top {
    bindings: Vec<Binding>,
    functions: Vec<FunctionCalls>,
}

#[derive(Debug, PartialEq)]
struct FunctionCalls {
    name: SmolStr,
    /// Plain names that it calls.
    callees: Vec<SmolStr>,
    /// Names before something that only device code uses: `ct` of `ct.load`.
    roots: Vec<SmolStr>,
}

/// Names in `cuda.tile` that only device code uses.
const DEVICE_ONLY: [&str; 22] = [
    "load",
    "store",
    "gather",
    "scatter",
    "bid",
    "num_blocks",
    "num_tiles",
    "mma",
    "arange",
    "astype",
    "where",
    "zeros",
    "full",
    "sum",
    "max",
    "min",
    "reshape",
    "exp",
    "exp2",
    "maximum",
    "permute",
    "transpose",
];

impl Names {
    pub(super) fn module(&self) -> Arc<ModuleEnv> {
        Arc::clone(&self.module)
    }

    /// Takes over the names of a text.
    pub(super) fn update(&mut self, file: &ParsedFile, model: &FileModel) -> Changed {
        let mut known = FxHashMap::default();
        let mut tops = Vec::with_capacity(file.items.len());
        for item in &file.items {
            let key = Arc::as_ptr(&item.facts) as usize;
            let (facts, top) = (self.known.remove(&key))
                .unwrap_or_else(|| (Arc::clone(&item.facts), Arc::new(Top::of(&item.facts))));
            tops.push(Arc::clone(&top));
            known.insert(key, (facts, top));
        }
        self.known = known;
        let kernels: Vec<_> = (model.kernels.iter())
            .map(|kernel| (kernel.qualified.clone(), is_decorated(kernel)))
            .collect();
        let same = self.kernels == kernels
            && self.module.imports == model.imports
            && self.tops.len() == tops.len()
            && (self.tops.iter().zip(&tops)).all(|(a, b)| Arc::ptr_eq(a, b) || a == b);
        self.tops = tops;
        if same {
            return Changed::Nothing;
        }
        self.kernels = kernels;
        let device = self.device_functions(model);
        let bindings = self.tops.iter().flat_map(|top| &top.bindings);
        let module = ModuleEnv::of(bindings, model, &|name| device.contains(name));
        if *self.module == module {
            return Changed::Nothing;
        }
        let changed = module.changed(&self.module);
        self.module = Arc::new(module);
        changed.map_or(Changed::All, Changed::These)
    }

    /// Functions at the top of the file that are device code: they use what only device code does,
    /// or kernels call them.
    fn device_functions(&self, model: &FileModel) -> FxHashSet<SmolStr> {
        let mut by_name: FxHashMap<&str, &FunctionCalls> = FxHashMap::default();
        let mut todo: Vec<&FunctionCalls> = Vec::new();
        let kernels: FxHashSet<&str> = self.kernels.iter().map(|(name, _)| &**name).collect();
        let mut device = FxHashSet::default();
        for function in self.tops.iter().flat_map(|top| &top.functions) {
            by_name.insert(&function.name, function);
            let is_module = |root: &SmolStr| match model.imports.get(root) {
                Some(path) => path == "cuda.tile",
                None => root == "ct",
            };
            if kernels.contains(&*function.name) {
                todo.push(function);
            } else if function.roots.iter().any(is_module) {
                device.insert(function.name.clone());
                todo.push(function);
            }
        }
        while let Some(function) = todo.pop() {
            for callee in &function.callees {
                if let Some(called) = by_name.get(callee.as_str())
                    && device.insert(callee.clone())
                {
                    todo.push(called);
                }
            }
        }
        device
    }
}

impl Top {
    fn of(facts: &ItemFacts) -> Top {
        let mut top = Top::default();
        module_bindings(&facts.body, &mut top.bindings);
        for stmt in &facts.body {
            if let StmtKind::FunctionDef(def) = &stmt.kind {
                top.functions.push(FunctionCalls::of(def));
            }
        }
        top
    }
}

impl FunctionCalls {
    fn of(def: &FunctionDef) -> FunctionCalls {
        let mut found = FunctionCalls {
            name: def.name.name.clone(),
            callees: Vec::new(),
            roots: Vec::new(),
        };
        crate::body::walk(&def.body, &mut |expr, _| {
            let ExprKind::Call { func, .. } = &expr.kind else {
                return;
            };
            match &func.kind {
                ExprKind::Name(name) if !found.callees.contains(name) => {
                    found.callees.push(name.clone());
                }
                ExprKind::Attribute { value, attr } => {
                    // Which roots are known is asked first: nearly all calls have the same.
                    if let Some(root) = Expr::name(value)
                        && !found.roots.contains(root)
                        && DEVICE_ONLY.contains(&attr.name.as_str())
                    {
                        found.roots.push(root.clone());
                    }
                }
                _ => {}
            }
        });
        found
    }
}
