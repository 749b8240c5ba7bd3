//! What an optimization is shown: a kernel in its file.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef};

use super::evidence::{Compiled, Search};
use super::originals::Look;
use super::{Elsewhere, Launched, Remade};
use crate::body::{ApiCall, Device, values};
use crate::classify::Class;
use crate::model::{Candidate, FileModel, Kernel};
use crate::rewrite::Edits;
use crate::rules::{DeviceContext, FileContext, InItem, KernelUses, multiplies};

/// What the workspace says of a kernel, where it was asked.
#[derive(Clone, Copy)]
pub struct Surroundings<'w> {
    /// How it uses the kernel.
    pub uses: &'w KernelUses,
    /// Whether another file may mean something of a file by a name. Without, nobody looked.
    pub named: Option<&'w dyn Fn(Naming<'_>) -> bool>,
    /// Other files that launch it, as far as they were read.
    pub elsewhere: &'w [Elsewhere<'w>],
    /// Changes that were measured on it and made some configurations faster and others slower.
    pub mixed: &'w [Mixed],
    /// Searches of it as it is now that were recorded.
    pub searched: &'w [Search],
    /// What compiling its spaces showed.
    pub compiled: &'w [Compiled],
    /// Changes of one of its hints that were measured, the newest first.
    pub remade: &'w [Remade],
    /// What it may have been ported from, looked for only where a port is seen.
    pub originals: Option<Look<'w>>,
}

/// A name that other files may use.
#[derive(Debug, Clone, Copy)]
pub struct Naming<'n> {
    /// The name.
    pub name: &'n str,
    /// The file that it is of: one of [`Surroundings::elsewhere`], or the kernel's.
    pub of: Option<usize>,
    /// Files of [`Surroundings::elsewhere`] that are known to use it, and so do not count.
    pub but: &'n [usize],
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
    pub fn launches(&self) -> Vec<Launched<'a>> {
        let launches = self.file.model.launches.iter();
        launches
            .filter(|l| names(&l.candidates, self.number))
            .map(|launch| Launched {
                file: *self.file,
                launch,
                elsewhere: None,
            })
            .collect()
    }

    /// The launches of other files that can only be of this kernel, in source order for each file.
    pub fn launches_elsewhere(&self) -> Vec<Launched<'a>> {
        let files = self.around.map_or(&[][..], |around| around.elsewhere);
        let files = files.iter().enumerate();
        files
            .flat_map(|(number, elsewhere)| {
                let launches = elsewhere.file.model.launches.iter();
                let of_it = launches.filter(|l| elsewhere.launches.contains(&l.span));
                of_it.map(move |launch| Launched {
                    file: elsewhere.file,
                    launch,
                    elsewhere: Some(number),
                })
            })
            .collect()
    }

    /// Whether it multiplies matrices.
    pub fn multiplies(&self) -> bool {
        multiplies(self.file, &[Candidate::Local(self.number)])
    }

    /// Whether another file of the workspace may mean something of this one by a name. Nothing where
    /// nobody looked.
    pub fn named_elsewhere(&self, name: &str) -> Option<bool> {
        self.may_name(Naming {
            name,
            of: None,
            but: &[],
        })
    }

    /// The same of any file, with exceptions.
    pub fn may_name(&self, naming: Naming<'_>) -> Option<bool> {
        let named = self.around?.named?;
        Some(named(naming))
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
