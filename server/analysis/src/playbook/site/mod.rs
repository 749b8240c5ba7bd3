//! A launch as it is written, with the function that makes it.

mod launches;
mod statement;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use tileperf_syntax::{Item, Span};

use self::launches::mentions;
pub(super) use self::launches::{all_launches, only_launches};
use self::statement::statement;
use super::{KernelContext, Launched};
use crate::body::{Literal, argument, bindings};
use crate::model::{Candidate, LaunchApi};
use crate::rewrite::autotune::fresh;
use crate::rules::FileContext;

/// A launch that can be changed. Places are relative to the item.
pub(super) struct Site<'a> {
    pub(super) file: FileContext<'a>,
    /// Which of the other files that launch the kernel it is in; nothing for the kernel's own.
    pub(super) elsewhere: Option<usize>,
    pub(super) item: &'a Item,
    /// The functions around it, innermost first; there is one.
    around: Vec<&'a FunctionDef>,
    /// The statement that is the launch.
    pub(super) stmt: &'a Stmt,
    pub(super) stream: &'a Expr,
    pub(super) grid: &'a Expr,
    pub(super) kernel: &'a Expr,
    pub(super) args: &'a Expr,
    /// What is passed, one by one.
    pub(super) passed: &'a [Expr],
    /// The name by which generated code knows the configuration.
    pub(super) config: String,
}

/// What a name stands for where the launch is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meaning<'a> {
    /// What the only assignment gives it.
    Value(&'a Expr),
    /// Something that stays the same: a parameter, a part of what is unpacked, a name of the module.
    Steady,
    /// One thing here and another there.
    Changing,
}

/// Why something is left alone.
pub(super) type Refused = &'static str;

