//! The kernel's side: the statements that work on one item, and whether they can work on several.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::super::KernelContext;
use super::super::site::Refused;
use super::{has_long_text, step};
use crate::body::{ApiCall, Device, Ty, values, walk};
use crate::rewrite::{Edits, line_end};
use crate::rules::FileContext;

/// How many functions deep calls are followed.
const DEPTH: u32 = 4;

/// Functions of Python's own that know nothing of blocks.
const BUILTINS: [&str; 12] = [
    "abs",
    "bool",
    "float",
    "int",
    "isinstance",
    "len",
    "max",
    "min",
    "pow",
    "range",
    "round",
    "tuple",
];

/// `name = ct.bid(0)` and the statements after it, which are run once for every item.
pub(super) struct Items<'a> {
    pub(super) name: &'a SmolStr,
    /// The assignment.
    stmt: &'a Stmt,
    /// `ct.bid(0)`
    bid: &'a Expr,
    /// `ct.`
    prefix: &'a str,
    /// What is run for every item.
    work: &'a [Stmt],
    /// By how much it is indented further.
    step: &'a str,
}

impl<'a> Items<'a> {
    pub(super) fn of(at: &KernelContext<'a>) -> Result<Items<'a>, Refused> {
        let def = at.def.node;
        let (number, name, bid) = (def.body.iter().enumerate())
            .find_map(|(number, stmt)| Some((number, block_name(at, stmt)?)))
            .map(|(number, (name, bid))| (number, name, bid))
            .ok_or("it does not ask for its block in a statement of its own")?;
        let (before, after) = def.body.split_at(number);
        let [stmt, work @ ..] = after else {
            return Err("nothing follows");
        };
        if work.is_empty() {
            return Err("nothing follows");
        }
        let prefix = (at.device.call(bid))
            .and_then(|call| at.prefix(&call))
            .ok_or("cuTile's functions are imported by name")?;
        let edits = at.edits();
        let rest = at.text().get(stmt.span.end as usize..);
        let rest = rest.and_then(|r| r.lines().next()).unwrap_or("").trim();
        let body = edits.own_line(stmt.span.start);
        let body = body.filter(|_| rest.is_empty() || rest.starts_with('#'));
        let step = (body.and_then(|body| step(at, body))).ok_or("it shares its line")?;
        let items = Items {
            name,
            stmt,
            bid,
            prefix,
            work,
            step,
        };
        items.check(at, before)?;
        Ok(items)
    }

    /// The loop in the place of the assignment, and the lines after it one step further in.
    pub(super) fn walked<'t>(
        &self,
        at: &KernelContext<'a>,
        mut edits: Edits<'t>,
        count: &str,
    ) -> Edits<'t> {
        let (name, prefix) = (self.name, self.prefix);
        let bid = at.source(self.bid.span);
        let head = format!("for {name} in range({bid}, {count}, {prefix}num_blocks(0)):");
        edits = edits.replace(at.def.place(self.stmt.span), head);
        let text = at.text();
        let end = self.work.last().map_or(0, |last| last.span.end);
        let mut line = line_end(text, self.stmt.span.end);
        while line < end {
            let next = line_end(text, line);
            let is_blank = text
                .get(line as usize..next as usize)
                .is_none_or(|l| l.trim().is_empty());
            if !is_blank {
                edits = edits.insert(at.def.item.span.start + line, self.step);
            }
            line = next;
        }
        edits
    }

    fn check(&self, at: &KernelContext<'a>, before: &'a [Stmt]) -> Result<(), Refused> {
        let def = at.def.node;
        let odd =
            |p: &tileperf_syntax::ast::Param| p.default.is_some() || p.stars > 0 || p.keyword_only;
        if def.params.is_empty() || def.params.iter().any(odd) {
            return Err("its parameters have defaults, or are open");
        }
        for stmt in before {
            check_once(at, stmt)?;
        }
        if any(self.work, &|s| matches!(s.kind, StmtKind::Return(_))) {
            return Err("it returns early");
        }
        // What a function of its own sees of its names is decided where it is called.
        if any(self.work, &|s| {
            matches!(s.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_))
        }) {
            return Err("it defines functions");
        }
        if self.carries(at, before) {
            return Err("it carries a value from one item to the next");
        }
        let mut long = false;
        walk(self.work, &mut |expr, _| long |= has_long_text(at, expr));
        if long {
            return Err("a text of several lines would be indented");
        }
        let mut others = Blocks::default();
        others.ask(at.file, &at.device, DEPTH)?;
        match others.asked {
            1 => Ok(()),
            _ => Err("it asks for blocks elsewhere"),
        }
    }

    /// Whether something that is there before the first item is given another value.
    fn carries(&self, at: &KernelContext<'a>, before: &'a [Stmt]) -> bool {
        let changed = |name: &str| !values(self.work, name).is_empty();
        let params = at.def.node.params.iter();
        let mut names: Vec<&SmolStr> = params.map(|p| &p.name.name).collect();
        names.push(self.name);
        walk(before, &mut |expr, _| names.extend(expr.name()));
        names.into_iter().any(|name| changed(name))
    }
}

