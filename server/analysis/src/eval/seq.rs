//! Sequences with elements that are certain, elements that may be missing, and a tail of which only
//! the length is known.

use super::value::Value;

/// How many: at least `min`, at most `max` (no bound if absent).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Len {
    pub(super) min: u64,
    pub(super) max: Option<u64>,
}

impl Len {
    pub(super) const ZERO: Len = Len {
        min: 0,
        max: Some(0),
    };
    pub(super) const ANY: Len = Len { min: 0, max: None };

    pub(super) fn exactly(n: u64) -> Self {
        Self {
            min: n,
            max: Some(n),
        }
    }

    pub(super) fn up_to(max: Option<u64>) -> Self {
        Self { min: 0, max }
    }

    pub(super) fn exact(self) -> Option<u64> {
        (Some(self.min) == self.max).then_some(self.min)
    }

    pub(super) fn plus(self, o: Len) -> Self {
        Self {
            min: self.min.saturating_add(o.min),
            max: self.max.zip(o.max).and_then(|(a, b)| a.checked_add(b)),
        }
    }

    pub(super) fn times(self, o: Len) -> Self {
        let max = match (self.max, o.max) {
            (Some(0), _) | (_, Some(0)) => Some(0),
            (Some(a), Some(b)) => a.checked_mul(b),
            _ => None,
        };
        Self {
            min: self.min.saturating_mul(o.min),
            max,
        }
    }

    pub(super) fn hull(self, o: Len) -> Self {
        Self {
            min: self.min.min(o.min),
            max: self.max.zip(o.max).map(|(a, b)| a.max(b)),
        }
    }

    /// The shorter of two, as `zip` and slices have it.
    pub(super) fn shorter(self, o: Len) -> Self {
        Self {
            min: self.min.min(o.min),
            max: self.max.into_iter().chain(o.max).min(),
        }
    }

    pub(super) fn without_min(self) -> Self {
        Self::up_to(self.max)
    }
}

/// An element that is known.
#[derive(Debug, Clone)]
pub(super) struct Slot<'e> {
    pub(super) value: Value<'e>,
    /// Whether it is there at all.
    pub(super) certain: bool,
}

/// A sequence.
#[derive(Debug, Clone, Default)]
pub(super) struct Seq<'e> {
    pub(super) slots: Vec<Slot<'e>>,
    /// How many further elements there are beside the slots, and what they may be; anything if
    /// `open`.
    pub(super) tail: Len,
    pub(super) samples: Vec<Value<'e>>,
    pub(super) open: bool,
    /// The length. Tighter than what slots and tail say when branches were joined.
    pub(super) len: Len,
    /// The slots are all there is to know of the elements but not of their order.
    pub(super) shuffled: bool,
    /// What happened since [`Seq::blur`]: how many elements were appended, whether they can be
    /// anything, and whether something other than appending happened.
    pub(super) added: Len,
    pub(super) added_open: bool,
    pub(super) rewritten: bool,
    /// Filled by functions at unknown times, as `Dict::cache`.
    pub(super) cache: bool,
}

/// Elements kept one by one; of what comes after only the number is.
const MAX_SLOTS: usize = 100_000;

/// Samples kept of a tail.
const MAX_SAMPLES: usize = 64;

impl<'e> Seq<'e> {
    pub(super) fn empty() -> Self {
        Self {
            tail: Len::ZERO,
            len: Len::ZERO,
            added: Len::ZERO,
            ..Self::default()
        }
    }

    pub(super) fn of(values: Vec<Value<'e>>) -> Self {
        let len = Len::exactly(values.len() as u64);
        let slots = values
            .into_iter()
            .map(|value| Slot {
                value,
                certain: true,
            })
            .collect();
        Self {
            slots,
            len,
            ..Self::empty()
        }
    }

    /// Only the length is known, and what elements may be: anything, if there is no sample.
    pub(super) fn sized(len: Len, samples: Vec<Value<'e>>) -> Self {
        let open = samples.is_empty();
        Self {
            tail: len,
            len,
            samples,
            open,
            ..Self::empty()
        }
    }

    pub(super) fn unknown() -> Self {
        Self::sized(Len::ANY, Vec::new())
    }

    /// Every element is known, and its place.
    pub(super) fn exact(&self) -> bool {
        self.tail == Len::ZERO
            && !self.shuffled
            && !self.cache
            && self.slots.iter().all(|s| s.certain)
    }

