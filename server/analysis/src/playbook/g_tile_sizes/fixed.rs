//! Launches that fix their tiles: other numbers where they are written.

use super::elements::Free;
use crate::playbook::c_autotune::choice::has_free_tiles;
use crate::playbook::c_autotune::effects::Effects;
use crate::playbook::c_autotune::space::Alike;
use crate::playbook::c_autotune::template::Kind;
use crate::playbook::c_autotune::tiles::{Dim, Givers, Tile, tiles};
use crate::playbook::c_autotune::written::Written;
use crate::playbook::site::Site;
use crate::playbook::{Actions, KernelContext, Naming};
use crate::rewrite::Edits;
use crate::rules::is_test;
use smol_str::SmolStr;

/// How few and how many elements a block of an elementwise kernel may have.
const ELEMENTS: std::ops::RangeInclusive<i64> = 128..=16384;

pub(super) fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let Ok(effects) = Effects::of(at.file, &at.device) else {
        return;
    };
    let elsewhere = at.launches_elsewhere().into_iter();
    let launches = at.launches().into_iter();
    let sites: Vec<Site<'_>> = launches
        .chain(elsewhere.filter(|launched| !is_test(&launched.file)))
        .filter_map(|launched| Site::of(at, launched).ok())
        .collect();
    let product = at.multiplies();
    let found: Vec<(&Site<'_>, Vec<Sized>)> = (sites.iter())
        .map(|site| {
            let all = match product {
                true => of_product(at, site, &effects),
                false => of_elements(at, site, &effects),
            };
            (site, all)
        })
        .filter(|(_, all)| !all.is_empty())
        .collect();
    let several = found.len() > 1;
    for (number, (site, all)) in found.iter().enumerate() {
        for sized in all {
            let label = match several {
                true => format!("{},launch={}", sized.variant, number + 1),
                false => sized.variant.clone(),
            };
            sized.push(at, site, label, product, out);
        }
    }
}

/// A launch's tiles with other sizes.
struct Sized {
    /// `tm=128,tn=64`
    variant: String,
    /// The same as it is now.
    now: String,
    /// What is written where.
    numbers: Vec<(Written, i64)>,
    premises: Vec<String>,
}

impl Sized {
    fn push(
        &self,
        at: &KernelContext<'_>,
        site: &Site<'_>,
        label: String,
        product: bool,
        out: &mut Actions<'_>,
    ) {
        let numbers = self.numbers.iter();
        let edits = numbers.fold(Edits::new(site.file.text), |edits, (written, value)| {
            edits.replace(written.span, value.to_string())
        });
        let place = site.def().map_or("", |def| def.name.name.as_str());
        let title = format!(
            "Launch `{}` with {} in `{place}` (now {})",
            at.kernel.name,
            self.variant.replace(',', ", "),
            self.now
        );
        let mut described = match site.elsewhere {
            None => out.push_in_file(label, title, edits),
            Some(file) => (out.push_in_file(label, title, at.edits())).and_elsewhere(file, edits),
        };
        described = described.in_host_code();
        if product {
            described = described.other_results();
        }
        for premise in &self.premises {
            described = described.if_only(premise.clone());
        }
    }
}

/// What the numbers rest on that are not only this launch's; nothing if somebody else reads them.
fn premises(at: &KernelContext<'_>, site: &Site<'_>, numbers: &[Written]) -> Option<Vec<String>> {
    let mut out = Vec::new();
    for written in numbers {
        if let Some(name) = &written.constant {
            let naming = Naming {
                name,
                of: site.elsewhere,
                but: &[],
            };
            match at.may_name(naming) {
                Some(true) => return None,
                Some(false) => {}
                None => out.push(format!("no other file reads `{name}`")),
            }
        }
        if written.is_default {
            out.push(
                "callers that leave the tile to the default do not count on its present value"
                    .to_owned(),
            );
        }
    }
    out.dedup();
    Some(out)
}

