//! The next signature to try, from what the compiler said of the last.
//!
//! A guess is wrong in few ways: a rank, a dtype, a number that is no power of two, an array taken
//! for a number. cuTile's messages say which, and the source they point to says of which parameter.
//! Whoever compiles tries again with what is proposed here, a bounded number of times; nothing is
//! proposed twice.

mod constants;
mod words;

use smol_str::SmolStr;

use super::{Array, Constant, Kind, Origin, Param, Signature};
use words::{dtypes, has_fraction, has_word, numbers};

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