/// The name and the value of `name = ct.bid(0)`.
fn block_name<'a>(at: &KernelContext<'a>, stmt: &'a Stmt) -> Option<(&'a SmolStr, &'a Expr)> {
    let StmtKind::Assign { targets, value } = &stmt.kind else {
        return None;
    };
    let [target] = targets.as_slice() else {
        return None;
    };
    let call = at.device.call(value)?;
    let is_first = call.name == "bid" && axis(&at.device, &call) == Some(0);
    Some((target.name()?, value)).filter(|_| is_first)
}

/// The axis that a call asks about, if it is written out.
fn axis<'a>(device: &Device<'a>, call: &ApiCall<'a>) -> Option<i64> {
    device.ty(call.arg(0, "axis")?).int()
}

/// A statement before the loop is run once for all items of a block: it may only make values.
fn check_once<'a>(at: &KernelContext<'a>, stmt: &'a Stmt) -> Result<(), Refused> {
    const ACTS: Refused = "what stands before is not only values";
    match &stmt.kind {
        StmtKind::Expr(Expr {
            kind: ExprKind::Str(_),
            ..
        }) => return Ok(()),
        StmtKind::Assign { .. } => {}
        _ => return Err(ACTS),
    }
    let mut pure = true;
    stmt.own_exprs(&mut |e: &'a Expr| {
        e.walk(&mut |e| {
            if let ExprKind::Call { .. } = e.kind {
                let name = at.device.call(e).map(|call| call.name);
                pure &= name.is_some_and(|name| {
                    !["store", "scatter", "atomic", "print"]
                        .iter()
                        .any(|acts| name.starts_with(acts))
                });
            }
        });
    });
    if pure { Ok(()) } else { Err(ACTS) }
}

/// Whether a statement, or one within, is of a kind.
fn any(body: &[Stmt], is: &dyn Fn(&Stmt) -> bool) -> bool {
    body.iter()
        .any(|stmt| is(stmt) || stmt.blocks().into_iter().any(|inner| any(inner, is)))
}

/// How often device code asks for its block of the first axis, or for how many there are.
#[derive(Default)]
struct Blocks {
    asked: usize,
}

impl Blocks {
    /// Counts what a function asks, and what those ask that it calls.
    fn ask(
        &mut self,
        file: &FileContext<'_>,
        device: &Device<'_>,
        depth: u32,
    ) -> Result<(), Refused> {
        // Blocks that wait for each other's items would wait for items of their own.
        if any(&device.def.body, &|s| {
            matches!(s.kind, StmtKind::While { .. })
        }) {
            return Err("it may wait for other blocks");
        }
        let mut result = Ok(());
        device.walk(&mut |expr, _| {
            if result.is_ok() {
                result = self.call(file, device, expr, depth);
            }
        });
        result
    }

    fn call<'a>(
        &mut self,
        file: &FileContext<'_>,
        device: &Device<'a>,
        expr: &'a Expr,
        depth: u32,
    ) -> Result<(), Refused> {
        let ExprKind::Call { func, .. } = &expr.kind else {
            return Ok(());
        };
        if let Some(call) = device.call(expr) {
            let asks = matches!(call.name.as_str(), "bid" | "num_blocks")
                && !matches!(axis(device, &call), Some(1 | 2));
            self.asked += usize::from(asks);
            return Ok(());
        }
        const UNSEEN: Refused = "a function that it calls is not seen";
        match &func.kind {
            // A method of a tile or an array.
            ExprKind::Attribute { value, .. } => {
                let module = value.name().and_then(|name| file.module.imports.get(name));
                let is_value = !matches!(device.ty(value), Ty::Unknown) || value.name().is_none();
                match module.map(|path| path.as_str()) {
                    Some("math") => Ok(()),
                    Some(_) => Err(UNSEEN),
                    None if is_value || is_own(device, value) => Ok(()),
                    None => Err(UNSEEN),
                }
            }
            ExprKind::Name(name) => match file.device_named(name) {
                Some(helper) if !is_own(device, func) => {
                    let depth = depth.checked_sub(1).ok_or(UNSEEN)?;
                    self.ask(file, &helper, depth)
                }
                _ if BUILTINS.contains(&name.as_str()) && !is_own(device, func) => Ok(()),
                _ => Err(UNSEEN),
            },
            _ => Err(UNSEEN),
        }
    }
}

/// Whether a name is one of the function's own: a parameter, or something it gives a value.
fn is_own(device: &Device<'_>, expr: &Expr) -> bool {
    expr.name().is_some_and(|name| {
        device.param(name).is_some() || !values(&device.def.body, name).is_empty()
    })
}
