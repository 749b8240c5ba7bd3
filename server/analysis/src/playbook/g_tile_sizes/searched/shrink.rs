//! Configurations left out that no recorded search found good.
//!
//! A search costs its compiles on every process's first launch, so what never wins is paid for again
//! and again. What is dropped is told by measurements alone, and what is left is evaluated again: the
//! space gives exactly what it gave, without these, and the same as before on other architectures.

use rustc_hash::FxHashSet;
use tileperf_syntax::parse;

use super::written::{Piece, pieces, without};
use super::{Change, Searched, space_of};
use crate::arch::Arch;
use crate::eval::{Config, Known, Space};
use crate::model::{Candidate, SpaceRef};
use crate::playbook::Actions;
use crate::playbook::c_autotune::space::Alike;
use crate::playbook::evidence::{Search, arguments, never_good};
use crate::rewrite::{self, Edits};
use crate::rules::multiplies;

/// So many configurations are named in a title.
const FEW: usize = 2;

/// What recorded searches never found good is left out, on each architecture that was searched on.
pub(super) fn offer(searched: &Searched<'_, '_>, out: &mut Actions<'_>) {
    let recorded = searched.at.around.map_or(&[][..], |around| around.searched);
    if recorded.is_empty() || !searched.is_for_one_kernel() {
        return;
    }
    let name = &searched.def.name.name;
    let elsewhere = searched.at.named_elsewhere(name);
    if elsewhere == Some(true) {
        return;
    }
    let mut archs: Vec<Arch> = recorded.iter().map(|search| search.arch).collect();
    archs.sort_unstable();
    archs.dedup();
    for arch in archs {
        let own: Vec<&Search> = recorded.iter().filter(|s| s.arch == arch).collect();
        let Some((variant, title, edits)) = searched.shrunk(arch, &own) else {
            continue;
        };
        let mut described = out.push_in_file(variant, title, edits).in_host_code().if_only(
            "what was searched stands for the shapes and cards that matter: on others, what is dropped may be the best",
        );
        if elsewhere.is_none() {
            described = described.if_only(format!("no other file searches over `{name}`"));
        }
        // Other tiles are summed in another order.
        if multiplies(searched.at.file, &[Candidate::Local(searched.at.number)]) {
            described.other_results();
        }
    }
}

/// A space without some of its configurations.
pub(super) struct Dropped<'a> {
    /// What it gives now, by architecture, and which of that goes.
    pub(super) gone: Vec<(Arch, Space, FxHashSet<usize>)>,
    /// The change of the file.
    pub(super) edits: Edits<'a>,
}

