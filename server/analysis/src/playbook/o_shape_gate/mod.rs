//! A change that wins on some shapes or cards and loses on others, made where it wins.

mod by_target;
mod gate;
#[cfg(test)]
mod tests;

use self::gate::{Gate, gates};
use super::optimization::optimization;
use super::site::{Refused, Site};
use super::{Action, Actions, KernelContext, Mixed, Optimization};
use crate::rewrite::autotune::fresh;
use crate::rewrite::{self, Edits, TextEdit, line_end};
use crate::rules::is_test;

optimization! {
    /// Keep a change for the shapes or cards on which it was faster, and the kernel as it is for the others.
    ///
    /// Offered when a measurement of the experiment loop had a mixed result: some configurations faster,
    /// others slower, so that the change was taken back. Where a number in the names of the benchmark's
    /// configurations tells the two sorts apart, the kernel gets a copy with the change, and the launch
    /// chooses by an extent. Which extent that number is nobody can tell from a name: there is an action
    /// for each that the launching function knows, and another measurement tells whether it is right. In
    /// the examples a comment says what was measured.
    ///
    /// ```python before
    /// # Tried: E latency=3, faster [64-8192], faster [64-4096], slower [64-256]
    /// @ct.kernel
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     for j in range(ct.num_tiles(x, axis=1, shape=(1, TILE))):
    ///         ct.store(y, (row, j), ct.load(x, (row, j), (1, TILE)) * 2)
    ///
    /// def doubled(x):
    ///     y = torch.empty_like(x)
    ///     rows, columns = x.shape
    ///     ct.launch(torch.cuda.current_stream(), (rows,), scale, (x, y, 128))
    ///     return y
    /// ```
    ///
    /// ```python after E,latency=3,columns>=4096
    /// # Tried: E latency=3, faster [64-8192], faster [64-4096], slower [64-256]
    /// @ct.kernel
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     for j in range(ct.num_tiles(x, axis=1, shape=(1, TILE))):
    ///         ct.store(y, (row, j), ct.load(x, (row, j), (1, TILE)) * 2)
    ///
    ///
    /// @ct.kernel
    /// def scale_latency_3(x, y, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     for j in range(ct.num_tiles(x, axis=1, shape=(1, TILE))):
    ///         ct.store(y, (row, j), ct.load(x, (row, j), (1, TILE), latency=3) * 2)
    ///
    /// def doubled(x):
    ///     y = torch.empty_like(x)
    ///     rows, columns = x.shape
    ///     # Faster with columns >= 4096 only (measured: run 3).
    ///     kernel = scale_latency_3 if columns >= 4096 else scale
    ///     ct.launch(torch.cuda.current_stream(), (rows,), kernel, (x, y, 128))
    ///     return y
    /// ```
    ///
    /// Only for changes of a kernel that leave its parameters and its launch as they are, and for kernels
    /// launched once in their file. Both kernels are to be tested: the benchmark's configurations must be
    /// on both sides, and so must the tests'. Nothing is offered where faster and slower configurations
    /// do not lie on two sides of a number:
    ///
    /// ```python good
    /// # Tried: E latency=3, faster [64-256], faster [64-8192], slower [64-1024]
    /// @ct.kernel
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     for j in range(ct.num_tiles(x, axis=1, shape=(1, TILE))):
    ///         ct.store(y, (row, j), ct.load(x, (row, j), (1, TILE)) * 2)
    ///
    /// def doubled(x):
    ///     y = torch.empty_like(x)
    ///     rows, columns = x.shape
    ///     ct.launch(torch.cuda.current_stream(), (rows,), scale, (x, y, 128))
    ///     return y
    /// ```
    ///
    /// A hint of the kernel's decorator that was changed alone and measured on one card says nothing of
    /// others. Where a session found it slower on another one, or other architectures count (`archs`), it
    /// is chosen by architecture:
    ///
    /// ```python before
    /// # Measured: sm_90 occupancy=2 occupancy=8 faster
    /// # Measured: sm_100 occupancy=2 occupancy=8 slower
    /// @ct.kernel(occupancy=8)
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     ct.store(y, (row, 0), ct.load(x, (row, 0), (1, TILE)) * 2)
    /// ```
    ///
    /// ```python after occupancy=8,sm_90
    /// # Measured: sm_90 occupancy=2 occupancy=8 faster
    /// # Measured: sm_100 occupancy=2 occupancy=8 slower
    /// @ct.kernel(occupancy=ct.ByTarget(sm_90=8, default=2))
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     ct.store(y, (row, 0), ct.load(x, (row, 0), (1, TILE)) * 2)
    /// ```
    O "shape-gate" Parallelism Varies offer,
    gain "what the change gains where it wins" "kernels with a mixed result" "the measurement that had it",
}

