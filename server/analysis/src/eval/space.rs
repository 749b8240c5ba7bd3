//! What the evaluator found out about a configuration space, as plain data.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::env::Place;
use super::interp::{Interp, R, Stop};
use super::seq::{Len, Seq};
use super::value::{Args, Obj, Value};

/// How many configurations a space has on one architecture, over all inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceCount {
    /// The fewest there can be.
    pub min: u64,
    /// The most there can be; no bound is known if absent.
    pub max: Option<u64>,
    /// Whether evaluation got to the expression on some path. If not, this architecture never uses
    /// the space (or nobody can tell), and the count says nothing: 0 to unbounded.
    pub reached: bool,
    /// What the space is.
    pub form: Form,
    /// The code asks whether the space is empty and does something about it.
    pub guarded: bool,
    /// Some path raises instead of giving a space.
    pub raises: bool,
    /// When the space can be empty: why.
    pub empty: Option<Empty>,
    /// Why the count is not exact.
    pub why: Vec<Note>,
}

impl SpaceCount {
    /// Both ends are the same.
    pub fn exact(&self) -> Option<u64> {
        (Some(self.min) == self.max).then_some(self.min)
    }

    /// No input gives a configuration.
    pub fn is_surely_empty(&self) -> bool {
        self.reached && self.max == Some(0)
    }
}

/// What an expression used as a space is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A list, tuple, set or dictionary.
    Sequence,
    /// A generator or another iterator: can be walked once, has no length.
    Generator,
    /// A function that gives one of the others when called.
    Callable,
    /// An object around a sequence, made by something outside the workspace.
    Wrapper,
    /// One on some paths, another on others.
    Mixed,
    /// Nobody knows.
    Unknown,
}

/// Why a space can be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Empty {
    /// It is empty for every input.
    pub always: bool,
    /// Tests that kept every configuration out, on the first path that ends empty.
    pub causes: Vec<Cause>,
    /// How the tests on unknown inputs came out on that path.
    pub assuming: Vec<Cause>,
}

/// A test and how it came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    /// The test's expression.
    pub place: Place,
    /// Whether it held.
    pub outcome: bool,
}

/// Why a count is a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// A filter that depends on what is not known; its test.
    UnknownFilter(Place),
    /// A branch that does; its test.
    UnknownBranch(Place),
    /// A loop over something of unknown length; the iterable, or a `while`'s test.
    UnknownLength(Place),
    /// The count differs with the decision on this test, which depends on an input.
    DependsOn(Place),
    /// Too large or too deep to follow.
    TooMuch,
}

/// One configuration, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Config {
    /// The call that makes it.
    pub place: Option<Place>,
    /// Its fields in order; a plain value has one without a name.
    pub fields: Vec<(SmolStr, Known)>,
}

/// What is known of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The names are Python's own.
pub enum Known {
    None,
    Bool(bool),
    Int(i64),
    /// The bits of a float.
    Float(u64),
    Str(SmolStr),
    /// A name from outside the workspace, `torch.float16`.
    Name(SmolStr),
    Tuple(Vec<Known>),
    /// One of these.
    OneOf(Vec<Known>),
    /// Unknown; a whole number within these bounds, if there is one.
    Unknown {
        lo: Option<i64>,
        hi: Option<i64>,
    },
}

/// The values that one field takes over a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: SmolStr,
    /// Values in order of appearance, each once.
    pub values: Vec<Known>,
    /// It may take others.
    pub open: bool,
}

/// A space: its count, and its configurations if they can be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// How many.
    pub count: SpaceCount,
    /// Configurations that occur for some input, each once, in order of appearance.
    pub configs: Vec<Config>,
    /// There are no others.
    pub complete: bool,
    /// The code asks which architecture it is; if not, it is the same on all.
    pub by_arch: bool,
}

impl Space {
    /// The values of each field, by order of first appearance.
    pub fn fields(&self) -> Vec<Field> {
        let mut order: Vec<Field> = Vec::new();
        let mut at: FxHashMap<&SmolStr, usize> = FxHashMap::default();
        for config in &self.configs {
            for (name, value) in &config.fields {
                let index = *at.entry(name).or_insert_with(|| {
                    order.push(Field {
                        name: name.clone(),
                        values: Vec::new(),
                        open: !self.complete,
                    });
                    order.len() - 1
                });
                let field = &mut order[index];
                let parts = match value {
                    Known::OneOf(parts) => parts.as_slice(),
                    one => std::slice::from_ref(one),
                };
                for part in parts {
                    field.open |= matches!(part, Known::Unknown { .. });
                    if !field.values.contains(part) {
                        field.values.push(part.clone());
                    }
                }
            }
        }
        order
    }
}

/// Configurations kept of one space.
const MAX_CONFIGS: usize = 2048;

