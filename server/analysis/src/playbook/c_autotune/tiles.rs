//! Which of a launch's numbers are tiles that a search may choose.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt};

use super::effects::Effects;
use super::flow::Flow;
use super::loops::loops_follow;
use crate::playbook::KernelContext;
use crate::playbook::site::{Meaning, Site};
use crate::rules::{is_occupancy, is_tile};

/// An extent of a matrix multiplication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::playbook) enum Dim {
    M,
    N,
    K,
}

/// A tile size that a launch passes as a constant.
#[derive(Debug, Clone)]
pub(in crate::playbook) struct Tile {
    /// The kernel's parameter, and the configuration's field.
    pub(in crate::playbook) field: SmolStr,
    pub(in crate::playbook) dim: Dim,
    /// What it is today.
    pub(in crate::playbook) value: i64,
    pub(super) root: Root,
}

/// Where a tile's number comes from.
#[derive(Debug, Clone)]
pub(super) enum Root {
    Name(SmolStr),
    Number(Span),
}

/// Who may say what a tile is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::playbook) enum Givers {
    /// The code at the launch alone.
    Code,
    /// Callers too: a default of a parameter counts.
    Callers,
}

impl Tile {
    /// What follows from it and from numbers that are the same one, if nothing but the launch uses it.
    pub(in crate::playbook) fn flow<'s, 'a>(
        &self,
        site: &'s Site<'a>,
        also: &[Span],
        arrays: &[bool],
    ) -> Option<Flow<'s, 'a>> {
        flow(site, &[(self, also)], arrays)
    }
}

/// The tile that a launch passes for a parameter of a kernel that multiplies no matrices: which of the
/// extents it is does not matter there.
pub(in crate::playbook) fn tile_of(site: &Site<'_>, param: &SmolStr, arg: &Expr) -> Option<Tile> {
    let (value, root) = number(site, arg, Givers::Callers)?;
    let (field, dim) = (param.clone(), Dim::M);
    (value >= 1 && value.count_ones() == 1).then_some(Tile {
        field,
        dim,
        value,
        root,
    })
}

/// The default of a parameter that keeps what it was given.
pub(super) fn default_of<'a>(def: &'a FunctionDef, name: &str) -> Option<&'a Expr> {
    let param = def.params.iter().find(|p| p.name.name == name)?;
    param.default.as_ref().filter(|_| !binds(&def.body, name))
}

/// The tiles of a launch that may be others, with what follows from them; nothing unless rows and
/// columns are among them.
pub(in crate::playbook) fn tiles<'s, 'a>(
    at: &KernelContext<'a>,
    site: &'s Site<'a>,
    effects: &Effects,
    givers: Givers,
) -> Option<(Vec<Tile>, Flow<'s, 'a>)> {
    of_dims(at, site, effects, givers, &|_| true).filter(|(found, _)| {
        [Dim::M, Dim::N]
            .iter()
            .all(|d| found.iter().any(|t| t.dim == *d))
    })
}

/// The tile of rows alone, of a launch where the others are those of scales.
pub(super) fn rows<'s, 'a>(
    at: &KernelContext<'a>,
    site: &'s Site<'a>,
    effects: &Effects,
) -> Option<(Vec<Tile>, Flow<'s, 'a>)> {
    of_dims(at, site, effects, Givers::Code, &|dim| dim == Dim::M)
        .filter(|(found, _)| !found.is_empty())
}

fn of_dims<'s, 'a>(
    at: &KernelContext<'a>,
    site: &'s Site<'a>,
    effects: &Effects,
    givers: Givers,
    wanted: &dyn Fn(Dim) -> bool,
) -> Option<(Vec<Tile>, Flow<'s, 'a>)> {
    let params = &at.kernel.params;
    let arrays = effects.are_arrays(params);
    let mut found: Vec<Tile> = Vec::new();
    for (param, arg) in params.iter().zip(site.passed) {
        let tile = tile(site, &param.name, arg, givers);
        let Some(tile) = tile.filter(|tile| param.constant && wanted(tile.dim)) else {
            continue;
        };
        let again = |other: &Tile| other.dim == tile.dim || same(&other.root, &tile.root);
        let flow = tile.flow(site, &[], &arrays);
        let fits = flow.is_some_and(|flow| is_covered(at, site, &tile, &flow, &arrays));
        if fits && !found.iter().any(again) {
            found.push(tile);
        }
    }
    let roots: Vec<(&Tile, &[Span])> = found.iter().map(|tile| (tile, &[][..])).collect();
    let flow = flow(site, &roots, &arrays).filter(Flow::can_be_written)?;
    Some((found, flow))
}

fn same(a: &Root, b: &Root) -> bool {
    matches!((a, b), (Root::Name(a), Root::Name(b)) if a == b)
}

/// What follows from tiles, each with the places where the launch has its number once more.
pub(super) fn flow<'s, 'a>(
    site: &'s Site<'a>,
    tiles: &[(&Tile, &[Span])],
    arrays: &[bool],
) -> Option<Flow<'s, 'a>> {
    let mut roots = FxHashMap::default();
    let mut numbers: FxHashMap<Span, String> = FxHashMap::default();
    for (tile, also) in tiles {
        let field = format!("{}.{}", site.config, tile.field);
        numbers.extend(also.iter().map(|span| (*span, field.clone())));
        match &tile.root {
            Root::Name(name) => _ = roots.insert(name.clone(), field),
            Root::Number(span) => _ = numbers.insert(*span, field),
        }
    }
    Flow::of(site, roots, numbers, arrays)
}

