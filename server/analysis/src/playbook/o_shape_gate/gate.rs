//! What tells configurations apart that became faster from those that became slower.

use std::fmt;

use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use crate::playbook::site::{Meaning, Site};
use crate::playbook::{KernelContext, Mixed};

/// A test of an extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gate {
    /// As the launching function writes it.
    pub(super) extent: String,
    /// `>=` or `<=`.
    op: &'static str,
    /// The last number on the faster side.
    limit: i64,
    /// Which number of the configurations' names it is.
    pub(super) place: usize,
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.extent, self.op, self.limit)
    }
}

impl Gate {
    /// Without blanks, for the name of an action.
    pub(super) fn short(&self) -> String {
        format!("{}{}{}", self.extent, self.op, self.limit)
    }
}

/// Every test that is true of what became faster and false of what became slower, by an extent that the
/// launching function knows.
pub(super) fn gates(at: &KernelContext<'_>, site: &Site<'_>, mixed: &Mixed) -> Vec<Gate> {
    let extents = extents(at, site);
    let mut out = Vec::new();
    for (place, op, limit) in limits(&mixed.faster, &mixed.slower) {
        // The last extent of an array is what most changes depend on.
        for extent in extents.iter().rev() {
            out.push(Gate {
                extent: extent.clone(),
                op,
                limit,
                place,
            });
        }
    }
    out
}

/// Numbers that separate the two sorts: which of a name's numbers, and on which side of what.
fn limits(faster: &[String], slower: &[String]) -> Vec<(usize, &'static str, i64)> {
    let faster: Vec<Vec<i64>> = faster.iter().map(|name| numbers(name)).collect();
    let slower: Vec<Vec<i64>> = slower.iter().map(|name| numbers(name)).collect();
    let Some(count) = faster.first().map(Vec::len) else {
        return Vec::new();
    };
    let is_alike = |all: &[Vec<i64>]| all.iter().all(|numbers| numbers.len() == count);
    if slower.is_empty() || !is_alike(&faster) || !is_alike(&slower) {
        return Vec::new();
    }
    let at = |all: &[Vec<i64>], place: usize| -> Option<(i64, i64)> {
        let column = || all.iter().filter_map(|numbers| numbers.get(place).copied());
        Some((column().min()?, column().max()?))
    };
    let mut out = Vec::new();
    for place in 0..count {
        let (Some(fast), Some(slow)) = (at(&faster, place), at(&slower, place)) else {
            continue;
        };
        if fast.0 > slow.1 {
            out.push((place, ">=", fast.0));
        } else if fast.1 < slow.0 {
            out.push((place, "<=", fast.1));
        }
    }
    out
}

/// The numbers in the brackets of a configuration's name: of `test[64-float16-8192]` 64 and 8192, of
/// `softmax-GBps[M=64,N=8192]` the same.
fn numbers(name: &str) -> Vec<i64> {
    let inside = name.split_once('[').map_or("", |(_, rest)| rest);
    let inside = inside.rsplit_once(']').map_or(inside, |(inside, _)| inside);
    let parts: Vec<&str> = match inside.contains('=') {
        true => inside.split(',').collect(),
        false => inside.split('-').collect(),
    };
    let value = |part: &&str| {
        let value = part
            .split_once('=')
            .map_or(*part, |(_, value)| value)
            .trim();
        value.strip_suffix(".0").unwrap_or(value).parse().ok()
    };
    parts.iter().filter_map(value).collect()
}

/// Extents of arrays that the function knows before it launches, as it writes them.
fn extents(at: &KernelContext<'_>, site: &Site<'_>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let arrays: Vec<&str> = (at.kernel.params.iter().zip(site.passed))
        .filter(|(param, _)| at.device.body.arrays.contains(&param.name))
        .filter_map(|(_, arg)| arg.name().map(|name| name.as_str()))
        .collect();
    let is_steady = |name: &str| !matches!(site.meaning(name), Meaning::Changing);
    let mut add = |text: String| {
        if !out.contains(&text) {
            out.push(text);
        }
    };
    if let Some(def) = site.def() {
        unpacked(&def.body, site.stmt.span.start, &mut |name, array| {
            if is_steady(name) && is_steady(array) {
                add(name.to_owned());
            }
        });
    }
    for array in &arrays {
        for axis in 0..rank(at, site, array) {
            // Known by a name already.
            let named = site.def().is_some_and(|def| {
                let mut found = false;
                unpacked(&def.body, site.stmt.span.start, &mut |_, of| {
                    found |= of == *array
                });
                found
            });
            if is_steady(array) && !named && !is_like_another(site, array, &arrays) {
                add(format!("{array}.shape[{axis}]"));
            }
        }
    }
    out
}

