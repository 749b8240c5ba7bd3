//! Products of 8-bit floats: which scales they have, and whether another tile of rows still reads the
//! right ones.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::facts::{Facts, Flag, Load};
use super::walk::{Rows, Walk};
use super::{Found, bit};
use crate::body::{Device, Extent, Ty};
use crate::rules::FileContext;

impl<'f, 'a> Found<'f, '_, 'a> {
    /// What scales are made of.
    fn scales(&self) -> Facts {
        let own = self.walk.products.iter().filter_map(|p| p.scales);
        let times = self.walk.scalings.iter().map(|s| s.scales);
        own.chain(times).fold(Facts::default(), Facts::with)
    }

    /// Scales for each block of the sum, or for rows and columns, on products of operands that are not
    /// known to be wider.
    pub(super) fn is_fp8(&self) -> bool {
        let products = || self.walk.products.iter().enumerate();
        if products().any(|(_, p)| p.scales.is_some() || p.is_float8 == Some(true)) {
            return true;
        }
        products().all(|(n, p)| {
            let of_product = |products: u64| products >> n.min(63) & 1 == 1;
            let scalings = || self.walk.scalings.iter().filter(|s| of_product(s.products));
            // A scale for each element is none.
            let loads = |of: Facts| self.loads(of).filter(|load| load.axes < 2);
            let in_sum = scalings().any(|s| {
                let within = s.within.is_some() && s.within == p.place.innermost();
                within && loads(s.scales).next().is_some()
            });
            let mut names: Vec<&SmolStr> = scalings()
                .flat_map(|s| loads(s.scales))
                .filter_map(|load| load.name.as_ref())
                .collect();
            names.sort();
            names.dedup();
            p.is_float8 != Some(false) && (in_sum || names.len() > 1)
        })
    }

    /// Whether it multiplies parts of a sum by scales that are read within it, whatever its operands
    /// are: columns and sum then have the tiles of the scales.
    pub(super) fn has_block_scales(&self) -> bool {
        self.walk.products.iter().enumerate().any(|(n, p)| {
            let within = p.place.innermost();
            let mut scalings = self.walk.scalings.iter();
            scalings.any(|s| {
                let of_product = s.products >> n.min(63) & 1 == 1 && s.within == within;
                let mut loads = self.loads(s.scales);
                let inside = |load: &Load<'_>| load.place.innermost() == within;
                of_product && within.is_some() && loads.any(|load| load.axes < 2 && inside(load))
            })
        })
    }
}

/// Whether scales are read by the row, or do not depend on which rows a block works on: with another
/// tile of rows they are still the right ones.
pub(in crate::playbook::c_autotune) fn follow_rows(
    file: &FileContext<'_>,
    device: &Device<'_>,
    tile: &SmolStr,
) -> bool {
    let walk = Walk::of(file, device);
    let operands = walk.products.iter().map(|p| p.x.with(p.y));
    let operands = operands.fold(Facts::default(), Facts::with);
    let mut rows = Rows::default();
    let all = walk.loads.iter().enumerate();
    let of_rows: Vec<&Load<'_>> = all
        .filter(|(n, load)| bit(operands.tiles, *n) && load.extents.contains(tile))
        .map(|(_, load)| load)
        .collect();
    if of_rows.is_empty()
        || !of_rows
            .iter()
            .all(|load| name_rows(device, load, tile, &mut rows))
    {
        return false;
    }
    let walk = Walk::following(file, device, rows);
    let scales = Found { walk: &walk }.scales();
    let mut loads = walk.loads.iter().enumerate();
    loads.all(|(n, load)| {
        !bit(scales.tiles | scales.lookups, n)
            || load.extents.contains(tile)
            || !load.index.with(load.array).has(Flag::Rows)
    })
}

/// Notes what says which rows a load of an operand reads; false if that is not seen.
fn name_rows(device: &Device<'_>, load: &Load<'_>, tile: &SmolStr, rows: &mut Rows) -> bool {
    let Some((index, shape)) = load.written else {
        return false;
    };
    let (ExprKind::Tuple(parts) | ExprKind::List(parts)) = &device.follow(index).kind else {
        return false;
    };
    let part = match shape.map(|shape| &device.follow(shape).kind) {
        Some(ExprKind::Tuple(extents) | ExprKind::List(extents)) => {
            let place = extents.iter().position(|e| e.name() == Some(tile));
            place.and_then(|place| parts.get(place))
        }
        Some(_) => None,
        None => parts.iter().find(|part| {
            let shape = device.tile(part).and_then(|t| t.shape.as_ref());
            shape.is_some_and(|s| s.contains(&Extent::Name(tile.clone())))
        }),
    };
    part.is_some_and(|part| name(device, part, HOPS, rows))
}

/// How many names are followed one after the other.
const HOPS: u32 = 4;

/// The numbers that an index is made of.
fn name(device: &Device<'_>, part: &Expr, hops: u32, rows: &mut Rows) -> bool {
    let Some(hops) = hops.checked_sub(1) else {
        return false;
    };
    let mut found = false;
    part.walk(&mut |e| {
        if let ExprKind::Call { args, .. } = &e.kind
            && device.module.api(called(e)).is_some_and(|n| n == "bid")
            && let Some(ExprKind::Int(axis @ 0..=2)) = args.first().map(|a| &a.value.kind)
        {
            rows.blocks |= 1 << axis;
            found = true;
        }
        let Some(name_of) = e.name().filter(|n| device.binds(n)) else {
            return;
        };
        match device.ty(e) {
            Ty::Tile(_) | Ty::Unknown => {
                if matches!(device.ty(e), Ty::Unknown) {
                    rows.names.insert(name_of.clone());
                    found = true;
                }
                for value in device.values(name_of).into_iter().flatten() {
                    found |= name(device, value, hops, rows);
                }
            }
            _ => {
                rows.names.insert(name_of.clone());
                found = true;
                for value in device.values(name_of).into_iter().flatten() {
                    if matches!(&value.kind, ExprKind::Call { .. }) {
                        name(device, value, hops, rows);
                    }
                }
            }
        }
    });
    found
}

/// What a call calls.
fn called(call: &Expr) -> &Expr {
    match &call.kind {
        ExprKind::Call { func, .. } => func,
        _ => call,
    }
}
