//! The list of a Triton kernel as the space of its port.
//!
//! Who ports a kernel from Triton has measured which tiles are worth a try: they stand in the list of
//! its `triton.autotune`. A cuTile kernel of the file whose tiles mean the same gets them. Warps and
//! stages are the compiler's own in cuTile and are dropped; occupancy, which they decided, takes their
//! place.

mod names;
mod rows;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::space::{Alike, Fixed};
use super::tiles::{Dim, Tile};
use crate::arch::Arch;
use crate::body::argument;
use crate::eval::{Evaluator, Known, ModuleId, Scope};
use crate::playbook::KernelContext;
use crate::playbook::alone::Alone;
use crate::playbook::site::Refused;

/// Longer spaces take over a minute to search.
const MOST: usize = 30;

/// A Triton list, said of a cuTile kernel's tiles.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    /// The Triton kernel.
    pub(super) kernel: SmolStr,
    /// What it calls again for: `key=["M", "N", "K"]`.
    keys: Vec<SmolStr>,
    /// Fields that have no part in the cuTile kernel.
    dropped: Vec<SmolStr>,
    /// Tiles, occupancy and `num_ctas`, by kind of architecture.
    by_kind: Vec<(Alike, Vec<Vec<i64>>)>,
}

/// A Triton kernel with its list.
struct Ported<'a> {
    item: u32,
    body: &'a [Stmt],
    def: &'a FunctionDef,
    /// `triton.autotune(...)`
    call: &'a Expr,
}

/// A configuration: its fields with their numbers. What is no number is nothing that a tile is.
type Fields = Vec<(SmolStr, Option<i64>)>;

impl Listed {
    /// The list of the file that means these tiles.
    pub(super) fn of(
        at: &KernelContext<'_>,
        tiles: &[Tile],
        fixed: &Fixed,
    ) -> Result<Listed, Refused> {
        let all = ported(at);
        if all.is_empty() {
            return Err("the file has no Triton list");
        }
        let mut found: Vec<Listed> = Vec::new();
        let mut refused = None;
        for one in all {
            match Listed::from(at, &one, tiles, fixed) {
                Ok(listed) => found.push(listed),
                Err(why) => refused = Some(why),
            }
        }
        // Of several it is that of the kernel with the same name.
        if found.len() > 1 {
            found.retain(|l| names::stem(&l.kernel) == names::stem(&at.kernel.name));
        }
        match (found.pop(), found.is_empty()) {
            (Some(listed), true) => Ok(listed),
            (Some(_), false) => Err("several Triton lists of the file may be its own"),
            (None, _) => Err(refused.unwrap_or("several Triton lists of the file may be its own")),
        }
    }

    fn from(
        at: &KernelContext<'_>,
        ported: &Ported<'_>,
        tiles: &[Tile],
        fixed: &Fixed,
    ) -> Result<Listed, Refused> {
        let ExprKind::Call { args, .. } = &ported.call.kind else {
            return Err("the Triton list is not written out");
        };
        let configs = argument(args, Some(0), "configs").ok_or("autotune is given no list")?;
        let key = argument(args, Some(1), "key").map_or_else(Vec::new, strings);
        let mut listed = Listed {
            kernel: ported.def.name.name.clone(),
            keys: key,
            dropped: Vec::new(),
            by_kind: Vec::new(),
        };
        if argument(args, None, "prune_configs_by").is_some() {
            listed.dropped.push("prune_configs_by".into());
        }
        let given = given(at, ported, configs)?;
        let fields = || given.iter().flat_map(|(_, all)| all.iter().flatten());
        let columns = names::columns(fields().map(|(name, _)| name), tiles)?;
        for (name, _) in fields() {
            let kept = columns.contains(&Some(name)) || name == "num_ctas";
            // What a filter of the list reads it by, no field of its own.
            let is_all = name == "kwargs";
            if !kept && !is_all && !listed.dropped.contains(name) {
                listed.dropped.push(name.clone());
            }
        }
        for (kind, configs) in &given {
            let rows = rows::of(configs, &columns, tiles, fixed, *kind)?;
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

    /// Whether Triton tunes again where this is another.
    pub(super) fn is_key(&self, param: &str) -> bool {
        self.keys.iter().any(|key| key.eq_ignore_ascii_case(param))
    }
}

/// The Triton kernels of the file that have lists.
fn ported<'a>(at: &KernelContext<'a>) -> Vec<Ported<'a>> {
    let file = at.file;
    let mut out = Vec::new();
    let items = file.file.items.iter().enumerate();
    for (number, item) in items.filter(|(_, item)| !item.is_stale()) {
        defs(&item.facts.body, &mut |def| {
            let mut calls = def.decorators.iter().filter(|decorator| {
                let ExprKind::Call { func, .. } = &decorator.kind else {
                    return false;
                };
                let path = file.module.path(func);
                matches!(
                    path.as_deref(),
                    Some("triton.autotune" | "triton.runtime.autotuner.autotune")
                )
            });
            if let (Some(call), None) = (calls.next(), calls.next()) {
                out.push(Ported {
                    item: number as u32,
                    body: &item.facts.body,
                    def,
                    call,
                });
            }
        });
    }
    out
}

/// Functions of a module, also those that it defines under a condition.
fn defs<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a FunctionDef)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::FunctionDef(def) => visit(def),
            StmtKind::ClassDef(_) => {}
            _ => stmt.blocks().into_iter().for_each(|b| defs(b, visit)),
        }
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

/// What the list gives by kind of architecture, known to the last configuration.
fn given(
    at: &KernelContext<'_>,
    ported: &Ported<'_>,
    configs: &Expr,
) -> Result<Vec<(Alike, Vec<Fields>)>, Refused> {
    let env = Alone(at.file.file);
    let evaluator = Evaluator::new(&env);
    let scope = Scope::at(ModuleId(0), ported.item, ported.body, configs.span);
    let mut out: Vec<(Alike, Vec<Fields>)> = Vec::new();
    for arch in Arch::ALL {
        let space = evaluator.space(configs, &scope, arch);
        if !space.complete || !space.count.reached {
            return Err("what the Triton list gives is not known");
        }
        let all: Vec<Fields> = (space.configs.iter())
            .map(|config| {
                let fields = config.fields.iter();
                fields
                    .map(|(name, value)| (name.clone(), number(value)))
                    .collect()
            })
            .collect();
        if !space.by_arch {
            return Ok(Alike::ALL.map(|kind| (kind, all.clone())).to_vec());
        }
        let kind = Alike::of(arch);
        match out.iter().find(|(known, _)| *known == kind) {
            Some((_, known)) if *known != all => {
                return Err(
                    "the Triton list differs between architectures that want the same tiles",
                );
            }
            Some(_) => {}
            None => out.push((kind, all)),
        }
    }
    out.sort_by_key(|(kind, _)| Alike::ALL.iter().position(|k| k == kind));
    Ok(out)
}

fn number(value: &Known) -> Option<i64> {
    match value {
        Known::Int(number) => Some(*number),
        _ => None,
    }
}

/// The accumulator's tile: rows by columns.
fn elements(tiles: &[Tile], values: &[i64]) -> i64 {
    let of = |dim: Dim| {
        let all = tiles.iter().zip(values);
        all.filter(|(tile, _)| tile.dim == dim)
            .map(|(_, value)| *value)
            .product::<i64>()
    };
    of(Dim::M).saturating_mul(of(Dim::N))
}
