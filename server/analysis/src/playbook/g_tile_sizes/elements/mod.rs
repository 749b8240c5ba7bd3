//! Kernels that work on each element alone: which block an element is in changes nothing.
//!
//! Proven expression by expression. The block's index may stand where a load or a store has the tile's
//! extent, or be multiplied by it and added to a count over it, which gives an element's own offset.
//! Everything else must do the same for every element. What is not known to is a no.
//!
//! Rows are elements too, where a block has some of them and reduces each by itself, or walks over it
//! tile by tile: then sums are the same but for the order.

mod api;
mod free;
mod statements;
mod walk;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind};

use crate::body::{Device, Literal, Ty};
use crate::playbook::KernelContext;
pub(in crate::playbook) use free::Free;

/// How many functions deep calls are followed.
const DEPTH: u32 = 4;

/// What another size of tiles changes of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changes {
    /// Nothing.
    Nothing,
    /// The order in which numbers are added up.
    Order,
}

/// What changes with the size of a tile, if the results are the same but for that. The grid has along
/// `axis` a block for every `tile` elements; without an axis, each block walks over all tiles.
fn changes(at: &KernelContext<'_>, tile: &SmolStr, axis: Option<i64>) -> Option<Changes> {
    let mut kernel = Function {
        at,
        device: at.device,
        tile: Some(tile),
        axis,
        depth: DEPTH,
        known: FxHashMap::default(),
        sums: FxHashMap::default(),
        zeros: FxHashSet::default(),
        in_tiles: false,
        reorders: false,
    };
    kernel.block(&at.def.node.body)?;
    let reorders = kernel.reorders;
    changes_in_place(at).then_some(match reorders {
        true => Changes::Order,
        false => Changes::Nothing,
    })
}

/// Whether what is both read and written is so element by element: what a block reads another may have
/// written already, and which one that is follows from their size.
fn changes_in_place(at: &KernelContext<'_>) -> bool {
    let mut seen: FxHashMap<(&SmolStr, usize), (&str, bool)> = FxHashMap::default();
    let both = |array: &SmolStr| {
        at.device.body.loaded.contains(array) && at.device.body.stored.contains(array)
    };
    for called in at.calls(&["load", "store", "gather", "scatter"]) {
        let call = &called.call;
        let array = call.arg(0, "array").and_then(|e| e.name());
        let index = call.arg(1, "index").or_else(|| call.keyword("indices"));
        let (Some(array), Some(index)) = (array, index) else {
            return false;
        };
        if !both(array) {
            continue;
        }
        let is_tile = matches!(call.name.as_str(), "load" | "store");
        for (axis, index) in parts(at.device.follow(index)).iter().enumerate() {
            if matches!(index.kind, ExprKind::Int(_)) {
                continue;
            }
            let here = (at.source(index.span), is_tile);
            if *seen.entry((array, axis)).or_insert(here) != here {
                return false;
            }
        }
    }
    true
}

/// What an expression is, as far as blocks go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The same for every element, or an element's own.
    Own,
    /// The extent of the tile.
    Tile,
    /// The index of the block.
    Block,
    /// Where the block begins.
    Start,
    /// A count over the elements of the tile.
    Lane,
    /// How many tiles there are.
    Count,
    /// What a tile has of all that is added up.
    Share(Fold),
    /// What each lane has of that, after all tiles.
    Total(Fold),
    /// What a loop is adding up: not to be looked at.
    Sum,
}

/// How numbers are made one, in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fold {
    Add,
    Max,
    Min,
}

struct Function<'c, 'a> {
    at: &'c KernelContext<'a>,
    device: Device<'c>,
    /// Nothing in functions that the kernel calls: they are handed neither tile nor block.
    tile: Option<&'c SmolStr>,
    axis: Option<i64>,
    depth: u32,
    /// What names are; nothing for those that are one thing here and another there.
    known: FxHashMap<SmolStr, Option<Part>>,
    /// What was added up in the loop over tiles that is being walked.
    sums: FxHashMap<SmolStr, Part>,
    /// Names that begin with nothing.
    zeros: FxHashSet<SmolStr>,
    in_tiles: bool,
    reorders: bool,
}