/// Tiles of rows, columns and the sum.
fn of_product(at: &KernelContext<'_>, site: &Site<'_>, effects: &Effects) -> Vec<Sized> {
    let kind = Kind::of(at.file, &at.device);
    if !has_free_tiles(at, effects) || kind.scaled {
        return Vec::new();
    }
    let Some((found, _)) = tiles(at, site, effects, Givers::Callers) else {
        return Vec::new();
    };
    let written: Option<Vec<Written>> = found.iter().map(|tile| tile.written(site)).collect();
    let Some(written) = written else {
        return Vec::new();
    };
    let Some(mut premises) = premises(at, site, &written) else {
        return Vec::new();
    };
    premises.push(
        "the kernel is right for tiles of this size, also where they do not divide an extent"
            .to_owned(),
    );
    let now: Vec<String> = found.iter().map(|t| t.value.to_string()).collect();
    sizes(at, &found)
        .into_iter()
        .map(|sizes| Sized {
            variant: named(found.iter().map(|t| &t.field), &sizes),
            now: now.join(", "),
            numbers: changed(&written, &found, &sizes),
            premises: premises.clone(),
        })
        .collect()
}

/// The numbers that change.
fn changed(written: &[Written], tiles: &[Tile], sizes: &[i64]) -> Vec<(Written, i64)> {
    let all = written.iter().zip(tiles).zip(sizes);
    all.filter(|((_, tile), size)| tile.value != **size)
        .map(|((written, _), size)| (written.clone(), *size))
        .collect()
}

fn named<'n>(fields: impl Iterator<Item = &'n SmolStr>, sizes: &[i64]) -> String {
    let pairs: Vec<String> = fields.zip(sizes).map(|(f, s)| format!("{f}={s}")).collect();
    pairs.join(",")
}

/// Sizes that are tried on the architectures that are judged for, without the present ones. Blocks
/// share operands only if the decorator says so.
fn sizes(at: &KernelContext<'_>, tiles: &[Tile]) -> Vec<Vec<i64>> {
    let clusters = at.hint("num_ctas").is_some_and(|n| n > 1);
    let now: Vec<i64> = tiles.iter().map(|t| t.value).collect();
    let mut kinds: Vec<Alike> = Vec::new();
    for arch in &at.file.target.archs {
        let kind = Alike::of(*arch);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let template = Kind::of(at.file, &at.device).template;
    let mut out: Vec<Vec<i64>> = Vec::new();
    for kind in kinds {
        for (m, n, k, _, num_ctas) in kind.rows(template) {
            let sizes: Vec<i64> = (tiles.iter())
                .map(|tile| match tile.dim {
                    Dim::M => *m,
                    Dim::N => *n,
                    Dim::K => *k,
                })
                .collect();
            let fits = *num_ctas == 1 || clusters;
            if fits && sizes != now && !out.contains(&sizes) {
                out.push(sizes);
            }
        }
    }
    out
}

/// Tiles of a kernel that works on each element alone.
fn of_elements(at: &KernelContext<'_>, site: &Site<'_>, effects: &Effects) -> Vec<Sized> {
    let mut found = Free::all(at, site, effects);
    // Rows and sums have other sizes that are worth a try.
    found.retain(|free| !free.reorders);
    let block: i64 = found.iter().map(|f| f.tile.value).product();
    let factors: &[(i64, i64)] = match found.len() {
        1 => &[(1, 4), (1, 2), (2, 1), (4, 1)],
        _ => &[(1, 2), (2, 1)],
    };
    let mut out = Vec::new();
    for free in &found {
        for (times, by) in factors {
            let now = free.tile.value;
            let size = now * times / by;
            if size < 16 || !ELEMENTS.contains(&(block / now * size)) {
                continue;
            }
            let (Some(mut premises), Some(count)) =
                (premises(at, site, &free.written), &free.count)
            else {
                continue;
            };
            premises.push(format!(
                "nothing depends on whether elements behind `{count}` are written"
            ));
            out.push(Sized {
                variant: format!("{}={size}", free.tile.field),
                now: now.to_string(),
                numbers: free.written.iter().map(|w| (w.clone(), size)).collect(),
                premises,
            });
        }
    }
    out
}
