//! A symbol from text.

use super::{Array, Axis, Dtype, Index, NotASymbol, Param, Symbol};

/// An array with more axes has no meaning on a GPU, and a mask no bits for them.
const MOST_AXES: usize = 128;
/// Tuples within tuples.
const DEEPEST: u32 = 64;

impl Symbol {
    /// Takes a name apart.
    ///
    /// # Errors
    /// The text is no name of the calling conventions t1 and t2.
    pub fn parse(text: &str) -> Result<Self, NotASymbol> {
        // A function's name may contain the mark, what follows it never does.
        let Some(at) = text.rfind("_K") else {
            return Err(NotASymbol {
                at: 0,
                what: "there is no _K",
            });
        };
        let mut cursor = Cursor {
            text,
            at: at + 2,
            last_group: None,
        };
        let convention = cursor.take_while(|c| c != '_');
        if convention != "t1" && convention != "t2" {
            cursor.at = at + 2;
            return Err(cursor.error("the calling convention is neither t1 nor t2"));
        }
        let mut params = Vec::new();
        while !cursor.rest().is_empty() {
            cursor.expect('_', "an underscore was expected")?;
            params.push(cursor.param(0)?);
        }
        Ok(Self {
            function: text[..at].to_owned(),
            convention: convention.to_owned(),
            params,
        })
    }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Groups are numbered in the order in which they appear.
    last_group: Option<u32>,
}