impl<'a> Site<'a> {
    /// A launch that runs once a call of its function.
    pub(super) fn of(at: &KernelContext<'a>, launched: Launched<'a>) -> Result<Site<'a>, Refused> {
        match Site::anywhere(at, launched)? {
            (site, loops) if loops.is_empty() => Ok(site),
            _ => Err("it is launched in a loop"),
        }
    }

    /// A launch and the loops around it, outermost first.
    pub(super) fn anywhere(
        at: &KernelContext<'a>,
        launched: Launched<'a>,
    ) -> Result<(Site<'a>, Vec<&'a Stmt>), Refused> {
        let Launched {
            file,
            launch,
            elsewhere,
        } = launched;
        if launch.stale {
            return Err("the launch does not parse");
        }
        if launch.api != LaunchApi::Launch {
            return Err("it is launched from JAX");
        }
        let is_it = match (elsewhere, launch.candidates.as_slice()) {
            (None, [Candidate::Local(n)]) => {
                *n == at.number && launch.kernel_text == at.kernel.name
            }
            (Some(_), [Candidate::Imported(_)]) => true,
            _ => false,
        };
        if !is_it {
            return Err("which kernel is launched is decided at run time");
        }
        let call = file
            .expr(launch.span)
            .ok_or("the launch is not found in its file")?;
        let around: Vec<_> = file.functions_around(launch.span);
        let around: Vec<&FunctionDef> = around.into_iter().map(|f| f.node).collect();
        let (stmt, loops) = statement(&file, call.item, &around, call.node)?;
        let ExprKind::Call { args, .. } = &call.node.kind else {
            return Err("the launch is no call");
        };
        if args.iter().any(|a| a.stars > 0) {
            return Err("the launch's arguments are not written out");
        }
        let given = |place, name| argument(args, Some(place), name);
        let (Some(stream), Some(grid), Some(kernel), Some(args)) = (
            given(0, "stream"),
            given(1, "grid"),
            given(2, "kernel"),
            given(3, "kernel_args"),
        ) else {
            return Err("the launch's arguments are not written out");
        };
        let mut site = Site {
            file,
            elsewhere,
            item: call.item,
            around,
            stmt,
            stream,
            grid,
            kernel,
            args,
            passed: &[],
            config: fresh(file.source(call.item.span), "cfg"),
        };
        if elsewhere.is_some() && !site.is_imported() {
            return Err("which kernel is launched is decided at run time");
        }
        site.passed = site.elements()?;
        if site.passed.len() != at.kernel.params.len() {
            return Err("it passes another number of arguments than the kernel has parameters");
        }
        Ok((site, loops))
    }

    /// The innermost function.
    pub(super) fn def(&self) -> Option<&'a FunctionDef> {
        self.around.first().copied()
    }

    /// Whether the kernel is a name or a part of a module that stays the same: what was imported.
    fn is_imported(&self) -> bool {
        let mut root = self.kernel;
        while let ExprKind::Attribute { value, .. } = &root.kind {
            root = value;
        }
        root.name().is_some_and(|name| {
            matches!(self.meaning(name), Meaning::Steady) && !self.is_parameter(name)
        })
    }

    /// The kernel as the launch names it.
    pub(super) fn kernel_name(&self) -> &'a str {
        self.source(self.kernel.span)
    }

    /// Whether the arguments are written in the launch itself.
    pub(super) fn is_written(&self) -> bool {
        matches!(self.args.kind, ExprKind::Tuple(_) | ExprKind::List(_))
    }

    fn elements(&self) -> Result<&'a [Expr], Refused> {
        let args = match self.args.name().map(|name| self.meaning(name)) {
            Some(Meaning::Value(value)) => value,
            _ => self.args,
        };
        let (ExprKind::Tuple(parts) | ExprKind::List(parts)) = &args.kind else {
            return Err("the kernel's arguments are not written out");
        };
        let starred = |e: &Expr| matches!(e.kind, ExprKind::Starred(_));
        if parts.iter().any(starred) {
            return Err("the kernel's arguments are not written out");
        }
        Ok(parts)
    }

    /// What stands at a place.
    pub(super) fn source(&self, span: Span) -> &'a str {
        self.file.source(self.item.place(span))
    }

    /// The text of the item.
    pub(super) fn text(&self) -> &'a str {
        self.file.source(self.item.span)
    }

    /// What a name stands for.
    pub(super) fn meaning(&self, name: &str) -> Meaning<'a> {
        match self.values(name).as_slice() {
            [Some(value)] => Meaning::Value(value),
            [_] => Meaning::Steady,
            _ => Meaning::Changing,
        }
    }

    /// Whether callers say what a name is.
    pub(super) fn is_parameter(&self, name: &str) -> bool {
        let mut params = self.around.iter().flat_map(|def| &def.params);
        params.any(|p| p.name.name == name)
    }

    /// Everything that a name may stand for in the functions around; nothing where it is a parameter,
    /// unpacked or of the module.
    pub(super) fn values(&self, name: &str) -> Vec<Option<&'a Expr>> {
        for def in &self.around {
            let mut found = Vec::new();
            if def.params.iter().any(|p| p.name.name == name) {
                found.push(None);
            }
            bindings(&def.body, name, &mut |value| found.push(value));
            if !found.is_empty() {
                return found;
            }
        }
        vec![None]
    }

    /// The number that a name is given once, in the innermost function or in the module.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        let mut own = Vec::new();
        bindings(&self.def()?.body, name, &mut |value| own.push(value));
        match own.as_slice() {
            [Some(value)] => match (&value.kind, self.meaning(name)) {
                (ExprKind::Int(number), Meaning::Value(_)) => Some(*number),
                _ => None,
            },
            [] => match (self.meaning(name), self.file.module.constants.get(name)) {
                (Meaning::Steady, Some(Literal::Int(number))) if self.is_of_module(name) => {
                    Some(*number)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// No function around the launch has a name of its own like this.
    fn is_of_module(&self, name: &str) -> bool {
        self.around.iter().all(|def| {
            let mut bound = def.params.iter().any(|p| p.name.name == name);
            bindings(&def.body, name, &mut |_| bound = true);
            !bound
        })
    }

    /// Whether it is in an autograd function, and not in its forward pass.
    pub(super) fn is_backward(&self) -> bool {
        is_backward(self.item, &self.around)
    }

    /// How often the innermost function names something, to give it a value or to read it.
    pub(super) fn named_within(&self, name: &SmolStr) -> usize {
        let mut count = 0;
        if let Some(def) = self.def() {
            mentions(&def.body, name, None, &mut count);
        }
        count
    }

    /// How often the file names something outside the innermost function, or a name of this function.
    pub(super) fn named_elsewhere(&self, name: &SmolStr) -> usize {
        let own = self.def().map(|d| d.def_span);
        let mut count = 0;
        for item in &self.file.file.items {
            let skip = own.filter(|_| item.span == self.item.span);
            mentions(&item.facts.body, name, skip, &mut count);
        }
        count
    }
}

/// Whether functions are of an autograd function, and not its forward pass.
fn is_backward(item: &Item, around: &[&FunctionDef]) -> bool {
    let outermost = around.last();
    let is_function = |base: &Expr| base.last_ident().is_some_and(|i| i.name == "Function");
    item.facts.body.iter().any(|stmt| match &stmt.kind {
        StmtKind::ClassDef(class) => {
            class.bases.iter().any(|b| is_function(&b.value))
                && outermost.is_some_and(|def| def.name.name != "forward")
        }
        _ => false,
    })
}
