//! Elements outside the array that end up in a reduction.

use rustc_hash::FxHashSet;
use tileperf_syntax::Span;
use tileperf_syntax::ast::ExprKind;

use crate::body::{Source, SourceKind};
use crate::rewrite::Edits;
use crate::rewrite::arguments::add_argument;
use crate::rules::ragged::{self, Ragged};
use crate::rules::reduction::{self, Reduction};
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

rule! {
    /// A load without a padding mode feeds a reduction, and its tile may reach beyond the array.
    ///
    /// `ct.load` leaves elements outside the array undetermined unless `padding_mode` says what they
    /// are. Where a tile is only stored again they are clipped at the store; a sum or a maximum takes
    /// them in. Give the padding that the reduction ignores (`ZERO` for a sum, `NEG_INF` for a
    /// maximum), or mask the tile with `ct.where` before it is reduced.
    ///
    /// A matrix product in a loop over the last axis of its operands sums as well.
    ///
    /// With TMA the hardware happens to pad with zeros. Elsewhere (sm_80 to sm_89 have none, and
    /// `allow_tma=True` does not bring it there) whatever lies in memory is summed, without an error.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def total(x, out, TILE: ct.Constant[int]):
    ///     tile = ct.load(x, (ct.bid(0),), (TILE,))  # TP219
    ///     ct.atomic_add(out, (0,), ct.sum(tile))
    /// ```
    ///
    /// ```python fixed
    /// @ct.kernel
    /// def total(x, out, TILE: ct.Constant[int]):
    ///     tile = ct.load(x, (ct.bid(0),), (TILE,), padding_mode=ct.PaddingMode.ZERO)
    ///     ct.atomic_add(out, (0,), ct.sum(tile))
    /// ```
    ///
    /// Every tile of a loop that rounds the number of tiles down is full:
    ///
    /// ```python good
    /// @ct.kernel
    /// def total(x, out, n: int, TILE: ct.Constant[int]):
    ///     acc = ct.zeros((TILE,), dtype=ct.float32)
    ///     for i in range(n // TILE):
    ///         acc = acc + ct.load(x, (i,), (TILE,))
    ///     ct.store(out, (0,), ct.sum(acc, keepdims=True))
    /// ```
    TP219 "load-no-padding" Warning,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let mut seen: FxHashSet<Span> = FxHashSet::default();
    let mut found = Vec::new();
    reduction::reductions(&at.device, &mut |reduction, _| {
        // A scan takes them in behind what is stored.
        if reduction.call.name.starts_with("cum") || reduction.call.name == "scan" {
            return;
        }
        for source in unpadded(reduction) {
            if seen.contains(&source.span) {
                continue;
            }
            let Some((load, place)) = reduction::call_at(&at.device, source.span) else {
                continue;
            };
            if let Some(extent) = ragged::reduced(&at.device, reduction, &load, &place) {
                seen.insert(source.span);
                found.push(Ragged {
                    load,
                    by: reduction.call.name.clone(),
                    extent,
                });
            }
        }
    });
    ragged::multiplied(&at.device, &mut seen, &mut found);
    found.sort_by_key(|ragged| ragged.load.expr.span.start);
    for ragged in found {
        report(at, &ragged, out);
    }
}

fn unpadded<'r>(reduction: &'r Reduction<'_>) -> impl Iterator<Item = &'r Source> {
    (reduction.tile.sources.iter()).filter(|s| s.kind == SourceKind::Unpadded)
}

