//! Waiting for the device: which calls do, and which functions do whenever they are called.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::{FileContext, InItem, Links, host};
use crate::body::{ModuleEnv, Place, argument, values, walk};

/// How many functions a wait is looked for in, each called by the one before.
const HOPS: usize = 3;

/// A call that waits.
#[derive(Debug)]
pub(super) struct Wait {
    /// As a message shows it: `.item()`.
    pub(super) how: String,
    /// The parameter whose value is read: it waits only if that is on the device.
    of: Option<SmolStr>,
    /// Where, if it is in another function of the same file.
    pub(super) at: Option<Span>,
}

/// Where a value is, as far as it is written out.
enum Home<'a> {
    /// Not on a device: NumPy's, or made on the CPU.
    Host,
    /// Wherever the caller has it.
    Param(&'a SmolStr),
    Unknown,
}

/// What a call in a function waits with.
pub(super) fn wait(module: &ModuleEnv, def: &FunctionDef, call: &Expr) -> Option<Wait> {
    let ExprKind::Call { func, .. } = &call.kind else {
        return None;
    };
    let found = |how: String, of: Option<&SmolStr>| {
        let of = of.cloned();
        Some(Wait { how, of, at: None })
    };
    let synchronize = "torch.cuda.synchronize";
    if module.path(func).is_some_and(|path| path == synchronize) {
        return found(format!("{synchronize}()"), None);
    }
    let (base, name, args) = host::method(call)?;
    if !args.is_empty() || !matches!(name, "item" | "tolist" | "cpu") {
        return None;
    }
    match home(module, def, base) {
        Home::Host => None,
        Home::Param(name_of) => found(format!(".{name}()"), Some(name_of)),
        Home::Unknown => found(format!(".{name}()"), None),
    }
}

/// What a call waits with in the function that it calls, of this file or another.
pub(super) fn wait_within<'a>(
    file: &FileContext<'a>,
    links: &dyn Links,
    def: InItem<'a, FunctionDef>,
    call: &'a Expr,
) -> Option<Wait> {
    called(file, links, def.node, call, HOPS)
}

fn called(
    file: &FileContext<'_>,
    links: &dyn Links,
    def: &FunctionDef,
    call: &Expr,
    hops: usize,
) -> Option<Wait> {
    let hops = hops.checked_sub(1)?;
    let ExprKind::Call { func, args } = &call.kind else {
        return None;
    };
    // A name that the function binds is no function of a file.
    let written = func.dotted()?;
    let root = written.split('.').next().unwrap_or_default();
    let is_param = def.params.iter().any(|p| p.name.name == root);
    if is_param || !values(&def.body, root).is_empty() {
        return None;
    }
    let path = file.module.path(func)?;
    let mut found = None;
    let mut ask = |home: &FileContext<'_>, helper: InItem<'_, FunctionDef>| {
        found = always(home, links, helper, hops).and_then(|wait| {
            let of = match &wait.of {
                Some(param) => read(file.module, def, passed(helper.node, args, param)?)?,
                None => None,
            };
            Some(Wait { of, ..wait })
        });
    };
    if path.contains('.') {
        links.function(&path, &mut ask);
        return found.map(|wait| Wait { at: None, ..wait });
    }
    ask(file, host::function(file, &path)?);
    found
}

/// What a function waits with each time that it is called. One that launches a kernel itself is
/// judged by itself; what a decorator makes of one, nobody knows.
fn always(
    file: &FileContext<'_>,
    links: &dyn Links,
    def: InItem<'_, FunctionDef>,
    hops: usize,
) -> Option<Wait> {
    let node = def.node;
    let is_device = file.device_code(def.place(node.def_span)).is_some();
    if is_device || node.is_async || !node.decorators.is_empty() {
        return None;
    }
    let mut found: Option<Wait> = None;
    let mut is_other = false;
    let mut skipped: Vec<Span> = Vec::new();
    walk(&node.body, &mut |expr, place| match &expr.kind {
        ExprKind::Lambda { .. } => skipped.push(expr.span),
        ExprKind::Conditional { body, orelse, .. } => skipped.extend([body.span, orelse.span]),
        ExprKind::Logical { right, .. } => skipped.push(right.span),
        ExprKind::Yield(_) | ExprKind::YieldFrom(_) => is_other = true,
        ExprKind::Call { func, .. } => {
            is_other |= file.module.api(func).is_some_and(|name| name == "launch");
            let evaluated = || {
                !skipped.iter().any(|s| s.contains(expr.span))
                    && is_certain(expr, place)
                    && !returns_before(&node.body, expr.span)
            };
            if found.is_none() && evaluated() {
                let own = wait(file.module, node, expr).map(|wait| Wait {
                    at: Some(def.place(expr.span)),
                    ..wait
                });
                found = own.or_else(|| called(file, links, node, expr, hops));
            }
        }
        _ => {}
    });
    found.filter(|_| !is_other)
}

