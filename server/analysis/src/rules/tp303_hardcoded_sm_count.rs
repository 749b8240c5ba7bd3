//! The number of multiprocessors of one card, written into code for all.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, Stmt, StmtKind};

use crate::body::walk;
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{Findings, ItemContext};

rule! {
    /// A number of multiprocessors is written out, which is right for one card only.
    ///
    /// Cards of one architecture differ: an H100 has 114 or 132, an H200 132, a B200 148, an RTX 5090
    /// 170, and a card can be partitioned. A grid made for the wrong number leaves multiprocessors
    /// idle or runs a last wave that is nearly empty. Ask the device.
    ///
    /// ```python bad
    /// def grid(n_rows):
    ///     NUM_SMS = 148  # TP303
    ///     return (min(NUM_SMS * 4, n_rows),)
    /// ```
    ///
    /// ```python fixed
    /// def grid(n_rows):
    ///     NUM_SMS = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
    ///     return (min(NUM_SMS * 4, n_rows),)
    /// ```
    ///
    /// ```python good
    /// def grid(n_rows, device):
    ///     NUM_SMS = torch.cuda.get_device_properties(device).multi_processor_count
    ///     return (min(NUM_SMS * 4, n_rows),)
    /// ```
    TP303 "hardcoded-sm-count" Warning,
    Item(check)
}

/// Counts of cards that cuTile runs on. Anything else needs a name that says what it is.
const KNOWN: [i64; 12] = [78, 84, 108, 114, 128, 132, 142, 144, 148, 152, 170, 188];

/// Asks the device. The module `torch` has to be there.
pub(crate) const ASK: &str =
    "torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count";

fn check(item: &ItemContext<'_>, out: &mut Findings<'_>) {
    // Kernels in CUDA's own Python language are another matter.
    let imports = || item.module.imports.values();
    if imports().any(|p| p.starts_with("cuda.lang"))
        && !imports().any(|p| p.starts_with("cuda.tile"))
    {
        return;
    }
    block(item, item.body, out);
}

/// Statements and those within, kernels left aside: in them the grid says how many blocks run.
fn block(item: &ItemContext<'_>, body: &[Stmt], out: &mut Findings<'_>) {
    // `walk` enters branches and loops itself, but neither functions nor classes.
    walk(body, &mut |expr, place| {
        if let (Some(stmt), Some((value, name))) = (place.stmt(), place.stmt().and_then(assigned))
            && std::ptr::eq(value, expr)
            && !is_fallback(stmt, &place.path)
        {
            said(item, value, name, true, out);
        }
        if let ExprKind::Call { func, args } = &expr.kind {
            call(item, func, args, out);
        }
    });
    definitions(body, &mut |stmt| match &stmt.kind {
        StmtKind::FunctionDef(def) => {
            if item.is_device(def) {
                return;
            }
            for param in &def.params {
                if let Some(default) = &param.default {
                    said(item, default, &param.name.name, false, out);
                }
            }
            block(item, &def.body, out);
        }
        StmtKind::ClassDef(class) => block(item, &class.body, out),
        _ => {}
    });
}

/// Functions and classes of statements, those in branches included.
fn definitions<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => visit(stmt),
            _ => stmt
                .blocks()
                .into_iter()
                .for_each(|b| definitions(b, visit)),
        }
    }
}

/// The value and the name of an assignment to one name or attribute.
fn assigned(stmt: &Stmt) -> Option<(&Expr, &str)> {
    let (target, value) = match &stmt.kind {
        StmtKind::Assign { targets, value } => (targets.first()?, value),
        StmtKind::AnnAssign {
            target,
            value: Some(value),
            ..
        } => (target, value),
        _ => return None,
    };
    let name = match &target.kind {
        ExprKind::Name(name) => name.as_str(),
        ExprKind::Attribute { attr, .. } => attr.name.as_str(),
        _ => return None,
    };
    Some((value, name))
}

