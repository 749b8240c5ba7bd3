//! Blocks read and written by tile index instead of element by element.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt};

use super::optimization::optimization;
use super::{Actions, KernelContext};
use crate::arch::Arch;
use crate::body::{ApiCall, Extent, Ty, values, walk};

optimization! {
    /// Access contiguous ranges by tile index: `ct.load` for `ct.gather`, `ct.store` for `ct.scatter`.
    ///
    /// Indices of the form `block * SIZE + arange(SIZE)`, or a row and such a range, name a tile. Only
    /// `ct.load` and `ct.store` can use the tensor memory accelerator, and need no address for each
    /// element. What is outside the array is read as zero and not written, as before. A range that is
    /// streamed once can be as fast by gather: measure.
    ///
    /// ```python before
    /// @ct.kernel
    /// def double(x, y, TILE: ct.Constant[int]):
    ///     offsets = ct.bid(0) * TILE + ct.arange(TILE, dtype=ct.int32)
    ///     values = ct.gather(x, offsets)
    ///     ct.scatter(y, offsets, values * 2)
    /// ```
    ///
    /// ```python after
    /// @ct.kernel
    /// def double(x, y, TILE: ct.Constant[int]):
    ///     offsets = ct.bid(0) * TILE + ct.arange(TILE, dtype=ct.int32)
    ///     values = ct.load(x, index=(ct.bid(0),), shape=(TILE,), padding_mode=ct.PaddingMode.ZERO)
    ///     ct.store(y, index=(ct.bid(0),), tile=values * 2)
    /// ```
    ///
    /// A row has an axis more, which the elements do not:
    ///
    /// ```python before
    /// @ct.kernel
    /// def total(x, y, TILE: ct.Constant[int]):
    ///     row = ct.gather(x, (ct.bid(0), ct.arange(TILE, dtype=ct.int32)))
    ///     ct.store(y, (ct.bid(0),), ct.sum(row))
    /// ```
    ///
    /// ```python after
    /// @ct.kernel
    /// def total(x, y, TILE: ct.Constant[int]):
    ///     row = ct.reshape(ct.load(x, index=(ct.bid(0), 0), shape=(1, TILE), padding_mode=ct.PaddingMode.ZERO), (TILE,))
    ///     ct.store(y, (ct.bid(0),), ct.sum(row))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def masked(x, y, n, TILE: ct.Constant[int]):
    ///     offsets = ct.bid(0) * TILE + ct.arange(TILE, dtype=ct.int32)
    ///     ct.scatter(y, offsets, ct.gather(x, offsets, mask=offsets < n), mask=offsets < n)
    /// ```
    A "block-access" Vectorization Same offer,
    gain "2-78 times" "tiles that are read again, B200" "TileGym's guides",
}

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let Some(ct) = at.ct() else { return };
    if !at.on_any(Arch::has_tma) {
        return;
    }
    let mut edits = at.edits();
    let (mut reads, mut writes) = (0, 0);
    for called in at.calls(&["gather", "scatter"]) {
        let call = &called.call;
        // A comment within would be lost.
        if at.source(call.expr.span).contains('#') {
            continue;
        }
        let by_tile = match call.name.as_str() {
            "gather" => load(at, ct, call),
            _ => store(at, ct, call),
        };
        let Some(text) = by_tile else { continue };
        // Within another one that is replaced as a whole.
        let nested = |edits: &crate::rewrite::Edits<'_>| {
            let all = edits.clone().finish();
            all.iter().any(|edit| edit.span.contains(call.expr.span))
        };
        if nested(&edits) {
            continue;
        }
        edits = edits.replace(call.expr.span, text);
        match call.name.as_str() {
            "gather" => reads += 1,
            _ => writes += 1,
        }
    }
    let several = |n: usize, what: &str| match n {
        1 => format!("a {what}"),
        n => format!("{n} {what}s"),
    };
    let title = match (reads, writes) {
        (0, 0) => return,
        (_, 0) => format!("Make {} a load by tile index", several(reads, "gather")),
        (0, _) => format!("Make {} a store by tile index", several(writes, "scatter")),
        _ => format!(
            "Access by tile index: {} and {}",
            several(reads, "gather"),
            several(writes, "scatter")
        ),
    };
    out.push("", title, edits);
}

