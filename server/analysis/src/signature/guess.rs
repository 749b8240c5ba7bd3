//! A signature read off the code.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, Param as Written};

use super::functions::{Files, Function};
use super::launches::Told;
use super::uses::{Use, Uses, Walker};
use super::{Constant, Elsewhere, Kind, Origin, Param, Signature, launches, values};
use crate::arch::Arch;
use crate::eval::ModuleId;
use crate::model::Kernel;
use crate::slice::Workspace;

/// Guesses signatures in one snapshot of a workspace, remembering its files between them.
pub struct Guesser<'w> {
    workspace: &'w dyn Workspace,
    files: Files<'w>,
}

impl<'w> Guesser<'w> {
    /// For the workspace.
    pub fn new(workspace: &'w dyn Workspace) -> Self {
        Self {
            workspace,
            files: Files::new(workspace),
        }
    }

    /// The signatures that a kernel of a file is most likely compiled for, one for each different
    /// launch: those of its own file in their order, then those `elsewhere`; what launches pass before
    /// what is only plausible. `captured` are names that its slice takes from around it. `None` if the
    /// kernel is not there, else one at least.
    pub fn guess(
        &self,
        module: ModuleId,
        kernel: &Kernel,
        captured: &[SmolStr],
        elsewhere: &[Elsewhere],
        arch: Arch,
    ) -> Option<Vec<Signature>> {
        let constants: FxHashSet<SmolStr> = (kernel.params.iter())
            .filter(|p| p.constant)
            .map(|p| p.name.clone())
            .collect();
        let function = self.files.function_at(module, kernel.span, constants)?;
        let walker = RefCell::new(Walker::new(&self.files));
        let uses = walker.borrow_mut().uses(&function);
        let number = function
            .file
            .model
            .kernels
            .iter()
            .position(|k| k.span == kernel.span);
        let passed = number.map_or_else(
            || vec![(Told::default(), None)],
            |number| {
                let own = (module, &*function.file, number);
                launches::values(self.workspace, &self.files, own, elsewhere, arch)
            },
        );
        let mut all: Vec<Signature> = Vec::new();
        for (told, launched) in &passed {
            let mut signature = self.with(kernel, &function, &uses, told, captured);
            signature.launched.clone_from(launched);
            if !all.contains(&signature) {
                all.push(signature);
            }
        }
        all.sort_by_key(|signature| signature.origin);
        Some(all)
    }

    /// The signature for constants that are told.
    fn with(
        &self,
        kernel: &Kernel,
        function: &Function<'w>,
        uses: &Uses,
        passed: &Told,
        captured: &[SmolStr],
    ) -> Signature {
        // Next to tiles with several axes, one with a single axis is a row of theirs.
        let many = uses.values().any(|used| used.extent && !used.only_extent);
        // Without a constant no launch has said anything.
        let mut certain = kernel.params.iter().any(|p| p.constant);
        let mut params = Vec::new();
        for (place, param) in kernel.params.iter().enumerate() {
            let mut used = uses.get(&param.name).cloned().unwrap_or_default();
            used.only_extent &= !many;
            let written = function
                .def
                .params
                .iter()
                .find(|p| p.name.name == param.name);
            if written.is_some_and(|w| w.stars > 0) {
                continue;
            }
            let annotation = param.annotation.as_deref();
            let kind = if param.constant {
                let ty = values::annotated(annotation.unwrap_or(""), &function.file.env);
                let told = passed.get(&place).copied().or_else(|| default(written));
                certain &= told.is_some();
                let value = told.map(|value| typed(value, ty));
                let value = value.unwrap_or_else(|| values::constant(&param.name, ty, &used));
                shaped(annotation, value)
            } else {
                values::runtime(&param.name, annotation, &used)
            };
            params.push(Param {
                name: param.name.clone(),
                kind,
            });
        }
        let globals = captured.iter().map(|name| {
            let used = self.captured_use(function, name);
            (
                name.clone(),
                values::constant(name, values::Type::Unknown, &used),
            )
        });
        let globals: Vec<_> = globals.collect();
        certain &= globals.is_empty();
        Signature {
            params,
            globals,
            origin: if certain {
                Origin::Literals
            } else {
                Origin::Guess
            },
            launched: None,
        }
    }

    /// How a captured name is used: as an extent or not.
    fn captured_use(&self, function: &Function<'w>, name: &str) -> Use {
        let mut used = Use::default();
        let device = function.device();
        let mut shapes: Vec<Rc<Expr>> = Vec::new();
        device.calls(&mut |call, _| {
            let shape = match call.name.as_str() {
                "load" | "extract" => call.arg(2, "shape"),
                "zeros" | "ones" | "full" | "arange" => call.arg(0, "shape"),
                "reshape" | "broadcast_to" => call.arg(1, "shape"),
                _ => None,
            };
            shapes.extend(shape.map(|s| Rc::new(s.clone())));
        });
        for shape in shapes {
            shape.walk(&mut |e| used.extent |= e.name().is_some_and(|n| n == name));
        }
        used
    }
}

/// The default value of a parameter, if it is a literal.
fn default(written: Option<&Written>) -> Option<Constant> {
    written?.default.as_ref().and_then(values::literal)
}

/// A value under an annotation: `scale: Constant[float]` given 1.
fn typed(value: Constant, ty: values::Type) -> Constant {
    match (value, ty) {
        (Constant::Int(value), values::Type::Float) => Constant::Float(value as f64),
        (Constant::Int(value), values::Type::Bool) => Constant::Bool(value != 0),
        (value, _) => value,
    }
}

/// A constant, or a tuple of such where the annotation says so.
fn shaped(annotation: Option<&str>, value: Constant) -> Kind {
    let annotation = annotation.unwrap_or("").to_ascii_lowercase();
    let Some(at) = annotation.find("tuple[") else {
        return Kind::Constant(value);
    };
    let within = &annotation[at + "tuple[".len()..];
    let within = within.split(']').next().unwrap_or(within);
    let items = match within.ends_with("...") {
        true => 2,
        false => within.split(',').count(),
    };
    Kind::Tuple {
        items: vec![Kind::Constant(value); items],
    }
}
