//! Numbers of the launch's side in a form in which they can be compared.
//!
//! Names are followed to what they were given once, `n` of `m, n = x.shape` is `x.shape[1]`, and so is
//! `y.shape[1]` if `y` was made like `x`. What cannot be followed stands for itself if it cannot change.

mod facts;
mod quotient;

use tileperf_syntax::ast::{Arg, Expr, ExprKind, Stmt, StmtKind};

pub(super) use self::quotient::{followed, quotient};
use super::site::{Meaning, Site};

/// How often names are followed.
const HOPS: u32 = 6;

/// A number.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Term {
    Int(i64),
    /// A name, or an extent of an array.
    Text(String),
    /// `//`, `cdiv`, `+`, `-`, `*` of two numbers.
    Op(&'static str, Box<Term>, Box<Term>),
}

impl Term {
    pub(super) fn op(op: &'static str, left: Term, right: Term) -> Term {
        let divides = matches!(op, "//" | "cdiv");
        match (&left, &right) {
            (_, Term::Int(1)) if divides => left,
            (Term::Int(a), Term::Int(b)) => {
                let value = match op {
                    "+" => a.checked_add(*b),
                    "-" => a.checked_sub(*b),
                    "*" => a.checked_mul(*b),
                    "//" if *a >= 0 && *b > 0 => a.checked_div(*b),
                    "cdiv" if *a >= 0 && *b > 0 => a.checked_add(b - 1).map(|sum| sum / b),
                    _ => None,
                };
                match value {
                    Some(value) => Term::Int(value),
                    None => Term::Op(op, Box::new(left), Box::new(right)),
                }
            }
            _ => Term::Op(op, Box::new(left), Box::new(right)),
        }
    }

    /// Whether it is a division of these two.
    pub(super) fn is(&self, op: &str, left: &Term, right: &Term) -> bool {
        matches!(self, Term::Op(own, a, b) if *own == op && **a == *left && **b == *right)
    }
}

impl std::fmt::Display for Term {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Term::Int(value) => write!(f, "{value}"),
            Term::Text(text) => f.write_str(text),
            Term::Op("cdiv", a, b) => write!(f, "cdiv({a}, {b})"),
            Term::Op(op, a, b) => write!(f, "({a} {op} {b})"),
        }
    }
}

/// The numbers of a launch, for arrays of so many axes: only those are counted from the end.
pub(super) struct Host<'s, 'a> {
    pub(super) site: &'s Site<'a>,
    rank: usize,
    /// What stands for what, where the host has made sure that both are the same.
    equal: Vec<(Term, Term)>,
}

impl<'s, 'a> Host<'s, 'a> {
    pub(super) fn new(site: &'s Site<'a>, rank: usize) -> Self {
        let equal = Vec::new();
        let mut host = Self { site, rank, equal };
        for (a, b) in host.ensured().equal {
            let pair = match (host.settled(a), host.settled(b)) {
                (a, b) if a == b => continue,
                (from @ Term::Text(_), to) | (to, from @ Term::Text(_)) => (from, to),
                _ => continue,
            };
            host.equal.push(pair);
        }
        host
    }

    /// A number; nothing if it may be something else elsewhere.
    pub(super) fn term(&self, expr: &'a Expr) -> Option<Term> {
        Some(self.settled(self.number(expr, HOPS)?))
    }

    /// The extent of an array along an axis.
    pub(super) fn dim(&self, array: &'a Expr, axis: usize) -> Option<Term> {
        Some(self.settled(self.extent(array, axis, HOPS)?))
    }

    /// The same number with one name for all that are the same.
    fn settled(&self, term: Term) -> Term {
        match term {
            Term::Op(op, a, b) => Term::op(op, self.settled(*a), self.settled(*b)),
            Term::Int(_) => term,
            // Each was settled when it was added, so those that follow are enough.
            Term::Text(_) => {
                (self.equal.iter()).fold(term, |term, (from, to)| match term == *from {
                    true => to.clone(),
                    false => term,
                })
            }
        }
    }

    fn number(&self, expr: &'a Expr, hops: u32) -> Option<Term> {
        let hops = hops.checked_sub(1)?;
        match &expr.kind {
            ExprKind::Int(value) => Some(Term::Int(*value)),
            ExprKind::Name(name) => match self.site.meaning(name) {
                // What is made in some other way is one number all the same.
                Meaning::Value(value) => {
                    let plain = || Term::Text(name.to_string());
                    Some(self.number(value, hops).unwrap_or_else(plain))
                }
                Meaning::Steady => match self.unpacked(name) {
                    Some((array, axis)) => self.extent(array, axis, hops),
                    None => Some(Term::Text(name.to_string())),
                },
                Meaning::Changing => None,
            },
            ExprKind::Subscript { value, index } => match index.as_slice() {
                [index] => self.extent(shape_of(value)?, self.axis(index)?, hops),
                _ => None,
            },
            ExprKind::Binary { op, left, right } => {
                let op = *["+", "-", "*", "//"].iter().find(|known| op == **known)?;
                if op == "//"
                    && let Some((count, by)) = rounded_up(left)
                {
                    let (by, right) = (self.number(by, hops)?, self.number(right, hops)?);
                    if by == right {
                        return Some(Term::op("cdiv", self.number(count, hops)?, by));
                    }
                }
                Some(Term::op(
                    op,
                    self.number(left, hops)?,
                    self.number(right, hops)?,
                ))
            }
            ExprKind::Call { func, args } => self.call(func, args, hops),
            _ => None,
        }
    }

