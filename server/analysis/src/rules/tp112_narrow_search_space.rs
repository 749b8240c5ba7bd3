//! Spaces that leave out what usually matters.

use tileperf_syntax::Span;
use tileperf_syntax::ast::ExprKind;

use super::tuned::{self, Searched};
use crate::arch::{Arch, TensorCores};
use crate::eval::Space;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, Links};

rule! {
    /// A space for matrix multiplication or attention leaves out `num_ctas` 1 or 2 on Blackwell data
    /// centre cards, or has one value only for its tiles or its occupancy.
    ///
    /// Whether two blocks that share operands are faster than two that do not depends on shape, tile
    /// and card, and so do the tile and the occupancy: a search can only find what it is offered.
    /// Offer `num_ctas` 1 and 2 on sm_100 and newer (not on sm_120, where nothing is shared), and at
    /// least two tiles and two occupancies. More than about eight configurations an architecture are
    /// rarely worth the time to compile them.
    ///
    /// Source: TileGym's autotuning guide ("minimum coverage").
    ///
    /// ```python bad
    /// from types import SimpleNamespace
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def matmul(a, b, c, TILE: ct.Constant[int]):
    ///     acc = ct.zeros((TILE, TILE), ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(TILE, TILE))):
    ///         x = ct.load(a, (ct.bid(0), k), (TILE, TILE))
    ///         y = ct.load(b, (k, ct.bid(1)), (TILE, TILE))
    ///         acc = ct.mma(x, y, acc)
    ///     ct.store(c, (ct.bid(0), ct.bid(1)), acc.astype(c.dtype))
    ///
    /// def space():  # TP112
    ///     for occupancy in (1, 2):
    ///         for tile in (64, 128):
    ///             yield SimpleNamespace(TILE=tile, num_ctas=2, occupancy=occupancy)
    ///
    /// def tune(a, b, c, stream, grid, args):
    ///     return exhaustive_search(list(space()), stream, grid, matmul, args)
    /// ```
    ///
    /// ```python good
    /// from types import SimpleNamespace
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def matmul(a, b, c, TILE: ct.Constant[int]):
    ///     acc = ct.zeros((TILE, TILE), ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(TILE, TILE))):
    ///         x = ct.load(a, (ct.bid(0), k), (TILE, TILE))
    ///         y = ct.load(b, (k, ct.bid(1)), (TILE, TILE))
    ///         acc = ct.mma(x, y, acc)
    ///     ct.store(c, (ct.bid(0), ct.bid(1)), acc.astype(c.dtype))
    ///
    /// def space():
    ///     for occupancy in (1, 2):
    ///         for tile in (64, 128):
    ///             for num_ctas in (1, 2):
    ///                 yield SimpleNamespace(TILE=tile, num_ctas=num_ctas, occupancy=occupancy)
    ///
    /// def tune(a, b, c, stream, grid, args):
    ///     return exhaustive_search(list(space()), stream, grid, matmul, args)
    /// ```
    TP112 "narrow-search-space" Hint,
    Workspace(check)
}

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    let mut said: Vec<Span> = Vec::new();
    for space in tuned::searched(file, links) {
        if said.contains(&space.span) || !tuned::multiplies(file, &space.search.candidates) {
            continue;
        }
        let Some((archs, lacks)) = lacking(file, &space) else {
            continue;
        };
        said.push(space.span);
        out.push(
            space.span,
            format!(
                "{} {} on {}, so the search cannot find out what is best",
                space.name(),
                lacks,
                tuned::listed(&archs)
            ),
        )
        .archs(archs);
    }
}

