//! Configurations left out that no recorded search found good.
//!
//! A search costs its compiles on every process's first launch, so what never wins is paid for again
//! and again. What is dropped is told by measurements alone, and what is left is evaluated again: the
//! space gives exactly what it gave, without these, and the same as before on other architectures.

use rustc_hash::FxHashSet;
use tileperf_syntax::{Span, parse};

use super::written::{Piece, pieces, without};
use super::{Change, Searched, space_of};
use crate::arch::Arch;
use crate::eval::{Config, Known, Space};
use crate::model::{Candidate, SpaceRef};
use crate::playbook::Actions;
use crate::playbook::c_autotune::space::Alike;
use crate::playbook::evidence::{Search, arguments, never_good};
use crate::rewrite;
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

impl<'a> Searched<'_, 'a> {
    /// Whether no other kernel of the file is searched over it: for that one nothing was recorded here.
    fn is_for_one_kernel(&self) -> bool {
        let own = Candidate::Local(self.at.number);
        let searches = self.at.file.model.searches.iter();
        let over = searches.filter(|s| s.spaces.contains(&SpaceRef::Local(self.space)));
        over.flat_map(|s| &s.candidates).all(|one| *one == own)
    }

    /// The space of an architecture without what was never good on it.
    fn shrunk(&self, arch: Arch, searches: &[&Search]) -> Option<Change<'a>> {
        let here = self.evaluated(arch)?;
        // What other cards run as well stays. Those that want the same tiles share a branch.
        let others: Vec<(Arch, Space)> = (Arch::EVALUATED.into_iter())
            .filter(|other| Alike::of(*other) != Alike::of(arch))
            .map(|other| Some((other, self.evaluated(other)?)))
            .collect::<Option<_>>()?;
        let shared: FxHashSet<Span> = (others.iter())
            .flat_map(|(_, space)| &space.configs)
            .filter_map(|config| Some(config.place?.span))
            .collect();
        let slower: Vec<Option<f64>> = (here.configs.iter().enumerate())
            .map(|(number, config)| {
                let own = number > 0 && !shared.contains(&config.place?.span);
                never_good(config, searches).filter(|_| own)
            })
            .collect();
        let is_bad = |configs: &[usize]| configs.iter().all(|number| slower[*number].is_some());
        let dropped: Vec<Piece> = (pieces(self.def, &here.configs).into_iter())
            .filter(|piece| is_bad(&piece.configs))
            .collect();
        let edits = without(self.at.file.text, self.item, &dropped)?;
        let gone: FxHashSet<usize> = edits.dropped.iter().copied().collect();
        if gone.is_empty() {
            return None;
        }
        let edits = edits.edits;
        // As it will be.
        let text = rewrite::apply(self.at.file.text, &edits.clone().finish()).ok()?;
        let file = parse(&text);
        let after = |arch| space_of(&file, self.place(), arch);
        let wanted = (here.configs.iter().enumerate())
            .filter(|(number, _)| !gone.contains(number))
            .map(|(_, config)| config);
        let is_kept = |(other, before): &(Arch, Space)| {
            after(*other).is_some_and(|after| same(before.configs.iter(), &after))
        };
        if !same(wanted, &after(arch)?) || !others.iter().all(is_kept) {
            return None;
        }
        let least = (gone.iter())
            .filter_map(|number| slower[*number])
            .fold(f64::INFINITY, f64::min);
        let title = format!(
            "Search on {arch} without {} of {} configurations in `{}`: at least {:.0} % slower than the best \
             in {} recorded searches on {} different arguments",
            named(&here, &gone),
            here.configs.len(),
            self.def.name.name,
            ((least - 1.0) * 100.0).floor(),
            searches.len(),
            arguments(searches),
        );
        Some((format!("shrink={arch}"), title, edits))
    }
}

/// How many go; a few by what tells them apart: `occupancy=4 and occupancy=8, 2`.
fn named(space: &Space, gone: &FxHashSet<usize>) -> String {
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
