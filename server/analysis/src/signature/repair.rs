//! The next signature to try, from what the compiler said of the last.
//!
//! A guess is wrong in few ways: a rank, a dtype, a number that is no power of two, an array taken
//! for a number. cuTile's messages say which, and the source they point to says of which parameter.
//! Whoever compiles tries again with what is proposed here, a bounded number of times; nothing is
//! proposed twice.

use smol_str::SmolStr;

use super::{Array, Constant, Kind, Origin, Param, Signature};

/// What the compiler said.
#[derive(Debug, Clone, Copy)]
pub struct Complaint<'a> {
    /// Its message.
    pub message: &'a str,
    /// The code that it points to, then that of the calls which led there, innermost first: the
    /// exact ranges, or whole lines.
    pub code: &'a [&'a str],
}

/// The next signature to try after the last of `tried`, or nothing if nothing else is plausible.
pub fn repair(tried: &[Signature], complaint: Complaint<'_>) -> Option<Signature> {
    let last = tried.last()?;
    let change = Change { last, complaint };
    let mut proposals = Vec::new();
    change.said_outright(&mut proposals);
    if complaint.message.contains("depends on path") {
        change.together(&mut proposals);
    }
    change.rank(&mut proposals);
    change.dtype(&mut proposals);
    change.kind(&mut proposals);
    change.constants(&mut proposals);
    // Only when nothing that the message says has helped.
    if let Some(first) = tried.first() {
        whole(first, &mut proposals);
    }
    let mut proposed = proposals.into_iter();
    let next = proposed.find(|next| !tried.iter().any(|t| same(t, next)))?;
    Some(Signature {
        origin: Origin::Guess,
        ..next
    })
}

fn same(a: &Signature, b: &Signature) -> bool {
    a.params == b.params && a.globals == b.globals
}

struct Change<'a> {
    last: &'a Signature,
    complaint: Complaint<'a>,
}