impl<'c> Function<'c, '_> {
    fn own(&mut self, expr: &'c Expr) -> Option<()> {
        (self.part(expr)? == Part::Own).then_some(())
    }

    fn all_own(&mut self, args: &'c [Arg]) -> Option<()> {
        args.iter().try_for_each(|arg| self.own(&arg.value))
    }

    fn part(&mut self, expr: &'c Expr) -> Option<Part> {
        match &expr.kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::None => Some(Part::Own),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Attribute { value, attr } => {
                // `ct.float32`, `math.pi`, `x.dtype`, `x.shape`.
                let is_array = matches!(self.device.ty(value), Ty::Array(_));
                let is_module = value.name().is_some_and(|n| self.is_import(n));
                let is_api = self.device.module.api(expr).is_some();
                let fits = is_api || is_module || attr.name == "dtype" || is_array;
                fits.then_some(Part::Own)
            }
            ExprKind::Subscript { value, index } => {
                self.own(value)?;
                let of_array =
                    matches!(&value.kind, ExprKind::Attribute { attr, .. } if attr.name == "shape");
                of_array.then_some(())?;
                index.iter().try_for_each(|i| self.own(i))?;
                Some(Part::Own)
            }
            ExprKind::Unary { operand, .. } => {
                self.own(operand)?;
                Some(Part::Own)
            }
            ExprKind::Logical { left, right, .. } => {
                self.own(left)?;
                self.own(right)?;
                Some(Part::Own)
            }
            ExprKind::Compare { first, rest } => {
                self.own(first)?;
                rest.iter().try_for_each(|(_, e)| self.own(e))?;
                Some(Part::Own)
            }
            ExprKind::Conditional { test, body, orelse } => {
                self.own(test)?;
                let part = self.part(body)?;
                (self.part(orelse)? == part).then_some(part)
            }
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.part(left)?, self.part(right)?);
                combined(op, left, right)
            }
            ExprKind::Call { func, args } => self.call(expr, func, args),
            _ => None,
        }
    }

    fn is_import(&self, name: &SmolStr) -> bool {
        self.device.module.imports.contains_key(name) && !self.known.contains_key(name)
    }

    fn name(&self, name: &SmolStr) -> Option<Part> {
        if let Some(part) = self.known.get(name) {
            return *part;
        }
        if self.tile == Some(name) {
            return Some(Part::Tile);
        }
        let is_param = self.device.param(name).is_some();
        let constant = self.device.module.constants.get(name);
        let is_number = constant.is_some_and(|c| !matches!(c, Literal::Generic { .. }));
        (is_param || is_number || self.is_import(name)).then_some(Part::Own)
    }

    fn call(&mut self, expr: &'c Expr, func: &'c Expr, args: &'c [Arg]) -> Option<Part> {
        if args.iter().any(|arg| arg.stars > 0) {
            return None;
        }
        if let Some(call) = self.device.call(expr) {
            return self.api(&call);
        }
        match &func.kind {
            ExprKind::Attribute { value, attr } if attr.name == "astype" => {
                self.all_own(args)?;
                self.part(value)
            }
            ExprKind::Name(name) => {
                self.all_own(args)?;
                let own = self.known.contains_key(name) || self.device.param(name).is_some();
                if own {
                    return None;
                }
                match self.at.file.device_named(name) {
                    Some(helper) => self.helper(helper),
                    None => ["int", "float", "bool", "abs", "min", "max"]
                        .contains(&name.as_str())
                        .then_some(Part::Own),
                }
            }
            _ => None,
        }
    }

    /// A function that the kernel calls with what is an element's own.
    fn helper(&self, device: Device<'_>) -> Option<Part> {
        let mut inner = Function {
            at: self.at,
            device,
            tile: None,
            axis: self.axis,
            depth: self.depth.checked_sub(1)?,
            known: FxHashMap::default(),
            sums: FxHashMap::default(),
            zeros: FxHashSet::default(),
            in_tiles: false,
            reorders: false,
        };
        inner.block(&device.def.body)?;
        Some(Part::Own)
    }
}

/// What arithmetic makes of two parts.
fn combined(op: &str, left: Part, right: Part) -> Option<Part> {
    use Part::{Block, Lane, Own, Start, Tile};
    match (op, left, right) {
        (_, Own, Own) => Some(Own),
        ("*", Block, Tile) | ("*", Tile, Block) => Some(Start),
        ("+", Start, Lane) | ("+", Lane, Start) => Some(Own),
        ("+", Start, Own) | ("+", Own, Start) => Some(Start),
        ("+", Lane, Own) | ("+", Own, Lane) => Some(Lane),
        _ => None,
    }
}

fn parts(expr: &Expr) -> &[Expr] {
    match &expr.kind {
        ExprKind::Tuple(parts) | ExprKind::List(parts) => parts,
        _ => std::slice::from_ref(expr),
    }
}
