//! What rules about configuration spaces share: spaces searched in a file, evaluated; what their
//! fields are; which kernels multiply matrices.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::{FileContext, Links, SpaceFacts, host};
use crate::arch::Arch;
use crate::body::walk;
use crate::eval::{Known, Space};
use crate::model::{AccessKind, Candidate, Search};

/// A space that a search of the file uses, with where to say something about it.
pub(super) struct Searched<'a> {
    pub(super) search: &'a Search,
    pub(super) facts: SpaceFacts,
    /// The space's name at its definition or its list; the argument, if it is another file's.
    pub(super) span: Span,
}

impl Searched<'_> {
    /// What to call it in a message.
    pub(super) fn name(&self) -> String {
        if self.facts.name.is_empty() {
            "the space".to_owned()
        } else {
            format!("`{}`", self.facts.name)
        }
    }

    /// The architectures for which the space is known in full and not empty.
    pub(super) fn known(&self) -> impl Iterator<Item = (Arch, &Space)> {
        (self.facts.by_arch.iter())
            .filter(|(_, space)| space.count.reached && space.complete && !space.configs.is_empty())
            .map(|(arch, space)| (*arch, &**space))
    }
}

/// The spaces that a file searches, each once per search.
pub(super) fn searched<'a>(file: &FileContext<'a>, links: &dyn Links) -> Vec<Searched<'a>> {
    let mut out = Vec::new();
    for search in file.model.searches.iter().filter(|s| !s.stale) {
        for space in &search.spaces {
            let Some(mut facts) = links.space(space) else {
                continue;
            };
            if let Some(taken) = choice(file, search, &facts.name) {
                facts
                    .by_arch
                    .retain(|(arch, _)| taken(*arch) != Some(false));
            }
            let span = facts.name_here.unwrap_or(search.space_span);
            out.push(Searched {
                search,
                facts,
                span,
            });
        }
    }
    out
}

/// Of `(old_space if capability[0] < 9 else new_space)()`: whether an architecture takes the space
/// of that name.
fn choice<'a>(
    file: &FileContext<'a>,
    search: &Search,
    name: &str,
) -> Option<impl Fn(Arch) -> Option<bool> + 'a> {
    let mut at = file.expr(search.space_span)?;
    for _ in 0..4 {
        at = host::follow(file, at);
        match &at.node.kind {
            ExprKind::Call { func, args } => {
                match (func.name().map(SmolStr::as_str), args.as_slice()) {
                    (Some("list" | "tuple"), [only]) => at = at.with(&only.value),
                    _ => at = at.with(&**func),
                }
            }
            ExprKind::Conditional { test, body, orelse } => {
                let names = |branch: &Expr| {
                    let mut named = false;
                    branch.walk(&mut |e| named |= e.last_ident().is_some_and(|i| i.name == name));
                    named
                };
                let first = names(body);
                if first == names(orelse) {
                    return None;
                }
                return Some(move |arch| Some(capable(test, arch)? == first));
            }
            _ => return None,
        }
    }
    None
}

/// Whether a test of the device's capability holds: `capability[0] < 9`, `major >= 10`,
/// `capability == (9, 0)`.
fn capable(test: &Expr, arch: Arch) -> Option<bool> {
    let ExprKind::Compare { first, rest } = &test.kind else {
        return None;
    };
    let [(op, right)] = rest.as_slice() else {
        return None;
    };
    let (major, minor) = arch.capability();
    let pair = (i64::from(major), i64::from(minor));
    let ordering = match (&first.kind, &right.kind) {
        (ExprKind::Subscript { value, index }, ExprKind::Int(number)) if is_capability(value) => {
            match index.as_slice() {
                [
                    Expr {
                        kind: ExprKind::Int(0),
                        ..
                    },
                ] => pair.0.cmp(number),
                _ => return None,
            }
        }
        (ExprKind::Name(name), ExprKind::Int(number)) if name == "major" => pair.0.cmp(number),
        (_, ExprKind::Tuple(parts)) if is_capability(first) => match parts.as_slice() {
            [
                Expr {
                    kind: ExprKind::Int(a),
                    ..
                },
                Expr {
                    kind: ExprKind::Int(b),
                    ..
                },
            ] => pair.cmp(&(*a, *b)),
            _ => return None,
        },
        _ => return None,
    };
    Some(match op.as_str() {
        "<" => ordering.is_lt(),
        "<=" => ordering.is_le(),
        ">" => ordering.is_gt(),
        ">=" => ordering.is_ge(),
        "==" => ordering.is_eq(),
        "!=" => ordering.is_ne(),
        _ => return None,
    })
}

/// Whether an expression is called like the device's capability, or asks for it.
fn is_capability(expr: &Expr) -> bool {
    let expr = match &expr.kind {
        ExprKind::Call { func, .. } => func,
        _ => expr,
    };
    expr.last_ident().is_some_and(|ident| {
        let lower = ident.name.to_ascii_lowercase();
        lower.contains("cap") || lower == "cc"
    })
}

