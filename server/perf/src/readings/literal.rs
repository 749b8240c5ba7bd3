//! A total reader of Python literals, the language in which TileGym writes its benchmark records.
//!
//! The text comes from somebody else's test run: it may be cut off, nested without end, or hold the
//! `np.float64(0.2)` that NumPy 2 prints for a number. Nothing here is evaluated and nothing can
//! overflow the stack; what is not a literal is refused with the byte where it stopped being one.

use std::iter::Peekable;
use std::str::CharIndices;

use thiserror::Error;

/// How deep containers may nest. Real records need three levels.
const DEPTH: usize = 64;

/// A Python value as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer or a float, `nan` and `inf` included.
    Number(f64),
    /// A string, unescaped. Bytes are read the same way.
    Text(String),
    /// A list, tuple or set: the difference never matters to a reader of records.
    Items(Vec<Literal>),
    /// A dictionary, in source order.
    Dict(Vec<(Literal, Literal)>),
    /// `name(...)` or a bare dotted name, such as `torch.float16`.
    Named(String, Vec<Literal>),
}

impl Literal {
    /// The value as a number, looking through the wrappers that print around one
    /// (`np.float64(0.2)`, `tensor(0.2, device='cuda:0')`).
    pub fn number(&self) -> Option<f64> {
        match self {
            Literal::Number(value) => Some(*value),
            Literal::Named(_, arguments) => match arguments.first() {
                Some(Literal::Number(value)) => Some(*value),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value as text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Literal::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entries of a dictionary.
    pub fn entries(&self) -> Option<&[(Literal, Literal)]> {
        match self {
            Literal::Dict(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value under a string key. As in Python, the last of several wins.
    pub fn get(&self, key: &str) -> Option<&Literal> {
        self.entries()?
            .iter()
            .rev()
            .find(|(k, _)| k.text() == Some(key))
            .map(|(_, value)| value)
    }
}

/// Why a text is not a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{problem} at byte {offset}")]
pub struct LiteralError {
    /// Byte offset into the text that was given.
    pub offset: usize,
    /// What went wrong there.
    pub problem: LiteralProblem,
}

/// What can go wrong in a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LiteralProblem {
    /// The text ended inside a value: the record was cut off.
    #[error("the text ends inside a value")]
    Ended,
    /// A character that cannot stand there.
    #[error("unexpected {0:?}")]
    Unexpected(char),
    /// Digits that are no number.
    #[error("not a number")]
    Number,
    /// A string escape that does not exist.
    #[error("not an escape sequence")]
    Escape,
    /// More levels than any record has.
    #[error("nested deeper than {DEPTH} levels")]
    Depth,
}

/// Reads a text that is one literal and nothing else.
pub fn parse(text: &str) -> Result<Literal, LiteralError> {
    let (value, used) = parse_prefix(text)?;
    match text[used..]
        .char_indices()
        .find(|(_, c)| !c.is_whitespace())
    {
        Some((at, c)) => Err(LiteralError {
            offset: used + at,
            problem: LiteralProblem::Unexpected(c),
        }),
        None => Ok(value),
    }
}

/// Reads the literal at the start of a text; the number is how many bytes it took.
pub fn parse_prefix(text: &str) -> Result<(Literal, usize), LiteralError> {
    let mut reader = Reader {
        text,
        chars: text.char_indices().peekable(),
    };
    let value = reader.value(0)?;
    let used = reader.offset();
    Ok((value, used))
}

struct Reader<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
}

impl Reader<'_> {
    fn offset(&mut self) -> usize {
        self.chars.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, c)| *c)
    }

    fn fail<T>(&mut self, problem: LiteralProblem) -> Result<T, LiteralError> {
        Err(LiteralError {
            offset: self.offset(),
            problem,
        })
    }

    fn unexpected<T>(&mut self) -> Result<T, LiteralError> {
        match self.peek() {
            Some(c) => self.fail(LiteralProblem::Unexpected(c)),
            None => self.fail(LiteralProblem::Ended),
        }
    }

    fn skip_space(&mut self) {
        while self.chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip_space();
        self.chars.next_if(|(_, c)| *c == wanted).is_some()
    }

    fn value(&mut self, depth: usize) -> Result<Literal, LiteralError> {
        if depth > DEPTH {
            return self.fail(LiteralProblem::Depth);
        }
        self.skip_space();
        match self.peek() {
            Some('{') => self.braces(depth),
            Some('[') => self.sequence(']', depth).map(Literal::Items),
            Some('(') => self.sequence(')', depth).map(Literal::Items),
            Some('\'' | '"') => self.string().map(Literal::Text),
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(depth),
            _ => self.unexpected(),
        }
    }

    fn braces(&mut self, depth: usize) -> Result<Literal, LiteralError> {
        self.chars.next();
        let mut entries = Vec::new();
        let mut items = Vec::new();
        while !self.take('}') {
            let key = self.value(depth + 1)?;
            if items.is_empty() && self.take(':') {
                entries.push((key, self.value(depth + 1)?));
            } else if entries.is_empty() {
                items.push(key);
            } else {
                return self.unexpected();
            }
            if !self.take(',') {
                if self.take('}') {
                    break;
                }
                return self.unexpected();
            }
        }
        Ok(if items.is_empty() {
            Literal::Dict(entries)
        } else {
            Literal::Items(items)
        })
    }

    /// Items up to `close`; the opening bracket is still ahead. Keyword arguments of a call count
    /// as items without their names.
    fn sequence(&mut self, close: char, depth: usize) -> Result<Vec<Literal>, LiteralError> {
        self.chars.next();
        let mut items = Vec::new();
        while !self.take(close) {
            let mut item = self.value(depth + 1)?;
            if matches!(item, Literal::Named(..)) && self.take('=') {
                item = self.value(depth + 1)?;
            }
            items.push(item);
            if !self.take(',') {
                if self.take(close) {
                    break;
                }
                return self.unexpected();
            }
        }
        Ok(items)
    }

    fn number(&mut self) -> Result<Literal, LiteralError> {
        let start = self.offset();
        let negative = match self.chars.next_if(|(_, c)| matches!(c, '-' | '+')) {
            Some((_, sign)) => sign == '-',
            None => false,
        };
        let sign = if negative { -1.0 } else { 1.0 };
        if self.peek().is_some_and(char::is_alphabetic) {
            return match self.word().as_str() {
                "inf" => Ok(Literal::Number(sign * f64::INFINITY)),
                "nan" => Ok(Literal::Number(f64::NAN)),
                _ => Err(LiteralError {
                    offset: start,
                    problem: LiteralProblem::Number,
                }),
            };
        }
        let mut digits = String::new();
        let mut previous = ' ';
        while let Some((_, c)) = self.chars.next_if(|(_, c)| {
            c.is_ascii_alphanumeric()
                || matches!(c, '.' | '_')
                || (matches!(c, '-' | '+') && matches!(previous, 'e' | 'E'))
        }) {
            previous = c;
            if c != '_' {
                digits.push(c);
            }
        }
        let value = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok().map(|value| value as f64),
            // Rust also reads "inf" and "nan" here; those are words to Python.
            None if digits.contains(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E') => {
                None
            }
            None => digits.parse::<f64>().ok(),
        };
        match value {
            Some(value) => Ok(Literal::Number(sign * value)),
            None => Err(LiteralError {
                offset: start,
                problem: LiteralProblem::Number,
            }),
        }
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some((_, c)) = self
            .chars
            .next_if(|(_, c)| c.is_alphanumeric() || matches!(c, '_' | '.'))
        {
            word.push(c);
        }
        word
    }

