//! A parameter that a kernel never reads.

use tileperf_syntax::ast::{ExprKind, Param, Stmt, StmtKind};

use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

rule! {
    /// A kernel has a parameter that it never reads.
    ///
    /// It costs no register, but every launch has to pass it, its type is part of what the compiled
    /// kernel is looked up by, and each new value of an unread constant compiles the same kernel
    /// again. It may also be a mistake: an argument that was meant to matter. A name that begins with
    /// `_` says that it is on purpose.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def double(x, n, BLOCK: ct.Constant[int]):  # TP207
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), ct.load(x, (i,), (BLOCK,)) * 2)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def double(x, _n, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), ct.load(x, (i,), (BLOCK,)) * 2)
    /// ```
    TP207 "unused-kernel-param" Hint,
    Device(check)
}

fn check(kernel: &DeviceContext<'_>, out: &mut Findings<'_>) {
    if !kernel.is_kernel || is_stub(&kernel.def.body) {
        return;
    }
    let is_unread = |p: &&Param| {
        let name = &p.name.name;
        p.stars == 0 && !name.starts_with('_') && !kernel.body.read.contains(name)
    };
    let unread: Vec<&Param> = kernel.def.params.iter().filter(is_unread).collect();
    let Some((first, rest)) = unread.split_first() else {
        return;
    };
    let mut names = format!("`{}`", first.name.name);
    for (i, param) in rest.iter().enumerate() {
        let comma = if i + 1 == rest.len() { " and" } else { "," };
        names.push_str(&format!("{comma} `{}`", param.name.name));
    }
    let verb = if rest.is_empty() { "is" } else { "are" };
    let kernel_name = &kernel.def.name;
    let message = format!(
        "`{}` never reads {names}, which {verb} passed all the same",
        kernel_name.name
    );
    let mut found = out.push(kernel_name.span, message);
    for param in &unread {
        found = found.related(param.name.span, "never read");
    }
}

/// A kernel that is still to be written.
fn is_stub(body: &[Stmt]) -> bool {
    body.iter().all(|stmt| match &stmt.kind {
        StmtKind::Pass | StmtKind::Raise(_) | StmtKind::Return(None) => true,
        StmtKind::Expr(value) => matches!(value.kind, ExprKind::Str(_) | ExprKind::Ellipsis),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    #[test]
    fn one_finding_names_all_of_them() {
        let (_, found) = bad(
            &RULE,
            "@ct.kernel\ndef k(  # TP207\n    x,\n    n, m,\n    B: ct.Constant[int],\n):\n    ct.store(x, (0,), 1)\n",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "`k` never reads `n`, `m` and `B`, which are passed all the same"
        );
        assert_eq!(found[0].related.len(), 3);
    }

    #[test]
    fn writing_is_not_reading() {
        for body in [
            "n = 1",
            "'what it does'",
            "for n in range(4):\n        pass",
            "n, m = 1, 2",
            "(n, *m) = 1, 2",
            "n: int = 1",
            "helper(x, n=1)",
            "y = x.n",
        ] {
            let code = format!(
                "@ct.kernel\ndef k(x, n):  # TP207\n    {body}\n    ct.store(x, (0,), 1)\n"
            );
            bad(&RULE, &code);
        }
    }

    #[test]
    fn every_way_to_read() {
        for body in [
            "ct.store(x, (n,), 1)",
            "n += 1",
            "helper(x, n)",
            "print(f'{n}')",
            "ct.printf('%d', n)",
            "f = lambda y: y + n",
            "def f(y):\n        return y + n",
            "if n:\n        pass",
            "while n > 0:\n        break",
            "assert n",
            "y = [i for i in range(n)]",
            "y = x[n]",
            "n.shape",
            "n[0] = x",
            "x[n] = 1",
            "return n",
            "y = (z := n)",
            "with n:\n        pass",
            "f(*n)",
            "f(**n)",
            "match n:\n        case 1:\n            pass",
        ] {
            let code = format!("@ct.kernel\ndef k(x, n):\n    {body}\n    ct.store(x, (0,), 1)\n");
            good(&RULE, &code);
        }
    }

    #[test]
    fn kernels_of_every_form() {
        for code in [
            "class Ops:\n    @staticmethod\n    @ct.kernel\n    def k(x, n):  # TP207\n        ct.store(x, (0,), 1)\n",
            "def make():\n    @ct.kernel(occupancy=2)\n    def k(x, n):  # TP207\n        ct.store(x, (0,), 1)\n    return k\n",
            "def body(x, n):  # TP207\n    ct.store(x, (0,), 1)\n\nk = ct.kernel(body)\n",
            "from cuda.tile import kernel as jit\n\n@jit\ndef k(x, n):  # TP207\n    x.shape\n",
        ] {
            bad(&RULE, code);
        }
    }

    #[test]
    fn stubs_helpers_and_marked_names() {
        for code in [
            "@ct.kernel\ndef k(x, n):\n    pass\n",
            "@ct.kernel\ndef k(x, n):\n    \"\"\"To do.\"\"\"\n    ...\n",
            "@ct.kernel\ndef k(x, n):\n    raise NotImplementedError\n",
            "@ct.kernel\ndef k(x, _, _n):\n    ct.store(x, (0,), 1)\n",
            "@ct.kernel\ndef k(x, *args, **kwargs):\n    ct.store(x, (0,), 1)\n",
            "def helper(x, n):\n    return ct.exp(x)\n",
            "def host(x, n):\n    return x\n",
        ] {
            good(&RULE, code);
        }
    }
}