/// Whether a field of a configuration is a tile's extent.
pub(crate) fn is_tile(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let other = ["group", "use", "num", "swizzle", "order", "tma"];
    let short = matches!(lower.as_str(), "bm" | "bn" | "bk" | "tm" | "tn" | "tk");
    short
        || (lower.contains("tile") || lower.contains("block"))
            && !lower.split('_').any(|part| other.contains(&part))
}

/// Whether a field of a configuration is the occupancy hint.
pub(crate) fn is_occupancy(name: &str) -> bool {
    matches!(name.to_ascii_lowercase().as_str(), "occupancy" | "occ")
}

/// The whole numbers that a field takes; nothing if it may take others.
pub(super) fn ints(space: &Space, is_field: &dyn Fn(&str) -> bool) -> Option<Vec<i64>> {
    let field = space.fields().into_iter().find(|f| is_field(&f.name))?;
    if field.open {
        return None;
    }
    (field.values.iter())
        .map(|value| match value {
            Known::Int(value) => Some(*value),
            _ => None,
        })
        .collect()
}

/// Whether a kernel multiplies matrices: itself or in a function of the file that it calls. Of a
/// kernel of another file its name tells.
pub(crate) fn multiplies(file: &FileContext<'_>, candidates: &[Candidate]) -> bool {
    candidates.iter().any(|candidate| match candidate {
        Candidate::Local(number) => file.model.kernels.get(*number).is_some_and(|kernel| {
            kernel.accesses.iter().any(|a| a.kind == AccessKind::Mma)
                || file
                    .function(kernel.span)
                    .is_some_and(|def| reaches_mma(file, &def.node.body, &mut FxHashSet::default()))
        }),
        Candidate::Imported(path) | Candidate::Returned(path) => {
            let name = path.rsplit('.').next().unwrap_or_default();
            ["matmul", "gemm", "bmm", "attention", "fmha", "attn"]
                .iter()
                .any(|word| name.contains(word))
        }
        Candidate::Param { .. } => false,
    })
}

fn reaches_mma<'a>(
    file: &FileContext<'a>,
    body: &'a [tileperf_syntax::ast::Stmt],
    seen: &mut FxHashSet<SmolStr>,
) -> bool {
    let mut callees: Vec<SmolStr> = Vec::new();
    let mut found = false;
    walk(body, &mut |expr, _| {
        let ExprKind::Call { func, .. } = &expr.kind else {
            return;
        };
        found |= (file.module.api(func))
            .is_some_and(|name| matches!(name.as_str(), "mma" | "mma_scaled" | "matmul"));
        callees.extend(
            Expr::name(func)
                .filter(|n| seen.insert((*n).clone()))
                .cloned(),
        );
    });
    found
        || callees.iter().any(|name| {
            host::function(file, name).is_some_and(|def| reaches_mma(file, &def.node.body, seen))
        })
}

/// Architectures in words: `sm_90 and sm_100`.
pub(crate) fn listed(archs: &[Arch]) -> String {
    let names: Vec<&str> = archs.iter().map(|a| a.name()).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use tileperf_syntax::FileParser;
    use tileperf_syntax::ast::StmtKind;

    use super::{Arch, capable, is_tile, listed};

    fn on(test: &str) -> Vec<u32> {
        let file = FileParser::default().parse(&format!("{test}\n"));
        let StmtKind::Expr(test) = &file.items[0].facts.body[0].kind else {
            panic!("no expression");
        };
        let archs = Arch::EVALUATED.into_iter();
        archs
            .filter(|arch| capable(test, *arch) == Some(true))
            .map(Arch::sm)
            .collect()
    }

    #[test]
    fn tests_of_the_capability() {
        assert_eq!(on("cap[0] < 9"), [80, 86, 89]);
        assert_eq!(on("cc[0] <= 9"), [80, 86, 89, 90]);
        assert_eq!(
            on("torch.cuda.get_device_capability()[0] > 9"),
            [100, 103, 120, 121]
        );
        assert_eq!(on("capability >= (10, 3)"), [103, 120, 121]);
        assert_eq!(on("major == 10"), [100, 103]);
        assert_eq!(on("gpu_cap != (9, 0)").len(), 7);
        for other in [
            "n < 9",
            "cap[1] < 9",
            "cap < 9",
            "cap == (9, x)",
            "cap in (9, 10)",
        ] {
            assert!(on(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn names_of_tiles_and_architectures() {
        for tile in ["TILE_M", "BLOCK_SIZE_N", "tile", "bk"] {
            assert!(is_tile(tile), "{tile}");
        }
        for other in [
            "GROUP_SIZE_M",
            "num_blocks",
            "USE_TILE_TMA",
            "occupancy",
            "k",
        ] {
            assert!(!is_tile(other), "{other}");
        }
        assert_eq!(
            listed(&[Arch::Sm80, Arch::Sm90, Arch::Sm100]),
            "sm_80, sm_90 and sm_100"
        );
        assert_eq!(listed(&[Arch::Sm90]), "sm_90");
        assert_eq!(listed(&[]), "");
    }
}
