//! The list of a Triton kernel as the space of its port.
//!
//! Who ports a kernel from Triton has measured which tiles are worth a try: they stand in the list of
//! its `triton.autotune`. A cuTile kernel whose tiles mean the same gets them: one of the same file, or
//! of the file beside the original. Warps and stages are the compiler's own in cuTile and are dropped;
//! occupancy, which they decided, takes their place.

mod chosen;
mod find;
mod given;
mod names;
mod rows;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind};

use self::find::{Ported, ported};
use super::space::{Alike, Fixed};
use super::tiles::{Dim, Tile};
use crate::body::{ModuleEnv, argument};
use crate::eval::{Env, ModuleId};
use crate::playbook::KernelContext;
use crate::playbook::alone::Alone;
use crate::playbook::originals::{Original, Originals, kinship};
use crate::playbook::site::Refused;

pub(super) use chosen::{Chosen, RIGHT, chosen};

/// Longer spaces take over a minute to search.
const MOST: usize = 30;

/// A Triton list, said of a cuTile kernel's tiles.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    /// The Triton kernel.
    kernel: SmolStr,
    /// The file that it is in, if it is another.
    file: Option<String>,
    /// What it calls again for: `key=["M", "N", "K"]`.
    keys: Vec<SmolStr>,
    /// Fields that have no part in the cuTile kernel.
    dropped: Vec<SmolStr>,
    /// Tiles, occupancy and, of products, `num_ctas`, by kind of architecture.
    by_kind: Vec<(Alike, Vec<Vec<i64>>)>,
    /// The tiles are those of a product: `num_ctas` is chosen too.
    pub(super) is_product: bool,
    /// Not all configurations give the same results, bit for bit.
    pub(super) reorders: bool,
    /// What it rests on that they are right.
    pub(super) premises: Vec<String>,
}

const NONE: Refused = "no Triton list is found";
const SEVERAL: Refused = "several Triton lists may be its own";

impl Listed {
    /// The list that means these tiles: of the kernel's file, else of the nearest that has one.
    pub(super) fn of(
        at: &KernelContext<'_>,
        chosen: &Chosen,
        fixed: &Fixed,
    ) -> Result<Listed, Refused> {
        let mut imports = at.file.module.imports.values();
        let has_own = imports.any(|path| path.split('.').next() == Some("triton"));
        let own = |env: &dyn Env, module| {
            let all = ported(at.file.file, at.file.module);
            let cast = |one: &Ported<'_>| Listed::from((env, module), one, chosen, fixed);
            let any = is_plain(at, chosen, all.len());
            (!all.is_empty()).then(|| only(all.iter().map(cast), &at.kernel.name, any))
        };
        let Some(look) = at.around.and_then(|around| around.originals) else {
            let alone = Alone(at.file.file);
            let found = has_own.then(|| own(&alone, ModuleId(0))).flatten();
            return found.unwrap_or(Err(NONE));
        };
        let mut out = Err(NONE);
        look(&mut |originals| {
            let found = has_own.then(|| own(originals.env, originals.own)).flatten();
            out = found.unwrap_or_else(|| Listed::elsewhere(originals, at, chosen, fixed));
        });
        out
    }

    /// The list of another file: of the one beside the kernel's if there is one, else of any that has a
    /// kernel of its name.
    fn elsewhere(
        originals: &Originals<'_>,
        at: &KernelContext<'_>,
        chosen: &Chosen,
        fixed: &Fixed,
    ) -> Result<Listed, Refused> {
        for beside in [true, false] {
            let files = originals.files.iter().filter(|o| o.beside == beside);
            let mut all = Vec::new();
            for file in files {
                all.extend(of_file(originals.env, file, chosen, fixed));
            }
            if !all.is_empty() {
                let any = beside && is_plain(at, chosen, all.len());
                return only(all.into_iter(), &at.kernel.name, any);
            }
        }
        Err(NONE)
    }

