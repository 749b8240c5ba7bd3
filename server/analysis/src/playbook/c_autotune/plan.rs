//! Which search a kernel gets, or why it gets none.

use smol_str::SmolStr;

use super::choice::{free, space};
use super::decorator::{fixed, without};
use super::drift;
use super::effects::Effects;
use super::flow::Flow;
use super::imports::Imports;
use super::space::{self, Fixed, Space};
use super::template::Kind;
use super::tiles;
use super::triton::{self, Listed};
use super::write::{Tuned, Words};
use crate::body::is_decorated;
use crate::playbook::KernelContext;
use crate::playbook::site::{Refused, Site};
use crate::rewrite::Edits;
use crate::rewrite::autotune::{fresh, module_lines};
use crate::rules::{FileContext, is_test};
use crate::target::Version;

/// The first version with `cuda.tile.tune.exhaustive_search`.
const SEARCHES: Version = Version::new(1, 3, 0);

/// A kernel that can be tuned.
pub(super) struct Plan<'c, 'a> {
    at: &'c KernelContext<'a>,
    fixed: Fixed,
    /// The launches that get a search.
    sites: Vec<Site<'a>>,
    params: Vec<SmolStr>,
    effects: Effects,
    kind: Kind,
    space: Space,
}

/// Whose space a search gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// This optimization's own.
    Own,
    /// A Triton list of the file.
    Triton,
}

impl<'c, 'a> Plan<'c, 'a> {
    pub(super) fn of(at: &'c KernelContext<'a>, from: From) -> Result<Plan<'c, 'a>, Refused> {
        let kernel = at.kernel;
        let file = at.file;
        if at.uses.searches > 0 || at.uses.remade > 0 {
            return Err("it is tuned or remade already");
        }
        if file.target.cuda_tile.is_some_and(|v| v < SEARCHES) {
            return Err("the installed cuda-tile has no exhaustive_search");
        }
        if is_test(file) {
            return Err("its file holds tests or benchmarks");
        }
        if is_distributed(file) {
            return Err(DISTRIBUTED);
        }
        let of_that_name = file.model.kernels.iter().filter(|k| k.name == kernel.name);
        let of_module = kernel.qualified == kernel.name;
        if !of_module || of_that_name.count() > 1 || !is_decorated(kernel) {
            return Err("it is not a function of the module, decorated and defined once");
        }
        let fixed = fixed(at)?;
        let sites = sites(at, &fixed)?;
        let elsewhere = sites.first().and_then(|site| site.elsewhere);
        let fixed = match elsewhere {
            Some(_) => fixed.in_numbers()?,
            None => fixed,
        };
        let effects = Effects::of(file, &at.device)?;
        drift::check(at, &effects)?;
        let kind = Kind::of(file, &at.device);
        let space = match from {
            From::Own => space(at, &sites, &effects, &kind),
            From::Triton => listed(at, &sites, &effects, &fixed, &kind)?,
        };
        Ok(Plan {
            at,
            fixed,
            sites,
            params: kernel.params.iter().map(|p| p.name.clone()).collect(),
            effects,
            kind,
            space,
        })
    }

    /// What it rests on that every configuration is right.
    pub(super) fn premises(&self) -> Vec<String> {
        match &self.space {
            Space::Listed { list, .. } => list.premises.clone(),
            Space::Tiles { .. } => vec![triton::RIGHT.to_owned()],
            Space::Occupancy | Space::Clusters => Vec::new(),
        }
    }

    /// Whether some configuration gives other results than the launch does now.
    pub(super) fn gives_other_results(&self) -> bool {
        match &self.space {
            Space::Listed { list, .. } => list.reorders,
            space => space.tiles().is_some(),
        }
    }

    /// Whether what is read and what is written may be one array, for all that the launches show.
    pub(super) fn may_alias(&self) -> bool {
        let mut sites = self.sites.iter();
        sites.any(|site| self.effects.may_be_one(&self.params, site))
    }

    fn works_in_place(&self) -> bool {
        let in_place = |site| !self.effects.in_place(&self.params, site).is_empty();
        self.sites.iter().any(in_place)
    }