/// So many extents are offered for a change.
const MOST: usize = 6;

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    by_target::offer(at, out);
    by_shape(at, out);
}

/// A copy of the kernel with a change, launched for the shapes on which the change was faster.
fn by_shape(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let mixed = at.around.map_or(&[][..], |around| around.mixed);
    if mixed.is_empty() || is_test(at.file) {
        return;
    }
    let launches = at.launches();
    let [launch] = launches.as_slice() else {
        return;
    };
    let Ok(site) = Site::of(at, *launch) else {
        return;
    };
    for mixed in mixed {
        let Some(action) = named(at, mixed) else {
            continue;
        };
        for gate in gates(at, &site, mixed).into_iter().take(MOST) {
            let Ok((changed, edits)) = edits(at, &site, &action, mixed, &gate) else {
                continue;
            };
            let way = match mixed.variant.as_str() {
                "" => mixed.id.clone(),
                variant => format!("{},{variant}", mixed.id),
            };
            let title = format!(
                "Launch `{changed}`, a copy with {}, where `{gate}`, and `{}` elsewhere",
                action.name(),
                at.kernel.name
            );
            let mut described = out.push_in_file(format!("{way},{}", gate.short()), title, edits);
            if action.numerics == super::Numerics::Different {
                described = described.other_results();
            }
            described = described.in_host_code().if_only(format!(
                "`{}` is the {} number in the names of the benchmark's configurations",
                gate.extent,
                ordinal(gate.place)
            ));
            for premise in &action.premises {
                described = described.if_only(premise.clone());
            }
        }
    }
}

/// The change that was tried, as it is offered now; nothing if it changes more than the kernel.
fn named(at: &KernelContext<'_>, mixed: &Mixed) -> Option<Action> {
    let optimization = Optimization::named(&mixed.id)?;
    if matches!(optimization.id, "B" | "C" | "G" | "K" | "O") {
        return None;
    }
    let mut all = Vec::new();
    let mut actions = Actions {
        optimization,
        start: at.def.item.span.start,
        out: &mut all,
    };
    (optimization.offer)(at, &mut actions);
    all.into_iter()
        .find(|action| action.variant == mixed.variant)
}

/// The name of the kernel's copy, and the change of the file.
fn edits<'a>(
    at: &KernelContext<'a>,
    site: &Site<'a>,
    action: &Action,
    mixed: &Mixed,
    gate: &Gate,
) -> Result<(String, Edits<'a>), Refused> {
    let (file, item, name) = (at.file, at.def.item, &at.kernel.name);
    if at.kernel.qualified != *name {
        return Err("it is not a function of the module");
    }
    let mut own = action.edits.iter().map(|edit| edit.span);
    if !action.elsewhere.is_empty() || !own.all(|span| item.span.contains(span)) {
        return Err("the change is not of the kernel alone");
    }
    let own = action.edits.iter().map(|edit| TextEdit {
        span: edit.span.moved(-i64::from(item.span.start)),
        text: edit.text.clone(),
    });
    let own: Vec<TextEdit> = own.collect();
    let text = at.text().trim_end();
    let changed = rewrite::apply(text, &own).map_err(|_| "the change overlaps itself")?;
    let part = match action.variant.as_str() {
        "" => action.optimization.slug,
        variant => variant,
    };
    let part: String = (part.chars())
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let copy = fresh(file.text, &format!("{name}_{part}"));
    let head = format!("def {name}(");
    if changed.matches(&head).count() != 1
        || text.contains("\"\"\"")
            && text.contains(&head[4..])
            && text.matches(&head[4..]).count() != 1
    {
        return Err("its name stands in its own text");
    }
    let changed = changed.replace(&head, &format!("def {copy}("));
    let edits = Edits::new(file.text);
    let end = line_end(file.text, item.span.start + text.len() as u32);
    let before = match file
        .text
        .get(..end as usize)
        .is_some_and(|t| t.ends_with('\n'))
    {
        true => "\n\n",
        false => "\n\n\n",
    };
    let chosen = fresh(site.text(), "kernel");
    let why = format!("# Faster with {gate} only (measured: {}).", mixed.run);
    let line = format!("{chosen} = {copy} if {gate} else {name}");
    let start = site.item.place(site.stmt.span).start;
    let edits = edits
        .insert(end, format!("{before}{changed}\n"))
        .lines_before(start, &[&why, &line])
        .replace(site.item.place(site.kernel.span), chosen);
    Ok((copy, edits))
}

fn ordinal(place: usize) -> String {
    match place {
        0 => "first".to_owned(),
        1 => "second".to_owned(),
        2 => "third".to_owned(),
        n => format!("{}th", n + 1),
    }
}
