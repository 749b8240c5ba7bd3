//! Configurations left out that are the same program as another one, or no program at all.
//!
//! A search compiles and times them all the same. Two configurations are one program if their machine code
//! is the same and they differ only in fields that neither the grid nor the arguments are made with.

use super::Searched;
use super::shrink::named;
use crate::arch::Arch;
use crate::eval::Config;
use crate::model::{Candidate, SearchApi, SpaceRef};
use crate::playbook::Actions;
use crate::playbook::c_autotune::space::Alike;
use crate::playbook::evidence::{Code, Compiled};
use crate::rewrite::Edits;
use crate::rules::{Given, SearchCall};

/// What compiling a whole space showed to be of no use is left out.
pub(super) fn offer(searched: &Searched<'_, '_>, out: &mut Actions<'_>) {
    let compiled = searched.at.around.map_or(&[][..], |around| around.compiled);
    if compiled.is_empty() || !searched.is_for_one_kernel() {
        return;
    }
    let elsewhere = searched.at.named_elsewhere(&searched.def.name.name);
    if elsewhere == Some(true) {
        return;
    }
    let Some((title, edits)) = searched.without_twins(compiled) else {
        return;
    };
    let mut signatures: Vec<&str> = compiled.iter().map(|one| one.signature.as_str()).collect();
    signatures.sort_unstable();
    signatures.dedup();
    out.push_in_file("compiled", title, edits)
        .in_host_code()
        .if_only(format!(
            "it is searched for what was compiled, {}: for other types what is dropped may be a program of its own",
            signatures.join("; ")
        ));
}

/// What became of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    /// The same program as an earlier one, by number.
    Twin(usize),
    /// It does not compile.
    Refused,
}

impl<'a> Searched<'_, 'a> {
    fn without_twins(&self, compiled: &[Compiled]) -> Option<(String, Edits<'a>)> {
        let bound = self.bound()?;
        let come = |arch: Arch, configs: &[Config], number: usize| {
            let own = compiled
                .iter()
                .filter(|c| Alike::of(c.arch) == Alike::of(arch));
            let mut all = own.map(|one| came(configs, number, one, &bound));
            let first = all.next()??;
            all.all(|other| other == Some(first)).then_some(first)
        };
        let dropped = self.without(|arch, configs, number| match come(arch, configs, number) {
            // The one that stands for others has to stay.
            Some(Came::Twin(first)) => come(arch, configs, first).is_none(),
            Some(Came::Refused) => true,
            None => false,
        })?;
        let is_compiled = |arch: &Arch| compiled.iter().any(|one| one.arch == *arch);
        let here = || {
            (dropped.gone.iter()).filter(|(arch, _, gone)| is_compiled(arch) && !gone.is_empty())
        };
        let (arch, space, gone) = here().next()?;
        let refused = gone
            .iter()
            .filter(|number| come(*arch, &space.configs, **number) == Some(Came::Refused));
        let refused = refused.count();
        let why = match (gone.len() - refused, refused) {
            (_, 0) => "the same machine code as others".to_owned(),
            (0, _) => "do not compile".to_owned(),
            (twins, _) => {
                format!("{twins} the same machine code as others, {refused} do not compile")
            }
        };
        let archs: Vec<String> = here().map(|(arch, ..)| arch.to_string()).collect();
        let title = format!(
            "Search on {} without {} of {} configurations in `{}`: {why}",
            archs.join(", "),
            named(space, gone),
            space.configs.len(),
            self.def.name.name,
        );
        Some((title, dropped.edits))
    }

    /// Fields that grids and arguments are made with. Nothing if that cannot be told.
    fn bound(&self) -> Option<Vec<&'a str>> {
        let file = self.at.file;
        let own = Candidate::Local(self.at.number);
        let searches = (file.model.searches.iter()).filter(|s| {
            s.candidates.contains(&own) && s.spaces.contains(&SpaceRef::Local(self.space))
        });
        let mut out = Vec::new();
        for search in searches {
            let call = SearchCall::of(file, search)?;
            if call.is_open() || search.api != SearchApi::ExhaustiveSearch {
                return None;
            }
            out.extend(call.reads(call.arg(Given::Grid)?)?);
            // A constant or hint that is computed from the configuration was not compiled.
            out.extend(call.hands_on(call.arg(Given::Args)?)?);
            if let Some(hints) = call.arg(Given::Hints) {
                call.reads(hints)?;
            }
        }
        Some(out)
    }
}

/// What became of a configuration in one compile of the space. Nothing if it is a program of its own, or
/// was not compiled.
fn came(configs: &[Config], number: usize, compiled: &Compiled, bound: &[&str]) -> Option<Came> {
    let own = match compiled.code(&configs[number])? {
        Code::Refused => return Some(Came::Refused),
        own @ Code::Machine(_) => own,
    };
    let is_twin = |first: &usize| {
        compiled.code(&configs[*first]) == Some(own)
            && alike(&configs[*first], &configs[number], bound)
    };
    (0..number).find(is_twin).map(Came::Twin)
}

/// Whether two configurations have the same of what the grid and the arguments are made with.
fn alike(first: &Config, other: &Config, bound: &[&str]) -> bool {
    let of = |config: &Config, field: &str| {
        let found = config.fields.iter().find(|(name, _)| name == field);
        found.map(|(_, value)| value.clone())
    };
    bound
        .iter()
        .all(|field| of(first, field) == of(other, field))
}
