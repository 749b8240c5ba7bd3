//! A compact syntax tree that owns its names and outlives the parser's tree.
//!
//! Analysis works on this and never on tree-sitter nodes: it is plain data, `Send`, comparable, and
//! its spans are relative to the item, so an item that merely moved keeps it. What the grammar
//! cannot make sense of is [`ExprKind::Unknown`] or [`StmtKind::Unknown`], never a guess.

mod relocate;
mod suites;

use smol_str::SmolStr;

use crate::Span;

/// A name and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: SmolStr,
    /// Its place, relative to the item.
    pub span: Span,
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// Its place, relative to the item.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// The forms of an expression that analysis distinguishes.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // The names are Python's own.
pub enum ExprKind {
    Name(SmolStr),
    Attribute {
        value: Box<Expr>,
        attr: Ident,
    },
    Call {
        func: Box<Expr>,
        args: Vec<Arg>,
    },
    Subscript {
        value: Box<Expr>,
        index: Vec<Expr>,
    },
    Slice {
        lower: Option<Box<Expr>>,
        upper: Option<Box<Expr>>,
        step: Option<Box<Expr>>,
    },
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    Set(Vec<Expr>),
    /// A key of `None` is a `**` splat.
    Dict(Vec<(Option<Expr>, Expr)>),
    Str(String),
    /// An f-string's interpolated expressions.
    FString(Vec<Expr>),
    Int(i64),
    Float(f64),
    Bool(bool),
    None,
    Ellipsis,
    Unary {
        op: SmolStr,
        operand: Box<Expr>,
    },
    Binary {
        op: SmolStr,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `and` / `or`.
    Logical {
        and: bool,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Compare {
        first: Box<Expr>,
        rest: Vec<(SmolStr, Expr)>,
    },
    Conditional {
        test: Box<Expr>,
        body: Box<Expr>,
        orelse: Box<Expr>,
    },
    Lambda {
        params: Vec<Param>,
        body: Box<Expr>,
    },
    Comprehension {
        kind: ComprehensionKind,
        element: Box<Expr>,
        value: Option<Box<Expr>>,
        clauses: Vec<Clause>,
    },
    Starred(Box<Expr>),
    Await(Box<Expr>),
    Yield(Option<Box<Expr>>),
    YieldFrom(Box<Expr>),
    Named {
        target: Ident,
        value: Box<Expr>,
    },
    /// Not understood; the parts that are.
    Unknown(Vec<Expr>),
}

/// Which brackets a comprehension stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ComprehensionKind {
    List,
    Set,
    Dict,
    Generator,
}

/// One `for` or `if` of a comprehension.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Clause {
    For { target: Expr, iter: Expr },
    If(Expr),
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Arg {
    /// The keyword, if any.
    pub name: Option<Ident>,
    /// 0 plain, 1 for `*x`, 2 for `**x`.
    pub stars: u8,
    /// The value.
    pub value: Expr,
}

/// A parameter of a function or lambda.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: Ident,
    /// Its annotation.
    pub annotation: Option<Expr>,
    /// Its default value.
    pub default: Option<Expr>,
    /// 0 plain, 1 for `*args`, 2 for `**kwargs`.
    pub stars: u8,
    /// After a `*`: by keyword only.
    pub keyword_only: bool,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    /// Its place, relative to the item.
    pub span: Span,
    /// What it is.
    pub kind: StmtKind,
}

