//! Rust text with all its mutants in it, chosen at run time: one build for all of them.
//!
//! Text is put around expressions at their places, so the rest stays as written. What a macro other
//! than `matches!` is given is left alone.

use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Arm, BinOp, Block, Expr, ExprBinary, ExprClosure, ExprIf, ExprMethodCall, ExprWhile, ItemFn,
    ReturnType, Stmt, Type, UnOp,
};

/// One change of a file.
#[derive(Debug, Clone)]
pub(crate) struct Mutant {
    /// In the whole crate, from 1.
    pub(crate) number: u32,
    /// From 1.
    pub(crate) line: usize,
    /// What is changed, on one line.
    pub(crate) original: String,
    /// What becomes of it.
    pub(crate) change: &'static str,
}

/// Text put around a range.
struct Around {
    range: Range<usize>,
    before: String,
    after: &'static str,
}

/// The change that makes a condition its opposite.
pub(super) const NEGATED: &str = "negated";
/// The change of a function without a value, as detectors are, that makes it do nothing.
pub(super) const AT_ONCE: &str = "returns at once";
/// The change that leaves a fix out.
pub(super) const NO_FIX: &str = "the fix is not attached";

/// Methods whose closure decides.
const DECIDING: [&str; 12] = [
    "all",
    "any",
    "filter",
    "find",
    "is_none_or",
    "is_some_and",
    "partition",
    "position",
    "retain",
    "rposition",
    "skip_while",
    "take_while",
];

/// The text with its mutants, numbered from `first`.
///
/// # Errors
/// It is no Rust.
pub(crate) fn mutate(text: &str, first: u32) -> syn::Result<(String, Vec<Mutant>)> {
    let file = syn::parse_file(text)?;
    let mut mutator = Mutator {
        text,
        next: first,
        around: Vec::new(),
        mutants: Vec::new(),
    };
    mutator.visit_file(&file);
    let out = woven(text, &mutator.around);
    Ok((out, mutator.mutants))
}

/// Of what starts or ends at one place, the inner is the nearer.
fn woven(text: &str, around: &[Around]) -> String {
    let mut inserted: Vec<(usize, bool, usize, &str)> = Vec::new();
    for a in around {
        let len = a.range.len();
        inserted.push((a.range.end, false, len, a.after));
        inserted.push((a.range.start, true, usize::MAX - len, &a.before));
    }
    // Endings before starts; of endings the shortest first, of starts the longest. Stable: of two
    // around the same range the first noted must be the outer, and its ending the later.
    let mut numbered: Vec<_> = inserted.into_iter().enumerate().collect();
    numbered.sort_by_key(|(i, (at, opens, len, _))| {
        let order = if *opens { *i as isize } else { -(*i as isize) };
        (*at, *opens, *len, order)
    });
    let mut out = String::with_capacity(text.len() * 2);
    let mut done = 0;
    for (_, (at, _, _, added)) in numbered {
        out.push_str(&text[done..at]);
        out.push_str(added);
        done = at;
    }
    out.push_str(&text[done..]);
    out
}

struct Mutator<'t> {
    text: &'t str,
    next: u32,
    around: Vec<Around>,
    mutants: Vec<Mutant>,
}