impl Change<'_> {
    /// Places of parameters that the code names, the innermost code's first.
    fn named(&self) -> Vec<usize> {
        let mut found = Vec::new();
        for code in self.complaint.code {
            for (place, param) in self.last.params.iter().enumerate() {
                if has_word(code, &param.name) && !found.contains(&place) {
                    found.push(place);
                }
            }
        }
        found
    }

    /// Those that the code names, then the others.
    fn likely(&self) -> Vec<usize> {
        let mut places = self.named();
        let rest = (0..self.last.params.len()).filter(|p| !places.contains(p));
        let rest: Vec<usize> = rest.collect();
        places.extend(rest);
        places
    }

    fn with(&self, place: usize, kind: Kind) -> Option<Signature> {
        let mut next = self.last.clone();
        next.params.get_mut(place)?.kind = kind;
        Some(next)
    }

    /// `Invalid kernel parameter 'x': ...` names it.
    fn said_outright(&self, out: &mut Vec<Signature>) {
        let message = self.complaint.message;
        let Some(rest) = message.split("kernel parameter '").nth(1) else {
            return;
        };
        let name = rest.split('\'').next().unwrap_or("");
        let Some(place) = self.last.params.iter().position(|p| p.name == name) else {
            return;
        };
        let kind = &self.last.params[place].kind;
        let plain_array = || Kind::Array(Array::usual("float16", 2));
        let next = match () {
            () if message.contains("to an array or a list-of-array") => match kind {
                Kind::Array(array) => Some(Kind::List {
                    element: array.clone(),
                }),
                _ => Some(plain_array()),
            },
            () if message.contains("does not match the annotated dtype") => {
                let dtype = message.trim_end_matches('.').rsplit(' ').next();
                dtype.map(|d| Kind::Scalar { dtype: d.into() })
            }
            () if message.contains("non-constant scalar") => Some(Kind::Scalar {
                dtype: SmolStr::new_static("int64"),
            }),
            () if message.contains("constant")
                && message.contains("annotated in `static_shape") =>
            {
                match kind {
                    Kind::Array(array) => Some(Kind::Array(Array {
                        shape: vec![Some(64); array.ndim],
                        ..array.clone()
                    })),
                    _ => None,
                }
            }
            () if message.contains("annotated in `static_stride") => match kind {
                Kind::Array(array) => Some(Kind::Array(Array {
                    stride: vec![Some(64); array.ndim.saturating_sub(1)]
                        .into_iter()
                        .chain(array.stride.last().copied())
                        .collect(),
                    ..array.clone()
                })),
                _ => None,
            },
            () if message.contains("Constant annotation") => Some(Kind::Constant(Constant::Int(1))),
            () if message.contains("annotation implies length") => {
                let length = message.split("implies length ").nth(1);
                let digits: Option<usize> =
                    length.and_then(|l| l.trim_end_matches('.').parse().ok());
                match (kind, digits) {
                    (Kind::Tuple { items }, Some(length)) => {
                        let item = items.first().cloned();
                        item.map(|item| Kind::Tuple {
                            items: vec![item; length],
                        })
                    }
                    _ => None,
                }
            }
            () if message.contains("annotated as a tuple") => Some(Kind::Tuple {
                items: vec![kind.clone(); 2],
            }),
            () => None,
        };
        out.extend(next.and_then(|kind| self.with(place, kind)));
    }

    /// `Index size 2 does not match the array rank 1` and its kin: any number said may be the rank.
    fn rank(&self, out: &mut Vec<Signature>) {
        let lower = self.complaint.message.to_ascii_lowercase();
        let about = [
            "rank",
            "ndim",
            "index size",
            "dimension",
            "unpack",
            "out of range",
            "out of bounds",
        ];
        // That an extent is wrong says nothing of how many there are.
        if !about.iter().any(|word| lower.contains(word)) || lower.contains("power of") {
            return;
        }
        let numbers = numbers(&lower);
        for place in self.likely() {
            let Kind::Array(array) = &self.last.params[place].kind else {
                continue;
            };
            // Where the present rank is said, it is this array that is meant.
            let is_meant = numbers.is_empty() || numbers.contains(&array.ndim);
            let near = [array.ndim + 1, array.ndim.saturating_sub(1)];
            let said = numbers.iter().copied().filter(|n| (1..=6).contains(n));
            for ndim in said.chain(near.into_iter().filter(|n| *n > 0)) {
                if ndim != array.ndim && (is_meant || numbers.contains(&ndim)) {
                    let kind = Kind::Array(Array::usual(&array.dtype, ndim));
                    out.extend(self.with(place, kind));
                }
            }
        }
    }

    /// `cannot implicitly cast float32 to float16`: some array is of the one or of the other.
    fn dtype(&self, out: &mut Vec<Signature>) {
        let message = self.complaint.message;
        let lower = message.to_ascii_lowercase();
        let mut wanted: Vec<&str> = dtypes(message);
        // Whole numbers are asked for by kind.
        if [
            "integer", "integral", "index", "indices", "bitwise", "shift",
        ]
        .iter()
        .any(|w| lower.contains(w))
        {
            wanted.push("int32");
        }
        if lower.contains("bool") || lower.contains("mask") {
            wanted.push("bool_");
        }
        if lower.contains("float") || has_fraction(&lower) {
            wanted.extend(["float32", "float16"]);
        }
        if wanted.is_empty() && !lower.contains("dtype") {
            return;
        }
        for place in self.named() {
            let current = &self.last.params[place].kind;
            for dtype in &wanted {
                match current {
                    Kind::Array(array) if array.dtype != *dtype => {
                        out.extend(self.with(place, Kind::Array(array.of_dtype(dtype))));
                    }
                    Kind::Scalar { dtype: own } if own != dtype => {
                        let dtype = SmolStr::new(dtype);
                        out.extend(self.with(place, Kind::Scalar { dtype }));
                    }
                    Kind::List { element } if element.dtype != *dtype => {
                        let element = element.of_dtype(dtype);
                        out.extend(self.with(place, Kind::List { element }));
                    }
                    _ => {}
                }
            }
        }
        if wanted.contains(&"int32") {
            self.some_whole(out);
        }
        self.together(out);
    }

    /// The array that is meant may go by another name there: all of one type get the other. Whole
    /// numbers and wide ones are what code asks for by name.
    fn together(&self, out: &mut Vec<Signature>) {
        let [first, second, ..] = *dtypes(self.complaint.message).as_slice() else {
            return;
        };
        let rank = |dtype: &str| (!dtype.contains("float"), super::bytes(dtype));
        let (narrow, wide) = if rank(first) < rank(second) {
            (first, second)
        } else {
            (second, first)
        };
        for (from, to) in [(narrow, wide), (wide, narrow)] {
            let mut next = self.last.clone();
            for param in &mut next.params {
                if let Kind::Array(array) = &mut param.kind
                    && array.dtype == from
                {
                    *array = array.of_dtype(to);
                }
            }
            out.push(next);
        }
    }

    /// Whole numbers are needed and the code names no parameter: some array's elements, of those of
    /// lowest rank first.
    fn some_whole(&self, out: &mut Vec<Signature>) {
        let mut arrays: Vec<(usize, usize)> = (self.last.params.iter().enumerate())
            .filter_map(|(place, param)| match &param.kind {
                Kind::Array(array) if array.dtype.contains("float") => Some((array.ndim, place)),
                _ => None,
            })
            .collect();
        arrays.sort_unstable();
        for (_, place) in arrays {
            if let Kind::Array(array) = &self.last.params[place].kind {
                out.extend(self.with(place, Kind::Array(array.of_dtype("int32"))));
            }
        }
    }

    /// An array was taken for a number, or the other way round.
    fn kind(&self, out: &mut Vec<Signature>) {
        let lower = self.complaint.message.to_ascii_lowercase();
        let wants = [
            "array",
            "attribute",
            "subscript",
            "tuple",
            "list",
            "iterable",
            "expected",
        ];
        if !wants.iter().any(|word| lower.contains(word)) {
            return;
        }
        let rank = |code: &str| code.matches(',').count().clamp(1, 4);
        let code = self.complaint.code.first().copied().unwrap_or("");
        for place in self.named() {
            let kinds = match &self.last.params[place].kind {
                Kind::Scalar { .. } => vec![
                    Kind::Array(Array::usual("float16", rank(code))),
                    Kind::Scalar {
                        dtype: SmolStr::new_static("float32"),
                    },
                    Kind::Scalar {
                        dtype: SmolStr::new_static("int32"),
                    },
                ],
                Kind::List { element } => vec![
                    Kind::Array(element.clone()),
                    Kind::Tuple {
                        items: vec![Kind::Array(element.clone()); 2],
                    },
                    Kind::Tuple {
                        items: vec![
                            Kind::Scalar {
                                dtype: SmolStr::new_static("int32")
                            };
                            4
                        ],
                    },
                ],
                Kind::Array(array) => vec![
                    Kind::Scalar {
                        dtype: SmolStr::new_static("int32"),
                    },
                    Kind::Scalar {
                        dtype: SmolStr::new_static("float32"),
                    },
                    Kind::List {
                        element: array.clone(),
                    },
                ],
                Kind::Tuple { items } => vec![Kind::Tuple {
                    items: items.iter().chain(items.first()).cloned().collect(),
                }],
                Kind::Constant(_) => continue,
            };
            out.extend(kinds.into_iter().filter_map(|kind| self.with(place, kind)));
        }
    }

    /// Constants have other values: those that the code names, and if shapes do not fit, others too.
    fn constants(&self, out: &mut Vec<Signature>) {
        let lower = self.complaint.message.to_ascii_lowercase();
        let about = [
            "shape",
            "power of",
            "zero",
            "broadcast",
            "assert",
            "size",
            "divis",
        ];
        let wide = about.iter().any(|word| lower.contains(word));
        let named = self.named();
        if wide {
            if lower.contains("reshape") {
                self.reshaped(out);
            }
            self.alike(&named, out);
        }
        let mut places = named.clone();
        if wide {
            places.extend((0..self.last.params.len()).filter(|place| !named.contains(place)));
        }
        for place in places {
            if let Kind::Constant(value) = self.last.params[place].kind {
                let most = if named.contains(&place) {
                    usize::MAX
                } else {
                    2
                };
                for other in others(value).into_iter().take(most) {
                    out.extend(self.with(place, Kind::Constant(other)));
                }
            }
        }
        for (at, (name, value)) in self.last.globals.iter().enumerate() {
            if self.complaint.code.iter().any(|code| has_word(code, name)) {
                for other in others(*value) {
                    let mut next = self.last.clone();
                    next.globals[at].1 = other;
                    out.push(next);
                }
            }
        }
    }

    /// `Cannot reshape (64, 64, 64) to (128, 64)`: some constant is too large, or too small, by as
    /// much as there are elements too many or too few. Counts come first.
    fn reshaped(&self, out: &mut Vec<Signature>) {
        let tuples: Vec<i64> = elements(self.complaint.message);
        let [from, to] = *tuples.as_slice() else {
            return;
        };
        let (factor, too_large) = match (from, to) {
            (1.., 1..) if from > to && from % to == 0 => (from / to, true),
            (1.., 1..) if to > from && to % from == 0 => (to / from, false),
            _ => return,
        };
        let is_count = |place: &usize| {
            let name = self.last.params[*place].name.to_ascii_lowercase();
            name.starts_with("num") || name.starts_with("n_")
        };
        let (counts, others): (Vec<usize>, Vec<usize>) =
            (0..self.last.params.len()).partition(is_count);
        for place in counts.into_iter().chain(others) {
            if let Kind::Constant(Constant::Int(value @ 1..)) = self.last.params[place].kind {
                let other = match too_large {
                    true if value % factor == 0 => Some(value / factor),
                    true => None,
                    false => value.checked_mul(factor),
                };
                let kind = other.map(|other| Kind::Constant(Constant::Int(other)));
                out.extend(kind.and_then(|kind| self.with(place, kind)));
            }
        }
    }

    /// Extents that the code names together are made equal, then all there are.
    fn alike(&self, named: &[usize], out: &mut Vec<Signature>) {
        let extent = |place: &usize| match self.last.params.get(*place).map(|p| &p.kind) {
            Some(Kind::Constant(Constant::Int(value @ 2..))) => Some(*value),
            _ => None,
        };
        for value in named.iter().filter_map(extent) {
            let mut next = self.last.clone();
            for place in named.iter().filter(|place| extent(place).is_some()) {
                next.params[*place].kind = Kind::Constant(Constant::Int(value));
            }
            out.push(next);
        }
        let mut next = self.last.clone();
        for param in &mut next.params {
            if let Kind::Constant(value @ Constant::Int(16..)) = &mut param.kind {
                *value = Constant::Int(64);
            }
        }
        out.push(next);
    }
}

