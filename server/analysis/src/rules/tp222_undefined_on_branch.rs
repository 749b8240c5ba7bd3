//! Names that only some branches bind.

use crate::rules::flow;
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings};

rule! {
    /// A name is bound in only some branches of an `if` and read after it.
    ///
    /// Both branches are compiled, whatever the condition will be when the kernel runs, and a name that
    /// one of them leaves unbound is an undefined variable after the `if`: the kernel does not compile
    /// (cuda-tile 1.7). Bind it before the `if`, or in every branch. A condition of compile-time
    /// constants is another matter: only the branch that is taken is compiled.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def first(x, y, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     if i == 0:
    ///         tile = ct.load(x, (i,), (TILE,))
    ///     ct.store(y, (i,), tile)  # TP222
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def first(x, y, FIRST: ct.Constant[bool], TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     tile = ct.zeros((TILE,), dtype=ct.float32)
    ///     if i == 0:
    ///         tile = ct.astype(ct.load(x, (i,), (TILE,)), ct.float32)
    ///     if FIRST:
    ///         bias = ct.load(x, (i,), (TILE,))
    ///     if FIRST:
    ///         tile = tile + bias
    ///     ct.store(y, (i,), tile)
    /// ```
    TP222 "undefined-on-branch" Error,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    for read in flow::undefined(&at.device) {
        let name = &read.name.name;
        out.push(
            read.name.span,
            format!(
                "`{name}` is bound in only some branches of the `if` before and read after it; the kernel does not compile"
            ),
        )
        .related(read.branch, format!("`{name}` is not bound in every branch"))
        .claim(Claim::Errors);
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):\n    i = ct.bid(0)\n    v = ct.load(x, i, shape=())\n    {}\n",
            body.replace('\n', "\n    ")
        )
    }

    #[test]
    fn every_form_of_branch() {
        for body in [
            "if i > 0:\n    a = 1\nelse:\n    pass\nct.store(y, 0, a)  # TP222",
            "if i > 0:\n    b = 1\nelse:\n    a = 1\n    b = 2\nct.store(y, 0, a + b)  # TP222",
            "if i == 0:\n    a = 1\nelif i == 1:\n    b = 1\nelse:\n    a = 2\nct.store(y, 0, a)  # TP222",
            "if v > 0:\n    a, b = 1, 2\nct.store(y, 0, b)  # TP222",
            "late = i > 3\nif late:\n    a = 1\nct.store(y, 0, a)  # TP222",
            "if not (i == 0 and v > 1):\n    a = 1\nct.store(y, 0, a)  # TP222",
            "for j in range(n):\n    if j == 0:\n        a = 1\n    ct.store(y, 0, a)  # TP222",
            "if n > 8:\n    a = 1\nct.store(y, 0, a)  # TP222",
            // Read in a branch that is compiled whatever holds.
            "if i == 0:\n    a = 1\nif i == 0:\n    ct.store(y, 0, a)  # TP222",
            "if i == 0:\n    a = 1\na += 1  # TP222\nct.store(y, 0, a)",
        ] {
            bad(&RULE, &kernel(body));
        }
    }

    #[test]
    fn silent_where_it_is_bound_or_compiled_away() {
        for body in [
            "a = 0\nif i > 0:\n    a = 1\nct.store(y, 0, a)",
            "if i > 0:\n    a = 1\nelse:\n    a = 2\nct.store(y, 0, a)",
            "if i == 0:\n    a = 1\nelif i == 1:\n    a = 3\nelse:\n    a = 2\nct.store(y, 0, a)",
            // The others leave.
            "if i > 0:\n    a = 1\nelse:\n    return\nct.store(y, 0, a)",
            "for j in range(n):\n    if j > 3:\n        continue\n    else:\n        a = 1\n    ct.store(y, 0, a)",
            // Read only where it is bound.
            "if i > 0:\n    a = 1\n    ct.store(y, 0, a)",
            // Bound again before it is read.
            "if i > 0:\n    a = 1\n    ct.store(y, 0, a)\na = 2\nct.store(y, 0, a)",
            // Decided when it is compiled, or perhaps.
            "if F:\n    a = 1\nct.store(y, 0, a)",
            "if T > 8:\n    a = 1\nif F:\n    ct.store(y, 0, a)",
            "if x.dtype == ct.float32:\n    a = 1\nct.store(y, 0, a)",
            "if n is None:\n    a = 1\nct.store(y, 0, a)",
            "if i == 0:\n    b = 1\nelif F:\n    a = 1\nelse:\n    a = 2\nct.store(y, 0, a)",
            "if F or i > 0:\n    a = 1\nct.store(y, 0, a)",
            "if i > 0:\n    a = 1\nif F:\n    ct.store(y, 0, a)",
            "if i > 0:\n    a = 1\nct.store(y, 0, a if F else 0)",
            "for j in ct.static_iter(range(4)):\n    if j == 0:\n        a = 1\n    ct.store(y, 0, a)",
            // Bound by a loop.
            "for j in range(4):\n    a = j\nct.store(y, 0, a)",
            // Names of the module, and of comprehensions.
            "if i > 0:\n    b = 1\nct.store(y, 0, OFFSET)",
            "if i > 0:\n    j = 1\nz = tuple(j for j in ct.static_iter((1, 2)))",
        ] {
            good(&RULE, &kernel(body));
        }
    }
}