    fn from(
        (env, module): (&dyn Env, ModuleId),
        ported: &Ported<'_>,
        chosen: &Chosen,
        fixed: &Fixed,
    ) -> Result<Listed, Refused> {
        let ExprKind::Call { args, .. } = &ported.call.kind else {
            return Err("the Triton list is not written out");
        };
        let tiles = chosen.tiles.as_slice();
        let configs = argument(args, Some(0), "configs").ok_or("autotune is given no list")?;
        let key = argument(args, Some(1), "key").map_or_else(Vec::new, strings);
        let mut listed = Listed {
            kernel: ported.def.name.name.clone(),
            file: None,
            keys: key,
            dropped: Vec::new(),
            by_kind: Vec::new(),
            is_product: chosen.is_product,
            reorders: chosen.reorders,
            premises: chosen.premises.clone(),
        };
        if argument(args, None, "prune_configs_by").is_some() {
            listed.dropped.push("prune_configs_by".into());
        }
        let given = given::given((env, module), ported, configs)?;
        let fields = || given.iter().flat_map(|(_, all)| all.iter().flatten());
        let is_only = !chosen.is_product;
        let columns = names::columns(fields().map(|(name, _)| name), tiles, is_only)?;
        for (name, _) in fields() {
            let is_hint = name == "occupancy" || name == "num_ctas" && chosen.is_product;
            let is_kept = columns.contains(&Some(name)) || is_hint;
            if !is_kept && !listed.dropped.contains(name) {
                listed.dropped.push(name.clone());
            }
        }
        for (kind, configs) in &given {
            let rows = rows::of(configs, &columns, chosen, fixed, *kind)?;
            listed.by_kind.push((*kind, rows));
        }
        let now = || tiles.iter().map(|t| t.value);
        let mut rows = listed.by_kind.iter().flat_map(|(_, rows)| rows);
        if rows.all(|row| row.iter().copied().take(tiles.len()).eq(now())) {
            return Err("the Triton list has no other tiles than the launch");
        }
        match listed.most() {
            n if n >= MOST => Err("the Triton list has more than 30 configurations"),
            _ => Ok(listed),
        }
    }

    /// How many configurations there are at most on one architecture, without the one that was fixed.
    pub(super) fn most(&self) -> usize {
        let lengths = self.by_kind.iter().map(|(_, rows)| rows.len());
        lengths.max().unwrap_or_default()
    }

    /// Whether architectures get different configurations.
    pub(super) fn differs(&self) -> bool {
        let mut all = self.by_kind.iter().map(|(_, rows)| rows);
        let first = all.next();
        all.any(|rows| Some(rows) != first)
    }

    /// Whose list it is: `softmax_kernel` in ops/triton/softmax.py.
    pub(super) fn origin(&self) -> String {
        match &self.file {
            Some(file) => format!("`{}` in {file}", self.kernel),
            None => format!("`{}`", self.kernel),
        }
    }

    /// Whether Triton tunes again where this is another.
    pub(super) fn is_key(&self, param: &str) -> bool {
        self.keys.iter().any(|key| key.eq_ignore_ascii_case(param))
    }
}

/// The lists of another file, said of a kernel's tiles.
fn of_file(
    env: &dyn Env,
    file: &Original,
    chosen: &Chosen,
    fixed: &Fixed,
) -> Vec<Result<Listed, Refused>> {
    let names = ModuleEnv::of_file(&file.parsed, &file.model, &|_| false);
    let all = ported(&file.parsed, &names);
    let cast = |one: &Ported<'_>| {
        let listed = Listed::from((env, file.module), one, chosen, fixed)?;
        Ok(Listed {
            file: Some(file.name.clone()),
            ..listed
        })
    };
    all.iter().map(cast).collect()
}

/// Whether a list may be a kernel's own whatever the names: its tiles have the names of a product's, or
/// there is one list and one kernel.
fn is_plain(at: &KernelContext<'_>, chosen: &Chosen, lists: usize) -> bool {
    chosen.is_product || lists == 1 && at.file.model.kernels.len() == 1
}

/// The only one that can be a kernel's. Of several it is that of the kernel with the same name, else of
/// one whose name says it; without `any` its name must say it in any case.
fn only(
    all: impl Iterator<Item = Result<Listed, Refused>>,
    kernel: &str,
    any: bool,
) -> Result<Listed, Refused> {
    let mut refused = NONE;
    let mut found: Vec<(u8, Listed)> = Vec::new();
    for one in all {
        match one {
            Ok(listed) => found.push((kinship(&listed.kernel, kernel), listed)),
            Err(why) => refused = why,
        }
    }
    let nearest = found.iter().map(|(kin, _)| *kin).max();
    let nearest = nearest.ok_or(refused)?;
    if nearest == 0 && !any {
        return Err("no Triton list is of a kernel with its name");
    }
    found.retain(|(kin, _)| *kin == nearest);
    match (found.pop(), found.is_empty()) {
        (Some((_, listed)), true) => Ok(listed),
        _ => Err(SEVERAL),
    }
}

fn strings(list: &Expr) -> Vec<SmolStr> {
    let mut out = Vec::new();
    list.walk(&mut |e| {
        if let ExprKind::Str(text) = &e.kind {
            out.push(SmolStr::new(text.as_str()));
        }
    });
    out
}

/// Elements of a block: of a product's accumulator, rows by columns.
fn elements(tiles: &[Tile], values: &[i64]) -> i64 {
    let of = |dim: Dim| {
        let all = tiles.iter().zip(values);
        all.filter(|(tile, _)| tile.dim == dim)
            .map(|(_, value)| *value)
            .fold(1, i64::saturating_mul)
    };
    of(Dim::M).saturating_mul(of(Dim::N))
}
