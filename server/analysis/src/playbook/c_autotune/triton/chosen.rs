//! Which of a launch's tiles a Triton list may choose.

use tileperf_syntax::Span;

use crate::model::Candidate;
use crate::playbook::KernelContext;
use crate::playbook::c_autotune::effects::Effects;
use crate::playbook::c_autotune::flow::Flow;
use crate::playbook::c_autotune::plan::has_free_tiles;
use crate::playbook::c_autotune::tiles::{self, Givers, Root, Tile};
use crate::playbook::g_tile_sizes::elements::Free;
use crate::playbook::site::Site;
use crate::rules::multiplies;

/// Tiles that may be others.
pub(in crate::playbook::c_autotune) struct Chosen {
    pub(in crate::playbook::c_autotune) tiles: Vec<Tile>,
    /// Of a kernel that works on each element alone: how many there are along each tile, as written.
    pub(super) elements: Vec<String>,
}

/// The tiles of a launch that may be others, with what follows from them: those of rows, columns and
/// the sum of a product, or of a kernel that works on each element alone.
pub(in crate::playbook::c_autotune) fn chosen<'s, 'a>(
    at: &KernelContext<'a>,
    site: &'s Site<'a>,
    effects: &Effects,
) -> Option<(Chosen, Flow<'s, 'a>)> {
    if multiplies(at.file, &[Candidate::Local(at.number)]) {
        if !has_free_tiles(at, effects) {
            return None;
        }
        let (tiles, flow) = tiles::tiles(at, site, effects, Givers::Code)?;
        let chosen = Chosen {
            tiles,
            elements: Vec::new(),
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
    let (tiles, elements) = free.into_iter().map(|f| (f.tile, f.count)).unzip();
    Some((Chosen { tiles, elements }, flow))
}
