//! From tree-sitter's tree of one item to the owned [`crate::ast`].
//!
//! Everything unknown to it becomes `Unknown` with the parts that are understood, so a file written
//! for a newer Python still shows its kernels. Depth is bounded: a 3,000-deep expression is a test
//! of patience, not a kernel, and must not overflow a thread's stack.

mod expr;
mod stmt;

use smol_str::SmolStr;
use tree_sitter::Node;

use crate::Span;
use crate::ast::{Expr, ExprKind, Ident, Stmt};

/// Nesting beyond which everything is `Unknown`. Real code stays under 30.
const MAX_DEPTH: u32 = 120;

/// Lowers the children of a module node.
pub(crate) fn module(root: Node<'_>, text: &str) -> Vec<Stmt> {
    let mut lower = Lower { text, depth: 0 };
    lower.block(root)
}

struct Lower<'a> {
    text: &'a str,
    depth: u32,
}

impl<'a> Lower<'a> {
    fn text(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    fn ident(&self, node: Node<'_>) -> Ident {
        Ident {
            name: SmolStr::new(self.text(node)),
            span: span(node),
        }
    }

    /// Runs `f` one level deeper, or gives nothing when that is too deep.
    fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let out = f(self);
        self.depth -= 1;
        Some(out)
    }

    fn field(&mut self, node: Node<'_>, name: &str) -> Expr {
        match node.child_by_field_name(name) {
            Some(child) => self.expr(child),
            None => Expr {
                span: span(node),
                kind: ExprKind::Unknown(Vec::new()),
            },
        }
    }

    fn boxed(&mut self, node: Node<'_>, name: &str) -> Box<Expr> {
        Box::new(self.field(node, name))
    }
}

fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// Named children without comments and faults.
fn named<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|n| !n.is_extra() && !n.is_error() && !n.is_missing())
        .collect()
}
