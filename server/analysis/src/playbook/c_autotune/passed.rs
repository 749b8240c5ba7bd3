//! What the kernel is passed: by the launch, by trials, and as the key under which a result is kept.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::effects::Copied;
use super::space::Space;
use super::write::Tuned;
use crate::model::KernelParam;
use crate::playbook::site::{Meaning, Refused, Site};
use crate::rewrite::autotune::{fresh, key_parts};

/// An argument of the launch.
pub(super) struct Argument {
    /// As the launch gets it.
    pub(super) text: String,
    /// That is something else than what is written there.
    pub(super) changed: bool,
    /// As trials get it.
    pub(super) trial: String,
}

impl Tuned<'_, '_> {
    /// What is passed, each with the statements that make it only once.
    pub(super) fn arguments(
        &self,
        made: &mut Vec<(String, String)>,
        scratches: &mut Vec<String>,
    ) -> Result<Vec<Argument>, Refused> {
        let site = self.site;
        let mut out: Vec<Argument> = Vec::new();
        let params = &self.kernel.params;
        for ((expr, param), is_array) in site.passed.iter().zip(params).zip(&self.arrays) {
            let mut text = self.text(expr)?;
            let mut changed = self.flow.mentions(expr);
            if *is_array && !is_path(expr) {
                if !site.is_written() {
                    return Err("an array is made within a tuple of arguments that has a name");
                }
                (text, changed) = (self.once(&param.name, text, made), true);
            }
            out.push(Argument {
                trial: text.clone(),
                text,
                changed,
            });
        }
        for (place, copied) in &self.in_place {
            self.scratch(*place, *copied, &mut out, scratches)?;
        }
        Ok(out)
    }

    /// The name of something that is made once, not for every trial.
    fn once(&self, wanted: &str, value: String, made: &mut Vec<(String, String)>) -> String {
        if let Some((name, _)) = made.iter().find(|(_, known)| *known == value) {
            return name.clone();
        }
        let names: Vec<&str> = made.iter().map(|(name, _)| name.as_str()).collect();
        let taken = format!("{} {}", self.site.text(), names.join(" "));
        let name = if fresh(&taken, wanted) == wanted {
            wanted.to_owned()
        } else {
            fresh(&taken, &format!("{wanted}_arg"))
        };
        made.push((name.clone(), value));
        name
    }

    /// Trials write to a buffer of their own.
    fn scratch(
        &self,
        place: usize,
        copied: Copied,
        args: &mut [Argument],
        scratches: &mut Vec<String>,
    ) -> Result<(), Refused> {
        const UNSEEN: Refused = "which array it writes over is not seen";
        if !self.site.is_written() {
            return Err(UNSEEN);
        }
        let text = args.get(place).ok_or(UNSEEN)?.text.clone();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let parts: Vec<&str> = text
            .split(|c| !is_part(c))
            .filter(|p| !p.is_empty())
            .collect();
        let stem = parts.join("_");
        let name = fresh(self.site.text(), &format!("{stem}_scratch"));
        let line = match copied {
            Copied::WithContents => format!("{name} = {text}.clone()"),
            Copied::Room => format!("{name} = {}.empty_like({text})", self.words.torch),
        };
        if !scratches.contains(&line) {
            scratches.push(line);
        }
        if let Some(arg) = args.get_mut(place) {
            arg.trial = name;
        }
        Ok(())
    }

    /// A Triton list whose tiles are searched says so: also of numbers of run time.
    fn is_key(&self, param: &str) -> bool {
        matches!(self.space, Space::Listed { list, .. } if list.is_key(param))
    }

    /// What the best configuration depends on: of the arrays what the kernel is compiled for and how
    /// much there is of it, the device, and the constants that no configuration has.
    pub(super) fn key(&self, args: &[Argument]) -> Result<Vec<String>, Refused> {
        let mut tensors: Vec<&str> = Vec::new();
        let mut flags: Vec<&str> = Vec::new();
        let params = self.kernel.params.iter().zip(&self.arrays);
        for ((expr, arg), (param, is_array)) in self.site.passed.iter().zip(args).zip(params) {
            if *is_array {
                if !is_like_another(self.site, expr) && !tensors.contains(&arg.text.as_str()) {
                    tensors.push(&arg.text);
                }
            } else if (param.constant && decides(param) || self.is_key(&param.name))
                && !self.flow.mentions(expr)
                && !is_literal(expr)
                && !flags.contains(&arg.text.as_str())
            {
                flags.push(&arg.text);
            }
        }
        let of_tensor = |flag: &&str| {
            tensors
                .iter()
                .any(|t| flag.starts_with(&format!("{t}.shape[")))
        };
        flags.retain(|flag| !of_tensor(flag));
        key_parts(&tensors, &flags).ok_or("no argument is surely an array")
    }
}

/// Whether what is best may depend on a constant: not on a number of the formula, nor on the seed of
/// a generator, which would be another one at every call.
fn decides(param: &KernelParam) -> bool {
    let is_float = (param.annotation.as_ref()).is_some_and(|a| a.to_lowercase().contains("float"));
    !is_float && !param.name.to_lowercase().contains("seed")
}

/// Something that is there already: `x`, `x.data`, `xs[0]`.
fn is_path(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) => true,
        ExprKind::Attribute { value, .. } => is_path(value),
        ExprKind::Subscript { value, index } => {
            is_path(value) && index.iter().all(|i| is_path(i) || is_literal(i))
        }
        _ => false,
    }
}

fn is_literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Str(_)
        | ExprKind::None => true,
        ExprKind::Unary { operand, .. } => is_literal(operand),
        _ => false,
    }
}

/// An output made like another argument: its shape and dtype say nothing new.
fn is_like_another(site: &Site<'_>, expr: &Expr) -> bool {
    let Some(Meaning::Value(value)) = expr.name().map(|n| site.meaning(n)) else {
        return false;
    };
    let ExprKind::Call { func, args } = &value.kind else {
        return false;
    };
    let like = |name: &SmolStr| name.ends_with("empty_like") || name.ends_with("zeros_like");
    let [only] = args.as_slice() else {
        return false;
    };
    let is_passed = only.value.name().is_some()
        && (site.passed.iter()).any(|other| other.name() == only.value.name());
    func.last_ident().is_some_and(|i| like(&i.name)) && is_passed
}
