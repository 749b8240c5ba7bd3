//! Whether a piece of code runs on every call or only when a cache misses.
//!
//! Remaking a kernel or searching a space costs milliseconds to minutes; behind a cache miss that is
//! paid once, on the hot path at every launch. The usual guards are syntactic: `if key not in cache`,
//! `if cache.get(key) is None`, an early return on a hit, `except KeyError`.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::value::Value;

/// Follows the scan through a function's branches.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    /// How many of the branches entered are cache misses.
    misses: usize,
    /// Names bound to what a cache gave, or to `None` before the cache is asked.
    looked_up: Vec<SmolStr>,
}

impl Tracker {
    /// The state to return to with [`Tracker::release`].
    pub(super) fn mark(&self) -> usize {
        self.misses
    }

    pub(super) fn release(&mut self, mark: usize) {
        self.misses = mark;
    }

    /// Sets the state of the enclosing function aside for a nested one.
    pub(super) fn suspend(&mut self) -> Tracker {
        std::mem::take(self)
    }

    pub(super) fn resume(&mut self, outer: Tracker) {
        *self = outer;
    }

    pub(super) fn is_guarded(&self) -> bool {
        self.misses > 0
    }

    /// Notes that `name` now holds `value`.
    pub(super) fn bound(&mut self, name: &SmolStr, value: &Value) {
        if is_lookup(value) {
            self.looked_up.push(name.clone());
        }
    }

    /// Enters a branch that runs when `test` is `truth`.
    pub(super) fn enter_if(&mut self, test: &Expr, truth: bool) {
        if self.means_miss(test, truth) {
            self.misses += 1;
        }
    }

    /// Enters an `except` branch: a miss if the `try` body looked something up by key.
    pub(super) fn enter_handler(&mut self, types: Option<&Expr>, body: &[Stmt]) {
        let catches_key = types.is_none_or(|t| {
            let mut found = false;
            t.walk(&mut |e| {
                found |= e.last_ident().is_some_and(|i| {
                    matches!(
                        i.name.as_str(),
                        "KeyError" | "LookupError" | "AttributeError"
                    )
                });
            });
            found
        });
        let looks_up = body.iter().any(|s| {
            let mut found = false;
            s.own_exprs(&mut |e| {
                e.walk(&mut |e| {
                    found |= matches!(
                        e.kind,
                        ExprKind::Subscript { .. } | ExprKind::Attribute { .. }
                    )
                })
            });
            found
        });
        if catches_key && looks_up && types.is_some() {
            self.misses += 1;
        }
    }

    /// After a statement of a block: `if hit: return ...` makes the rest of the block a miss.
    pub(super) fn after(&mut self, stmt: &Stmt) {
        if let StmtKind::If { branches, .. } = &stmt.kind {
            for (test, body) in branches {
                let leaves = body.last().is_some_and(|s| {
                    matches!(
                        s.kind,
                        StmtKind::Return(_) | StmtKind::Continue | StmtKind::Raise(_)
                    )
                });
                if leaves && self.means_miss(test, false) {
                    self.misses += 1;
                }
            }
        }
    }

    /// Whether `test` being `truth` says that a cache has no entry.
    fn means_miss(&self, test: &Expr, truth: bool) -> bool {
        match &test.kind {
            ExprKind::Compare { first, rest } => {
                let [(op, right)] = rest.as_slice() else {
                    return false;
                };
                let against_none = matches!(right.kind, ExprKind::None);
                match op.as_str() {
                    "not in" => truth && is_container(right),
                    "in" => !truth && is_container(right),
                    "is" | "==" if against_none => truth && self.is_cached(first),
                    "is not" | "!=" if against_none => !truth && self.is_cached(first),
                    _ => false,
                }
            }
            ExprKind::Unary { op, operand } if op == "not" => self.means_miss(operand, !truth),
            // A miss in one part of `and` holds in the branch; of `or`, in the other one.
            ExprKind::Logical { and, left, right } if *and == truth => {
                self.means_miss(left, truth) || self.means_miss(right, truth)
            }
            // `force or key not in cache`: a flag that asks for it is not the hot path.
            ExprKind::Logical { left, right, .. } => {
                let (left_misses, right_misses) =
                    (self.means_miss(left, truth), self.means_miss(right, truth));
                (left_misses || is_flag(left))
                    && (right_misses || is_flag(right))
                    && (left_misses || right_misses)
            }
            ExprKind::Named { value, .. } => !truth && is_lookup(&Value::of(value)),
            ExprKind::Name(_) => !truth && self.is_cached(test),
            ExprKind::Call { func, .. } => {
                // `if hasattr(self, "_kernel")`
                func.name().is_some_and(|n| n == "hasattr") && !truth
            }
            _ => false,
        }
    }

    /// Whether an expression is what a cache gave: a name bound to a look-up, an attribute or
    /// global that is filled lazily, or the look-up itself.
    fn is_cached(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => self.looked_up.contains(name) || sounds_cached(name),
            ExprKind::Attribute { .. } => true,
            ExprKind::Named { value, .. } => is_lookup(&Value::of(value)),
            _ => is_lookup(&Value::of(expr)),
        }
    }
}

/// `cache.get(key)`, `getattr(f, "_tuned", None)`, `cache[key]`.
fn is_lookup(value: &Value) -> bool {
    match value {
        Value::Call(callee, _) => callee.last().is_some_and(|n| {
            matches!(n.as_str(), "get" | "getattr" | "lookup")
                || n.starts_with("get_cached")
                || n.starts_with("_get_cached")
        }),
        Value::Item(base, None) => base.last().is_some_and(|n| sounds_cached(n)),
        Value::Item(base, Some(_)) => is_lookup(base),
        _ => false,
    }
}

fn sounds_cached(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.contains("cache")
        || lower.starts_with('_') && (lower.contains("tuned") || lower.contains("kernel"))
}

/// `force_retune`, `not self.frozen`.
fn is_flag(test: &Expr) -> bool {
    match &test.kind {
        ExprKind::Name(_) | ExprKind::Attribute { .. } => true,
        ExprKind::Unary { op, operand } => op == "not" && is_flag(operand),
        _ => false,
    }
}

/// A membership test says something about a cache only if its right side is a named container, not
/// a literal list of choices.
fn is_container(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Name(_)
            | ExprKind::Attribute { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::Call { .. }
    )
}