type Parsed<T> = Result<T, NotASymbol>;

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, what: &'static str) -> NotASymbol {
        NotASymbol { at: self.at, what }
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, c: char, what: &'static str) -> Parsed<()> {
        if self.eat(c) {
            Ok(())
        } else {
            Err(self.error(what))
        }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn param(&mut self, depth: u32) -> Parsed<Param> {
        let start = self.at;
        let mut letters = self.rest().chars();
        let letter = letters.next().unwrap_or_default();
        self.at += letter.len_utf8().min(self.rest().len());
        match letter {
            'A' => self.array().map(Param::Array),
            'L' => {
                let alias_groups = self.groups()?;
                let elements_alias = self.eat('i');
                self.expect('A', "a list is one of arrays")?;
                Ok(Param::List {
                    alias_groups,
                    elements_alias,
                    element: self.array()?,
                })
            }
            'T' if depth < DEEPEST => {
                let count: usize = self.number("the length of a tuple was expected")?;
                // Not reserved ahead: the count may be a lie.
                let mut items = Vec::new();
                for _ in 0..count {
                    items.push(self.param(depth + 1)?);
                }
                Ok(Param::Tuple { items })
            }
            'S' => self.dtype().map(|dtype| Param::Scalar { dtype }),
            'B' if self.eat('0') => Ok(Param::Bool { value: false }),
            'B' if self.eat('1') => Ok(Param::Bool { value: true }),
            'I' => self.big_int().map(|value| Param::Int { value }),
            'F' => {
                let digits = self.rest().get(..16).filter(|d| d.bytes().all(is_hex));
                let digits = digits.ok_or_else(|| self.error("16 hex digits were expected"))?;
                self.at += 16;
                let bits = u64::from_str_radix(digits, 16);
                let bits = bits.map_err(|_| self.error("16 hex digits were expected"))?;
                Ok(Param::Float { bits })
            }
            _ => {
                self.at = start;
                Err(self.error("no such kind of parameter"))
            }
        }
    }

    fn array(&mut self) -> Parsed<Array> {
        let rank: usize = self.number("a rank was expected")?;
        if rank > MOST_AXES {
            return Err(self.error("more axes than there can be"));
        }
        let dtype = self.dtype()?;
        let mut axes = vec![Axis::UNKNOWN; rank];
        while let Some(mask) = self.mask(rank)? {
            self.predicates(mask, &mut axes)?;
        }
        let mut array = Array {
            dtype,
            axes,
            base_divisor: 1,
            alias_groups: Vec::new(),
            overlaps: false,
            index: Index::Int32,
        };
        // Else the underscore belongs to the next parameter, which begins with a capital letter.
        let mut next = self.rest().chars();
        if next.next() == Some('_') && next.next().is_some_and(|c| c.is_ascii_lowercase()) {
            self.at += 1;
            self.extras(&mut array)?;
        }
        Ok(array)
    }

    /// The mask of the next group of predicates, if one follows.
    fn mask(&mut self, rank: usize) -> Parsed<Option<u128>> {
        let Some(rest) = self.rest().strip_prefix('_') else {
            return Ok(None);
        };
        let end = rest.bytes().position(|b| !is_hex(b)).unwrap_or(rest.len());
        if end == 0 {
            return Ok(None);
        }
        let mask = u128::from_str_radix(&rest[..end], 16);
        let mask = mask.map_err(|_| self.error("a mask for more axes than there can be"))?;
        let bits = usize::try_from(u128::BITS - mask.leading_zeros()).unwrap_or(usize::MAX);
        if bits == 0 || bits > rank {
            return Err(self.error("a mask for no axis, or for one that there is not"));
        }
        self.at += 1 + end;
        Ok(Some(mask))
    }

    fn predicates(&mut self, mask: u128, axes: &mut [Axis]) -> Parsed<()> {
        let start = self.at;
        let shape = self.predicate('s')?;
        let shape_divisor = self.divisor('i')?;
        let stride = self.predicate('t')?;
        let stride_divisor = self.divisor('v')?;
        let stride_min = self.predicate('l')?;
        if self.at == start {
            return Err(self.error("a predicate was expected"));
        }
        for (bit, axis) in axes.iter_mut().enumerate() {
            if mask >> bit & 1 == 0 {
                continue;
            }
            let twice = (axis.shape.is_some() && shape.is_some())
                || (axis.shape_divisor != 1 && shape_divisor.is_some())
                || (axis.stride.is_some() && stride.is_some())
                || (axis.stride_divisor != 1 && stride_divisor.is_some())
                || (axis.stride_min.is_some() && stride_min.is_some());
            axis.shape = shape.or(axis.shape);
            axis.shape_divisor = shape_divisor.unwrap_or(axis.shape_divisor);
            axis.stride = stride.or(axis.stride);
            axis.stride_divisor = stride_divisor.unwrap_or(axis.stride_divisor);
            axis.stride_min = stride_min.or(axis.stride_min);
            let more_than_known =
                axis.stride.is_some() && (axis.stride_divisor != 1 || axis.stride_min.is_some());
            if twice || more_than_known {
                self.at = start;
                return Err(self.error("an axis is described twice"));
            }
        }
        Ok(())
    }

    fn predicate(&mut self, letter: char) -> Parsed<Option<i64>> {
        if !self.eat(letter) {
            return Ok(None);
        }
        self.int().map(Some)
    }

    fn divisor(&mut self, letter: char) -> Parsed<Option<i64>> {
        let divisor = self.predicate(letter)?;
        if divisor.is_some_and(|divisor| divisor <= 1) {
            return Err(self.error("a divisor is greater than 1"));
        }
        Ok(divisor)
    }

    fn extras(&mut self, array: &mut Array) -> Parsed<()> {
        let start = self.at;
        array.base_divisor = self.divisor('p')?.unwrap_or(1);
        array.alias_groups = self.groups()?;
        array.overlaps = self.eat('i');
        if self.eat('u') {
            array.index = Index::Uint32;
        } else if self.eat('w') {
            array.index = Index::Int64;
        }
        if self.at == start {
            return Err(self.error("what is known of an array was expected"));
        }
        Ok(())
    }

    fn groups(&mut self) -> Parsed<Vec<u32>> {
        let mut groups = Vec::new();
        while self.eat('g') {
            let digits = self.take_while(|c| u8::try_from(c).is_ok_and(is_hex));
            let group = u32::from_str_radix(digits, 16).ok();
            let group = group.filter(|_| digits == "0" || !digits.starts_with('0'));
            let group = group.ok_or_else(|| self.error("a group's number was expected"))?;
            let next = self.last_group.map_or(0, |last| last.saturating_add(1));
            if group > next || groups.last().is_some_and(|&before| before >= group) {
                return Err(self.error("groups are not in order"));
            }
            self.last_group = Some(group);
            groups.push(group);
        }
        Ok(groups)
    }

    fn dtype(&mut self) -> Parsed<Dtype> {
        let start = self.at;
        let code = self.take_while(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        let found = Dtype::ALL.iter().find(|dtype| dtype.code() == code);
        found.copied().ok_or(NotASymbol {
            at: start,
            what: "no such type",
        })
    }

    fn number<T: std::str::FromStr>(&mut self, what: &'static str) -> Parsed<T> {
        let digits = self.take_while(|c| c.is_ascii_digit());
        digits.parse().map_err(|_| self.error(what))
    }

    fn big_int(&mut self) -> Parsed<String> {
        let sign = if self.eat('_') { "-" } else { "" };
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.error("a whole number was expected"));
        }
        // As Python writes what it reads: `007` is 7, and so is `_0` 0.
        let digits = digits.trim_start_matches('0');
        Ok(match digits {
            "" => "0".to_owned(),
            digits => format!("{sign}{digits}"),
        })
    }

    fn int(&mut self) -> Parsed<i64> {
        let number = self.big_int()?;
        number
            .parse()
            .map_err(|_| self.error("a number that is too large"))
    }
}

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}