fn load<'a>(at: &KernelContext<'a>, ct: &str, call: &ApiCall<'a>) -> Option<String> {
    if !takes_only(
        call,
        &[
            "array",
            "indices",
            "padding_value",
            "check_bounds",
            "latency",
        ],
    ) {
        return None;
    }
    let zero = |e: &Expr| match &e.kind {
        ExprKind::Int(value) => *value == 0,
        ExprKind::Float(value) => *value == 0.0,
        _ => false,
    };
    if !call.arg(3, "padding_value").is_none_or(zero) || call.arg(2, "mask").is_some() {
        return None;
    }
    let block = Block::of(at, call)?;
    let array = at.source(call.arg(0, "array")?.span);
    let bounds = match is_checked(call)? {
        true => format!(", padding_mode={ct}.PaddingMode.ZERO"),
        false => String::new(),
    };
    let (index, shape) = (block.index(), block.shape());
    let latency = latency(at, call);
    let load = format!("{ct}.load({array}, index={index}, shape={shape}{bounds}{latency})");
    Some(match block.has_rows() {
        true => format!("{ct}.reshape({load}, {})", block.tile()),
        false => load,
    })
}

fn store<'a>(at: &KernelContext<'a>, ct: &str, call: &ApiCall<'a>) -> Option<String> {
    if !takes_only(
        call,
        &["array", "indices", "value", "check_bounds", "latency"],
    ) || call.arg(3, "mask").is_some()
    {
        return None;
    }
    is_checked(call)?;
    let block = Block::of(at, call)?;
    let array = at.source(call.arg(0, "array")?.span);
    let value = call.arg(2, "value")?;
    // What is scattered may be of fewer axes, or one number; a tile that is stored may not.
    let tile = at.device.tile(value)?;
    let shape = tile.shape.as_ref()?;
    let is_whole = shape.len() == block.tiles.len()
        && (shape.iter().zip(&block.tiles)).all(|(extent, tile)| *extent == tile.extent);
    if !is_whole {
        return None;
    }
    // The gathers within are replaced by their own edits only if this is not one.
    let value = replaced(at, ct, value);
    let value = match block.has_rows() {
        true => format!("{ct}.reshape({value}, {})", block.shape()),
        false => value,
    };
    let (index, latency) = (block.index(), latency(at, call));
    Some(format!(
        "{ct}.store({array}, index={index}, tile={value}{latency})"
    ))
}

/// The text of an expression, with the gathers in it made by tile index.
fn replaced<'a>(at: &KernelContext<'a>, ct: &str, expr: &'a Expr) -> String {
    let mut text = at.source(expr.span).to_owned();
    let mut places = Vec::new();
    expr.walk(&mut |inner| {
        if let Some(call) = at.device.call(inner)
            && call.name == "gather"
            && let Some(load) = load(at, ct, &call)
        {
            places.push((inner.span, load));
        }
    });
    for (span, load) in places.into_iter().rev() {
        let range = (span.start - expr.span.start) as usize..(span.end - expr.span.start) as usize;
        text.replace_range(range, &load);
    }
    text
}

/// Whether a call has no other keywords.
fn takes_only(call: &ApiCall<'_>, names: &[&str]) -> bool {
    (call.args.iter()).all(|arg| {
        arg.name
            .as_ref()
            .is_none_or(|name| names.contains(&name.name.as_str()))
    })
}

/// Whether it compares its indices with the array's shape; nothing if that is not written out.
fn is_checked(call: &ApiCall<'_>) -> Option<bool> {
    match call.keyword("check_bounds").map(|e| &e.kind) {
        None => Some(true),
        Some(ExprKind::Bool(value)) => Some(*value),
        Some(_) => None,
    }
}

fn latency(at: &KernelContext<'_>, call: &ApiCall<'_>) -> String {
    (call.keyword("latency"))
        .map_or_else(String::new, |e| format!(", latency={}", at.source(e.span)))
}