/// Whether an assignment is made only where the device cannot be asked: in `except`, or where
/// `is_available` says no.
fn is_fallback(stmt: &Stmt, path: &[&Stmt]) -> bool {
    path.iter().any(|outer| match &outer.kind {
        StmtKind::Try { handlers, .. } => (handlers.iter())
            .flat_map(|h| &h.body)
            .any(|s| s.span.contains(stmt.span)),
        StmtKind::If { branches, orelse } => {
            let asked = branches.iter().any(|(test, _)| {
                let mut asked = false;
                test.walk(&mut |e| {
                    asked |= e.last_ident().is_some_and(|i| i.name == "is_available");
                });
                asked
            });
            asked
                && (orelse.iter().any(|s| s.span.contains(stmt.span))
                    || matches!(branches.as_slice(), [(test, _)] if matches!(test.kind, ExprKind::Unary { .. })))
        }
        _ => false,
    })
}

/// Arguments by a telling name, and a count in the smaller of it and the number of blocks.
fn call(item: &ItemContext<'_>, func: &Expr, args: &[Arg], out: &mut Findings<'_>) {
    // Objects that only pretend to be a device, in tests.
    let stands_for_device = func.last_ident().is_some_and(|ident| {
        let lower = ident.name.to_ascii_lowercase();
        [
            "mock",
            "namespace",
            "patch",
            "setattr",
            "properties",
            "fake",
        ]
        .iter()
        .any(|w| lower.contains(w))
    });
    if stands_for_device {
        return;
    }
    for arg in args {
        if let Some(name) = &arg.name {
            said(item, &arg.value, &name.name, true, out);
        }
    }
    let smaller = func.name().is_some_and(|n| n == "min");
    if smaller && args.len() == 2 && args.iter().all(|a| a.name.is_none()) {
        for arg in args {
            let count = match &arg.value.kind {
                ExprKind::Binary { op, left, .. } if op == "*" => left,
                _ => &arg.value,
            };
            // 128 is more often a tile than a card.
            if let ExprKind::Int(value) = count.kind
                && KNOWN.contains(&value)
                && value != 128
            {
                report(item, count.span, value, out);
            }
        }
    }
}

/// Says it if a value of this name is a count written out.
fn said(item: &ItemContext<'_>, value: &Expr, name: &str, asks: bool, out: &mut Findings<'_>) {
    if !is_count(name) {
        return;
    }
    match &value.kind {
        ExprKind::Int(count) if (16..1000).contains(count) => {
            if asks {
                report(item, value.span, *count, out);
            } else {
                plain(value.span, *count, out);
            }
        }
        // `NUM_SMS = 148 * 2`
        ExprKind::Binary { op, left, .. } if op == "*" || op == "//" => {
            if let ExprKind::Int(count) = left.kind
                && KNOWN.contains(&count)
            {
                report(item, left.span, count, out);
            }
        }
        _ => {}
    }
}

fn plain<'f>(span: Span, count: i64, out: &'f mut Findings<'_>) -> crate::rules::Described<'f> {
    out.push(
        span,
        format!(
            "{count} multiprocessors are those of one card: ask for `multi_processor_count` of the \
             device"
        ),
    )
}

fn report(item: &ItemContext<'_>, span: Span, count: i64, out: &mut Findings<'_>) {
    let found = plain(span, count, out);
    if item
        .module
        .imports
        .get("torch")
        .is_some_and(|path| path == "torch")
    {
        let edits = Edits::new(item.text).replace(span, ASK);
        found.review_fix("Ask the device", edits);
    }
}

