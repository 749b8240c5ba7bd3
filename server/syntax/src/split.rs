//! Cuts a Python text into its top-level items without parsing it.
//!
//! The unit of caching is the top-level item: its facts are a function of its own text alone. So
//! the cut must be cheap (a few nanoseconds a byte), must not depend on what was there before, and
//! must keep a fault local: an unbalanced bracket ends at the next line that can only be a new
//! statement. That is what makes facts after an edit equal to facts from scratch by construction,
//! which an error-recovering parser over the whole file cannot promise.

use crate::Span;

/// The items of a text and whether the text ends inside a string.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Items in order; comments and blank lines between them belong to none.
    pub(crate) items: Vec<Span>,
    /// The text ends within a string literal: quotes are out of step somewhere before.
    pub(crate) torn: bool,
}

/// What the item being collected is, as far as it decides whether the next line belongs to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Only decorators so far.
    Decorators,
    /// `if`, `for`, `while`, `try`: may go on with `else` and its kin.
    Branching,
    Other,
}

impl Open {
    /// Whether a line at the same depth that begins so belongs to the same statement.
    fn joins(self, first: u8, word: &[u8]) -> bool {
        match self {
            Open::Decorators => first == b'@' || matches!(word, b"def" | b"class" | b"async"),
            Open::Branching => matches!(word, b"elif" | b"else" | b"except" | b"finally"),
            Open::Other => false,
        }
    }

    /// What a statement is after a line that begins so.
    fn after(was: Option<Open>, first: u8, word: &[u8]) -> Open {
        match (was, word) {
            (None | Some(Open::Decorators), _) if first == b'@' => Open::Decorators,
            (None, b"if" | b"for" | b"while" | b"try" | b"async") => Open::Branching,
            (Some(Open::Decorators) | None, _) => Open::Other,
            (Some(open), _) => open,
        }
    }
}

/// Cuts `text` from byte `from` on, which must be 0 or the start of an item. Stops early when an
/// item would start at an offset for which `known` holds: from there on the cut is the known one.
/// Returns the items up to there and that offset (the text's length when it ran to the end).
pub(crate) fn cut(text: &str, from: usize, known: impl Fn(usize) -> bool) -> (Cut, usize) {
    let bytes = text.as_bytes();
    let mut out = Cut::default();
    let mut current: Option<(usize, usize, Open)> = None;
    let mut at = if from == 0 && bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        from
    };
    while at < bytes.len() {
        let line = at;
        let first = indented(bytes, line);
        match bytes.get(first) {
            None => break,
            Some(b'\n' | b'\r' | b'#') => {
                at = next_line(bytes, first);
                continue;
            }
            Some(_) => {}
        }
        let word = leading_word(&bytes[first..]);
        let joins = match current {
            Some(_) if first > line => true,
            Some((_, _, open)) => open.joins(bytes[first], word),
            None => false,
        };
        if !joins {
            if let Some((start, end, _)) = current.take() {
                out.items.push(Span::new(start, end));
            }
            if first > from && known(first) {
                return (out, first);
            }
        }
        let Line {
            end, next, torn, ..
        } = logical_line(bytes, first);
        out.torn |= torn;
        current = Some(match current {
            Some((start, _, was)) if first > line => (start, end, was),
            Some((start, _, was)) => (start, end, Open::after(Some(was), bytes[first], word)),
            None => (first, end, Open::after(None, bytes[first], word)),
        });
        at = next;
    }
    if let Some((start, end, _)) = current {
        out.items.push(Span::new(start, end));
    }
    (out, bytes.len())
}

/// One statement of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    /// From its first token to its last.
    pub(crate) span: Span,
    /// The headers of its clauses, decorators included, up to and with the `:`. Empty unless each
    /// clause has its suite on lines of its own.
    pub(crate) headers: Vec<Span>,
}

/// Why a suite cannot be cut into statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoSuite {
    /// A bracket or quote without its partner, a header without its suite: Python will not accept it.
    Unbalanced,
    /// Its lines are not indented alike; a parser may know better.
    Uneven,
}

