//! What a Triton list gives, known to the last configuration.

use smol_str::SmolStr;
use tileperf_syntax::ast::Expr;

use super::find::Ported;
use crate::arch::Arch;
use crate::eval::{Env, Evaluator, Known, ModuleId, Scope};
use crate::playbook::c_autotune::space::Alike;
use crate::playbook::site::Refused;

/// A configuration: its fields with their numbers. What is no number is nothing that a tile is.
pub(super) type Fields = Vec<(SmolStr, Option<i64>)>;

/// The configurations by kind of architecture; those of a kind that want different ones, together.
pub(super) fn given(
    (env, module): (&dyn Env, ModuleId),
    ported: &Ported<'_>,
    configs: &Expr,
) -> Result<Vec<(Alike, Vec<Fields>)>, Refused> {
    let evaluator = Evaluator::new(env);
    let scope = Scope::at(module, ported.item, ported.body, configs.span);
    let mut out: Vec<(Alike, Vec<Fields>)> = Vec::new();
    for arch in Arch::ALL {
        let space = evaluator.space(configs, &scope, arch);
        if !space.complete || !space.count.reached {
            return Err("what the Triton list gives is not known");
        }
        let all = space.configs.iter().map(|config| {
            let fields = config.fields.iter();
            fields
                .map(|(name, value)| (name.clone(), number(value)))
                .collect::<Fields>()
        });
        if !space.by_arch {
            let all: Vec<Fields> = all.collect();
            return Ok(Alike::ALL.map(|kind| (kind, all.clone())).to_vec());
        }
        let kind = Alike::of(arch);
        let place = out.iter().position(|(known, _)| *known == kind);
        let place = place.unwrap_or_else(|| {
            out.push((kind, Vec::new()));
            out.len() - 1
        });
        for fields in all {
            if !out[place].1.contains(&fields) {
                out[place].1.push(fields);
            }
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
