//! What the host has made sure of when it launches: which number divides which.

use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::{Host, Term, shape_of};

/// What is known of numbers.
#[derive(Default)]
pub(super) struct Facts {
    /// The first is a multiple of the second.
    multiples: Vec<(Term, Term)>,
    /// They are the same.
    pub(super) equal: Vec<(Term, Term)>,
}

impl<'a> Host<'_, 'a> {
    /// Whether the launch runs only if a number is a multiple of another.
    pub(in crate::playbook) fn divides(&self, number: &Term, by: &Term) -> bool {
        match (number, by) {
            (Term::Int(number), Term::Int(by)) => *by > 0 && number % by == 0,
            (Term::Op("*", a, b), _) if self.divides(a, by) || self.divides(b, by) => true,
            _ if number == by => true,
            _ => {
                let mut multiples = self.ensured().multiples.into_iter();
                multiples.any(|(n, b)| n == *number && b == *by)
            }
        }
    }

    /// The largest power of two, up to this one, of which a number is known to be a multiple.
    pub(in crate::playbook) fn power_of_two(&self, number: &Term, most: i64) -> i64 {
        let power = |n: i64| match n {
            0 => most,
            n => most.min(1 << n.trailing_zeros().min(62)),
        };
        match number {
            Term::Int(n) => power(*n),
            Term::Op("*", a, b) => {
                let (a, b) = (self.power_of_two(a, most), self.power_of_two(b, most));
                most.min(a.saturating_mul(b))
            }
            _ => {
                let ensured = self.ensured();
                let known = ensured.multiples.iter().filter(|(n, _)| n == number);
                let powers = known.map(|(_, by)| match by {
                    Term::Int(by) => power(*by),
                    _ => 1,
                });
                powers.max().unwrap_or(1)
            }
        }
    }

    /// What holds whenever the launch is reached.
    pub(super) fn ensured(&self) -> Facts {
        let mut out = Facts::default();
        if let Some(def) = self.site.def() {
            self.before(&def.body, &mut out);
        }
        out
    }

    /// Adds what statements make sure of that are run before the launch, or hold around it.
    fn before(&self, body: &'a [Stmt], out: &mut Facts) {
        let launch = self.site.stmt.span;
        let holds = |body: &[Stmt]| body.iter().any(|s| s.span.contains(launch));
        for stmt in body.iter().filter(|s| s.span.start <= launch.start) {
            match &stmt.kind {
                StmtKind::Assert { test, .. } => self.says(test, true, out),
                StmtKind::If { branches, orelse } => {
                    if let [(test, then)] = branches.as_slice()
                        && (holds(orelse) || orelse.is_empty() && leaves(then) && !holds(then))
                    {
                        self.says(test, false, out);
                    }
                    for (test, then) in branches.iter().filter(|(_, then)| holds(then)) {
                        self.says(test, true, out);
                        self.before(then, out);
                    }
                    if holds(orelse) {
                        self.before(orelse, out);
                    }
                }
                StmtKind::With { body, .. } if holds(body) => self.before(body, out),
                _ => {}
            }
        }
    }

    /// Adds what a test says, if it holds or if it does not.
    fn says(&self, test: &'a Expr, holds: bool, out: &mut Facts) {
        match &test.kind {
            ExprKind::Logical { and, left, right } if *and == holds => {
                self.says(left, holds, out);
                self.says(right, holds, out);
            }
            ExprKind::Unary { op, operand } if op == "not" => self.says(operand, !holds, out),
            ExprKind::Compare { first, rest } => {
                let [(op, second)] = rest.as_slice() else {
                    return;
                };
                let equal = match op.as_str() {
                    "==" => holds,
                    "!=" => !holds,
                    ">" => !holds && matches!(second.kind, ExprKind::Int(0)),
                    _ => false,
                };
                match second.kind {
                    ExprKind::Int(0) if equal => self.no_rest(first, out),
                    _ if equal => self.same(first, second, out),
                    _ => {}
                }
            }
            _ if !holds => self.no_rest(test, out),
            _ => {}
        }
    }

    /// `a % b` is nought.
    fn no_rest(&self, rest: &'a Expr, out: &mut Facts) {
        if let ExprKind::Binary { op, left, right } = &rest.kind
            && op == "%"
            && let (Some(number), Some(by)) = (self.term(left), self.term(right))
        {
            out.multiples.push((number, by));
        }
    }

    /// Two numbers are the same, or two shapes.
    fn same(&self, first: &'a Expr, second: &'a Expr, out: &mut Facts) {
        if let (Some(first), Some(second)) = (shape_of(first), shape_of(second)) {
            for axis in 0..self.rank {
                let pair = (self.dim(first, axis), self.dim(second, axis));
                if let (Some(first), Some(second)) = pair {
                    out.equal.push((first, second));
                }
            }
        } else if let (Some(first), Some(second)) = (self.term(first), self.term(second)) {
            out.equal.push((first, second));
        }
    }
}

/// Whether statements end the function.
fn leaves(body: &[Stmt]) -> bool {
    matches!(
        body.last().map(|s| &s.kind),
        Some(StmtKind::Raise(_) | StmtKind::Return(_))
    )
}
