//! Approximations that the hardware has.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::optimization::optimization;
use super::{Actions, KernelContext};
use crate::body::{ApiCall, Dtype, Ty};
use crate::rewrite::arguments::add_argument;
use crate::rules::eight_bit;

optimization! {
    /// Use the hardware's approximations of `exp`, division, `tanh` and `rsqrt` on float32 tiles.
    ///
    /// `exp(x)` becomes `exp2(x * log2(e), flush_to_zero=True)`: the hardware has a power of two, and the
    /// factor is folded into one that is there. A division becomes `truediv` with
    /// `RoundingMode.APPROX`. Only where the tile is surely float32: cuTile refuses both keywords for
    /// other dtypes. Never in kernels that quantize to 8 bits, whose scales must be exact.
    ///
    /// In attention this belongs together with large tiles: without it large tiles lost 18-43 %, with
    /// it they won 34-72 % (TileGym's guides, B200).
    ///
    /// ```python before
    /// @ct.kernel
    /// def gate(x, y, TILE: ct.Constant[int]):
    ///     tile = ct.astype(ct.load(x, (ct.bid(0),), (TILE,)), ct.float32)
    ///     gated = tile / (1.0 + ct.exp(-tile))
    ///     ct.store(y, (ct.bid(0),), ct.astype(gated, y.dtype))
    /// ```
    ///
    /// ```python after exp2
    /// @ct.kernel
    /// def gate(x, y, TILE: ct.Constant[int]):
    ///     tile = ct.astype(ct.load(x, (ct.bid(0),), (TILE,)), ct.float32)
    ///     gated = tile / (1.0 + ct.exp2((-tile) * 1.4426950408889634, flush_to_zero=True))
    ///     ct.store(y, (ct.bid(0),), ct.astype(gated, y.dtype))
    /// ```
    ///
    /// ```python after division
    /// @ct.kernel
    /// def gate(x, y, TILE: ct.Constant[int]):
    ///     tile = ct.astype(ct.load(x, (ct.bid(0),), (TILE,)), ct.float32)
    ///     gated = ct.truediv(tile, (1.0 + ct.exp(-tile)), rounding_mode=ct.RoundingMode.APPROX, flush_to_zero=True)
    ///     ct.store(y, (ct.bid(0),), ct.astype(gated, y.dtype))
    /// ```
    ///
    /// ```python after all
    /// @ct.kernel
    /// def gate(x, y, TILE: ct.Constant[int]):
    ///     tile = ct.astype(ct.load(x, (ct.bid(0),), (TILE,)), ct.float32)
    ///     gated = ct.truediv(tile, (1.0 + ct.exp2((-tile) * 1.4426950408889634, flush_to_zero=True)), rounding_mode=ct.RoundingMode.APPROX, flush_to_zero=True)
    ///     ct.store(y, (ct.bid(0),), ct.astype(gated, y.dtype))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def gate(x, y, TILE: ct.Constant[int]):
    ///     tile = ct.load(x, (ct.bid(0),), (TILE,))
    ///     ct.store(y, (ct.bid(0),), tile / (1.0 + ct.exp(-tile)))
    /// ```
    H "cheaper-math" Precision Different offer,
    gain "1-72 %" "attention kernels, B200" "TileGym's guides",
    gain "25-63 % less code" "attention kernels, sm_100" "TileGym's guides",
}

/// log2(e), to the last bit of a Python float.
const LOG2_E: &str = "1.4426950408889634";

/// Something that the hardware approximates.
struct Exact<'a> {
    kind: Kind,
    expr: &'a Expr,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Exp2,
    Division,
    Tanh,
    Rsqrt,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Exp2, Kind::Division, Kind::Tanh, Kind::Rsqrt];

    fn variant(self) -> &'static str {
        match self {
            Kind::Exp2 => "exp2",
            Kind::Division => "division",
            Kind::Tanh => "tanh",
            Kind::Rsqrt => "rsqrt",
        }
    }

    fn title(self, count: usize) -> String {
        let several = |one: &str, many: &str| match count {
            1 => one.to_owned(),
            n => format!("{n} {many}"),
        };
        match self {
            Kind::Exp2 => format!(
                "Make {} of two, denormals flushed",
                several("exp a power", "exp powers")
            ),
            Kind::Division => format!("Approximate {}", several("the division", "divisions")),
            Kind::Tanh => format!("Approximate {}", several("tanh", "tanh")),
            Kind::Rsqrt => format!("Flush denormals in {}", several("rsqrt", "rsqrt")),
        }
    }
}

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let Some(ct) = at.ct() else { return };
    if eight_bit::quantizes(&at.device) {
        return;
    }
    let found = found(at);
    let kinds: Vec<Kind> = (Kind::ALL.into_iter())
        .filter(|kind| found.iter().any(|f| f.kind == *kind))
        .collect();
    for kind in &kinds {
        let of_kind: Vec<&Exact<'_>> = found.iter().filter(|f| f.kind == *kind).collect();
        let title = kind.title(of_kind.len());
        out.push(kind.variant(), title, cheaper(at, ct, &of_kind));
    }
    if kinds.len() > 1 {
        let all: Vec<&Exact<'_>> = found.iter().collect();
        let title = format!("Approximate all {} exact functions", all.len());
        out.push("all", title, cheaper(at, ct, &all));
    }
}

