//! Python that cuTile does not compile.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{ComprehensionKind, Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use crate::body::Device;
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings};
use crate::target::Version;

rule! {
    /// Device code uses Python that the installed cuda-tile does not compile.
    ///
    /// Kernels and the functions that they call are compiled from their source: a subset of Python.
    /// Not in it (cuda-tile 1.7): `try`, `assert`, `del`, `import`, `match`, `class`, `global`, `async`,
    /// `else` of a loop, `raise` of anything but `ct.static_exception(...)`, the walrus operator, lists,
    /// dictionaries, sets and comprehensions other than `tuple(...)`, decorators of nested functions.
    /// Statements behind a condition that never holds count as well. Before 1.6 `break` left `while`
    /// loops only; before 1.5 `arange` took neither `start` nor `step`. What stands within
    /// `ct.static_eval(...)` is plain Python.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def copy(x, y, TILE: ct.Constant[int]):
    ///     assert TILE > 1  # TP214
    ///     try:  # TP214
    ///         tile = ct.load(x, (ct.bid(0),), (TILE,))
    ///     except ValueError:
    ///         return
    ///     ct.store(y, (ct.bid(0),), tile)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def copy(x, y, TILE: ct.Constant[int]):
    ///     ct.static_assert(TILE > 1, "a tile has more than one element")
    ///     for i in range(ct.num_tiles(x, axis=0, shape=(TILE,))):
    ///         if i > 7:
    ///             break
    ///         ct.store(y, (i,), ct.load(x, (i,), (TILE,)))
    /// ```
    TP214 "unsupported-python" Error,
    Device(check)
}

/// `break` in a `for`.
const BREAK: Version = Version::new(1, 6, 0);
/// `start` and `step` of `arange`; tuple comprehensions.
const ARANGE: Version = Version::new(1, 5, 0);

struct Search<'a, 'o, 'f> {
    at: &'a DeviceContext<'a>,
    version: Version,
    out: &'o mut Findings<'f>,
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    if !at.device.is_kernel && !is_surely_compiled(&at.device) {
        return;
    }
    let mut search = Search {
        at,
        version: at.target.effective_version(),
        out,
    };
    if at.device.def.is_async {
        search.keyword(at.device.def.def_span.start, "async");
    }
    search.block(&at.device.def.body, Loop::None);
}

/// A helper that does what only compiled code can. Others may be called by `static_eval`.
fn is_surely_compiled(device: &Device<'_>) -> bool {
    // A decorator may make anything of a function.
    if !device.def.decorators.is_empty() {
        return false;
    }
    let mut found = false;
    device.calls(&mut |call, _| {
        found |= matches!(
            call.name.as_str(),
            "load" | "store" | "gather" | "scatter" | "bid" | "mma" | "arange"
        );
    });
    found
}

/// The innermost loop around a statement.
#[derive(Clone, Copy, PartialEq)]
enum Loop {
    None,
    For,
    Static,
    While,
}

