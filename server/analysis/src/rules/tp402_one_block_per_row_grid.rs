//! A grid with a block for every row.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef};

use super::host;
use crate::body::{Device, argument, walk};
use crate::model::{Candidate, Kernel, LaunchApi};
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, InItem, Links};

rule! {
    /// A kernel that works on one row per block is launched with as many blocks as there are rows: a
    /// persistent grid may be faster. Playbook B makes the change.
    ///
    /// Each block starts, loads and stores alone; with many more rows than multiprocessors the cost
    /// of starting them adds up, and nothing overlaps from one row to the next. A grid of
    /// `min(multiprocessors * occupancy, rows)` whose blocks walk over rows gained 1.5 to 4 times on
    /// memory-bound kernels (TileGym, B200); it may also cost registers.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def scale(x, BLOCK: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     ct.store(x, (row, 0), ct.load(x, (row, 0), (1, BLOCK)) * 2)
    ///
    /// def run(x, stream):
    ///     n_rows, n_cols = x.shape
    ///     ct.launch(stream, (n_rows,), scale, (x, 1024))  # TP402
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def scale(x, BLOCK: ct.Constant[int]):
    ///     for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
    ///         ct.store(x, (row, 0), ct.load(x, (row, 0), (1, BLOCK)) * 2)
    ///
    /// def run(x, stream):
    ///     n_rows, n_cols = x.shape
    ///     sms = torch.cuda.get_device_properties(x.device).multi_processor_count
    ///     ct.launch(stream, (min(n_rows, sms * 4),), scale, (x, 1024))
    /// ```
    TP402 "one-block-per-row-grid" Hint,
    Workspace(check)
}

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    for launch in file.model.launches.iter().filter(|l| !l.stale) {
        let place = match launch.api {
            LaunchApi::Launch => 1,
            LaunchApi::CutileCall => 0,
        };
        let Some(call) = file.expr(launch.span) else {
            continue;
        };
        let ExprKind::Call { args, .. } = &call.node.kind else {
            continue;
        };
        let Some(grid) = argument(args, Some(place), "grid") else {
            continue;
        };
        let grid = call.with(grid);
        let Some(rows) = rows(file, grid) else {
            continue;
        };
        let all = launch.candidates.iter().all(|c| are_row_kernels(links, c));
        if all && !launch.candidates.is_empty() {
            out.push(
                launch.span,
                format!(
                    "`{}` gets one block for each of `{rows}` rows; a persistent grid may be faster \
                     (playbook B)",
                    launch.kernel_text
                ),
            );
        }
    }
}

/// The number of rows that is the whole grid, as written.
fn rows<'a>(file: &FileContext<'a>, grid: InItem<'a, Expr>) -> Option<&'a str> {
    let grid = host::follow(file, grid);
    let ExprKind::Tuple(parts) = &grid.node.kind else {
        return None;
    };
    let (first, rest) = parts.split_first()?;
    if !rest.iter().all(|e| matches!(e.kind, ExprKind::Int(1))) {
        return None;
    }
    let first = grid.with(first);
    is_count(file, first, 3).then(|| file.source(first.place(first.node.span)))
}

/// Whether an expression is a size or a product of sizes, not a number of tiles.
fn is_count<'a>(file: &FileContext<'a>, expr: InItem<'a, Expr>, depth: u32) -> bool {
    let expr = host::follow(file, expr);
    match &expr.node.kind {
        ExprKind::Name(name) => !is_tile_count(name),
        ExprKind::Subscript { value, .. } => match &value.kind {
            ExprKind::Attribute { attr, .. } => attr.name == "shape",
            _ => false,
        },
        ExprKind::Call { func, args } => match &func.kind {
            // `x.size(0)`, `x.numel()`
            ExprKind::Attribute { attr, .. } => attr.name == "size" && args.len() == 1,
            ExprKind::Name(name) => {
                name == "int" && args.len() == 1 && depth > 0 && {
                    is_count(file, expr.with(&args[0].value), depth - 1)
                }
            }
            _ => false,
        },
        ExprKind::Binary { op, left, right } => match op.as_str() {
            "*" => {
                depth > 0
                    && is_count(file, expr.with(&**left), depth - 1)
                    && is_count(file, expr.with(&**right), depth - 1)
            }
            // All elements by those of a row.
            "//" => host::method(left).is_some_and(|(_, name, _)| name == "numel"),
            _ => false,
        },
        _ => false,
    }
}