/// What a call gives a parameter; nothing if that is its default, or not written out.
fn passed<'a>(def: &FunctionDef, args: &'a [Arg], param: &SmolStr) -> Option<&'a Expr> {
    if args.iter().any(|a| a.stars > 0) {
        return None;
    }
    let place = def.params.iter().position(|p| p.name.name == *param)?;
    argument(args, Some(place), param)
}

/// Of a value that is read on the device, the parameter that it is of; nothing at all if it is on
/// the host.
fn read(module: &ModuleEnv, def: &FunctionDef, value: &Expr) -> Option<Option<SmolStr>> {
    match home(module, def, value) {
        Home::Host => None,
        Home::Param(name) => Some(Some(name.clone())),
        Home::Unknown => Some(None),
    }
}

/// Where a value is.
fn home<'a>(module: &ModuleEnv, def: &'a FunctionDef, base: &'a Expr) -> Home<'a> {
    let mut root = base;
    loop {
        root = match &root.kind {
            ExprKind::Call { func, args } => {
                if let Some(device) = argument(args, None, "device") {
                    let is_cpu = matches!(&device.kind, ExprKind::Str(text) if text == "cpu");
                    return if is_cpu { Home::Host } else { Home::Unknown };
                }
                // What comes back from the device waits there, and is said there.
                if host::method(root).is_some_and(|(_, n, _)| matches!(n, "cpu" | "numpy")) {
                    return Home::Host;
                }
                match (module.path(func), args.first()) {
                    (Some(path), _) if path.starts_with("numpy.") => return Home::Host,
                    // `torch.max(x)` is where `x` is.
                    (Some(path), Some(first)) if path.starts_with("torch.") => &first.value,
                    _ => func,
                }
            }
            ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. } => value,
            // What an object holds may be anywhere: tables are often kept on the host.
            ExprKind::Name(name) if name == "self" => return Home::Host,
            ExprKind::Name(name) => {
                return match values(&def.body, name).as_slice() {
                    [Some(value)] if value.span.end <= base.span.start => {
                        if value.name() == Some(name) {
                            Home::Unknown
                        } else {
                            home(module, def, value)
                        }
                    }
                    [] => of_param(def, name),
                    _ => Home::Unknown,
                };
            }
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::Str(_)
            | ExprKind::List(_)
            | ExprKind::Tuple(_) => return Home::Host,
            _ => return Home::Unknown,
        };
    }
}

fn of_param<'a>(def: &'a FunctionDef, name: &SmolStr) -> Home<'a> {
    let Some(param) = def.params.iter().find(|p| p.name.name == *name) else {
        return Home::Unknown;
    };
    let annotated = param.annotation.as_ref().and_then(Expr::last_ident);
    if annotated.is_some_and(|ident| ident.name == "ndarray") {
        return Home::Host;
    }
    Home::Param(&param.name.name)
}

/// Whether an expression is evaluated each time that its function runs to the end: not in a branch,
/// nor where an error is raised.
fn is_certain(expr: &Expr, place: &Place<'_>) -> bool {
    let holds = |body: &[Stmt]| body.iter().any(|s| s.span.contains(expr.span));
    place.path.iter().all(|stmt| match &stmt.kind {
        StmtKind::If { branches, .. } => {
            (branches.first()).is_some_and(|(test, _)| test.span.contains(expr.span))
        }
        StmtKind::Try { body, .. } => holds(body),
        StmtKind::Match { subject, .. } => subject.span.contains(expr.span),
        StmtKind::Assert { test, .. } => test.span.contains(expr.span),
        StmtKind::Raise(_) => false,
        _ => true,
    })
}

/// Whether a function may have been left before a place.
fn returns_before(body: &[Stmt], at: Span) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) => stmt.span.end <= at.start,
        StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => false,
        _ => stmt.blocks().into_iter().any(|b| returns_before(b, at)),
    })
}
