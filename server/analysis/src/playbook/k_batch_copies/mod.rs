//! One launch for many small copies.

mod host;
mod kernel;
#[cfg(test)]
mod tests;
mod write;

use self::host::Launches;
use self::kernel::Copying;
use super::optimization::optimization;
use super::{Actions, KernelContext};
use crate::rules::is_test;

optimization! {
    /// Copy several arrays by one launch instead of one for each.
    ///
    /// A launch costs some microseconds of the host, whatever it does; a copy of a few thousand elements
    /// takes less. Where a kernel that only copies is launched for each of many inputs, the third axis
    /// of the grid can say which of them a block works on. A launch gets 8 slots, each an argument of its
    /// own, so that every array keeps the alignment that its stores are compiled for; a list of arrays,
    /// or a slice made in the kernel, would lose it. Slots that are not needed get the first arrays
    /// again: no block works on them.
    ///
    /// Copies made by one launch are in no order among each other, so none may read or write what another
    /// one writes.
    ///
    /// ```python before
    /// @ct.kernel
    /// def copy(x, y, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(y, (i,), ct.load(x, (i,), (TILE,)))
    ///
    /// def gathered(parts, out):
    ///     start = 0
    ///     for part in parts:
    ///         # Behind what is there.
    ///         place = out.narrow(0, start, part.numel())
    ///         ct.launch(torch.cuda.current_stream(), (ct.cdiv(place.numel(), 1024),), copy, (part, place, 1024))
    ///         start += part.numel()
    ///     return out
    /// ```
    ///
    /// ```python after
    /// def _copy_one(x, y, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(y, (i,), ct.load(x, (i,), (TILE,)))
    ///
    ///
    /// @ct.kernel
    /// def copy(
    ///     x_0, y_0, x_1, y_1, x_2, y_2, x_3, y_3, x_4, y_4, x_5, y_5, x_6, y_6, x_7, y_7,
    ///     TILE: ct.Constant[int],
    /// ):
    ///     slot = ct.bid(2)
    ///     if slot == 0:
    ///         _copy_one(x_0, y_0, TILE)
    ///     elif slot == 1:
    ///         _copy_one(x_1, y_1, TILE)
    ///     elif slot == 2:
    ///         _copy_one(x_2, y_2, TILE)
    ///     elif slot == 3:
    ///         _copy_one(x_3, y_3, TILE)
    ///     elif slot == 4:
    ///         _copy_one(x_4, y_4, TILE)
    ///     elif slot == 5:
    ///         _copy_one(x_5, y_5, TILE)
    ///     elif slot == 6:
    ///         _copy_one(x_6, y_6, TILE)
    ///     else:
    ///         _copy_one(x_7, y_7, TILE)
    ///
    /// def gathered(parts, out):
    ///     start = 0
    ///     copies = []
    ///     for part in parts:
    ///         # Behind what is there.
    ///         place = out.narrow(0, start, part.numel())
    ///         copies.append(((ct.cdiv(place.numel(), 1024), 1), (part, place)))
    ///         start += part.numel()
    ///     for first in range(0, len(copies), 8):
    ///         slots = copies[first : first + 8]
    ///         blocks = [max(counts) for counts in zip(*(counts for counts, _ in slots))]
    ///         padded = slots + slots[:1] * (8 - len(slots))
    ///         arrays = [array for _, slot in padded for array in slot]
    ///         ct.launch(torch.cuda.current_stream(), (*blocks, len(slots)), copy, (*arrays, 1024))
    ///     return out
    /// ```
    ///
    /// The same for launches one below the other, with as many slots as there are launches.
    ///
    /// Only for kernels that load, cast and store, once, and whose grid is a tile for each of what is
    /// stored: blocks beyond that do nothing, so a grid large enough for all will do. Left alone is a
    /// kernel that computes, that is launched elsewhere too, or whose loop does anything else than give
    /// names to views and numbers:
    ///
    /// ```python good
    /// @ct.kernel
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(y, (i,), ct.load(x, (i,), (TILE,)) * 2)
    ///
    /// @ct.kernel
    /// def copy(x, y, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(y, (i,), ct.load(x, (i,), (TILE,)))
    ///
    /// def run(xs, ys):
    ///     for x, y in zip(xs, ys):
    ///         ct.launch(torch.cuda.current_stream(), (ct.cdiv(y.numel(), 1024),), scale, (x, y, 1024))
    ///     for x, y in zip(xs, ys):
    ///         ct.launch(torch.cuda.current_stream(), (ct.cdiv(y.numel(), 1024),), copy, (x, y, 1024))
    ///         x.zero_()
    /// ```
    K "batch-copies" Batching Same offer,
    gain "10-70 %" "copies bound by their launches" "TileGym's guides",
}

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    if is_test(at.file) {
        return;
    }
    let Ok(copying) = Copying::of(at) else { return };
    let Ok(launches) = Launches::of(at, &copying) else {
        return;
    };
    let slots = launches.slots();
    let edits = copying.edits(at, slots).ok();
    let edits = edits.and_then(|edits| launches.edits(at, &copying, edits));
    let Some(edits) = edits else { return };
    let name = &at.kernel.name;
    let title =
        format!("Copy with {slots} slots a launch of `{name}`: the grid's third axis says which");
    let described = out
        .push_in_file("", title, edits)
        .in_host_code()
        .if_only("none of these copies reads or writes what another of them writes");
    if at.named_elsewhere(name).is_none() {
        described.if_only(format!(
            "nothing outside this file launches `{name}`: it gets other arguments"
        ));
    }
}