/// What is left out, and where: the architectures for which the first thing left out is the same.
fn lacking(file: &FileContext<'_>, searched: &Searched<'_>) -> Option<(Vec<Arch>, String)> {
    let told = names_num_ctas(file, searched);
    let mut found: Option<(Vec<Arch>, String)> = None;
    for (arch, space) in searched.known() {
        // sm_120 and sm_121 multiply from registers: nothing for two blocks to share.
        if arch.tensor_cores() < TensorCores::Sm100 {
            continue;
        }
        let lacks = lacks(space, told);
        if lacks.is_empty() {
            continue;
        }
        let lacks = lacks.join(" and ");
        match &mut found {
            None => found = Some((vec![arch], lacks)),
            Some((archs, said)) if *said == lacks => archs.push(arch),
            Some(_) => {}
        }
    }
    found
}

fn lacks(space: &Space, told: bool) -> Vec<String> {
    let fields = space.fields();
    let tiles: Vec<&str> = (fields.iter().map(|f| f.name.as_str()))
        .filter(|name| tuned::is_tile(name))
        .collect();
    let has_occupancy = fields.iter().any(|f| tuned::is_occupancy(&f.name));
    if tiles.is_empty() && !has_occupancy {
        return Vec::new();
    }
    let mut lacks = Vec::new();
    let ctas = |name: &str| name.eq_ignore_ascii_case("num_ctas");
    if !fields.iter().any(|f| ctas(&f.name)) {
        if !told {
            lacks.push("has no `num_ctas` 1 and 2".to_owned());
        }
    } else if let Some(values) = tuned::ints(space, &ctas) {
        let missing: Vec<&str> = [(1, "1"), (2, "2")]
            .iter()
            .filter(|(value, _)| !values.contains(value))
            .map(|(_, text)| *text)
            .collect();
        if !missing.is_empty() {
            lacks.push(format!("has no `num_ctas` {}", missing.join(" and ")));
        }
    }
    if let Some(values) = tuned::ints(space, &tuned::is_occupancy)
        && let [only] = values.as_slice()
    {
        lacks.push(format!("has occupancy {only} only"));
    }
    if one_tile(space, &tiles) {
        lacks.push("has one tile only".to_owned());
    }
    lacks
}

/// Whether all configurations have the same tile, all extents taken together.
fn one_tile(space: &Space, tiles: &[&str]) -> bool {
    let tile = |config: &crate::eval::Config| -> Vec<crate::eval::Known> {
        (config.fields.iter())
            .filter(|(name, _)| tiles.contains(&name.as_str()))
            .map(|(_, value)| value.clone())
            .collect()
    };
    let mut all = space.configs.iter().map(tile);
    let Some(first) = all.next() else {
        return false;
    };
    let known = first
        .iter()
        .all(|v| matches!(v, crate::eval::Known::Int(_)));
    known && !first.is_empty() && all.all(|other| other == first)
}

