//! Expressions.

use smol_str::SmolStr;
use tree_sitter::Node;

use super::{Lower, named, span};
use crate::Span;
use crate::ast::{Arg, Clause, ComprehensionKind, Expr, ExprKind, Param};

/// `*a.b` is `*(a.b)`. The grammar leaves open whether it is `(*a).b`, and the parser's choice
/// depends on what stands around it; Python has one reading only. `end` is the whole's.
fn outer_star(mut kind: ExprKind, end: u32) -> ExprKind {
    use ExprKind as K;
    let (K::Attribute { value: inner, .. }
    | K::Subscript { value: inner, .. }
    | K::Call { func: inner, .. }) = &mut kind
    else {
        return kind;
    };
    if !matches!(inner.kind, K::Starred(_)) {
        return kind;
    }
    let K::Starred(operand) = std::mem::replace(&mut inner.kind, K::None) else {
        return kind;
    };
    let start = operand.span.start;
    **inner = *operand;
    K::Starred(Box::new(Expr {
        span: Span { start, end },
        kind,
    }))
}

impl Lower<'_> {
    pub(super) fn expr(&mut self, node: Node<'_>) -> Expr {
        let kind = self
            .deeper(|l| l.expr_kind(node))
            .unwrap_or_else(|| ExprKind::Unknown(Vec::new()));
        // Brackets and annotation wrappers are transparent, but keep the inner place: a name in
        // brackets is still at the name.
        match kind {
            ExprKind::Unknown(mut parts)
                if matches!(node.kind(), "parenthesized_expression" | "type")
                    && parts.len() == 1 =>
            {
                parts.swap_remove(0)
            }
            kind => Expr {
                span: span(node),
                kind: outer_star(kind, span(node).end),
            },
        }
    }

    fn exprs(&mut self, nodes: Vec<Node<'_>>) -> Vec<Expr> {
        nodes.into_iter().map(|n| self.expr(n)).collect()
    }

    fn op(&self, node: Node<'_>, field: &str) -> SmolStr {
        node.child_by_field_name(field)
            .map_or_else(SmolStr::default, |n| self.text(n).into())
    }

    fn expr_kind(&mut self, node: Node<'_>) -> ExprKind {
        use ExprKind as K;
        match node.kind() {
            "identifier" | "keyword_identifier" => K::Name(self.text(node).into()),
            "attribute" => match node.child_by_field_name("attribute") {
                Some(attr) => K::Attribute {
                    value: self.boxed(node, "object"),
                    attr: self.ident(attr),
                },
                None => K::Unknown(self.exprs(named(node))),
            },
            "call" => self.call(node),
            "subscript" => {
                let value = node.child_by_field_name("value");
                let index = named(node)
                    .into_iter()
                    .filter(|n| Some(*n) != value)
                    .collect();
                K::Subscript {
                    value: self.boxed(node, "value"),
                    index: self.exprs(index),
                }
            }
            "generic_type" => {
                let mut parts = named(node).into_iter();
                let value = parts.next().map(|n| self.expr(n));
                let index = parts.flat_map(named).collect();
                match value {
                    Some(value) => K::Subscript {
                        value: Box::new(value),
                        index: self.exprs(index),
                    },
                    None => K::Unknown(Vec::new()),
                }
            }
            "slice" => self.slice(node),
            "tuple" | "expression_list" | "pattern_list" | "tuple_pattern" => {
                K::Tuple(self.exprs(named(node)))
            }
            "list" | "list_pattern" => K::List(self.exprs(named(node))),
            "set" => K::Set(self.exprs(named(node))),
            "dictionary" => K::Dict(
                named(node)
                    .into_iter()
                    .map(|n| match n.kind() {
                        "pair" => (Some(self.field(n, "key")), self.field(n, "value")),
                        _ => (None, self.first(n)),
                    })
                    .collect(),
            ),
            "string" => self.string(node),
            "concatenated_string" => {
                let parts = self.exprs(named(node));
                let mut whole = String::new();
                let mut interpolated = Vec::new();
                let mut plain = true;
                for part in parts {
                    match part.kind {
                        K::Str(s) => whole.push_str(&s),
                        K::FString(inner) => {
                            plain = false;
                            interpolated.extend(inner);
                        }
                        _ => plain = false,
                    }
                }
                if plain {
                    K::Str(whole)
                } else {
                    K::FString(interpolated)
                }
            }
            "integer" => integer(self.text(node)).map_or_else(|| K::Unknown(Vec::new()), K::Int),
            "float" => self
                .text(node)
                .replace('_', "")
                .parse()
                .map_or_else(|_| K::Unknown(Vec::new()), K::Float),
            "true" => K::Bool(true),
            "false" => K::Bool(false),
            "none" => K::None,
            "ellipsis" => K::Ellipsis,
            "unary_operator" => K::Unary {
                op: self.op(node, "operator"),
                operand: self.boxed(node, "argument"),
            },
            "not_operator" => K::Unary {
                op: "not".into(),
                operand: self.boxed(node, "argument"),
            },
            "binary_operator" => K::Binary {
                op: self.op(node, "operator"),
                left: self.boxed(node, "left"),
                right: self.boxed(node, "right"),
            },
            "boolean_operator" => K::Logical {
                and: self.op(node, "operator") == "and",
                left: self.boxed(node, "left"),
                right: self.boxed(node, "right"),
            },
            "comparison_operator" => self.compare(node),
            "conditional_expression" => {
                let mut parts = self.exprs(named(node)).into_iter();
                match (parts.next(), parts.next(), parts.next()) {
                    (Some(body), Some(test), Some(orelse)) => K::Conditional {
                        test: Box::new(test),
                        body: Box::new(body),
                        orelse: Box::new(orelse),
                    },
                    (a, b, c) => K::Unknown([a, b, c].into_iter().flatten().collect()),
                }
            }
            "lambda" => K::Lambda {
                params: node
                    .child_by_field_name("parameters")
                    .map_or_else(Vec::new, |n| self.params(n)),
                body: self.boxed(node, "body"),
            },
            "list_comprehension" => self.comprehension(node, ComprehensionKind::List),
            "set_comprehension" => self.comprehension(node, ComprehensionKind::Set),
            "dictionary_comprehension" => self.comprehension(node, ComprehensionKind::Dict),
            "generator_expression" => self.comprehension(node, ComprehensionKind::Generator),
            "list_splat" | "list_splat_pattern" | "parenthesized_list_splat" => {
                K::Starred(Box::new(self.first(node)))
            }
            "await" => K::Await(Box::new(self.first(node))),
            "yield" => {
                let from = (0..node.child_count())
                    .any(|i| node.child(i).is_some_and(|c| c.kind() == "from"));
                match (named(node).first(), from) {
                    (Some(n), true) => K::YieldFrom(Box::new(self.expr(*n))),
                    (Some(n), false) => K::Yield(Some(Box::new(self.expr(*n)))),
                    (None, _) => K::Yield(None),
                }
            }
            "named_expression" => match node.child_by_field_name("name") {
                Some(name) => K::Named {
                    target: self.ident(name),
                    value: self.boxed(node, "value"),
                },
                None => K::Unknown(self.exprs(named(node))),
            },
            // An assignment inside an expression position only comes from broken code.
            _ => K::Unknown(self.exprs(named(node))),
        }
    }

    fn first(&mut self, node: Node<'_>) -> Expr {
        match named(node).first() {
            Some(n) => self.expr(*n),
            None => Expr {
                span: span(node),
                kind: ExprKind::Unknown(Vec::new()),
            },
        }
    }

    fn call(&mut self, node: Node<'_>) -> ExprKind {
        let func = self.boxed(node, "function");
        let args = match node.child_by_field_name("arguments") {
            // `f(x for x in y)`: the generator is the arguments node itself.
            Some(n) if n.kind() == "generator_expression" => {
                vec![Arg {
                    name: None,
                    stars: 0,
                    value: self.expr(n),
                }]
            }
            Some(n) => self.args(n),
            None => Vec::new(),
        };
        ExprKind::Call { func, args }
    }

    pub(super) fn args(&mut self, node: Node<'_>) -> Vec<Arg> {
        named(node)
            .into_iter()
            .map(|n| match n.kind() {
                "keyword_argument" => Arg {
                    name: n.child_by_field_name("name").map(|name| self.ident(name)),
                    stars: 0,
                    value: self.field(n, "value"),
                },
                "list_splat" => Arg {
                    name: None,
                    stars: 1,
                    value: self.first(n),
                },
                "dictionary_splat" => Arg {
                    name: None,
                    stars: 2,
                    value: self.first(n),
                },
                _ => match self.expr(n) {
                    Expr {
                        kind: ExprKind::Starred(value),
                        ..
                    } => Arg {
                        name: None,
                        stars: 1,
                        value: *value,
                    },
                    value => Arg {
                        name: None,
                        stars: 0,
                        value,
                    },
                },
            })
            .collect()
    }

    fn slice(&mut self, node: Node<'_>) -> ExprKind {
        let mut parts = [None, None, None];
        let mut at = 0;
        for i in 0..node.child_count() {
            let Some(child) = node.child(i) else {
                continue;
            };
            if child.kind() == ":" {
                at += 1;
            } else if child.is_named() && at < 3 {
                parts[at] = Some(Box::new(self.expr(child)));
            }
        }
        let [lower, upper, step] = parts;
        ExprKind::Slice { lower, upper, step }
    }

    fn compare(&mut self, node: Node<'_>) -> ExprKind {
        let mut operands = Vec::new();
        let mut ops: Vec<SmolStr> = Vec::new();
        let mut words = String::new();
        for i in 0..node.child_count() {
            let Some(child) = node.child(i) else {
                continue;
            };
            if node.field_name_for_child(i) == Some("operators") {
                // `not in` and `is not` may come as one token or as two.
                if !words.is_empty() {
                    words.push(' ');
                }
                words.push_str(
                    &self
                        .text(child)
                        .split_whitespace()
                        .collect::<Vec<_>>()
                        .join(" "),
                );
            } else if child.is_named() && !child.is_extra() {
                if !words.is_empty() {
                    ops.push(std::mem::take(&mut words).into());
                }
                operands.push(self.expr(child));
            }
        }
        if operands.is_empty() || operands.len() != ops.len() + 1 {
            return ExprKind::Unknown(operands);
        }
        let first = Box::new(operands.remove(0));
        ExprKind::Compare {
            first,
            rest: ops.into_iter().zip(operands).collect(),
        }
    }

    fn comprehension(&mut self, node: Node<'_>, kind: ComprehensionKind) -> ExprKind {
        let (element, value) = match node.child_by_field_name("body") {
            Some(n) if n.kind() == "pair" => (self.field(n, "key"), Some(self.boxed(n, "value"))),
            Some(n) => (self.expr(n), None),
            None => return ExprKind::Unknown(Vec::new()),
        };
        let mut clauses = Vec::new();
        for n in named(node) {
            match n.kind() {
                "for_in_clause" => {
                    clauses.push(Clause::For {
                        target: self.field(n, "left"),
                        iter: self.field(n, "right"),
                    });
                }
                "if_clause" => clauses.push(Clause::If(self.first(n))),
                _ => {}
            }
        }
        ExprKind::Comprehension {
            kind,
            element: Box::new(element),
            value,
            clauses,
        }
    }

    fn string(&mut self, node: Node<'_>) -> ExprKind {
        let children = named(node);
        let start = children
            .first()
            .filter(|n| n.kind() == "string_start")
            .map_or("", |n| self.text(*n));
        let prefix = start.trim_end_matches(['"', '\'']).to_ascii_lowercase();
        if prefix.contains('f') || prefix.contains('t') {
            let parts = children
                .into_iter()
                .filter(|n| n.kind() == "interpolation")
                .map(|n| self.field(n, "expression"))
                .collect();
            return ExprKind::FString(parts);
        }
        let mut out = String::new();
        for n in children
            .into_iter()
            .filter(|n| n.kind() == "string_content")
        {
            let raw = self.text(n);
            if prefix.contains('r') {
                out.push_str(raw)
            } else {
                unescape(raw, &mut out)
            }
        }
        ExprKind::Str(out)
    }

    pub(super) fn params(&mut self, node: Node<'_>) -> Vec<Param> {
        let mut out = Vec::new();
        let mut keyword_only = false;
        for n in named(node) {
            let inner = match n.kind() {
                "typed_parameter" => named(n).into_iter().next(),
                _ => Some(n),
            };
            let Some(inner) = inner else { continue };
            let stars = match inner.kind() {
                "list_splat_pattern" => 1,
                "dictionary_splat_pattern" => 2,
                "keyword_separator" => {
                    keyword_only = true;
                    continue;
                }
                _ => 0,
            };
            let name = match inner.kind() {
                "default_parameter" | "typed_default_parameter" => {
                    inner.child_by_field_name("name")
                }
                "list_splat_pattern" | "dictionary_splat_pattern" => {
                    named(inner).into_iter().next()
                }
                "identifier" => Some(inner),
                _ => None,
            };
            let Some(name) = name else { continue };
            out.push(Param {
                name: self.ident(name),
                annotation: n.child_by_field_name("type").map(|t| self.expr(t)),
                default: n.child_by_field_name("value").map(|v| self.expr(v)),
                stars,
                keyword_only,
            });
            keyword_only |= stars == 1;
        }
        out
    }
}

/// A Python integer literal, if it fits 64 bits.
fn integer(text: &str) -> Option<i64> {
    let text = text.replace('_', "").to_ascii_lowercase();
    match text.get(..2) {
        Some("0x") => i64::from_str_radix(&text[2..], 16).ok(),
        Some("0o") => i64::from_str_radix(&text[2..], 8).ok(),
        Some("0b") => i64::from_str_radix(&text[2..], 2).ok(),
        _ => text.parse().ok(),
    }
}

/// Python's common escapes; rare ones (`\N{...}`) stay as written, which no fact depends on.
fn unescape(raw: &str, out: &mut String) {
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('\n') => {}
            Some(c @ ('\\' | '\'' | '"')) => out.push(c),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
}