/// Whether a name is one for a number of multiprocessors.
fn is_count(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let lower = lower.trim_matches('_');
    let parts: Vec<&str> = lower.split('_').collect();
    let counted = |part: &&str| matches!(*part, "num" | "n" | "nr" | "count" | "number" | "total");
    let sm = |part: &&str| matches!(*part, "sm" | "sms" | "multiprocessor" | "multiprocessors");
    let whole = matches!(
        lower,
        "sms" | "nsm" | "nsms" | "numsm" | "numsms" | "smcount" | "multi_processor_count"
    );
    let others = |part: &&str| {
        counted(part) || sm(part) || matches!(*part, "gpu" | "device" | "max" | "default")
    };
    whole
        || parts.iter().any(sm)
            && (parts.iter().any(counted) || parts.contains(&"sms"))
            && parts.iter().all(others)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    #[test]
    fn counts_written_out() {
        for code in [
            "NUM_SMS = 148  # TP303",
            "SM_COUNT: int = 132  # TP303",
            "def f(n, num_sms=108):  # TP303\n    pass",
            "def f(n, *, num_sm: int = 170):  # TP303\n    pass",
            "run(x, NUM_SM=188)  # TP303",
            "grid = (min(132, n), 1, 1)  # TP303",
            "grid = (min(n, 148 * 4),)  # TP303",
            "num_sms = 132 * 2  # TP303",
            "class Op:\n    sms = 152  # TP303\n    def __init__(self):\n        self.num_sms = 64  # TP303",
            "if big:\n    num_sms = 132  # TP303",
            "if small:\n    num_sms = ask()\nelse:\n    num_sms = 132  # TP303",
            "DEFAULT_NUM_SMS = 160  # TP303",
            "def f():\n    def g():\n        n_sms = 108  # TP303",
        ] {
            bad(&RULE, &format!("{code}\n"));
        }
    }

    #[test]
    fn other_numbers_and_names() {
        for code in [
            "NUM_SMS = torch.cuda.get_device_properties(0).multi_processor_count",
            "num_sms = 1",
            "num_sms = -1",
            "def f(num_sms=None, sm_margin=16):\n    pass",
            "TILE = 148",
            "x = torch.randn(132, 108)",
            "sm_scale = 144",
            "num_sm_tiles = 148",
            "sms_per_group = 132",
            "sm_version = 120",
            "SM_ARCHS = 100",
            "n = min(128, d)",
            "n = min(148, a, b)",
            "grid = (min(NUM_SMS, 64),)",
            "if NUM_SMS == 148:\n    pass",
            // Where there is nothing to ask.
            "try:\n    n_sms = ask()\nexcept RuntimeError:\n    n_sms = 132",
            "if torch.cuda.is_available():\n    num_sms = ask()\nelse:\n    num_sms = 132",
            "if not torch.cuda.is_available():\n    num_sms = 132",
            "num_sms = ask() if torch.cuda.is_available() else 132",
            // A device that does not exist.
            "props = SimpleNamespace(multi_processor_count=132)",
            "monkeypatch.setattr(mod, 'count', 132)",
            // In a kernel the number is a constant parameter's.
            "@ct.kernel\ndef k(x, n):\n    num_sms = ct.num_blocks(0)",
        ] {
            good(&RULE, &format!("{code}\n"));
        }
    }

    #[test]
    fn not_for_kernels_of_another_language() {
        good(
            &RULE,
            "import torch\nimport cuda.lang as cl\nNUM_SMS = 148\n",
        );
    }

    #[test]
    fn no_fix_without_torch() {
        let (_, found) = bad(&RULE, "import cuda.tile as ct\nNUM_SMS = 148  # TP303\n");
        assert!(found[0].fixes.is_empty());
        let (_, found) = bad(&RULE, "def f(num_sms=148):  # TP303\n    pass\n");
        assert!(found[0].fixes.is_empty());
    }

    #[test]
    fn another_language_of_the_same_company() {
        good(&RULE, "import cuda.lang as cl\nNUM_SMS = 148\n");
        bad(
            &RULE,
            "import cuda.lang as cl\nimport cuda.tile as ct\nNUM_SMS = 148  # TP303\n",
        );
        bad(
            &RULE,
            "import numpy as cu\nfrom cuda import core\nNUM_SMS = 148  # TP303\n",
        );
    }

    #[test]
    fn a_part_of_them_and_other_sums() {
        good(&RULE, "num_sms = 148 - n\n");
        for count in ["148", "148 // 2"] {
            let (_, found) = bad(&RULE, &format!("num_sms = {count}  # TP303\n"));
            assert_eq!(found.len(), 1, "{found:?}");
        }
    }
}
