//! A kernel called by device code.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind};

use crate::body::{Device, FunctionKind, is_decorated};
use crate::model::Candidate;
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, FileContext, Findings, Links};

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
    Device(check), Workspace(imported)
}

fn check(device: &DeviceContext<'_>, out: &mut Findings<'_>) {
    device.walk(&mut |expr, _| {
        let ExprKind::Call { func, .. } = &expr.kind else {
            return;
        };
        let Some(name) = func.name() else { return };
        let is_kernel = device.module.functions.get(name) == Some(&FunctionKind::Kernel);
        if is_kernel && !is_local(device, name) {
            say(func.span, name, out);
        }
    });
}

/// Kernels of other files.
fn imported(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    for (def, facts) in file.device_functions() {
        let device = file.as_device(def.node, &facts);
        device.walk(&mut |expr, _| {
            let ExprKind::Call { func, .. } = &expr.kind else {
                return;
            };
            if let Some(path) = path(&device, func)
                && is_kernel(links, path)
            {
                say(def.place(func.span), file.source(def.place(func.span)), out);
            }
        });
    }
}

/// The absolute path of something imported that is called, if it can be the workspace's.
fn path(device: &Device<'_>, func: &Expr) -> Option<SmolStr> {
    let written = func.dotted()?;
    let root = written.split('.').next()?;
    let from = device.module.imports.get(root)?;
    let foreign = ["cuda", "torch", "math", "numpy"].contains(&from.split('.').next()?);
    if foreign || is_local(device, root) {
        return None;
    }
    device.module.path(func)
}

/// Whether a path is that of a kernel and of nothing else. `k = ct.kernel(f)` leaves `f` a function.
fn is_kernel(links: &dyn Links, path: SmolStr) -> bool {
    let (mut known, mut all) = (false, true);
    links.at_home(&[Candidate::Imported(path)], &mut |_, kernel| {
        known = true;
        all &= is_decorated(kernel);
    });
    known && all
}

/// Whether a name is the function's own or that of a function around it.
fn is_local(device: &Device<'_>, name: &str) -> bool {
    device.param(name).is_some() || device.body.outer.contains(name) || device.binds(name)
}

fn say(span: Span, name: &str, out: &mut Findings<'_>) {
    let message = format!(
        "`{name}` is a kernel, which device code cannot call; take `@ct.kernel` off if it is a helper"
    );
    out.push(span, message).claim(Claim::Errors);
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, bad_beside, good, good_beside};

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

    const OTHERS: &[(&str, &str)] = &[
        (
            "pkg.ops",
            "@ct.kernel\ndef square(t):\n    ct.store(t, (0,), 1)\n\ndef plain(t):\n    return t\n\nwrapped = ct.kernel(plain)\n",
        ),
        ("pkg", "from pkg.ops import square as exported\n"),
    ];

    #[test]
    fn kernels_of_other_files_are_no_helpers_either() {
        for (import, name) in [
            ("from pkg.ops import square", "square"),
            ("from pkg.ops import square as sq", "sq"),
            ("from pkg import ops", "ops.square"),
            ("from pkg import exported", "exported"),
            ("import pkg.ops", "pkg.ops.square"),
        ] {
            for body in [
                format!("@ct.kernel\ndef k(x):\n    {name}(x)  # TP210\n"),
                format!(
                    "def helper(x):\n    return {name}(ct.load(x, (0,), (8,)))  # TP210\n\n@ct.kernel\ndef k(x):\n    helper(x)\n"
                ),
            ] {
                bad_beside(
                    &RULE,
                    OTHERS,
                    &format!("import cuda.tile as ct\n{import}\n\n{body}"),
                );
            }
        }
    }

    #[test]
    fn helpers_of_other_files_and_names_of_ones_own() {
        for code in [
            "from pkg.ops import plain\n\n@ct.kernel\ndef k(x):\n    plain(x)\n",
            "from pkg.ops import unknown\n\n@ct.kernel\ndef k(x):\n    unknown(x)\n",
            "from elsewhere import square\n\n@ct.kernel\ndef k(x):\n    square(x)\n",
            "from pkg.ops import square\n\n@ct.kernel\ndef k(x, square):\n    square(x)\n",
            "from pkg.ops import square\n\n@ct.kernel\ndef k(x):\n    def square(y):\n        return y\n    square(x)\n",
            "from pkg.ops import square\n\ndef run(s, x):\n    ct.launch(s, (1,), square, (x,))\n    square(x)\n",
            "from pkg import ops\n\n@ct.kernel\ndef k(x):\n    ops.plain(x)\n",
        ] {
            good_beside(&RULE, OTHERS, &format!("import cuda.tile as ct\n{code}"));
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