/// Other values of a constant, the more usual first.
fn others(value: Constant) -> Vec<Constant> {
    match value {
        Constant::Bool(value) => vec![Constant::Bool(!value)],
        Constant::Float(_) => vec![Constant::Float(0.5), Constant::Float(1.0)],
        Constant::None => vec![Constant::Int(1)],
        Constant::Int(value) => {
            let mut all: Vec<i64> = Vec::new();
            if value > 1 && !is_power_of_two(value) {
                all.extend(
                    u64::try_from(value)
                        .ok()
                        .and_then(|v| i64::try_from(v.checked_next_power_of_two()?).ok()),
                );
            }
            match value {
                0 => all.extend([1, 64, 16]),
                1 => all.extend([0, 16, 64]),
                _ => all.extend([64, 16, 128, 32, 8, 1, 2, 4]),
            }
            all.retain(|other| *other != value);
            all.into_iter().map(Constant::Int).collect()
        }
    }
}

fn is_power_of_two(value: i64) -> bool {
    u64::try_from(value).is_ok_and(u64::is_power_of_two)
}

/// Signatures that differ from the first guess as a whole: other types of floats, other extents,
/// other switches.
fn whole(first: &Signature, out: &mut Vec<Signature>) {
    let mut each = |change: &dyn Fn(&mut Param)| {
        let mut next = first.clone();
        next.params.iter_mut().for_each(change);
        out.push(next);
    };
    for dtype in ["float32", "bfloat16"] {
        each(&|param| {
            if let Kind::Array(array) = &mut param.kind
                && array.dtype == "float16"
            {
                *array = array.of_dtype(dtype);
            }
        });
    }
    each(&|param| {
        if let Kind::Constant(value) = &mut param.kind {
            *value = match *value {
                Constant::Bool(value) => Constant::Bool(!value),
                Constant::Int(0) => Constant::Int(1),
                other => other,
            };
        }
    });
    for extent in [32, 16, 128] {
        each(&|param| {
            if let Kind::Constant(value @ Constant::Int(16..)) = &mut param.kind {
                *value = Constant::Int(extent);
            }
        });
    }
}

const DTYPES: [&str; 17] = [
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "tfloat32",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e8m0fnu",
];

/// The data types that a text names.
fn dtypes(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| DTYPES.contains(word)).collect()
}

/// How many elements each shape has that a text names: `(64, 2)` has 128.
fn elements(text: &str) -> Vec<i64> {
    let shapes = text
        .split('(')
        .skip(1)
        .filter_map(|rest| rest.split_once(')'));
    let count = |(within, _): (&str, &str)| {
        let parts = within.split(',').map(str::trim).filter(|p| !p.is_empty());
        let extents: Option<Vec<i64>> = parts.map(|p| p.parse().ok()).collect();
        extents?.into_iter().try_fold(1_i64, i64::checked_mul)
    };
    shapes.filter_map(count).collect()
}

/// Whether a text has a number with a fraction: `0.0`.
fn has_fraction(text: &str) -> bool {
    text.split_whitespace()
        .any(|word| word.contains('.') && word.parse::<f64>().is_ok())
}

/// The whole numbers in a text, those within words left out.
fn numbers(text: &str) -> Vec<usize> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Whether a text has a word.
fn has_word(text: &str, word: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(of_word) && !after.is_some_and(of_word)
    })
}