    /// The elements in order, if every one is known.
    pub(super) fn values(&self) -> Option<Vec<Value<'e>>> {
        self.exact()
            .then(|| self.slots.iter().map(|s| s.value.clone()).collect())
    }

    pub(super) fn push(&mut self, value: Value<'e>, certain: bool) {
        let more = if certain {
            Len::exactly(1)
        } else {
            Len {
                min: 0,
                max: Some(1),
            }
        };
        self.len = self.len.plus(more);
        self.added = self.added.plus(more);
        if self.tail == Len::ZERO && self.slots.len() < MAX_SLOTS {
            self.slots.push(Slot { value, certain });
        } else {
            // After a tail of unknown length there are no places, only more of it.
            self.tail = self.tail.plus(more);
            self.sample(value);
        }
    }

    /// Appends that many elements of which only samples are known.
    pub(super) fn grow(&mut self, by: Len, samples: Vec<Value<'e>>, open: bool) {
        self.len = self.len.plus(by);
        self.added = self.added.plus(by);
        self.tail = self.tail.plus(by);
        self.open |= open;
        self.added_open |= open;
        samples.into_iter().for_each(|s| self.sample(s));
    }

    fn sample(&mut self, value: Value<'e>) {
        if self.samples.iter().any(|s| s.same(&value)) {
            return;
        }
        if self.samples.len() < MAX_SAMPLES {
            self.samples.push(value);
        } else {
            self.open = true;
            self.added_open = true;
        }
    }

    pub(super) fn extend(&mut self, other: &Seq<'e>) {
        let (len, added) = (self.len.plus(other.len), self.added.plus(other.len));
        for slot in &other.slots {
            self.push(slot.value.clone(), slot.certain);
        }
        self.grow(other.tail, other.samples.clone(), other.open);
        self.len = len;
        self.added = added;
        self.shuffled |= other.shuffled;
    }

    /// The same elements in an order that is not known.
    pub(super) fn shuffle(mut self) -> Self {
        self.shuffled |= self.slots.len() > 1;
        self
    }

    /// Some of the elements: a filter that nobody can evaluate.
    pub(super) fn some(mut self) -> Self {
        self.slots.iter_mut().for_each(|s| s.certain = false);
        self.tail = self.tail.without_min();
        self.len = self.len.without_min();
        self
    }

    /// `len` of the elements, any of them.
    pub(super) fn any_of(self, len: Len) -> Self {
        let mut out = Self::sized(len, Vec::new());
        out.open = self.open;
        for value in self.slots.into_iter().map(|s| s.value).chain(self.samples) {
            out.sample(value);
        }
        out
    }

    /// Without the element at a place; for an exact sequence.
    pub(super) fn without(&self, at: usize) -> Self {
        let kept = self.slots.iter().enumerate().filter(|(i, _)| *i != at);
        Self::of(kept.map(|(_, s)| s.value.clone()).collect())
    }

    /// Without one element, nobody knows which.
    pub(super) fn less_one(&self) -> Self {
        let less = |n: u64| n.saturating_sub(1);
        self.clone().any_of(Len {
            min: less(self.len.min),
            max: self.len.max.map(less),
        })
    }

    /// What is between two positions counted from the start, the end being open if absent.
    pub(super) fn slice(&self, from: usize, to: Option<usize>) -> Self {
        if self.exact() {
            let to = to.unwrap_or(usize::MAX).min(self.slots.len());
            let values = self.slots.get(from.min(to)..to).unwrap_or_default();
            return Self::of(values.iter().map(|s| s.value.clone()).collect());
        }
        let from = from as u64;
        let mut len = Len {
            min: self.len.min.saturating_sub(from),
            max: self.len.max.map(|m| m.saturating_sub(from)),
        };
        if let Some(to) = to {
            len = len.shorter(Len::exactly((to as u64).saturating_sub(from)));
        }
        self.clone().any_of(len)
    }

    /// The sequence as any round of a loop that appends to it may find it, counting from zero what
    /// is appended from now on.
    pub(super) fn blur(&mut self) {
        self.len.max = None;
        self.tail.max = None;
        self.open = true;
        self.samples.clear();
        self.added = Len::ZERO;
        self.added_open = false;
        self.rewritten = false;
        self.cache = false;
    }

    /// Replaces the content: not an append.
    pub(super) fn replace(&mut self, with: Seq<'e>) {
        *self = Self {
            rewritten: true,
            added: Len::ZERO,
            added_open: false,
            ..with
        };
    }

    /// Every value that an element may have, and whether there may be others.
    pub(super) fn all_values(&self) -> (Vec<Value<'e>>, bool) {
        let open = self.open && self.tail.max != Some(0);
        (
            self.slots
                .iter()
                .map(|s| s.value.clone())
                .chain(self.samples.iter().cloned())
                .collect(),
            open,
        )
    }

    /// What both can be.
    pub(super) fn join(
        &self,
        other: &Seq<'e>,
        join: &mut dyn FnMut(&Value<'e>, &Value<'e>) -> Value<'e>,
    ) -> Self {
        let len = self.len.hull(other.len);
        let common = self
            .slots
            .iter()
            .zip(&other.slots)
            .take_while(|(a, b)| a.value.same(&b.value))
            .count();
        let mut slots: Vec<Slot<'e>> = self
            .slots
            .iter()
            .zip(&other.slots)
            .take(common)
            .map(|(a, b)| Slot {
                value: a.value.clone(),
                certain: a.certain && b.certain,
            })
            .collect();
        let (mine, theirs) = (&self.slots[common..], &other.slots[common..]);
        let all = |s: &[Slot<'e>]| s.iter().all(|s| s.certain);
        if mine.len() == theirs.len() && all(mine) && all(theirs) {
            slots.extend(mine.iter().zip(theirs).map(|(a, b)| Slot {
                value: join(&a.value, &b.value),
                certain: true,
            }));
        } else {
            let maybe = |s: &Slot<'e>| Slot {
                value: s.value.clone(),
                certain: false,
            };
            slots.extend(mine.iter().chain(theirs).map(maybe));
        }
        let mut out = Self {
            slots,
            tail: self.tail.hull(other.tail),
            samples: self.samples.clone(),
            open: self.open || other.open,
            len,
            shuffled: self.shuffled || other.shuffled,
            added: self.added.hull(other.added),
            added_open: self.added_open || other.added_open,
            rewritten: self.rewritten || other.rewritten,
            cache: self.cache || other.cache,
        };
        other.samples.iter().for_each(|s| out.sample(s.clone()));
        out
    }
}