/// The tile that indices name.
struct Block {
    /// One an axis of the array: the tile's index there and its extent.
    axes: Vec<(String, String)>,
    /// The axes along which there is more than one element.
    tiles: Vec<TileAxis>,
}

struct TileAxis {
    extent: Extent,
    text: String,
}

/// The index along one axis.
enum Axis {
    /// One row.
    Row(String),
    /// The block of this number, of so many elements; the range has this shape.
    Block {
        number: String,
        size: String,
        extent: Extent,
        faces: Faces,
    },
}

/// Along which axis of the result a range lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Faces {
    /// It has one axis only.
    Only,
    /// `[:, None]`
    First,
    /// `[None, :]`
    Last,
}

impl Block {
    fn of<'a>(at: &KernelContext<'a>, call: &ApiCall<'a>) -> Option<Block> {
        let indices = call.arg(1, "indices")?;
        let (indices, from) = followed(at, indices, call.expr)?;
        let parts: Vec<&Expr> = match &indices.kind {
            ExprKind::Tuple(parts) => parts.iter().collect(),
            _ => vec![indices],
        };
        let mut block = Block {
            axes: Vec::new(),
            tiles: Vec::new(),
        };
        let mut faces = Vec::new();
        for part in &parts {
            match axis(at, part, from)? {
                Axis::Row(index) => block.axes.push((index, "1".to_owned())),
                Axis::Block {
                    number,
                    size,
                    extent,
                    faces: face,
                } => {
                    block.axes.push((number, size.clone()));
                    block.tiles.push(TileAxis { extent, text: size });
                    faces.push(face);
                }
            }
        }
        let is_contiguous = matches!(
            parts.last().map(|p| axis(at, p, from)),
            Some(Some(Axis::Block { .. }))
        );
        let fits = matches!(
            faces.as_slice(),
            [Faces::Only] | [Faces::First, Faces::Last]
        );
        (fits && is_contiguous).then_some(block)
    }

    /// Some axes have one element only, and the elements no axis for them.
    fn has_rows(&self) -> bool {
        self.axes.len() > self.tiles.len()
    }

    fn index(&self) -> String {
        tuple(self.axes.iter().map(|(index, _)| index.as_str()))
    }

    fn shape(&self) -> String {
        tuple(self.axes.iter().map(|(_, size)| size.as_str()))
    }

    /// The shape of the elements.
    fn tile(&self) -> String {
        tuple(self.tiles.iter().map(|tile| tile.text.as_str()))
    }
}

fn tuple<'t>(parts: impl Iterator<Item = &'t str>) -> String {
    let parts: Vec<&str> = parts.collect();
    match parts.as_slice() {
        [one] => format!("({one},)"),
        parts => format!("({})", parts.join(", ")),
    }
}

fn axis<'a>(at: &KernelContext<'a>, expr: &'a Expr, from: &'a Expr) -> Option<Axis> {
    if is_number(at, expr) {
        return Some(Axis::Row(at.source(expr.span).to_owned()));
    }
    let (expr, from) = followed(at, expr, from)?;
    match &expr.kind {
        ExprKind::Subscript { value, index } => {
            let faces = match index.as_slice() {
                [first, last] if is_whole(first) && is_none(last) => Faces::First,
                [first, last] if is_none(first) && is_whole(last) => Faces::Last,
                _ => return None,
            };
            match axis(at, value, from)? {
                Axis::Block {
                    number,
                    size,
                    extent,
                    faces: Faces::Only,
                } => Some(Axis::Block {
                    number,
                    size,
                    extent,
                    faces,
                }),
                _ => None,
            }
        }
        ExprKind::Binary { op, left, right } if op == "+" => {
            let sum = |range: &'a Expr, base: &'a Expr| {
                let (size, extent) = range_of(at, range, from)?;
                let number = block_number(at, base, &size, from)?;
                Some(Axis::Block {
                    number,
                    size,
                    extent,
                    faces: Faces::Only,
                })
            };
            sum(right, left).or_else(|| sum(left, right))
        }
        _ => {
            let (size, extent) = range_of(at, expr, from)?;
            Some(Axis::Block {
                number: "0".to_owned(),
                size,
                extent,
                faces: Faces::Only,
            })
        }
    }
}

