//! What device code sees of its file: imports, module-level constants, which functions are kernels.
//!
//! It is compared from one edit to the next: as long as it is the same, what was found in an item
//! stays found.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_syntax::ParsedFile;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::Dtype;
use crate::model::FileModel;

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
    /// Of a file whose model is known. `device` names the functions that kernels call.
    pub(crate) fn of(
        file: &ParsedFile,
        model: &FileModel,
        is_device: &dyn Fn(&str) -> bool,
    ) -> ModuleEnv {
        let mut env = ModuleEnv {
            imports: model.imports.clone(),
            ..ModuleEnv::default()
        };
        let mut rebound = Vec::new();
        for item in &file.items {
            for stmt in &item.facts.body {
                env.statement(stmt, is_device, &mut rebound);
            }
        }
        for kernel in &model.kernels {
            // `k = ct.kernel(f)` leaves `f` the function that it was.
            let decorated = kernel.top.start <= kernel.decorator_span.start
                && kernel.decorator_span.end <= kernel.span.start;
            let kind = if decorated {
                FunctionKind::Kernel
            } else {
                FunctionKind::Device
            };
            if let Some(known) = env.functions.get_mut(&kernel.qualified) {
                *known = kind;
            }
        }
        for name in rebound {
            env.constants.remove(&name);
        }
        env
    }

    /// The names that mean something else here than in `other`, directly or through a name that
    /// stands for another. Nothing if the imports differ: what these mean is asked in many ways.
    pub(crate) fn changed(&self, other: &ModuleEnv) -> Option<Vec<SmolStr>> {
        if self.imports != other.imports {
            return None;
        }
        let mut names: Vec<SmolStr> = Vec::new();
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

    fn statement(
        &mut self,
        stmt: &Stmt,
        is_device: &dyn Fn(&str) -> bool,
        rebound: &mut Vec<SmolStr>,
    ) {
        match &stmt.kind {
            StmtKind::FunctionDef(def) => {
                let kind = if is_device(&def.name.name) {
                    FunctionKind::Device
                } else {
                    FunctionKind::Host
                };
                self.functions.insert(def.name.name.clone(), kind);
            }
            StmtKind::Assign { targets, value } => {
                for name in targets.iter().filter_map(Expr::name) {
                    let seen = self.constants.contains_key(name);
                    match literal(value).filter(|_| !seen) {
                        Some(literal) => drop(self.constants.insert(name.clone(), literal)),
                        None => rebound.push(name.clone()),
                    }
                }
            }
            StmtKind::AnnAssign {
                target,
                value: Some(value),
                ..
            } => {
                if let (Some(name), Some(literal)) = (target.name(), literal(value)) {
                    self.constants.insert(name.clone(), literal);
                }
            }
            StmtKind::AugAssign { target, .. } => rebound.extend(target.name().cloned()),
            StmtKind::If { .. } | StmtKind::Try { .. } => {
                for inner in stmt.blocks().into_iter().flatten() {
                    self.statement(inner, is_device, rebound);
                }
            }
            _ => {}
        }
    }

    /// The dtype that an expression written in the file names: `ct.float16`, `torch.float16`.
    pub fn dtype(&self, expr: &Expr) -> Option<Dtype> {
        let last = expr.last_ident()?;
        let path = self.path(expr)?;
        let ours = path.starts_with("cuda.tile.") || path.starts_with("torch.");
        Dtype::named(&last.name).filter(|_| ours)
    }
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