/// The forms of a statement that analysis distinguishes.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // The names are Python's own.
pub enum StmtKind {
    FunctionDef(Box<FunctionDef>),
    ClassDef(Box<ClassDef>),
    Return(Option<Expr>),
    Assign {
        targets: Vec<Expr>,
        value: Expr,
    },
    AnnAssign {
        target: Expr,
        annotation: Expr,
        value: Option<Expr>,
    },
    AugAssign {
        target: Expr,
        op: SmolStr,
        value: Expr,
    },
    For {
        target: Expr,
        iter: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    While {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    /// Conditions and bodies in order, `elif`s included.
    If {
        branches: Vec<(Expr, Vec<Stmt>)>,
        orelse: Vec<Stmt>,
    },
    With {
        items: Vec<(Expr, Option<Expr>)>,
        body: Vec<Stmt>,
    },
    Try {
        body: Vec<Stmt>,
        handlers: Vec<Handler>,
        orelse: Vec<Stmt>,
        finally: Vec<Stmt>,
    },
    Match {
        subject: Expr,
        cases: Vec<Vec<Stmt>>,
    },
    Raise(Vec<Expr>),
    Assert {
        test: Expr,
        message: Option<Expr>,
    },
    Import(Vec<ImportName>),
    ImportFrom {
        module: SmolStr,
        level: u32,
        names: Vec<ImportName>,
        star: bool,
    },
    Global(Vec<Ident>),
    Nonlocal(Vec<Ident>),
    Delete(Vec<Expr>),
    Expr(Expr),
    Pass,
    Break,
    Continue,
    /// Not understood; the parts that are.
    Unknown(Vec<Expr>),
}

/// One `except` clause.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct Handler {
    pub types: Option<Expr>,
    pub name: Option<Ident>,
    pub body: Vec<Stmt>,
}

/// One name of an import statement.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportName {
    /// The dotted name as written.
    pub name: Ident,
    /// The name after `as`.
    pub alias: Option<Ident>,
}

/// A function definition.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionDef {
    /// Its name.
    pub name: Ident,
    /// Decorator expressions (after the `@`), topmost first.
    pub decorators: Vec<Expr>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// The annotation after `->`.
    pub returns: Option<Expr>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// From `def` (or `async`) to the end of the body.
    pub def_span: Span,
    /// `async def`.
    pub is_async: bool,
}

/// A class definition.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassDef {
    /// Its name.
    pub name: Ident,
    /// Decorator expressions, topmost first.
    pub decorators: Vec<Expr>,
    /// Base classes and keywords.
    pub bases: Vec<Arg>,
    /// Its statements.
    pub body: Vec<Stmt>,
}

impl Expr {
    /// The dotted path of a name or attribute chain: `a.b.c`; nothing for any other form.
    pub fn dotted(&self) -> Option<String> {
        match &self.kind {
            ExprKind::Name(name) => Some(name.to_string()),
            ExprKind::Attribute { value, attr } => {
                let mut path = value.dotted()?;
                path.push('.');
                path.push_str(&attr.name);
                Some(path)
            }
            _ => None,
        }
    }

