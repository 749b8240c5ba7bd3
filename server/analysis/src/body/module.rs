//! What device code sees of its file: imports, module-level constants, which functions are kernels.
//!
//! It is compared from one edit to the next: as long as it is the same, what was found in an item
//! stays found.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::Dtype;
use crate::model::{FileModel, Kernel};

/// What a function of the file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionKind {
    /// A kernel.
    Kernel,
    /// Called by kernels.
    Device,
    /// Anything else.
    Host,
}

/// A module-level value.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Literal {
    Int(i64),
    Float(f64),
    Bool(bool),
    Str(SmolStr),
    /// `PAD = ct.PaddingMode.ZERO`: the dotted path written.
    Path(SmolStr),
    /// `ConstInt = ct.Constant[int]`: the dotted paths before and within the brackets.
    Generic {
        path: SmolStr,
        of: Option<SmolStr>,
    },
}

/// What an item's code can refer to in its file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModuleEnv {
    /// Names by which the file knows modules and what is imported from them: absolute dotted paths.
    pub imports: FxHashMap<SmolStr, SmolStr>,
    /// Module-level names bound once to a literal or a dotted name.
    pub constants: FxHashMap<SmolStr, Literal>,
    /// Functions at the top of the file.
    pub functions: FxHashMap<SmolStr, FunctionKind>,
}

impl ModuleEnv {
    /// Of a file whose model is known, from what each of its items binds. `device` names the
    /// functions that kernels call.
    pub(crate) fn of<'b>(
        bindings: impl Iterator<Item = &'b Binding>,
        model: &FileModel,
        is_device: &dyn Fn(&str) -> bool,
    ) -> ModuleEnv {
        let mut env = ModuleEnv {
            imports: model.imports.clone(),
            ..ModuleEnv::default()
        };
        let mut rebound = Vec::new();
        for binding in bindings {
            match binding {
                Binding::Function(name) => {
                    let kind = if is_device(name) {
                        FunctionKind::Device
                    } else {
                        FunctionKind::Host
                    };
                    env.functions.insert(name.clone(), kind);
                }
                Binding::Assigned(name, Some(literal)) if !env.constants.contains_key(name) => {
                    env.constants.insert(name.clone(), literal.clone());
                }
                Binding::Annotated(name, literal) => {
                    env.constants.insert(name.clone(), literal.clone());
                }
                Binding::Assigned(name, _) | Binding::Changed(name) => rebound.push(name),
            }
        }
        for kernel in &model.kernels {
            let kind = if is_decorated(kernel) {
                FunctionKind::Kernel
            } else {
                FunctionKind::Device
            };
            if let Some(known) = env.functions.get_mut(&kernel.qualified) {
                *known = kind;
            }
        }
        for name in rebound {
            env.constants.remove(name);
        }
        env
    }

    /// Of a file whose items nobody keeps.
    pub(crate) fn of_file(
        file: &tileperf_syntax::ParsedFile,
        model: &FileModel,
        is_device: &dyn Fn(&str) -> bool,
    ) -> ModuleEnv {
        let mut bindings = Vec::new();
        for item in &file.items {
            module_bindings(&item.facts.body, &mut bindings);
        }
        ModuleEnv::of(bindings.iter(), model, is_device)
    }

    /// The names that mean something else here than in `other`, directly or through a name that
    /// stands for another. Nothing if what is imported of CUDA or torch differs: rules ask in many
    /// ways which of these a file knows.
    pub(crate) fn changed(&self, other: &ModuleEnv) -> Option<Vec<SmolStr>> {
        let mut names: Vec<SmolStr> = Vec::new();
        differing(&self.imports, &other.imports, &mut names);
        let paths = |name| [self.imports.get(name), other.imports.get(name)];
        if (names.iter().flat_map(paths).flatten())
            .any(|p| p.starts_with("cuda") || p.starts_with("torch"))
        {
            return None;
        }
        differing(&self.constants, &other.constants, &mut names);
        differing(&self.functions, &other.functions, &mut names);
        let mut next = 0;
        while let Some(name) = names.get(next).cloned() {
            next += 1;
            for (alias, literal) in self.constants.iter().chain(&other.constants) {
                let paths = match literal {
                    Literal::Path(path) => [Some(path), None],
                    Literal::Generic { path, of } => [Some(path), of.as_ref()],
                    _ => continue,
                };
                let root = |path: &SmolStr| path.split('.').next() == Some(&*name);
                if paths.into_iter().flatten().any(root) && !names.contains(alias) {
                    names.push(alias.clone());
                }
            }
        }
        Some(names)
    }

    /// The dtype that an expression written in the file names: `ct.float16`, `torch.float16`.
    pub fn dtype(&self, expr: &Expr) -> Option<Dtype> {
        let last = expr.last_ident()?;
        let path = self.path(expr)?;
        let ours = path.starts_with("cuda.tile.") || path.starts_with("torch.");
        Dtype::named(&last.name).filter(|_| ours)
    }
}

