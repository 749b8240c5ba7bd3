//! Which of a launch's tiles a Triton list may choose.

use tileperf_syntax::Span;

use crate::playbook::KernelContext;
use crate::playbook::c_autotune::choice::{free as free_tiles, has_free_tiles};
use crate::playbook::c_autotune::effects::Effects;
use crate::playbook::c_autotune::flow::Flow;
use crate::playbook::c_autotune::template::Kind;
use crate::playbook::c_autotune::tiles::{self, Root, Tile};
use crate::playbook::g_tile_sizes::elements::Free;
use crate::playbook::site::Site;

/// Tiles that may be others.
pub(in crate::playbook::c_autotune) struct Chosen {
    pub(in crate::playbook::c_autotune) tiles: Vec<Tile>,
    /// They are those of a product: blocks of a cluster share operands.
    pub(super) is_product: bool,
    /// Blocks hold nothing but elements of these tiles.
    pub(super) is_elements: bool,
    /// With others numbers are added up in another order.
    pub(super) reorders: bool,
    /// What it rests on that others are right.
    pub(super) premises: Vec<String>,
}

/// What a search over tiles rests on.
pub(in crate::playbook::c_autotune) const RIGHT: &str =
    "the kernel is right for every tile of the space, also where it does not divide an extent";

/// The tiles of a launch that may be others, with what follows from them: those of rows, columns and
/// the sum of a product, or of a kernel that works on each element alone.
pub(in crate::playbook::c_autotune) fn chosen<'s, 'a>(
    at: &KernelContext<'a>,
    site: &'s Site<'a>,
    effects: &Effects,
    kind: &Kind,
) -> Option<(Chosen, Flow<'s, 'a>)> {
    if at.multiplies() {
        if !has_free_tiles(at, effects) {
            return None;
        }
        // A list has columns and the sum as well.
        let (tiles, flow) = free_tiles(at, site, effects, kind)?;
        let chosen = Chosen {
            tiles,
            is_product: true,
            is_elements: false,
            reorders: true,
            premises: vec![RIGHT.to_owned()],
        };
        return Some((chosen, flow));
    }
    let mut free = Free::all(at, site, effects);
    // What callers pass stays theirs.
    free.retain(|free| match &free.tile.root {
        Root::Name(name) => !site.is_parameter(name),
        Root::Number(_) => true,
    });
    if free.is_empty() {
        return None;
    }
    let roots: Vec<(&Tile, &[Span])> = (free.iter())
        .map(|free| (&free.tile, free.numbers.as_slice()))
        .collect();
    let arrays = effects.are_arrays(&at.kernel.params);
    let flow = tiles::flow(site, &roots, &arrays).filter(Flow::can_be_written)?;
    let reorders = free.iter().any(|free| free.reorders);
    let premise = |free: &Free| match &free.count {
        Some(count) => format!("nothing depends on whether elements behind `{count}` are written"),
        None => RIGHT.to_owned(),
    };
    let mut premises: Vec<String> = free.iter().map(premise).collect();
    premises.dedup();
    let chosen = Chosen {
        tiles: free.into_iter().map(|free| free.tile).collect(),
        is_product: false,
        is_elements: !reorders,
        reorders,
        premises,
    };
    Some((chosen, flow))
}