    /// The name, if the expression is a bare one.
    pub fn name(&self) -> Option<&SmolStr> {
        match &self.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The last identifier of a name or attribute, with its place.
    pub fn last_ident(&self) -> Option<Ident> {
        match &self.kind {
            ExprKind::Name(name) => Some(Ident {
                name: name.clone(),
                span: self.span,
            }),
            ExprKind::Attribute { attr, .. } => Some(attr.clone()),
            _ => None,
        }
    }

    /// Calls `visit` on every direct child expression, in source order where it matters.
    pub fn children<'a>(&'a self, visit: &mut (impl FnMut(&'a Expr) + ?Sized)) {
        use ExprKind as K;
        match &self.kind {
            K::Name(_)
            | K::Str(_)
            | K::Int(_)
            | K::Float(_)
            | K::Bool(_)
            | K::None
            | K::Ellipsis => {}
            K::Attribute { value, .. } => visit(value),
            K::Call { func, args } => {
                visit(func);
                args.iter().for_each(|a| visit(&a.value));
            }
            K::Subscript { value, index } => {
                visit(value);
                index.iter().for_each(visit);
            }
            K::Slice { lower, upper, step } => {
                [lower, upper, step]
                    .into_iter()
                    .flatten()
                    .for_each(|e| visit(e));
            }
            K::Tuple(items)
            | K::List(items)
            | K::Set(items)
            | K::FString(items)
            | K::Unknown(items) => {
                items.iter().for_each(visit);
            }
            K::Dict(pairs) => pairs.iter().for_each(|(k, v)| {
                k.iter().for_each(&mut *visit);
                visit(v);
            }),
            K::Unary { operand, .. } => visit(operand),
            K::Binary { left, right, .. } | K::Logical { left, right, .. } => {
                visit(left);
                visit(right);
            }
            K::Compare { first, rest } => {
                visit(first);
                rest.iter().for_each(|(_, e)| visit(e));
            }
            K::Conditional { test, body, orelse } => {
                visit(body);
                visit(test);
                visit(orelse);
            }
            K::Lambda { params, body } => {
                params
                    .iter()
                    .filter_map(|p| p.default.as_ref())
                    .for_each(&mut *visit);
                visit(body);
            }
            K::Comprehension {
                element,
                value,
                clauses,
                ..
            } => {
                visit(element);
                value.iter().for_each(|e| visit(e));
                for clause in clauses {
                    match clause {
                        Clause::For { target, iter } => {
                            visit(target);
                            visit(iter);
                        }
                        Clause::If(test) => visit(test),
                    }
                }
            }
            K::Starred(e) | K::Await(e) | K::YieldFrom(e) => visit(e),
            K::Yield(e) => e.iter().for_each(|e| visit(e)),
            K::Named { value, .. } => visit(value),
        }
    }

    /// Calls `visit` on the expression and everything below it, outermost first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        self.children(&mut |child| child.walk(visit));
    }
}

impl Stmt {
    /// Calls `visit` on every expression that belongs to this statement itself, not to the
    /// statements within it. Decorators and default values of a definition count as its own.
    pub fn own_exprs<'a>(&'a self, visit: &mut (impl FnMut(&'a Expr) + ?Sized)) {
        use StmtKind as S;
        match &self.kind {
            S::FunctionDef(def) => {
                def.decorators.iter().for_each(&mut *visit);
                for param in &def.params {
                    param.default.iter().for_each(&mut *visit);
                }
            }
            S::ClassDef(class) => {
                class.decorators.iter().for_each(&mut *visit);
                class.bases.iter().for_each(|a| visit(&a.value));
            }
            S::Return(value) => value.iter().for_each(visit),
            S::Assign { targets, value } => {
                targets.iter().for_each(&mut *visit);
                visit(value);
            }
            S::AnnAssign { target, value, .. } => {
                visit(target);
                value.iter().for_each(visit);
            }
            S::AugAssign { target, value, .. } => {
                visit(target);
                visit(value);
            }
            S::For { target, iter, .. } => {
                visit(target);
                visit(iter);
            }
            S::While { test, .. } => visit(test),
            S::If { branches, .. } => branches.iter().for_each(|(test, _)| visit(test)),
            S::With { items, .. } => items.iter().for_each(|(value, target)| {
                visit(value);
                target.iter().for_each(&mut *visit);
            }),
            S::Try { handlers, .. } => {
                handlers
                    .iter()
                    .filter_map(|h| h.types.as_ref())
                    .for_each(visit);
            }
            S::Match { subject, .. } => visit(subject),
            S::Raise(items) | S::Delete(items) | S::Unknown(items) => items.iter().for_each(visit),
            S::Assert { test, message } => {
                visit(test);
                message.iter().for_each(visit);
            }
            S::Expr(value) => visit(value),
            S::Import(_) | S::ImportFrom { .. } | S::Global(_) | S::Nonlocal(_) => {}
            S::Pass | S::Break | S::Continue => {}
        }
    }

    /// The statement lists within this statement (bodies and branches), in source order.
    pub fn blocks(&self) -> Vec<&[Stmt]> {
        use StmtKind as S;
        match &self.kind {
            S::FunctionDef(def) => vec![&def.body],
            S::ClassDef(class) => vec![&class.body],
            S::For { body, orelse, .. } | S::While { body, orelse, .. } => vec![body, orelse],
            S::If { branches, orelse } => branches
                .iter()
                .map(|(_, b)| b.as_slice())
                .chain([orelse.as_slice()])
                .collect(),
            S::With { body, .. } => vec![body],
            S::Try {
                body,
                handlers,
                orelse,
                finally,
            } => std::iter::once(body.as_slice())
                .chain(handlers.iter().map(|h| h.body.as_slice()))
                .chain([orelse.as_slice(), finally.as_slice()])
                .collect(),
            S::Match { cases, .. } => cases.iter().map(Vec::as_slice).collect(),
            _ => Vec::new(),
        }
    }
}

/// Whether a function with this body is a generator: a `yield` of its own, not of a nested function
/// or lambda. A nested definition's decorators and defaults are evaluated outside it and count.
pub fn yields(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| {
        let mut found = false;
        stmt.own_exprs(&mut |e| found |= expr_yields(e));
        let nested = matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_));
        found || (!nested && stmt.blocks().into_iter().any(yields))
    })
}

fn expr_yields(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Yield(_) | ExprKind::YieldFrom(_) => true,
        ExprKind::Lambda { .. } => false,
        _ => {
            let mut found = false;
            expr.children(&mut |c| found |= expr_yields(c));
            found
        }
    }
}