/// Whether an expression is one number: a scalar, a constant, a parameter that is no array.
fn is_number(at: &KernelContext<'_>, expr: &Expr) -> bool {
    match (at.device.ty(expr), &expr.kind) {
        (Ty::Scalar { .. } | Ty::Const(_), _) => true,
        (Ty::Unknown, ExprKind::Name(name)) => {
            let body = &at.def.node.body;
            let given = at.device.param(name).is_some() && values(body, name).is_empty();
            given && !at.device.body.arrays.contains(name)
        }
        (Ty::Unknown, ExprKind::Binary { left, right, .. }) => {
            is_number(at, left) && is_number(at, right)
        }
        _ => false,
    }
}

fn is_whole(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Slice { lower, upper, step } => {
            lower.is_none() && upper.is_none() && step.is_none()
        }
        _ => false,
    }
}

fn is_none(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::None)
}

/// The size of `arange(size)`, as written and as known.
fn range_of<'a>(
    at: &KernelContext<'a>,
    expr: &'a Expr,
    from: &'a Expr,
) -> Option<(String, Extent)> {
    let (expr, _) = followed(at, expr, from)?;
    let call = at.device.call(expr)?;
    if call.name != "arange" || !takes_only(&call, &["size", "dtype"]) {
        return None;
    }
    let size = call.arg(0, "size")?;
    let extent = at.device.ty(size).extent();
    let known = matches!(extent, Extent::Int(n) if n > 1) || matches!(extent, Extent::Name(_));
    known.then(|| (at.source(size.span).to_owned(), extent))
}

/// `block` of `block * size`, which is where a range of that size begins.
fn block_number<'a>(
    at: &KernelContext<'a>,
    base: &'a Expr,
    size: &str,
    from: &'a Expr,
) -> Option<String> {
    if !is_number(at, base) {
        return None;
    }
    let (base, _) = followed(at, base, from)?;
    let ExprKind::Binary { op, left, right } = &base.kind else {
        return None;
    };
    let of = |number: &'a Expr, factor: &'a Expr| {
        let same = at.source(factor.span) == size;
        same.then(|| at.source(number.span).to_owned())
    };
    match op.as_str() {
        "*" => of(left, right).or_else(|| of(right, left)),
        _ => None,
    }
}

/// What a name stands for, where that means the same at `from`: the name is bound once, in a block
/// that is run before, from names that are themselves bound once.
fn followed<'a>(
    at: &KernelContext<'a>,
    expr: &'a Expr,
    from: &'a Expr,
) -> Option<(&'a Expr, &'a Expr)> {
    let value = at.device.follow(expr);
    if std::ptr::eq(value, expr) {
        return Some((expr, from));
    }
    let body = &at.def.node.body;
    let (here, there) = (path(body, from)?, path(body, value)?);
    let (_, around) = there.split_last()?;
    let before = around.len() <= here.len()
        && (around.iter().zip(&here)).all(|(a, b)| std::ptr::eq(*a, *b))
        && value.span.end <= from.span.start;
    let mut stable = true;
    value.walk(&mut |e| {
        if let Some(name) = e.name() {
            stable &= is_bound_once(body, name);
        }
    });
    (before && stable).then_some((value, value))
}

fn is_bound_once(body: &[Stmt], name: &SmolStr) -> bool {
    values(body, name).len() <= 1
}

