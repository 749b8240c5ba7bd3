//! A launch as it is written, with the function that makes it.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use tileperf_syntax::{Item, Span};

use crate::body::{Literal, argument, bindings, walk};
use crate::model::{Candidate, Launch, LaunchApi};
use crate::playbook::KernelContext;
use crate::rewrite::Edits;
use crate::rewrite::autotune::fresh;
use crate::rules::FileContext;

/// A launch that can be changed. Places are relative to the item.
pub(super) struct Site<'a> {
    pub(super) file: FileContext<'a>,
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
    pub(super) fn of(at: &KernelContext<'a>, launch: &'a Launch) -> Result<Site<'a>, Refused> {
        match Site::anywhere(at, launch)? {
            (site, loops) if loops.is_empty() => Ok(site),
            _ => Err("it is launched in a loop"),
        }
    }

    /// A launch and the loops around it, outermost first.
    pub(super) fn anywhere(
        at: &KernelContext<'a>,
        launch: &'a Launch,
    ) -> Result<(Site<'a>, Vec<&'a Stmt>), Refused> {
        let file = *at.file;
        if launch.stale {
            return Err("the launch does not parse");
        }
        if launch.api != LaunchApi::Launch {
            return Err("it is launched from JAX");
        }
        let one = matches!(launch.candidates.as_slice(), [Candidate::Local(n)] if *n == at.number);
        if !one || launch.kernel_text != at.kernel.name {
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

/// The launches of a kernel, if they are all that uses it: no other file, search or remade kernel does,
/// and nobody is handed it.
pub(super) fn only_launches<'a>(at: &KernelContext<'a>) -> Result<Vec<&'a Launch>, Refused> {
    let (file, kernel) = (at.file, at.kernel);
    if at.uses.searches > 0 || at.uses.remade > 0 {
        return Err("a search or a remade kernel launches it too");
    }
    let of_that_name = file.model.kernels.iter().filter(|k| k.name == kernel.name);
    if kernel.qualified != kernel.name || of_that_name.count() > 1 {
        return Err("it is not a function of the module, defined once");
    }
    let launches = at.launches();
    if launches.is_empty() || at.uses.launches > launches.len() {
        return Err("other files launch it, or nothing does");
    }
    if named_in(file, &kernel.name) != launches.len() {
        return Err("it is not only launched");
    }
    Ok(launches)
}

/// How often a file names something; defining it is not naming it.
fn named_in(file: &FileContext<'_>, name: &SmolStr) -> usize {
    let mut count = 0;
    for item in &file.file.items {
        mentions(&item.facts.body, name, None, &mut count);
    }
    count
}

/// Counts the mentions of a name, those in the function that stands at `skip` left out.
fn mentions(body: &[Stmt], name: &SmolStr, skip: Option<Span>, count: &mut usize) {
    for stmt in body {
        if let StmtKind::FunctionDef(def) = &stmt.kind
            && Some(def.def_span) == skip
        {
            continue;
        }
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| *count += usize::from(e.name() == Some(name)));
        });
        for inner in stmt.blocks() {
            mentions(inner, name, skip, count);
        }
    }
}

/// The statement that is a call, if it has its lines to itself, and the loops around it.
fn statement<'a>(
    file: &FileContext<'a>,
    item: &'a Item,
    around: &[&'a FunctionDef],
    call: &Expr,
) -> Result<(&'a Stmt, Vec<&'a Stmt>), Refused> {
    let def = *around.first().ok_or("it is launched outside functions")?;
    if def.is_async {
        return Err("it is launched in a coroutine");
    }
    let mut found = None;
    walk(&def.body, &mut |expr, place| {
        if expr.span == call.span {
            found = place.stmt().map(|stmt| (stmt, place.loops().collect()));
        }
    });
    let (stmt, loops) = found.ok_or("the launch is not a statement of its own")?;
    if !matches!(&stmt.kind, StmtKind::Expr(e) if e.span == call.span) {
        return Err("the launch is not a statement of its own");
    }
    let place = item.place(stmt.span);
    let alone = Edits::new(file.text).own_line(place.start).is_some();
    let rest = file
        .text
        .get(place.end as usize..crate::rewrite::line_end(file.text, place.end) as usize);
    let ends = rest.is_some_and(|rest| rest.trim().is_empty() || rest.trim().starts_with('#'));
    if alone && ends {
        Ok((stmt, loops))
    } else {
        Err("the launch shares its line")
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
