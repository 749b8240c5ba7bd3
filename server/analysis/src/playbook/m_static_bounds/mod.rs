//! Bounds checks of accesses that cannot leave their array.

mod index;

use std::collections::BTreeSet;

use tileperf_syntax::Span;

use self::index::Within;
use super::optimization::optimization;
use super::site::{Site, only_launches};
use super::{Actions, KernelContext};
use crate::body::ApiCall;
use crate::rewrite::Edits;
use crate::rewrite::arguments::add_argument;
use crate::target::Version;

optimization! {
    /// Leave out the bounds check of loads and stores whose tiles lie in the array as a whole.
    ///
    /// A tile may stick out of its array, and the code that handles that is there for every tile.
    /// `check_bounds=False` promises that none does. What happens if one does is undefined, so this is
    /// offered only where kernel and launches show it: an index below the grid's or a loop's end, which
    /// is the number of whole tiles along that axis, for every axis and every launch. Padding is never
    /// read then, and goes. The proof is listed with the action.
    ///
    /// ```python before
    /// @ct.kernel
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     for j in range(ct.num_tiles(x, axis=1, shape=(1, TILE))):
    ///         values = ct.load(x, (row, j), (1, TILE), padding_mode=ct.PaddingMode.ZERO)
    ///         ct.store(y, (row, j), values * 2)
    ///
    /// def doubled(x):
    ///     rows, columns = x.shape
    ///     assert columns % 1024 == 0
    ///     y = torch.empty_like(x)
    ///     ct.launch(torch.cuda.current_stream(), (rows,), scale, (x, y, 1024))
    ///     return y
    /// ```
    ///
    /// ```python after
    /// @ct.kernel
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     for j in range(ct.num_tiles(x, axis=1, shape=(1, TILE))):
    ///         values = ct.load(x, (row, j), (1, TILE), check_bounds=False)
    ///         ct.store(y, (row, j), values * 2, check_bounds=False)
    ///
    /// def doubled(x):
    ///     rows, columns = x.shape
    ///     assert columns % 1024 == 0
    ///     y = torch.empty_like(x)
    ///     ct.launch(torch.cuda.current_stream(), (rows,), scale, (x, y, 1024))
    ///     return y
    /// ```
    ///
    /// Without the assertion the last tile of a row may stick out:
    ///
    /// ```python good
    /// @ct.kernel
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     for j in range(ct.num_tiles(x, axis=1, shape=(1, TILE))):
    ///         values = ct.load(x, (row, j), (1, TILE), padding_mode=ct.PaddingMode.ZERO)
    ///         ct.store(y, (row, j), values * 2)
    ///
    /// def doubled(x):
    ///     y = torch.empty_like(x)
    ///     ct.launch(torch.cuda.current_stream(), (x.shape[0],), scale, (x, y, 1024))
    ///     return y
    /// ```
    M "static-bounds" Fusion Same offer,
    gain "30-50 % less code" "scaling of rows, addition of vectors, float16, sm_80 to sm_100" "tileiras 13.4",
}

/// The first version with `check_bounds` of loads and stores.
const SINCE: Version = Version::new(1, 6, 0);

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    if at.file.target.cuda_tile.is_some_and(|v| v < SINCE) {
        return;
    }
    let Ok(launches) = only_launches(at) else {
        return;
    };
    let sites = launches.into_iter().map(|launch| Site::of(at, launch));
    let Ok(sites) = sites.collect::<Result<Vec<_>, _>>() else {
        return;
    };
    let mut edits = at.edits();
    let (mut loads, mut stores) = (0, 0);
    let mut proof = BTreeSet::new();
    for called in at.calls(&["load", "store"]) {
        let call = &called.call;
        if call.keyword("check_bounds").is_some() || call.keyword("order").is_some() {
            continue;
        }
        let Some(reasons) = Within::of(at, &sites, call) else {
            continue;
        };
        proof.extend(reasons);
        edits = unchecked(edits, call);
        match call.name.as_str() {
            "load" => loads += 1,
            _ => stores += 1,
        }
    }
    let several = |n: usize, what: &str| match n {
        1 => format!("a {what}"),
        n => format!("{n} {what}s"),
    };
    let what = match (loads, stores) {
        (0, 0) => return,
        (_, 0) => several(loads, "load"),
        (0, _) => several(stores, "store"),
        _ => format!(
            "{} and {}",
            several(loads, "load"),
            several(stores, "store")
        ),
    };
    let title = format!("Leave out bounds checks that never fail: {what}");
    let mut described = out.push("", title, edits);
    for reason in proof {
        described = described.if_only(reason);
    }
}

/// The call with its promise, in the place of the padding where it has one.
fn unchecked<'t>(edits: Edits<'t>, call: &ApiCall<'_>) -> Edits<'t> {
    const PROMISE: &str = "check_bounds=False";
    let padding = call.args.iter().find_map(|arg| {
        let name = arg.name.as_ref().filter(|n| n.name == "padding_mode")?;
        Some(Span {
            start: name.span.start,
            end: arg.value.span.end,
        })
    });
    match padding {
        // tileiras 13.4 refuses padding beside it.
        Some(padding) => edits.replace(padding, PROMISE),
        None => add_argument(edits, call.expr, PROMISE),
    }
}

#[cfg(test)]
mod tests;
