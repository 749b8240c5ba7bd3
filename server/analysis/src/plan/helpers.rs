//! The helpers of the same file that a kernel calls: much of a kernel may stand in them.

use smol_str::SmolStr;
use tileperf_syntax::ast::{ExprKind, FunctionDef, StmtKind};

use super::Subject;

/// Most functions looked at for a kernel.
const MOST: usize = 8;

/// The kernel, then what it calls, and what that calls, each once.
pub(super) fn with_helpers<'a>(kernel: &Subject<'a>) -> Vec<Subject<'a>> {
    let mut all = vec![kernel.clone()];
    let mut next = 0;
    while let Some(caller) = all.get(next).cloned() {
        next += 1;
        for (name, loops) in called(&caller) {
            let Some(device) = kernel.file.device_named(&name).filter(|d| !d.is_kernel) else {
                continue;
            };
            let known = all.iter().any(|s| std::ptr::eq(s.device.def, device.def));
            let Some(start) = start_of(kernel, device.def).filter(|_| !known && all.len() < MOST)
            else {
                continue;
            };
            all.push(Subject {
                device,
                start,
                around: caller.around + loops,
                ..kernel.clone()
            });
        }
    }
    all
}

/// The plain names that a function calls, and how many loops are around each call.
fn called(subject: &Subject<'_>) -> Vec<(SmolStr, usize)> {
    let mut names = Vec::new();
    subject.device.walk(&mut |expr, place| {
        if let ExprKind::Call { func, .. } = &expr.kind
            && let Some(name) = func.name()
        {
            names.push((name.clone(), place.loops().count()));
        }
    });
    names
}

/// Where the item begins that defines a function.
fn start_of(subject: &Subject<'_>, def: &FunctionDef) -> Option<u32> {
    let items = subject.file.file.items.iter();
    let defines = |stmt: &tileperf_syntax::ast::Stmt| match &stmt.kind {
        StmtKind::FunctionDef(own) => std::ptr::eq(&**own, def),
        _ => false,
    };
    let mut holders = items.filter(|item| item.facts.body.iter().any(defines));
    holders.next().map(|item| item.span.start)
}
