//! A grid that no launch takes.

use tileperf_syntax::ast::{ComprehensionKind, Expr, ExprKind};

use super::launch::{self, LaunchCall};
use crate::body::Literal;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, Links};

/// The longest axes that a launch takes. The first is cuTile's own limit, below the driver's.
const LONGEST: [i64; 3] = [(1 << 24) - 1, 65_535, 65_535];

rule! {
    /// The grid of a launch is not a tuple of at most three whole numbers that the GPU can run.
    ///
    /// The launch raises: a list, a number or a function is no grid, and no axis may have
    /// less than 1 or more blocks than the hardware counts, 65535 for the second and third and
    /// 16777215, cuTile's own limit, for the first. Put the longest dimension first, or let each block
    /// loop over several tiles. Seen with cuda-tile 1.7: `Grid must be a tuple`, `Grid[0] exceeds 24-bit
    /// limit`.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def double(x, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), ct.load(x, (i,), (BLOCK,)) * 2)
    ///
    /// def run(x, stream):
    ///     ct.launch(stream, [64, 1, 1], double, (x, 128))  # TP209
    ///     ct.launch(stream, (1, 100000), double, (x, 128))  # TP209
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def double(x, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), ct.load(x, (i,), (BLOCK,)) * 2)
    ///
    /// def run(x, stream):
    ///     ct.launch(stream, (64, 1, 1), double, (x, 128))
    ///     ct.launch(stream, (100000,), double, (x, 128))
    /// ```
    TP209 "launch-grid" Error,
    Workspace(check)
}

// It asks nothing of other files, but following names to their values is too much for every key.
fn check(file: &FileContext<'_>, _: &dyn Links, out: &mut Findings<'_>) {
    for launch in &file.model.launches {
        let grid = LaunchCall::of(file, launch).and_then(|call| call.grid());
        let Some(grid) = grid else { continue };
        let grid = launch::follow(file, grid);
        if let Some(message) = wrong(file, grid.node) {
            let found = out.push(launch.callee_span, message);
            found.related(grid.place(grid.node.span), "the grid");
        }
    }
}

/// What is wrong with a grid.
fn wrong(file: &FileContext<'_>, grid: &Expr) -> Option<String> {
    let ExprKind::Tuple(axes) = &grid.kind else {
        let what = no_tuple(grid)?;
        return Some(format!("the grid is {what}; it must be a tuple"));
    };
    let starred = |e: &Expr| matches!(e.kind, ExprKind::Starred(_));
    let plain = axes.iter().take_while(|a| !starred(a)).count();
    if axes.len() > 3 && plain == axes.len() {
        let count = axes.len();
        return Some(format!(
            "the grid has {count} axes, but at most 3 are taken"
        ));
    }
    (axes[..plain].iter().zip(LONGEST).enumerate())
        .find_map(|(axis, (length, longest))| wrong_axis(file, axis, length, longest))
}

fn wrong_axis(file: &FileContext<'_>, axis: usize, length: &Expr, longest: i64) -> Option<String> {
    if is_fraction(length) {
        return Some(format!(
            "axis {axis} of the grid is no whole number: `/` gives a float; use `//` or `ct.cdiv`"
        ));
    }
    let length = whole(file, length)?;
    if length < 1 {
        return Some(format!("axis {axis} of the grid has {length} blocks"));
    }
    (length > longest).then(|| {
        format!("axis {axis} of the grid has {length} blocks, but at most {longest} are taken")
    })
}

/// What an expression is that is surely no tuple.
fn no_tuple(grid: &Expr) -> Option<&'static str> {
    Some(match &grid.kind {
        ExprKind::List(_) => "a list",
        ExprKind::Comprehension { kind, .. } => match kind {
            ComprehensionKind::List => "a list",
            ComprehensionKind::Generator => "a generator",
            ComprehensionKind::Set => "a set",
            ComprehensionKind::Dict => "a dict",
        },
        ExprKind::Set(_) => "a set",
        ExprKind::Dict(_) => "a dict",
        ExprKind::Lambda { .. } => "a function",
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Unary { .. } => "a number",
        // No tuple has these operators.
        ExprKind::Binary { op, .. } if matches!(op.as_str(), "//" | "/" | "-") => "a number",
        ExprKind::Call { func, .. } => {
            let name = func.last_ident()?.name;
            match name.as_str() {
                "cdiv" | "ceil" | "len" | "int" | "next_power_of_2" => "a number",
                "list" if func.name().is_some() => "a list",
                _ => return None,
            }
        }
        _ => return None,
    })
}

fn is_fraction(length: &Expr) -> bool {
    match &length.kind {
        ExprKind::Float(_) => true,
        ExprKind::Binary { op, .. } => op == "/",
        _ => false,
    }
}