/// Cuts the lines in `region` of a text, a whole suite whose statements are indented by exactly
/// `indent`, into statements.
pub(crate) fn suite(text: &str, region: Span, indent: &str) -> Result<Vec<Statement>, NoSuite> {
    let bytes = &text.as_bytes()[..region.end as usize];
    let mut out: Vec<Statement> = Vec::new();
    let mut open = None;
    // How far the header was indented whose suite is to come. tree-sitter takes none for an empty one.
    let mut header: Option<usize> = None;
    let mut at = region.start as usize;
    while at < bytes.len() {
        let first = indented(bytes, at);
        match bytes.get(first) {
            None => break,
            Some(b'\n' | b'\r' | b'#') => {
                at = next_line(bytes, first);
                continue;
            }
            Some(_) => {}
        }
        if header.is_some_and(|outer| first - at <= outer) {
            return Err(NoSuite::Unbalanced);
        }
        let deeper = match bytes[at..first].strip_prefix(indent.as_bytes()) {
            Some(rest) => !rest.is_empty(),
            None => return Err(NoSuite::Uneven),
        };
        let line = logical_line(bytes, first);
        if !line.balanced {
            return Err(NoSuite::Unbalanced);
        }
        header = (bytes[line.end - 1] == b':').then_some(first - at);
        at = line.next;
        let word = leading_word(&bytes[first..]);
        let here = Span::new(first, line.end);
        match (out.last_mut(), open) {
            (Some(statement), _) if deeper => statement.span.end = here.end,
            (None, _) if deeper => return Err(NoSuite::Uneven),
            (Some(statement), Some(was @ Open::Decorators)) if was.joins(bytes[first], word) => {
                open = Some(Open::after(open, bytes[first], word));
                statement.span.end = here.end;
                statement.headers = vec![statement.span];
            }
            (Some(statement), Some(was)) if was.joins(bytes[first], word) => {
                statement.span.end = here.end;
                statement.headers.push(here);
            }
            _ => {
                open = Some(Open::after(None, bytes[first], word));
                out.push(Statement {
                    span: here,
                    headers: vec![here],
                });
            }
        }
    }
    if header.is_some() {
        return Err(NoSuite::Unbalanced);
    }
    for statement in &mut out {
        let suites = |headers: &[Span], end: u32| {
            let ends = headers.iter().skip(1).map(|h| h.start).chain([end]);
            (headers.iter().zip(ends)).all(|(header, end)| {
                bytes[header.end as usize - 1] == b':'
                    && indented(bytes, next_line(bytes, header.end as usize)) < end as usize
            })
        };
        if !suites(&statement.headers, statement.span.end) {
            statement.headers.clear();
        }
    }
    Ok(out)
}

/// The whitespace that the first line of code at or after the line start `from` begins with.
pub(crate) fn indent_at(text: &str, from: usize) -> &str {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        let first = indented(bytes, at);
        match bytes.get(first) {
            Some(b'\n' | b'\r' | b'#') => at = next_line(bytes, first),
            _ => return &text[at..first],
        }
    }
}

/// The start of the line after the one that holds `from`.
pub(crate) fn line_after(text: &str, from: usize) -> usize {
    next_line(text.as_bytes(), from)
}

/// The first byte of a line that is no whitespace.
fn indented(bytes: &[u8], line: usize) -> usize {
    let mut first = line.min(bytes.len());
    while matches!(bytes.get(first), Some(b' ' | b'\t' | b'\x0c')) {
        first += 1;
    }
    first
}

fn next_line(bytes: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |i| from + i + 1)
}

fn leading_word(bytes: &[u8]) -> &[u8] {
    let end = bytes
        .iter()
        .position(|b| !(b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80))
        .unwrap_or(bytes.len());
    &bytes[..end]
}

/// A line that starts so cannot be inside brackets: whatever was open before it was left open by
/// mistake. (`for`, `if`, `else`, `lambda`, names and operators can be.)
fn only_a_statement(bytes: &[u8]) -> bool {
    match leading_word(bytes) {
        b"def" | b"class" | b"import" | b"while" | b"try" | b"with" | b"raise" | b"return" => true,
        b"from" => bytes.get(4) == Some(&b' '),
        b"" => matches!(bytes, [b'@', b, ..] if b.is_ascii_alphabetic() || *b == b'_'),
        _ => false,
    }
}

/// A logical line: what Python takes for one line, brackets and strings considered.
struct Line {
    /// End of its last token.
    end: usize,
    /// Start of the line after it.
    next: usize,
    /// The text ended inside a string.
    torn: bool,
    /// Every bracket has its partner.
    balanced: bool,
}

/// Bytes that are part of a token and mean nothing to the cut: most of a text, so that a look at a
/// table is what a byte should cost.
const PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let special = b"\n \t\r\x0c#\\\"'()[]{}";
    let mut i = 0;
    while i < special.len() {
        plain[special[i] as usize] = false;
        i += 1;
    }
    plain
};

