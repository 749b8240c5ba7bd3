//! Tiles of elementwise kernels that may be others.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::{Changes, changes};
use crate::playbook::KernelContext;
use crate::playbook::c_autotune::effects::Effects;
use crate::playbook::c_autotune::flow::Flow;
use crate::playbook::c_autotune::tiles::{Tile, tile_of};
use crate::playbook::c_autotune::written::Written;
use crate::playbook::host::{followed, quotient};
use crate::playbook::site::Site;
use crate::rules::is_tile;

/// A tile of an elementwise kernel, and everywhere its number is written.
pub(in crate::playbook) struct Free {
    pub(in crate::playbook) tile: Tile,
    /// Where the launch has the same number a second time, for the grid.
    pub(in crate::playbook) numbers: Vec<Span>,
    pub(in crate::playbook) written: Vec<Written>,
    /// How many elements the grid is for, as written; nothing where each block walks over all of them.
    pub(in crate::playbook) count: Option<String>,
    /// With another tile numbers are added up in another order.
    pub(in crate::playbook) reorders: bool,
}

impl Free {
    /// Those of a launch: the results are the same with others, bit for bit or but for the order in which
    /// numbers are added up.
    pub(in crate::playbook) fn all<'a>(
        at: &KernelContext<'a>,
        site: &Site<'a>,
        effects: &Effects,
    ) -> Vec<Free> {
        let params = &at.kernel.params;
        let arrays = effects.are_arrays(params);
        (params.iter().zip(site.passed))
            .filter(|(param, _)| param.constant && is_tile(&param.name))
            .filter_map(|(param, arg)| Free::of(at, site, &param.name, arg, &arrays))
            .collect()
    }

    fn of<'a>(
        at: &KernelContext<'a>,
        site: &Site<'a>,
        field: &SmolStr,
        arg: &Expr,
        arrays: &[bool],
    ) -> Option<Free> {
        let tile = tile_of(site, field, arg)?;
        let grid = followed(site, site.grid);
        let mut written = vec![tile.written(site)?];
        let axes = match &grid.kind {
            ExprKind::Tuple(axes) => axes.as_slice(),
            _ => std::slice::from_ref(grid),
        };
        let mut numbers: Vec<Span> = Vec::new();
        // A number written at the launch is that of the grid where it is the only one like it.
        if matches!(arg.kind, ExprKind::Int(_)) {
            let alone = |e: &&Expr| matches!(e.kind, ExprKind::Int(v) if v == tile.value);
            let twins = site.passed.iter().filter(alone).count();
            let by = axes.iter().filter_map(|axis| Some(quotient(site, axis)?.1));
            let by: Vec<&Expr> = by.filter(|by| alone(by)).collect();
            match (by.as_slice(), twins) {
                ([by], 1) => {
                    numbers.push(by.span);
                    written.push(Written::at(site, by.span));
                }
                ([], 1) => {}
                _ => return None,
            }
        }
        let flow: Flow<'_, '_> = tile.flow(site, &numbers, arrays)?;
        // Passed as another number too: what that is for is not seen.
        let passed = site.passed.iter().filter(|e| flow.mentions(e)).count();
        if passed != 1 {
            return None;
        }
        let mut of_grid = axes.iter().enumerate().filter(|(_, e)| flow.mentions(e));
        let (axis, count) = match of_grid.next() {
            Some((axis, blocks)) => {
                let (count, by) = quotient(site, blocks)?;
                let is_plain = matches!(by.kind, ExprKind::Name(_) | ExprKind::Int(_));
                let alone = of_grid.next().is_none() && !flow.mentions(count) && is_plain;
                alone.then_some(())?;
                let count = site.source(count.span).to_owned();
                (Some(i64::try_from(axis).ok()?), Some(count))
            }
            None => (None, None),
        };
        Some(Free {
            reorders: changes(at, field, axis)? == Changes::Order,
            tile,
            numbers,
            written,
            count,
        })
    }
}
