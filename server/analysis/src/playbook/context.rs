//! What an optimization is shown: a kernel in its file.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef};

use super::Remade;
use super::evidence::{Compiled, Search};
use crate::body::{ApiCall, Device, values};
use crate::classify::Class;
use crate::model::{Candidate, FileModel, Kernel, Launch};
use crate::rewrite::Edits;
use crate::rules::{DeviceContext, FileContext, InItem, KernelUses};

/// What the workspace says of a kernel, where it was asked.
#[derive(Clone, Copy)]
pub struct Surroundings<'w> {
    /// How it uses the kernel.
    pub uses: &'w KernelUses,
    /// Whether another file may mean something of the kernel's file by a name. Without, nobody looked.
    pub named: Option<&'w dyn Fn(&str) -> bool>,
    /// Changes that were measured on it and made some configurations faster and others slower.
    pub mixed: &'w [Mixed],
    /// Searches of it as it is now that were recorded.
    pub searched: &'w [Search],
    /// What compiling its spaces showed.
    pub compiled: &'w [Compiled],
    /// Changes of one of its hints that were measured, the newest first.
    pub remade: &'w [Remade],
}

/// A change of the playbook that was tried: faster here, slower there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mixed {
    /// The optimization's letter.
    pub id: String,
    /// Which of its ways.
    pub variant: String,
    /// Configurations of the benchmark that it made faster, as it names them: `test_perf[64-8192]`.
    pub faster: Vec<String>,
    /// Those that it made slower.
    pub slower: Vec<String>,
    /// Which measurement says so: `run 3 of 2026-11-30`.
    pub run: String,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings")
            .field("uses", self.uses)
            .finish_non_exhaustive()
    }
}

/// A kernel as optimizations see it. Places of its expressions, and of the edits that are made of it,
/// are relative to its item.
pub struct KernelContext<'a> {
    /// The file that defines it.
    pub file: &'a FileContext<'a>,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Its place among the file's kernels.
    pub number: usize,
    /// How it is used, in this file and, as far as they were asked, in others.
    pub uses: KernelUses,
    /// What the workspace says of it, where it was asked.
    pub around: Option<Surroundings<'a>>,
    /// Its definition.
    pub def: InItem<'a, FunctionDef>,
    /// Its code.
    pub device: Device<'a>,
    /// What bounds it.
    pub class: Class,
}

/// A call of cuTile's in a kernel, and whether it runs more than once a block.
pub struct Called<'a> {
    /// The call.
    pub call: ApiCall<'a>,
    /// A loop is around it.
    pub in_loop: bool,
}

impl<'a> KernelContext<'a> {
    /// The launches of its own file that may be of this kernel, in source order.
    pub fn launches(&self) -> Vec<&'a Launch> {
        let launches = self.file.model.launches.iter();
        launches
            .filter(|l| names(&l.candidates, self.number))
            .collect()
    }

    /// Whether another file of the workspace may mean something of this one by a name. Nothing where
    /// nobody looked.
    pub fn named_elsewhere(&self, name: &str) -> Option<bool> {
        let named = self.around?.named?;
        Some(named(name))
    }

    /// The text of its item.
    pub fn text(&self) -> &'a str {
        self.file.source(self.def.item.span)
    }

    /// What stands at a place.
    pub fn source(&self, span: Span) -> &'a str {
        self.text().get(span.range()).unwrap_or("")
    }

    /// A change of its item.
    pub fn edits(&self) -> Edits<'a> {
        Edits::new(self.text())
    }

    /// Its code as rules see it.
    pub fn as_device(&self) -> DeviceContext<'a> {
        DeviceContext {
            device: self.device,
            text: self.text(),
            target: self.file.target,
        }
    }

    /// The calls of these functions of cuTile's, in source order, without those whose arguments are
    /// not all written out.
    pub fn calls(&self, names: &[&str]) -> Vec<Called<'a>> {
        let mut found = Vec::new();
        self.device.calls(&mut |call, place| {
            if names.contains(&call.name.as_str()) && !call.is_open() {
                found.push(Called {
                    call: call.clone(),
                    in_loop: place.in_loop(),
                });
            }
        });
        found
    }

    /// By which name the file knows the module `cuda.tile`: `ct`. Nothing if it imports names of it
    /// only.
    pub fn ct(&self) -> Option<&'a SmolStr> {
        let imports = self.file.module.imports.iter();
        let names = imports.filter(|(_, path)| *path == "cuda.tile");
        names.map(|(name, _)| name).min()
    }

    /// How a call's function is written up to its own name: `ct.` of `ct.load`.
    pub fn prefix(&self, call: &ApiCall<'a>) -> Option<&'a str> {
        let ExprKind::Call { func, .. } = &call.expr.kind else {
            return None;
        };
        let ExprKind::Attribute { attr, .. } = &func.kind else {
            return None;
        };
        Some(self.source(Span {
            start: func.span.start,
            end: attr.span.start,
        }))
    }

    /// The parameter that an expression is, if that is what was passed all along.
    pub fn parameter(&self, expr: &Expr) -> Option<&'a SmolStr> {
        let name = expr.name()?;
        let param = self.device.param(name)?;
        let fixed = values(&self.def.node.body, name).is_empty();
        fixed.then_some(&param.name.name)
    }

    /// The value of a hint fixed at the decorator, if it is a number.
    pub fn hint(&self, name: &str) -> Option<i64> {
        let hint = self.kernel.hints.iter().find(|h| h.name == name)?;
        hint.text.parse().ok()
    }

    /// Whether an architecture that is judged for has this.
    pub fn on_any(&self, has: fn(crate::arch::Arch) -> bool) -> bool {
        self.file.target.archs.iter().any(|arch| has(*arch))
    }
}

/// How a kernel is used in its own file.
pub(crate) fn own_uses(model: &FileModel, number: usize) -> KernelUses {
    let searches = model.searches.iter();
    let remade = model.hint_uses.iter();
    KernelUses {
        launches: (model.launches.iter())
            .filter(|l| names(&l.candidates, number))
            .count(),
        searches: searches.filter(|s| names(&s.candidates, number)).count(),
        remade: remade.filter(|h| names(&h.candidates, number)).count(),
    }
}

fn names(candidates: &[Candidate], number: usize) -> bool {
    candidates.contains(&Candidate::Local(number))
}
