//! A kernel called by device code.

use tileperf_syntax::ast::ExprKind;

use crate::body::{Bound, FunctionKind, bound};
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings};

rule! {
    /// A kernel is called inside device code, where only plain functions can be called.
    ///
    /// `@ct.kernel` makes an object for `ct.launch`; it is no function for other kernels. Take the
    /// decorator off a helper: it needs none. Seen with cuda-tile 1.7: `TileTypeError: Cannot create
    /// constant from value of type ...kernel`.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def square(t):
    ///     return t * t
    ///
    /// @ct.kernel
    /// def run(x, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), square(ct.load(x, (i,), (BLOCK,))))  # TP210
    /// ```
    ///
    /// ```python good
    /// def square(t):
    ///     return t * t
    ///
    /// @ct.kernel
    /// def run(x, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), square(ct.load(x, (i,), (BLOCK,))))
    /// ```
    TP210 "kernel-called-as-helper" Error,
    Device(check)
}

fn check(device: &DeviceContext<'_>, out: &mut Findings<'_>) {
    device.walk(&mut |expr, _| {
        let ExprKind::Call { func, .. } = &expr.kind else {
            return;
        };
        let Some(name) = func.name() else { return };
        let is_kernel = device.module.functions.get(name) == Some(&FunctionKind::Kernel);
        let is_local = device.param(name).is_some()
            || device.body.outer.contains(name)
            || bound(&device.def.body, name) != Bound::Nowhere;
        if !is_kernel || is_local {
            return;
        }
        let message = format!(
            "`{name}` is a kernel, which device code cannot call; take `@ct.kernel` off if it is a helper"
        );
        out.push(func.span, message).claim(Claim::Errors);
    });
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    const SQUARE: &str = "@ct.kernel(occupancy=2)\ndef square(t):\n    ct.store(t, (0,), 1)\n\n";

    #[test]
    fn kernels_and_their_helpers_cannot_call_kernels() {
        for text in [
            "@ct.kernel\ndef k(x):\n    square(x)  # TP210\n",
            "@ct.kernel\ndef k(x):\n    for i in range(4):\n        y = 1 + square(x)  # TP210\n",
            "@ct.kernel\ndef k(x):\n    k(x)  # TP210\n",
            "def helper(x):\n    return square(ct.load(x, (0,), (8,)))  # TP210\n\n@ct.kernel\ndef k(x):\n    helper(x)\n",
        ] {
            bad(&RULE, &format!("{SQUARE}{text}"));
        }
    }

    #[test]
    fn plain_functions_and_host_code() {
        for text in [
            "def helper(x):\n    return x\n\n@ct.kernel\ndef k(x):\n    helper(x)\n",
            "def run(x):\n    square(x)\n",
            "@ct.kernel\ndef k(x):\n    def square(y):\n        return y\n    square(x)\n",
            "def make(square):\n    @ct.kernel\n    def k(x):\n        square(x)\n    return k\n",
            "def make():\n    def square(x):\n        return x\n    @ct.kernel\n    def k(x):\n        square(x)\n    return k\n",
            "@ct.kernel\ndef k(x, square):\n    square(x)\n",
            "@ct.kernel\ndef k(x):\n    x.square(1)\n",
            "def body(x):\n    ct.store(x, (0,), 1)\n\nwrapped = ct.kernel(body)\n\n@ct.kernel\ndef k(x):\n    body(x)\n",
            "def make():\n    return ct.kernel(body)\n\ndef body(x):\n    ct.store(x, (0,), 1)\n\n@ct.kernel\ndef k(x):\n    body(x)\n",
            "def run(s, x):\n    ct.launch(s, (1,), square, (x,))\n",
        ] {
            good(&RULE, &format!("{SQUARE}{text}"));
        }
    }
}
