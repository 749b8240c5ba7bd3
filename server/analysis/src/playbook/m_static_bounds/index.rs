//! Why the tiles of an access lie in their array: for every axis an index below the number of whole
//! tiles, at every launch.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, Stmt, StmtKind};

use crate::body::{ApiCall, Extent, Ty, values};
use crate::playbook::KernelContext;
use crate::playbook::host::{Host, Term};
use crate::playbook::site::{Meaning, Site};

/// How often names of the kernel are followed.
const HOPS: u32 = 6;

/// An access at a launch.
pub(super) struct Within<'c, 's, 'a> {
    at: &'c KernelContext<'a>,
    host: Host<'s, 'a>,
    call: &'c ApiCall<'a>,
}

impl<'a> Within<'_, '_, 'a> {
    /// Why an access stays inside at every launch: a sentence for each axis.
    pub(super) fn of(
        at: &KernelContext<'a>,
        sites: &[Site<'a>],
        call: &ApiCall<'a>,
    ) -> Option<Vec<String>> {
        let array = at.parameter(call.arg(0, "array")?)?;
        let index = parts(call.arg(1, "index")?);
        let tile = tile(at, call, index.len())?;
        let mut reasons = Vec::new();
        for site in sites {
            let host = Host::new(site, index.len());
            let within = Within { at, host, call };
            for (axis, (index, extent)) in index.iter().zip(&tile).enumerate() {
                reasons.push(within.reason(array, axis, index, extent)?);
            }
        }
        Some(reasons)
    }

    fn reason(
        &self,
        array: &SmolStr,
        axis: usize,
        index: &'a Expr,
        extent: &Extent,
    ) -> Option<String> {
        let dim = self.host.dim(self.passed(array)?, axis)?;
        let tile = self.extent(extent)?;
        // What `reshape` is to find out is no extent.
        if matches!(tile, Term::Int(extent) if extent <= 0) {
            return None;
        }
        let at = self.at.source(index.span);
        let place = format!("axis {axis} of `{array}`, which is `{dim}`");
        let number = self.at.device.ty(index).int();
        if let Some(number) = number {
            return self
                .is_whole(number, &dim, &tile)
                .then(|| format!("tile {number} of {tile} lies within {place}"));
        }
        let count = self.end(index, HOPS)?;
        let end = format!("`{at}` stays below `{count}`");
        if tile == Term::Int(1) {
            return (count == dim).then(|| format!("{end}: {place}"));
        }
        if count.is("//", &dim, &tile) {
            return Some(format!("{end}: the whole tiles along {place}"));
        }
        let tiles = match (&count, &dim, &tile) {
            (Term::Int(count), Term::Int(dim), Term::Int(tile)) => {
                count.checked_mul(*tile).is_some_and(|end| end <= *dim)
            }
            _ => count.is("cdiv", &dim, &tile) && self.host.divides(&dim, &tile),
        };
        tiles.then(|| format!("{end}, and {tile} divides {place}"))
    }

    /// Whether a tile of this number is in an extent as a whole.
    fn is_whole(&self, number: i64, dim: &Term, tile: &Term) -> bool {
        match (dim, tile) {
            (Term::Int(dim), Term::Int(tile)) => {
                let end = number.checked_add(1).and_then(|n| n.checked_mul(*tile));
                number >= 0 && end.is_some_and(|end| end <= *dim)
            }
            _ => number == 0 && dim == tile,
        }
    }

    /// What an index that is not negative is always less than.
    fn end(&self, index: &'a Expr, hops: u32) -> Option<Term> {
        let hops = hops.checked_sub(1)?;
        let device = &self.at.device;
        if let Some(range) = index.name().and_then(|name| self.range_of(name)) {
            return self.range_end(range);
        }
        let index = device.follow(index);
        if index.name().is_some() {
            return None;
        }
        if let Some(call) = device.call(index) {
            return match call.name.as_str() {
                "bid" => self.blocks(device.ty(call.arg(0, "axis")?).int()?),
                _ => None,
            };
        }
        match &index.kind {
            ExprKind::Binary { op, left, right } if op == "%" => {
                self.end(left, hops)?;
                self.term(right, hops)
            }
            _ => None,
        }
    }

    /// The grid along an axis.
    fn blocks(&self, axis: i64) -> Option<Term> {
        let site = self.host.site;
        let grid = match site.grid.name().map(|name| site.meaning(name)) {
            Some(Meaning::Value(value)) => value,
            Some(_) => return None,
            None => site.grid,
        };
        let ExprKind::Tuple(axes) = &grid.kind else {
            return None;
        };
        match axes.get(usize::try_from(axis).ok()?) {
            Some(blocks) => self.host.term(blocks),
            None => Some(Term::Int(1)),
        }
    }

    /// The arguments of the `range` whose loop counts with a name, if nothing else gives it a value and
    /// the access is in that loop.
    fn range_of(&self, name: &SmolStr) -> Option<&'a [Arg]> {
        let mut found: Option<&'a Stmt> = None;
        let span = self.call.expr.span;
        self.at.device.walk(&mut |expr, place| {
            if expr.span == span && found.is_none() {
                found = place.loops().find(|stmt| match &stmt.kind {
                    StmtKind::For { target, .. } => target.name() == Some(name),
                    _ => false,
                });
            }
        });
        let StmtKind::For { iter, .. } = &found?.kind else {
            return None;
        };
        let ExprKind::Call { func, args } = &iter.kind else {
            return None;
        };
        let is_range = func.name().is_some_and(|f| f == "range");
        let once = values(&self.at.def.node.body, name).len() == 1;
        (is_range && once && self.at.device.param(name).is_none()).then_some(args)
    }

