//! Searches that are there: configurations for an architecture that they leave out, further ones, or
//! fewer where searches were recorded or the space was compiled.
//!
//! What the space gives on an architecture is evaluated. Calls that only this architecture reaches are
//! a branch of its own; where it shares them with others it has none.

mod branch;
mod compiled;
mod listed;
mod shrink;
mod wider;
mod written;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, FunctionDef};
use tileperf_syntax::{Item, ParsedFile, Span};

use crate::arch::Arch;
use crate::eval::{Config, Evaluator, Known, ModuleId, Place, Space};
use crate::model::{Candidate, SpaceKind, SpaceRef};
use crate::playbook::alone::Alone;
use crate::playbook::c_autotune::space::Alike;
use crate::playbook::c_autotune::tiles::{Dim, dim};
use crate::playbook::{Actions, KernelContext};
use crate::rewrite::Edits;
use crate::rules::{is_occupancy, is_tile, multiplies};

/// So many configurations with one value say that it is meant.
const ENOUGH: usize = 12;

pub(super) fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let Some(searched) = Searched::of(at) else {
        return;
    };
    shrink::offer(&searched, out);
    compiled::offer(&searched, out);
    if multiplies(at.file, &[Candidate::Local(at.number)]) {
        others(&searched, out);
    }
}

/// Tiles for architectures that the space has none or one for.
fn others(searched: &Searched<'_, '_>, out: &mut Actions<'_>) {
    let mut seen: Vec<Alike> = Vec::new();
    for arch in &searched.at.file.target.archs {
        let kind = Alike::of(*arch);
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        let changed = match searched.is_own(kind) {
            false => searched.with_branch(kind),
            true => searched.widened(kind),
        };
        let Some((variant, title, edits)) = changed else {
            continue;
        };
        out.push_in_file(variant, title, edits)
            .in_host_code()
            .other_results()
            .if_only(
                "the kernel is right for every tile of the space, also where it does not divide an extent",
            );
    }
}

/// A space of a kernel's searches.
struct Searched<'c, 'a> {
    at: &'c KernelContext<'a>,
    item: &'a Item,
    def: &'a FunctionDef,
    kind: SpaceKind,
    /// Its number among the file's spaces.
    space: usize,
    /// The number of its item.
    number: u32,
    /// `torch` as the file calls it.
    torch: Option<SmolStr>,
    /// What it gives, by kind of architecture.
    given: Vec<(Alike, Space)>,
}

/// A change: variant, title, edits.
type Change<'a> = (String, String, Edits<'a>);

impl<'c, 'a> Searched<'c, 'a> {
    fn of(at: &'c KernelContext<'a>) -> Option<Searched<'c, 'a>> {
        let file = at.file;
        let own = Candidate::Local(at.number);
        let searches = (file.model.searches.iter()).filter(|s| s.candidates.contains(&own));
        let mut spaces: Vec<&SpaceRef> = searches.flat_map(|s| &s.spaces).collect();
        spaces.dedup();
        let [SpaceRef::Local(own_space)] = spaces.as_slice() else {
            return None;
        };
        let space = file.model.spaces.get(*own_space)?;
        if space.stale || space.kind == SpaceKind::List {
            return None;
        }
        let def = file.function(space.span)?;
        if !def.node.params.is_empty() || def.node.is_async {
            return None;
        }
        let imports = file.module.imports.iter();
        let torch = imports.filter(|(_, path)| *path == "torch");
        let torch = torch.map(|(name, _)| name.clone()).min();
        let (number, _) = file.item(space.span)?;
        let mut searched = Searched {
            at,
            item: def.item,
            def: def.node,
            kind: space.kind,
            space: *own_space,
            number: number as u32,
            torch,
            given: Vec::new(),
        };
        for kind in Alike::ALL {
            let space = searched.evaluated(kind.first())?;
            searched.given.push((kind, space));
        }
        Some(searched)
    }

    /// Where the evaluator finds the space. The name stays where it is when the body changes.
    fn place(&self) -> Place {
        Place {
            module: ModuleId(0),
            item: self.number,
            span: self.def.name.span,
        }
    }

