//! Places of a compile in texts that are edited meanwhile.
//!
//! A compile speaks of lines and columns of the text that it saw. What is kept is the place within
//! its top-level statement, so that edits elsewhere in the file move it along for nothing; within an
//! edited statement a place stays where its line still stands.

use std::sync::Arc;

use smol_str::SmolStr;
use tileperf_analysis::compiled::Kind;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt};
use tileperf_syntax::{Item, ParsedFile, Span, Text};

/// A place in a top-level statement.
#[derive(Debug, Clone)]
pub(super) struct Anchor {
    name: Option<SmolStr>,
    /// Which of those with this name, from 0.
    nth: usize,
    /// The text of the statement, then.
    text: Arc<str>,
    /// Bytes from its start.
    offset: usize,
}

/// Statements of one text, for several places of one compile.
#[derive(Debug)]
pub(super) struct Anchors<'t> {
    text: &'t Text,
    parsed: &'t ParsedFile,
    texts: Vec<Option<Arc<str>>>,
}

impl<'t> Anchors<'t> {
    pub(super) fn new(text: &'t Text, parsed: &'t ParsedFile) -> Self {
        Self {
            text,
            parsed,
            texts: vec![None; parsed.items.len()],
        }
    }

    /// The place at a line, from 1, and a column, in bytes from 0.
    pub(super) fn at(&mut self, line: u32, column: u32) -> Option<Anchor> {
        let line = (line as usize).checked_sub(1)?;
        if line >= self.text.line_count() {
            return None;
        }
        let span = self.text.line_span(line);
        let offset = (span.start + column).min(span.end);
        let number = (self.parsed.items.iter()).position(|item| {
            item.span.start <= offset && offset < item.span.end.max(item.span.start + 1)
        })?;
        let item = &self.parsed.items[number];
        let name = item.facts.name.clone();
        let before = self.parsed.items[..number].iter();
        let nth = before.filter(|i| i.facts.name == name).count();
        let text = self.texts[number].get_or_insert_with(|| self.text.slice(item.span).into());
        Some(Anchor {
            name,
            nth,
            text: Arc::clone(text),
            offset: (offset - item.span.start) as usize,
        })
    }
}

impl Anchor {
    /// Whether the statement that it is in is what it was.
    pub(super) fn is_unchanged(&self, text: &Text, parsed: &ParsedFile) -> bool {
        let mut named = parsed.items.iter().filter(|i| i.facts.name == self.name);
        let item = named.nth(self.nth);
        item.is_some_and(|item| text.slice(item.span) == &*self.text)
    }

    /// Where that is in the present text, with the statement that it is in.
    pub(super) fn find<'p>(&self, text: &Text, parsed: &'p ParsedFile) -> Option<(u32, &'p Item)> {
        let mut named = parsed.items.iter().filter(|i| i.facts.name == self.name);
        let item = named.nth(self.nth)?;
        let now = text.slice(item.span);
        let offset = if now == &*self.text {
            self.offset
        } else {
            moved(&self.text, now, self.offset)?
        };
        Some((item.span.start + offset as u32, item))
    }

    /// The expression that a remark of this kind speaks of, in the present text.
    pub(super) fn operation(&self, text: &Text, parsed: &ParsedFile, kind: &Kind) -> Option<Span> {
        let (at, item) = self.find(text, parsed)?;
        Some(operation(item, at, kind).unwrap_or(Span::new(at as usize, at as usize)))
    }

    /// The rest of the expression that begins there, else of the line.
    pub(super) fn expression(&self, text: &Text, parsed: &ParsedFile) -> Option<Span> {
        let (at, item) = self.find(text, parsed)?;
        let mut widest: Option<Span> = None;
        each(item, at, &mut |_, span| {
            if widest.is_none_or(|w| span.end > w.end) {
                widest = Some(span);
            }
        });
        let line = || text.line_span(text.line_of(at as usize)).end.max(at);
        Some(widest.unwrap_or_else(|| Span::new(at as usize, line() as usize)))
    }
}

/// An offset of the old text in the new one, if its line was not edited.
fn moved(old: &str, new: &str, offset: usize) -> Option<usize> {
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let before = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let rest = (a[before..].iter().rev()).zip(b[before..].iter().rev());
    let after = rest.take_while(|(a, b)| a == b).count();
    let start = (a.get(..offset)?.iter()).rposition(|c| *c == b'\n');
    let start = start.map_or(0, |at| at + 1);
    let end = a[offset..].iter().position(|c| *c == b'\n');
    let end = end.map_or(a.len(), |at| offset + at);
    // A line above all that was edited ends in front of it, one below begins behind it.
    if end < before || (end == before && end == a.len()) {
        return Some(offset);
    }
    (start >= a.len() - after).then(|| b.len() - (a.len() - offset))
}

/// The expression at an offset that a remark speaks of: the call, or the multiplication written `@`.
fn operation(item: &Item, at: u32, kind: &Kind) -> Option<Span> {
    let multiplies = matches!(kind, Kind::TensorCore { .. } | Kind::Fma { .. });
    let mut best: Option<(u8, Span)> = None;
    each(item, at, &mut |expr, span| {
        let rank = match &expr.kind {
            ExprKind::Call { func, .. } => match last_name(func) {
                "mma" | "matmul" | "mma_scaled" if multiplies => 0,
                "load" | "store" | "gather" | "scatter" if !multiplies => 0,
                _ => 2,
            },
            ExprKind::Binary { op, .. } if op == "@" && multiplies => 1,
            _ => return,
        };
        let better = |(known, narrow): (u8, Span)| (rank, span.end) < (known, narrow.end);
        if best.is_none_or(better) {
            best = Some((rank, span));
        }
    });
    best.map(|(_, span)| span)
}