    fn call(&self, func: &'a Expr, args: &'a [Arg], hops: u32) -> Option<Term> {
        let plain = |arg: &&Arg| arg.name.is_none() && arg.stars == 0;
        if !args.iter().all(|arg| plain(&arg)) {
            return None;
        }
        let module = self.site.file.module;
        let path = func.dotted().unwrap_or_default();
        let is_cdiv = module.api(func).is_some_and(|name| name == "cdiv") || path == "triton.cdiv";
        match args {
            [left, right] if is_cdiv => Some(Term::op(
                "cdiv",
                self.number(&left.value, hops)?,
                self.number(&right.value, hops)?,
            )),
            [one] if path == "int" => self.number(&one.value, hops),
            [one] if path == "math.ceil" => match &one.value.kind {
                ExprKind::Binary { op, left, right } if op == "/" => Some(Term::op(
                    "cdiv",
                    self.number(left, hops)?,
                    self.number(right, hops)?,
                )),
                _ => None,
            },
            _ => {
                let ExprKind::Attribute { value, attr } = &func.kind else {
                    return None;
                };
                match (attr.name.as_str(), args) {
                    ("size", [axis]) => self.extent(value, self.axis(&axis.value)?, hops),
                    ("numel", []) if self.rank == 1 => self.extent(value, 0, hops),
                    _ => None,
                }
            }
        }
    }

    /// The extent of an array along an axis, by the array that it was made like.
    fn extent(&self, array: &'a Expr, axis: usize, hops: u32) -> Option<Term> {
        let hops = hops.checked_sub(1)?;
        let name = array.name()?;
        let plain = Term::Text(format!("{name}.shape[{axis}]"));
        match self.site.meaning(name) {
            Meaning::Changing => None,
            Meaning::Steady => Some(plain),
            Meaning::Value(value) => Some(self.made(value, axis, hops).unwrap_or(plain)),
        }
    }

    /// The extent of what a call makes, if it says so.
    fn made(&self, value: &'a Expr, axis: usize, hops: u32) -> Option<Term> {
        let ExprKind::Call { func, args } = &value.kind else {
            return None;
        };
        let ExprKind::Attribute { value: base, attr } = &func.kind else {
            return None;
        };
        let of_torch = base
            .name()
            .and_then(|name| self.site.file.module.imports.get(name))
            .is_some_and(|path| path == "torch");
        let first = args
            .first()
            .filter(|arg| arg.name.is_none() && arg.stars == 0);
        match attr.name.as_str() {
            "contiguous" | "clone" | "detach" if args.is_empty() => self.extent(base, axis, hops),
            name if of_torch && name.ends_with("_like") => self.extent(&first?.value, axis, hops),
            "empty" | "zeros" | "ones" | "full" if of_torch => {
                let shape = &first?.value;
                match &shape.kind {
                    ExprKind::Tuple(parts) | ExprKind::List(parts) if parts.len() == self.rank => {
                        self.number(parts.get(axis)?, hops)
                    }
                    _ if shape_of(shape).is_some() => self.extent(shape_of(shape)?, axis, hops),
                    _ => {
                        let plain = args.iter().filter(|arg| arg.name.is_none());
                        let extents: Vec<&Arg> = plain.collect();
                        let all = extents.len() == self.rank && attr.name != "full";
                        let extent = extents.get(axis).filter(|arg| all && arg.stars == 0)?;
                        self.number(&extent.value, hops)
                    }
                }
            }
            _ => None,
        }
    }

    /// The array and the axis whose extent a name is: of `m, n = x.shape`.
    fn unpacked(&self, name: &str) -> Option<(&'a Expr, usize)> {
        fn find<'a>(body: &'a [Stmt], name: &str) -> Option<(&'a Expr, usize)> {
            body.iter().find_map(|stmt| match &stmt.kind {
                StmtKind::Assign { targets, value } => {
                    let [
                        Expr {
                            kind: ExprKind::Tuple(targets),
                            ..
                        },
                    ] = targets.as_slice()
                    else {
                        return None;
                    };
                    let is_plain = targets.iter().all(|t| t.name().is_some());
                    let axis = targets
                        .iter()
                        .position(|t| t.name().is_some_and(|n| n == name))?;
                    Some((shape_of(value).filter(|_| is_plain)?, axis))
                }
                StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => None,
                _ => stmt
                    .blocks()
                    .into_iter()
                    .find_map(|inner| find(inner, name)),
            })
        }
        find(&self.site.def()?.body, name)
    }

    fn axis(&self, index: &Expr) -> Option<usize> {
        match &index.kind {
            ExprKind::Int(axis) => usize::try_from(*axis).ok(),
            ExprKind::Unary { op, operand } if op == "-" => match operand.kind {
                ExprKind::Int(back) => self.rank.checked_sub(usize::try_from(back).ok()?),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The array of `array.shape`.
fn shape_of(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Attribute { value, attr } if attr.name == "shape" => Some(value),
        _ => None,
    }
}

/// Count and divisor of `count + divisor - 1`.
fn rounded_up(expr: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::Binary { op, left, right } = &expr.kind else {
        return None;
    };
    match (&left.kind, &right.kind) {
        (
            ExprKind::Binary {
                op: plus,
                left,
                right,
            },
            ExprKind::Int(1),
        ) => (op == "-" && plus == "+").then_some((left, right)),
        _ => None,
    }
}