    /// The end of a range that begins at nought or above and counts up.
    fn range_end(&self, args: &'a [Arg]) -> Option<Term> {
        let device = &self.at.device;
        if args.iter().any(|arg| arg.name.is_some() || arg.stars > 0) {
            return None;
        }
        let (start, end, step) = match args {
            [end] => (None, end, None),
            [start, end] => (Some(start), end, None),
            [start, end, step] => (Some(start), end, Some(step)),
            _ => return None,
        };
        let least = |arg: &'a Arg, least: i64| {
            let value = device.follow(&arg.value);
            let of_grid = device
                .call(value)
                .is_some_and(|call| call.name == if least > 0 { "num_blocks" } else { "bid" });
            of_grid || device.ty(value).int().is_some_and(|n| n >= least)
        };
        let up =
            start.is_none_or(|start| least(start, 0)) && step.is_none_or(|step| least(step, 1));
        if up {
            self.term(&end.value, HOPS)
        } else {
            None
        }
    }

    /// A number of the kernel as the launch has it.
    fn term(&self, expr: &'a Expr, hops: u32) -> Option<Term> {
        let hops = hops.checked_sub(1)?;
        let device = &self.at.device;
        if let Some(value) = device.ty(expr).int() {
            return Some(Term::Int(value));
        }
        let expr = device.follow(expr);
        match &expr.kind {
            ExprKind::Name(_) => self.host.term(self.passed(self.at.parameter(expr)?)?),
            ExprKind::Subscript { value, index } => {
                let ExprKind::Attribute { value: array, attr } = &value.kind else {
                    return None;
                };
                let ([axis], "shape") = (index.as_slice(), attr.name.as_str()) else {
                    return None;
                };
                self.dim(array, axis)
            }
            ExprKind::Binary { op, left, right } if op == "//" => Some(Term::op(
                "//",
                self.term(left, hops)?,
                self.term(right, hops)?,
            )),
            ExprKind::Call { .. } => {
                let call = device.call(expr)?;
                let whole = match call.name.as_str() {
                    "cdiv" => self.term(call.arg(0, "x")?, hops)?,
                    "num_tiles" if call.keyword("order").is_none() => {
                        self.dim(call.arg(0, "array")?, call.arg(1, "axis")?)?
                    }
                    _ => return None,
                };
                let by = match call.name.as_str() {
                    "cdiv" => call.arg(1, "y")?,
                    _ => {
                        let axis = device.ty(call.arg(1, "axis")?).int()?;
                        *parts(call.arg(2, "shape")?).get(usize::try_from(axis).ok()?)?
                    }
                };
                Some(Term::op("cdiv", whole, self.term(by, hops)?))
            }
            _ => None,
        }
    }

    /// The extent of one of the kernel's arrays.
    fn dim(&self, array: &Expr, axis: &'a Expr) -> Option<Term> {
        let axis = usize::try_from(self.at.device.ty(axis).int()?).ok()?;
        self.host.dim(self.passed(self.at.parameter(array)?)?, axis)
    }

    fn extent(&self, extent: &Extent) -> Option<Term> {
        match extent {
            Extent::Int(value) => Some(Term::Int(*value)),
            Extent::Name(name) => self.host.term(self.passed(name)?),
            Extent::Other => None,
        }
    }

    /// What the launch passes for a parameter.
    fn passed(&self, param: &SmolStr) -> Option<&'a Expr> {
        let place = (self.at.kernel.params.iter()).position(|p| p.name == *param)?;
        self.host.site.passed.get(place)
    }
}

/// The tile's extents, one for each part of the index.
fn tile(at: &KernelContext<'_>, call: &ApiCall<'_>, rank: usize) -> Option<Vec<Extent>> {
    let extents = match call.name.as_str() {
        "load" => {
            let shape = parts(call.arg(2, "shape")?);
            shape.iter().map(|e| at.device.ty(e).extent()).collect()
        }
        _ => match at.device.ty(call.arg(2, "tile")?) {
            Ty::Tile(tile) => tile.shape.clone()?,
            _ => return None,
        },
    };
    (extents.len() == rank).then_some(extents)
}

/// The parts of a tuple, or the expression itself.
fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Tuple(parts) | ExprKind::List(parts) => parts.iter().collect(),
        _ => vec![expr],
    }
}