fn report(at: &DeviceContext<'_>, ragged: &Ragged<'_>, out: &mut Findings<'_>) {
    let Ragged { load, by, extent } = ragged;
    let array = load.arg(0, "array").map_or("", |a| at.source(a.span));
    let mut message = format!(
        "The load from `{array}` has no padding mode and feeds `{by}`: where a tile of `{}` reaches beyond the array, undetermined elements are reduced",
        at.source(extent.span)
    );
    let tma = load.keyword("allow_tma").map(|e| &e.kind);
    if matches!(tma, Some(ExprKind::Bool(true))) {
        message.push_str("; sm_80 to sm_89 have no TMA that would pad with zeros");
    }
    let described = out.push(load.expr.span, message);
    let Some(module) = reduction::module_of(load, at.text).filter(|_| !load.is_open()) else {
        return;
    };
    let mode = match by.as_str() {
        "max" | "argmax" => "NEG_INF",
        "min" | "argmin" => "POS_INF",
        _ => "ZERO",
    };
    let padding = format!("{module}.PaddingMode.{mode}");
    let edits = match load.keyword("padding_mode") {
        Some(given) => Edits::new(at.text).replace(given.span, padding),
        None => add_argument(
            Edits::new(at.text),
            load.expr,
            &format!("padding_mode={padding}"),
        ),
    };
    described.review_fix(format!("Pad with {mode}"), edits);
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    #[test]
    fn the_padding_fits_the_reduction() {
        fixes(
            &RULE,
            "@ct.kernel\ndef k(x, y, T: ct.Constant[int]):\n    t = ct.load(x, index=(ct.bid(0), ct.bid(1)), shape=(1, T))  # TP219\n    ct.store(y, (ct.bid(0), ct.bid(1)), ct.max(t, axis=1, keepdims=True))\n",
            "@ct.kernel\ndef k(x, y, T: ct.Constant[int]):\n    t = ct.load(x, index=(ct.bid(0), ct.bid(1)), shape=(1, T), padding_mode=ct.PaddingMode.NEG_INF)\n    ct.store(y, (ct.bid(0), ct.bid(1)), ct.max(t, axis=1, keepdims=True))\n",
        );
        fixes(
            &RULE,
            "@ct.kernel\ndef k(x, y, T: ct.Constant[int]):\n    t = ct.load(\n        x,\n        (ct.bid(0),),\n        (T,),\n        padding_mode=ct.PaddingMode.UNDETERMINED,\n    )\n    ct.store(y, (0,), ct.min(t))\n"
                .replace("ct.load(", "ct.load(  # TP219")
                .as_str(),
            "@ct.kernel\ndef k(x, y, T: ct.Constant[int]):\n    t = ct.load(\n        x,\n        (ct.bid(0),),\n        (T,),\n        padding_mode=ct.PaddingMode.POS_INF,\n    )\n    ct.store(y, (0,), ct.min(t))\n",
        );
    }

    #[test]
    fn through_arithmetic_loops_and_other_reductions() {
        for (body, reduced) in [
            ("ct.load(x, (i,), (T,))  # TP219", "ct.sum(t * 2 + 1)"),
            (
                "ct.load(x, i, T)  # TP219",
                "ct.sum(ct.exp(ct.astype(t, ct.float32)))",
            ),
            (
                "ct.load(x, (i,), (T,)).astype(ct.float32)  # TP219",
                "ct.prod(t)",
            ),
        ] {
            bad(
                &RULE,
                &format!(
                    "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    for i in range(ct.cdiv(n, T)):\n        t = {body}\n        ct.store(y, (i,), {reduced})\n"
                ),
            );
        }
        bad(
            &RULE,
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    acc = ct.zeros((1, T), dtype=ct.float32)\n    for i in range((n + T - 1) // T):\n        acc = acc + ct.load(x, (ct.bid(0), i), (1, T))  # TP219\n    ct.store(y, (0,), ct.sum(acc))\n",
        );
    }

    #[test]
    fn products_along_the_axis_of_the_loop() {
        let product = |range: &str, a: &str, b: &str| {
            format!(
                "@ct.kernel\ndef k(a, b, c, n: int, M: ct.Constant[int], N: ct.Constant[int], T: ct.Constant[int]):\n    acc = ct.zeros((M, N), dtype=ct.float32)\n    for j in range({range}):\n        x = {a}\n        y = {b}\n        acc = ct.mma(x, y, acc)\n    ct.store(c, (0, 0), acc)\n"
            )
        };
        let (a, b) = ("ct.load(a, (0, j), (M, T))", "ct.load(b, (j, 0), (T, N))");
        let (a_bad, b_bad) = (format!("{a}  # TP219"), format!("{b}  # TP219"));
        bad(&RULE, &product("ct.cdiv(n, T)", &a_bad, &b_bad));
        bad(
            &RULE,
            &product(
                "ct.num_tiles(a, axis=1, shape=(M, T))",
                &a_bad,
                "ct.transpose(ct.load(b, (0, j), (N, T)))  # TP219",
            ),
        );
        good(&RULE, &product("n // T", a, b));
        let zero = ", padding_mode=ct.PaddingMode.ZERO)";
        let padded = |load: &str| load.strip_suffix(')').unwrap().to_owned() + zero;
        good(&RULE, &product("ct.cdiv(n, T)", &padded(a), &padded(b)));
        // The loop walks over columns of the product, or what it multiplies with was masked.
        good(
            &RULE,
            &product(
                "ct.cdiv(n, T)",
                "ct.load(a, (0, 0), (M, T))",
                "ct.load(b, (0, j), (T, N))",
            ),
        );
        for other in [
            "ct.exp(ct.zeros((M, T), dtype=ct.float32))",
            "ct.exp(acc - ct.load(a, (0, j), (M, 1), padding_mode=ct.PaddingMode.ZERO))",
        ] {
            good(&RULE, &product("ct.cdiv(n, T)", other, b));
        }
    }

    #[test]
    fn along_any_axis_and_in_any_loop() {
        let kernel = |body: &str| {
            format!(
                "@ct.kernel\ndef k(x, y, n: int, S: ct.Constant[int], T: ct.Constant[int]):\n    i = ct.bid(0)\n    {}\n",
                body.replace('\n', "\n    ")
            )
        };
        for body in [
            "t = ct.load(x, (i, 0), (S, T))  # TP219\nct.store(y, (0,), ct.sum(t, axis=0))",
            "t = ct.load(x, (0, i), (S, T))  # TP219\nct.store(y, (0,), ct.sum(t, axis=(0, 1)))",
            "t = ct.load(x, (0, i), (S, T))  # TP219\nct.store(y, (0,), ct.sum(t, axis=None))",
            "while i < n:\n    t = ct.load(x, (i,), (T,))  # TP219\n    ct.store(y, (0,), ct.sum(t))\n    i += ct.num_blocks(0)",
        ] {
            bad(&RULE, &kernel(body));
        }
        // What is masked is as wide as something else.
        good(
            &RULE,
            &kernel(
                "t = ct.load(x, (i, 0), (1, T))\nm = ct.arange(S, dtype=ct.int32) < n\nu = ct.load(x, (i, i), (1, S), padding_mode=ct.PaddingMode.ZERO)\nct.store(y, (0,), ct.sum(t))",
            ),
        );
    }

    #[test]
    fn the_message_says_where_tma_does_not_help() {
        let kernel = |tma: &str| {
            format!(
                "@ct.kernel\ndef k(x, y, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,){tma})  # TP219\n    ct.store(y, (0,), ct.sum(t))\n"
            )
        };
        for (tma, says) in [
            (", allow_tma=True", true),
            (", allow_tma=False", false),
            ("", false),
        ] {
            let (_, found) = bad(&RULE, &kernel(tma));
            assert_eq!(found[0].message.contains("sm_80"), says);
        }
    }

    #[test]
    fn one_tile_a_row_when_the_kernel_masks_that_width() {
        bad(
            &RULE,
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0), 0), (1, T))  # TP219\n    mask = ct.arange(T, dtype=ct.int32) < n\n    ct.store(y, (0,), ct.sum(t))\n",
        );
        bad(
            &RULE,
            "@ct.kernel\ndef k(x, w, y, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0), 0), (1, T))  # TP219\n    v = ct.load(w, (0,), (T,), padding_mode=ct.PaddingMode.ZERO)\n    ct.store(y, (0,), ct.sum(t) * v)\n",
        );
    }

    #[test]
    fn one_tile_a_row_when_another_number_of_elements_counts() {
        bad(
            &RULE,
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0), 0), (1, T))  # TP219\n    s = ct.sum(t, axis=1)\n    ct.store(y, (0,), s / n)\n",
        );
        good(
            &RULE,
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0), 0), (1, T))\n    s = ct.sum(t, axis=1)\n    ct.store(y, (0,), s / T)\n",
        );
    }

    #[test]
    fn silent_where_nothing_undetermined_is_reduced() {
        for (load, use_) in [
            // One tile a row, as wide as the row.
            ("ct.load(x, (i, 0), (1, T))", "ct.sum(t, axis=1)"),
            // One element.
            ("ct.load(x, (i, i), (1, 1))", "ct.sum(t)"),
            ("ct.load(x, i, shape=())", "ct.sum(t)"),
            // The ragged axis is not the reduced one.
            ("ct.load(x, (i, 0), (S, T))", "ct.sum(t, axis=1)"),
            (
                "ct.load(x, (i, 0), (S, T))",
                "ct.max(t, axis=-1, keepdims=True)",
            ),
            // Clipped at the store.
            ("ct.load(x, (i, i), (S, T))", "t * 2"),
            // Padded, or masked.
            (
                "ct.load(x, (i, i), (1, T), padding_mode=ct.PaddingMode.ZERO)",
                "ct.sum(t)",
            ),
            (
                "ct.where(ct.arange(T, dtype=ct.int32) < 7, ct.load(x, (i, i), (1, T)), 0.0)",
                "ct.sum(t)",
            ),
            // The elements beyond come last.
            ("ct.load(x, (i, i), (1, T))", "ct.cumsum(t, axis=1)"),
            (
                "ct.load(x, (i, i), (1, T))",
                "ct.scan(t, 1, lambda a, b: a + b, 0)",
            ),
            // The ragged axis is not the reduced one, through a reduction of the same tile.
            (
                "ct.load(x, (i, 0), (S, T))",
                "ct.sum(ct.exp(t - ct.max(t, axis=1, keepdims=True)), axis=1)",
            ),
            // As wide as a head.
            ("ct.load(x, (i, i), (S, D))", "ct.max(t, axis=1)"),
            ("ct.load(x, (i, i), (S, HEAD_DIM))", "ct.max(t, axis=1)"),
            // Two axes of one extent.
            ("ct.load(x, (i, 0), (32, 32))", "ct.max(t, axis=1)"),
            // The author vouches for the bounds.
            (
                "ct.load(x, (i, i), (1, T), check_bounds=False)",
                "ct.sum(t)",
            ),
            // An index that memory gave.
            (
                "ct.load(x, (ct.load(p, i, shape=()).item() if T else p, 0), (S, T))",
                "ct.sum(t)",
            ),
        ] {
            good(
                &RULE,
                &format!(
                    "@ct.kernel\ndef k(x, p, y, S: ct.Constant[int], T: ct.Constant[int], D: ct.Constant[int]):\n    i = ct.bid(0)\n    t = {load}\n    ct.store(y, (0,), {use_})\n"
                ),
            );
        }
        good(
            &RULE,
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    base = ct.bid(0) * n\n    for j in range(n):\n        ct.store(y, (j,), ct.sum(ct.load(x, (base + j,), (T,))))\n",
        );
        // Loops over whole tiles.
        for bound in ["n // T", "4", "0, n // T", "n", "COUNT"] {
            good(
                &RULE,
                &format!(
                    "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    for j in range({bound}):\n        ct.store(y, (j,), ct.sum(ct.load(x, (j,), (T,))))\n"
                ),
            );
        }
    }
}