/// The statements around an expression, its own last.
fn path<'a>(body: &'a [Stmt], wanted: &Expr) -> Option<Vec<&'a Stmt>> {
    let mut found = None;
    walk(body, &mut |expr, place| {
        if found.is_none() && std::ptr::eq(expr, wanted) {
            found = Some(place.path.clone());
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::OPTIMIZATION;
    use crate::playbook::testing::{after, none};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, n, T: ct.Constant[int], S: ct.Constant[int]):\n    row = ct.bid(0)\n    cols = ct.arange(T, dtype=ct.int32)\n    {body}\n"
        )
    }

    fn load(index: &str, shape: &str) -> String {
        format!("ct.load(x, index={index}, shape={shape}, padding_mode=ct.PaddingMode.ZERO)")
    }

    #[test]
    fn reads() {
        for (indices, wanted) in [
            ("cols", load("(0,)", "(T,)")),
            ("row * T + cols", load("(row,)", "(T,)")),
            ("cols + T * (row + 1)", load("(row + 1,)", "(T,)")),
            (
                "(row, cols)",
                format!("ct.reshape({}, (T,))", load("(row, 0)", "(1, T)")),
            ),
            (
                "(row, n - 1, n * T + cols)",
                format!("ct.reshape({}, (T,))", load("(row, n - 1, n)", "(1, 1, T)")),
            ),
            (
                "(row * S + ct.arange(S, dtype=ct.int32)[:, None], cols[None, :])",
                // The sum is two-dimensional: the range is not alone.
                String::new(),
            ),
            (
                "(ct.arange(S, dtype=ct.int32)[:, None], cols[None, :])",
                load("(0, 0)", "(S, T)"),
            ),
        ] {
            let code = kernel(&format!("t = ct.gather(x, {indices})"));
            match wanted.as_str() {
                "" => none(&OPTIMIZATION, &code),
                wanted => {
                    after(&OPTIMIZATION, &code, "", &kernel(&format!("t = {wanted}")));
                }
            }
        }
        let wanted = "t = ct.load(x, index=(0,), shape=(T,), latency=4)";
        let code = kernel("t = ct.gather(x, cols, check_bounds=False, latency=4)");
        after(&OPTIMIZATION, &code, "", &kernel(wanted));
    }

    #[test]
    fn writes_of_whole_tiles_with_what_they_read() {
        let code = kernel("ct.scatter(y, (row, cols), ct.gather(x, (row, cols)) + 1)");
        let read = format!("ct.reshape({}, (T,))", load("(row, 0)", "(1, T)"));
        let wanted = format!("ct.store(y, index=(row, 0), tile=ct.reshape({read} + 1, (1, T)))");
        after(&OPTIMIZATION, &code, "", &kernel(&wanted));
        // A number is no tile, and a row of them not two.
        none(&OPTIMIZATION, &kernel("ct.scatter(y, cols, 0)"));
    }

    #[test]
    fn names_that_mean_something_else_by_then() {
        let loops = |names: &str, body: &str| {
            kernel(&format!(
                "for j in range(n):\n        {names}\n        {body}"
            ))
        };
        after(
            &OPTIMIZATION,
            &loops("o = j * T + cols", "t = ct.gather(x, o)"),
            "",
            &loops("o = j * T + cols", &format!("t = {}", load("(j,)", "(T,)"))),
        );
        for code in [
            // Bound twice, in a branch, from what changes.
            kernel("o = row * T + cols\n    o = o + 1\n    t = ct.gather(x, o)"),
            kernel("if n > 1:\n        o = row * T + cols\n    t = ct.gather(x, o)"),
            kernel("b = row\n    o = b * T + cols\n    b = b + 1\n    t = ct.gather(x, o)"),
        ] {
            none(&OPTIMIZATION, &code);
        }
    }

    #[test]
    fn what_a_tile_index_cannot_say() {
        for access in [
            "t = ct.gather(x, row * S + cols)",
            "t = ct.gather(x, n + cols)",
            "t = ct.gather(x, cols * 2)",
            "t = ct.gather(x, (cols, row))",
            "t = ct.gather(x, row)",
            "t = ct.gather(x, cols, mask=cols < n)",
            "t = ct.gather(x, cols, padding_value=1.0)",
            "t = ct.gather(x, cols, check_bounds=n)",
            "t = ct.gather(x, ct.arange(T, dtype=ct.int32, step=2))",
            "t = ct.gather(x, cols, **more)",
            "t = ct.gather(\n        x,  # why\n        cols,\n    )",
        ] {
            none(&OPTIMIZATION, &kernel(access));
        }
    }
}