/// The whole number that an expression is.
fn whole(file: &FileContext<'_>, expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int(value) => Some(*value),
        ExprKind::Unary { op, operand } if op == "-" => whole(file, operand)?.checked_neg(),
        ExprKind::Binary { op, left, right } => {
            let (left, right) = (whole(file, left)?, whole(file, right)?);
            match op.as_str() {
                "*" => left.checked_mul(right),
                "+" => left.checked_add(right),
                "**" => left.checked_pow(u32::try_from(right).ok()?),
                "<<" => left.checked_mul(1_i64.checked_shl(u32::try_from(right).ok()?)?),
                "//" if right > 0 => Some(left.div_euclid(right)),
                _ => None,
            }
        }
        ExprKind::Name(name) => match file.module.constants.get(name)? {
            Literal::Int(value) => Some(*value),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn code(grid: &str, mark: &str) -> String {
        format!(
            "import cuda.tile as ct\nimport math\nimport triton\n\nMANY = 70000\n\n@ct.kernel\ndef k(x):\n    ct.store(x, (0,), ct.load(x, (0,), (8,)))\n\ndef run(s, x, n, grids):\n    ct.launch(s, {grid}, k, (x,)){mark}\n"
        )
    }

    #[test]
    fn no_grids() {
        for grid in [
            "[n]",
            "[n, 1, 1]",
            "[i for i in grids]",
            "(i for i in grids)",
            "{n, 1}",
            "{1: n}",
            "lambda: (n,)",
            "lambda meta: (n,)",
            "64",
            "-n",
            "n // 64",
            "(n - 1)",
            "ct.cdiv(n, 64)",
            "triton.cdiv(n, 64)",
            "math.ceil(n / 64)",
            "triton.next_power_of_2(n)",
            "int(n)",
            "len(grids)",
            "list(grids)",
            "(1, 2, 3, 4)",
            "(n, n, n, 1)",
            "(1, 65536)",
            "(n, 1, 65536)",
            "(n, MANY)",
            "(1, 256 * 256)",
            "(1, 2 ** 16)",
            "(1, 1 << 16)",
            "(16777216,)",
            "(0,)",
            "(n, 0)",
            "(-1,)",
            "(n / 64,)",
            "(1.0, n)",
        ] {
            bad(&RULE, &code(grid, "  # TP209"));
        }
    }

    #[test]
    fn grids() {
        for grid in [
            "()",
            "(n,)",
            "(n, 1)",
            "(n, 65535, 65535)",
            "(16777215,)",
            "(MANY,)",
            "(MANY // 2, MANY // 2)",
            "n",
            "grids",
            "grids[0]",
            "grids(n)",
            "tuple([n, 1])",
            "(n,) * 3",
            "(n,) + grids",
            "(*grids, n)",
            "(n, *grids, 70000)",
            "(math.ceil(n / 64),)",
            "(ct.cdiv(n, 64), n // 2, 1)",
            "(n if n else 1,)",
            "n if n else grids",
        ] {
            good(&RULE, &code(grid, ""));
        }
    }

    #[test]
    fn a_grid_is_followed_to_where_it_was_made() {
        let head = "@ct.kernel\ndef k(x):\n    ct.store(x, (0,), ct.load(x, (0,), (8,)))\n\n";
        for text in [
            "def run(s, x, n):\n    grid = [n, 1, 1]\n    ct.launch(s, grid, k, (x,))  # TP209\n",
            "def run(s, x, n):\n    grid = lambda: (n,)\n    ct.launch(s, grid, k, (x,))  # TP209\n",
            "GRID = [64]\nct.launch(S, GRID, k, (X,))  # TP209\n",
            "from cuda.tile.jax import cutile_call as call\ndef run(x, n):\n    return call([n], k, (x,))  # TP209\n",
            "def run(s, x, n):\n    grid = (1, 2, 3, 4)\n    def inner():\n        ct.launch(s, grid, k, (x,))  # TP209\n    inner()\n",
        ] {
            bad(&RULE, &format!("import cuda.tile as ct\n{head}{text}"));
        }
        for text in [
            "def run(s, x, n):\n    grid = [n]\n    grid = tuple(grid)\n    ct.launch(s, grid, k, (x,))\n",
            "def run(s, x, grid=None):\n    if not grid:\n        grid = [1]\n    ct.launch(s, grid, k, (x,))\n",
            "def run(s, x, n):\n    for grid in [(1,), (2,)]:\n        ct.launch(s, grid, k, (x,))\n",
            "GRID = [64]\ndef run(s, x):\n    ct.launch(s, GRID, k, (x,))\n",
            "import pytest\ndef test(s, x):\n    with pytest.raises(TypeError):\n        ct.launch(s, [1], k, (x,))\n",
            "def run(s, x, other):\n    other.launch(s, [1], k, (x,))\n",
        ] {
            good(&RULE, &format!("import cuda.tile as ct\n{head}{text}"));
        }
    }

    #[test]
    fn divisions_of_numbers() {
        bad(&RULE, &code("(1, 140000 // 2)", "  # TP209"));
        good(&RULE, &code("(1, 140000 // 4)", ""));
        good(&RULE, &code("(1, 140000 // 0)", ""));
    }
}