fn found<'a>(at: &KernelContext<'a>) -> Vec<Exact<'a>> {
    let mut out = Vec::new();
    at.device.walk(&mut |expr, _| {
        out.extend(kind(at, expr).map(|kind| Exact { kind, expr }));
    });
    out
}

fn kind<'a>(at: &KernelContext<'a>, expr: &'a Expr) -> Option<Kind> {
    match &expr.kind {
        ExprKind::Binary { op, left, right } if op == "/" => {
            let gap = Span {
                start: left.span.end,
                end: right.span.start,
            };
            // In the gap stand the operator and parentheses; a comment could hold another slash.
            let plain = !at.source(gap).contains('#');
            (plain && is_float32(at, right) && divides(at, left)).then_some(Kind::Division)
        }
        ExprKind::Call { .. } => {
            let call = at.device.call(expr)?;
            let of = |name: &str| call.arg(0, name).is_some_and(|e| is_float32(at, e));
            let says = ["rounding_mode", "flush_to_zero"];
            let plain = !call.is_open() && says.iter().all(|name| call.keyword(name).is_none());
            if !plain {
                return None;
            }
            match call.name.as_str() {
                "exp" if of("x") && is_named(at, &call) => Some(Kind::Exp2),
                "tanh" if of("x") => Some(Kind::Tanh),
                "rsqrt" if of("x") => Some(Kind::Rsqrt),
                "truediv"
                    if call.arg(1, "y").is_some_and(|e| is_float32(at, e))
                        && call.arg(0, "x").is_some_and(|e| divides(at, e)) =>
                {
                    Some(Kind::Division)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether the function is written as an attribute of its module and given one argument: its name can
/// be changed in place.
fn is_named(at: &KernelContext<'_>, call: &ApiCall<'_>) -> bool {
    at.prefix(call).is_some() && call.args.len() == 1 && call.args[0].name.is_none()
}

/// A tile that is surely float32.
fn is_float32(at: &KernelContext<'_>, expr: &Expr) -> bool {
    (at.device.tile(expr)).is_some_and(|tile| tile.dtype == Dtype::F32)
}

/// Whether something over a float32 tile gives one.
fn divides(at: &KernelContext<'_>, expr: &Expr) -> bool {
    match at.device.ty(expr) {
        Ty::Tile(tile) => matches!(tile.dtype, Dtype::F32 | Dtype::Weak),
        Ty::Const(_) => true,
        _ => false,
    }
}

/// The change of all of these. They can stand in each other, outermost first: what is put before an
/// expression goes in that order, what is put behind it in the opposite one.
fn cheaper<'a>(at: &KernelContext<'a>, ct: &str, all: &[&Exact<'a>]) -> crate::rewrite::Edits<'a> {
    let approximate = format!("rounding_mode={ct}.RoundingMode.APPROX, flush_to_zero=True");
    let mut edits = at.edits();
    let mut behind = Vec::new();
    let argument = |call: &Expr, argument: &str| {
        let added = add_argument(at.edits(), call, argument).finish();
        added.into_iter().map(|edit| (edit.span.start, edit.text))
    };
    for exact in all {
        match (&exact.expr.kind, exact.kind) {
            (ExprKind::Binary { left, right, .. }, _) => {
                let gap = Span {
                    start: left.span.end,
                    end: right.span.start,
                };
                let Some(slash) = at.source(gap).find('/') else {
                    continue;
                };
                let before = at.source(gap)[..slash].trim_end_matches([' ', '\t']).len() as u32;
                let operator = Span {
                    start: gap.start + before,
                    end: gap.start + slash as u32 + 1,
                };
                edits = edits
                    .insert(exact.expr.span.start, format!("{ct}.truediv("))
                    .replace(operator, ",");
                behind.push((exact.expr.span.end, format!(", {approximate})")));
            }
            (ExprKind::Call { func, args }, Kind::Exp2) => {
                let (ExprKind::Attribute { attr, .. }, [arg]) = (&func.kind, args.as_slice())
                else {
                    continue;
                };
                edits = edits
                    .replace(attr.span, "exp2")
                    .insert(arg.value.span.start, "(");
                let factor = format!(") * {LOG2_E}, flush_to_zero=True");
                behind.push((arg.value.span.end, factor));
            }
            (_, Kind::Rsqrt) => behind.extend(argument(exact.expr, "flush_to_zero=True")),
            (_, Kind::Tanh) => {
                let mode = format!("rounding_mode={ct}.RoundingMode.APPROX");
                behind.extend(argument(exact.expr, &mode));
            }
            _ => behind.extend(argument(exact.expr, &approximate)),
        }
    }
    for (end, text) in behind.into_iter().rev() {
        edits = edits.insert(end, text);
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::OPTIMIZATION;
    use crate::playbook::testing::{after, none, variants};

    fn kernel(value: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, T: ct.Constant[int]):\n    t = ct.astype(ct.load(x, (0,), (T,)), ct.float32)\n    ct.store(y, (0,), {value})\n"
        )
    }

    #[test]
    fn every_function_in_each_other() {
        for (before, variant, wanted) in [
            (
                "(t + 1.0) / (t * 2.0)",
                "division",
                "ct.truediv((t + 1.0), (t * 2.0), rounding_mode=ct.RoundingMode.APPROX, flush_to_zero=True)",
            ),
            (
                "1.0 / t / t",
                "division",
                "ct.truediv(ct.truediv(1.0, t, rounding_mode=ct.RoundingMode.APPROX, flush_to_zero=True), t, rounding_mode=ct.RoundingMode.APPROX, flush_to_zero=True)",
            ),
            (
                "ct.exp(t / t)",
                "all",
                "ct.exp2((ct.truediv(t, t, rounding_mode=ct.RoundingMode.APPROX, flush_to_zero=True)) * 1.4426950408889634, flush_to_zero=True)",
            ),
            (
                "ct.truediv(t, t)",
                "division",
                "ct.truediv(t, t, rounding_mode=ct.RoundingMode.APPROX, flush_to_zero=True)",
            ),
            (
                "ct.tanh(t) * ct.rsqrt(t)",
                "all",
                "ct.tanh(t, rounding_mode=ct.RoundingMode.APPROX) * ct.rsqrt(t, flush_to_zero=True)",
            ),
            (
                "ct.tanh(t / t)",
                "all",
                "ct.tanh(ct.truediv(t, t, rounding_mode=ct.RoundingMode.APPROX, flush_to_zero=True), rounding_mode=ct.RoundingMode.APPROX)",
            ),
            (
                "ct.exp(t - 1.0, )",
                "exp2",
                "ct.exp2((t - 1.0) * 1.4426950408889634, flush_to_zero=True, )",
            ),
        ] {
            after(&OPTIMIZATION, &kernel(before), variant, &kernel(wanted));
        }
    }

    #[test]
    fn one_of_a_kind_is_not_all() {
        assert_eq!(
            variants(&OPTIMIZATION, &kernel("ct.exp(t) + ct.exp(-t)")),
            ["exp2"]
        );
        assert_eq!(
            variants(&OPTIMIZATION, &kernel("ct.exp(t) / t")),
            ["exp2", "division", "all"]
        );
    }

    #[test]
    fn what_is_not_float32_or_says_how_stays() {
        for value in [
            "ct.exp(ct.load(x, (0,), (T,)))",
            "ct.exp(ct.astype(t, ct.float16))",
            "ct.exp2(t)",
            "ct.exp(t, rounding_mode=ct.RoundingMode.APPROX)",
            "ct.truediv(t, t, **how)",
            "t / 2.0",
            "t / x.shape[0]",
            "ct.load(x, (0,), (T,)) / t",
            "t // t",
        ] {
            none(&OPTIMIZATION, &kernel(value));
        }
        none(
            &OPTIMIZATION,
            "@ct.kernel\ndef quantize_fp8(x, y, T: ct.Constant[int]):\n    t = ct.astype(ct.load(x, (0,), (T,)), ct.float32)\n    ct.store(y, (0,), ct.astype(448.0 / t, ct.float8_e4m3fn))\n",
        );
        none(
            &OPTIMIZATION,
            "from cuda.tile import astype, exp, float32, kernel, load, store\n@kernel\ndef k(x, y):\n    store(y, (0,), exp(astype(load(x, (0,), (8,)), float32)))\n",
        );
    }
}
