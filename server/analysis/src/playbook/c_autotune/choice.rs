//! What a kernel's search chooses: hints, or tiles as well where its kind lets them be others.

use smol_str::SmolStr;
use tileperf_syntax::ast::ExprKind;

use super::effects::Effects;
use super::flow::{Flow, one_line};
use super::space::Space;
use super::template::{Kind, follow_rows};
use super::tiles::{self, Givers, Tile};
use crate::classify::Class;
use crate::playbook::KernelContext;
use crate::playbook::host::{followed, quotient};
use crate::playbook::site::Site;

/// What is searched.
pub(super) fn space<'a>(
    at: &KernelContext<'a>,
    sites: &[Site<'a>],
    effects: &Effects,
    kind: &Kind,
) -> Space {
    if !at.multiplies() {
        return Space::Occupancy;
    }
    if let [site] = sites
        && let Some((tiles, flow)) = free(at, site, effects, kind)
    {
        let rows = kind.scaled.then(|| rows(site, &flow));
        return Space::Tiles {
            tiles,
            template: kind.template,
            rows: rows.flatten(),
        };
    }
    Space::Clusters
}

/// The tiles of a launch that may be others, as far as its kind of kernel lets them.
pub(super) fn free<'s, 'a>(
    at: &KernelContext<'a>,
    site: &'s Site<'a>,
    effects: &Effects,
    kind: &Kind,
) -> Option<(Vec<Tile>, Flow<'s, 'a>)> {
    let found = match kind.scaled {
        true => tiles::rows(at, site, effects).filter(|(tiles, _)| {
            let follow = |t: &Tile| follow_rows(at.file, &at.device, &t.field);
            at.class != Class::MemoryBound && tiles.iter().all(follow)
        }),
        false if has_free_tiles(at, effects) => tiles::tiles(at, site, effects, Givers::Code),
        false => None,
    };
    found.filter(|(_, flow)| !kind.looks_up_tiles(axes(site, flow)))
}

/// The axes of the grid that follow from tiles.
fn axes(site: &Site<'_>, flow: &Flow<'_, '_>) -> u8 {
    match &followed(site, site.grid).kind {
        ExprKind::Tuple(axes) | ExprKind::List(axes) => (axes.iter().enumerate())
            .filter(|(_, axis)| flow.mentions(axis))
            .fold(0, |all, (n, _)| all | 1 << n.min(2)),
        _ if flow.mentions(site.grid) => 0b111,
        _ => 0,
    }
}

/// How many rows there are, where the grid says it.
fn rows(site: &Site<'_>, flow: &Flow<'_, '_>) -> Option<String> {
    let mut found = None;
    followed(site, site.grid).walk(&mut |e| {
        if let Some((count, by)) = quotient(site, e)
            && flow.mentions(by)
            && !flow.mentions(count)
        {
            found = one_line(site.source(count.span));
        }
    });
    found.filter(|text| text.len() <= 40)
}

/// Whether a matrix multiplication's tiles may be others: those of scaled operands are those of their
/// scales, and where memory is the bound nothing follows from them.
pub(in crate::playbook) fn has_free_tiles(at: &KernelContext<'_>, effects: &Effects) -> bool {
    let is_scale =
        |name: &SmolStr| effects.arrays.contains(name) && name.to_lowercase().contains("scale");
    let scaled =
        !at.calls(&["mma_scaled"]).is_empty() || at.kernel.params.iter().any(|p| is_scale(&p.name));
    !scaled && at.class != Class::MemoryBound
}
