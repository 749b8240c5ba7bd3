//! Kernels that must not be run again and again on the same arrays.
//!
//! Trials of an in-place kernel run on what earlier trials left. Mostly only values change; but where
//! indices or loops follow from them, trials would read and write anywhere, or not end.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::effects::Effects;
use crate::body::{Device, Ty};
use crate::playbook::KernelContext;
use crate::playbook::site::Refused;

/// Refuses kernels whose trials would do something else than the launch.
pub(super) fn check(at: &KernelContext<'_>, effects: &Effects) -> Result<(), Refused> {
    if waits(&at.device) {
        return Err("its blocks wait for one another");
    }
    let mut tainted: FxHashSet<SmolStr> = FxHashSet::default();
    loop {
        let before = tainted.len();
        spread(&at.device, effects, &at.def.node.body, &mut tainted);
        if tainted.len() == before {
            break;
        }
    }
    let follows = |expr: &Expr| is_tainted(&at.device, effects, expr, &tainted);
    let mut steered = steers(&at.def.node.body, &follows);
    at.device.calls(&mut |call, _| {
        let index = match call.name.as_str() {
            "load" | "store" | "gather" | "scatter" => {
                call.arg(1, "index").or(call.keyword("indices"))
            }
            name if name.starts_with("atomic_") => call.arg(1, "indices"),
            _ => None,
        };
        steered |= index.is_some_and(follows);
    });
    if steered {
        return Err("what it writes over decides where it writes");
    }
    Ok(())
}

/// Whether it loops until another block has done something.
fn waits(device: &Device<'_>) -> bool {
    let mut found = false;
    device.calls(&mut |call, place| {
        let in_while = place
            .path
            .iter()
            .any(|s| matches!(s.kind, StmtKind::While { .. }));
        found |= in_while && call.name.starts_with("atomic_");
    });
    found
}

/// Adds names that follow from an array that trials change.
fn spread(device: &Device<'_>, effects: &Effects, body: &[Stmt], tainted: &mut FxHashSet<SmolStr>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, value } if is_tainted(device, effects, value, tainted) => {
                for target in targets {
                    target.walk(&mut |e| tainted.extend(e.name().cloned()));
                }
            }
            StmtKind::AugAssign { target, value, .. }
                if is_tainted(device, effects, value, tainted) =>
            {
                tainted.extend(target.name().cloned());
            }
            _ => {}
        }
        for inner in stmt.blocks() {
            spread(device, effects, inner, tainted);
        }
    }
}

fn is_tainted(
    device: &Device<'_>,
    effects: &Effects,
    expr: &Expr,
    tainted: &FxHashSet<SmolStr>,
) -> bool {
    let mut found = false;
    expr.walk(&mut |e| {
        found |= e.name().is_some_and(|n| tainted.contains(n)) || reads(device, effects, e);
    });
    found
}

/// Whether a call reads an array that trials change.
fn reads(device: &Device<'_>, effects: &Effects, expr: &Expr) -> bool {
    let ExprKind::Call { func, args } = &expr.kind else {
        return false;
    };
    let array = match device.module.api(func) {
        Some(name) if matches!(name.as_str(), "load" | "gather") || name.starts_with("atomic_") => {
            args.first().map(|a| &a.value)
        }
        Some(_) => None,
        None => match &func.kind {
            ExprKind::Attribute { value, attr } if attr.name == "load" => Some(&**value),
            _ => None,
        },
    };
    array.is_some_and(|array| match device.ty(array) {
        Ty::Array(name) => effects.changes(name),
        _ => false,
    })
}

/// Whether a loop or branch follows from something.
fn steers(body: &[Stmt], follows: &dyn Fn(&Expr) -> bool) -> bool {
    body.iter().any(|stmt| {
        let here = match &stmt.kind {
            StmtKind::For { iter, .. } => follows(iter),
            StmtKind::While { test, .. } => follows(test),
            _ => false,
        };
        here || (stmt.blocks().into_iter()).any(|inner| steers(inner, follows))
    })
}
