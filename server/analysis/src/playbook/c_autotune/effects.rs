//! What a kernel does to the arrays that it gets, and so what trials may run on.
//!
//! A search launches the kernel dozens of times. An array that it reads and writes, or adds to, would
//! be something else after every trial: trials get a copy of it.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind};

use crate::body::{Device, Ty};
use crate::model::KernelParam;
use crate::playbook::site::{Refused, Site};
use crate::rules::FileContext;

/// Parameters of a function of device code by what is done to them, functions that it calls included.
#[derive(Debug, Default)]
pub(in crate::playbook) struct Effects {
    pub(in crate::playbook) arrays: FxHashSet<SmolStr>,
    loaded: FxHashSet<SmolStr>,
    stored: FxHashSet<SmolStr>,
    /// What they hold matters: read before written, or added to.
    kept: FxHashSet<SmolStr>,
}

/// How many functions deep calls are followed.
const DEPTH: u32 = 4;

impl Effects {
    pub(in crate::playbook) fn of(
        file: &FileContext<'_>,
        device: &Device<'_>,
    ) -> Result<Effects, Refused> {
        Effects::within(file, device, DEPTH)
    }

    fn within(file: &FileContext<'_>, device: &Device<'_>, depth: u32) -> Result<Effects, Refused> {
        let mut effects = Effects {
            arrays: device.body.arrays.clone(),
            loaded: device.body.loaded.clone(),
            stored: device.body.stored.clone(),
            kept: device.body.read_first.clone(),
        };
        let mut result = Ok(());
        device.walk(&mut |expr, _| {
            if result.is_ok() {
                result = effects.call(file, device, expr, depth);
            }
        });
        result.map(|()| effects)
    }

    fn call(
        &mut self,
        file: &FileContext<'_>,
        device: &Device<'_>,
        expr: &Expr,
        depth: u32,
    ) -> Result<(), Refused> {
        let ExprKind::Call { func, args } = &expr.kind else {
            return Ok(());
        };
        if let Some(name) = file.module.api(func) {
            if name.starts_with("atomic_") {
                let array = args.first().and_then(|a| array_of(device, &a.value));
                self.kept.extend(array);
            }
            return Ok(());
        }
        // Methods of arrays and tiles are known to the types.
        if matches!(&func.kind, ExprKind::Attribute { value, .. } if !matches!(device.ty(value), Ty::Unknown))
        {
            return Ok(());
        }
        let given: Vec<(usize, Option<&SmolStr>, SmolStr)> = (args.iter().enumerate())
            .filter_map(|(i, a)| {
                let array = array_of(device, &a.value)?;
                Some((i, a.name.as_ref().map(|n| &n.name), array))
            })
            .collect();
        if given.is_empty() {
            return Ok(());
        }
        const UNKNOWN: Refused = "what a function that it calls does to its arrays is not seen";
        let depth = depth.checked_sub(1).ok_or(UNKNOWN)?;
        let Some(name) = func.name() else {
            return Err(UNKNOWN);
        };
        let Some(helper) = file.device_named(name) else {
            // Python's own functions change nothing.
            let is_builtin = !file.module.imports.contains_key(name)
                && !file.module.functions.contains_key(name)
                && matches!(
                    name.as_str(),
                    "len" | "range" | "min" | "max" | "isinstance" | "int" | "float"
                );
            return if is_builtin { Ok(()) } else { Err(UNKNOWN) };
        };
        let inner = Effects::within(file, &helper, depth)?;
        for (place, keyword, array) in given {
            let params = &helper.def.params;
            let param = match keyword {
                Some(name) => params.iter().find(|p| p.name.name == *name),
                None => params.get(place),
            };
            let param = &param.ok_or(UNKNOWN)?.name.name;
            let pairs = [
                (&inner.arrays, &mut self.arrays),
                (&inner.loaded, &mut self.loaded),
                (&inner.stored, &mut self.stored),
                (&inner.kept, &mut self.kept),
            ];
            for (of_helper, own) in pairs {
                if of_helper.contains(param) {
                    own.insert(array.clone());
                }
            }
        }
        Ok(())
    }

