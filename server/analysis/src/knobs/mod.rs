//! What every public name and keyword of `cuda.tile` means, in one line each.
//!
//! Hovers show these lines and `docs/knobs.md` is made from them ([`markdown`]). A line says what
//! the thing does, its range and default, since which cuda-tile it exists and where it has an
//! effect, because that is what one looks up while tuning; it is not a copy of the manual.
//!
//! Where the facts come from: names, signatures and defaults are read from cuda-tile 1.7.0 itself
//! (`names.py` writes `names.txt`; a test compares both with the table); first versions from the
//! sources of every release since 1.0; ranges from the validators in the source. What is marked
//! [`Knob::measured`] was compiled with cuda-tile 1.7.0 and tileiras 13.4.92 for several
//! architectures and the machine code compared; nothing here is a timing.

mod arithmetic;
mod atomics;
mod compile_time;
mod dtypes;
mod knob;
mod launch;
mod markdown;
mod math;
mod memory;
mod modes;
#[cfg(test)]
mod omitted;
mod reduce;
mod shape;
mod tune;
mod views;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::target::Version;

pub use knob::{Change, Effect, Kind, Knob, Runs, explain};
pub use markdown::markdown;

/// Part of the table: one chapter of `docs/knobs.md`.
struct Area {
    title: &'static str,
    /// The files of cuda-tile that say so.
    source: &'static str,
    knobs: &'static [Knob],
}

/// Every area, in the order of the documentation.
static AREAS: [&Area; 12] = [
    &launch::AREA,
    &tune::AREA,
    &memory::AREA,
    &views::AREA,
    &atomics::AREA,
    &modes::AREA,
    &dtypes::AREA,
    &shape::AREA,
    &reduce::AREA,
    &arithmetic::AREA,
    &math::AREA,
    &compile_time::AREA,
];

/// Finding by name is done on every hover over a dotted name, also one that is not ours.
struct Index {
    names: FxHashMap<&'static str, &'static Knob>,
    keywords: FxHashMap<(&'static str, &'static str), &'static Knob>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index {
        names: FxHashMap::default(),
        keywords: FxHashMap::default(),
    };
    for knob in all() {
        if knob.owners.is_empty() {
            index.names.insert(knob.name, knob);
        }
        for &owner in knob.owners {
            index.keywords.insert((owner, knob.name), knob);
        }
    }
    index
});

/// Every entry, in the order of the documentation.
pub fn all() -> impl Iterator<Item = &'static Knob> {
    AREAS.iter().flat_map(|area| area.knobs)
}

/// The entry of a name, dotted as in cuda.tile: `load`, `PaddingMode.ZERO`, `Array.slice`,
/// `tune.exhaustive_search`; a leading `cuda.tile.` is allowed, an import alias is not, since only
/// the caller knows what it stands for.
///
/// Names of the deprecated package are found under `tile_experimental.`, or in full as
/// `cuda.tile_experimental.`.
pub fn lookup(dotted: &str) -> Option<&'static Knob> {
    INDEX.names.get(plain(dotted)).copied()
}

/// The entry of a parameter, by the dotted name of what is called and the parameter's name:
/// `("load", "latency")`, `("kernel", "occupancy")`, `("kernel.replace_hints", "occupancy")`.
pub fn lookup_keyword(function: &str, keyword: &str) -> Option<&'static Knob> {
    let function = plain(function);
    let found = INDEX.keywords.get(&(function, keyword)).copied();
    // The fields of a dataclass are its constructor's parameters.
    found.or_else(|| {
        let is_class = lookup(function).is_some_and(|knob| knob.kind == Kind::Class);
        let field = || INDEX.names.get(format!("{function}.{keyword}").as_str());
        is_class.then(field).flatten().copied()
    })
}

/// The explanation of a parameter where its function is called, as one line of Markdown; `None` for
/// a parameter that has no entry.
///
/// A parameter shared by several functions is no older than the function.
pub fn explain_keyword(function: &str, keyword: &str, version: Option<Version>) -> Option<String> {
    let mut knob = *lookup_keyword(function, keyword)?;
    if let Some(owner) = lookup(function) {
        knob.since = knob.since.max(owner.since);
    }
    Some(explain(&knob, version))
}

fn plain(dotted: &str) -> &str {
    dotted
        .strip_prefix("cuda.tile.")
        .or_else(|| dotted.strip_prefix("cuda."))
        .unwrap_or(dotted)
}