/// Tuples in tuples that are told apart.
const MAX_NESTING: u32 = 4;

/// What one path found at the expression.
#[derive(Debug, Clone)]
pub(super) struct Observed {
    len: Len,
    form: Form,
    configs: Vec<Config>,
    complete: bool,
}

impl<'e> Interp<'e> {
    /// Takes down what the watched expression is on this path, leaving the path as it was.
    pub(super) fn observe(&mut self, value: &Value<'e>) -> R<()> {
        if self.whole {
            self.observed.push(Observed {
                len: Len::exactly(1),
                form: Form::Unknown,
                configs: vec![Config {
                    place: None,
                    fields: vec![(SmolStr::default(), self.known(value))],
                }],
                complete: true,
            });
            return Ok(());
        }
        let before = self.state.clone();
        let watch = self.watch.take();
        let looked = self.look(value);
        let done = match looked {
            Ok((form, seq)) => {
                let (values, open) = seq.all_values();
                let complete = !open && values.len() <= MAX_CONFIGS;
                let configs = values
                    .iter()
                    .take(MAX_CONFIGS)
                    .map(|v| self.config(v))
                    .collect();
                self.observed.push(Observed {
                    len: seq.len,
                    form,
                    configs,
                    complete,
                });
                Ok(())
            }
            Err(Stop::Raise) => Ok(()),
            Err(stop) => Err(stop),
        };
        self.watch = watch;
        self.state = before;
        done
    }