impl Mutator<'_> {
    fn mutant(&mut self, range: &Range<usize>, change: &'static str) -> u32 {
        let number = self.next;
        self.next += 1;
        let words: Vec<&str> = self.text[range.clone()].split_whitespace().collect();
        self.mutants.push(Mutant {
            number,
            line: self.text[..range.start].matches('\n').count() + 1,
            original: words.join(" "),
            change,
        });
        number
    }

    fn wrap(&mut self, range: Range<usize>, before: String, after: &'static str) {
        self.around.push(Around {
            range,
            before,
            after,
        });
    }

    /// Something that is true or false: each of `yes` and `no` that is asked for.
    fn decision(&mut self, expr: &Expr, yes: bool, no: bool) {
        match expr {
            Expr::Paren(inner) => return self.decision(&inner.expr, yes, no),
            Expr::Binary(b) if matches!(b.op, BinOp::And(_)) => {
                // To drop a side is to take it for true.
                self.decision(&b.left, true, no && !has_let(&b.left));
                return self.decision(&b.right, true, no && has_let(&b.left));
            }
            Expr::Binary(b) if matches!(b.op, BinOp::Or(_)) => {
                self.decision(&b.left, yes, true);
                return self.decision(&b.right, false, true);
            }
            Expr::Let(_) | Expr::Lit(_) | Expr::Block(_) | Expr::If(_) | Expr::Match(_) => return,
            _ => {}
        }
        let range = expr.span().byte_range();
        let negated = self.mutant(&range, NEGATED);
        let yes = if yes { self.mutant(&range, "true") } else { 0 };
        let no = if no { self.mutant(&range, "false") } else { 0 };
        let before = format!("crate::mutants::cond({negated}, {yes}, {no}, ");
        self.wrap(range, before, ")");
    }

    /// A function that returns at once, with nothing.
    fn body(&mut self, output: &ReturnType, block: &Block) {
        let at = block.brace_token.span.open().byte_range().end;
        let whole = at..at;
        let values: &[(&'static str, &'static str)] = match output {
            ReturnType::Default => &[(AT_ONCE, "")],
            ReturnType::Type(_, ty) => match &**ty {
                Type::Path(p) => match p.path.segments.last().map(|s| s.ident.to_string()) {
                    Some(name) if name == "bool" => {
                        &[("returns true", "true"), ("returns false", "false")]
                    }
                    Some(name) if name == "Option" => &[("returns None", "None")],
                    Some(name) if name == "Vec" => &[("returns nothing", "Vec::new()")],
                    _ => &[],
                },
                _ => &[],
            },
        };
        for (change, value) in values {
            let number = self.mutant(&whole, change);
            if let Some(last) = self.mutants.last_mut() {
                last.original = self.text[..at]
                    .lines()
                    .next_back()
                    .unwrap_or_default()
                    .trim()
                    .into();
            }
            let before = format!(" if crate::mutants::on({number}) {{ return {value}; }}");
            self.wrap(whole.clone(), before, "");
        }
    }
}

fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(b) => has_let(&b.left) || has_let(&b.right),
        _ => false,
    }
}

/// The value of a closure's body.
fn value_of(expr: &Expr) -> &Expr {
    if let Expr::Block(b) = expr
        && let Some(Stmt::Expr(last, None)) = b.block.stmts.last()
    {
        return value_of(last);
    }
    expr
}

fn is_for_tests(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|a| {
        a.path().is_ident("test")
            || (a.path().is_ident("cfg")
                && a.parse_args::<syn::Path>()
                    .is_ok_and(|p| p.is_ident("test")))
    })
}

