//! What an expression can refer to, reduced to what name resolution needs.
//!
//! Following a kernel from its definition to a launch means following names, attributes, calls,
//! containers and branches; arithmetic, text and literals never lead to one. [`Value`] keeps the
//! former and forgets the latter, so the scan of an item is small enough to keep for every file.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Clause, Expr, ExprKind};

/// A reduced expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// A name, to be looked up in its scope.
    Name(SmolStr),
    /// An attribute.
    Attr(Box<Value>, SmolStr),
    /// A call with its arguments, keyword names included.
    Call(Box<Value>, Vec<(Option<SmolStr>, Value)>),
    /// One of several: a conditional, `a or b`.
    Either(Vec<Value>),
    /// A tuple, list or set, or one element of a comprehension; with its place.
    Seq(Vec<Value>, Span),
    /// A dictionary's values.
    Map(Vec<Value>),
    /// An element, of a known place or of any.
    Item(Box<Value>, Option<usize>),
    /// A string literal.
    Text(SmolStr),
    /// The literal `None`.
    Nothing,
    /// An imported module or a name of one, by absolute dotted path.
    Import(SmolStr),
    /// The n-th parameter of the scope that binds it.
    Param(usize),
    /// A function or class defined here: the number of its scope in the item.
    Def(usize),
    /// Leads nowhere.
    Other,
}

impl Value {
    /// Reduces an expression. A lambda counts as what it gives; its calls are scanned in place.
    pub(crate) fn of(expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::Name(name) => Value::Name(name.clone()),
            ExprKind::Attribute { value, attr } => {
                Value::Attr(Box::new(Value::of(value)), attr.name.clone())
            }
            // `pytest.param(a, b, id="x")` stands for the tuple.
            ExprKind::Call { func, args }
                if func.last_ident().is_some_and(|i| i.name == "param") =>
            {
                let plain = args.iter().filter(|a| a.name.is_none());
                Value::Seq(plain.map(|a| Value::of(&a.value)).collect(), expr.span)
            }
            ExprKind::Call { func, args } => Value::Call(
                Box::new(Value::of(func)),
                args.iter()
                    .map(|a| (a.name.as_ref().map(|n| n.name.clone()), Value::of(&a.value)))
                    .collect(),
            ),
            ExprKind::Conditional { body, orelse, .. } => {
                Value::Either(vec![Value::of(body), Value::of(orelse)])
            }
            ExprKind::Logical { left, right, .. } => {
                Value::Either(vec![Value::of(left), Value::of(right)])
            }
            ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Set(items) => {
                Value::Seq(items.iter().map(Value::of).collect(), expr.span)
            }
            ExprKind::Dict(pairs) => Value::Map(pairs.iter().map(|(_, v)| Value::of(v)).collect()),
            // A slice of a container is that container, for all that is asked here.
            ExprKind::Subscript { value, index }
                if matches!(
                    index.as_slice(),
                    [Expr {
                        kind: ExprKind::Slice { .. },
                        ..
                    }]
                ) =>
            {
                Value::of(value)
            }
            ExprKind::Subscript { value, index } => {
                let at = match index.as_slice() {
                    [
                        Expr {
                            kind: ExprKind::Int(n),
                            ..
                        },
                    ] => usize::try_from(*n).ok(),
                    _ => None,
                };
                Value::Item(Box::new(Value::of(value)), at)
            }
            // `[c for c in space() if ...]` is that space, filtered.
            ExprKind::Comprehension {
                element,
                value: None,
                clauses,
                ..
            } if passes_through(element, clauses).is_some() => passes_through(element, clauses)
                .map_or(Value::Other, |iter| {
                    Value::Call(
                        Box::new(Value::Name("list".into())),
                        vec![(None, Value::of(iter))],
                    )
                }),
            ExprKind::Comprehension {
                element,
                value,
                clauses,
                ..
            } => {
                // The element's names are the loop's; what they range over is bound by the scan.
                let inner = value.as_deref().unwrap_or(element);
                let any_for = clauses.iter().any(|c| matches!(c, Clause::For { .. }));
                if any_for {
                    Value::Seq(vec![Value::of(inner)], expr.span)
                } else {
                    Value::Other
                }
            }
            ExprKind::Starred(inner) | ExprKind::Await(inner) => Value::of(inner),
            ExprKind::Named { value, .. } => Value::of(value),
            // `exhaustive_search` takes a function from a configuration to a kernel.
            ExprKind::Lambda { body, .. } => Value::of(body),
            ExprKind::Str(text) if text.len() < 64 => Value::Text(text.as_str().into()),
            ExprKind::None => Value::Nothing,
            _ => Value::Other,
        }
    }

    /// The last name of a name or attribute.
    pub(crate) fn last(&self) -> Option<&SmolStr> {
        match self {
            Value::Name(name) | Value::Attr(_, name) => Some(name),
            _ => None,
        }
    }

    /// The name that a name or attribute starts with: `ct` of `ct.tune.exhaustive_search`.
    pub(crate) fn root(&self) -> Option<&SmolStr> {
        match self {
            Value::Name(name) => Some(name),
            Value::Attr(base, _) => base.root(),
            _ => None,
        }
    }
}

/// What a comprehension of one loop ranges over, if its element is the loop's own name.
fn passes_through<'e>(element: &Expr, clauses: &'e [Clause]) -> Option<&'e Expr> {
    let mut loops = clauses.iter().filter_map(|c| match c {
        Clause::For { target, iter } => Some((target, iter)),
        Clause::If(_) => None,
    });
    let (target, iter) = loops.next()?;
    (loops.next().is_none() && element.name().is_some() && element.name() == target.name())
        .then_some(iter)
}
