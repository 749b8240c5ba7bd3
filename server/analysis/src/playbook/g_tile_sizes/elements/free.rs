//! Tiles of elementwise kernels that may be others.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::are_alone;
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
    /// How many elements the grid is for, as written.
    pub(in crate::playbook) count: String,
}

impl Free {
    /// Those of a launch: the results are the same with others, bit for bit.
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
        let ExprKind::Tuple(axes) = &grid.kind else {
            return None;
        };
        let mut written = vec![tile.written(site)?];
        let mut numbers: Vec<Span> = Vec::new();
        // A number written at the launch is that of the grid where it is the only one like it.
        if matches!(arg.kind, ExprKind::Int(_)) {
            let alone = |e: &&Expr| matches!(e.kind, ExprKind::Int(v) if v == tile.value);
            let twins = site.passed.iter().filter(alone).count();
            let by = axes.iter().filter_map(|axis| Some(quotient(site, axis)?.1));
            let by: Vec<&Expr> = by.filter(|by| alone(by)).collect();
            let ([by], 1) = (by.as_slice(), twins) else {
                return None;
            };
            numbers.push(by.span);
            written.push(Written::at(site, by.span));
        }
        let flow: Flow<'_, '_> = tile.flow(site, &numbers, arrays)?;
        let mut of_grid = axes.iter().enumerate().filter(|(_, e)| flow.mentions(e));
        let (axis, blocks) = of_grid.next()?;
        let (count, by) = quotient(site, blocks)?;
        let is_plain = matches!(by.kind, ExprKind::Name(_) | ExprKind::Int(_));
        let alone = of_grid.next().is_none() && !flow.mentions(count) && is_plain;
        // Passed as another number too: what that is for is not seen.
        let passed = site.passed.iter().filter(|e| flow.mentions(e)).count();
        if !alone || passed != 1 || !are_alone(at, field, i64::try_from(axis).ok()?) {
            return None;
        }
        let count = site.source(count.span).to_owned();
        Some(Free {
            tile,
            numbers,
            written,
            count,
        })
    }
}
