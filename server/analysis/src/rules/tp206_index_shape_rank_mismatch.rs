//! `ct.load` with an index and a shape of different length.

use tileperf_syntax::ast::{Expr, ExprKind};

use crate::body::{Const, Literal, ModuleEnv, Ty};
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings};

rule! {
    /// The index and the shape of a `ct.load` differ in length: the kernel does not compile.
    ///
    /// Both have one entry for each axis of the array. A number stands for a tuple of one. The empty
    /// shape is taken with any index and reads a single element. Seen with cuda-tile 1.7:
    /// `TileTypeError: Index size 1 does not match the array rank 2`.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def double(x, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i, 0), ct.load(x, (i,), (1, BLOCK)) * 2)  # TP206
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def double(x, n, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     scale = ct.load(n, (i, 0), ())
    ///     ct.store(x, (i, 0), ct.load(x, (i, 0), (1, BLOCK)) * scale)
    /// ```
    TP206 "index-shape-rank-mismatch" Error,
    Device(check)
}

fn check(device: &DeviceContext<'_>, out: &mut Findings<'_>) {
    device.calls(&mut |call, _| {
        if call.name != "load" || call.is_open() {
            return;
        }
        let (Some(index), Some(shape)) = (call.arg(1, "index"), call.arg(2, "shape")) else {
            return;
        };
        let (Some(indices), Some(extents)) = (length(device, index), length(device, shape)) else {
            return;
        };
        if extents == 0 || indices == extents {
            return;
        }
        let message = format!(
            "the index has {indices} {}, the shape {extents}; both need one for each axis of the array",
            if indices == 1 { "entry" } else { "entries" },
        );
        out.push(call.expr.span, message)
            .related(shape.span, "the shape")
            .claim(Claim::Errors);
    });
}

/// How many axes an index or shape is for.
fn length(device: &DeviceContext<'_>, expr: &Expr) -> Option<usize> {
    match device.ty(expr) {
        Ty::Tuple(parts) => Some(parts.len()),
        Ty::Scalar { .. } | Ty::Const(Const::Int(_)) => Some(1),
        // A constant can be a tuple, unless its annotation says otherwise.
        Ty::Const(Const::Name(name)) => {
            let annotation = device.param(name)?.annotation.as_ref()?;
            is_whole_number(device.module, annotation).then_some(1)
        }
        _ => None,
    }
}

/// `ct.Constant[int]`, or an alias of it.
fn is_whole_number(module: &ModuleEnv, annotation: &Expr) -> bool {
    match &annotation.kind {
        ExprKind::Subscript { index, .. } => {
            matches!(index.as_slice(), [of] if of.name().is_some_and(|n| n == "int"))
        }
        ExprKind::Name(name) => matches!(
            module.constants.get(name),
            Some(Literal::Generic { of: Some(of), .. }) if of == "int"
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(lines: &str) -> String {
        format!(
            "Int = ct.Constant[int]\nPAIR = (1, 16)\n\n@ct.kernel\ndef k(x, s, B: ct.Constant[int], C: Int, T: ct.Constant[bool], A: ct.Constant, M: ct.Constant[tuple[int, int]]):\n    i = ct.bid(0)\n    {lines}\n"
        )
    }

    #[test]
    fn lengths_that_differ() {
        for lines in [
            "ct.load(x, (i,), (1, B))  # TP206",
            "ct.load(x, (i, 0, 0), (1, B))  # TP206",
            "ct.load(x, index=(i, 0), shape=(B,))  # TP206",
            "ct.load(x, i, (1, B))  # TP206",
            "ct.load(x, 0, shape=(1, B))  # TP206",
            "ct.load(x, (i, 0), B)  # TP206",
            "ct.load(x, (i, 0), C)  # TP206",
            "ct.load(x, (), (B,))  # TP206",
            "ct.load(x, [i], [1, B])  # TP206",
            "at = (i, 0)\n    ct.load(x, at, (B,))  # TP206",
            "at = (i, 0)\n    ct.load(x, (*at, 0), (1, B))  # TP206",
            "at = (i,) + (0,)\n    ct.load(x, at, (B,))  # TP206",
            "shape = (1, B)\n    for j in range(4):\n        ct.load(x, (j,), shape)  # TP206",
        ] {
            bad(&RULE, &kernel(lines));
        }
    }

    #[test]
    fn lengths_that_agree_or_are_not_known() {
        for lines in [
            "ct.load(x, (i,), (B,))",
            "ct.load(x, i, B)",
            "ct.load(x, (i,), B)",
            "ct.load(x, i, (B,))",
            "ct.load(x, i, shape=())",
            "ct.load(x, (i, 0), shape=())",
            "ct.load(x, (i, 0), (1, B))",
            "ct.load(x, (*s, 0), (1, B))",
            "ct.load(x, s, (1, B))",
            "ct.load(x, (i, 0), s)",
            "ct.load(x, (i, 0), SHAPE)",
            "ct.load(x, (i, 0), PAIR)",
            "ct.load(x, (i, 0), A)",
            "ct.load(x, (i, 0), M)",
            "at = (i,) if T else (i, 0)\n    ct.load(x, at, (1, B))",
            "if T:\n        at = (i,)\n    else:\n        at = (i, 0)\n    ct.load(x, at, (1, B))",
            "ct.load(*s)",
            "ct.load(*s, (i,), (1, B))",
            "ct.gather(x, (i,), padding_value=0)",
            "ct.store(x, (i, 0), ct.zeros((1, B), ct.float32))",
            "other.load(x, (i,), (1, B))",
            "torch.load(x, (i,), (1, B))",
        ] {
            good(&RULE, &kernel(lines));
        }
    }

    #[test]
    fn names_of_the_functions_around_hide_those_of_the_module() {
        for code in [
            "def make():\n    shape = (16, 16)\n    @ct.kernel\n    def k(x):\n        ct.load(x, (0, 0), shape)\n    return k\n",
            "SIZE = 16\ndef make(SIZE):\n    @ct.kernel\n    def k(x):\n        ct.load(x, (0, 0), SIZE)\n    return k\n",
            "SIZE = 16\ndef make():\n    for SIZE in [(1, 2)]:\n        @ct.kernel\n        def k(x):\n            ct.load(x, (0, 0), SIZE)\n    return k\n",
        ] {
            good(&RULE, code);
        }
    }
}