/// Scans the logical line at `from`.
fn logical_line(bytes: &[u8], from: usize) -> Line {
    let mut depth = 0usize;
    let mut extra = false;
    let mut at = from;
    let mut end = from;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => {
                if depth == 0 || only_a_statement(&bytes[indented(bytes, at + 1)..]) {
                    return Line {
                        end,
                        next: at + 1,
                        torn: false,
                        balanced: depth == 0 && !extra,
                    };
                }
                at += 1;
            }
            b' ' | b'\t' | b'\r' | b'\x0c' => at += 1,
            b'#' => at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |i| at + i),
            b'\\' => {
                // A continued line; the line end may be `\r\n`.
                at += match &bytes[at..] {
                    [_, b'\r', b'\n', ..] => 3,
                    [_, _, ..] => 2,
                    _ => 1,
                };
                end = at;
            }
            quote @ (b'"' | b'\'') => {
                let triple = bytes[at..].starts_with(&[quote; 3]);
                let (next, closed) = string(bytes, at, quote, triple);
                at = next;
                end = next;
                if !closed && triple {
                    return Line {
                        end: bytes.len(),
                        next: bytes.len(),
                        torn: true,
                        balanced: false,
                    };
                }
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                at += 1;
                end = at;
            }
            b')' | b']' | b'}' => {
                extra |= depth == 0;
                depth = depth.saturating_sub(1);
                at += 1;
                end = at;
            }
            _ => {
                let plain = bytes[at..].iter().position(|b| !PLAIN[usize::from(*b)]);
                at = plain.map_or(bytes.len(), |i| at + i);
                end = at;
            }
        }
    }
    Line {
        end,
        next: bytes.len(),
        torn: false,
        balanced: depth == 0 && !extra,
    }
}

/// From an opening quote to after the closing one; an unclosed one-line string ends with its line.
fn string(bytes: &[u8], from: usize, quote: u8, triple: bool) -> (usize, bool) {
    let mut at = from + if triple { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => {
                at += if bytes[at..].starts_with(b"\\\r\n") {
                    3
                } else {
                    2
                }
            }
            b'\n' if !triple => return (at, false),
            b if b == quote => {
                if !triple {
                    return (at + 1, true);
                }
                if bytes[at..].starts_with(&[quote; 3]) {
                    return (at + 3, true);
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    (bytes.len(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<&str> {
        cut(text, 0, |_| false)
            .0
            .items
            .iter()
            .map(|s| &text[s.range()])
            .collect()
    }

    #[test]
    fn items_are_whole_statements() {
        let cases: &[(&str, &[&str])] = &[
            ("import a\n\n# note\nx = 1 # end\n", &["import a", "x = 1"]),
            (
                "@a\n# why\n@b(\n1)\ndef f():\n  pass\n\n# in\n  return\ny=2",
                &[
                    "@a\n# why\n@b(\n1)\ndef f():\n  pass\n\n# in\n  return",
                    "y=2",
                ],
            ),
            (
                "if a:\n  b\nelif c:\n  d\nelse:\n  e\nf",
                &["if a:\n  b\nelif c:\n  d\nelse:\n  e", "f"],
            ),
            (
                "try:\n  a\nexcept E:\n  b\nfinally:\n  c\n",
                &["try:\n  a\nexcept E:\n  b\nfinally:\n  c"],
            ),
            (
                "x = '''\ndef f():\n'''\ny = \"a # b\"\n",
                &["x = '''\ndef f():\n'''", "y = \"a # b\""],
            ),
            ("x = [\n1,\nfor_]\n", &["x = [\n1,\nfor_]"]),
            ("x = a + \\\n  b\ny", &["x = a + \\\n  b", "y"]),
            (
                "\u{feff}import a\r\ndef f():\r\n\treturn 1\r\n",
                &["import a", "def f():\r\n\treturn 1"],
            ),
            ("@dangling\nx = 1", &["@dangling", "x = 1"]),
            ("async def f():\n  pass\n", &["async def f():\n  pass"]),
        ];
        for (text, want) in cases {
            assert_eq!(&items(text), want, "{text:?}");
        }
    }

    #[test]
    fn an_unbalanced_opener_harms_one_item() {
        assert_eq!(
            items("x = f(\ndef g():\n  pass\n"),
            ["x = f(", "def g():\n  pass"]
        );
        assert_eq!(
            items("x = f(1\n@k\ndef g():\n  pass\n"),
            ["x = f(1", "@k\ndef g():\n  pass"]
        );
        assert_eq!(items("x = 'open\ny = 1"), ["x = 'open", "y = 1"]);
    }

    #[test]
    fn a_header_without_its_suite_is_a_fault() {
        let fault = |text: &str| {
            let whole = Span::new(0, text.len());
            suite(text, whole, "") == Err(NoSuite::Unbalanced)
        };
        for text in [
            "if a:\nb",
            "if a:\n    # nothing\nb",
            "def f():\n    if a:\n        # nothing\n    b",
            "def f():\n    b\n    else:",
            "x = 1\nfor i in y: # why\n\n",
        ] {
            assert!(fault(text), "{text:?}");
        }
        for text in [
            "if a: b\nc",
            "if a:\n    # why\n\n    b\nc",
            "x = y[1:\n2]\nz",
            "x = {1:\n2}\nz",
            "if a:\n  '''b\n'''\nc",
        ] {
            assert!(!fault(text), "{text:?}");
        }
    }

    #[test]
    fn a_text_that_ends_in_a_string_is_torn() {
        assert!(cut("a\nx = '''\ndef f(): pass", 0, |_| false).0.torn);
        assert!(!cut("a\nx = '''\n'''", 0, |_| false).0.torn);
    }
}