/// Whether a name is one for a number of tiles, blocks or multiprocessors.
fn is_tile_count(name: &SmolStr) -> bool {
    let lower = name.to_ascii_lowercase();
    [
        "tile", "block", "grid", "sm", "prog", "cta", "chunk", "worker", "split",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// Whether a candidate is known, and every kernel that it can be works on rows. What callers pass is
/// not: others may pass something else.
fn are_row_kernels(links: &dyn Links, candidate: &Candidate) -> bool {
    if matches!(candidate, Candidate::Param { .. }) {
        return false;
    }
    let (mut known, mut all) = (false, true);
    links.at_home(std::slice::from_ref(candidate), &mut |home, kernel| {
        known = true;
        all &= is_row_kernel(home, kernel);
    });
    known && all
}

/// Whether a kernel takes its block index for a row and works on that row alone, itself or in a
/// function that it is written in.
fn is_row_kernel(file: &FileContext<'_>, kernel: &Kernel) -> bool {
    let Some(def) = file.function(kernel.span).filter(|_| !kernel.stale) else {
        return false;
    };
    let mut work = Work::default();
    work.add(file, def, 2);
    work.on_rows && !work.on_others
}

/// What device code works on.
#[derive(Default)]
struct Work {
    /// Rows by the block's index.
    on_rows: bool,
    /// Something else as well, or rows as a persistent kernel.
    on_others: bool,
}

impl Work {
    fn add<'a>(&mut self, file: &FileContext<'a>, def: InItem<'a, FunctionDef>, depth: u32) {
        let Some(facts) = file.device_code(def.place(def.node.def_span)) else {
            return;
        };
        let device = Device {
            def: def.node,
            body: &facts.body,
            module: file.module,
            is_kernel: facts.is_kernel,
            constants: &facts.constants,
            code: None,
        };
        device.calls(&mut |call, _| match call.name.as_str() {
            "num_blocks" | "mma" | "mma_scaled" | "matmul" => self.on_others = true,
            "load" | "gather" | "store" | "scatter" => {
                let index = call.arg(1, "index").or_else(|| call.keyword("indices"));
                let tile = call.name != "load" || one_row(&device, call.arg(2, "shape"));
                self.on_rows |= tile && index.is_some_and(|index| is_row(&device, index));
            }
            _ => {}
        });
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        let mut callees = Vec::new();
        walk(&def.node.body, &mut |expr, _| match &expr.kind {
            ExprKind::Call { func, .. } => {
                callees.extend(func.name().and_then(|name| host::function(file, name)));
            }
            ExprKind::Binary { op, .. } => self.on_others |= op == "@",
            _ => {}
        });
        for callee in callees {
            self.add(file, callee, depth);
        }
    }
}

/// Whether an index is that of a row: `(row, ...)` with two or more parts.
fn is_row<'a>(device: &Device<'a>, index: &'a Expr) -> bool {
    let ExprKind::Tuple(parts) = &device.follow(index).kind else {
        return false;
    };
    parts.len() > 1 && parts.first().is_some_and(|first| is_bid(device, first))
}

/// Whether an expression is the block index itself.
fn is_bid<'a>(device: &Device<'a>, expr: &'a Expr) -> bool {
    let expr = device.follow(expr);
    device.call(expr).is_some_and(|call| {
        call.name == "bid"
            && call
                .arg(0, "axis")
                .is_some_and(|a| device.ty(a).int() == Some(0))
    })
}