    fn name(&mut self, depth: usize) -> Result<Literal, LiteralError> {
        let word = self.word();
        if matches!(self.peek(), Some('\'' | '"')) && word.len() <= 2 {
            // A prefixed string: b'', r'', f'' and their pairs.
            return self.string().map(Literal::Text);
        }
        Ok(match word.as_str() {
            "None" => Literal::None,
            "True" => Literal::Bool(true),
            "False" => Literal::Bool(false),
            "inf" => Literal::Number(f64::INFINITY),
            "nan" => Literal::Number(f64::NAN),
            _ if self.peek() == Some('(') => Literal::Named(word, self.sequence(')', depth)?),
            _ => Literal::Named(word, Vec::new()),
        })
    }

    fn string(&mut self) -> Result<String, LiteralError> {
        let Some((_, quote)) = self.chars.next() else {
            return self.fail(LiteralProblem::Ended);
        };
        let mut text = String::new();
        while let Some((at, c)) = self.chars.next() {
            match c {
                _ if c == quote => return Ok(text),
                '\\' => text.push(self.escape(at)?),
                _ => text.push(c),
            }
        }
        self.fail(LiteralProblem::Ended)
    }

    fn escape(&mut self, start: usize) -> Result<char, LiteralError> {
        let Some((_, c)) = self.chars.next() else {
            return self.fail(LiteralProblem::Ended);
        };
        let digits = match c {
            'n' => return Ok('\n'),
            't' => return Ok('\t'),
            'r' => return Ok('\r'),
            '0' => return Ok('\0'),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            other => return Ok(other),
        };
        let mut code = 0u32;
        for _ in 0..digits {
            let digit = self.chars.next_if(|(_, c)| c.is_ascii_hexdigit());
            let Some(digit) = digit.and_then(|(_, c)| c.to_digit(16)) else {
                return Err(LiteralError {
                    offset: start,
                    problem: LiteralProblem::Escape,
                });
            };
            code = code.wrapping_mul(16).wrapping_add(digit);
        }
        char::from_u32(code).ok_or(LiteralError {
            offset: start,
            problem: LiteralProblem::Escape,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(value: f64) -> Literal {
        Literal::Number(value)
    }

    fn text(value: &str) -> Literal {
        Literal::Text(value.to_owned())
    }

    #[test]
    fn values_read_as_python_writes_them() {
        for (source, expected) in [
            ("None", Literal::None),
            ("True", Literal::Bool(true)),
            (" -1.5e-3 ", number(-1.5e-3)),
            ("1_000", number(1000.0)),
            ("0x1f", number(31.0)),
            (".5", number(0.5)),
            ("-inf", number(f64::NEG_INFINITY)),
            ("'it\\'s'", text("it's")),
            ("\"a\\x41\\u00e9\\n\"", text("aAé\n")),
            ("b'x'", text("x")),
            ("()", Literal::Items(vec![])),
            ("(1,)", Literal::Items(vec![number(1.0)])),
            ("{1, 2}", Literal::Items(vec![number(1.0), number(2.0)])),
            ("{}", Literal::Dict(vec![])),
            ("{'a': [1, {'b': None}],}", {
                let inner = Literal::Dict(vec![(text("b"), Literal::None)]);
                Literal::Dict(vec![(text("a"), Literal::Items(vec![number(1.0), inner]))])
            }),
            (
                "torch.float16",
                Literal::Named("torch.float16".into(), vec![]),
            ),
        ] {
            assert_eq!(parse(source), Ok(expected), "{source}");
        }
        assert!(parse("nan").unwrap().number().unwrap().is_nan());
    }

    #[test]
    fn a_number_is_seen_through_its_wrapper() {
        assert_eq!(parse("np.float64(0.25)").unwrap().number(), Some(0.25));
        assert_eq!(
            parse("tensor(0.25, device='cuda:0')").unwrap().number(),
            Some(0.25)
        );
        assert_eq!(parse("f()").unwrap().number(), None);
    }

    #[test]
    fn the_last_of_two_equal_keys_wins() {
        assert_eq!(
            parse("{'a': 1, 'a': 2}").unwrap().get("a"),
            Some(&number(2.0))
        );
    }

    #[test]
    fn a_refusal_says_where_and_why() {
        use LiteralProblem::{Depth, Ended, Escape, Number, Unexpected};
        for (source, offset, problem) in [
            ("", 0, Ended),
            ("{'a': 1", 7, Ended),
            ("{'a' 1}", 5, Unexpected('1')),
            ("{1, 'a': 2}", 7, Unexpected(':')),
            ("{'a': 1, 2}", 10, Unexpected('}')),
            ("[1 2]", 3, Unexpected('2')),
            ("'abc", 4, Ended),
            ("'\\xg'", 1, Escape),
            ("'\\ud800'", 1, Escape),
            ("1.2.3", 0, Number),
            ("-infinity", 0, Number),
            ("1 1", 2, Unexpected('1')),
            ("@", 0, Unexpected('@')),
            (&"[".repeat(100_000), DEPTH + 1, Depth),
        ] {
            assert_eq!(
                parse(source),
                Err(LiteralError { offset, problem }),
                "{source:.40}"
            );
        }
    }

    #[test]
    fn a_prefix_says_how_far_it_read() {
        assert_eq!(parse_prefix("{} ms"), Ok((Literal::Dict(vec![]), 2)));
    }

    proptest! {
        #[test]
        fn no_text_panics(source in "[-{}\\[\\](),:'\"\\\\a-eix0-9.é =]{0,60}") {
            let _ = parse(&source);
        }
    }
}
