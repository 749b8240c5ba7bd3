//! `import cutile`: no module of that name.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{ImportName, Stmt, StmtKind};

use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{Findings, ItemContext};

/// Names under which people look for `cuda.tile`.
const WRONG: [&str; 4] = ["cutile", "cuTile", "cuda_tile", "cuda.cutile"];

/// What is worth importing from cuTile by name: a project's own `cutile` has other things.
const OURS: [&str; 16] = [
    "kernel",
    "launch",
    "Constant",
    "load",
    "store",
    "gather",
    "scatter",
    "bid",
    "num_blocks",
    "num_tiles",
    "mma",
    "arange",
    "astype",
    "ByTarget",
    "PaddingMode",
    "tune",
];

rule! {
    /// cuTile is imported under a name that no package has: it is `cuda.tile`.
    ///
    /// The package is called `cuda-tile`, the project cuTile, the module `cuda.tile`. An import that a
    /// `try` guards is taken for a probe of a project's own module.
    ///
    /// ```python bad
    /// import cutile as ct  # TP211
    ///
    /// @ct.kernel
    /// def double(x):
    ///     ct.store(x, (0,), ct.load(x, (0,), (8,)) * 2)
    /// ```
    ///
    /// ```python fixed
    /// import cuda.tile as ct
    ///
    /// @ct.kernel
    /// def double(x):
    ///     ct.store(x, (0,), ct.load(x, (0,), (8,)) * 2)
    /// ```
    ///
    /// ```python good
    /// import cuda.tile as ct
    /// from . import cutile
    /// ```
    TP211 "wrong-import" Error,
    Item(check)
}

fn check(item: &ItemContext<'_>, out: &mut Findings<'_>) {
    let knows_better = (item.module.imports.values())
        .any(|path| path == "cuda.tile" || path.starts_with("cuda.tile."));
    if !knows_better {
        statements(item, item.body, out);
    }
}

fn statements(item: &ItemContext<'_>, body: &[Stmt], out: &mut Findings<'_>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Import(names) => names.iter().for_each(|n| import(item, n, out)),
            StmtKind::ImportFrom {
                module,
                level: 0,
                names,
                star,
            } => import_from(item, stmt, module, names, *star, out),
            StmtKind::Try { .. } => {}
            _ => (stmt.blocks().into_iter()).for_each(|b| statements(item, b, out)),
        }
    }
}

fn import(item: &ItemContext<'_>, name: &ImportName, out: &mut Findings<'_>) {
    let written = name.name.name.as_str();
    let Some((wrong, rest)) = wrong_prefix(written) else {
        return;
    };
    let found = out.push(name.name.span, message(wrong));
    let right = match (&name.alias, rest) {
        (Some(_), rest) => format!("cuda.tile{rest}"),
        (None, "") if !wrong.contains('.') => format!("cuda.tile as {written}"),
        _ => return,
    };
    let edits = Edits::new(item.text).replace(name.name.span, right);
    found.safe_fix("Import `cuda.tile`", edits);
}

fn import_from(
    item: &ItemContext<'_>,
    stmt: &Stmt,
    module: &str,
    names: &[ImportName],
    star: bool,
    out: &mut Findings<'_>,
) {
    // `from cuda import cutile`.
    for name in names
        .iter()
        .filter(|n| module == "cuda" && n.name.name == "cutile")
    {
        let right = match name.alias {
            Some(_) => "tile",
            None => "tile as cutile",
        };
        let edits = Edits::new(item.text).replace(name.name.span, right);
        (out.push(name.name.span, message("cuda.cutile"))).safe_fix("Import `cuda.tile`", edits);
    }
    let Some((wrong, rest)) = wrong_prefix(module) else {
        return;
    };
    let is_ours = |n: &ImportName| OURS.contains(&n.name.name.as_str());
    if !star && rest.is_empty() && !names.iter().any(is_ours) {
        return;
    }
    let Some(at) = item.source(stmt.span).find(module) else {
        return;
    };
    let start = stmt.span.start as usize + at;
    let span = Span::new(start, start + module.len());
    let edits = Edits::new(item.text).replace(span, format!("cuda.tile{rest}"));
    (out.push(span, message(wrong))).safe_fix("Import from `cuda.tile`", edits);
}

/// A wrong name at the beginning of a module's path, and what follows it.
fn wrong_prefix(path: &str) -> Option<(&'static str, &str)> {
    WRONG.into_iter().find_map(|wrong| {
        let rest = path.strip_prefix(wrong)?;
        (rest.is_empty() || rest.starts_with('.')).then_some((wrong, rest))
    })
}

fn message(wrong: &str) -> String {
    format!("there is no module `{wrong}`; cuTile is `cuda.tile`")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    #[test]
    fn every_form_is_put_right() {
        for (code, fixed) in [
            ("import cutile as ct", "import cuda.tile as ct"),
            ("import cutile", "import cuda.tile as cutile"),
            ("import cuTile as ct", "import cuda.tile as ct"),
            ("import cuda_tile as ct", "import cuda.tile as ct"),
            ("import cuda.cutile as ct", "import cuda.tile as ct"),
            (
                "import torch, cutile as ct",
                "import torch, cuda.tile as ct",
            ),
            (
                "import cutile.tune as tune",
                "import cuda.tile.tune as tune",
            ),
            ("from cutile import kernel", "from cuda.tile import kernel"),
            ("from cutile import *", "from cuda.tile import *"),
            (
                "from cutile.tune import exhaustive_search",
                "from cuda.tile.tune import exhaustive_search",
            ),
            ("from cuda import cutile", "from cuda import tile as cutile"),
            (
                "from cuda import cutile as ct",
                "from cuda import tile as ct",
            ),
        ] {
            fixes(
                &RULE,
                &format!("{code}  # TP211\nimport curio\n"),
                &format!("{fixed}\nimport curio\n"),
            );
        }
        bad(&RULE, "import cutile.tune  # TP211\n");
        bad(
            &RULE,
            "def f():\n    import cutile as ct  # TP211\n    return ct\nimport curio\n",
        );
    }

    #[test]
    fn other_modules_and_guarded_imports() {
        for code in [
            "import cuda.tile as ct\n",
            "import cuda.tile as ct\nimport cutile\n",
            "from . import cutile\nimport curio\n",
            "from .cutile import kernel\nimport curio\n",
            "from ops.cutile import kernel\nimport curio\n",
            "import cutile_gpt\nimport curio\n",
            "import cuda.core as core\n",
            "from cutile import softmax, matmul\nimport curio\n",
            "from ops import cutile\nimport curio\n",
            "from cuda import core\nimport curio\n",
            "import cutile_ops\nimport curio\n",
            "try:\n    import cutile as ct\nexcept ImportError:\n    ct = None\nimport curio\n",
            "try:\n    import cuda.tile as ct\nexcept ImportError:\n    import cutile as ct\n",
            "TEXT = '''\nimport cutile as ct\n'''\nimport curio\n",
        ] {
            good(&RULE, code);
        }
    }
}