/// What a statement at module level does to a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Binding {
    /// Defines a function.
    Function(SmolStr),
    /// Assigns to it; a literal if it is one.
    Assigned(SmolStr, Option<Literal>),
    /// Assigns a literal to it, with an annotation.
    Annotated(SmolStr, Literal),
    /// Changes it in place.
    Changed(SmolStr),
}

/// What statements at module level do to names, in source order, branches included.
pub(crate) fn module_bindings(body: &[Stmt], out: &mut Vec<Binding>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::FunctionDef(def) => out.push(Binding::Function(def.name.name.clone())),
            StmtKind::Assign { targets, value } => {
                let names = targets.iter().filter_map(Expr::name);
                out.extend(names.map(|name| Binding::Assigned(name.clone(), literal(value))));
            }
            StmtKind::AnnAssign {
                target,
                value: Some(value),
                ..
            } => {
                if let (Some(name), Some(literal)) = (target.name(), literal(value)) {
                    out.push(Binding::Annotated(name.clone(), literal));
                }
            }
            StmtKind::AugAssign { target, .. } => {
                out.extend(target.name().cloned().map(Binding::Changed));
            }
            StmtKind::If { .. } | StmtKind::Try { .. } => {
                for inner in stmt.blocks() {
                    module_bindings(inner, out);
                }
            }
            _ => {}
        }
    }
}

/// `k = ct.kernel(f)` leaves `f` the function that it was.
pub(crate) fn is_decorated(kernel: &Kernel) -> bool {
    kernel.top.start <= kernel.decorator_span.start
        && kernel.decorator_span.end <= kernel.span.start
}

/// Adds the keys whose values differ, or that only one of the maps has.
fn differing<V: PartialEq>(
    here: &FxHashMap<SmolStr, V>,
    there: &FxHashMap<SmolStr, V>,
    out: &mut Vec<SmolStr>,
) {
    let new = here
        .iter()
        .filter(|(name, value)| there.get(*name) != Some(*value));
    let gone = there.keys().filter(|name| !here.contains_key(*name));
    out.extend(new.map(|(name, _)| name).chain(gone).cloned());
}

fn literal(value: &Expr) -> Option<Literal> {
    Some(match &value.kind {
        ExprKind::Int(value) => Literal::Int(*value),
        ExprKind::Float(value) => Literal::Float(*value),
        ExprKind::Bool(value) => Literal::Bool(*value),
        ExprKind::Str(text) => Literal::Str(text.as_str().into()),
        ExprKind::Unary { op, operand } if op == "-" => match literal(operand)? {
            Literal::Int(value) => Literal::Int(value.checked_neg()?),
            Literal::Float(value) => Literal::Float(-value),
            _ => return None,
        },
        ExprKind::Subscript { value, index } => Literal::Generic {
            path: value.dotted()?.into(),
            of: match index.as_slice() {
                [of] => of.dotted().map(SmolStr::from),
                _ => None,
            },
        },
        _ => Literal::Path(value.dotted()?.into()),
    })
}
