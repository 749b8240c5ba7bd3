//! Blocks that walk over items instead of one block for each.

mod body;
mod grid;
#[cfg(test)]
mod tests;

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::ExprKind;

use self::body::Items;
use self::grid::Grid;
use super::optimization::optimization;
use super::site::{Refused, all_launches};
use super::{Actions, KernelContext, Naming};
use crate::rewrite::arguments::{add_element, close_after};
use crate::rewrite::autotune::fresh;
use crate::rewrite::{Edits, indent};
use crate::rules::is_test;

optimization! {
    /// Launch as many blocks as the device runs at once, and let each walk over its share of the items.
    ///
    /// With a block for every row or tile, each starts, reads, computes and writes alone, and what it
    /// needs of shared inputs it reads anew. Blocks that stay can read ahead from one item to the next,
    /// and what stands before the block's index is done once. The number of blocks is that of the
    /// multiprocessors times the occupancy hint, or times 1, 2, 4 and 8 to choose from where there is
    /// none. Loops cost registers: where the kernel computes more than it moves it can become slower.
    ///
    /// ```python before
    /// @ct.kernel(occupancy=4)
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     # One row at a time.
    ///     values = ct.load(x, (row, 0), (1, TILE))
    ///     ct.store(y, (row, 0), values * 2)
    ///
    /// def doubled(x):
    ///     y = torch.empty_like(x)
    ///     n_rows = x.shape[0]
    ///     ct.launch(torch.cuda.current_stream(), (n_rows, 1, 1), scale, (x, y, 1024))
    ///     return y
    /// ```
    ///
    /// ```python after per-sm=4
    /// @ct.kernel(occupancy=4)
    /// def scale(x, y, TILE: ct.Constant[int], n_rows):
    ///     for row in range(ct.bid(0), n_rows, ct.num_blocks(0)):
    ///         # One row at a time.
    ///         values = ct.load(x, (row, 0), (1, TILE))
    ///         ct.store(y, (row, 0), values * 2)
    ///
    /// def doubled(x):
    ///     y = torch.empty_like(x)
    ///     n_rows = x.shape[0]
    ///     num_sms = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
    ///     ct.launch(torch.cuda.current_stream(), (min(num_sms * 4, n_rows), 1, 1), scale, (x, y, 1024, n_rows))
    ///     return y
    /// ```
    ///
    /// A kernel that gets the number already keeps its parameters; a number that is only computed for the
    /// grid gets a name:
    ///
    /// ```python before
    /// @ct.kernel
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(y, (i,), ct.load(x, (i,), (TILE,)) * 2)
    ///
    /// def doubled(x):
    ///     y = torch.empty_like(x)
    ///     grid = (ct.cdiv(x.numel(), 1024),)
    ///     ct.launch(torch.cuda.current_stream(), grid, scale, (x, y, 1024))
    ///     return y
    /// ```
    ///
    /// ```python after per-sm=1
    /// @ct.kernel
    /// def scale(x, y, TILE: ct.Constant[int], n_items):
    ///     for i in range(ct.bid(0), n_items, ct.num_blocks(0)):
    ///         ct.store(y, (i,), ct.load(x, (i,), (TILE,)) * 2)
    ///
    /// def doubled(x):
    ///     y = torch.empty_like(x)
    ///     n_items = ct.cdiv(x.numel(), 1024)
    ///     num_sms = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
    ///     grid = (min(num_sms, n_items),)
    ///     ct.launch(torch.cuda.current_stream(), grid, scale, (x, y, 1024, n_items))
    ///     return y
    /// ```
    ///
    /// A kernel is left alone that returns early, asks for blocks otherwise (in functions that it calls
    /// too), carries a value from one item to the next, waits in a `while`, or is launched by a search,
    /// a test, or in a way that is not written out. Launches in other files change with it. One that
    /// would get a further argument stays too where a file names it that does not launch it. A
    /// persistent loop written as `while` is rule TP405's.
    ///
    /// ```python good
    /// @ct.kernel
    /// def first(x, n, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     if i >= n:
    ///         return
    ///     ct.store(x, (i,), ct.load(x, (i,), (TILE,)) * 2)
    ///
    /// def run(x, n):
    ///     ct.launch(torch.cuda.current_stream(), (x.shape[0],), first, (x, n, 1024))
    /// ```
    B "persistent-grid" Parallelism Same offer,
    gain "1.5-4 times" "memory-bound kernels with many rows, B200" "TileGym's guides",
    gain "0.87 times" "matrix multiplication (a loss), B200" "TileGym's guides",
}

/// Blocks a multiprocessor, where no hint says how many fit.
const PER_SM: [i64; 4] = [1, 2, 4, 8];

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let Ok(plan) = Plan::of(at) else { return };
    let hint = at.hint("occupancy").filter(|blocks| *blocks > 0);
    let all = hint.as_ref().map_or(&PER_SM[..], std::slice::from_ref);
    for per_sm in all {
        let (edits, elsewhere) = plan.edits(*per_sm);
        let mut described =
            out.push_in_file(format!("per-sm={per_sm}"), plan.title(*per_sm), edits);
        for (file, edits) in elsewhere {
            described = described.and_elsewhere(file, edits);
        }
        // Where all files of the workspace are known, no other that uses cuTile names it.
        if plan.given.is_none() && plan.may_be_named().is_none() {
            described.if_only(format!(
                "nothing outside this file launches `{}`: it gets one more argument",
                at.kernel.name
            ));
        }
    }
}