/// Calls `visit` with each name of `m, n = x.shape` before a place, and the array.
fn unpacked<'a>(body: &'a [Stmt], before: u32, visit: &mut dyn FnMut(&'a str, &'a str)) {
    for stmt in body.iter().filter(|stmt| stmt.span.start < before) {
        if let StmtKind::Assign { targets, value } = &stmt.kind
            && let [
                Expr {
                    kind: ExprKind::Tuple(targets),
                    ..
                },
            ] = targets.as_slice()
            && let ExprKind::Attribute { value, attr } = &value.kind
            && attr.name == "shape"
            && let Some(array) = value.name()
        {
            for name in targets.iter().filter_map(|target| target.name()) {
                visit(name, array);
            }
        }
    }
}

/// Made like another array that is passed too: its extents say nothing new.
fn is_like_another(site: &Site<'_>, array: &str, arrays: &[&str]) -> bool {
    let Meaning::Value(value) = site.meaning(array) else {
        return false;
    };
    let ExprKind::Call { func, args } = &value.kind else {
        return false;
    };
    let like = func.last_ident().is_some_and(|i| i.name.ends_with("_like"));
    let of = args.first().and_then(|arg| arg.value.name());
    like && of.is_some_and(|of| arrays.contains(&of.as_str()))
}

/// How many axes an array has, by the index of an access.
fn rank(at: &KernelContext<'_>, site: &Site<'_>, array: &str) -> usize {
    let passed = (at.kernel.params.iter().zip(site.passed))
        .find(|(_, arg)| arg.name().is_some_and(|name| name == array));
    let Some((param, _)) = passed else { return 0 };
    let calls = at.calls(&["load", "store", "gather", "scatter"]);
    let of_array = calls.iter().filter(|called| {
        let first = called.call.arg(0, "array").and_then(|e| e.name());
        first.is_some_and(|name| *name == param.name)
    });
    let ranks = of_array.filter_map(|called| {
        let index = called
            .call
            .arg(1, "index")
            .or_else(|| called.call.arg(1, "indices"))?;
        Some(match &at.device.follow(index).kind {
            ExprKind::Tuple(parts) => parts.len(),
            _ => 1,
        })
    });
    ranks.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{limits, numbers};

    #[test]
    fn numbers_that_separate() {
        let names = |all: &[&str]| -> Vec<String> { all.iter().map(|n| (*n).to_owned()).collect() };
        for (faster, slower, wanted) in [
            (
                &["t[64-8192]"][..],
                &["t[64-256]"][..],
                &[(1, ">=", 8192)][..],
            ),
            (
                &["t[64-256]", "t[64-512]"],
                &["t[64-8192]"],
                &[(1, "<=", 512)],
            ),
            (
                &["t[8-8192]"],
                &["t[64-256]"],
                &[(0, "<=", 8), (1, ">=", 8192)],
            ),
            (
                &["t[float16-8192-True]"],
                &["t[float16-1-True]"],
                &[(0, ">=", 8192)],
            ),
            // Both sorts at one number, none, or another form.
            (&["t[64]"], &["t[64]"], &[]),
            (&["t[64]", "t[1]"], &["t[8]"], &[]),
            (&["t[float16]"], &["t[float32]"], &[]),
            (&["t[64-8]"], &["t[64]"], &[]),
            (&["t"], &["u"], &[]),
            (&[], &["t[1]"], &[]),
            (&["t[1]"], &[], &[]),
        ] {
            assert_eq!(
                limits(&names(faster), &names(slower)),
                wanted,
                "{faster:?} {slower:?}"
            );
        }
        assert_eq!(numbers("tests/a.py::test[x[1]-64-1e3--2]"), [64, 2]);
        assert_eq!(numbers("test[4096-torch.float16-bf16-12]"), [4096, 12]);
        assert_eq!(numbers("softmax-GBps[M=64,N=8192.0,dtype=a-1]"), [64, 8192]);
        assert_eq!(numbers("softmax-GBps"), [] as [i64; 0]);
    }
}
