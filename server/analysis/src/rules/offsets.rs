//! Offsets of blocks in flattened arrays.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use crate::body::{Const, Device, Ty};

/// How many names are followed before giving up.
const HOPS: u32 = 8;

/// A block of consecutive offsets, `row * stride + arange(BLOCK)`, that may reach beyond
/// its row into the next: the base is no multiple of the width.
pub(super) fn overrun<'a>(device: &Device<'a>, index: &'a Expr) -> Option<Overrun<'a>> {
    let index = match &device.follow(index).kind {
        // One axis for all: the array is flat. Of several, each has bounds of its own.
        ExprKind::Tuple(items) => match &items[..] {
            [only] => only,
            _ => return None,
        },
        _ => index,
    };
    let mut terms = Vec::new();
    add(device, index, HOPS, &mut terms);
    let width = terms.iter().find_map(|term| width(device, term))?;
    if device.ty(width).int() == Some(1) {
        return None;
    }
    let others = || {
        let varying = terms.iter().filter(|t| self::width(device, t).is_none());
        varying.filter(|t| varies(device, t, HOPS))
    };
    let block = others().find(|term| mentions(device, term, width, HOPS));
    let row = others().any(|term| !mentions(device, term, width, HOPS));
    row.then_some(Overrun {
        width,
        blocked: block.is_some_and(|term| !counts(device, term)),
    })
}

/// A block that may reach beyond its row.
pub(super) struct Overrun<'a> {
    /// How wide it is.
    pub width: &'a Expr,
    /// The grid has several blocks a row: `row * stride + bid * BLOCK + arange(BLOCK)`. Hosts often
    /// pad the rows of such an array.
    pub blocked: bool,
}

/// The counter of a loop that starts at a constant is in it: one block walks over the row.
fn counts(device: &Device<'_>, term: &Expr) -> bool {
    let mut counters = Vec::new();
    loop_counters(device, &device.def.body, &mut counters);
    let mut found = false;
    term.walk(&mut |e| found |= e.name().is_some_and(|n| counters.contains(n)));
    found
}

fn loop_counters(device: &Device<'_>, body: &[Stmt], out: &mut Vec<SmolStr>) {
    for stmt in body {
        if let StmtKind::For { target, iter, .. } = &stmt.kind
            && let (Some(name), ExprKind::Call { args, .. }) = (target.name(), &iter.kind)
            && (args.len() < 2 || matches!(device.ty(&args[0].value), Ty::Const(_)))
        {
            out.push(name.clone());
        }
        for inner in stmt.blocks() {
            loop_counters(device, inner, out);
        }
    }
}

/// The terms of a sum, names followed.
fn add<'a>(device: &Device<'a>, expr: &'a Expr, hops: u32, out: &mut Vec<&'a Expr>) {
    let followed = device.follow(expr);
    match &followed.kind {
        _ if hops == 0 => out.push(followed),
        ExprKind::Binary { op, left, right } if op == "+" => {
            add(device, left, hops - 1, out);
            add(device, right, hops - 1, out);
        }
        // An axis more.
        ExprKind::Subscript { value, .. } if device.tile(value).is_some() => {
            add(device, value, hops - 1, out);
        }
        ExprKind::Call { .. } => match device.call(followed) {
            Some(call)
                if matches!(
                    call.name.as_str(),
                    "astype" | "reshape" | "expand_dims" | "broadcast_to"
                ) =>
            {
                match call.arg(0, "x") {
                    Some(inner) => add(device, inner, hops - 1, out),
                    None => out.push(followed),
                }
            }
            Some(call) if call.name == "add" => {
                for (place, name) in ["x", "y"].into_iter().enumerate() {
                    if let Some(part) = call.arg(place, name) {
                        add(device, part, hops - 1, out);
                    }
                }
            }
            _ => out.push(followed),
        },
        _ => out.push(followed),
    }
}

/// The size of an `arange`.
fn width<'a>(device: &Device<'a>, term: &'a Expr) -> Option<&'a Expr> {
    device
        .call(term)
        .filter(|c| c.name == "arange")
        .and_then(|c| c.arg(0, "size"))
}

/// Differs from block to block, or comes from memory.
fn varies<'a>(device: &Device<'a>, expr: &'a Expr, hops: u32) -> bool {
    let differs = |e: &Expr| match device.ty(e) {
        Ty::Scalar { block } => *block,
        Ty::Tile(tile) => !tile.sources.is_empty(),
        _ => false,
    };
    let mut found = false;
    expr.walk(&mut |e| {
        found |= differs(e);
        if hops > 0 && !found && e.name().is_some() {
            let followed = device.follow(e);
            found |= followed.span != e.span && varies(device, followed, hops - 1);
        }
    });
    found
}

/// Whether an expression is made of the width, names followed.
fn mentions<'a>(device: &Device<'a>, expr: &'a Expr, width: &Expr, hops: u32) -> bool {
    let wanted = constant(device, width);
    let mut found = false;
    expr.walk(&mut |e| {
        if found {
            return;
        }
        found = match (&wanted, device.ty(e)) {
            (Some(Named::Name(name)), Ty::Const(Const::Name(other))) => name == other,
            (Some(Named::Int(value)), Ty::Const(Const::Int(other))) => value == other,
            _ => false,
        };
        if hops > 0 && !found && e.name().is_some() {
            let followed = device.follow(e);
            found = followed.span != e.span && mentions(device, followed, width, hops - 1);
        }
    });
    found
}

enum Named {
    Name(SmolStr),
    Int(i64),
}

fn constant(device: &Device<'_>, expr: &Expr) -> Option<Named> {
    match device.ty(expr) {
        Ty::Const(Const::Name(name)) => Some(Named::Name(name.clone())),
        Ty::Const(Const::Int(value)) => Some(Named::Int(*value)),
        _ => None,
    }
}