/// Whether the search's call says something of `num_ctas` although the configurations do not.
fn names_num_ctas(file: &FileContext<'_>, searched: &Searched<'_>) -> bool {
    let Some(call) = file.expr(searched.search.span) else {
        return true;
    };
    let mut found = false;
    call.node.walk(&mut |expr| {
        found |= matches!(&expr.kind, ExprKind::Str(text) if text == "num_ctas");
    });
    found
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::arch::Arch;
    use crate::rules::testing::{bad, good};

    /// A kernel that multiplies in a helper, or one that only copies.
    const HEAD: &str = "import torch\nimport cuda.tile as ct\nfrom types import SimpleNamespace as C\nfrom cuda.tile.tune import exhaustive_search\n\ndef step(x, y, acc):\n    return ct.mma(x, y, acc)\n\n@ct.kernel\ndef matmul(a, T: ct.Constant[int]):\n    acc = step(a, a, 0)\n\n@ct.kernel\ndef copy(a, T: ct.Constant[int]):\n    n = min(T, 8)\n    ct.store(a, (0,), ct.load(a, (0,), (T,)))\n\n";

    fn code(space: &str, kernel: &str) -> String {
        format!(
            "{HEAD}{space}\ndef tune():\n    return exhaustive_search(SPACE, s, g, {kernel}, a)\n"
        )
    }

    const SPACES: [(&str, &str); 5] = [
        (
            "[C(TILE_M=64, occupancy=1), C(TILE_M=128, occupancy=2)]",
            "`num_ctas` 1 and 2",
        ),
        (
            "[C(TILE_M=m, num_ctas=1, occupancy=m // 64) for m in (64, 128)]",
            "`num_ctas` 2",
        ),
        (
            "[C(TILE_M=m, num_ctas=n, occupancy=1) for m in (64, 128) for n in (1, 2)]",
            "occupancy 1 only",
        ),
        (
            "[C(BLOCK_M=64, BLOCK_N=64, num_ctas=n, occupancy=n) for n in (1, 2)]",
            "one tile only",
        ),
        (
            "[dict(tm=64, num_ctas=n, occ=n) for n in (1, 2)]",
            "one tile only",
        ),
    ];

    #[test]
    fn what_is_left_out() {
        for (space, said) in SPACES {
            let (_, found) = bad(
                &RULE,
                &code(&format!("SPACE = {space}  # TP112\n"), "matmul"),
            );
            let message = &found[0].message;
            assert!(
                message.contains(said) && message.starts_with("`SPACE`"),
                "{message}"
            );
            assert_eq!(found[0].archs, [Arch::Sm100, Arch::Sm103]);
        }
    }

    #[test]
    fn a_space_chosen_by_the_device() {
        bad(
            &RULE,
            &format!(
                "{HEAD}def old():\n    yield C(TILE_M=64)\n\ndef new():  # TP112\n    yield C(TILE_M=64)\n\ndef tune(cap):\n    fn = old if cap[0] != 10 else new\n    return exhaustive_search(list(fn()), s, g, matmul, a)\n"
            ),
        );
    }

    #[test]
    fn other_kernels_and_spaces() {
        for (space, _) in SPACES {
            good(&RULE, &code(&format!("SPACE = {space}\n"), "copy"));
        }
        for space in [
            // Two tiles that differ in one extent.
            "[C(TILE_M=m, TILE_N=128, num_ctas=n, occupancy=n) for m in (128, 256) for n in (1, 2)]",
            // Nobody knows what it holds.
            "[C(TILE_M=m, num_ctas=n, occupancy=n) for m in TILES for n in CTAS]",
            "[C(stages=1), C(stages=2)]",
            "load_space()",
        ] {
            good(&RULE, &code(&format!("SPACE = {space}\n"), "matmul"));
        }
        // Where there is nothing to share, one is right.
        good(
            &RULE,
            &format!(
                "{HEAD}def space():\n    if torch.cuda.get_device_capability()[0] in (10, 11):\n        for n in (1, 2):\n            for t in (64, 128):\n                yield C(TILE_M=t, num_ctas=n, occupancy=n)\n    else:\n        yield C(TILE_M=64, num_ctas=1, occupancy=1)\n\nexhaustive_search(list(space()), s, g, matmul, a)\n"
            ),
        );
        // The narrow one is for others.
        for choice in [
            "(old if torch.cuda.get_device_capability()[0] < 9 else new)()",
            "(new if cap >= (10, 0) else old)()",
            "fn()",
        ] {
            good(
                &RULE,
                &format!(
                    "{HEAD}def old():\n    yield C(TILE_M=64, num_ctas=1, occupancy=1)\n\ndef new():\n    for n in (1, 2):\n        for t in (64, 128):\n            yield C(TILE_M=t, num_ctas=n, occupancy=n)\n\ndef tune(major, cap):\n    fn = old if major < 10 else new\n    return exhaustive_search(list({choice}), s, g, matmul, a)\n"
                ),
            );
        }
        // Given for all candidates alike.
        good(
            &RULE,
            &format!(
                "{HEAD}SPACE = [C(TILE_M=t, occupancy=t // 64) for t in (64, 128)]\nexhaustive_search(SPACE, s, g, matmul, a, lambda c: {{'num_ctas': pick(c)}})\n"
            ),
        );
    }
}