impl<'ast> Visit<'ast> for Mutator<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if is_for_tests(&item.attrs) || item.sig.constness.is_some() {
            return;
        }
        self.body(&item.sig.output, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if is_for_tests(&item.attrs) || item.sig.constness.is_some() {
            return;
        }
        self.body(&item.sig.output, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    // What must be known when it is built.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_type(&mut self, _: &'ast Type) {}

    fn visit_expr_if(&mut self, expr: &'ast ExprIf) {
        self.decision(&expr.cond, true, true);
        visit::visit_expr_if(self, expr);
    }

    fn visit_expr_while(&mut self, expr: &'ast ExprWhile) {
        self.decision(&expr.cond, false, true);
        visit::visit_expr_while(self, expr);
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        if let Some((_, guard)) = &arm.guard {
            self.decision(guard, true, true);
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let name = call.method.to_string();
        if name == "then_some" {
            self.decision(&call.receiver, true, true);
        }
        if let Some(Expr::Closure(ExprClosure { body, .. })) = call.args.last()
            && DECIDING.contains(&name.as_str())
        {
            self.decision(value_of(body), true, true);
        }
        if matches!(name.as_str(), "safe_fix" | "review_fix")
            && let Some(title) = call.args.first()
        {
            let range = title.span().byte_range();
            let number = self.mutant(&range, NO_FIX);
            self.wrap(range, format!("crate::mutants::title({number}, "), ")");
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_binary(&mut self, expr: &'ast ExprBinary) {
        let (swapped, function, negated) = match expr.op {
            BinOp::Lt(_) => ("<=", "less", false),
            BinOp::Le(_) => ("<", "at_most", false),
            // `a > b` is not `a <= b`.
            BinOp::Gt(_) => (">=", "at_most", true),
            BinOp::Ge(_) => (">", "less", true),
            _ => return visit::visit_expr_binary(self, expr),
        };
        let whole = expr.span().byte_range();
        let number = self.mutant(&whole, swapped);
        let not = if negated { "!" } else { "" };
        self.wrap(
            whole,
            format!("{not}crate::mutants::{function}({number}, &("),
            "))",
        );
        self.around.push(Around {
            range: expr.op.span().byte_range(),
            before: "), &(/*".into(),
            after: "*/",
        });
        visit::visit_expr_binary(self, expr);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        // `let known = a && b;`: whoever reads it decides by it.
        if let Some(init) = &local.init
            && is_plainly_bool(&init.expr)
        {
            let deciding = match &*init.expr {
                Expr::Closure(c) => value_of(&c.body),
                other => other,
            };
            self.decision(deciding, true, true);
        }
        visit::visit_local(self, local);
    }
}

fn is_plainly_bool(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(b) => matches!(
            b.op,
            BinOp::And(_)
                | BinOp::Or(_)
                | BinOp::Eq(_)
                | BinOp::Ne(_)
                | BinOp::Lt(_)
                | BinOp::Gt(_)
                | BinOp::Le(_)
                | BinOp::Ge(_)
        ),
        Expr::Unary(u) => matches!(u.op, UnOp::Not(_)) && is_plainly_bool(&u.expr),
        Expr::Macro(m) => m.mac.path.is_ident("matches"),
        Expr::Closure(c) => is_plainly_bool(value_of(&c.body)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(text: &str) -> Vec<(String, &'static str)> {
        let (out, mutants) = mutate(text, 1).expect("it is Rust");
        syn::parse_file(&out).unwrap_or_else(|e| panic!("{e} in\n{out}"));
        let numbers: Vec<u32> = mutants.iter().map(|m| m.number).collect();
        assert_eq!(numbers, (1..=mutants.len() as u32).collect::<Vec<_>>());
        mutants
            .into_iter()
            .map(|m| (m.original, m.change))
            .collect()
    }

    #[test]
    fn sides_of_a_chain_are_dropped_and_its_let_is_left() {
        let found = changes("fn f() -> u8 { if let Some(x) = y && a(x) && !b { 1 } else { 2 } }");
        let wanted = [
            ("a(x)", NEGATED),
            ("a(x)", "true"),
            ("!b", NEGATED),
            ("!b", "true"),
            ("!b", "false"),
        ];
        assert_eq!(found, wanted.map(|(o, c)| (o.to_owned(), c)));
        let found = changes("fn f() -> u8 { if a || (b && c) { 1 } else { 2 } }");
        let wanted = [
            ("a", NEGATED),
            ("a", "true"),
            ("a", "false"),
            ("b", NEGATED),
            ("b", "true"),
            ("b", "false"),
            ("c", NEGATED),
            ("c", "true"),
        ];
        assert_eq!(found, wanted.map(|(o, c)| (o.to_owned(), c)));
    }

    #[test]
    fn text_around_one_expression_nests() {
        let (out, _) = mutate("fn f() -> u8 { if a < b { 1 } else { 2 } }", 7).expect("it is Rust");
        assert!(
            out.contains(
                "if crate::mutants::cond(7, 8, 9, crate::mutants::less(10, &(a ), &(/*<*/ b))) {"
            ),
            "{out}"
        );
    }

    #[test]
    fn tests_and_constants_are_not_broken() {
        let text = "const A: bool = 1 < 2;\n#[cfg(test)]\nmod tests { fn g() { if a { } } }\n\
                    #[test]\nfn t() { if a { } }";
        assert_eq!(changes(text), []);
    }

    #[test]
    fn a_detector_does_nothing_and_a_fix_is_not_attached() {
        let found = changes("fn check(out: &mut F) { out.push(s, m).safe_fix(\"T\", e); }");
        assert_eq!(found[0].1, "returns at once");
        assert_eq!(found[1], ("\"T\"".to_owned(), "the fix is not attached"));
    }
}
