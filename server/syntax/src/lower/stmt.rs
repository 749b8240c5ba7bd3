//! Statements.

use tree_sitter::Node;

use super::{Lower, named, span};
use crate::ast::{ClassDef, Expr, ExprKind, FunctionDef, Handler, ImportName, Stmt, StmtKind};

impl Lower<'_> {
    pub(super) fn block(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let mut out = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if child.is_extra() || child.is_missing() {
                continue;
            }
            if child.is_error() {
                // What parses inside a fault still counts, for facts of a half-typed item.
                out.extend(self.deeper(|l| l.block(child)).unwrap_or_default());
                continue;
            }
            out.push(self.stmt(child));
        }
        out
    }

    fn stmt(&mut self, node: Node<'_>) -> Stmt {
        let kind = self
            .deeper(|l| l.stmt_kind(node))
            .unwrap_or_else(|| StmtKind::Unknown(Vec::new()));
        Stmt {
            span: span(node),
            kind,
        }
    }

    fn body(&mut self, node: Node<'_>, field: &str) -> Vec<Stmt> {
        node.child_by_field_name(field)
            .map_or_else(Vec::new, |n| self.block(n))
    }

    fn stmt_kind(&mut self, node: Node<'_>) -> StmtKind {
        use StmtKind as S;
        match node.kind() {
            "expression_statement" => self.expression_statement(node),
            "function_definition" | "class_definition" => self.definition(node, Vec::new()),
            "decorated_definition" => {
                let decorators = named(node)
                    .into_iter()
                    .filter(|n| n.kind() == "decorator")
                    .filter_map(|n| named(n).into_iter().next())
                    .map(|n| self.expr(n))
                    .collect();
                match node.child_by_field_name("definition") {
                    Some(n) => self.definition(n, decorators),
                    None => S::Unknown(decorators),
                }
            }
            "return_statement" => S::Return(named(node).first().map(|n| self.expr(*n))),
            "if_statement" => self.if_statement(node),
            "for_statement" => S::For {
                target: self.field(node, "left"),
                iter: self.field(node, "right"),
                body: self.body(node, "body"),
                orelse: self.alternative(node),
            },
            "while_statement" => S::While {
                test: self.field(node, "condition"),
                body: self.body(node, "body"),
                orelse: self.alternative(node),
            },
            "with_statement" => self.with_statement(node),
            "try_statement" => self.try_statement(node),
            "match_statement" => self.match_statement(node),
            "raise_statement" => S::Raise(named(node).into_iter().map(|n| self.expr(n)).collect()),
            "assert_statement" => {
                let mut parts = named(node).into_iter();
                match parts.next() {
                    Some(test) => S::Assert {
                        test: self.expr(test),
                        message: parts.next().map(|n| self.expr(n)),
                    },
                    None => S::Unknown(Vec::new()),
                }
            }
            "import_statement" => S::Import(
                named(node)
                    .into_iter()
                    .map(|n| self.import_name(n))
                    .collect(),
            ),
            "import_from_statement" | "future_import_statement" => self.import_from(node),
            "global_statement" => {
                S::Global(named(node).into_iter().map(|n| self.ident(n)).collect())
            }
            "nonlocal_statement" => {
                S::Nonlocal(named(node).into_iter().map(|n| self.ident(n)).collect())
            }
            "delete_statement" => {
                S::Delete(named(node).into_iter().map(|n| self.expr(n)).collect())
            }
            "pass_statement" => S::Pass,
            "break_statement" => S::Break,
            "continue_statement" => S::Continue,
            "assignment" | "augmented_assignment" => self.assignment(node),
            kind if kind.ends_with("_statement") => {
                S::Unknown(named(node).into_iter().map(|n| self.expr(n)).collect())
            }
            _ => S::Expr(self.expr(node)),
        }
    }

    fn expression_statement(&mut self, node: Node<'_>) -> StmtKind {
        let parts = named(node);
        match parts.as_slice() {
            [one] if matches!(one.kind(), "assignment" | "augmented_assignment") => {
                self.assignment(*one)
            }
            [one] => StmtKind::Expr(self.expr(*one)),
            // `a, b` without brackets.
            many => {
                let items = many.iter().map(|n| self.expr(*n)).collect();
                StmtKind::Expr(Expr {
                    span: span(node),
                    kind: ExprKind::Tuple(items),
                })
            }
        }
    }

    fn assignment(&mut self, node: Node<'_>) -> StmtKind {
        if node.kind() == "augmented_assignment" {
            let op = node
                .child_by_field_name("operator")
                .map_or("", |n| self.text(n).trim_end_matches('='))
                .into();
            return StmtKind::AugAssign {
                target: self.field(node, "left"),
                op,
                value: self.field(node, "right"),
            };
        }
        if let Some(annotation) = node.child_by_field_name("type") {
            return StmtKind::AnnAssign {
                target: self.field(node, "left"),
                annotation: self.expr(annotation),
                value: node.child_by_field_name("right").map(|n| self.expr(n)),
            };
        }
        // `a = b = c` nests to the right.
        let mut targets = vec![self.field(node, "left")];
        let mut right = node.child_by_field_name("right");
        while let Some(n) =
            right.filter(|n| n.kind() == "assignment" && n.child_by_field_name("type").is_none())
        {
            targets.push(self.field(n, "left"));
            right = n.child_by_field_name("right");
        }
        match right {
            Some(n) => StmtKind::Assign {
                targets,
                value: self.expr(n),
            },
            None => StmtKind::Unknown(targets),
        }
    }

    fn definition(&mut self, node: Node<'_>, decorators: Vec<Expr>) -> StmtKind {
        let Some(name) = node.child_by_field_name("name").map(|n| self.ident(n)) else {
            return StmtKind::Unknown(decorators);
        };
        if node.kind() == "class_definition" {
            return StmtKind::ClassDef(Box::new(ClassDef {
                name,
                decorators,
                bases: node
                    .child_by_field_name("superclasses")
                    .map_or_else(Vec::new, |n| self.args(n)),
                body: self.body(node, "body"),
            }));
        }
        StmtKind::FunctionDef(Box::new(FunctionDef {
            name,
            decorators,
            params: node
                .child_by_field_name("parameters")
                .map_or_else(Vec::new, |n| self.params(n)),
            returns: node
                .child_by_field_name("return_type")
                .map(|n| self.expr(n)),
            body: self.body(node, "body"),
            def_span: span(node),
            is_async: node.child(0).is_some_and(|n| n.kind() == "async"),
        }))
    }

    fn if_statement(&mut self, node: Node<'_>) -> StmtKind {
        let mut branches = vec![(
            self.field(node, "condition"),
            self.body(node, "consequence"),
        )];
        let mut orelse = Vec::new();
        for n in named(node) {
            match n.kind() {
                "elif_clause" => {
                    branches.push((self.field(n, "condition"), self.body(n, "consequence")))
                }
                "else_clause" => orelse = self.body(n, "body"),
                _ => {}
            }
        }
        StmtKind::If { branches, orelse }
    }

    fn alternative(&mut self, node: Node<'_>) -> Vec<Stmt> {
        node.child_by_field_name("alternative")
            .map_or_else(Vec::new, |n| self.body(n, "body"))
    }

    fn with_statement(&mut self, node: Node<'_>) -> StmtKind {
        let mut items = Vec::new();
        for clause in named(node)
            .into_iter()
            .filter(|n| n.kind() == "with_clause")
        {
            for item in named(clause) {
                let value = item.child_by_field_name("value").unwrap_or(item);
                if value.kind() == "as_pattern" {
                    let mut parts = named(value).into_iter();
                    let Some(context) = parts.next() else {
                        continue;
                    };
                    let context = self.expr(context);
                    let target = parts.next().map(|n| self.as_target(n));
                    items.push((context, target));
                } else {
                    items.push((self.expr(value), None));
                }
            }
        }
        StmtKind::With {
            items,
            body: self.body(node, "body"),
        }
    }

    fn as_target(&mut self, node: Node<'_>) -> Expr {
        match named(node).as_slice() {
            [one] if node.kind() == "as_pattern_target" => self.expr(*one),
            _ => self.expr(node),
        }
    }

    fn try_statement(&mut self, node: Node<'_>) -> StmtKind {
        let (mut handlers, mut orelse, mut finally) = (Vec::new(), Vec::new(), Vec::new());
        for n in named(node) {
            match n.kind() {
                "except_clause" | "except_group_clause" => handlers.push(self.handler(n)),
                "else_clause" => orelse = self.body(n, "body"),
                "finally_clause" => {
                    if let Some(block) = named(n).into_iter().find(|c| c.kind() == "block") {
                        finally = self.block(block);
                    }
                }
                _ => {}
            }
        }
        StmtKind::Try {
            body: self.body(node, "body"),
            handlers,
            orelse,
            finally,
        }
    }

    fn handler(&mut self, node: Node<'_>) -> Handler {
        let mut out = Handler {
            types: None,
            name: None,
            body: Vec::new(),
        };
        for n in named(node) {
            match n.kind() {
                "block" => out.body = self.block(n),
                "as_pattern" => {
                    let mut parts = named(n).into_iter();
                    out.types = parts.next().map(|t| self.expr(t));
                    out.name = parts.next().and_then(|t| self.as_target(t).last_ident());
                }
                _ if out.types.is_none() => out.types = Some(self.expr(n)),
                _ if n.kind() == "identifier" => out.name = Some(self.ident(n)),
                _ => {}
            }
        }
        out
    }

    fn match_statement(&mut self, node: Node<'_>) -> StmtKind {
        let cases = node
            .child_by_field_name("body")
            .map_or_else(Vec::new, named)
            .into_iter()
            .filter(|n| n.kind() == "case_clause")
            .map(|n| self.body(n, "consequence"))
            .collect();
        StmtKind::Match {
            subject: self.field(node, "subject"),
            cases,
        }
    }

    fn import_name(&mut self, node: Node<'_>) -> ImportName {
        match (
            node.child_by_field_name("name"),
            node.child_by_field_name("alias"),
        ) {
            (Some(name), alias) if node.kind() == "aliased_import" => ImportName {
                name: self.ident(name),
                alias: alias.map(|n| self.ident(n)),
            },
            _ => ImportName {
                name: self.ident(node),
                alias: None,
            },
        }
    }

    fn import_from(&mut self, node: Node<'_>) -> StmtKind {
        let module_node = node.child_by_field_name("module_name");
        let written = module_node.map_or("__future__", |n| self.text(n));
        let module = written.trim_start_matches('.');
        let level = (written.len() - module.len()) as u32;
        let mut names = Vec::new();
        let mut star = false;
        for n in named(node) {
            match n.kind() {
                "wildcard_import" => star = true,
                "dotted_name" | "aliased_import" if Some(n) != module_node => {
                    names.push(self.import_name(n))
                }
                _ => {}
            }
        }
        StmtKind::ImportFrom {
            module: module.trim().into(),
            level,
            names,
            star,
        }
    }
}