/// A tile's extent by its name, if it is a power of two written out or bound once.
fn tile(site: &Site<'_>, param: &SmolStr, arg: &Expr, givers: Givers) -> Option<Tile> {
    let (value, root) = number(site, arg, givers)?;
    if !is_tile(param) || value < 16 || value.count_ones() != 1 {
        return None;
    }
    Some(Tile {
        field: param.clone(),
        dim: dim(param)?,
        value,
        root,
    })
}

/// The number that an argument is, and where it comes from.
fn number(site: &Site<'_>, arg: &Expr, givers: Givers) -> Option<(i64, Root)> {
    match &arg.kind {
        ExprKind::Int(value) => Some((*value, Root::Number(arg.span))),
        ExprKind::Name(name) => {
            let default = (site.def()).and_then(|def| default_of(def, name));
            if let Some(default) = default.filter(|_| givers == Givers::Callers) {
                return match default.kind {
                    ExprKind::Int(value) => Some((value, Root::Name(name.clone()))),
                    _ => None,
                };
            }
            let own = site.def().is_some_and(|def| binds(&def.body, name));
            // A constant of the module may be used by others.
            if !own && site.named_elsewhere(name) != 1 {
                return None;
            }
            Some((site.number(name)?, Root::Name(name.clone())))
        }
        _ => None,
    }
}

fn binds(body: &[Stmt], name: &str) -> bool {
    let mut found = false;
    crate::body::bindings(body, name, &mut |_| found = true);
    found
}

/// `TILE_SIZE_M`, `bm`, `tile_m`.
pub(in crate::playbook) fn dim(name: &str) -> Option<Dim> {
    let lower = name.to_ascii_lowercase();
    let (rest, last) = lower.split_at_checked(lower.len().checked_sub(1)?)?;
    if !(rest.len() == 1 || rest.ends_with('_')) {
        return None;
    }
    match last {
        "m" => Some(Dim::M),
        "n" => Some(Dim::N),
        "k" => Some(Dim::K),
        _ => None,
    }
}

/// Whether all of the work is still done with another tile: the grid, a number passed or a loop of
/// the kernel follows from it.
fn is_covered(
    at: &KernelContext<'_>,
    site: &Site<'_>,
    tile: &Tile,
    flow: &Flow<'_, '_>,
    arrays: &[bool],
) -> bool {
    let looped = loops_follow(at.def.node, &tile.field);
    let passed = || {
        let mut others = (at.kernel.params.iter().zip(site.passed)).zip(arrays);
        others.any(|((param, arg), is_array)| {
            param.name != tile.field && !is_array && flow.mentions(arg)
        })
    };
    match tile.dim {
        Dim::M | Dim::N => flow.mentions(site.grid) || looped,
        Dim::K => looped || passed(),
    }
}

/// What follows from the occupancy that is fixed today, where a persistent kernel's grid does: as many
/// blocks as fit.
pub(super) fn grid_by_occupancy<'s, 'a>(
    at: &KernelContext<'a>,
    site: &'s Site<'a>,
    fixed: i64,
    effects: &Effects,
) -> Option<Flow<'s, 'a>> {
    // Any other kernel would leave out what has no block, or do it twice.
    if at.calls(&["num_blocks"]).is_empty() {
        return None;
    }
    let arrays = effects.are_arrays(&at.kernel.params);
    let field = format!("{}.occupancy", site.config);
    let mut roots = FxHashMap::default();
    let mut numbers = FxHashMap::default();
    let mut seen = FxHashSet::default();
    let mut open = vec![site.grid];
    while let Some(expr) = open.pop() {
        expr.walk(&mut |e| {
            if let Some(name) = e.name().filter(|n| seen.insert((*n).clone())) {
                if is_occupancy(name) && site.number(name) == Some(fixed) {
                    roots.insert(name.clone(), field.clone());
                } else if let Meaning::Value(value) = site.meaning(name) {
                    open.push(value);
                }
            } else if let Some(number) = times_processors(site, e, fixed) {
                numbers.insert(number, field.clone());
            }
        });
    }
    // A buffer with a place for each block may be made by the same product written again.
    let mut again = false;
    crate::body::walk(&site.def()?.body, &mut |e, _| {
        let number = times_processors(site, e, fixed);
        again |= number.is_some_and(|n| !numbers.contains_key(&n));
    });
    let flow = Flow::of(site, roots, numbers, &arrays).filter(|_| !again)?;
    (flow.mentions(site.grid) && flow.can_be_written()).then_some(flow)
}

/// The place of the number in `NUM_SMS * 4`.
fn times_processors(site: &Site<'_>, expr: &Expr, fixed: i64) -> Option<Span> {
    let ExprKind::Binary { op, left, right } = &expr.kind else {
        return None;
    };
    let (number, other) = match (&left.kind, &right.kind) {
        (ExprKind::Int(n), _) if *n == fixed => (left, right),
        (_, ExprKind::Int(n)) if *n == fixed => (right, left),
        _ => return None,
    };
    let counts = |e: &Expr| site.source(e.span).ends_with("multi_processor_count");
    let known = counts(other)
        || other.name().is_some_and(|n| match site.meaning(n) {
            Meaning::Value(value) => counts(value),
            _ => false,
        });
    (op == "*" && known).then_some(number.span)
}