    /// What it gives on an architecture, if that is known to the last configuration.
    fn evaluated(&self, arch: Arch) -> Option<Space> {
        space_of(self.at.file.file, self.place(), arch)
    }

    fn on(&self, kind: Alike) -> &[Config] {
        let space = self.given.iter().find(|(own, _)| *own == kind);
        space.map_or(&[], |(_, space)| &space.configs)
    }

    fn places(&self, kind: Alike) -> FxHashSet<Span> {
        let places = self.on(kind).iter().filter_map(|config| config.place);
        places.map(|place| place.span).collect()
    }

    /// Calls that make configurations for this architecture alone.
    fn exclusive(&self, kind: Alike) -> FxHashSet<Span> {
        let mut own = self.places(kind);
        for other in Alike::ALL.into_iter().filter(|other| *other != kind) {
            for place in self.places(other) {
                own.remove(&place);
            }
        }
        own
    }

    /// Whether an architecture has configurations that no other has.
    fn is_own(&self, kind: Alike) -> bool {
        !self.exclusive(kind).is_empty()
    }

    /// Whether some configurations are for all architectures and others are not: a branch of its own
    /// would leave out the former.
    fn has_common_part(&self) -> bool {
        let mut common = self.places(Alike::ALL[0]);
        for kind in Alike::ALL {
            let here = self.places(kind);
            common.retain(|place| here.contains(place));
        }
        !common.is_empty() && Alike::ALL.iter().any(|kind| self.places(*kind) != common)
    }

    /// Whether a field is one value in all of several configurations: what it is for may want that one.
    fn is_fixed(&self, field: &str) -> bool {
        let all = || self.given.iter().flat_map(|(_, space)| &space.configs);
        let values: Vec<&Known> = all()
            .filter_map(|config| config.fields.iter().find(|(name, _)| name == field))
            .map(|(_, value)| value)
            .collect();
        let (Some(first), true) = (values.first(), values.len() >= ENOUGH) else {
            return false;
        };
        values.iter().all(|value| value == first)
    }

    /// Whether at least half of an architecture's configurations have a field's value.
    fn is_usual(&self, kind: Alike, field: &SmolStr, value: &Known) -> bool {
        let configs = self.on(kind);
        let same = configs.iter().filter(|config| {
            let own = config.fields.iter().find(|(name, _)| name == field);
            own.is_some_and(|(_, own)| own == value)
        });
        same.count() * 2 >= configs.len()
    }

    /// The call of the space that makes a configuration.
    fn made_at(&self, span: Span) -> Option<(&'a Expr, &'a [Arg])> {
        let mut found = None;
        crate::body::walk(&self.def.body, &mut |expr, _| {
            if expr.span == span && found.is_none() {
                found = Some(expr);
            }
        });
        let call: &Expr = found?;
        let ExprKind::Call { args, .. } = &call.kind else {
            return None;
        };
        let plain = args.iter().all(|a| a.stars == 0 && a.name.is_some());
        plain.then_some((call, args.as_slice()))
    }

    fn source(&self, span: Span) -> &'a str {
        self.at.file.source(self.item.place(span))
    }
}

/// What the space at a place gives on an architecture, if that is known to the last configuration.
fn space_of(file: &ParsedFile, place: Place, arch: Arch) -> Option<Space> {
    let env = Alone(file);
    let space = Evaluator::new(&env).at(place, arch)?;
    let is_whole = space.complete && space.count.exact()? == space.configs.len() as u64;
    is_whole.then_some(space)
}

/// What a search chooses by a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chosen {
    Tile(Dim),
    Occupancy,
    Ctas,
}

fn chosen(field: &str) -> Option<Chosen> {
    if is_occupancy(field) {
        return Some(Chosen::Occupancy);
    }
    if field == "num_ctas" {
        return Some(Chosen::Ctas);
    }
    dim(field).filter(|_| is_tile(field)).map(Chosen::Tile)
}

fn number(config: &Config, field: &str) -> Option<i64> {
    let (_, known) = config.fields.iter().find(|(name, _)| name == field)?;
    match known {
        Known::Int(value) => Some(*value),
        _ => None,
    }
}