/// Whether a tile is one row high.
fn one_row<'a>(device: &Device<'a>, shape: Option<&'a Expr>) -> bool {
    let Some(shape) = shape else { return false };
    match &device.follow(shape).kind {
        ExprKind::Tuple(parts) => {
            (parts.first()).is_some_and(|first| device.ty(device.follow(first)).int() == Some(1))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, bad_beside, good, good_beside};

    const ROW: &str = "    r = ct.bid(0)\n    o = ct.arange(B, dtype=ct.int32)\n    ct.scatter(x, (r, o), ct.gather(x, (r, o)) * 2)\n";

    fn code(body: &str, grid: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, B: ct.Constant[int]):\n{body}\ndef run(x, n, stream):\n    rows, cols = x.shape\n    ct.launch(stream, {grid}, k, (x, 64))"
        )
    }

    #[test]
    fn grids_of_rows() {
        for grid in [
            "(rows,)",
            "(rows, 1, 1)",
            "(x.shape[0], 1)",
            "(x.size(0),)",
            "(n * rows, 1, 1)",
            "(int(rows),)",
            "(x.numel() // cols, 1)",
        ] {
            bad(&RULE, &format!("{}  # TP402\n", code(ROW, grid)));
        }
        let by_load = "    ct.store(x, (ct.bid(0), 0), ct.load(x, (ct.bid(0), 0), (1, B)))\n";
        bad(&RULE, &format!("{}  # TP402\n", code(by_load, "(rows,)")));
        let helper = format!(
            "def body(x, B):\n{ROW}\n{}  # TP402\n",
            code("    body(x, B)\n", "(rows,)")
        );
        bad(&RULE, &helper);
        let jax = code(ROW, "grid").replace(
            "ct.launch(stream, grid, k, (x, 64))",
            "cutile_call((rows,), k, (x, 64))",
        );
        bad(
            &RULE,
            &format!(
                "import cuda.tile as ct\nfrom cuda.tile.jax import cutile_call\n{jax}  # TP402\n"
            ),
        );
        let named =
            code(ROW, "grid").replace("    ct.launch", "    grid = (rows, 1, 1)\n    ct.launch");
        bad(&RULE, &format!("{named}  # TP402\n"));
    }

    #[test]
    fn kernels_of_other_files() {
        let kernel = |body: &str| {
            format!("def body(x, B):\n{ROW}\n@ct.kernel\ndef k(x, B: ct.Constant[int]):\n{body}")
        };
        let launch = |import: &str, name: &str, mark: &str| {
            format!(
                "import cuda.tile as ct\n{import}\n\ndef run(x, stream):\n    rows, cols = x.shape\n    ct.launch(stream, (rows,), {name}, (x, 64)){mark}\n"
            )
        };
        for body in [ROW, "    body(x, B)\n"] {
            let others = &[
                ("ops.byrow", &*kernel(body)),
                ("ops", "from ops.byrow import k as exported\n"),
            ];
            for (import, name) in [
                ("from ops.byrow import k", "k"),
                ("from ops.byrow import k as fast", "fast"),
                ("from ops import byrow", "byrow.k"),
                ("from ops import exported", "exported"),
            ] {
                bad_beside(&RULE, others, &launch(import, name, "  # TP402"));
            }
        }
        let persistent = kernel(
            "    for r in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):\n        ct.store(x, (r, 0), ct.load(x, (r, 0), (1, B)))\n",
        );
        let import = "from ops.byrow import k";
        good_beside(
            &RULE,
            &[("ops.byrow", &persistent)],
            &launch(import, "k", ""),
        );
        // Not known; one of two; what callers pass.
        good_beside(&RULE, &[], &launch(import, "k", ""));
        let two = [("ops.byrow", &*kernel(ROW)), ("ops.other", &*persistent)];
        good_beside(
            &RULE,
            &two,
            &launch(
                "from ops import byrow, other",
                "(byrow.k if x else other.k)",
                "",
            ),
        );
        let passed =
            launch(import, "kernel", "").replace("run(x,", "run(kernel, x,") + "\nrun(k, X, S)\n";
        good_beside(&RULE, &two, &passed);
    }

    #[test]
    fn other_grids_and_kernels() {
        for grid in [
            "(min(rows, 100),)",
            "(ct.cdiv(rows, 4),)",
            "(rows, cols)",
            "(rows // 2,)",
            "(num_tiles,)",
            "(rows * num_tiles,)",
            "(num_tiles * rows,)",
            "(64,)",
            "make_grid(rows)",
        ] {
            good(&RULE, &format!("{}\n", code(ROW, grid)));
        }
        for body in [
            // Persistent already.
            "    for r in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):\n        ct.store(x, (r, 0), ct.load(x, (r, 0), (1, B)))\n",
            // Blocks of a vector; tiles of several rows; an index made of the block's.
            "    ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (B,)))\n",
            "    t = ct.load(x, (ct.bid(0), 0), (16, B))\n",
            "    r = ct.bid(0) // 2\n    o = ct.arange(B, dtype=ct.int32)\n    t = ct.gather(x, (r, o))\n",
            // Matrix multiplications.
            "    r = ct.bid(0)\n    t = ct.load(x, (r, 0), (1, B))\n    ct.mma(t, t, t)\n",
            "    r = ct.bid(0)\n    t = ct.load(x, (r, 0), (1, B))\n    ct.matmul(t, t)\n",
            "    r = ct.bid(0)\n    t = ct.load(x, (r, 0), (1, B))\n    u = t @ t\n",
        ] {
            good(&RULE, &format!("{}\n", code(body, "(rows,)")));
        }
    }
}