impl Search<'_, '_, '_> {
    fn push(&mut self, span: Span, what: &str) {
        let version = self.version;
        let message = format!("{what} in device code does not compile with cuda-tile {version}");
        self.out.push(span, message).claim(Claim::Errors);
    }

    fn keyword(&mut self, at: u32, word: &str) {
        let span = Span {
            start: at,
            end: at + word.len() as u32,
        };
        self.push(span, &format!("`{word}`"));
    }

    fn block(&mut self, body: &[Stmt], within: Loop) {
        for stmt in body {
            self.stmt(stmt, within);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, within: Loop) {
        let start = stmt.span.start;
        match &stmt.kind {
            StmtKind::Try { .. } => return self.keyword(start, "try"),
            StmtKind::Match { .. } => return self.keyword(start, "match"),
            StmtKind::ClassDef(_) => return self.push(stmt.span, "`class`"),
            StmtKind::Assert { .. } => return self.keyword(start, "assert"),
            StmtKind::Delete(_) => return self.keyword(start, "del"),
            StmtKind::Import(_) => return self.keyword(start, "import"),
            StmtKind::ImportFrom { .. } => return self.push(stmt.span, "`import`"),
            StmtKind::Global(_) => return self.keyword(start, "global"),
            StmtKind::Nonlocal(_) => return self.keyword(start, "nonlocal"),
            StmtKind::Raise(items) => {
                if !items.first().is_some_and(|e| self.is_static(e)) {
                    self.keyword(start, "raise");
                }
                return;
            }
            StmtKind::Break if within == Loop::Static => {
                return self.push(stmt.span, "`break` from `static_iter`");
            }
            StmtKind::Break if within == Loop::For && self.version < BREAK => {
                return self.push(stmt.span, "`break` from a `for` loop");
            }
            StmtKind::Continue if within == Loop::Static => {
                return self.push(stmt.span, "`continue` in `static_iter`");
            }
            StmtKind::FunctionDef(def) => return self.nested(def),
            StmtKind::For {
                target,
                iter,
                body,
                orelse,
            } => {
                self.or_else(orelse);
                self.target(target);
                if self.is_static(iter) {
                    return self.block(body, Loop::Static);
                }
                self.expr(iter);
                return self.block(body, Loop::For);
            }
            StmtKind::While { test, body, orelse } => {
                self.or_else(orelse);
                self.expr(test);
                return self.block(body, Loop::While);
            }
            StmtKind::Assign { targets, value } => {
                targets.iter().for_each(|t| self.target(t));
                return self.expr(value);
            }
            _ => {}
        }
        stmt.own_exprs(&mut |e| self.expr(e));
        for inner in stmt.blocks() {
            self.block(inner, within);
        }
    }

    fn or_else(&mut self, orelse: &[Stmt]) {
        if let Some(first) = orelse.first() {
            self.push(first.span, "`else` of a loop");
        }
    }

    fn nested(&mut self, def: &FunctionDef) {
        if def.is_async {
            self.keyword(def.def_span.start, "async");
        } else if let Some(first) = def.decorators.first() {
            self.push(first.span, "A decorator of a nested function");
        }
    }

    /// Names in brackets are a target; what else stands in one is read.
    fn target(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|i| self.target(i));
            }
            ExprKind::Starred(_) => self.push(target.span, "A starred target"),
            ExprKind::Attribute { .. } => {
                self.push(target.span, "Assignment to an attribute");
            }
            _ => self.expr(target),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        let what = match &expr.kind {
            ExprKind::List(_) => "A list",
            ExprKind::Dict(_) => "A dictionary display",
            // `{{name}}`: the file is a template.
            ExprKind::Set(items)
                if matches!(
                    items[..],
                    [Expr {
                        kind: ExprKind::Set(_),
                        ..
                    }]
                ) =>
            {
                return;
            }
            ExprKind::Set(_) => "A set",
            ExprKind::Named { .. } => "The walrus operator",
            ExprKind::Await(_) => "`await`",
            ExprKind::YieldFrom(_) => "`yield from`",
            ExprKind::Yield(_) if self.at.device.is_kernel => "`yield`",
            ExprKind::Comprehension { kind, .. } => match kind {
                ComprehensionKind::List => "A list comprehension",
                ComprehensionKind::Set => "A set comprehension",
                ComprehensionKind::Dict => "A dictionary comprehension",
                ComprehensionKind::Generator => "A generator expression",
            },
            ExprKind::Lambda { .. } => return,
            ExprKind::Call { func, args } => {
                if self.is_static(expr) || self.is_tuple(func, args) {
                    return;
                }
                self.arange(expr);
                return expr.children(&mut |e| self.expr(e));
            }
            _ => return expr.children(&mut |e| self.expr(e)),
        };
        self.push(expr.span, what);
    }

    /// `static_eval(...)` and its like: what stands in them is plain Python.
    fn is_static(&self, expr: &Expr) -> bool {
        let ExprKind::Call { func, .. } = &expr.kind else {
            return false;
        };
        let name = self.at.device.module.api(func);
        let plain = || func.last_ident().map(|i| i.name);
        name.or_else(plain)
            .is_some_and(|n| n.starts_with("static_"))
    }

    fn is_tuple(&self, func: &Expr, args: &[tileperf_syntax::ast::Arg]) -> bool {
        let comprehends = matches!(
            args,
            [only] if matches!(only.value.kind, ExprKind::Comprehension { kind: ComprehensionKind::Generator, .. })
        );
        comprehends && self.version >= ARANGE && func.name().is_some_and(|n| n == "tuple")
    }

    fn arange(&mut self, expr: &Expr) {
        if self.version >= ARANGE {
            return;
        }
        let device = &self.at.device;
        let ExprKind::Call { func, args } = &expr.kind else {
            return;
        };
        if device.module.api(func).is_none_or(|n| n != "arange") {
            return;
        }
        let given = args
            .iter()
            .filter_map(|a| a.name.as_ref())
            .find(|n| n.name == "start" || n.name == "step");
        if let Some(name) = given {
            self.push(name.span, &format!("`{}` of `arange`", name.name));
        }
    }
}

#[cfg(test)]
mod tests;