    fn look(&mut self, value: &Value<'e>) -> R<(Form, Seq<'e>)> {
        match value {
            Value::OneOf(items) => {
                let mut total: Option<(Form, Seq<'e>)> = None;
                for item in items.iter() {
                    let (form, seq) = self.look(item)?;
                    let syms = &mut self.syms;
                    total = Some(match total {
                        None => (form, seq),
                        Some((f, s)) => (
                            if f == form { f } else { Form::Mixed },
                            s.join(&seq, &mut |a, b| Self::join_values(syms, a, b)),
                        ),
                    });
                }
                Ok(total.unwrap_or((Form::Unknown, Seq::unknown())))
            }
            Value::Tuple(_) => Ok((Form::Sequence, self.iterate(value)?)),
            Value::Func(func) => {
                let args = self.unknown_args(func);
                let result = self.call_function(func, args)?;
                Ok((Form::Callable, self.deeper(|i| i.look(&result))?.1))
            }
            Value::Ref(id) => match self.obj(*id) {
                Some(Obj::List(_) | Obj::Set(_) | Obj::Dict(_)) => {
                    Ok((Form::Sequence, self.iterate(value)?))
                }
                Some(Obj::Iter(_)) => Ok((Form::Generator, self.iterate(value)?)),
                Some(Obj::Record(record)) => {
                    // `SearchSpace(configs, predicate)`: at most what it is made from.
                    let inner: Vec<Value<'e>> = record
                        .args
                        .iter()
                        .chain(record.fields.iter().map(|(_, v)| v))
                        .cloned()
                        .collect();
                    let external = record.class.is_none();
                    let walked = self.iterate(value)?;
                    if walked.len != Len::ANY || !external {
                        return Ok((Form::Sequence, walked));
                    }
                    let mut held = inner.iter().filter(|v| {
                        matches!(self.object_of(v), Some(Obj::List(_) | Obj::Iter(_)))
                            || matches!(v, Value::Tuple(_))
                    });
                    match (held.next().cloned(), held.next()) {
                        (Some(one), None) => Ok((Form::Wrapper, self.iterate(&one)?.some())),
                        _ => Ok((Form::Unknown, Seq::unknown())),
                    }
                }
                _ => Ok((Form::Unknown, Seq::unknown())),
            },
            Value::None | Value::Int(_) | Value::Bool(_) | Value::Float(_) => Err(Stop::Raise),
            _ => Ok((Form::Unknown, Seq::unknown())),
        }
    }

    fn config(&self, value: &Value<'e>) -> Config {
        let unnamed = |known: Known| Config {
            place: None,
            fields: vec![(SmolStr::default(), known)],
        };
        match self.object_of(value) {
            Some(Obj::Record(record)) => {
                let positional = record.args.iter().flat_map(|v| match self.object_of(v) {
                    // `Config({"BLOCK": 64}, num_warps=4)`
                    Some(Obj::Dict(_)) => self.config(v).fields,
                    _ => vec![(SmolStr::default(), self.known(v))],
                });
                let named = record
                    .fields
                    .iter()
                    .map(|(n, v)| (n.clone(), self.known(v)));
                Config {
                    place: Some(record.place),
                    fields: positional.chain(named).collect(),
                }
            }
            Some(Obj::Dict(dict)) => Config {
                place: None,
                fields: dict
                    .entries
                    .iter()
                    .filter_map(|(k, v, _)| match k {
                        Value::Str(name) => Some((name.clone(), self.known(v))),
                        _ => None,
                    })
                    .collect(),
            },
            _ => unnamed(self.known(value)),
        }
    }

    fn known(&self, value: &Value<'e>) -> Known {
        self.known_within(value, MAX_NESTING)
    }

    fn known_within(&self, value: &Value<'e>, depth: u32) -> Known {
        let unknown = Known::Unknown { lo: None, hi: None };
        let Some(depth) = depth.checked_sub(1) else {
            return unknown;
        };
        let all = |items: &[Value<'e>]| -> Vec<Known> {
            items.iter().map(|v| self.known_within(v, depth)).collect()
        };
        match &self.settle(value.clone()) {
            Value::None => Known::None,
            Value::Bool(b) => Known::Bool(*b),
            Value::Int(v) => Known::Int(*v),
            Value::Float(v) => Known::Float(v.to_bits()),
            Value::Str(s) => Known::Str(s.clone()),
            Value::External(path) => Known::Name(path.clone()),
            Value::Tuple(items) => Known::Tuple(all(items)),
            Value::OneOf(items) => Known::OneOf(all(items)),
            Value::Sym(sym) => {
                let range = self.sym_range(*sym);
                Known::Unknown {
                    lo: range.lo,
                    hi: range.hi,
                }
            }
            Value::Ref(id) => match self.obj(*id) {
                Some(Obj::List(seq)) if seq.slots.len() <= MAX_CONFIGS => seq
                    .values()
                    .map_or(unknown, |values| Known::Tuple(all(&values))),
                _ => unknown,
            },
            _ => unknown,
        }
    }

    /// Calls a function of which nothing but the definition is known and takes down what it gives.
    pub(super) fn observe_call(&mut self, value: &Value<'e>) -> R<()> {
        let result = match value {
            Value::Func(func) => {
                let args = self.unknown_args(func);
                self.call_function(func, args)?
            }
            other => self.call(
                other,
                Args {
                    open: true,
                    ..Args::default()
                },
                self.at_test,
            )?,
        };
        self.observe(&result)
    }
}

/// What all paths found together.
#[derive(Default)]
pub(super) struct Gathered {
    len: Option<Len>,
    form: Option<Form>,
    configs: Vec<Config>,
    seen: FxHashMap<Config, ()>,
    incomplete: bool,
    pub(super) raises: bool,
    pub(super) guarded: bool,
    empty: Option<Empty>,
    /// Lengths by the first decision that may explain their difference.
    lens: BTreeMap<(u64, Option<u64>), Vec<Cause>>,
}

impl Gathered {
    /// Adds what one path found; `decisions` and `causes` are the path's.
    pub(super) fn add(&mut self, observed: &[Observed], decisions: &[Cause], causes: &[Cause]) {
        for seen in observed {
            self.len = Some(self.len.map_or(seen.len, |l| l.hull(seen.len)));
            self.form = Some(match self.form {
                None => seen.form,
                Some(form) if form == seen.form => form,
                Some(_) => Form::Mixed,
            });
            self.lens
                .entry((seen.len.min, seen.len.max))
                .or_insert_with(|| decisions.to_vec());
            if seen.len.min == 0 && self.empty.is_none() {
                self.empty = Some(Empty {
                    always: false,
                    causes: causes.to_vec(),
                    assuming: decisions.to_vec(),
                });
            }
            self.incomplete |= !seen.complete;
            for config in &seen.configs {
                if self.seen.contains_key(config) {
                    continue;
                }
                if self.configs.len() == MAX_CONFIGS {
                    self.incomplete = true;
                    break;
                }
                self.seen.insert(config.clone(), ());
                self.configs.push(config.clone());
            }
        }
    }

    pub(super) fn into_space(self, mut notes: Vec<Note>) -> Space {
        let len = self.len.unwrap_or(Len::ANY);
        if self.lens.len() > 1 {
            for cause in self.lens.values().flatten() {
                let note = Note::DependsOn(cause.place);
                if notes.len() < 32 && !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        if len.exact().is_some() {
            notes.clear();
        }
        let mut empty = self.empty.filter(|_| len.min == 0);
        if let Some(empty) = &mut empty {
            empty.always = len.max == Some(0);
        }
        Space {
            count: SpaceCount {
                min: len.min,
                max: len.max,
                reached: self.len.is_some(),
                form: self.form.unwrap_or(Form::Unknown),
                guarded: self.guarded,
                raises: self.raises,
                empty,
                why: notes,
            },
            configs: self.configs,
            complete: self.len.is_some() && !self.incomplete,
            by_arch: false,
        }
    }

    /// Nothing can be said.
    pub(super) fn nothing() -> Space {
        let mut space = Gathered::default().into_space(vec![Note::TooMuch]);
        space.count.reached = true;
        space
    }
}