    /// What of the arguments trials must not write to, by place.
    pub(super) fn in_place(&self, params: &[SmolStr], site: &Site<'_>) -> Vec<(usize, Copied)> {
        let pairs = || params.iter().zip(site.passed);
        let drifts = params.iter().any(|p| self.changes(p));
        let mut out = Vec::new();
        for (place, (param, arg)) in pairs().enumerate() {
            if !self.stored.contains(param) {
                continue;
            }
            let own = memory(site, arg);
            let read_as_other = pairs().any(|(other, arg)| {
                other != param
                    && self.loaded.contains(other)
                    && !own.is_disjoint(&memory(site, arg))
            });
            if self.changes(param) {
                out.push((place, Copied::WithContents));
            } else if read_as_other || drifts {
                // Where trials write may follow from what they have changed.
                out.push((place, Copied::Room));
            }
        }
        out
    }

    /// Which parameters are arrays.
    pub(in crate::playbook) fn are_arrays(&self, params: &[KernelParam]) -> Vec<bool> {
        let names = params.iter().map(|param| &param.name);
        names.map(|name| self.arrays.contains(name)).collect()
    }

    /// Whether a trial changes what the next one reads there.
    pub(super) fn changes(&self, param: &SmolStr) -> bool {
        self.stored.contains(param) && self.kept.contains(param)
    }

    /// Whether a caller could pass one array for two parameters, one of which is written.
    pub(super) fn may_be_one(&self, params: &[SmolStr], site: &Site<'_>) -> bool {
        let given = |wanted: &FxHashSet<SmolStr>| -> FxHashSet<String> {
            let pairs = params.iter().zip(site.passed);
            let wanted = pairs.filter(|(p, _)| wanted.contains(*p) && !self.changes(p));
            let all = wanted.flat_map(|(_, arg)| memory(site, arg));
            all.filter(|name| site.is_parameter(name)).collect()
        };
        let (read, written) = (given(&self.loaded), given(&self.stored));
        written.iter().any(|w| read.iter().any(|r| r != w))
    }
}

/// What stands in for an array in trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copied {
    /// A copy of it.
    WithContents,
    /// As much memory.
    Room,
}

/// The array that an expression of device code is: a parameter.
fn array_of(device: &Device<'_>, expr: &Expr) -> Option<SmolStr> {
    if let Ty::Array(array) = device.ty(expr) {
        return Some(array.clone());
    }
    let name = expr.name()?;
    let is_constant = device.constants.contains(name);
    (device.param(name).is_some() && !is_constant).then(|| name.clone())
}

/// What memory an argument may be: the expressions that its views are made from, as written.
fn memory(site: &Site<'_>, arg: &Expr) -> FxHashSet<String> {
    let mut out = FxHashSet::default();
    let mut seen: FxHashSet<SmolStr> = FxHashSet::default();
    let mut open = vec![arg];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Name(name) => {
                if !seen.insert(name.clone()) {
                    continue;
                }
                for value in site.values(name) {
                    match value {
                        Some(value) => open.push(value),
                        None => _ = out.insert(name.to_string()),
                    }
                }
            }
            ExprKind::Conditional { body, orelse, .. } => open.extend([&**body, &**orelse]),
            _ => match base(expr) {
                Some(base) => open.push(base),
                None => _ = out.insert(site.source(expr.span).to_owned()),
            },
        }
    }
    out
}

/// What a view is one of.
fn base(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Attribute { value, attr } if attr.name == "data" => Some(value),
        ExprKind::Call { func, .. } => match &func.kind {
            ExprKind::Attribute { value, attr } if VIEWS.contains(&attr.name.as_str()) => {
                Some(value)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Methods that give the same memory, or may.
const VIEWS: [&str; 13] = [
    "view",
    "reshape",
    "flatten",
    "squeeze",
    "unsqueeze",
    "contiguous",
    "detach",
    "view_as",
    "transpose",
    "permute",
    "expand",
    "t",
    "narrow",
];
