//! `itertools`.

use super::interp::{Interp, R};
use super::seq::{Len, Seq};
use super::value::{Args, Value};

/// Products and the like with more elements keep only their length.
const MAX_ELEMENTS: u64 = 100_000;

impl<'e> Interp<'e> {
    pub(super) fn itertools(&mut self, name: &str, args: &Args<'e>) -> R<Option<Value<'e>>> {
        let first = args.pos.first().cloned();
        let seq = match (name, first) {
            _ if args.open => Seq::unknown(),
            ("product", _) => self.product(args)?,
            ("chain", _) => {
                let mut all = Seq::empty();
                for source in &args.pos {
                    let seq = self.iterate(source)?;
                    all.extend(&seq);
                }
                all
            }
            ("count" | "cycle", _) => {
                let any = self.fresh();
                // Endless, so `zip` and `islice` take the length of the other side.
                Seq::sized(
                    Len {
                        min: u64::MAX,
                        max: None,
                    },
                    vec![any],
                )
            }
            ("repeat", Some(x)) => match args.get(1, "times") {
                Some(times) => {
                    let list = self.list(Seq::of(vec![x]));
                    let list = self.binary("*", &list, times);
                    self.iterate(&list)?
                }
                None => Seq::sized(
                    Len {
                        min: u64::MAX,
                        max: None,
                    },
                    vec![x],
                ),
            },
            ("islice", Some(x)) => {
                let seq = self.iterate(&x)?;
                let bounds: Vec<Option<u64>> = args.pos[1..]
                    .iter()
                    .map(|v| v.int().and_then(|v| u64::try_from(v).ok()))
                    .collect();
                match bounds.as_slice() {
                    [Some(stop)] => seq.slice(0, usize::try_from(*stop).ok()),
                    [Some(start), Some(stop)] if stop >= start => {
                        seq.slice(*start as usize, usize::try_from(*stop).ok())
                    }
                    _ => {
                        let len = seq.len.without_min();
                        seq.any_of(len)
                    }
                }
            }
            ("permutations" | "combinations" | "combinations_with_replacement", Some(x)) => {
                let seq = self.iterate(&x)?;
                self.choose(name, &seq, args.get(1, "r"))
            }
            ("takewhile" | "dropwhile" | "filterfalse" | "compress", Some(_)) => {
                let at = usize::from(name != "compress");
                let Some(source) = args.pos.get(at).cloned() else {
                    return Ok(None);
                };
                let seq = self.iterate(&source)?;
                let len = seq.len.without_min();
                seq.any_of(len)
            }
            ("accumulate", Some(x)) => {
                let seq = self.iterate(&x)?;
                Seq::sized(seq.len, vec![self.fresh()])
            }
            ("starmap", Some(f)) if args.pos.len() == 2 => {
                let seq = self.iterate(&args.pos[1])?;
                let place = self.at_test;
                self.map_seq(seq, &mut |i, v| {
                    let given = match &v {
                        Value::Tuple(parts) => Args {
                            pos: parts.to_vec(),
                            ..Args::default()
                        },
                        _ => Args {
                            open: true,
                            ..Args::default()
                        },
                    };
                    i.call(&f, given, place)
                })?
            }
            ("zip_longest", Some(_)) => {
                let mut len = Len::ZERO;
                for source in &args.pos {
                    let seq = self.iterate(source)?;
                    len = Len {
                        min: len.min.max(seq.len.min),
                        max: len.max.zip(seq.len.max).map(|(a, b)| a.max(b)),
                    };
                }
                Seq::sized(len, vec![self.fresh()])
            }
            _ => Seq::unknown(),
        };
        Ok(Some(self.rest(seq)))
    }

    pub(super) fn chain_from(&mut self, args: &Args<'e>) -> R<Value<'e>> {
        let Some(source) = args.pos.first().cloned() else {
            return Ok(self.fresh());
        };
        let outer = self.iterate(&source)?;
        let mut all = Seq::empty();
        for slot in &outer.slots {
            let inner = self.iterate(&slot.value)?;
            let inner = if slot.certain { inner } else { inner.some() };
            all.extend(&inner);
        }
        if outer.tail.max != Some(0) {
            all.extend(&Seq::unknown());
        }
        Ok(self.rest(all))
    }

    fn product(&mut self, args: &Args<'e>) -> R<Seq<'e>> {
        let mut seqs = Vec::new();
        for source in &args.pos {
            seqs.push(self.iterate(source)?);
        }
        match args.named("repeat").map(Value::int) {
            None => {}
            Some(Some(n)) if (0..=16).contains(&n) => {
                let once = seqs.clone();
                seqs = (0..n).flat_map(|_| once.iter().cloned()).collect();
            }
            Some(_) => return Ok(Seq::unknown()),
        }
        let len = seqs.iter().map(|s| s.len).fold(Len::exactly(1), Len::times);
        let known: Option<Vec<Vec<Value<'e>>>> = seqs.iter().map(Seq::values).collect();
        if let (Some(known), Some(n)) = (known, len.exact())
            && n <= MAX_ELEMENTS.min(self.max_walk as u64)
        {
            self.burn(usize::try_from(n).unwrap_or(usize::MAX))?;
            let mut rows: Vec<Vec<Value<'e>>> = vec![Vec::new()];
            for values in &known {
                rows = rows
                    .iter()
                    .flat_map(|row| {
                        values.iter().map(move |v| {
                            row.iter().cloned().chain([v.clone()]).collect::<Vec<_>>()
                        })
                    })
                    .collect();
            }
            return Ok(Seq::of(
                rows.into_iter().map(|row| self.tuple(row)).collect(),
            ));
        }
        let mut parts = Vec::new();
        for seq in seqs {
            let (values, open) = seq.all_values();
            parts.push(if open || values.is_empty() {
                self.fresh()
            } else {
                self.any_of(values)
            });
        }
        Ok(Seq::sized(len, vec![self.tuple(parts)]))
    }

    /// How many ways to choose.
    fn choose(&mut self, name: &str, seq: &Seq<'e>, r: Option<&Value<'e>>) -> Seq<'e> {
        let any = self.fresh();
        let (Some(n), r) = (seq.len.exact(), r.map(Value::int)) else {
            return Seq::sized(Len::ANY, vec![any]);
        };
        let r = match r {
            None => n,
            Some(Some(r)) => match u64::try_from(r) {
                Ok(r) => r,
                Err(_) => return Seq::sized(Len::ANY, vec![any]),
            },
            Some(None) => return Seq::sized(Len::ANY, vec![any]),
        };
        // More than this many factors, and the number is beyond counting (or zero).
        if r > 128 && r <= n || (r > 128 && name == "combinations_with_replacement" && n > 1) {
            return Seq::sized(Len::ANY, vec![any]);
        }
        let count = match name {
            "permutations" | "combinations" if r > n => Some(0),
            "permutations" => (0..r).try_fold(1u64, |acc, k| acc.checked_mul(n.saturating_sub(k))),
            "combinations" => (0..r).try_fold(1u64, |acc, k| {
                Some(acc.checked_mul(n.saturating_sub(k))? / (k + 1))
            }),
            _ if n == 0 => Some(u64::from(r == 0)),
            _ if n == 1 => Some(1),
            _ => (0..r).try_fold(1u64, |acc, k| {
                Some(acc.checked_mul(n.checked_add(k)?)? / (k + 1))
            }),
        };
        Seq::sized(count.map_or(Len::ANY, Len::exactly), vec![any])
    }
}