fn last_name(func: &Expr) -> &str {
    match &func.kind {
        ExprKind::Attribute { attr, .. } => &attr.name,
        ExprKind::Name(name) => name,
        _ => "",
    }
}

/// Every expression of a statement that begins at an offset of the file.
fn each(item: &Item, at: u32, found: &mut dyn FnMut(&Expr, Span)) {
    fn block(stmts: &[Stmt], item: &Item, at: u32, found: &mut dyn FnMut(&Expr, Span)) {
        for stmt in stmts {
            stmt.own_exprs(&mut |expr| {
                expr.walk(&mut |expr| {
                    let span = item.place(expr.span);
                    if span.start == at {
                        found(expr, span);
                    }
                });
            });
            for inner in stmt.blocks() {
                block(inner, item, at, found);
            }
        }
    }
    block(&item.facts.body, item, at, found);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remark(what: &str) -> Kind {
        match what {
            "mma" => Kind::Fma {
                reasons: Vec::new(),
            },
            _ => Kind::Plain {
                access: tileperf_analysis::compiled::Access::Load,
                reasons: Vec::new(),
            },
        }
    }

    fn anchor(text: &str, mark: &str) -> Anchor {
        let at = text.find(mark).unwrap();
        let text = Text::new(text);
        let parsed = tileperf_syntax::parse(text.as_str());
        let line = text.line_of(at);
        let column = at as u32 - text.line_span(line).start;
        Anchors::new(&text, &parsed)
            .at(line as u32 + 1, column)
            .unwrap()
    }

    fn operation_now(anchor: &Anchor, text: &str, kind: &str) -> Option<String> {
        let text = Text::new(text);
        let parsed = tileperf_syntax::parse(text.as_str());
        let span = anchor.operation(&text, &parsed, &remark(kind))?;
        Some(text.slice(span).to_owned())
    }

    const KERNEL: &str = "import cuda.tile as ct\n\ndef h(a):\n    return a\n\ndef k(x, y):\n    é = ct.load(x, (0,), (8,)).astype(ct.float32)\n    t = ct.load(y, (0,), (8,)) @ é\n    z = ct.mma(h(t), t, é) + 1\n";

    #[test]
    fn the_expression_is_what_the_remark_speaks_of() {
        let load = anchor(KERNEL, "ct.load(x");
        assert_eq!(
            operation_now(&load, KERNEL, "").unwrap(),
            "ct.load(x, (0,), (8,))"
        );
        // A load and the product that begins with it stand at the same place.
        let both = anchor(KERNEL, "ct.load(y");
        assert_eq!(
            operation_now(&both, KERNEL, "").unwrap(),
            "ct.load(y, (0,), (8,))"
        );
        assert_eq!(
            operation_now(&both, KERNEL, "mma").unwrap(),
            "ct.load(y, (0,), (8,)) @ é"
        );
        let mma = anchor(KERNEL, "ct.mma");
        assert_eq!(
            operation_now(&mma, KERNEL, "mma").unwrap(),
            "ct.mma(h(t), t, é)"
        );
    }

    #[test]
    fn a_place_follows_its_line() {
        let load = anchor(KERNEL, "ct.load(y");
        let call = "ct.load(y, (0,), (8,))";
        let edits: &[(&str, &str, bool)] = &[
            // Elsewhere in the file.
            ("import cuda", "# more\n\nimport os\nimport cuda", true),
            ("return a", "return a + 1", true),
            // In the same function, above, below and in the line itself.
            ("    é = ", "    n = 1\n    é = ", true),
            (
                "(8,)).astype(ct.float32)",
                "(16,)).astype(ct.float16)",
                true,
            ),
            ("+ 1\n", "+ 1\n    return z\n", true),
            ("ct.load(y, (0,), (8,))", "ct.load(y, (1,), (8,))", false),
            ("    t = ct.load(y, (0,), (8,)) @ é\n", "", false),
            // The function is gone.
            ("def k(", "def other(", false),
        ];
        for (old, new, stays) in edits {
            let now = KERNEL.replacen(old, new, 1);
            assert_ne!(now, KERNEL);
            let found = operation_now(&load, &now, "");
            assert_eq!(found.as_deref(), stays.then_some(call), "{old} -> {new}");
        }
    }

    #[test]
    fn of_two_functions_with_one_name_each_has_its_own() {
        let text = "def k(x):\n    a = f(x)\n\ndef k(y):\n    b = f(y)\n";
        let second = anchor(text, "f(y)");
        assert_eq!(operation_now(&second, text, "").unwrap(), "f(y)");
        let edited = text.replace("f(x)", "f(x, x)");
        assert_eq!(operation_now(&second, &edited, "").unwrap(), "f(y)");
    }

    #[test]
    fn places_that_no_text_has() {
        let text = Text::new("x = 1\n");
        let parsed = tileperf_syntax::parse(text.as_str());
        let mut anchors = Anchors::new(&text, &parsed);
        for (line, column) in [(0, 0), (9, 0), (u32::MAX, u32::MAX)] {
            assert!(anchors.at(line, column).is_none());
        }
        // Behind the end of a line is at its end.
        let end = anchors.at(1, 99);
        assert!(end.is_none_or(|end| end.find(&text, &parsed).unwrap().0 <= 6));
    }
}