impl<'a> Searched<'_, 'a> {
    /// Whether no other kernel of the file is searched over it: for that one nothing was recorded here.
    pub(super) fn is_for_one_kernel(&self) -> bool {
        let own = Candidate::Local(self.at.number);
        let searches = self.at.file.model.searches.iter();
        let over = searches.filter(|s| s.spaces.contains(&SpaceRef::Local(self.space)));
        over.flat_map(|s| &s.candidates).all(|one| *one == own)
    }

    /// The space of an architecture without what was never good on it.
    fn shrunk(&self, arch: Arch, searches: &[&Search]) -> Option<Change<'a>> {
        // Cards that want the same tiles share a branch.
        let is_here = |other: Arch| Alike::of(other) == Alike::of(arch);
        let dropped = self.without(|other, configs, number| {
            is_here(other) && never_good(&configs[number], searches).is_some()
        })?;
        let (_, here, gone) = dropped.gone.iter().find(|(other, ..)| *other == arch)?;
        let least = (gone.iter())
            .filter_map(|number| never_good(&here.configs[*number], searches))
            .fold(f64::INFINITY, f64::min);
        let title = format!(
            "Search on {arch} without {} of {} configurations in `{}`: at least {:.0} % slower than the best \
             in {} recorded searches on {} different arguments",
            named(here, gone),
            here.configs.len(),
            self.def.name.name,
            ((least - 1.0) * 100.0).floor(),
            searches.len(),
            arguments(searches),
        );
        Some((format!("shrink={arch}"), title, dropped.edits))
    }

    /// The space without those configurations that are bad on every architecture that gets them, by their
    /// numbers there. Of each the first one stays, and what is left is evaluated again: the space gives
    /// exactly what it gave, without these.
    pub(super) fn without(
        &self,
        is_bad: impl Fn(Arch, &[Config], usize) -> bool,
    ) -> Option<Dropped<'a>> {
        let spaces: Vec<(Arch, Space)> = (Arch::EVALUATED.into_iter())
            .map(|arch| Some((arch, self.evaluated(arch)?)))
            .collect::<Option<_>>()?;
        let found: Vec<Vec<Piece>> = (spaces.iter())
            .map(|(_, space)| pieces(self.def, &space.configs))
            .collect();
        let may_go = |piece: &Piece| {
            spaces.iter().zip(&found).all(|((arch, space), found)| {
                let mut numbers = found
                    .iter()
                    .filter(|p| p.is(piece))
                    .flat_map(|p| &p.configs);
                numbers.all(|number| *number > 0 && is_bad(*arch, &space.configs, *number))
            })
        };
        let mut wanted: Vec<Piece> = Vec::new();
        for piece in found.iter().flatten() {
            if !wanted.iter().any(|known| known.is(piece)) && may_go(piece) {
                wanted.push(piece.clone());
            }
        }
        let without = without(self.at.file.text, self.item, &wanted)?;
        let is_dropped = |piece: &&Piece| {
            without
                .dropped
                .iter()
                .any(|number| wanted[*number].is(piece))
        };
        let gone: Vec<(Arch, Space, FxHashSet<usize>)> = (spaces.into_iter().zip(&found))
            .map(|((arch, space), found)| {
                let gone = found.iter().filter(is_dropped).flat_map(|p| &p.configs);
                (arch, space, gone.copied().collect())
            })
            .collect();
        if gone.iter().all(|(_, _, gone)| gone.is_empty()) {
            return None;
        }
        let edits = without.edits;
        // As it will be.
        let text = rewrite::apply(self.at.file.text, &edits.clone().finish()).ok()?;
        let file = parse(&text);
        let is_right = |(arch, before, gone): &(Arch, Space, FxHashSet<usize>)| {
            let kept = before.configs.iter().enumerate();
            let kept = kept.filter(|(number, _)| !gone.contains(number));
            let after = space_of(&file, self.place(), *arch);
            after.is_some_and(|after| same(kept.map(|(_, config)| config), &after))
        };
        gone.iter().all(is_right).then_some(Dropped { gone, edits })
    }
}

/// How many go; a few by what tells them apart: `occupancy=4 and occupancy=8, 2`.
pub(super) fn named(space: &Space, gone: &FxHashSet<usize>) -> String {
    let fields = space.fields();
    let varies = |name: &str| fields.iter().any(|f| f.name == name && f.values.len() > 1);
    let name = |config: &Config| {
        let told = config.fields.iter().filter(|(name, _)| varies(name));
        let told: Option<Vec<String>> = told
            .map(|(name, value)| match value {
                Known::Int(value) => Some(format!("{name}={value}")),
                _ => None,
            })
            .collect();
        told.map(|told| told.join(" "))
    };
    let dropped = (space.configs.iter().enumerate()).filter(|(number, _)| gone.contains(number));
    let names: Option<Vec<String>> = dropped.map(|(_, config)| name(config)).collect();
    match names {
        Some(names) if names.len() <= FEW => format!("{}, {}", names.join(" and "), gone.len()),
        _ => gone.len().to_string(),
    }
}

/// Whether a space gives these configurations, in this order.
fn same<'c>(wanted: impl Iterator<Item = &'c Config>, space: &Space) -> bool {
    let own = space.configs.iter().map(|config| &config.fields);
    wanted.map(|config| &config.fields).eq(own)
}