/// A kernel that can walk over its items.
struct Plan<'c, 'a> {
    at: &'c KernelContext<'a>,
    items: Items<'a>,
    grids: Vec<Grid<'a>>,
    /// The parameter that is the number of items already.
    given: Option<&'a SmolStr>,
}

impl<'c, 'a> Plan<'c, 'a> {
    fn of(at: &'c KernelContext<'a>) -> Result<Plan<'c, 'a>, Refused> {
        if is_test(at.file) {
            return Err("its file holds tests or benchmarks");
        }
        let launches = all_launches(at)?;
        for launched in &launches {
            let torch = launched.file.module.imports.get("torch");
            if torch.is_none_or(|path| path != "torch") {
                return Err("the device cannot be asked without torch");
            }
            if is_test(&launched.file) {
                return Err("tests or benchmarks launch it");
            }
        }
        let items = Items::of(at)?;
        let grids = launches.into_iter().map(|launch| Grid::of(at, launch));
        let grids: Vec<Grid<'a>> = grids.collect::<Result<_, _>>()?;
        let given = given(at, &grids);
        let plan = Plan {
            at,
            items,
            grids,
            given,
        };
        if given.is_none() && plan.may_be_named() == Some(true) {
            return Err("other files name it, and may launch it without the argument that it gets");
        }
        Ok(plan)
    }

    /// Whether files that do not launch it may name it.
    fn may_be_named(&self) -> Option<bool> {
        let launching = self.grids.iter().filter_map(|grid| grid.site.elsewhere);
        let launching: Vec<usize> = launching.collect();
        self.at.may_name(Naming {
            name: &self.at.kernel.name,
            of: None,
            but: &launching,
        })
    }

    fn title(&self, per_sm: i64) -> String {
        let name = self.items.name;
        match per_sm {
            1 => format!("Walk over `{name}` with a block for each multiprocessor"),
            n => format!("Walk over `{name}` with {n} blocks for each multiprocessor"),
        }
    }

    fn edits(&self, per_sm: i64) -> (Edits<'a>, Vec<(usize, Edits<'a>)>) {
        let at = self.at;
        let count = match self.given {
            Some(param) => param.to_string(),
            None => self.new_param(),
        };
        let mut edits = Edits::new(at.file.text);
        if self.given.is_none() {
            edits = self.add_param(edits, &count);
        }
        edits = self.items.walked(at, edits, &count);
        let mut elsewhere: Vec<(usize, Edits<'a>)> = Vec::new();
        for grid in &self.grids {
            let is_passed = self.given.is_none();
            let Some(file) = grid.site.elsewhere else {
                edits = grid.shortened(edits, per_sm, is_passed);
                continue;
            };
            let known = elsewhere.iter().position(|(other, _)| *other == file);
            let before = match known {
                Some(at) => elsewhere.swap_remove(at).1,
                None => Edits::new(grid.site.file.text),
            };
            elsewhere.push((file, grid.shortened(before, per_sm, is_passed)));
        }
        (edits, elsewhere)
    }

    /// A name for the number of items: the launch's own, if the kernel has none like it.
    fn new_param(&self) -> String {
        let text = self.at.text();
        let of_launch = self.grids.first().and_then(|grid| grid.count_name());
        match of_launch {
            Some(name) if fresh(text, name) == *name => name.to_string(),
            _ => fresh(text, "n_items"),
        }
    }

    fn add_param(&self, edits: Edits<'a>, name: &str) -> Edits<'a> {
        let (at, def) = (self.at, self.at.def);
        let Some(last) = def.node.params.last() else {
            return edits;
        };
        let end = last.annotation.as_ref().map_or(last.name.span, |a| a.span);
        let last = Span {
            start: last.name.span.start,
            end: end.end,
        };
        let last = def.place(last);
        match close_after(at.file.text, last.end) {
            Some(close) => add_element(edits, last, close, name),
            None => edits,
        }
    }
}

/// The parameter for which every launch passes what its grid's first axis is. Only a name is
/// certain to be the same at both places.
fn given<'a>(at: &KernelContext<'a>, grids: &[Grid<'a>]) -> Option<&'a SmolStr> {
    let params = at.kernel.params.iter().enumerate();
    let is_count = |place: usize, grid: &Grid<'a>| {
        let passed = grid.site.passed.get(place).and_then(|arg| arg.name());
        passed.is_some() && passed == grid.count_name()
    };
    params
        .filter(|(place, _)| grids.iter().all(|grid| is_count(*place, grid)))
        .map(|(_, param)| &param.name)
        .next()
}

/// Whether text that several lines share would change by another indentation of them.
fn has_long_text(at: &KernelContext<'_>, expr: &tileperf_syntax::ast::Expr) -> bool {
    let is_text = matches!(expr.kind, ExprKind::Str(_) | ExprKind::FString(_));
    is_text && at.source(expr.span).contains('\n')
}

/// By how much a function's body is indented further than its `def`.
fn step<'a>(at: &KernelContext<'a>, body: &'a str) -> Option<&'a str> {
    let own = indent(at.text(), at.def.node.def_span.start);
    body.strip_prefix(own).filter(|step| !step.is_empty())
}