    pub(super) fn variant(&self) -> &'static str {
        match self.space {
            Space::Listed { .. } => "triton",
            Space::Tiles { .. } => "full",
            Space::Occupancy | Space::Clusters => "occupancy",
        }
    }

    pub(super) fn title(&self) -> String {
        let name = &self.at.kernel.name;
        let count = self.space.count(&self.fixed);
        let what = match &self.space {
            Space::Occupancy => "the occupancy".to_owned(),
            Space::Clusters => "occupancy and num_ctas".to_owned(),
            Space::Tiles { tiles, .. } => {
                format!("{}, occupancy and num_ctas", space::names(tiles))
            }
            Space::Listed { list, .. } => {
                let name = &self.at.kernel.name;
                return format!(
                    "Tune `{name}` over the Triton list of {}: search {count} configurations once, cache, launch",
                    list.origin()
                );
            }
        };
        let kind = self.kind.template.name();
        format!(
            "Tune {what} of `{name}` ({kind}): search {count} configurations once, cache, launch"
        )
    }

    /// The change of the kernel's file, and that of the launches' where they are apart.
    pub(super) fn edits(&self) -> Result<(Edits<'a>, Option<(usize, Edits<'a>)>), Refused> {
        let decorator = without(self.at, self.space.hints())?;
        let site = self.sites.first().ok_or("nothing launches it")?;
        Ok(match site.elsewhere {
            None => (self.host(decorator)?, None),
            Some(file) => (
                decorator,
                Some((file, self.host(Edits::new(site.file.text))?)),
            ),
        })
    }

    /// The change of the launches' file, after others of that file.
    fn host(&self, mut edits: Edits<'a>) -> Result<Edits<'a>, Refused> {
        let file = &self.sites.first().ok_or("nothing launches it")?.file;
        let mut imports = Imports::of(file);
        let torch = imports.torch();
        if torch.is_none() && self.space.asks_device() {
            return Err("what the device can do is asked of torch, which the file does not import");
        }
        if torch.is_none() && self.works_in_place() {
            return Err("trials would run on copies made by torch, which the file does not import");
        }
        let stem = self.at.kernel.name.trim_start_matches('_');
        let configs = fresh(file.text, &format!("_{stem}_configs"));
        let words = Words {
            namespace: imports.namespace(),
            search: imports.search()?,
            disabled: imports.switch(),
            torch: torch.unwrap_or_else(|| "torch".to_owned()),
            configs,
        };
        let mut taken = file.text.to_owned();
        for (number, site) in self.sites.iter().enumerate() {
            let cache = fresh(&taken, &format!("_{stem}_tuned"));
            taken.push_str(&format!(" {cache}"));
            let mut lines = Vec::new();
            if number == 0 {
                lines = self.space.lines(&words, &self.fixed);
                lines.extend([String::new(), String::new()]);
            }
            lines.extend([
                "# The best configuration and the kernel made with it, by what it depends on."
                    .to_owned(),
                format!("{cache} = {{}}"),
            ]);
            edits = module_lines(edits, file.text, site.item.span.start, &lines);
            edits = self.tuned(site, &words, cache).add(edits)?;
        }
        Ok(imports.add(edits))
    }

    fn tuned<'s>(&'s self, site: &'s Site<'a>, words: &'s Words, cache: String) -> Tuned<'s, 'a> {
        let is_array = |param: &SmolStr| self.effects.arrays.contains(param);
        Tuned {
            site,
            kernel: self.at.kernel,
            space: &self.space,
            fixed: &self.fixed,
            words,
            cache,
            flow: self.flow(site),
            arrays: self.params.iter().map(is_array).collect(),
            in_place: self.effects.in_place(&self.params, site),
        }
    }

    /// What follows from the configuration at a launch.
    fn flow<'s>(&self, site: &'s Site<'a>) -> Flow<'s, 'a> {
        let occupancy = self.fixed.occupancy.as_ref().and_then(|h| h.number);
        let flow = match (&self.space, occupancy) {
            (Space::Listed { .. }, _) => {
                triton::chosen(self.at, site, &self.effects, &self.kind).map(|(_, flow)| flow)
            }
            (Space::Tiles { .. }, _) => {
                free(self.at, site, &self.effects, &self.kind).map(|(_, flow)| flow)
            }
            (_, Some(occupancy)) => {
                tiles::grid_by_occupancy(self.at, site, occupancy, &self.effects)
            }
            _ => None,
        };
        flow.unwrap_or_else(|| Flow::none(site))
    }
}

/// The launches to be tuned: those of the kernel's file, or of the only other file that has any.
fn sites<'a>(at: &KernelContext<'a>, fixed: &Fixed) -> Result<Vec<Site<'a>>, Refused> {
    let own = at.launches();
    let launches = match own.is_empty() {
        true => at.launches_elsewhere(),
        false => own,
    };
    let mut sites: Vec<Site<'a>> = Vec::new();
    let mut refused = None;
    for launched in launches {
        if launched.elsewhere.is_some() && is_test(&launched.file) {
            refused = Some("a test launches it with the hints of its decorator");
            continue;
        }
        if is_distributed(&launched.file) {
            return Err(DISTRIBUTED);
        }
        match Site::of(at, launched) {
            Ok(site) if site.is_backward() => {
                refused = Some("it is launched in a backward pass");
            }
            Ok(site) if sites.first().is_some_and(|s| s.elsewhere != site.elsewhere) => {
                return Err("several other files launch it");
            }
            Ok(site) => sites.push(site),
            Err(why) => refused = Some(why),
        }
    }
    if sites.is_empty() {
        return Err(refused.unwrap_or("nothing launches it"));
    }
    // What is taken off the decorator would be missing there.
    let others = refused.is_some() || at.uses.launches > sites.len();
    let has_hints = fixed.occupancy.is_some() || fixed.num_ctas.is_some();
    if others && has_hints {
        return Err(refused.unwrap_or("other files launch it with the hints of its decorator"));
    }
    Ok(sites)
}

const DISTRIBUTED: Refused =
    "it runs on several devices at once, which would have to search together";

fn is_distributed(file: &FileContext<'_>) -> bool {
    let mut imports = file.module.imports.values();
    imports.any(|p| p.starts_with("torch.distributed"))
}

/// The tiles of a Triton list.
fn listed<'a>(
    at: &KernelContext<'a>,
    sites: &[Site<'a>],
    effects: &Effects,
    fixed: &Fixed,
    kind: &Kind,
) -> Result<Space, Refused> {
    const STAY: Refused = "its tiles may not be others";
    let [site] = sites else {
        return Err("several launches would have to share the list");
    };
    let (chosen, _) = triton::chosen(at, site, effects, kind).ok_or(STAY)?;
    let list = Listed::of(at, &chosen, fixed)?;
    Ok(Space::Listed {
        tiles: chosen.tiles,
        list,
    })
}
